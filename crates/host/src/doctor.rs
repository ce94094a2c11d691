//! What a person can ask when something is odd: one line a check, each with
//! the command that mends it. It changes nothing that lasts.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Host;
use crate::api::{DoctorLine, DoctorVerdict, HostError, ProviderProbe};

/// Files of the system that came before; reported and left alone.
const OLD_FILES: [&str; 3] =
    ["scheduled_automations.json", "library/scheduled_automations.json", "automation_engine"];

/// Below this a run may find no room for its log.
const ROOM_WANTED: u64 = 256 << 20;

impl Host {
    pub fn doctor(&self) -> Result<Vec<DoctorLine>, HostError> {
        let mut lines = vec![self.home_line(), self.room_line(), clock_line(self)];
        lines.extend([
            program_line(
                "sh",
                &["-c", "true"],
                DoctorVerdict::Fail,
                "shell nodes",
                "install a POSIX shell",
            ),
            program_line(
                "git",
                &["--version"],
                DoctorVerdict::Warn,
                "the demo and worktrees",
                "install git",
            ),
            program_line(
                "python3",
                &["--version"],
                DoctorVerdict::Warn,
                "python scripts",
                "install python3",
            ),
            program_line(
                "node",
                &["--version"],
                DoctorVerdict::Warn,
                "node scripts",
                "install node",
            ),
        ]);
        lines.extend(self.provider_lines());
        lines.extend(self.account_lines());
        lines.push(self.runs_line()?);
        lines.extend(self.index_line());
        lines.extend(self.attempts_line());
        lines.push(self.library_line()?);
        lines.extend(self.old_files());
        Ok(lines)
    }

    fn home_line(&self) -> DoctorLine {
        let path = self.home.path();
        let shown = path.display().to_string();
        if !path.exists() {
            return line(
                "home",
                DoctorVerdict::Pass,
                format!("{shown} does not exist yet; the first run makes it"),
            );
        }
        let probe = path.join(format!(".probe-{}", self.entropy.hex8()));
        let made = self.disk.create(&probe, b"").and_then(|()| self.disk.remove_file(&probe));
        match made {
            Ok(()) => line("home", DoctorVerdict::Pass, format!("{shown} can be written")),
            Err(error) => DoctorLine {
                fix: Some(format!("make {shown} writable, or name another with --home")),
                ..line("home", DoctorVerdict::Fail, format!("{error}: {}", error.source))
            },
        }
    }

    /// A line for each provider that is installed; one when none is.
    fn provider_lines(&self) -> Vec<DoctorLine> {
        let probes = match self.probe_providers(None) {
            Ok(probes) => probes,
            Err(error) => {
                let fix = error.hint.clone();
                return vec![DoctorLine {
                    fix,
                    ..line("providers", DoctorVerdict::Fail, error.message)
                }];
            }
        };
        let here = probes.into_iter().filter(|probe| probe.row.path.is_some());
        let mut lines: Vec<DoctorLine> = here.map(provider_line).collect();
        if lines.is_empty() {
            lines.push(DoctorLine {
                fix: Some("install one, or describe one in settings/providers.toml".to_owned()),
                ..line(
                    "providers",
                    DoctorVerdict::Warn,
                    "none found; tasks and decisions need one".to_owned(),
                )
            });
        }
        lines
    }

    fn room_line(&self) -> DoctorLine {
        let path = self.home.path();
        let existing = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
        match rustix::fs::statvfs(existing) {
            Ok(stat) => {
                let free = stat.f_bavail.saturating_mul(stat.f_frsize);
                let detail = format!("{} MiB free at {}", free >> 20, existing.display());
                if free >= ROOM_WANTED {
                    line("disk", DoctorVerdict::Pass, detail)
                } else {
                    DoctorLine {
                        fix: Some(
                            "make room: old runs stand in logs/automations of the home".to_owned(),
                        ),
                        ..line("disk", DoctorVerdict::Fail, detail)
                    }
                }
            }
            Err(error) => line("disk", DoctorVerdict::Warn, format!("cannot be asked: {error}")),
        }
    }

    fn runs_line(&self) -> Result<DoctorLine, HostError> {
        let runs = self.runs()?;
        let broken = runs.iter().filter(|run| run.fault.is_some()).count();
        let ownerless = runs.iter().filter(|run| run.ownerless).count();
        let detail = format!(
            "{} in all, {ownerless} interrupted and not yet recorded, {broken} unreadable",
            runs.len()
        );
        let line = line("runs", DoctorVerdict::Pass, detail);
        Ok(match (runs.iter().find(|run| run.fault.is_some()), ownerless) {
            (Some(run), _) => DoctorLine {
                verdict: DoctorVerdict::Fail,
                fix: Some(format!("wardian run verify {}", run.run_id)),
                ..line
            },
            (None, 0) => line,
            (None, _) => DoctorLine {
                verdict: DoctorVerdict::Warn,
                fix: Some("any `wardian automation exec` records them".to_owned()),
                ..line
            },
        })
    }

    /// Without an index everything works, and takes longer.
    fn index_line(&self) -> Option<DoctorLine> {
        let runs = runstore::index::scan(&*self.disk, &self.home, None).ok()?;
        let warn = |detail: String| DoctorLine {
            fix: Some("wardian recover --all".to_owned()),
            ..line("index", DoctorVerdict::Warn, detail)
        };
        if runs.is_empty() {
            return None;
        }
        let Some(index) = self.index() else {
            return Some(warn("there is no sound index of the runs".to_owned()));
        };
        let listed = index.newest(&*self.disk, None, &|_| true).ok()?;
        let listed: Option<BTreeSet<_>> = listed.map(|run| Some(run.ok()?.0.place)).collect();
        let Some(listed) = listed else {
            return Some(warn("the index of the runs is damaged".to_owned()));
        };
        let missing = runs.iter().filter(|(key, _)| !listed.contains(&key.place)).count();
        Some(match missing {
            0 => line("index", DoctorVerdict::Pass, format!("knows all {} runs", runs.len())),
            _ => warn(format!("{missing} of {} runs are missing in it", runs.len())),
        })
    }

    fn library_line(&self) -> Result<DoctorLine, HostError> {
        let automations = self.automations()?;
        let wrong: Vec<_> = automations.iter().filter(|row| row.error.is_some()).collect();
        let detail = format!("{} automations, {} with errors", automations.len(), wrong.len());
        let line = line("library", DoctorVerdict::Pass, detail);
        Ok(match wrong.first() {
            None => line,
            Some(row) => DoctorLine {
                verdict: DoctorVerdict::Warn,
                fix: Some(format!("wardian automation validate {}", row.path.display())),
                ..line
            },
        })
    }

    fn old_files(&self) -> Vec<DoctorLine> {
        let found =
            OLD_FILES.iter().map(|name| self.home.path().join(name)).filter(|path| path.exists());
        let tell = |path: std::path::PathBuf| {
            let detail = format!(
                "{} belongs to an older system; it is not read and is left alone",
                path.display()
            );
            line("old files", DoctorVerdict::Warn, detail)
        };
        found.map(tell).collect()
    }
}

fn line(name: &str, verdict: DoctorVerdict, detail: String) -> DoctorLine {
    DoctorLine { name: name.to_owned(), verdict, detail, fix: None }
}

/// Before 2020 the clock was certainly not set.
fn clock_line(host: &Host) -> DoctorLine {
    const YEAR_2020: i64 = 1_577_836_800_000;
    let now = host.clock.now();
    if now.millis() > YEAR_2020 {
        return line("clock", DoctorVerdict::Pass, now.to_string());
    }
    DoctorLine {
        fix: Some("set the clock of this machine".to_owned()),
        ..line("clock", DoctorVerdict::Fail, format!("it says {now}"))
    }
}

fn provider_line(probe: ProviderProbe) -> DoctorLine {
    let name = probe.row.name;
    match probe.trouble {
        Some(trouble) => DoctorLine {
            fix: Some(format!("wardian provider show {name}")),
            ..line(&name, DoctorVerdict::Warn, trouble)
        },
        None => {
            let version =
                probe.version.map_or_else(|| "found".to_owned(), |v| format!("version {v}"));
            line(&name, DoctorVerdict::Pass, version)
        }
    }
}

fn program_line(
    name: &str,
    args: &[&str],
    without: DoctorVerdict,
    needed_for: &str,
    fix: &str,
) -> DoctorLine {
    let output = Command::new(name).args(args).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout);
            let version = said.lines().next().filter(|line| !line.is_empty()).unwrap_or("found");
            line(name, DoctorVerdict::Pass, version.to_owned())
        }
        Ok(_) | Err(_) => DoctorLine {
            fix: Some(fix.to_owned()),
            ..line(name, without, format!("not found; {needed_for} need it"))
        },
    }
}
