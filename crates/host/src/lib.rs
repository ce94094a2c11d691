//! The composition root: where a blueprint becomes a run, a run gets a
//! worker, and a worker its processes. The only crate in which two shells
//! meet, and the only one that starts threads and waits. [`api`] is its
//! plain-data face; the command line and everything else outside use that.

mod accounts;
mod activity;
mod agents;
pub mod api;
mod arrivals;
mod ask;
mod attempts;
mod authoring;
mod automations;
mod baseline;
mod caller;
mod classes;
mod clock;
mod company;
mod compare;
mod complaint;
mod crew;
mod demo;
mod doctor;
mod drawing;
mod export;
pub mod family;
mod follow;
mod foresight;
mod fork;
mod guard;
mod head_start;
mod host;
mod latest;
mod launch;
mod library;
mod listen;
mod listing;
pub mod net;
mod outcome;
mod perform;
mod post;
mod processes;
mod prove;
mod reading;
mod recovery;
mod rehearse;
mod retention;
mod retry;
mod signal;
mod sketch;
mod spawn;
#[cfg(test)]
mod tests;
mod tether;
mod watch;
mod work;
pub mod worker;
mod workers;
mod worktree;

pub use follow::Follower;
pub use host::{Host, HostConfig, Surroundings};
pub use launch::Prepared;
pub use listen::Listener;
pub use outcome::Outcome;
pub use processes::Processes;
pub use spawn::{Recruit, let_go_of_inherited};
pub use tether::{Held, Tether};
