//! After our own death: whatever a run left running is found by its mark
//! and killed, before anything of the run is started again.

use std::io;

use crate::ending::Quarry;

/// What a reaping came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaped {
    /// Processes that were alive and have been killed.
    pub found: usize,
    /// Those of them that were still there when the time was up.
    pub left: usize,
}

/// Kills every process that carries the mark of `run_id` and all that
/// descends from one, until none is left, for a few seconds at most. This
/// process and those it descends from are spared. An error means that
/// the processes could not be waited for, not that there were none.
pub fn reap_run(run_id: &str) -> io::Result<Reaped> {
    let killed = Quarry::run(run_id).kill_all()?;
    Ok(Reaped { found: killed.found, left: killed.left })
}

/// The same for one attempt, whose child has ended and is reaped already:
/// agents start their tools in sessions of their own, which outlive them.
pub(crate) fn reap_attempt(attempt: &str) -> io::Result<Reaped> {
    let killed = Quarry::left_of(attempt).kill_all()?;
    Ok(Reaped { found: killed.found, left: killed.left })
}

#[cfg(test)]
mod tests;
