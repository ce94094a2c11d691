//! The one appender of a run's log. A batch of events is one write and one
//! sync, and an error is final: after it the bytes of the file are not known
//! any more, so nothing is tried again and the next owner reads them from
//! the disk.

use durable::disk::{Append, DiskError, Lock, SharedDisk, replace_cache};
use durable::frame::{BODY_BYTES, seal};
use durable::tail::Position;
use durable::{Seq, limits};
use engine::{Event, RunState};
use thiserror::Error;

use crate::checkpoint;
use crate::layout::RunPlace;
use crate::line;

/// As long as most lines are, or longer.
const USUAL_LINE_BYTES: usize = 300;

/// Who holds this owns the run.
#[derive(Debug)]
pub struct RunWriter {
    disk: SharedDisk,
    place: RunPlace,
    lock: Lock,
    log: Box<dyn Append>,
    position: Position,
    /// An earlier error ended the writing.
    broken: bool,
}

/// Why a batch is not in the log.
#[derive(Debug, Error)]
pub enum AppendError {
    /// Nothing was written; the writer can go on.
    #[error("the log is at event {expected}, so event {found} cannot be written")]
    OutOfOrder { expected: Seq, found: Seq },
    /// Nothing was written; the writer can go on.
    #[error(
        "event {seq} ({kind}) takes {bytes} bytes, a line of the log at most {BODY_BYTES}; \
         keep large outputs as artifacts"
    )]
    TooLarge { seq: Seq, kind: &'static str, bytes: usize },
    /// Nothing was written; the writer can go on.
    #[error("a batch has at most {max} events, this one has {found}", max = limits::WRITE_EVENTS)]
    TooMany { found: usize },
    /// What the file holds is not known; the next owner will see.
    #[error("the events from {first} on are not known to be in the log")]
    Lost {
        first: Seq,
        #[source]
        source: DiskError,
    },
    #[error("an earlier write failed, and this owner writes nothing more")]
    Broken,
}

/// Why there is no new checkpoint. The one before stands.
#[derive(Debug, Error)]
pub enum CheckpointFailed {
    #[error("the state is of event {state}, the log is at event {log}")]
    OtherSeq { state: Seq, log: Seq },
    #[error("an earlier write failed, and this owner writes nothing more")]
    Broken,
    #[error("the checkpoint was not written")]
    Disk(#[from] DiskError),
}

impl RunWriter {
    /// A writer at the end of the log, which is at `position`.
    pub(crate) fn new(
        disk: SharedDisk,
        place: RunPlace,
        lock: Lock,
        log: Box<dyn Append>,
        position: Position,
    ) -> Self {
        Self { disk, place, lock, log, position, broken: false }
    }

    pub fn place(&self) -> &RunPlace {
        &self.place
    }

    /// The lock that makes this the owner, to be handed to a child.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    pub fn position(&self) -> Position {
        self.position
    }

    /// Makes the events durable, all of them or, on an error, a part that
    /// the next owner finds out.
    pub fn append(&mut self, events: &[Event]) -> Result<(), AppendError> {
        if self.broken {
            return Err(AppendError::Broken);
        }
        let Some(first) = events.first().map(|event| event.seq) else { return Ok(()) };
        let (bytes, next) = self.batch(events)?;
        let written = self.log.write(&bytes).and_then(|()| self.log.sync());
        if let Err(source) = written {
            self.broken = true;
            return Err(AppendError::Lost { first, source });
        }
        self.position = next;
        Ok(())
    }

    /// Saves the state that the log now gives. An error ends the writing:
    /// the disk is full or broken, and the log may be next.
    pub fn checkpoint(&mut self, state: &RunState) -> Result<(), CheckpointFailed> {
        if self.broken {
            return Err(CheckpointFailed::Broken);
        }
        let (state_seq, log) = (state.next_seq, self.position.next_seq);
        if state_seq != log {
            return Err(CheckpointFailed::OtherSeq { state: state_seq, log });
        }
        let bytes = checkpoint::encode(state, self.position);
        // No one else writes here, and an owner begins by sweeping what an
        // earlier one left, so that the place in the log is a fresh name.
        let salt = self.position.last.to_string();
        if let Err(error) = replace_cache(&*self.disk, &self.place.state(), &bytes, &salt) {
            self.broken = true;
            return Err(error.into());
        }
        Ok(())
    }

    fn batch(&self, events: &[Event]) -> Result<(Vec<u8>, Position), AppendError> {
        if events.len() > limits::WRITE_EVENTS {
            return Err(AppendError::TooMany { found: events.len() });
        }
        let mut bytes = Vec::with_capacity(events.len() * USUAL_LINE_BYTES);
        let mut next = self.position;
        let batch = next.next_seq;
        for event in events {
            if event.seq != next.next_seq {
                return Err(AppendError::OutOfOrder { expected: next.next_seq, found: event.seq });
            }
            let body = line::encode(event);
            if body.len() > BODY_BYTES {
                let (seq, kind, bytes) = (event.seq, event.fact.kind(), body.len());
                return Err(AppendError::TooLarge { seq, kind, bytes });
            }
            next.last = seal(&mut bytes, &body, batch, next.last);
            next.next_seq = event.seq.next();
        }
        next.offset += bytes.len() as u64;
        Ok((bytes, next))
    }
}
