//! Runs on disk. The log of a run is the truth of it; the checkpoint is a
//! cache, the inbox the one door for signals, the driver's lock the one
//! proof that somebody owns the run. Here is no clock, no chance, no task
//! and no sleep: what is not in a file is handed in. All file access goes
//! through [`durable::disk::Disk`]. It knows nothing of processes, invokers
//! or people.

pub mod artifacts;
pub mod checkpoint;
pub mod create;
pub mod inbox;
pub mod index;
pub mod invocation;
pub mod layout;
pub mod limits;
pub mod line;
pub mod list;
pub mod lock;
pub mod open;
pub mod prune;
pub mod read;
pub mod repair;
pub mod retries;
mod scan;
pub mod verify;
pub mod writer;

#[cfg(test)]
mod tests;

pub use create::{CreateError, Created, NewRun, create, new_run_id};
pub use inbox::{Inbox, PutError};
pub use index::Index;
pub use invocation::{
    Automation, ForkOf, Invocation, InvocationError, RetryOf, ScriptFile, SharedCheckout, WorksFor,
    Worktree,
};
pub use layout::{Home, RunPlace};
pub use line::LineError;
pub use list::{Found, Summary};
pub use open::{CheckpointUse, OpenError, Opened, open};
pub use prune::PruneError;
pub use read::Follow;
pub use repair::{AdoptError, Adopted, adopt};
pub use verify::{Report, verify};
pub use writer::{AppendError, CheckpointFailed, RunWriter};
