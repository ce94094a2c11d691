//! How a run has ended, in the words of the API: as much as a program wants
//! to know that waits for it. A worker tells its starter, who need not read
//! the log for that.

use engine::view::look;
use engine::{RunState, RunStatus};
use serde::{Deserialize, Serialize};

use crate::api::{FailReason, Proof, RunView};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What a command that waited exits with.
    pub exit: u8,
    pub status: String,
    pub reason: Option<String>,
    pub failure: Option<String>,
    pub unknown_effect: bool,
    pub proof: Option<String>,
}

impl Outcome {
    pub(crate) fn of_state(state: &RunState) -> Self {
        let failure = state.closed.as_ref().and_then(|closed| closed.failure.as_ref());
        let failure = failure.map(|failure| (failure.reason, failure.message.clone()));
        Self::new(state.status(), failure, state.unknown_effect, state.proof())
    }

    pub fn of(view: &RunView) -> Self {
        let failure = view.failure.as_ref();
        let failure = failure.map(|failure| (failure.reason, failure.message.clone()));
        Self::new(view.status, failure, view.unknown_effect, view.proof)
    }

    fn new(
        status: RunStatus,
        failure: Option<(FailReason, String)>,
        unknown_effect: bool,
        proof: Option<Proof>,
    ) -> Self {
        let (reason, failure) = failure.unzip();
        Self {
            exit: look(status, reason, unknown_effect).exit,
            status: status.word().to_owned(),
            reason: reason.map(|reason| reason.word().to_owned()),
            failure,
            unknown_effect,
            proof: proof.map(|proof| proof.word().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use durable::Timestamp;
    use engine::state::{Closed, Failure};

    use super::*;

    #[test]
    fn a_worker_tells_what_a_reader_of_the_log_would_find() {
        let at = Timestamp::from_millis(7);
        let failed = |reason| Failure { reason, node: None, message: "no".to_owned() };
        let ends = [None, Some(FailReason::Error), Some(FailReason::Cancelled)];
        for (end, unknown_effect) in ends.into_iter().flat_map(|end| [(end, false), (end, true)]) {
            let closed = Some(Closed { at, failure: end.map(failed) });
            let state = RunState { closed, unknown_effect, ..RunState::fresh() };
            let outcome = Outcome::of_state(&state);
            assert_eq!(outcome, Outcome::of(&RunView::outline(None, &state)));
            let words = serde_json::to_vec(&outcome).unwrap();
            assert_eq!(serde_json::from_slice::<Outcome>(&words).unwrap(), outcome);
        }
    }
}
