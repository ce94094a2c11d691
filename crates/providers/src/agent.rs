//! Agents by their command lines. For each one an adapter says, as plain
//! data, what process asks the question ([`AgentLaunch`]), and reads what
//! the process says ([`Reader`]); neither touches the world. `perform_agent`
//! puts them over the process layer, with limits of time of our own.
//!
//! The law: a turn has succeeded only when the program itself said so in its
//! own closing evidence and there is an answer. An exit code proves nothing.

mod account;
mod adapter;
mod answer;
mod claude;
mod codex;
mod configured;
mod fault;
mod gemini;
mod limits;
mod lines;
mod notes;
mod opencode;
mod perform;
mod probe;
mod reader;
mod reading;
mod request;
mod schema;
mod status;
mod wall;
mod watch;

pub use account::{Account, account};
pub use adapter::Adapter;
pub use configured::{Changed, Configured, Providers, ProvidersError};
pub use fault::Fault;
pub use perform::{AgentEnd, AgentPlace, perform_agent};
pub use probe::{Found, Version, find, probe};
pub use reader::Reader;
pub use reading::{Reading, Reset};
pub use request::{AgentFile, AgentLaunch, AgentRequest, Mode, Refusal};
pub use wall::WallTime;
pub use watch::Patience;
