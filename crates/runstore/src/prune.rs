//! Taking away runs that have ended. The folder is moved aside in one step,
//! durably, and then emptied, so that a run is either wholly there or gone;
//! what a crash leaves of the rest is swept later. Whoever removes a run owns
//! it first.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use blueprint::BlueprintId;
use durable::disk::{Disk, DiskError, Kind};
use durable::entropy::Entropy;
use engine::RunId;
use thiserror::Error;

use crate::layout::{Home, RunPlace, is_aside};
use crate::lock;
use crate::open::{OpenError, replay};

/// Why a run stays.
#[derive(Debug, Error)]
pub enum PruneError {
    #[error("someone owns the run `{0}` right now")]
    Owned(RunId),
    #[error("the run `{0}` has not ended")]
    Open(RunId),
    #[error(transparent)]
    Read(#[from] OpenError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Removes the run. On return it is gone for good. On an error it is there,
/// or gone with something left for [`sweep`].
pub fn remove(disk: &dyn Disk, place: &RunPlace, entropy: &dyn Entropy) -> Result<(), PruneError> {
    let run = || place.run.clone();
    let _lock = lock::take(disk, place)?.ok_or_else(|| PruneError::Owned(run()))?;
    if replay(disk, place)?.state.closed.is_none() {
        return Err(PruneError::Open(run()));
    }
    let gone = place.gone(&entropy.hex8());
    disk.rename(&place.folder(), &gone)?;
    // Before this the name may come back, and must then have all its files.
    disk.sync_dir(&place.home.runs_of(&place.blueprint))?;
    Ok(remove_tree(disk, &gone)?)
}

/// Bytes of all files of the run.
pub fn bytes(disk: &dyn Disk, place: &RunPlace) -> Result<u64, DiskError> {
    let files = walk(disk, &place.folder())?.files;
    Ok(files.iter().map(|(_, bytes)| bytes).sum())
}

/// Removes what a removal that was cut short has left in a blueprint's
/// folder, and says how many such folders there were.
pub fn sweep(disk: &dyn Disk, home: &Home, blueprint: &BlueprintId) -> Result<usize, DiskError> {
    let parent = home.runs_of(blueprint);
    let mut names = disk.list(&parent)?;
    names.retain(|name| is_aside(name, "gone"));
    if !names.is_empty() {
        // The removal may have been cut short before its own sync.
        disk.sync_dir(&parent)?;
    }
    names.iter().try_for_each(|name| remove_tree(disk, &parent.join(name)))?;
    Ok(names.len())
}

/// What stands in a folder; folders come after those that hold them.
#[derive(Default)]
struct Tree {
    folders: Vec<PathBuf>,
    files: Vec<(PathBuf, u64)>,
}

/// Goes through a folder. A link is a file here, and is not followed.
fn walk(disk: &dyn Disk, root: &Path) -> Result<Tree, DiskError> {
    let mut tree = Tree { folders: vec![root.to_owned()], files: Vec::new() };
    let mut at = 0;
    while let Some(folder) = tree.folders.get(at).cloned() {
        at += 1;
        for name in there(disk.list(&folder))?.unwrap_or_default() {
            let path = folder.join(name);
            match disk.stat(&path)? {
                Some(stat) if stat.kind == Kind::Folder => tree.folders.push(path),
                Some(stat) => tree.files.push((path, stat.bytes)),
                None => {}
            }
        }
    }
    Ok(tree)
}

fn remove_tree(disk: &dyn Disk, root: &Path) -> Result<(), DiskError> {
    let tree = walk(disk, root)?;
    for (file, _) in &tree.files {
        there(disk.remove_file(file))?;
    }
    for folder in tree.folders.iter().rev() {
        there(disk.remove_dir(folder))?;
    }
    Ok(())
}

/// Someone else may be removing the same.
fn there<T>(done: Result<T, DiskError>) -> Result<Option<T>, DiskError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.source.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
