//! The authored graph: from a Markdown file to a [`Program`] that can run.
//! Bad input is never an error here: reading and checking always return,
//! with findings. It knows nothing of runs, files or time.

pub mod check;
pub mod class;
pub mod condition;
pub mod diff;
pub mod document;
pub mod draft;
pub mod editor;
pub mod explain;
pub mod finding;
pub mod fix;
pub mod format;
pub mod graph;
pub mod hash;
pub mod names;
pub mod node_type;
mod plain;
pub mod policy;
pub mod program;
pub mod prove;
pub mod reference;
pub mod schema;
pub mod scope;
pub mod shell;
pub mod snapshot;
mod suggest;
pub mod template;
pub mod terms;
pub mod yaml;

pub use check::{Checked, check, check_library};
pub use class::{AgentClass, ClassError};
pub use condition::Condition;
pub use diff::{Difference, Place, diff};
pub use finding::{Finding, Fix, Rule, Severity};
pub use fix::{Fixed, fix, lint};
pub use format::{FormatError, format};
pub use names::{BlueprintId, NodeId, PortName};
pub use plain::read_yaml;
pub use policy::{Budget, FailureClass, OnLimit, Retry, Workspace};
pub use program::{
    Count, ERROR, Edge, EdgeIx, Environment, Http, Kind, Method, Node, NodeIx, OnInterrupt,
    OnItemError, Program, Repeat, Runtime, StateOp, Wait,
};
pub use prove::{Check, Glob};
pub use schema::Schema;
pub use scope::{Root, Scope};
pub use shell::{ShellCommand, ShellText};
pub use snapshot::SnapshotError;
pub use template::{Expr, Template, TemplateError};
pub use terms::{AgentTerms, Mode, Session};
