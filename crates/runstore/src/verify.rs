//! What can be proven of a run: that every line of its log is as it was
//! written, that its other files are what the log says, and up to where
//! something else than the log itself can testify. Nothing is changed.

use std::ops::ControlFlow;
use std::path::Path;

use durable::disk::{Disk, DiskError};
use durable::tail::{End, Position, Scanner, Trust};
use durable::{Digest, Seq};
use engine::RunStarted;

use crate::artifacts::{self, ArtifactError};
use crate::layout::RunPlace;
use crate::limits;
use crate::open::{OpenError, Opened, pinned, read_checkpoint, replay};
use crate::scan::walk;

/// The account of a run.
#[derive(Debug)]
pub struct Report {
    pub place: RunPlace,
    /// Good lines, from the first one on, and their bytes.
    pub events: u64,
    pub bytes: u64,
    pub trust: Trust,
    pub end: End,
    /// The checkpoint bears witness to the events before this one. A log
    /// that is cut at a line behind it is a shorter log, and nothing tells.
    pub witnessed: Option<Seq>,
    /// The other files, by their names in the run's folder.
    pub files: Vec<(String, FileCheck)>,
    /// Why the run cannot be opened, where its lines are good.
    pub fault: Option<OpenError>,
}

/// What is to be said of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileCheck {
    Good,
    /// Nothing tells what it should be.
    Unproven,
    Bad(String),
}

/// Checks the run. An error means that there is none, or that the disk did
/// not let itself be read.
pub fn verify(disk: &dyn Disk, place: &RunPlace) -> Result<Report, OpenError> {
    let path = place.events();
    let replayed = match replay(disk, place) {
        Err(error @ (OpenError::NoRun { .. } | OpenError::Disk(_))) => return Err(error),
        replayed => replayed,
    };
    let saved = read_checkpoint(disk, place)?;
    let position = saved.as_ref().ok().and_then(Option::as_ref).map(|saved| saved.position);
    let mut scanner = Scanner::new(Position::START);
    position.into_iter().for_each(|position| scanner.expect(position.witness()));
    walk(disk, &path, &mut scanner, |_| Ok::<_, DiskError>(ControlFlow::Continue(())))?;
    let end = scanner.finish();
    let mut files = Vec::new();
    match saved {
        Ok(Some(_)) => files.push(("state.json".to_owned(), FileCheck::Good)),
        Ok(None) => {}
        Err(why) => files.push(("state.json".to_owned(), FileCheck::Bad(why))),
    }
    let started = replayed.as_ref().ok().and_then(|log| log.state.started.as_deref());
    files.extend(snapshots(disk, place, started)?);
    files.extend(check_artifacts(disk, place)?);
    Ok(Report {
        place: place.clone(),
        events: scanner.position().next_seq.0,
        bytes: scanner.position().offset,
        trust: scanner.trust().unwrap_or(Trust::Verified),
        end,
        witnessed: position.map(|position| position.next_seq),
        files,
        fault: fault(replayed),
    })
}

impl Report {
    /// Whether all that can be proven was proven.
    pub fn is_sound(&self) -> bool {
        let bad = |(_, check): &(String, FileCheck)| matches!(check, FileCheck::Bad(_));
        self.trust == Trust::Verified
            && self.end == End::Clean
            && self.fault.is_none()
            && !self.files.iter().any(bad)
    }
}

/// Damage is told by the end; what is left is a log of good lines that say
/// nothing sensible.
fn fault(replayed: Result<Opened, OpenError>) -> Option<OpenError> {
    match replayed {
        Ok(_) | Err(OpenError::Damaged { .. }) => None,
        Err(error) => Some(error),
    }
}

fn snapshots(
    disk: &dyn Disk,
    place: &RunPlace,
    started: Option<&RunStarted>,
) -> Result<Vec<(String, FileCheck)>, DiskError> {
    let blueprint = started.and_then(|started| started.blueprint_digest);
    let invocation = started.and_then(|started| started.invocation_digest);
    let (snapshot, call) = (place.blueprint_json(), place.invocation_json());
    let checks = [
        ("blueprint.json", snapshot_check(disk, &snapshot, blueprint, limits::SNAPSHOT_BYTES)?),
        ("invocation.json", snapshot_check(disk, &call, invocation, limits::INVOCATION_BYTES)?),
    ];
    let found = checks.into_iter().filter_map(|(name, check)| Some((name.to_owned(), check?)));
    Ok(found.collect())
}

fn snapshot_check(
    disk: &dyn Disk,
    path: &Path,
    expected: Option<Digest>,
    limit: u64,
) -> Result<Option<FileCheck>, DiskError> {
    match pinned(disk, path, expected, limit) {
        Ok(None) => Ok(None),
        Ok(Some(_)) if expected.is_some() => Ok(Some(FileCheck::Good)),
        Ok(Some(_)) => Ok(Some(FileCheck::Unproven)),
        Err(OpenError::Disk(error)) => Err(error),
        Err(error) => Ok(Some(FileCheck::Bad(error.to_string()))),
    }
}

fn check_artifacts(
    disk: &dyn Disk,
    place: &RunPlace,
) -> Result<Vec<(String, FileCheck)>, DiskError> {
    let check = |digest: Digest| {
        let name = format!("artifacts/{}", digest.hex());
        match artifacts::get(disk, place, digest) {
            Ok(_) => Ok((name, FileCheck::Good)),
            Err(ArtifactError::Disk(error)) => Err(error),
            Err(error) => Ok((name, FileCheck::Bad(error.to_string()))),
        }
    };
    artifacts::list(disk, place)?.into_iter().map(check).collect()
}
