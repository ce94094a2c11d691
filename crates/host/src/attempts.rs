//! A worker's hand on the book of attempts. Nobody is asked for anything
//! before that stands in the book; what is written later is for those who
//! look, and a fault of it changes nothing of the run. The book is opened by
//! the first agent of a worker, so that runs without agents pay nothing.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use durable::{Clock, Generation};
use engine::{Class, Effect, NodeError, Outcome, Work};
use providers::agent::Fault;
use providers::attempts::{
    Claim, End, Kind, OwnerId, Process, Registration, Registry, RegistryError,
};
use redact::Masker;
use runstore::RunPlace;
use serde_json::Value;

use crate::api::{Code, HostError};
use crate::clock::{RealClock, RealEntropy};
use crate::perform::Stage;

/// The book, as one worker writes in it.
#[derive(Debug)]
pub(crate) struct Attempts {
    path: PathBuf,
    owner: OwnerId,
    clock: Arc<dyn Clock>,
    book: Mutex<Option<Registry>>,
}

/// Who is to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Asking<'a> {
    pub provider: &'a str,
    /// What can be done with its workers.
    pub capabilities: Value,
    /// By which its usage is counted once.
    pub source_key: Option<&'a str>,
    /// At the limit of the provider its node waits.
    pub waits: bool,
}

/// An attempt that stands in the book, and that has no end there yet. One
/// that is dropped without an end has an unknown one.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    stage: &'a Stage,
    /// `None` where no book is kept.
    held: Option<(&'a Attempts, Claim)>,
    waits: bool,
    over: Cell<bool>,
}

impl Attempts {
    pub(crate) fn new(home: &Path, owner: OwnerId, clock: Arc<dyn Clock>) -> Self {
        Self { path: book_of(home), owner, clock, book: Mutex::new(None) }
    }

    fn book(&self) -> MutexGuard<'_, Option<Registry>> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the book when nobody has, and forgets what is old enough.
    pub(crate) fn with<T>(
        &self,
        write: impl FnOnce(&Registry) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let mut book = self.book();
        let open = match book.take() {
            Some(open) => open,
            None => {
                let open = Registry::open(&self.path)?;
                open.prune(self.clock.now())?;
                open
            }
        };
        write(book.insert(open))
    }
}

impl<'a> Asked<'a> {
    /// Writes the attempt down. Where that fails, nobody is asked.
    pub(crate) fn register(
        stage: &'a Stage,
        work: &Work,
        asking: &Asking<'_>,
    ) -> Result<Self, Outcome> {
        let (waits, over) = (asking.waits, Cell::new(false));
        let Some(attempts) = &stage.attempts else {
            return Ok(Self { stage, held: None, waits, over });
        };
        let workspace = stage.workspace.display().to_string();
        let new = Registration {
            kind: Kind::Automation,
            provider: asking.provider,
            workspace: &workspace,
            blueprint: stage.place.blueprint.as_str(),
            key: &work.key,
            owner: &attempts.owner,
            generation: Generation(work.key.attempt.0),
            capabilities: &asking.capabilities,
            source_key: asking.source_key,
        };
        let now = attempts.clock.now();
        match attempts.with(|book| book.register(&new, now)) {
            Ok(claim) => Ok(Self { stage, held: Some((attempts, claim)), waits, over }),
            Err(fault) => {
                let what = format!("{}: the attempt cannot be registered", work.key.node);
                let message = HostError::from_fault(Code::Store, &what, &fault).message;
                let error =
                    NodeError::before_effect(Class::Preflight, "attempt_not_registered", message);
                Err(Outcome::Failed(error))
            }
        }
    }

    /// The provider works. Said once, and best when it has named its
    /// conversation, since both are one commit then.
    pub(crate) fn started(&self, process: Option<Process>, session: Option<&str>) {
        self.say("that it runs", |attempts, claim| {
            let now = attempts.clock.now();
            attempts.with(|book| book.running(claim, process, session, now))
        });
    }

    /// The attempt has ended so. Its run learns of that afterwards.
    pub(crate) fn finish(self, outcome: &Outcome) {
        let (error, session) = (told(outcome, &self.stage.masker), session(outcome));
        self.end(end(outcome, &error, self.waits), session);
    }

    fn end(&self, end: End<'_>, session: Option<&str>) {
        if self.over.replace(true) {
            return;
        }
        self.say("how it ended", |attempts, claim| {
            let now = attempts.clock.now();
            attempts.with(|book| book.finish(claim, end, session, now))
        });
    }

    fn say(
        &self,
        what: &str,
        write: impl FnOnce(&Attempts, &Claim) -> Result<bool, RegistryError>,
    ) {
        let Some((attempts, claim)) = &self.held else { return };
        let id = claim.id();
        match write(attempts, claim) {
            Ok(true) => {}
            Ok(false) => {
                self.stage.note(&format!("attempt {id} is held by another owner, or has ended"));
            }
            Err(fault) => {
                let what = format!("the book of attempts does not say of {id} {what}");
                self.stage.note(&HostError::from_fault(Code::Store, &what, &fault).message);
            }
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.end(End::Uncertain { error: "the performer of the attempt failed" }, None);
    }
}

/// Where a home keeps its book.
pub(crate) fn book_of(home: &Path) -> PathBuf {
    home.join("state.db")
}

/// What a dead owner's attempts of this run came to, nobody will ever say.
/// Their processes are gone. A book that cannot be written keeps no run from
/// going on: who reads it sees that these attempts have no owner.
pub(crate) fn reconcile(place: &RunPlace) {
    let path = book_of(place.home.path());
    if !path.exists() {
        return;
    }
    let nobody = OwnerId::fresh(&RealEntropy);
    let (blueprint, run) = (place.blueprint.as_str(), place.run.as_str());
    drop(
        Registry::open(&path)
            .and_then(|book| book.reconcile(blueprint, run, &nobody, RealClock.now())),
    );
}

/// The run is over: nothing of it waits any more. Where that cannot be
/// written, the book has it as waiting for ever, which harms no run.
pub(crate) fn settle(place: &RunPlace) {
    let path = book_of(place.home.path());
    if !path.exists() {
        return;
    }
    let (blueprint, run) = (place.blueprint.as_str(), place.run.as_str());
    let settled =
        Registry::open(&path).and_then(|book| book.settle(blueprint, run, None, RealClock.now()));
    drop(settled);
}

fn end<'a>(outcome: &Outcome, error: &'a str, waits: bool) -> End<'a> {
    let failed = |failure: &NodeError| match failure.effect {
        Effect::None if waits && failure.code == Fault::LimitReached.code() => {
            End::Waiting { why: error }
        }
        Effect::Uncertain => End::Uncertain { error },
        Effect::None | Effect::Done => End::Failed { error },
    };
    match outcome {
        Outcome::Output(_) | Outcome::Replied { .. } => End::Completed,
        Outcome::Failed(failure) => failed(failure),
        Outcome::Ended { end, .. } => end.as_ref().map_or_else(failed, |_| End::Completed),
        Outcome::Lost { .. } | Outcome::Proved(_) => End::Uncertain { error },
        Outcome::Stopped => End::Cancelled,
        Outcome::Used { end: inner, .. } => end(inner, error, waits),
    }
}

/// What went wrong, fit to be kept.
fn told(outcome: &Outcome, masker: &Masker) -> String {
    let message = match outcome {
        Outcome::Failed(failure) | Outcome::Ended { end: Err(failure), .. } => &failure.message,
        Outcome::Used { end, .. } => return told(end, masker),
        Outcome::Lost { message } => message,
        Outcome::Output(_)
        | Outcome::Replied { .. }
        | Outcome::Proved(_)
        | Outcome::Ended { end: Ok(_), .. }
        | Outcome::Stopped => return String::new(),
    };
    masker.mask_text(message).0
}

fn session(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Replied { session, .. } => session.as_deref(),
        Outcome::Output(_)
        | Outcome::Failed(_)
        | Outcome::Proved(_)
        | Outcome::Ended { .. }
        | Outcome::Lost { .. }
        | Outcome::Used { .. }
        | Outcome::Stopped => None,
    }
}

#[cfg(test)]
mod tests {
    use engine::Usage;

    use super::*;

    #[test]
    fn an_outcome_ends_an_attempt_as_sure_as_it_is() {
        let failed = |effect| {
            let error = NodeError::before_effect(Class::Bug, "x", "no".to_owned());
            Outcome::Failed(NodeError { effect, ..error })
        };
        let uncertain = End::Uncertain { error: "e" };
        let end = |outcome: &Outcome| end(outcome, "e", true);
        assert_eq!(end(&Outcome::Output(Value::Null)), End::Completed);
        assert_eq!(end(&failed(Effect::None)), End::Failed { error: "e" });
        assert_eq!(end(&failed(Effect::Done)), End::Failed { error: "e" });
        assert_eq!(end(&failed(Effect::Uncertain)), uncertain);
        assert_eq!(end(&Outcome::Lost { message: String::new() }), uncertain);
        assert_eq!(end(&Outcome::Stopped), End::Cancelled);
        let used = Usage { tokens: Some(7), ..Usage::default() };
        assert_eq!(end(&failed(Effect::Uncertain).having_used(used)), uncertain);
    }

    #[test]
    fn an_attempt_at_a_limit_waits_where_its_node_does_and_nothing_had_happened() {
        let limited = |effect| {
            let code = Fault::LimitReached.code();
            let error = NodeError::before_effect(Class::Transient, code, "no".to_owned());
            Outcome::Failed(NodeError { effect, ..error })
        };
        assert_eq!(end(&limited(Effect::None), "e", true), End::Waiting { why: "e" });
        assert_eq!(end(&limited(Effect::None), "e", false), End::Failed { error: "e" });
        assert_eq!(end(&limited(Effect::Done), "e", true), End::Failed { error: "e" });
    }
}
