//! What the nodes of a run are, in the author's own words, for people who
//! watch: known before anything has happened. Pure.

use std::collections::BTreeMap;

use blueprint::{ERROR, Kind, Node, NodeIx, Program, StateOp, Wait};
use engine::work::runtime_word;

use crate::api::NodeSketch;

/// The longest text of a sketch. It is for a line on a screen.
const CHARS_MAX: usize = 400;

/// One sketch a node, by the node's id.
pub(crate) fn of(program: &Program) -> BTreeMap<String, NodeSketch> {
    let one = |ix: NodeIx| {
        let node = program.node(ix);
        let ports = program.out_ports(ix);
        // The way of a failure is no choice.
        let ports: Vec<String> =
            ports.iter().map(ToString::to_string).filter(|port| port != ERROR).collect();
        let ways = if ports.len() > 1 { ports } else { Vec::new() };
        let what = what(node).chars().take(CHARS_MAX).collect();
        (node.id.to_string(), NodeSketch { what, ways })
    };
    program.node_ixs().map(one).collect()
}

fn what(node: &Node) -> String {
    match &node.kind {
        Kind::ManualTrigger { .. } | Kind::Join => String::new(),
        Kind::Task { agent, .. } | Kind::Decision { agent, .. } => agent.source().to_owned(),
        Kind::Branch { condition } => condition.source().to_owned(),
        Kind::Loop { until, .. } => {
            until.as_ref().map(|until| format!("until {}", until.source())).unwrap_or_default()
        }
        Kind::ForEach { items, .. } => items.source().to_owned(),
        Kind::Wait(Wait::For(length)) => format!("waits {}", length.source()),
        Kind::Wait(Wait::Until(moment)) => format!("waits until {}", moment.source()),
        Kind::Http(http) => format!("{} {}", http.method.word(), http.url.source()),
        Kind::SubAutomation { automation, .. } => format!("runs {automation}"),
        Kind::Approval { .. } => "asks a person".to_owned(),
        Kind::Shell { command, .. } => command.source().to_owned(),
        Kind::Script { runtime, path, .. } => {
            format!("{} {}", runtime_word(*runtime), path.source())
        }
        Kind::State { op, entries } => {
            let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
            format!("{} {}", verb(*op), keys.join(", "))
        }
        Kind::Notify { message } => message.source().to_owned(),
    }
}

fn verb(op: StateOp) -> &'static str {
    match op {
        StateOp::Get => "get",
        StateOp::Set => "set",
        StateOp::Merge => "merge",
        StateOp::Delete => "delete",
    }
}
