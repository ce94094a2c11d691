//! Which agents are here: where the program of each is, and what it says its
//! version is. Only the version is asked for; that costs nothing and needs no
//! network.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use durable::Span;

use super::adapter::Adapter;
use super::watch::{Patience, Pulse, run_watched};
use crate::environment::{ChildEnv, HostEnv, Marks};
use crate::process::{Exit, Launch, Stdin};
use crate::reap::reap_attempt;
use crate::session::find_program;
use crate::stop::Stop;

/// For a program to print its version.
const WITHIN: Span = Span::from_secs(5);

/// The beginning of an output in which a version is looked for.
const LOOKED_AT: usize = 4096;

/// What was found of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// The program is there, but this is why it could not be asked.
    pub trouble: Option<String>,
    pub version: Option<Version>,
}

/// The first numbers of a version, however it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u64, pub u64, pub u64);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// The first `1.2` or `1.2.3` in a text.
    pub fn find(text: &str) -> Option<Self> {
        let numbers = |word: &str| {
            let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
            let end =
                digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
            let mut parts = digits[..end].split('.').map(|part| part.parse::<u64>().ok());
            let (first, second) = (parts.next()??, parts.next()??);
            Some(Self(first, second, parts.next().flatten().unwrap_or(0)))
        };
        text.split_whitespace().find_map(numbers)
    }
}

impl Adapter {
    /// Versions that the adapter was made for, from the first one on: older
    /// ones lack what it asks for.
    pub fn since(&self) -> Option<Version> {
        match self {
            Self::Claude => Some(Version(2, 1, 0)),
            Self::Codex => Some(Version(0, 171, 0)),
            Self::Gemini => Some(Version(0, 61, 0)),
            Self::OpenCode => Some(Version(1, 18, 0)),
            Self::Configured(_) => None,
        }
    }
}

impl Found {
    /// Why the program cannot be worked with, if that is so.
    pub fn refusal(&self, adapter: &Adapter) -> Option<super::Refusal> {
        let (Some(version), Some(since)) = (self.version, adapter.since()) else { return None };
        (version < since).then(|| {
            let message = format!(
                "{} is version {version}; {since} or later is needed: upgrade it",
                self.path.display()
            );
            super::Refusal::new("bad_version", message)
        })
    }
}

/// Where the program is, if it is in `PATH`. Nothing is started.
pub fn find(adapter: &Adapter, program: Option<&str>, host_env: &HostEnv) -> Option<PathBuf> {
    search(adapter, program, &environment(adapter, host_env))
}

fn environment(adapter: &Adapter, host_env: &HostEnv) -> ChildEnv {
    let run = format!("probe-{}", std::process::id());
    let marks = Marks { attempt: format!("{run}/{}/0/1", adapter.name()), run };
    host_env.child(&[], &[], marks)
}

fn search(adapter: &Adapter, program: Option<&str>, env: &ChildEnv) -> Option<PathBuf> {
    let folders = env.vars().find(|(name, _)| *name == "PATH").map(|(_, folders)| folders)?;
    let name = program.unwrap_or_else(|| adapter.program());
    find_program(name.as_ref(), folders)
}

/// Looks for the program in `PATH` and asks it for its version.
pub fn probe(adapter: &Adapter, program: Option<&str>, host_env: &HostEnv) -> Option<Found> {
    let env = environment(adapter, host_env);
    let path = search(adapter, program, &env)?;
    let asked = match adapter {
        Adapter::Claude | Adapter::Codex | Adapter::Gemini | Adapter::OpenCode => ask(&path, env),
        // Nobody said how it would be asked.
        Adapter::Configured(_) => Ok(None),
    };
    Some(match asked {
        Ok(version) => Found { path, trouble: None, version },
        Err(trouble) => Found { path, trouble: Some(trouble), version: None },
    })
}

fn ask(path: &Path, env: ChildEnv) -> Result<Option<Version>, String> {
    let attempt = env.marks().attempt.clone();
    let launch = Launch {
        program: path.into(),
        args: vec!["--version".into()],
        env,
        cwd: "/".into(),
        stdin: Stdin::Null,
        kept_bytes: 2 * LOOKED_AT,
    };
    let stop = Stop::new().map_err(|error| error.to_string())?;
    let patience = Patience { total: WITHIN, ..Patience::default() };
    let (ended, ending) =
        run_watched(
            &launch,
            &stop,
            &Pulse::default(),
            patience,
            &mut |_, _| ControlFlow::Break(()),
        );
    // What a probe leaves behind harms nobody, and the next one ends it.
    let _unseen = reap_attempt(&attempt);
    let ended = ended.map_err(|error| error.to_string())?;
    match (ending, ended.exit) {
        (Some(_), _) => Err(format!("`--version` did not end in {WITHIN}")),
        (None, Exit::Code(0)) => {
            let text = &ended.stdout.text;
            Ok(Version::find(&text[..text.floor_char_boundary(LOOKED_AT)]))
        }
        (None, Exit::Code(code)) => Err(format!("`--version` exited with code {code}")),
        (None, Exit::Signal(signal)) => Err(format!("`--version` was ended by signal {signal}")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_version_is_found_however_it_is_told() {
        for (text, expected) in [
            ("2.1.332 (Claude Code)", Version(2, 1, 332)),
            ("codex-cli 0.171.0", Version(0, 171, 0)),
            ("0.61.0-nightly.3", Version(0, 61, 0)),
            ("opencode v1.18", Version(1, 18, 0)),
            ("warning: 7 things\nversion=3.4.5,", Version(3, 4, 5)),
        ] {
            assert_eq!(Version::find(text), Some(expected), "{text}");
        }
        for text in ["", "no version", "7", "v.1", "99999999999999999999.1"] {
            assert_eq!(Version::find(text), None, "{text}");
        }
    }

    fn probed(adapter: &Adapter, script: &str) -> Option<Found> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(adapter.program());
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let host_env = HostEnv::new([("PATH".into(), folder.path().into())]);
        probe(adapter, None, &host_env)
    }

    #[test]
    fn what_is_there_is_asked_and_what_is_not_is_nothing() {
        let found = probed(&Adapter::Codex, "echo codex-cli 0.180.2").unwrap();
        assert_eq!(
            (found.version, found.refusal(&Adapter::Codex)),
            (Some(Version(0, 180, 2)), None)
        );
        let old = probed(&Adapter::Codex, "echo codex-cli 0.20.0").unwrap();
        assert_eq!(old.refusal(&Adapter::Codex).map(|refusal| refusal.code), Some("bad_version"));
        let host_env = HostEnv::new([("PATH".into(), "/no/such/folder".into())]);
        assert_eq!(probe(&Adapter::Codex, None, &host_env), None);
        assert_eq!(probe(&Adapter::Codex, Some("/no/such/codex"), &host_env), None);
    }

    #[test]
    fn one_that_cannot_tell_is_there_all_the_same() {
        let found = probed(&Adapter::Claude, "exit 3").unwrap();
        assert_eq!(found.trouble.as_deref(), Some("`--version` exited with code 3"));
        assert_eq!(found.refusal(&Adapter::Claude), None);
        let odd = probed(&Adapter::Claude, "echo soon").unwrap();
        assert_eq!((odd.trouble, odd.version), (None, None));
    }
}
