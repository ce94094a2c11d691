//! What attempts say of themselves and is found out about that, and what they
//! wait for before they are made again.

use blueprint::Repeat;
use durable::{Attempt, Timestamp};
use engine::{AgainCause, Fact, Site};

use super::Story;

impl Story<'_> {
    /// What an attempt says before its end.
    #[expect(clippy::wildcard_enum_match_arm, reason = "it is called with such words alone")]
    pub(super) fn word(&mut self, fact: &Fact) -> Result<(), String> {
        match fact {
            Fact::UsageReported { node, attempt, .. }
            | Fact::SessionReported { node, attempt, .. } => self.expect(node, *attempt),
            Fact::NodeClaimed { node, attempt, .. } => self.claim(node, *attempt),
            Fact::ProofStarted { node, attempt, .. } => self.look(node, *attempt, true),
            Fact::ProofInterrupted { node, attempt }
            | Fact::ProofReported { node, attempt, .. } => self.look(node, *attempt, false),
            _ => Err(format!("{} is no word of an attempt", fact.kind())),
        }
    }

    pub(super) fn ask_again(
        &mut self,
        node: &Site,
        attempt: Attempt,
        wake: Option<Timestamp>,
        cause: AgainCause,
    ) -> Result<(), String> {
        let key = self.key(node, attempt);
        if cause == AgainCause::Limit {
            self.limited.insert(key.clone());
        }
        self.again.insert(key, wake);
        self.finish(node, attempt)
    }

    /// Someone said that what waits for a budget or a limit may go on.
    pub(super) fn resume(&mut self) -> Result<(), String> {
        self.held = false;
        for key in std::mem::take(&mut self.limited) {
            self.again.entry(key).and_modify(|wake| *wake = None);
        }
        Ok(())
    }

    /// The work is done; to look at it may be repeated.
    fn claim(&mut self, node: &Site, attempt: Attempt) -> Result<(), String> {
        self.expect(node, attempt)?;
        match self.in_flight.get_mut(node) {
            Some(flight) if !flight.claims => {
                (flight.claims, flight.repeat) = (true, Repeat::Safe);
                flight.child = None;
                Ok(())
            }
            Some(_) | None => Err(format!("attempt {attempt} of {node} claims success twice")),
        }
    }

    fn look(&mut self, node: &Site, attempt: Attempt, begins: bool) -> Result<(), String> {
        self.expect(node, attempt)?;
        match self.in_flight.get_mut(node) {
            Some(flight) if flight.claims => {
                flight.looks = begins;
                Ok(())
            }
            Some(_) | None => Err(format!("{node} is checked and claims nothing")),
        }
    }
}
