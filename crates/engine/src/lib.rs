//! What a run is and what it does next. Pure and synchronous: no clock, no
//! disk, no tasks, no chance. `fold` applies and has no rules; `decide`
//! judges and has no memory; `receive` translates and is never surprised;
//! the machine puts them in order, so that nothing starts before its
//! intention is durable. It knows nothing of files, processes or people.

pub mod checkpoint;
pub mod container;
pub mod decide;
pub mod diff;
mod ending;
pub mod event;
mod failing;
pub mod fold;
pub mod fork;
pub mod id;
pub mod input;
mod kept;
pub mod machine;
pub mod proof;
pub mod receive;
pub mod registry;
pub mod reply;
pub mod retry;
pub mod site;
pub mod spending;
pub mod state;
pub mod trigger;
pub mod view;
pub mod work;

pub use decide::result;
pub use event::{
    AgainCause, Caught, Child, Event, Fact, FailReason, LoopBegin, Parent, RunStarted, UnknownCause,
};
pub use fold::{Illegal, fold};
pub use id::{RunId, SignalId};
pub use input::{Input, Launch, Outcome, Signal, Verb};
pub use machine::{Action, RunMachine};
pub use proof::{CheckEnd, CheckResult, Proof};
pub use site::Site;
pub use spending::{BudgetLimit, Usage};
pub use state::{NodeState, NodeStatus, RunState, RunStatus};
pub use view::{NodeView, RunView};
pub use work::{
    AgentTask, AttemptKey, ChildTask, Class, Effect, HttpTask, NodeError, Probe, ProveTask,
    ScriptTask, ShellTask, Task, Work, WorkFile,
};
