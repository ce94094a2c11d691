//! Frames of runs, as people see them.

use host::api::{
    Attempt, Class, FailReason, Failure, NodeError, NodeView, Progress, Round, Span, Spending,
};
use serde_json::{Value, json};

use super::*;
use crate::output::escape::is_dangerous;

const START: i64 = 1_800_000_000_000;
const WIDE: Size = Size { columns: 100, rows: 24 };
const ASCII: Style = Style { color: false, unicode: false };

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(START).after(Span::from_secs(seconds))
}

fn node(id: &str, status: NodeStatus) -> NodeView {
    NodeView {
        id: id.to_owned(),
        name: id.to_owned(),
        parent: None,
        status,
        attempt: Attempt(1),
        round: Round::FIRST,
        progress: None,
        wake: None,
        again: None,
        proof: None,
        checks: Vec::new(),
        child: None,
        port: None,
        output: None,
        error: None,
        prompt: None,
        started_at: None,
        ended_at: None,
    }
}

fn done(id: &str, from: u64, to: u64, output: Value) -> NodeView {
    let output = Some(output);
    let (started_at, ended_at) = (Some(at(from)), Some(at(to)));
    NodeView { output, started_at, ended_at, ..node(id, NodeStatus::Completed) }
}

fn chosen(id: &str, port: &str, reason: &str) -> NodeView {
    let output = json!({ "choice": port, "reason": reason });
    NodeView { port: Some(port.to_owned()), ..done(id, 3, 44, output) }
}

fn running(id: &str, from: u64) -> NodeView {
    NodeView { started_at: Some(at(from)), ..node(id, NodeStatus::Running) }
}

fn broken(id: &str, status: NodeStatus, message: &str) -> NodeView {
    let error = NodeError::before_effect(Class::Bug, "exit", message.to_owned());
    let (started_at, ended_at) = (Some(at(50)), Some(at(58)));
    NodeView { error: Some(error), started_at, ended_at, ..node(id, status) }
}

fn gate(id: &str, prompt: &str) -> NodeView {
    let (prompt, started_at) = (Some(prompt.to_owned()), Some(at(60)));
    NodeView { prompt, started_at, ..node(id, NodeStatus::Waiting) }
}

fn run(status: RunStatus, nodes: Vec<NodeView>) -> RunView {
    RunView {
        run_id: Some("1800000000000-7f3a0000".to_owned()),
        blueprint_id: Some("nightly".to_owned()),
        name: "Nightly".to_owned(),
        status,
        failure: None,
        unknown_effect: false,
        degraded: false,
        held: None,
        waits_for_limit: false,
        proof: None,
        spending: Spending::default(),
        deadline: None,
        wake_at: None,
        started_at: Some(at(0)),
        updated_at: Some(at(100)),
        retry_of: None,
        fork_of: None,
        parent: None,
        next_seq: 20,
        nodes,
        storage: Value::Null,
        trigger: None,
    }
}

/// The five nodes of the reference picture, patching.
fn nightly() -> RunView {
    run(
        RunStatus::Running,
        vec![
            done("collect", 0, 3, json!({"exit_code": 0, "stdout": "12 issues\n", "stderr": ""})),
            chosen("triage", "fix", "the parser drops the last line"),
            running("patch", 56),
            node("prove", NodeStatus::Pending),
            node("approve", NodeStatus::Pending),
        ],
    )
}

fn said(nodes: &[(&str, u64, &str)]) -> Activity {
    let one = |(id, at_second, line): &(&str, u64, &str)| {
        let said = NodeActivity {
            round: Round::FIRST,
            attempt: 1,
            bytes: 100,
            said_at: Some(at(*at_second)),
            last_line: (*line).to_owned(),
        };
        ((*id).to_owned(), said)
    };
    Activity { asked_at: at(134), nodes: nodes.iter().map(one).collect() }
}

fn sketches() -> BTreeMap<String, NodeSketch> {
    let ways = |ways: &[&str]| ways.iter().map(|way| (*way).to_owned()).collect();
    [
        ("collect", "gh issue list", ways(&[])),
        ("triage", "role:triage", ways(&["fix", "skip"])),
        ("patch", "role:coder", ways(&[])),
        ("prove", "cargo test --workspace\ngit diff --quiet && exit 1", ways(&[])),
        ("approve", "asks a person", ways(&["approved", "rejected"])),
    ]
    .map(|(id, what, ways)| (id.to_owned(), NodeSketch { what: what.to_owned(), ways }))
    .into()
}

#[derive(Clone, Copy)]
struct Look {
    size: Size,
    style: Style,
}

const NORMAL: Look = Look { size: WIDE, style: Style::PLAIN };

/// The frame 134 seconds after the start, as text.
fn drawn(view: &RunView, activity: &Activity, look: Look) -> String {
    let sketches = sketches();
    let scene = Scene {
        view,
        activity,
        sketches: &sketches,
        short: "7f3a",
        program: "wardian",
        hint: "Ctrl-C leaves; the run goes on",
    };
    let lines = frame(&scene, at(134), look.size, look.style);
    let rows: usize = lines.iter().map(|line| columns::rows(line, look.size.columns)).sum();
    assert!(rows < look.size.rows, "{rows} rows do not fit: {lines:#?}");
    lines.join("\n")
}

fn left(view: &RunView) -> String {
    let (activity, sketches) = (said(&[]), sketches());
    let scene = Scene {
        view,
        activity: &activity,
        sketches: &sketches,
        short: "7f3a",
        program: "wardian",
        hint: "",
    };
    last(&scene, at(134), WIDE.columns, Style::PLAIN).join("\n")
}

#[test]
fn a_run_at_work() {
    let activity = said(&[("patch", 132, "Edit src/lib.rs +12 -4")]);
    insta::assert_snapshot!(drawn(&nightly(), &activity, NORMAL));
}

#[test]
fn nodes_side_by_side() {
    let mut view = nightly();
    view.nodes[3] = NodeView { attempt: Attempt(3), ..running("prove", 120) };
    view.nodes[4] = running("approve", 5);
    let activity = said(&[("patch", 30, "thinking"), ("prove", 134, "test a ... ok\rtest b")]);
    insta::assert_snapshot!(drawn(&view, &activity, NORMAL));
}

#[test]
fn long_silence_is_pointed_out() {
    let color = Look { style: Style { color: true, unicode: true }, ..NORMAL };
    let amber = "\u{1b}[1;33mlast output 1:14 ago";
    assert!(drawn(&nightly(), &said(&[("patch", 60, "x")]), color).contains(amber));
    let short = drawn(&nightly(), &said(&[("patch", 75, "x")]), color);
    assert!(short.contains("\u{1b}[2mlast output 59s ago"), "{short}");
    assert!(drawn(&nightly(), &said(&[]), color).contains("\u{1b}[1;33mno output yet"));
}

#[test]
fn loops_items_timers_and_runs_of_their_own() {
    let progress = |id, progress| NodeView { progress: Some(progress), ..running(id, 10) };
    let waiting = |id| NodeView { started_at: Some(at(90)), ..node(id, NodeStatus::Waiting) };
    let mut view = nightly();
    view.nodes = vec![
        progress("again", Progress::Rounds { round: 2, most: 5 }),
        NodeView { round: Round(1), ..running("patch", 100) },
        progress("each", Progress::Items { done: 3, failed: 1, count: 10 }),
        NodeView { attempt: Attempt(2), ..running("prove[4]", 120) },
        NodeView { wake: Some(at(200)), ..waiting("pause") },
        NodeView { child: Some("1800000000001-aaaa".to_owned()), ..waiting("other") },
    ];
    let activity = said(&[("prove[4]", 133, "ok"), ("patch", 120, "Edit")]);
    insta::assert_snapshot!(drawn(&view, &activity, NORMAL));
}

#[test]
fn a_gate_beside_work() {
    let mut view = nightly();
    view.nodes[4] = gate("approve", "Ship 12 files?\nThe tests are green.");
    insta::assert_snapshot!(drawn(&view, &said(&[("patch", 132, "Edit")]), NORMAL));
}

#[test]
fn a_run_that_rests_at_a_gate_shows_the_whole_question() {
    let mut view = nightly();
    view.status = RunStatus::AwaitingApproval;
    view.nodes[2] = done("patch", 56, 59, json!({"text": "patched src/lib.rs"}));
    view.nodes[3] = NodeView { status: NodeStatus::Skipped, ..node("prove", NodeStatus::Skipped) };
    view.nodes[4] = gate("approve", "Ship 12 files?\nThe tests are green.");
    insta::assert_snapshot!(left(&view));
}

#[test]
fn a_failed_run() {
    let mut view = nightly();
    let message = "prove: exit code 101\nerror[E0308]: mismatched types\n  --> src/lib.rs:3:5";
    view.nodes[2] = done("patch", 56, 59, json!({"text": "patched src/lib.rs"}));
    view.nodes[3] = broken("prove", NodeStatus::Failed, message);
    view.nodes[4] = node("approve", NodeStatus::Cancelled);
    view.status = RunStatus::Failed;
    view.failure =
        Some(Failure { reason: FailReason::Error, node: None, message: message.to_owned() });
    insta::assert_snapshot!(left(&view));
}

#[test]
fn an_unknown_outcome() {
    let mut view = nightly();
    view.nodes[2] = broken("patch", NodeStatus::Unknown, "the owner of the run died");
    view.status = RunStatus::Failed;
    view.unknown_effect = true;
    view.failure = Some(Failure {
        reason: FailReason::Interrupted,
        node: None,
        message: "interrupted".to_owned(),
    });
    insta::assert_snapshot!(left(&view));
}

/// Forty nodes: 25 done, 3 skipped, 1 failed, 2 at work, 9 to come.
fn long() -> RunView {
    let mut nodes: Vec<NodeView> =
        (0..25).map(|n| done(&format!("step-{n:02}"), n, n + 1, json!("done"))).collect();
    nodes.extend((25..28).map(|n| node(&format!("step-{n}"), NodeStatus::Skipped)));
    nodes.push(broken("step-28", NodeStatus::Failed, "step-28: exit code 1"));
    nodes.extend((29..31).map(|n| running(&format!("step-{n}"), n)));
    nodes.extend((31..40).map(|n| node(&format!("step-{n}"), NodeStatus::Pending)));
    run(RunStatus::Running, nodes)
}

#[test]
fn a_long_graph_is_folded() {
    let activity = said(&[("step-30", 133, "compiling")]);
    insta::assert_snapshot!(drawn(&long(), &activity, NORMAL));
}

#[test]
fn the_shorter_the_screen_the_more_is_folded() {
    let activity = said(&[("step-30", 133, "compiling")]);
    let mut all = Vec::new();
    for rows in [14, 9, 6, 4] {
        let look = Look { size: Size { columns: 60, rows }, style: Style::PLAIN };
        all.push(format!("{rows} rows\n{}", drawn(&long(), &activity, look)));
    }
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn forty_columns() {
    let mut view = nightly();
    view.nodes[4] = gate("approve", "Ship 12 files?\nThe tests are green.");
    let look = Look { size: Size { columns: 40, rows: 24 }, style: Style::PLAIN };
    let activity = said(&[("patch", 132, "Edit src/lib.rs +12 -4 and more")]);
    insta::assert_snapshot!(drawn(&view, &activity, look));
}

#[test]
fn ascii() {
    let look = Look { style: ASCII, ..NORMAL };
    let shown = drawn(&nightly(), &said(&[("patch", 132, "Edit src/lib.rs")]), look);
    assert!(shown.is_ascii(), "{shown}");
    insta::assert_snapshot!(shown);
    let shown = drawn(&long(), &said(&[]), look);
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn no_size_is_too_small() {
    let mut view = nightly();
    view.nodes[4] = gate("approve", "Ship it?");
    for columns in 1..50 {
        for rows in 4..12 {
            let look = Look { size: Size { columns, rows }, style: Style::PLAIN };
            drawn(&view, &said(&[("patch", 132, "Edit")]), look);
            drawn(&long(), &said(&[("step-30", 132, "世界世界世界")]), look);
        }
    }
}

#[test]
fn nothing_that_a_terminal_acts_upon_reaches_it() {
    let evil = "\u{1b}]52;c;cm0=\u{7}\u{9b}2J\u{202e}\r\u{1b}[2J";
    let mut view = nightly();
    view.blueprint_id = Some(evil.to_owned());
    view.nodes[0] = done(evil, 0, 1, json!({ "stdout": evil }));
    view.nodes[1] = chosen("triage", evil, evil);
    view.nodes[3] = broken("prove", NodeStatus::Failed, evil);
    view.nodes[4] = gate(evil, evil);
    let shown = drawn(&view, &said(&[("patch", 132, evil)]), NORMAL) + &left(&view);
    assert!(!shown.replace('\n', "").contains(is_dangerous), "{shown:?}");
}
