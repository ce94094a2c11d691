//! A home, a workspace and two automations in a folder of their own, and
//! commands that see nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use crate::draft::Draft;
use blueprint::Program;
use durable::disk::RealDisk;
use runstore::{Home, RunPlace};
use tempfile::TempDir;

use super::patience;
use crate::life::Failure;

#[derive(Debug)]
pub struct House {
    folder: TempDir,
    program_file: PathBuf,
    pub home: PathBuf,
    pub workspace: PathBuf,
    /// The long automation.
    pub program: Arc<Program>,
    /// The automation whose nodes are asked of an agent.
    pub asking: Arc<Program>,
    /// A home whose run waits at its gate.
    pub parked: PathBuf,
    /// A home whose run has lost its worker.
    pub interrupted: PathBuf,
}

/// Where the commands of the automation note that they acted.
pub const EFFECTS: &str = "effects";

/// The provider that the agent is.
pub const PROVIDER: &str = "agent";

/// An agent: it acts, leaves something behind that runs in a session of its
/// own, and answers. strace does not end before what it follows, so that what
/// is left has an end.
const AGENT: &str = "#!/bin/sh\ncat > /dev/null\nprintf '%s\\n' \"$WARDIAN_ATTEMPT\" >> effects\n\
                     setsid sleep 5 > /dev/null 2>&1 &\necho done\n";

impl House {
    pub fn build() -> Result<Self, Failure> {
        let folder = TempDir::new()?;
        let path = fs::canonicalize(folder.path())?;
        let long = long();
        let house = Self {
            program_file: program_file()?,
            home: path.join("home"),
            workspace: path.join("work"),
            program: long.program(),
            asking: asking().program(),
            parked: path.join("parked"),
            interrupted: path.join("interrupted"),
            folder,
        };
        fs::write(house.long(), long.text())?;
        fs::write(house.short(), short().text())?;
        fs::write(house.agent(), AGENT)?;
        fs::set_permissions(house.agent(), fs::Permissions::from_mode(0o755))?;
        house.reset(None)?;
        let waits = patience::output(&mut house.exec(&house.long()))?;
        house.wait_for_workers()?;
        expect(&waits, 11)?;
        house.keep(&house.parked)?;
        house.reset(None)?;
        house.interrupt()?;
        house.keep(&house.interrupted)?;
        Ok(house)
    }

    pub fn home(&self) -> Home {
        Home::at(self.home.clone())
    }

    pub fn long(&self) -> PathBuf {
        self.folder.path().join("long.md")
    }

    pub fn short(&self) -> PathBuf {
        self.folder.path().join("short.md")
    }

    fn agent(&self) -> PathBuf {
        self.file("agent")
    }

    /// Describes the agent to a home.
    pub fn hire(&self) -> Result<(), Failure> {
        let settings = self.home.join("settings");
        fs::create_dir(&settings)?;
        let program = self.agent().display().to_string();
        let text = format!("[provider.{PROVIDER}]\nprogram = \"{program}\"\nreply = \"text\"\n");
        Ok(fs::write(settings.join("providers.toml"), text)?)
    }

    pub fn trace_log(&self) -> PathBuf {
        self.folder.path().join("trace")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, with an environment of its own.
    pub fn wardian(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program_file);
        command.args(args).arg("--json").arg("--home").arg(&self.home);
        command.current_dir(&self.workspace).env_clear().env("HOME", self.folder.path());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    pub fn exec(&self, automation: &Path) -> Command {
        self.wardian(&["automation", "exec", &automation.display().to_string()])
    }

    /// Begins anew, with an empty home or with what was kept.
    pub fn reset(&self, kept: Option<&Path>) -> Result<(), Failure> {
        for (name, path) in [("home", &self.home), ("work", &self.workspace)] {
            if path.exists() {
                fs::remove_dir_all(path)?;
            }
            match kept {
                Some(kept) => copy(&kept.join(name), path)?,
                None => fs::create_dir(path)?,
            }
        }
        Ok(())
    }

    fn keep(&self, place: &Path) -> Result<(), Failure> {
        fs::create_dir(place)?;
        copy(&self.home, &place.join("home"))?;
        copy(&self.workspace, &place.join("work"))
    }

    pub fn runs(&self) -> Result<Vec<RunPlace>, Failure> {
        Ok(runstore::list::all(&RealDisk, &self.home())?)
    }

    /// The run of the long automation.
    pub fn the_run(&self) -> Result<RunPlace, Failure> {
        let run = self.runs()?.into_iter().find(|place| place.blueprint == *self.program.id());
        Ok(run.ok_or("the run is not there")?)
    }

    /// Returns when nobody owns a run any more.
    pub fn wait_for_workers(&self) -> Result<(), Failure> {
        for place in self.runs()? {
            patience::unowned(&place.driver_lock())?;
        }
        Ok(())
    }
}

/// Twenty nodes of every kind that needs no agent.
fn long() -> Draft {
    let act = format!("printf '%s\\n' \"$WARDIAN_ATTEMPT\" >> {EFFECTS}; echo done");
    let mut draft = Draft::new("long")
        .state("keep", "who", "{{trigger.output.who | default(\"Ada\")}}")
        .node("fork", "branch", serde_json::json!({ "condition": "storage.who" }))
        .notify("never", "nobody comes here")
        .node("joined", "join", serde_json::json!({}))
        .notify("tell", "half of it is done")
        .gate("gate")
        .state("half", "half", "done")
        .state("all", "all", "done")
        .notify("bye", "all of it is done");
    for id in ["a", "p1", "p2", "p3", "b", "c", "d", "e", "f", "g"] {
        draft = draft.shell(id, &act);
    }
    draft = draft.path(&["start", "a", "keep", "fork"]).port("fork", "on_false", "never");
    for id in ["p1", "p2", "p3"] {
        draft = draft.port("fork", "on_true", id).edge(id, "joined");
    }
    let end = ["joined", "b", "tell", "gate", "c", "half", "d", "e", "f", "all", "g", "bye"];
    draft.edge("never", "joined").path(&end)
}

/// Two tasks, one after the other.
fn asking() -> Draft {
    let task = |draft: Draft, id| {
        draft.node(id, "task", serde_json::json!({ "agent": "role:worker", "prompt": "Do it" }))
    };
    let draft = task(task(Draft::new("asking"), "first"), "second");
    draft.path(&["start", "first", "second"])
}

fn short() -> Draft {
    Draft::new("short").notify("tell", "nothing").path(&["start", "tell"])
}

/// The program stands beside this one.
fn program_file() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("WARDIAN_PROGRAM") {
        return Ok(path.into());
    }
    let beside = std::env::current_exe()?.with_file_name("wardian");
    match beside.is_file() {
        true => Ok(beside),
        false => Err(format!(
            "{} is not there; build it with `cargo build --profile proof -p wardian-cli`, or name \
             one in WARDIAN_PROGRAM",
            beside.display()
        )
        .into()),
    }
}

pub fn expect(output: &Output, code: i32) -> Result<(), Failure> {
    if output.status.code() == Some(code) {
        return Ok(());
    }
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    Err(format!("{} instead of {code}: {}", output.status, String::from_utf8_lossy(&said)).into())
}

pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            false => drop(fs::copy(entry.path(), to)?),
        }
    }
    Ok(())
}
