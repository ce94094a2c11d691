//! strace: counting the calls that change files of the home, and killing at
//! one of them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::patience;
use crate::life::Failure;

/// Calls that can change a file.
const CALLS: &str = "write,pwrite64,fdatasync,fsync,rename,renameat,renameat2,link,linkat,unlink,\
                     unlinkat,openat,mkdir,mkdirat,rmdir,ftruncate";

/// The n-th call of this name in one thread; with a path, the n-th of those
/// that concern it, in whatever thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub call: String,
    pub nth: usize,
    pub path: Option<PathBuf>,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.call, self.nth)?;
        let name = self.path.as_deref().and_then(Path::file_name);
        name.map_or(Ok(()), |name| write!(f, ":{}", name.display()))
    }
}

pub fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    tried.is_ok_and(|output| output.status.success())
}

/// A traced call.
#[derive(Debug, Clone)]
pub struct Call {
    pub thread: u32,
    pub name: String,
    /// Its arguments, with the paths of open files.
    pub text: String,
}

/// Runs the command and tells what its first thread did, or all threads and
/// processes.
pub fn calls(
    command: &Command,
    log: &Path,
    all: bool,
    stdin: Stdio,
) -> Result<(Output, Vec<Call>), Failure> {
    let mut strace = Command::new("strace");
    strace.args(["-y", "-s", "0", "-o"]).arg(log).arg("-e");
    strace.arg(format!("trace={CALLS},execve"));
    if all {
        strace.arg("-f");
    }
    let output = under(strace, command, stdin)?;
    Ok((output, fs::read_to_string(log)?.lines().filter_map(|line| read(line, all)).collect()))
}

/// Runs the command and kills it at the point; says whether it came there.
pub fn kill(command: &Command, point: &Point, stdin: Stdio) -> Result<bool, Failure> {
    let mut strace = Command::new("strace");
    let Point { call, nth, path } = point;
    strace.args(["-o", "/dev/null", "-e", &format!("trace={call}"), "-e"]);
    strace.arg(format!("inject={call}:signal=KILL:when={nth}"));
    if let Some(path) = path {
        strace.arg("-f").arg("-P").arg(path);
    }
    let output = under(strace, command, stdin)?;
    // strace ends as the traced program did.
    Ok(output.status.code().is_none())
}

/// What a call says that does not do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errno {
    Full,
    Device,
    Interrupted,
    Files,
}

impl Errno {
    /// What this call can say, as its manual has it.
    pub fn of(call: &str) -> &'static [Self] {
        match call {
            "write" | "pwrite64" | "fdatasync" | "fsync" | "ftruncate" => {
                &[Self::Full, Self::Device, Self::Interrupted]
            }
            "openat" => &[Self::Full, Self::Device, Self::Interrupted, Self::Files],
            _ => &[Self::Full, Self::Device],
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "ENOSPC",
            Self::Device => "EIO",
            Self::Interrupted => "EINTR",
            Self::Files => "EMFILE",
        }
    }

    /// How people are told.
    pub fn text(self) -> &'static str {
        match self {
            Self::Full => "No space left on device",
            Self::Device => "Input/output error",
            Self::Interrupted => "Interrupted system call",
            Self::Files => "Too many open files",
        }
    }
}

/// Runs the command and lets the call fail, or it and all later ones of its
/// name; says whether the program came there.
pub fn fail(
    command: &Command,
    point: &Point,
    (errno, forever): (Errno, bool),
    log: &Path,
    stdin: Stdio,
) -> Result<(Output, bool), Failure> {
    let mut strace = Command::new("strace");
    let Point { call, nth, path } = point;
    strace.arg("-o").arg(log).args(["-e", &format!("trace={call}"), "-e"]);
    let (errno, on) = (errno.word(), if forever { "+" } else { "" });
    strace.arg(format!("inject={call}:error={errno}:when={nth}{on}"));
    if let Some(path) = path {
        strace.arg("-f").arg("-P").arg(path);
    }
    let output = under(strace, command, stdin)?;
    Ok((output, fs::read_to_string(log)?.contains("(INJECTED)")))
}

fn under(mut strace: Command, command: &Command, stdin: Stdio) -> Result<Output, Failure> {
    strace.arg("--").arg(command.get_program()).args(command.get_args());
    strace.env_clear().stdin(stdin);
    for (name, value) in command.get_envs() {
        strace.envs(value.map(|value| (name, value)));
    }
    strace.current_dir(command.get_current_dir().unwrap_or(Path::new("/")));
    patience::output(&mut strace)
}

/// `[thread ]name(arguments`.
fn read(line: &str, all: bool) -> Option<Call> {
    let (thread, rest) = match all {
        true => line.split_once(char::is_whitespace)?,
        false => ("0", line),
    };
    let (name, text) = rest.trim_start().split_once('(')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let thread = thread.parse().ok()?;
    is_name.then(|| Call { thread, name: name.to_owned(), text: text.to_owned() })
}

/// The points of one thread's calls that change something under `home`.
pub fn points(calls: &[Call], home: &Path) -> Vec<Point> {
    let home = home.display().to_string();
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    let mut points = Vec::new();
    for call in calls {
        let nth = counts.entry(&call.name).or_default();
        *nth += 1;
        let opens = call.name == "openat" && !call.text.contains("O_CREAT");
        if call.name != "execve" && !opens && call.text.contains(&home) {
            points.push(Point { call: call.name.clone(), nth: *nth, path: None });
        }
    }
    points
}
