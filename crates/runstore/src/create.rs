//! A new run: its folder is built aside, made durable and published by one
//! rename, so that a run is either wholly there or not at all. Whoever
//! creates a run owns it from its birth.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use blueprint::BlueprintId;
use durable::Timestamp;
use durable::disk::{Disk, DiskError, Lock, SharedDisk, Unnamed, make_dir_all};
use durable::entropy::Entropy;
use durable::tail::Position;
use engine::RunId;
use thiserror::Error;

use crate::index;
use crate::layout::{Home, RunPlace, automation_file, is_aside};
use crate::writer::RunWriter;

/// What a run is made of.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// The bytes of `blueprint.json`; `None` for the record of a launch that
    /// failed before there was one.
    pub blueprint: Option<&'a [u8]>,
    /// The bytes of `invocation.json`.
    pub invocation: &'a [u8],
    /// The snapshots of other blueprints that it may run, by their ids.
    pub automations: &'a [(String, Vec<u8>)],
}

/// A run without events, owned by whoever has this.
#[derive(Debug)]
pub struct Created {
    pub place: RunPlace,
    pub lock: Lock,
}

#[derive(Debug, Error)]
pub enum CreateError {
    #[error("the run `{run}` exists already, in {}", folder.display())]
    Exists { run: RunId, folder: PathBuf },
    #[error("the new run's own lock {} is held by someone else", .0.display())]
    Locked(PathBuf),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The id of a run that nothing else names: `<unix ms>-<8 hex>`.
pub fn new_run_id(now: Timestamp, entropy: &dyn Entropy) -> RunId {
    RunId::new(&format!("{}-{}", now.millis(), entropy.hex8()))
        .expect("digits and a hyphen are a safe component")
}

/// So often is a folder begun anew that somebody swept away.
const TRIES: u32 = 8;

/// A run in the making: its folder lies aside, and its lock is held. One
/// that is dropped is left to [`sweep`].
#[derive(Debug)]
struct Begun<'a> {
    place: &'a RunPlace,
    aside: PathBuf,
    lock: Lock,
    /// The folder of the blueprint's runs, if its name may not last yet.
    runs: Option<Unnamed>,
}

/// Makes the run. On return it is durable; on an error it is not there, or
/// there and without events.
pub fn create(
    disk: &dyn Disk,
    place: &RunPlace,
    new: &NewRun<'_>,
    entropy: &dyn Entropy,
) -> Result<Created, CreateError> {
    begin(disk, place, entropy)?.publish(disk, new)
}

/// Begins to make the run: its folder, aside, and its lock.
fn begin<'a>(
    disk: &dyn Disk,
    place: &'a RunPlace,
    entropy: &dyn Entropy,
) -> Result<Begun<'a>, CreateError> {
    let folder = place.folder();
    if disk.stat(&folder)?.is_some() {
        return Err(CreateError::Exists { run: place.run.clone(), folder });
    }
    let runs = match disk.stat(&place.home.named(&place.blueprint))? {
        Some(_) => None,
        None => Some(make_dir_all(disk, &place.home.runs_of(&place.blueprint))?),
    };
    let mut tries = TRIES;
    loop {
        let aside = place.aside(&entropy.hex8());
        tries -= 1;
        match lock(disk, &aside) {
            Ok(lock) => return Ok(Begun { place, aside, lock, runs }),
            Err(error) => {
                remove_aside(disk, &aside);
                if tries == 0 || !is_swept(&error) {
                    return Err(error);
                }
            }
        }
    }
}

/// Whether somebody who sweeps took the folder for one that was left, between
/// the making of its lock and the taking of it. Nothing was in it yet.
fn is_swept(error: &CreateError) -> bool {
    match error {
        CreateError::Locked(_) => true,
        CreateError::Disk(fault) => fault.source.kind() == ErrorKind::NotFound,
        CreateError::Exists { .. } => false,
    }
}

impl Begun<'_> {
    /// Fills the folder and gives it its name.
    fn publish(self, disk: &dyn Disk, new: &NewRun<'_>) -> Result<Created, CreateError> {
        let Self { place, aside, lock, runs } = self;
        let folder = place.folder();
        let built = build(disk, &aside, new).and_then(|()| {
            if let Some(runs) = runs {
                runs.sync(disk)?;
                // Without it the next run syncs once more.
                drop(disk.create(&place.home.named(&place.blueprint), b""));
            }
            let told = index::born(disk, place);
            disk.rename(&aside, &folder)?;
            Ok(told)
        });
        let told = match built {
            Ok(told) => told,
            Err(error) => {
                let taken = disk.stat(&folder)?.is_some();
                remove_aside(disk, &aside);
                let run = place.run.clone();
                return Err(if taken { CreateError::Exists { run, folder } } else { error });
            }
        };
        disk.sync_dir(&place.home.runs_of(&place.blueprint))?;
        index::confirm(disk, place, &told);
        Ok(Created { place: place.clone(), lock })
    }
}

impl Created {
    /// The writer of the new run's log.
    pub fn into_writer(self, disk: SharedDisk) -> Result<RunWriter, DiskError> {
        let log = disk.append(&self.place.events())?;
        Ok(RunWriter::new(disk, self.place, self.lock, log, Position::START))
    }
}

/// Removes what a creation that was cut short has left in a blueprint's
/// folder, and says how many such folders there were.
pub fn sweep(disk: &dyn Disk, home: &Home, blueprint: &BlueprintId) -> Result<usize, DiskError> {
    let parent = home.runs_of(blueprint);
    if disk.stat(&parent)?.is_none() {
        return Ok(0);
    }
    let mut swept = 0;
    for name in disk.list(&parent)? {
        let aside = parent.join(&name);
        let lock = aside.join("driver.lock");
        if !is_aside(&name, "new") {
            continue;
        }
        // Without a lock file, or with a held lock, someone may be building.
        if disk.stat(&lock)?.is_none() {
            continue;
        }
        let held = match disk.try_lock(&lock) {
            // It was published in between.
            Err(fault) if fault.source.kind() == ErrorKind::NotFound => None,
            held => held?,
        };
        if held.is_some() {
            remove_aside(disk, &aside);
            swept += 1;
        }
    }
    Ok(swept)
}

fn lock(disk: &dyn Disk, aside: &Path) -> Result<Lock, CreateError> {
    let path = aside.join("driver.lock");
    disk.create_dir(aside)?;
    disk.try_lock(&path)?.ok_or(CreateError::Locked(path))
}

/// Writes all, then syncs all: the first sync brings much of what is behind it
/// to the disk, so that the others take less.
fn build(disk: &dyn Disk, aside: &Path, new: &NewRun<'_>) -> Result<(), CreateError> {
    let named = |name: &str| name.to_owned();
    let others = new.automations.iter();
    let others = others.map(|(id, bytes)| (automation_file(id), Some(bytes.as_slice())));
    let files = [
        (named("blueprint.json"), new.blueprint),
        (named("invocation.json"), Some(new.invocation)),
        (named("events.jsonl"), Some(&b""[..])),
    ];
    let mut filled = Vec::new();
    for (name, bytes) in files.into_iter().chain(others) {
        let Some(bytes) = bytes else { continue };
        let path = aside.join(name);
        disk.create(&path, bytes)?;
        // An empty file has no bytes to lose.
        if !bytes.is_empty() {
            filled.push(path);
        }
    }
    filled.iter().try_for_each(|path| disk.sync_file(path))?;
    Ok(disk.sync_dir(aside)?)
}

/// Takes away what was built; what cannot be removed is left to [`sweep`].
fn remove_aside(disk: &dyn Disk, aside: &Path) {
    for name in disk.list(aside).unwrap_or_default() {
        drop(disk.remove_file(&aside.join(name)));
    }
    drop(disk.remove_dir(aside));
}
