//! A person's home inside the network of a case: the real `wardian`, the
//! real agent beside it, and everything that either says.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use world::Draft;

use crate::canary::{self, Canary};

/// What a case says when all was as it must be, or what was not.
pub(crate) type Verdict = Result<String, String>;

/// Between two looks at something that tells nobody when it changes.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// No step of a case takes longer, on a busy machine too. In seconds.
const PATIENCE: u32 = 400;

/// Keys of the server's own that the programs are pointed at it with.
const SETTINGS: &str = "[provider.codex]\nenv_pass = [\"FAKE_KEY\"]\n\
                        [provider.opencode]\nenv_pass = [\"FAKE_KEY\"]\n";

pub(crate) struct House {
    pub(crate) provider: String,
    /// The `HOME` of everything that runs here.
    pub(crate) folder: PathBuf,
    pub(crate) canary: Canary,
    /// Processes of ours that were looked at while they ran.
    seen: RefCell<BTreeSet<u32>>,
}

/// What a command of ours said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
}

impl House {
    pub(crate) fn build(provider: &str, folder: &Path) -> std::io::Result<Self> {
        for name in [".wardian/settings", "work", "said"] {
            fs::create_dir_all(folder.join(name))?;
        }
        fs::write(folder.join(".wardian/settings/providers.toml"), SETTINGS)?;
        let canary = Canary::of(provider);
        let (provider, folder) = (provider.to_owned(), folder.to_owned());
        Ok(Self { provider, folder, canary, seen: RefCell::default() })
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join(".wardian")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let own = std::env::current_exe().unwrap_or_default();
        // Whoever started this may ignore signals; what is tested does not.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM,HUP"]).arg(own.with_file_name("wardian"));
        command.args(args).current_dir(self.work()).stdin(Stdio::null());
        command.env_remove("ANTHROPIC_API_KEY").envs(self.canary.env());
        command
    }

    /// Starts a command whose words go into files of the house, where they
    /// are looked through at the end.
    pub(crate) fn start(&self, args: &[&str]) -> Result<(Child, PathBuf), String> {
        let said = self.folder.join("said");
        let count = fs::read_dir(&said).map_or(0, Iterator::count);
        let out = said.join(format!("{count:03}.out"));
        let file = |path: &Path| File::create(path).map_err(|e| format!("no file for words: {e}"));
        let (stdout, stderr) = (file(&out)?, file(&out.with_extension("err"))?);
        let child = self.command(args).stdout(stdout).stderr(stderr).spawn();
        child.map(|child| (child, out)).map_err(|error| format!("wardian does not start: {error}"))
    }

    pub(crate) fn finish(&self, (mut child, out): (Child, PathBuf)) -> Result<Said, String> {
        let mut end = None;
        let over = until(|| {
            self.look();
            end = child.try_wait().ok().flatten();
            end.is_some()
        });
        if !over {
            drop(child.kill());
            return Err("a command of ours does not end".to_owned());
        }
        let code = end.and_then(|status| status.code()).unwrap_or(-1);
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let mut text = read(&out);
        if text.is_empty() {
            text = read(&out.with_extension("err"));
        }
        Ok(Said { code, out: text })
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<Said, String> {
        self.finish(self.start(args)?)
    }

    /// The document that the command prints.
    pub(crate) fn json(&self, args: &[&str]) -> Result<Value, String> {
        self.run(&[args, &["--json"]].concat())?.json()
    }

    /// The arguments that start a run of this automation with the provider.
    pub(crate) fn exec(&self, draft: &Draft, more: &[&str]) -> Result<Vec<String>, String> {
        let text = draft.text();
        let id = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or("run");
        let file = self.folder.join(format!("{id}.md"));
        fs::write(&file, &text).map_err(|error| format!("no blueprint: {error}"))?;
        let file = file.display().to_string();
        let args = ["automation", "exec", &file, "--json", "--provider", &self.provider];
        Ok(args.iter().chain(more).map(|arg| (*arg).to_owned()).collect())
    }

    /// Runs it until it rests: the exit code, and the run's id.
    pub(crate) fn rest(&self, draft: &Draft, more: &[&str]) -> Result<(i32, String), String> {
        let args = self.exec(draft, more)?;
        let said = self.run(&args.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok((said.code, said.run_id()?))
    }

    /// Starts it and leaves it alone.
    pub(crate) fn detach(&self, draft: &Draft, more: &[&str]) -> Result<String, String> {
        let (code, run) = self.rest(draft, &[more, &["--detach"]].concat())?;
        if code == 0 { Ok(run) } else { Err(format!("--detach exits with {code}")) }
    }

    pub(crate) fn show(&self, run: &str) -> Result<Value, String> {
        Ok(self.json(&["run", "show", run])?["run"].clone())
    }

    pub(crate) fn events(&self, run: &str) -> Result<Vec<Value>, String> {
        let said = self.run(&["run", "events", run, "--json"])?;
        let lines = said.out.lines().map(serde_json::from_str).collect::<Result<Vec<_>, _>>();
        lines.map_err(|error| format!("the events are no JSON: {error}"))
    }

    /// Waits until the run has this status.
    pub(crate) fn status(&self, run: &str, status: &str) -> Result<Value, String> {
        let mut last = Value::Null;
        let came = until(|| {
            last = self.show(run).unwrap_or_default();
            last["status"] == status
        });
        if came { Ok(last) } else { Err(format!("the run is never {status}: {last}")) }
    }

    /// Looks at the processes of ours that run now: nothing of theirs may
    /// show what is planted.
    pub(crate) fn look(&self) {
        let given: Vec<String> = self.canary.env().map(|(name, _)| name).collect();
        for (pid, shown) in ours(&given) {
            if self.seen.borrow_mut().insert(pid) {
                let path = self.folder.join(format!("said/process-{pid}"));
                // What cannot be kept cannot be looked through; the count of
                // processes at the end would be too low.
                drop(fs::write(path, shown));
            }
        }
    }

    /// Ends the workers that a case left which went wrong, and with them what
    /// they have started.
    pub(crate) fn clear(&self) {
        let home = format!("HOME={}", self.folder.display());
        for pid in own().filter(|pid| has_variable(*pid, &home)) {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                // It may have ended by itself.
                kill_process(pid, Signal::KILL).unwrap_or_default();
            }
        }
    }

    /// Looks through all that is ours for what is planted: how many files.
    pub(crate) fn search(&self) -> Verdict {
        let places = [".wardian", "work", "said", "tmp"].map(|name| self.folder.join(name));
        let searched = canary::search(&places)?;
        let looked = self.seen.borrow().len();
        if looked == 0 {
            return Err("no process of ours was looked at".to_owned());
        }
        Ok(format!("{searched} files and {looked} processes of ours are clean"))
    }
}

impl Said {
    pub(crate) fn json(&self) -> Result<Value, String> {
        serde_json::from_str(&self.out).map_err(|error| format!("{error} in {:.300}", self.out))
    }

    fn run_id(&self) -> Result<String, String> {
        let id = self.json()?["run_id"].as_str().map(str::to_owned);
        id.ok_or_else(|| format!("no run was started: {:.300}", self.out))
    }
}

/// Whether it comes to hold before patience ends.
pub(crate) fn until(mut holds: impl FnMut() -> bool) -> bool {
    let (_alive, tick) = mpsc::channel::<()>();
    let looks = PATIENCE * 1000 / u32::try_from(LOOK_EVERY.as_millis()).unwrap_or(1);
    (0..looks).any(|look| {
        let came = holds();
        if !came && look + 1 < looks {
            let _nothing = tick.recv_timeout(LOOK_EVERY);
        }
        came
    })
}

/// Processes that carry the mark of a run.
pub(crate) fn marked(run: &str) -> Vec<u32> {
    let mark = format!("WARDIAN_RUN_ID={run}");
    pids().filter(|pid| has_variable(*pid, &mark)).collect()
}

fn has_variable(pid: u32, variable: &str) -> bool {
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
}

/// Commands and workers of ours that run in this network.
fn own() -> impl Iterator<Item = u32> {
    let own = std::env::current_exe().unwrap_or_default().with_file_name("wardian");
    let network = fs::read_link("/proc/self/ns/net").ok();
    pids().filter(move |pid| {
        fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == own)
            && fs::read_link(format!("/proc/{pid}/ns/net")).ok() == network
    })
}

/// What they show: their arguments, and their environment without the
/// variables that were given to them.
fn ours(given: &[String]) -> Vec<(u32, Vec<u8>)> {
    let mut found = Vec::new();
    for pid in own() {
        let mut shown = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        for one in environ.split(|byte| *byte == 0) {
            let name = one.split(|byte| *byte == b'=').next().unwrap_or_default();
            if !given.iter().any(|given| given.as_bytes() == name) {
                shown.push(b'\n');
                shown.extend_from_slice(one);
            }
        }
        found.push((pid, shown));
    }
    found
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
