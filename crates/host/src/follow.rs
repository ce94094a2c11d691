//! A viewer of one run: reads along with its log, and notices when the run
//! rests or loses its owner. It never writes and never owns. It looks again
//! and again, the later the longer nothing came: to take a watch of the
//! kernel's down would hold up its end for longer than a short run takes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use blueprint::Program;
use durable::Timestamp;
use durable::disk::Disk;
use engine::{RunState, fold};
use runstore::{Follow, RunPlace};
use rustix::event::Timespec;

use crate::Host;
use crate::activity::Seen;
use crate::api::{Code, Followed, HostError, NodeSketch, RunView};
use crate::library::store;
use crate::reading::open_fault;
use crate::sketch;
use crate::tether::Tether;

/// The shortest and the longest pause between two looks. A look takes a few
/// microseconds.
const PAUSES: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(200));

/// A pause is so much shorter than the quiet before it, so that news are
/// late by a part of the time that they took.
const PART: u32 = 32;

/// The shortest pause of one who hears of the end without looking. What comes
/// before that is not in such a hurry.
const TETHERED: Duration = Duration::from_millis(10);

/// The longest pause while an owner has nothing left to do but to write its
/// checkpoint.
const LEAVES_SOON: Duration = Duration::from_millis(3);

#[derive(Debug)]
pub struct Follower {
    host: Host,
    place: RunPlace,
    program: Option<Arc<Program>>,
    follow: Follow,
    tether: Tether,
    state: RunState,
    /// How long nothing has come.
    quiet: Duration,
    pub(crate) seen: Seen,
}

impl Host {
    /// Follows a run from its first event.
    pub fn follow(&self, run: &str) -> Result<Follower, HostError> {
        self.follow_place(self.find(run)?)
    }

    pub(crate) fn follow_place(&self, place: RunPlace) -> Result<Follower, HostError> {
        let program = self.program_of(&place);
        let follow = Follow::new(place.clone());
        let (state, seen, quiet) = (RunState::fresh(), Seen::default(), Duration::ZERO);
        let (tether, host) = (Tether::none(), self.clone());
        Ok(Follower { host, place, program, follow, tether, state, quiet, seen })
    }
}

impl Follower {
    /// With the tether of the run's own worker.
    pub fn tethered(self, tether: Tether) -> Self {
        Self { tether, ..self }
    }

    /// What is new, waiting for it at most as long as `patience`.
    pub fn next(&mut self, patience: Duration) -> Result<Followed, HostError> {
        let mut left = patience;
        loop {
            if let Some(events) = self.read()? {
                self.quiet = Duration::ZERO;
                return Ok(events);
            }
            let closed = self.state.closed.is_some();
            let rests = closed || self.state.is_parked();
            if !self.tether.holds() && !self.is_owned()? {
                // The owner may have written and left between the two looks.
                return match self.read()? {
                    Some(events) => Ok(events),
                    None if rests => Ok(Followed::Rest),
                    None => Ok(Followed::Abandoned),
                };
            }
            if left.is_zero() {
                return Ok(if closed { Followed::Rest } else { Followed::Quiet });
            }
            let wait = self.pause(rests).min(left);
            let _outcome = self.tether.wait(Timespec::try_from(wait).ok().as_ref());
            self.quiet = self.quiet.saturating_add(wait);
            left = left.saturating_sub(wait);
        }
    }

    fn pause(&self, rests: bool) -> Duration {
        match (self.tether.holds(), rests) {
            (true, _) => (self.quiet / PART).clamp(TETHERED, PAUSES.1),
            (false, true) => (self.quiet / PART).clamp(PAUSES.0, LEAVES_SOON),
            (false, false) => (self.quiet / PART).clamp(PAUSES.0, PAUSES.1),
        }
    }

    /// The run as of the last event that was read.
    pub fn view(&self) -> RunView {
        crate::reading::view(self.program.as_deref(), &self.state)
    }

    /// The same without its nodes.
    pub fn outline(&self) -> RunView {
        RunView::outline(self.program.as_deref(), &self.state)
    }

    /// The ids of all nodes; those that have begun, when the graph is lost.
    pub fn ids(&self) -> Vec<&str> {
        match &self.program {
            Some(program) => program.nodes().iter().map(|node| node.id.as_str()).collect(),
            None => self.state.nodes.keys().map(|site| site.node.as_str()).collect(),
        }
    }

    /// Whether the run has ended.
    pub fn is_over(&self) -> bool {
        self.state.closed.is_some()
    }

    /// When the run began.
    pub fn began(&self) -> Option<Timestamp> {
        self.state.started_at
    }

    /// What the nodes are, by their ids; nothing when the graph is lost.
    pub fn sketches(&self) -> BTreeMap<String, NodeSketch> {
        self.program.as_deref().map(sketch::of).unwrap_or_default()
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// How many events were read.
    pub fn seq(&self) -> u64 {
        self.state.next_seq.0
    }

    /// Makes what was read durable, so that it may be told as done: the owner
    /// may be between its write and its sync.
    pub(crate) fn settle(&self) -> Result<(), HostError> {
        self.follow.settle(&*self.host.disk).map_err(|fault| open_fault(&fault))
    }

    pub(crate) fn state(&self) -> &RunState {
        &self.state
    }

    pub(crate) fn place(&self) -> &RunPlace {
        &self.place
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.host.disk
    }

    fn read(&mut self) -> Result<Option<Followed>, HostError> {
        let events = self.follow.poll(&*self.host.disk).map_err(|fault| open_fault(&fault))?;
        for event in &events {
            fold(&mut self.state, event).map_err(|fault| {
                HostError::from_fault(Code::DamagedLog, "the log cannot be folded", &fault)
            })?;
        }
        Ok((!events.is_empty()).then_some(Followed::Events(events)))
    }

    fn is_owned(&self) -> Result<bool, HostError> {
        runstore::lock::is_owned(&*self.host.disk, &self.place).map_err(|fault| store(&fault))
    }
}
