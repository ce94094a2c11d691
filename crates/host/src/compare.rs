//! Two runs side by side.

use engine::diff::diff;

use crate::Host;
use crate::api::{HostError, RunsCompared};
use crate::reading::view;

impl Host {
    /// How the second run differs from the first.
    pub fn compare_runs(&self, first: &str, second: &str) -> Result<RunsCompared, HostError> {
        let (one, other) = (self.find(first)?, self.find(second)?);
        let (a, b) = (self.opened(&one)?, self.opened(&other)?);
        let hash = |opened: &runstore::Opened| {
            opened.state.started.as_ref().and_then(|started| started.blueprint_hash)
        };
        let same_graph = hash(&a).is_some() && hash(&a) == hash(&b);
        let views = [(&one, &a), (&other, &b)]
            .map(|(place, opened)| view(self.program_of(place).as_deref(), &opened.state));
        let [first, second] = views;
        Ok(RunsCompared {
            first: one.run.to_string(),
            second: other.run.to_string(),
            diff: diff(&first, &second, same_graph),
        })
    }
}
