//! A user of their own: a home, a working folder, and the command.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

/// Far more than anything here needs on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Between two looks at something that tells nobody when it changes.
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub(crate) struct House {
    folder: tempfile::TempDir,
}

/// What a command said, as text.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) talk: String,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    /// The folder in which commands run.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join(".wardian")
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Whoever started the tests may ignore signals, as a shell does for what
    /// it starts in the background; what is tested listens to them.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("/usr/bin/env");
        command.args(["--default-signal=INT,QUIT,TERM,HUP", env!("CARGO_BIN_EXE_wardian")]);
        command.args(args).current_dir(self.work()).env_clear().stdin(Stdio::null());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        command.env("HOME", self.folder.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        said(finish(self.start(self.command(args))))
    }

    /// The document that the command prints, whatever it exits with.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--json"]].concat()).json()
    }

    pub(crate) fn start(&self, mut command: Command) -> Child {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts a run, waits until it rests, and gives its id.
    pub(crate) fn exec(&self, file: &str) -> String {
        self.json(&["automation", "exec", file])["run_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn status(&self, run: &str) -> String {
        self.json(&["run", "show", run])["run"]["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn run_folder(&self, run: &str) -> PathBuf {
        let document = self.json(&["run", "show", run]);
        PathBuf::from(document["run"]["path"].as_str().unwrap())
    }

    /// The output with everything replaced that differs between two runs.
    /// The process that owns the run.
    pub(crate) fn owner(&self, run: &str) -> i32 {
        let lock = self.run_folder(run).join("driver.lock");
        let text = std::fs::read_to_string(lock).unwrap();
        text.lines().find_map(|line| line.strip_prefix("pid ")).unwrap().parse().unwrap()
    }

    pub(crate) fn normal(&self, text: &str) -> String {
        let text = text.replace(env!("CARGO_BIN_EXE_wardian"), "wardian");
        let text = text.replace(self.folder.path().to_str().unwrap(), "[USER]");
        let runs = self.json(&["run", "list"]);
        let runs = runs["runs"].as_array().unwrap();
        let ids: Vec<&str> = runs.iter().map(|run| run["run_id"].as_str().unwrap()).collect();
        let line = |line: &str| {
            let words: Vec<String> = line.split(' ').map(|word| normal_word(word, &ids)).collect();
            words.join(" ").trim_end().to_owned()
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        let text = if self.out.is_empty() { &self.talk } else { &self.out };
        let read = serde_json::from_str(text);
        read.unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The code of the error envelope on standard error.
    #[track_caller]
    pub(crate) fn error_code(&self) -> String {
        assert_eq!(self.out, "", "an error leaves standard output alone");
        let document: Value = serde_json::from_str(&self.talk).unwrap();
        assert_eq!(document["schema"], 1);
        let error = &document["error"];
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{document}");
        assert!(error["hint"].as_str().is_some_and(|text| !text.is_empty()), "{document}");
        error["code"].as_str().unwrap().to_owned()
    }
}

/// Lengths of time, instants, and the ids of runs, whole or short.
fn normal_word(word: &str, ids: &[&str]) -> String {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let core = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_length = core.strip_suffix('s').is_some_and(|n| n.len() > 2 && n.chars().all(is_digit));
    let tail = |id: &str| id.rsplit('-').next().unwrap().to_owned();
    let is_short = core.len() >= 4 && ids.iter().any(|id| tail(id).starts_with(core));
    match word.find("\"timestamp\":\"") {
        Some(at) => format!("{}\"timestamp\":…", &word[..at]),
        None if is_length => word.replace(core, "0.0s"),
        None if is_short => word.replace(core, "[ID]"),
        None if ids.contains(&core) => word.replace(core, "[RUN]"),
        None => word.to_owned(),
    }
}

pub(crate) fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said {
        code: output.status.code().unwrap_or_else(|| -output.status.signal().unwrap()),
        out: text(output.stdout),
        talk: text(output.stderr),
    }
}

/// Waits for a command, and ends it when that takes too long.
pub(crate) fn finish(child: Child) -> Output {
    let pid = pid(&child);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(DEADLINE) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            kill_process(pid, Signal::KILL).unwrap();
            panic!("a command did not end: {:?}", receiver.recv());
        }
    }
}

/// A command whose three streams are a terminal, and that terminal. Nobody
/// knows how large the terminal is.
pub(crate) fn on_terminal(house: &House, args: &[&str]) -> (Child, BufReader<File>) {
    on_screen(house.command(args), None)
}

/// The same with a screen of so many columns and rows.
pub(crate) fn on_screen(
    mut command: Command,
    size: Option<(u16, u16)>,
) -> (Child, BufReader<File>) {
    // A command of another test that kept it would keep this one from hanging up.
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    if let Some(size) = size {
        resize(&ours, size);
    }
    if !command.get_envs().any(|(name, _)| name == "TERM") {
        command.env("TERM", "xterm");
    }
    command.stdin(theirs.try_clone().unwrap());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let child = command.spawn().unwrap();
    (child, BufReader::new(File::from(ours)))
}

/// Gives a terminal so many columns and rows.
pub(crate) fn resize(terminal: impl AsFd, (ws_col, ws_row): (u16, u16)) {
    let size = Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().try_into().unwrap()).unwrap()
}

pub(crate) fn send(child: &Child, signal: Signal) {
    kill_process(pid(child), signal).unwrap();
}

/// Reads lines until one holds `wanted`, and gives what was read.
pub(crate) fn read_until(source: &mut BufReader<impl Read>, wanted: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(wanted) {
        let mut line = Vec::new();
        let count = source.read_until(b'\n', &mut line).unwrap_or(0);
        assert!(count > 0, "no `{wanted}` in {seen}");
        seen.push_str(&String::from_utf8_lossy(&line));
    }
    seen
}

/// Waits until a file holds a whole line, and gives that.
pub(crate) fn line_of(path: &Path) -> String {
    let read = || fs::read_to_string(path).unwrap_or_default();
    until(&format!("a line in {}", path.display()), || read().ends_with('\n'));
    read().trim().to_owned()
}

/// Waits until a process is gone.
pub(crate) fn assert_gone(pid: &str) {
    let stat = format!("/proc/{pid}/stat");
    let is_alive = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    until(&format!("the end of process {pid}"), || !is_alive());
}

/// Waits for something that tells nobody when it comes true.
#[expect(clippy::disallowed_methods, reason = "a deadline of a test is about real time")]
pub(crate) fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < DEADLINE, "waited too long for {what}");
        thread::park_timeout(LOOK_EVERY);
    }
}

/// A blueprint whose nodes follow each other: id, type, fields.
pub(crate) fn chain(id: &str, nodes: &[(&str, &str, &str)]) -> String {
    let mut text = format!("---\nschema: 2\nid: {id}\nname: {id}\nnodes:\n");
    text.push_str("  - id: start\n    type: manual_trigger\n");
    for (node, kind, fields) in nodes {
        text.push_str(&format!("  - id: {node}\n    type: {kind}\n    fields:\n"));
        fields.lines().for_each(|line| text.push_str(&format!("      {line}\n")));
    }
    text.push_str("edges:\n");
    let mut from = "start";
    for (node, _, _) in nodes {
        text.push_str(&format!("  - {{from: {from}, to: {node}}}\n"));
        from = node;
    }
    text.push_str("---\nProse.\n");
    text
}

pub(crate) fn hello() -> String {
    chain("hello", &[("greet", "shell", "command: echo hello {{trigger.output.who}}")])
}

pub(crate) fn gated() -> String {
    chain(
        "gated",
        &[
            ("before", "shell", "command: echo ready"),
            ("gate", "approval", "prompt: |\n  Is it {{nodes.before.output.stdout}}?\n  Really?"),
            ("after", "shell", "command: echo done"),
        ],
    )
}

/// Works until a file `go` appears; leaves its own and the worker's number.
pub(crate) fn waiting() -> String {
    let command = "command: |\n  echo $PPID > worker\n  echo $$ > shell\n  \
                   while [ ! -e go ]; do sleep 0.02; done\n  echo gone";
    chain("waiting", &[("wait", "shell", command), ("last", "shell", "command: echo last")])
}
