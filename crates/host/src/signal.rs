//! A person's word to a run. It is put into the run's inbox, durably; then
//! whoever owns the run turns it into an event. With no owner alive a worker
//! is given the run, so that nothing granted is left lying.

use std::time::Duration;

use durable::limits;
use engine::{Fact, Signal, SignalId, Site, Verb};
use runstore::{PutError, RunPlace};
use serde_json::json;

use crate::Host;
use crate::api::{Code, Followed, HostError, SignalAnswer, SignalVerb};
use crate::follow::Follower;
use crate::library::store;

/// How long a command waits for an owner's answer, and a cancel for the end
/// of the run: a process tree that ignores the first signal takes seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const CANCEL_WITHIN: Duration = Duration::from_secs(30);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Host {
    /// Gives a run a word and waits for what becomes of it.
    pub fn signal(
        &self,
        query: &str,
        verb: SignalVerb,
        note: Option<String>,
    ) -> Result<SignalAnswer, HostError> {
        let word = word(&verb);
        self.refuse_managed_caller(word)?;
        let place = self.find(query)?;
        let state = self.opened(&place)?.state;
        if let Some(closed) = &state.closed {
            let ended =
                closed.failure.as_ref().map_or("completed", |failure| failure.reason.word());
            return Err(HostError::new(
                Code::RunEnded,
                format!("run {} has ended ({ended})", place.run),
            )
            .hint(format!("`wardian run show {}` shows it", place.run)));
        }
        if matches!(verb, SignalVerb::Resume) && !state.is_parked() && self.is_owned(&place)? {
            return Err(HostError::new(Code::NotParked, format!("run {} is running", place.run))
                .hint(format!("`wardian run watch {}` follows it", place.run)));
        }
        let signal = Signal {
            id: self.new_signal_id(),
            verb: engine_verb(verb),
            actor: Self::actor(),
            note,
        };
        if signal.verb == Verb::Resume {
            self.lift_limits(&place);
        }
        runstore::inbox::put(&*self.disk, &place, &signal, &*self.entropy).map_err(put_fault)?;
        self.await_answer(&place, &signal)
    }

    fn await_answer(&self, place: &RunPlace, signal: &Signal) -> Result<SignalAnswer, HostError> {
        let cancel = signal.verb == Verb::Cancel;
        let mut left = if cancel { CANCEL_WITHIN } else { ANSWER_WITHIN };
        let mut follower = self.follow(place.run.as_str())?;
        let mut answer: Option<Fact> = None;
        loop {
            match follower.next(LOOK_EVERY)? {
                Followed::Events(events) => {
                    let ours = events.into_iter().map(|event| event.fact);
                    let found = ours.filter(|fact| fact.signal() == Some(&signal.id)).last();
                    answer = found.or(answer);
                }
                Followed::Rest if answer.is_none() => {
                    self.give_worker(&follower, place, &signal.id)?;
                }
                Followed::Abandoned => self.give_worker(&follower, place, &signal.id)?,
                Followed::Rest | Followed::Quiet => left = left.saturating_sub(LOOK_EVERY),
            }
            let closed = follower.state().closed.is_some();
            match &answer {
                Some(Fact::SignalRefused { code, message, .. }) => {
                    follower.settle()?;
                    let (code, message) = (code.clone(), message.clone());
                    return Ok(SignalAnswer::Refused { code, message });
                }
                Some(_) if !cancel || closed => {
                    follower.settle()?;
                    let view = Box::new(follower.view());
                    return Ok(SignalAnswer::Done { status: view.status, view });
                }
                None if closed => {
                    return Err(HostError::new(
                        Code::RunEnded,
                        format!("run {} ended before the signal reached it", place.run),
                    )
                    .hint(format!("`wardian run show {}` shows how", place.run)));
                }
                Some(_) | None => {}
            }
            if left.is_zero() {
                return Ok(SignalAnswer::Queued { signal: signal.id.to_string() });
            }
        }
    }

    /// Gives an open run without an owner to a worker process.
    fn give_worker(
        &self,
        follower: &Follower,
        place: &RunPlace,
        signal: &SignalId,
    ) -> Result<(), HostError> {
        let waits = runstore::inbox::contains(&*self.disk, place, signal);
        let waits = waits.map_err(|fault| store(&fault))?;
        let state = follower.state();
        if state.closed.is_some() || (state.is_parked() && !waits) {
            return Ok(());
        }
        let lock = runstore::lock::take(&*self.disk, place).map_err(|fault| store(&fault))?;
        lock.map_or(Ok(()), |lock| self.spawn_worker(place, lock))
    }
}

fn word(verb: &SignalVerb) -> &'static str {
    match verb {
        SignalVerb::Approve { .. } => "approve",
        SignalVerb::Reject { .. } => "reject",
        SignalVerb::Cancel => "cancel",
        SignalVerb::Resume => "resume",
    }
}

fn engine_verb(verb: SignalVerb) -> Verb {
    let node = |node: Option<String>| node.map(|node| Site::parse(&node));
    match verb {
        SignalVerb::Approve { node: gate } => Verb::Approve { node: node(gate) },
        SignalVerb::Reject { node: gate } => Verb::Reject { node: node(gate) },
        SignalVerb::Cancel => Verb::Cancel,
        SignalVerb::Resume => Verb::Resume,
    }
}

fn put_fault(fault: PutError) -> HostError {
    match fault {
        PutError::NoteTooLong(_) | PutError::TooLarge(_) => {
            HostError::new(Code::InvalidRequest, fault.to_string())
                .hint("put long texts into a file and name it in the note")
                .details(json!({ "most": limits::NOTE_BYTES }))
        }
        PutError::NoRun { .. } => HostError::new(Code::RunNotFound, fault.to_string()),
        PutError::Disk(_) => store(&fault),
    }
}
