//! Who does the work that a run asks for: process trees, shell commands,
//! scripts, and the scripted provider. Every call blocks its caller's thread
//! until the work has ended and its processes are gone. This crate knows
//! nothing of graphs, logs or other runs, and it starts nothing by itself.
//! [`attempts`] is the book of what agents were asked.

pub mod agent;
pub mod attempts;
mod base64;
mod caller;
mod capture;
mod child;
mod choose;
mod command;
mod cut;
mod ending;
mod environment;
mod poll;
mod proc_table;
pub mod process;
mod programs;
mod reap;
mod script;
mod scripted;
pub mod session;
mod shell;
mod stop;
mod streams;
mod suggest;

pub use caller::{Caller, caller};
pub use capture::{Capture, Captured};
pub use choose::{Asks, ChooseError, ProviderName, Wishes, choose, choose_for};
pub use command::Place;
pub use environment::{ChildEnv, HostEnv, Marks};
pub use process::{Sink, Stream};
pub use reap::{Reaped, reap_run};
pub use script::perform_script;
pub use scripted::{EffectLog, Scene, Script, ScriptError, perform_scripted};
pub use shell::{Keep, Preamble, ShellPlace, perform_shell};
pub use stop::Stop;
