//! Attempts of agents, as they are asked for and shown. Pure.

pub use providers::attempts::{
    Coverage as WorkerCoverage, Ending as WorkerEnding, State as WorkerState, Worker,
};

/// Which attempts of agents a listing has. All that is said must hold.
#[derive(Debug, Clone)]
pub struct WorkersQuery {
    /// Attempts of this run.
    pub run: Option<String>,
    pub state: Option<WorkerState>,
    /// At most so many.
    pub limit: usize,
}

/// The beginning of a listing, the latest first.
#[derive(Debug, Clone, Default)]
pub struct WorkersPage {
    pub rows: Vec<WorkerRow>,
    /// There are others behind the limit.
    pub more: bool,
}

/// One attempt of an agent.
#[derive(Debug, Clone)]
pub struct WorkerRow {
    /// As it is recorded.
    pub worker: Worker,
    /// Recorded as under way, and its run has no owner.
    pub owner_lost: bool,
}

impl WorkerRow {
    /// How the attempt stands: nobody will ever say how one without an owner
    /// ended.
    pub fn state(&self) -> WorkerState {
        if self.owner_lost { WorkerState::Unknown } else { self.worker.state }
    }
}
