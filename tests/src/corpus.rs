//! Homes as earlier versions left them, and what each of their runs is: the
//! log of a run folds to the same state for ever, whatever reads it. A folder
//! of `tests/corpus` is named after the version that wrote it, holds a home a
//! scenario, and is never written again once that version is released.

use std::fs;
use std::path::{Path, PathBuf};

use host::{Host, HostConfig};
use serde::{Deserialize, Serialize};

use crate::fixed;
use crate::life::Failure;
use crate::prepared::{HOME, Prepared};
use crate::real::house::copy;
use crate::scenario::Scenario;

/// The file that says what the runs of a home are.
pub const EXPECTED: &str = "expected.json";

/// What a run is, by its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    pub run: String,
    pub events: u64,
    pub status: String,
    /// Names the state that the log folds to.
    pub state: String,
    /// Whether the run's checkpoint says the same; nothing without one.
    pub checkpoint_agrees: Option<bool>,
}

/// Where the homes of all versions lie.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Every home, by the version and the scenario.
pub fn homes() -> Result<Vec<PathBuf>, Failure> {
    let mut homes = Vec::new();
    for version in folders(&folder())? {
        homes.extend(folders(&version)?);
    }
    Ok(homes)
}

/// What the runs of a home are now, as the product itself says it. The home
/// is copied first, so that nothing of it can change.
pub fn replayed(home: &Path) -> Result<Vec<Expected>, Failure> {
    let scratch = tempfile::tempdir()?;
    let copied = scratch.path().join("home");
    copy(home, &copied)?;
    let host = Host::open(HostConfig {
        home: copied.clone(),
        executable: PathBuf::from("wardian"),
        current_dir: copied.clone(),
    })?;
    let mut found = Vec::new();
    for blueprint in folders(&copied.join("logs/automations"))? {
        for run in folders(&blueprint)? {
            let id = run.file_name().and_then(|name| name.to_str()).ok_or("a run has a name")?;
            let replay = host.replay(id)?;
            let verified = host.verify(id)?;
            if !verified.ok {
                return Err(format!("{}: {}", run.display(), verified.damages.join("; ")).into());
            }
            found.push(Expected {
                run: run.strip_prefix(&copied)?.display().to_string(),
                events: replay.events,
                status: replay.view.status.word().to_owned(),
                state: replay.state_digest,
                checkpoint_agrees: replay.checkpoint_agrees,
            });
        }
    }
    Ok(found)
}

/// What a home says that its runs are.
pub fn expected(home: &Path) -> Result<Vec<Expected>, Failure> {
    Ok(serde_json::from_slice(&fs::read(home.join(EXPECTED))?)?)
}

/// Writes the homes that this version leaves, one a scenario, into a folder
/// that is not there yet.
pub fn write(into: &Path) -> Result<usize, Failure> {
    let scenarios = fixed::all();
    let count = scenarios.len();
    fs::create_dir_all(into.parent().ok_or("the corpus has a folder")?)?;
    fs::create_dir(into)?;
    for scenario in scenarios {
        let home = into.join(&scenario.name);
        lived(scenario, &home)?;
        let mut text = serde_json::to_string_pretty(&replayed(&home)?)?;
        text.push('\n');
        fs::write(home.join(EXPECTED), text)?;
    }
    Ok(count)
}

/// Lets the scenario live on a simulated disk, and keeps what a run is made
/// of: neither locks nor what people and tests left beside it.
fn lived(scenario: Scenario, home: &Path) -> Result<(), Failure> {
    let (disk, _, ended) = Prepared::new(scenario).live(|_| {});
    ended?;
    for (path, bytes) in disk.files() {
        let Ok(inside) = path.strip_prefix(HOME) else { continue };
        let kept = inside.starts_with("logs/automations") && !bytes.is_empty();
        if !kept || inside.ends_with(".index.jsonl") {
            continue;
        }
        let file = home.join(inside);
        fs::create_dir_all(file.parent().ok_or("a file has a folder")?)?;
        fs::write(file, bytes)?;
    }
    Ok(())
}

fn folders(of: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(of)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
