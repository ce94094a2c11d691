//! A run as it stands on disk: the checkpoint, where it is sound and the log
//! bears it out, and the rest of the log folded on. Every line is verified,
//! also those that the checkpoint spares from folding. Nothing is written.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use durable::disk::{Disk, DiskError};
use durable::frame::is_sealed;
use durable::tail::{End, Line, Position, Scanner, Trust, Why};
use durable::version::Format;
use durable::{Digest, Seq};
use engine::{Fact, Illegal, RunStarted, RunState, fold};
use thiserror::Error;

use crate::checkpoint;
use crate::layout::RunPlace;
use crate::limits;
use crate::line::{LineError, REFERENCE_FORMAT, decode};
use crate::scan::walk;

/// A run that can be read.
#[derive(Debug)]
pub struct Opened {
    pub state: RunState,
    /// The end of what is good of the log.
    pub position: Position,
    /// A write that was cut short and never acknowledged stands behind it.
    pub torn: Option<Torn>,
    /// Whether the lines carry hashes; logs of the reference have none.
    pub trust: Trust,
    pub checkpoint: CheckpointUse,
    /// The bytes of `blueprint.json` and `invocation.json`, where there are
    /// such files; they are what `run_started` says.
    pub blueprint: Option<Vec<u8>>,
    pub invocation: Option<Vec<u8>>,
}

/// What stands behind the good part of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn {
    pub keep: u64,
    pub dropped: u64,
    pub why: Why,
}

/// What became of the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointUse {
    Absent,
    /// Folding began at it, and went on for so many events.
    Used {
        behind: u64,
    },
    /// It is not to be relied on, for this reason; the state is from the log
    /// alone.
    Passed(String),
}

/// Why a run cannot be opened. Nothing was changed.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("there is no run `{run}` of `{blueprint}`: {} is absent", path.display())]
    NoRun { run: String, blueprint: String, path: PathBuf },
    #[error(
        "the log {} is damaged at line {line} (event {seq}, byte {offset}): {why}; nothing was \
         changed, so restore the run from a backup, or verify it to see how far it is good",
        path.display()
    )]
    Damaged { path: PathBuf, line: u64, seq: Seq, offset: u64, why: Why },
    #[error("line {line} of {} cannot be read", path.display())]
    Line {
        path: PathBuf,
        line: u64,
        #[source]
        source: LineError,
    },
    #[error("line {line} of {} cannot follow the lines before it", path.display())]
    Illegal {
        path: PathBuf,
        line: u64,
        #[source]
        source: Illegal,
    },
    #[error(
        "{} is not the file that the run began with (it should have {expected}, it has {found}); \
         restore it from a backup",
        path.display()
    )]
    Changed { path: PathBuf, expected: Digest, found: Digest },
    #[error("{}, which the run began with, is absent; restore it from a backup", path.display())]
    Lost { path: PathBuf },
    #[error("the log {} is of run `{found}`, not of the run that its folder names", path.display())]
    OtherRun { path: PathBuf, found: String },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Reads the run and checks it against all that its folder holds.
pub fn open(disk: &dyn Disk, place: &RunPlace) -> Result<Opened, OpenError> {
    let log = replay(disk, place)?;
    let started = log.state.started.as_deref();
    let expected = |digest: fn(&RunStarted) -> Option<Digest>| started.and_then(digest);
    let blueprint = expected(|started| started.blueprint_digest);
    let invocation = expected(|started| started.invocation_digest);
    let blueprint = pinned(disk, &place.blueprint_json(), blueprint, limits::SNAPSHOT_BYTES)?;
    let invocation = pinned(disk, &place.invocation_json(), invocation, limits::INVOCATION_BYTES)?;
    Ok(Opened { blueprint, invocation, ..log })
}

/// Reads the log and its checkpoint, and no other file.
pub(crate) fn replay(disk: &dyn Disk, place: &RunPlace) -> Result<Opened, OpenError> {
    let path = place.events();
    if disk.stat(&path)?.is_none() {
        let (run, blueprint) = (place.run.to_string(), place.blueprint.to_string());
        return Err(OpenError::NoRun { run, blueprint, path });
    }
    let (saved, passed) = match read_checkpoint(disk, place)? {
        Ok(saved) => (saved, None),
        Err(reason) => (None, Some(reason)),
    };
    let saved_at = saved.as_ref().map(|saved| saved.position.next_seq);
    let mut scanner = Scanner::new(Position::START);
    if let Some(saved) = &saved {
        scanner.expect(saved.position.witness());
    }
    let mut replay = Replay { path: &path, state: RunState::fresh(), saved, format: None };
    walk(disk, &path, &mut scanner, |line| replay.line(line).map(|()| ControlFlow::Continue(())))?;
    let torn = end(disk, &path, &mut scanner)?;
    let position = scanner.position();
    let state = replay.finish();
    check_names(&path, place, &state)?;
    let behind = |at: Seq| CheckpointUse::Used { behind: position.next_seq.0.saturating_sub(at.0) };
    let used = || saved_at.map_or(CheckpointUse::Absent, behind);
    Ok(Opened {
        state,
        position,
        torn,
        trust: scanner.trust().unwrap_or(Trust::Verified),
        checkpoint: passed.map_or_else(used, CheckpointUse::Passed),
        blueprint: None,
        invocation: None,
    })
}

/// What the end of a log means, where the log can be read.
pub(crate) fn end(
    disk: &dyn Disk,
    path: &Path,
    scanner: &mut Scanner,
) -> Result<Option<Torn>, OpenError> {
    let end = scanner.finish();
    let first_line_is_bad = scanner.position() == Position::START && end != End::Clean;
    if first_line_is_bad && let Some(found) = newer_format(disk, path)? {
        let source = LineError::TooNew { found };
        return Err(OpenError::Line { path: path.to_owned(), line: 1, source });
    }
    match end {
        End::Clean => Ok(None),
        End::Torn { keep, dropped, why } => Ok(Some(Torn { keep, dropped, why })),
        End::Damaged { offset, line, expected: seq, why } => {
            Err(OpenError::Damaged { path: path.to_owned(), line, seq, offset, why })
        }
    }
}

/// The format that a first line names which is nothing to this program. A
/// log of the future must be refused, not taken for a torn one; a line in a
/// frame of ours that its hash disowns is damage, whatever it says.
fn newer_format(disk: &dyn Disk, path: &Path) -> Result<Option<Format>, DiskError> {
    let head = disk.read_from(path, 0, limits::FIRST_LINE_BYTES)?;
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match decode(line, None) {
        Err(LineError::TooNew { found }) if !is_sealed(line) => Ok(Some(found)),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// A state that was saved, and where the log then stood.
#[derive(Debug)]
pub(crate) struct SavedState {
    pub(crate) state: RunState,
    pub(crate) position: Position,
}

/// The checkpoint, if there is one; the inner error says why it is passed
/// over.
pub(crate) fn read_checkpoint(
    disk: &dyn Disk,
    place: &RunPlace,
) -> Result<Result<Option<SavedState>, String>, DiskError> {
    let path = place.state();
    if disk.stat(&path)?.is_none() {
        return Ok(Ok(None));
    }
    let bytes = disk.read(&path, limits::CHECKPOINT_BYTES)?;
    let saved = checkpoint::decode(&bytes).and_then(|saved| {
        let position = saved.position;
        Ok(Some(SavedState { state: saved.state()?, position }))
    });
    Ok(saved.map_err(|unsound| told(&unsound)))
}

/// An error with all its causes.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (**cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// A file that the run began with, if there is one.
pub(crate) fn pinned(
    disk: &dyn Disk,
    path: &Path,
    expected: Option<Digest>,
    limit: u64,
) -> Result<Option<Vec<u8>>, OpenError> {
    if disk.stat(path)?.is_none() {
        return match expected {
            Some(_) => Err(OpenError::Lost { path: path.to_owned() }),
            None => Ok(None),
        };
    }
    let bytes = disk.read(path, limit)?;
    if let Some(expected) = expected {
        let found = Digest::of(&bytes);
        if expected != found {
            return Err(OpenError::Changed { path: path.to_owned(), expected, found });
        }
    }
    Ok(Some(bytes))
}

fn check_names(path: &Path, place: &RunPlace, state: &RunState) -> Result<(), OpenError> {
    match state.started.as_deref() {
        // The oldest logs of the reference name no run.
        Some(started) if started.format == REFERENCE_FORMAT => Ok(()),
        Some(started) if started.run_id != place.run || started.blueprint_id != place.blueprint => {
            let found = format!("{}/{}", started.blueprint_id, started.run_id);
            Err(OpenError::OtherRun { path: path.to_owned(), found })
        }
        Some(_) | None => Ok(()),
    }
}

/// The fold under way.
struct Replay<'a> {
    path: &'a Path,
    state: RunState,
    /// The checkpoint, until the log has come to it.
    saved: Option<SavedState>,
    format: Option<Format>,
}

impl Replay<'_> {
    fn line(&mut self, line: Line<'_>) -> Result<(), OpenError> {
        let saved = self.saved.take_if(|saved| saved.position.next_seq == line.seq);
        if let Some(saved) = saved {
            self.state = saved.state;
        }
        // What the checkpoint holds is not folded again, but the first line
        // says whether the log may be read at all.
        if self.saved.is_some() && line.seq != Seq::FIRST {
            return Ok(());
        }
        let number = line.seq.0.saturating_add(1);
        let event = decode(line.text, self.format).map_err(|source| OpenError::Line {
            path: self.path.to_owned(),
            line: number,
            source,
        })?;
        if let Fact::RunStarted(started) = &event.fact {
            self.format = Some(started.format);
        }
        if self.saved.is_some() {
            return Ok(());
        }
        fold(&mut self.state, &event).map_err(|source| OpenError::Illegal {
            path: self.path.to_owned(),
            line: number,
            source,
        })
    }

    fn finish(self) -> RunState {
        self.saved.map_or(self.state, |saved| saved.state)
    }
}
