//! The graph of a run, with the state of each node and the ways that were
//! taken.

use std::collections::BTreeMap;

use blueprint::graph::{Course, Drawing, Mark, Tone};
use engine::state::NodeStatus;
use engine::view::{NodeView, node_icon};

use crate::Host;
use crate::api::{Code, HostError};

impl Host {
    /// What a run executes, as it stands now.
    pub fn drawing(&self, query: &str) -> Result<Drawing, HostError> {
        let report = self.show(query)?;
        let place = self.find(&report.run_id)?;
        let Some(program) = self.program_of(&place) else {
            let message = format!("the graph of run {} cannot be read", place.run);
            return Err(HostError::new(Code::DamagedLog, message)
                .hint(format!("`wardian run verify {}` says what is wrong", place.run)));
        };
        let mut drawing = Drawing::of_program(&program);
        mark(&mut drawing, &report.view.nodes);
        Ok(drawing)
    }
}

fn mark(drawing: &mut Drawing, nodes: &[NodeView]) {
    let nodes: BTreeMap<&str, &NodeView> =
        nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    for shape in &mut drawing.shapes {
        shape.mark = nodes.get(shape.id.as_str()).map(|node| mark_of(node.status));
    }
    let Drawing { shapes, lines, .. } = drawing;
    for line in lines {
        let from = nodes.get(shapes[line.from].id.as_str());
        // A body is entered long before its container leaves by another way.
        let enters = shapes[line.to].parent == Some(line.from);
        line.course = match from {
            Some(from) if !enters => course(from, line.port.as_deref().unwrap_or("out")),
            Some(_) | None => Course::Open,
        };
    }
}

fn course(from: &NodeView, port: &str) -> Course {
    match &from.port {
        Some(taken) if taken == port => Course::Taken,
        Some(_) => Course::Passed,
        None if from.status.is_settled() => Course::Passed,
        None => Course::Open,
    }
}

fn mark_of(status: NodeStatus) -> Mark {
    let tone = match status {
        NodeStatus::Completed => Tone::Good,
        NodeStatus::Failed | NodeStatus::Unknown => Tone::Bad,
        NodeStatus::Waiting => Tone::Waiting,
        NodeStatus::Running => Tone::Active,
        NodeStatus::Pending | NodeStatus::Skipped | NodeStatus::Cancelled => Tone::Quiet,
    };
    let (sign, ascii) = node_icon(status);
    Mark { tone, sign, ascii, word: status.word() }
}
