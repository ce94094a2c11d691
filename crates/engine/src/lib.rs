//! What a run is and what it does next. Pure and synchronous: no clock, no
//! disk, no tasks, no chance. `fold` applies and has no rules; `decide`
//! judges and has no memory; `receive` translates and is never surprised;
//! the machine puts them in order, so that nothing starts before its
//! intention is durable. It knows nothing of files, processes or people.

pub mod checkpoint;
pub mod decide;
pub mod event;
pub mod fold;
pub mod input;
pub mod machine;
pub mod receive;
pub mod registry;
pub mod reply;
pub mod retry;
pub mod state;
pub mod trigger;
pub mod view;
pub mod work;

pub use event::{AgainCause, Event, Fact, FailReason, RunId, RunStarted, SignalId, UnknownCause};
pub use fold::{Illegal, fold};
pub use input::{Input, Launch, Outcome, Signal, Verb};
pub use machine::{Action, RunMachine};
pub use state::{NodeState, NodeStatus, RunState, RunStatus};
pub use view::{NodeView, RunView};
pub use work::{
    AgentTask, AttemptKey, Class, Effect, NodeError, ScriptTask, ShellTask, Task, Work, WorkFile,
};
