//! Names: where a home keeps its runs, and what stands in a run's folder.
//! Every id is one safe path component before a path is made of it. Pure,
//! but for [`Home::open`], which asks what the folder lies on.

use std::path::{Path, PathBuf};

use blueprint::BlueprintId;
use durable::disk::{HomeError, refuse_network_home};
use durable::{Digest, Seq};
use engine::{RunId, SignalId};

/// One folder tree, one host at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Home(PathBuf);

/// Where one run stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunPlace {
    pub blueprint: BlueprintId,
    pub run: RunId,
    /// Behind the others, which differ where this does not: places are
    /// compared often.
    pub home: Home,
}

impl Home {
    /// The home at `path`, which need not exist yet. One on a network or in
    /// a synchronised folder is refused.
    pub fn open(path: &Path) -> Result<Self, HomeError> {
        refuse_network_home(path).map(Self)
    }

    /// A home by its path alone, for one that was opened before or that lies
    /// on a simulated disk.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of all runs.
    pub fn runs(&self) -> PathBuf {
        self.0.join("logs").join("automations")
    }

    /// The index of all runs. Its name, and those of what stands beside it,
    /// begin with a dot, so that they are never taken for a blueprint.
    pub fn index(&self) -> PathBuf {
        self.runs().join(".index.jsonl")
    }

    /// Whoever makes the index anew holds the lock on this file.
    pub fn index_lock(&self) -> PathBuf {
        self.runs().join(".index.lock")
    }

    /// The index that is being replaced.
    pub fn index_aside(&self) -> PathBuf {
        self.runs().join(".index.old")
    }

    /// The folder of a blueprint's runs.
    pub fn runs_of(&self, blueprint: &BlueprintId) -> PathBuf {
        self.runs().join(blueprint.as_str())
    }

    /// An empty file that says that the name of this folder lasts: it is made
    /// after the sync that brought the name to the disk.
    pub fn named(&self, blueprint: &BlueprintId) -> PathBuf {
        self.runs_of(blueprint).join(".named")
    }

    /// The folder of all worktrees that runs work in, a folder a blueprint.
    pub fn worktrees(&self) -> PathBuf {
        self.0.join("worktrees")
    }

    /// Where locks on checkouts stand that runs share with others.
    pub fn checkout_locks(&self) -> PathBuf {
        self.0.join("checkouts")
    }

    pub fn place(&self, blueprint: &BlueprintId, run: &RunId) -> RunPlace {
        RunPlace { home: self.clone(), blueprint: blueprint.clone(), run: run.clone() }
    }
}

impl RunPlace {
    pub fn folder(&self) -> PathBuf {
        self.home.runs_of(&self.blueprint).join(self.run.as_str())
    }

    /// Where the folder is built before it is published. The name begins
    /// with a dot, so that it is never taken for a run.
    pub fn aside(&self, salt: &str) -> PathBuf {
        self.home.runs_of(&self.blueprint).join(format!(".{}.{salt}.new", self.run))
    }

    /// Where the folder is moved to be removed.
    pub fn gone(&self, salt: &str) -> PathBuf {
        self.home.runs_of(&self.blueprint).join(format!(".{}.{salt}.gone", self.run))
    }

    pub fn events(&self) -> PathBuf {
        self.folder().join("events.jsonl")
    }

    pub fn state(&self) -> PathBuf {
        self.folder().join("state.json")
    }

    pub fn blueprint_json(&self) -> PathBuf {
        self.folder().join("blueprint.json")
    }

    pub fn invocation_json(&self) -> PathBuf {
        self.folder().join("invocation.json")
    }

    /// The snapshot of another blueprint that the run, or one that works for
    /// it, may run.
    pub fn automation_json(&self, blueprint: &BlueprintId) -> PathBuf {
        self.folder().join(automation_file(blueprint.as_str()))
    }

    /// The reference's way to ask for a cancel.
    pub fn cancel_marker(&self) -> PathBuf {
        self.folder().join("cancel.marker")
    }

    pub fn driver_lock(&self) -> PathBuf {
        self.folder().join("driver.lock")
    }

    pub fn inbox(&self) -> PathBuf {
        self.folder().join("inbox")
    }

    pub fn signal(&self, id: &SignalId) -> PathBuf {
        self.inbox().join(format!("{id}.json"))
    }

    pub fn artifacts(&self) -> PathBuf {
        self.folder().join("artifacts")
    }

    pub fn artifact(&self, digest: Digest) -> PathBuf {
        self.artifacts().join(digest.hex())
    }

    /// What providers say while they work, for people who watch.
    pub fn output(&self) -> PathBuf {
        self.folder().join("output")
    }

    /// What the workspace was when nodes began whose changes are asked for.
    pub fn baselines(&self) -> PathBuf {
        self.folder().join("baselines")
    }

    pub fn worker_log(&self) -> PathBuf {
        self.folder().join("worker.log")
    }

    /// The worktree that is made for the run.
    pub fn worktree(&self) -> PathBuf {
        self.home.worktrees().join(self.blueprint.as_str()).join(self.run.as_str())
    }

    /// One empty file for each run that tries this one again.
    pub fn retried_as(&self) -> PathBuf {
        self.folder().join("retried_as")
    }

    /// The `copy`-th torn end that was cut before the event `seq`.
    pub fn torn(&self, seq: Seq, copy: u32) -> PathBuf {
        let name = match copy {
            0 => format!("torn-{seq}.bin"),
            copy => format!("torn-{seq}-{copy}.bin"),
        };
        self.folder().join(name)
    }
}

/// The name of another blueprint's snapshot in the folder of a run.
pub(crate) fn automation_file(blueprint: &str) -> String {
    format!("automation.{blueprint}.json")
}

/// Whether a name is `.<run>.<hex>.<end>`, of a folder that this crate has
/// put aside.
pub(crate) fn is_aside(name: &str, end: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(end)?.strip_suffix('.'));
    inner.and_then(|inner| inner.rsplit_once('.')).is_some_and(|(run, salt)| {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        RunId::new(run).is_ok() && salt.len() == 8 && salt.bytes().all(is_hex)
    })
}
