//! The demo: a throwaway git repository with a bug, a blueprint that triages
//! it, and a script that plays the agents. Everything else is the real
//! thing: run, worker, processes, log and gate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::Host;
use crate::api::worktree::Isolation;
use crate::api::{Code, Demo, HostError, LaunchRequest};

const BLUEPRINT: &str = include_str!("demo/triage.md");
const SCRIPT: &str = include_str!("demo/script.yaml");
const GREET: &str = include_str!("demo/greet.sh");
const TEST: &str = include_str!("demo/test.sh");
const ISSUE: &str = "`sh greet.sh Ada` greets the world, not Ada.";

impl Host {
    /// Sets the demo up, in a new folder of the home or in the one given,
    /// and starts its run.
    pub fn demo(&self, folder: Option<PathBuf>) -> Result<Demo, HostError> {
        let named = format!("demo/{}", self.entropy.hex8());
        let folder = match folder {
            Some(folder) => self.config.current_dir.join(folder),
            None => self.home.path().join(named),
        };
        let repository = folder.join("repository");
        let (blueprint, script) = (folder.join("triage.md"), folder.join("script.yaml"));
        set_up(&folder, &repository).map_err(|error| {
            HostError::from_fault(Code::Store, "the demo cannot be set up", &error)
                .hint("name an empty folder with --folder")
        })?;
        make_repository(&repository)?;
        let prepared = self.prepare(LaunchRequest {
            automation: blueprint.display().to_string(),
            input: Some(json!({ "issue": ISSUE })),
            input_raw: None,
            workspace: Some(repository.clone()),
            bindings: BTreeMap::new(),
            provider: Some("scripted".to_owned()),
            script: Some(script),
            // The repository is there to be looked at while the run mends it.
            isolation: Some(Isolation::Shared),
        })?;
        Ok(Demo { prepared, home: self.home.path().to_owned(), repository, blueprint })
    }
}

fn set_up(folder: &Path, repository: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(repository)?;
    std::fs::write(folder.join("triage.md"), BLUEPRINT)?;
    std::fs::write(folder.join("script.yaml"), SCRIPT)?;
    std::fs::write(repository.join("greet.sh"), GREET)?;
    std::fs::write(repository.join("test.sh"), TEST)
}

/// The repository has its own name and address for commits, so that the demo
/// works where git was never configured.
fn make_repository(repository: &Path) -> Result<(), HostError> {
    git(repository, &["init", "--quiet", "--initial-branch=main"])?;
    git(repository, &["config", "user.name", "wardian demo"])?;
    git(repository, &["config", "user.email", "demo@localhost"])?;
    git(repository, &["config", "commit.gpgsign", "false"])?;
    git(repository, &["add", "."])?;
    git(repository, &["commit", "--quiet", "--message", "A greeting"])
}

fn git(repository: &Path, args: &[&str]) -> Result<(), HostError> {
    let mut command = Command::new("git");
    command.args(args).current_dir(repository).stdin(Stdio::null());
    let output = command.output().map_err(|error| {
        HostError::from_fault(Code::Internal, "the demo needs git, which cannot be started", &error)
            .hint("install git, then run the demo again")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(HostError::new(Code::Internal, format!("git {} failed: {}", args.join(" "), said.trim()))
        .hint("name an empty folder with --folder"))
}
