//! Events for reading: all of a run, its state at any of them, and what is
//! new. Reading takes no lock and writes nothing, whoever owns the run
//! meanwhile.

use std::ops::ControlFlow;

use durable::disk::Disk;
use durable::tail::{Position, Scanner, Why};
use durable::version::Format;
use durable::{Seq, limits};
use engine::{Event, Fact, RunState, fold};

use crate::layout::RunPlace;
use crate::line::decode;
use crate::open::{OpenError, Torn, end};
use crate::scan::walk;

/// Shows every event to `visit`, in order, until that breaks or the log
/// ends. Gives what stands behind the last good line, if the end was
/// reached and is torn.
pub fn each(
    disk: &dyn Disk,
    place: &RunPlace,
    mut visit: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<Option<Torn>, OpenError> {
    let path = place.events();
    let mut scanner = Scanner::new(Position::START);
    let (mut format, mut broken) = (None, false);
    walk(disk, &path, &mut scanner, |line| {
        let event = event(place, line.seq, line.text, &mut format)?;
        let flow = visit(event);
        broken = flow.is_break();
        Ok::<_, OpenError>(flow)
    })?;
    if broken { Ok(None) } else { end(disk, &path, &mut scanner) }
}

/// Shows every line as it stands, without its end, in order, until `visit`
/// breaks or the log ends. Gives what [`each`] gives.
pub fn each_line(
    disk: &dyn Disk,
    place: &RunPlace,
    mut visit: impl FnMut(Seq, &[u8]) -> ControlFlow<()>,
) -> Result<Option<Torn>, OpenError> {
    let path = place.events();
    let mut scanner = Scanner::new(Position::START);
    let mut broken = false;
    walk(disk, &path, &mut scanner, |line| {
        let flow = visit(line.seq, line.text);
        broken = flow.is_break();
        Ok::<_, OpenError>(flow)
    })?;
    if broken { Ok(None) } else { end(disk, &path, &mut scanner) }
}

/// The state just after event `seq`, from that and the events before it
/// alone. A log that ends earlier gives its last state.
pub fn state_at(disk: &dyn Disk, place: &RunPlace, seq: Seq) -> Result<RunState, OpenError> {
    let mut state = RunState::fresh();
    let mut illegal = None;
    each(disk, place, |event| {
        if event.seq > seq {
            return ControlFlow::Break(());
        }
        match fold(&mut state, &event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                illegal = Some((event.seq, error));
                ControlFlow::Break(())
            }
        }
    })?;
    match illegal {
        Some((at, source)) => {
            let line = at.0.saturating_add(1);
            Err(OpenError::Illegal { path: place.events(), line, source })
        }
        None => Ok(state),
    }
}

/// The seq of the last event; `None` for a log without events. The lines
/// are verified and not decoded.
pub fn last_seq(disk: &dyn Disk, place: &RunPlace) -> Result<Option<Seq>, OpenError> {
    let path = place.events();
    let mut scanner = Scanner::new(Position::START);
    walk(disk, &path, &mut scanner, |_| Ok::<_, OpenError>(ControlFlow::Continue(())))?;
    end(disk, &path, &mut scanner)?;
    Ok(scanner.position().next_seq.0.checked_sub(1).map(Seq))
}

/// Someone who reads along.
#[derive(Debug)]
pub struct Follow {
    place: RunPlace,
    position: Position,
    format: Option<Format>,
}

impl Follow {
    /// From the first event on.
    pub fn new(place: RunPlace) -> Self {
        Self { place, position: Position::START, format: None }
    }

    /// From the end of what `state` was folded from.
    pub fn after(place: RunPlace, position: Position, state: &RunState) -> Self {
        let format = state.started.as_ref().map(|started| started.format);
        Self { place, position, format }
    }

    /// The end of what was read so far.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The events that have come since the last call, at most
    /// [`limits::BATCH_EVENTS`] of them. A line that has no end yet is still
    /// being written, or was torn and waits for the next owner.
    pub fn poll(&mut self, disk: &dyn Disk) -> Result<Vec<Event>, OpenError> {
        match self.read(disk) {
            // A new owner may have cut a torn end and written on while it
            // was being read. If so a second look finds a good log.
            Err(OpenError::Damaged { .. }) => self.read(disk),
            read => read,
        }
    }

    /// Makes what was read durable, so that it may be told as done: its
    /// writer may be between its write and its sync, or its sync may have
    /// failed. What the disk never got is told as damage.
    pub fn settle(&self, disk: &dyn Disk) -> Result<(), OpenError> {
        let path = self.place.events();
        disk.recall(&path)?;
        let mut scanner = Scanner::new(Position::START);
        let Position { offset, next_seq: seq, .. } = self.position;
        walk(disk, &path, &mut scanner, |line| {
            let is_last = line.seq.next() == seq;
            Ok::<_, OpenError>(if is_last {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        if offset == 0 || scanner.position() == self.position {
            return Ok(());
        }
        let line = seq.0.saturating_add(1);
        let why = Why::ShorterThanWitnessed(seq);
        Err(OpenError::Damaged { path, line, seq, offset, why })
    }

    fn read(&mut self, disk: &dyn Disk) -> Result<Vec<Event>, OpenError> {
        let path = self.place.events();
        let Position { offset, next_seq: seq, .. } = self.position;
        let bytes = disk.stat(&path)?.map_or(0, |stat| stat.bytes);
        if bytes == offset {
            return Ok(Vec::new());
        }
        if bytes < offset {
            let why = Why::ShorterThanWitnessed(seq);
            let line = seq.0.saturating_add(1);
            return Err(OpenError::Damaged { path, line, seq, offset, why });
        }
        let mut scanner = Scanner::new(self.position);
        let (mut events, mut format) = (Vec::new(), self.format);
        walk(disk, &path, &mut scanner, |line| {
            events.push(event(&self.place, line.seq, line.text, &mut format)?);
            let full = events.len() >= limits::BATCH_EVENTS;
            let flow = if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Ok::<_, OpenError>(flow)
        })?;
        let position = scanner.position();
        if events.len() < limits::BATCH_EVENTS {
            end(disk, &path, &mut scanner)?;
        }
        (self.position, self.format) = (position, format);
        Ok(events)
    }
}

fn event(
    place: &RunPlace,
    seq: Seq,
    text: &[u8],
    format: &mut Option<Format>,
) -> Result<Event, OpenError> {
    let event = decode(text, *format).map_err(|source| OpenError::Line {
        path: place.events(),
        line: seq.0.saturating_add(1),
        source,
    })?;
    if let Fact::RunStarted(started) = &event.fact {
        *format = Some(started.format);
    }
    Ok(event)
}
