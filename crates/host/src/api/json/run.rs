//! The documents about runs. Pure.

use std::path::Path;

use engine::{AgainCause, BudgetLimit, CheckResult, Proof};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::SCHEMA;
use super::spent::Spent;
use super::worktree::WorktreePart;
use crate::Outcome;
use crate::api::{
    FailReason, NodeView, OutputLog, OutputPiece, ReplayReport, Round, RunReport, RunStatus,
    RunView, RunsPage, Timestamp, VerifyReport,
};

pub fn runs(page: &RunsPage) -> RunsDocument<'_> {
    let runs = page.rows.iter().map(|row| RunEntry {
        run_id: &row.run_id,
        blueprint_id: &row.blueprint_id,
        status: row.status.map(RunStatus::word),
        reason: row.reason.map(FailReason::word),
        node_count: row.node_count,
        failure: row.failure.as_deref(),
        path: row.run_dir.display().to_string(),
        started_at: row.started_at,
        updated_at: row.updated_at,
        unknown_effect: row.unknown_effect,
        ownerless: row.ownerless,
        fault: row.fault.as_deref(),
    });
    RunsDocument { schema: SCHEMA, runs: runs.collect(), next: page.next.as_deref() }
}

/// A run as it is now.
pub fn run(report: &RunReport) -> RunDocument<'_> {
    RunDocument { schema: SCHEMA, at: None, run: Run::of(report) }
}

/// A run as it was after event `at`. Nothing later is in it.
pub fn run_at(report: &RunReport, at: u64) -> RunDocument<'_> {
    RunDocument { schema: SCHEMA, at: Some(at), run: Run::of(report) }
}

/// Where a command that waited left its run. `ok` says whether the command
/// exits with 0.
pub fn outcome<'a>(
    run_id: &'a str,
    blueprint_id: &'a str,
    run_dir: &Path,
    outcome: &'a Outcome,
) -> OutcomeDocument<'a> {
    OutcomeDocument {
        schema: SCHEMA,
        ok: outcome.exit == 0,
        run_id,
        blueprint_id,
        run_dir: run_dir.display().to_string(),
        status: &outcome.status,
        reason: outcome.reason.as_deref(),
        failure: outcome.failure.as_deref(),
        unknown_effect: outcome.unknown_effect.then_some(true),
        proof: outcome.proof.as_deref(),
    }
}

/// A run just after a signal that it took.
pub fn signalled<'a>(run_id: &'a str, view: &'a RunView) -> SignalDocument<'a> {
    SignalDocument {
        schema: SCHEMA,
        ok: true,
        run_id,
        status: view.status.word(),
        reason: view.reason().map(FailReason::word),
    }
}

pub fn logs<'a>(run_id: &'a str, logs: &'a [OutputLog]) -> LogsDocument<'a> {
    let logs =
        logs.iter().map(|log| LogEntry { node: &log.node, attempt: log.attempt, text: &log.text });
    LogsDocument { schema: SCHEMA, run_id, logs: logs.collect() }
}

/// One line of a stream of output.
pub fn output_piece<'a>(run_id: &'a str, piece: &'a OutputPiece) -> OutputPieceDocument<'a> {
    OutputPieceDocument {
        schema: SCHEMA,
        run_id,
        node: &piece.node,
        round: piece.round,
        attempt: piece.attempt,
        offset: piece.offset,
        text: &piece.text,
    }
}

pub fn replay(report: &ReplayReport) -> ReplayDocument<'_> {
    ReplayDocument {
        schema: SCHEMA,
        ok: report.checkpoint_agrees != Some(false),
        run_id: &report.run_id,
        events: report.events,
        status: report.view.status.word(),
        reason: report.view.reason().map(FailReason::word),
        state_digest: &report.state_digest,
        checkpoint_agrees: report.checkpoint_agrees,
    }
}

pub fn verify(report: &VerifyReport) -> VerifyDocument<'_> {
    VerifyDocument {
        schema: SCHEMA,
        ok: report.ok,
        run_id: &report.run_id,
        events: report.events,
        witnessed: report.witnessed,
        unverified: report.unverified,
        damages: &report.damages,
        notes: &report.notes,
    }
}

#[derive(Debug, Serialize)]
pub struct RunsDocument<'a> {
    schema: u32,
    runs: Vec<RunEntry<'a>>,
    /// What `--after` takes for the next page; `null` on the last.
    next: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct RunEntry<'a> {
    run_id: &'a str,
    blueprint_id: &'a str,
    /// `null` when the run cannot be read.
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    node_count: usize,
    failure: Option<&'a str>,
    path: String,
    started_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    unknown_effect: bool,
    /// Open, and nobody owns it: interrupted, and not yet recorded so.
    ownerless: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub struct RunDocument<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    run: Run<'a>,
}

#[derive(Debug, Serialize)]
struct Run<'a> {
    run_id: &'a str,
    blueprint_id: &'a str,
    name: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_node: Option<String>,
    unknown_effect: bool,
    /// A failure was caught on the way.
    degraded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for_budget: Option<&'static str>,
    /// Something waits until the limit of a provider is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for_limit: Option<bool>,
    /// The weakest proof of what the nodes claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<&'static str>,
    /// What its agents have used; absent when none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<Spent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<Timestamp>,
    ownerless: bool,
    unverified: bool,
    torn_bytes: u64,
    events: u64,
    started_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<WorktreePart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_of: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fork_of: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    retried_as: &'a [String],
    nodes: Nodes<'a>,
    storage: &'a Value,
    trigger: Option<&'a Value>,
}

/// An object whose keys stand in the order of the blueprint.
#[derive(Debug)]
struct Nodes<'a>(&'a [NodeView]);

#[derive(Debug, Serialize)]
struct Node<'a> {
    name: &'a str,
    status: &'static str,
    attempt: u64,
    /// From 0; absent in the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<Timestamp>,
    /// Why it is to be tried again: `retry` or `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    again: Option<&'static str>,
    /// How what it says of itself stands, and what was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    checks: &'a [CheckResult],
    #[serde(skip_serializing_if = "Option::is_none")]
    child: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<NodeFailure<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
}

/// How far a container has come.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Progress {
    Rounds { round: u64, most: u64 },
    Items { done: usize, failed: usize, count: usize },
}

#[derive(Debug, Serialize)]
struct NodeFailure<'a> {
    class: &'static str,
    code: &'a str,
    message: &'a str,
    effect: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Value>,
}

#[derive(Debug, Serialize)]
pub struct OutcomeDocument<'a> {
    schema: u32,
    ok: bool,
    run_id: &'a str,
    blueprint_id: &'a str,
    run_dir: String,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_effect: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub struct SignalDocument<'a> {
    schema: u32,
    ok: bool,
    run_id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct OutputPieceDocument<'a> {
    schema: u32,
    run_id: &'a str,
    node: &'a str,
    round: Round,
    attempt: u64,
    /// Where the text begins in the attempt's output, in bytes.
    offset: u64,
    text: &'a str,
}

#[derive(Debug, Serialize)]
pub struct LogsDocument<'a> {
    schema: u32,
    run_id: &'a str,
    logs: Vec<LogEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct LogEntry<'a> {
    node: &'a str,
    attempt: u64,
    text: &'a str,
}

#[derive(Debug, Serialize)]
pub struct ReplayDocument<'a> {
    schema: u32,
    ok: bool,
    run_id: &'a str,
    events: u64,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    state_digest: &'a str,
    /// `null` without a checkpoint.
    checkpoint_agrees: Option<bool>,
}

#[derive(Debug, Serialize)]
pub struct VerifyDocument<'a> {
    schema: u32,
    ok: bool,
    run_id: &'a str,
    events: u64,
    witnessed: Option<u64>,
    unverified: bool,
    damages: &'a [String],
    notes: &'a [String],
}

impl<'a> Run<'a> {
    fn of(report: &'a RunReport) -> Self {
        let view = &report.view;
        let failed_node = view.failure.as_ref().and_then(|failure| failure.node.as_ref());
        Self {
            run_id: &report.run_id,
            blueprint_id: &report.blueprint_id,
            name: &view.name,
            status: view.status.word(),
            reason: view.reason().map(FailReason::word),
            failure: view.failure.as_ref().map(|failure| failure.message.as_str()),
            failed_node: failed_node.map(ToString::to_string),
            unknown_effect: view.unknown_effect,
            degraded: view.degraded,
            waits_for_budget: view.held.map(BudgetLimit::word),
            waits_for_limit: view.waits_for_limit.then_some(true),
            proof: view.proof.map(Proof::word),
            spent: Spent::of(&view.spending),
            deadline: view.deadline,
            wake_at: view.wake_at,
            ownerless: report.ownerless,
            unverified: report.unverified,
            torn_bytes: report.torn_bytes,
            events: view.next_seq,
            started_at: view.started_at,
            updated_at: view.updated_at,
            path: report.run_dir.display().to_string(),
            workspace: report.workspace.as_deref(),
            worktree: report
                .worktree
                .as_ref()
                .map(|worktree| WorktreePart::of(worktree, report.has_worktree)),
            retry_of: view.retry_of.as_deref(),
            fork_of: view.fork_of.as_deref(),
            parent: view.parent.as_deref(),
            retried_as: &report.retried_as,
            nodes: Nodes(&view.nodes),
            storage: &view.storage,
            trigger: view.trigger.as_ref(),
        }
    }
}

impl Progress {
    fn of(progress: engine::view::Progress) -> Self {
        match progress {
            engine::view::Progress::Rounds { round, most } => Self::Rounds { round, most },
            engine::view::Progress::Items { done, failed, count } => {
                Self::Items { done, failed, count }
            }
        }
    }
}

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for view in self.0 {
            map.serialize_entry(&view.id, &Node::of(view))?;
        }
        map.end()
    }
}

impl<'a> Node<'a> {
    fn of(view: &'a NodeView) -> Self {
        let error = view.error.as_ref().map(|error| NodeFailure {
            class: error.class.word(),
            code: &error.code,
            message: &error.message,
            effect: error.effect.word(),
            output: error.output.as_ref(),
        });
        Self {
            name: &view.name,
            status: view.status.word(),
            attempt: view.attempt.0,
            round: Some(view.round.0).filter(|round| *round > 0),
            progress: view.progress.map(Progress::of),
            wake_at: view.wake,
            again: view.again.map(AgainCause::word),
            proof: view.proof.map(Proof::word),
            checks: &view.checks,
            child: view.child.as_deref(),
            port: view.port.as_deref(),
            output: view.output.as_ref(),
            error,
            prompt: view.prompt.as_deref(),
            started_at: view.started_at,
            ended_at: view.ended_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use durable::Attempt;
    use serde_json::json;

    use super::*;
    use crate::api::{NodeStatus, RunStatus};

    fn node(id: &str, output: Option<Value>) -> NodeView {
        NodeView {
            id: id.to_owned(),
            name: id.to_owned(),
            parent: None,
            status: NodeStatus::Completed,
            attempt: Attempt(1),
            round: Round::FIRST,
            progress: None,
            wake: None,
            again: None,
            proof: None,
            checks: Vec::new(),
            child: None,
            port: None,
            output,
            error: None,
            prompt: None,
            started_at: None,
            ended_at: None,
        }
    }

    fn report(nodes: Vec<NodeView>) -> RunReport {
        let view = RunView {
            run_id: Some("1-abcd".to_owned()),
            blueprint_id: Some("b".to_owned()),
            name: "B".to_owned(),
            status: RunStatus::Running,
            failure: None,
            unknown_effect: false,
            degraded: false,
            held: None,
            waits_for_limit: false,
            proof: None,
            spending: crate::api::Spending::default(),
            deadline: None,
            wake_at: None,
            started_at: Some(Timestamp::from_millis(0)),
            updated_at: None,
            retry_of: None,
            fork_of: None,
            parent: None,
            next_seq: 3,
            nodes,
            storage: json!({}),
            trigger: None,
        };
        RunReport {
            view,
            run_id: "1-abcd".to_owned(),
            short_id: "abcd".to_owned(),
            blueprint_id: "b".to_owned(),
            run_dir: "/h/1-abcd".into(),
            workspace: None,
            worktree: None,
            has_worktree: false,
            ownerless: false,
            unverified: false,
            torn_bytes: 0,
            retried_as: Vec::new(),
        }
    }

    #[test]
    fn nodes_stand_in_the_order_of_the_blueprint() {
        let nodes = vec![node("z", None), node("a", None), node("m", None)];
        let text = serde_json::to_string(&run(&report(nodes))).unwrap();
        let places = ["\"z\":{", "\"a\":{", "\"m\":{"].map(|key| text.find(key).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert!(text.starts_with("{\"schema\":1,\"run\":{\"run_id\":\"1-abcd\","), "{text}");
    }

    #[test]
    fn no_output_is_not_the_output_null() {
        let report = report(vec![node("none", None), node("null", Some(Value::Null))]);
        let value = serde_json::to_value(run_at(&report, 2)).unwrap();
        assert_eq!(value["at"], 2);
        let nodes = &value["run"]["nodes"];
        assert!(nodes["none"].get("output").is_none());
        assert_eq!(nodes["null"].get("output"), Some(&Value::Null));
    }

    #[test]
    fn an_outcome_is_ok_when_its_command_exits_with_0() {
        let mut report = report(Vec::new());
        for (status, ok) in [
            (RunStatus::Running, true),
            (RunStatus::Completed, true),
            (RunStatus::AwaitingApproval, false),
            (RunStatus::Failed, false),
        ] {
            report.view.status = status;
            let told = Outcome::of(&report.view);
            let document = outcome("1-abcd", "b", Path::new("/h"), &told);
            let value = serde_json::to_value(document).unwrap();
            assert_eq!((&value["ok"], &value["status"]), (&json!(ok), &json!(status.word())));
        }
    }
}
