//! The one place that starts git. A repository is somebody else's: its hooks
//! and its file system monitor are off, nothing is fetched, nobody is asked
//! for a password, and of our own environment nothing that names another
//! repository reaches it. What it says is bounded and so is its time. Filters
//! and merge drivers that the repository configures do run, as in any
//! checkout: without them the files would be wrong.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use thiserror::Error;

use crate::api::{Code, HostError};

/// What one call may say; a longer diff is cut and says so.
pub(super) const OUTPUT_MAX: usize = 16 << 20;
const TALK_MAX: usize = 64 << 10;

/// A checkout of a very large repository takes minutes; a hang takes for ever.
const DEADLINE: Duration = Duration::from_secs(600);

/// A killed group lets go of its pipes at once.
const DRAIN_WITHIN: Duration = Duration::from_secs(5);

/// Variables of git that are about the person and not about a repository.
const KEPT: [&str; 11] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXEC_PATH",
];

const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
];

/// Git at one folder.
#[derive(Debug, Clone)]
pub(super) struct Git {
    folder: PathBuf,
    /// An index of our own, in place of the one of the checkout.
    index: Option<PathBuf>,
    /// Commits are made in our own name, where they are only a means.
    own_name: bool,
}

/// What git said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) out: Vec<u8>,
    /// There was more than is kept.
    pub(super) is_cut: bool,
    pub(super) talk: String,
}

#[derive(Debug, Error)]
pub(super) enum GitError {
    #[error("git cannot be started")]
    Start(#[source] io::Error),
    #[error("git {what} cannot be watched")]
    Watch { what: String, source: io::Error },
    #[error("git {what} did not end within {} seconds", DEADLINE.as_secs())]
    Deadline { what: String },
    #[error("git {what} says more than {OUTPUT_MAX} bytes")]
    TooMuch { what: String },
    #[error("git {what} failed: {said}")]
    Failed { what: String, said: String },
}

impl Git {
    pub(super) fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), index: None, own_name: false }
    }

    /// The same, with an index of its own.
    pub(super) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// The same, making commits in our own name.
    pub(super) fn in_own_name(&self) -> Self {
        Self { own_name: true, ..self.clone() }
    }

    /// What a call that must succeed prints, all of it.
    pub(super) fn read(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        succeeded(args, self.ask(args)?)
    }

    /// The same, of a call that is fed.
    pub(super) fn feed(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let mut file = tempfile::tempfile().map_err(GitError::Start)?;
        file.write_all(input).and_then(|()| file.rewind()).map_err(GitError::Start)?;
        succeeded(args, self.call(args, Stdio::from(file))?)
    }

    /// One word, such as an object's name.
    pub(super) fn word(&self, args: &[&str]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.read(args)?).trim().to_owned())
    }

    /// A path, which may hold anything; git ends it with one line feed.
    pub(super) fn path(&self, args: &[&str]) -> Result<PathBuf, GitError> {
        use std::os::unix::ffi::OsStringExt;
        let mut bytes = self.read(args)?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Ok(OsString::from_vec(bytes).into())
    }

    /// Whatever the call ends with.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Said, GitError> {
        self.call(args, Stdio::null())
    }

    /// A call that must succeed and that holds a lock for as long as it runs,
    /// even when we are gone: it has the locked file as its input.
    pub(super) fn holding(&self, lock: &File, args: &[&str]) -> Result<(), GitError> {
        let lock = lock.try_clone().map_err(GitError::Start)?;
        succeeded(args, self.call(args, Stdio::from(lock))?).map(drop)
    }

    fn call(&self, args: &[&str], stdin: Stdio) -> Result<Said, GitError> {
        let mut command = Command::new("git");
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.arg("-C").arg(&self.folder).args(args);
        command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_kept(name)));
        command.envs([
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_EDITOR", "false"),
        ]);
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if self.own_name {
            for role in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{role}_NAME"), "wardian");
                command.env(format!("GIT_{role}_EMAIL"), "wardian@localhost");
            }
        }
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn().map_err(GitError::Start)?;
        watch(child, args)
    }
}

impl From<GitError> for HostError {
    fn from(fault: GitError) -> Self {
        let hint = match &fault {
            GitError::Start(_) => "install git, or work in the checkout with `--isolation shared`",
            GitError::Watch { .. } | GitError::Deadline { .. } | GitError::TooMuch { .. } => {
                "`git status` in the checkout may say what is wrong"
            }
            GitError::Failed { .. } => "mend what git names, then run the command again",
        };
        Self::from_fault(Code::Git, "the repository cannot be used", &fault).hint(hint)
    }
}

fn succeeded(args: &[&str], said: Said) -> Result<Vec<u8>, GitError> {
    match said {
        Said { code: 0, is_cut: false, out, .. } => Ok(out),
        Said { code: 0, .. } => Err(GitError::TooMuch { what: what(args) }),
        Said { talk, .. } => Err(GitError::Failed { what: what(args), said: gist(&talk) }),
    }
}

/// Stays with git to its end. It leads a group of its own, so that a Ctrl-C
/// at the terminal does not stop it half way, and so that a kill reaches its
/// helpers.
fn watch(mut child: Child, args: &[&str]) -> Result<Said, GitError> {
    let lost = |source| GitError::Watch { what: what(args), source };
    let out = reader(child.stdout.take(), OUTPUT_MAX, Rest::Cut);
    let talk = reader(child.stderr.take(), TALK_MAX, Rest::PassOver);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process has a pid");
    let ended = pidfd_open(pid, PidfdFlags::empty()).and_then(|ended| {
        let within = Timespec::try_from(DEADLINE).expect("the deadline is a few minutes");
        poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&within))
    });
    let in_time = ended.as_ref().is_ok_and(|ready| *ready > 0);
    if !in_time {
        // It may be gone in between; then there is nothing to end.
        let _gone = kill_process_group(pid, Signal::KILL);
    }
    let status = child.wait().map_err(lost)?;
    ended.map_err(|error| lost(error.into()))?;
    if !in_time {
        return Err(GitError::Deadline { what: what(args) });
    }
    let (mut out, is_cut) = received(&out);
    if is_cut {
        out.truncate(OUTPUT_MAX);
    }
    let talk = String::from_utf8_lossy(&received(&talk).0).into_owned();
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    // One that was ended because nobody read on has said enough.
    let code = if is_cut && code == 128 + Signal::PIPE.as_raw() { 0 } else { code };
    Ok(Said { code, out, is_cut, talk })
}

/// What happens to what is more than wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// Git is told that nobody reads on.
    Cut,
    /// It is read, so that complaints never end what git is at.
    PassOver,
}

/// Reads at most so much, and says whether there was more.
fn reader(
    source: Option<impl Read + Send + 'static>,
    most: usize,
    rest: Rest,
) -> Receiver<(Vec<u8>, bool)> {
    let (sender, receiver) = channel();
    let Some(mut source) = source else { return receiver };
    let read = move || {
        let (mut bytes, room) = (Vec::new(), most as u64 + 1);
        // What was read before an error is what there is.
        drop(source.by_ref().take(room).read_to_end(&mut bytes));
        let is_cut = bytes.len() > most;
        if rest == Rest::PassOver {
            drop(io::copy(&mut source, &mut io::sink()));
        }
        drop(sender.send((bytes, is_cut)));
    };
    // Without its thread there is nothing to receive, which reads as nothing.
    drop(thread::Builder::new().name("git".to_owned()).spawn(read));
    receiver
}

fn received(from: &Receiver<(Vec<u8>, bool)>) -> (Vec<u8>, bool) {
    from.recv_timeout(DRAIN_WITHIN).unwrap_or_default()
}

fn is_kept(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !name.starts_with("GIT_") || KEPT.contains(&&*name)
}

/// The verb of a call, for messages.
fn what(args: &[&str]) -> String {
    args.iter()
        .take_while(|arg| !arg.starts_with('-'))
        .take(2)
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
}

/// What git complains of, in a line or a few.
fn gist(talk: &str) -> String {
    let lines = talk.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("hint:")).take(6).collect();
    let text = lines.join("; ");
    let text = text.strip_prefix("fatal: ").or(text.strip_prefix("error: ")).unwrap_or(&text);
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_environment_only_the_person_reaches_git() {
        for (name, kept) in [
            ("GIT_DIR", false),
            ("GIT_INDEX_FILE", false),
            ("GIT_WORK_TREE", false),
            ("GIT_CONFIG_COUNT", false),
            ("GIT_SSH_COMMAND", false),
            ("GIT_EXTERNAL_DIFF", false),
            ("GIT_AUTHOR_NAME", true),
            ("PATH", true),
        ] {
            assert_eq!(is_kept(OsStr::new(name)), kept, "{name}");
        }
    }

    #[test]
    fn a_complaint_is_told_without_its_prefix_and_advice() {
        let talk = "fatal: not a git repository\n\nhint: run git init\n";
        assert_eq!(gist(talk), "not a git repository");
        assert_eq!(what(&["worktree", "add", "--quiet"]), "worktree add");
    }

    #[test]
    fn more_than_the_limit_is_cut_and_known_to_be() {
        let bytes = received(&reader(Some(&b"abcdef"[..]), 3, Rest::Cut));
        assert_eq!(bytes, (b"abcd".to_vec(), true));
        assert_eq!(
            received(&reader(Some(&b"abc"[..]), 3, Rest::PassOver)),
            (b"abc".to_vec(), false)
        );
    }
}
