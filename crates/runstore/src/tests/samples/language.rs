//! Facts of loops, items, waits, other runs, budgets and ways out of a
//! failure: one of each shape, and a run in which they stand where they can.

use std::sync::Arc;

use blueprint::{BlueprintId, Budget, NodeId, Repeat};
use durable::{Attempt, Digest, Generation, Round, Seq, Span, Timestamp};
use engine::{
    AgainCause, BudgetLimit, Caught, Child, Event, Fact, FailReason, LoopBegin, NodeError, Parent,
    RunId, RunStarted, Site, UnknownCause, Usage,
};
use serde_json::{Value, json};

use super::{completed, node_started, numbered, sample_error, signal, site, start_of};
use crate::layout::RunPlace;

/// Every shape of these facts, made of this text and this value.
pub(crate) fn facts(text: &str, value: &Value) -> Vec<Fact> {
    let mut facts = beginnings(text, value);
    facts.extend(of_containers(text, value));
    facts.extend(of_failures(text, value));
    for limit in BudgetLimit::ALL {
        facts.push(Fact::BudgetNotice { limit: *limit });
        facts.push(Fact::BudgetReached { limit: *limit });
    }
    facts.push(Fact::DeadlinePassed { deadline: moment(7) });
    facts
}

pub(super) fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_764_500_123_456 + 1000 * seconds)
}

pub(super) fn at_item(text: &str, item: u32) -> Site {
    Site { node: NodeId::new(text), item: Some(item) }
}

fn full_start(text: &str) -> RunStarted {
    let mut start = start_of(&super::place());
    start.fork_of = Some((RunId::new("1764400000000-00000001").unwrap(), Seq(12)));
    start.parent = Some(Box::new(Parent {
        blueprint_id: BlueprintId::new("above").unwrap(),
        run_id: RunId::new("1764400000000-00000002").unwrap(),
        node: at_item(&text.replace(['[', ']'], ""), 3),
        round: Round(2),
        attempt: Attempt(4),
    }));
    start.deadline = Some(moment(3600));
    start.budget = Budget {
        tokens: Some(100_000),
        cost_micros: Some(2_500_000),
        agent_time: Some(Span::from_secs(90)),
        agent_calls: Some(9),
    };
    start
}

fn child(value: &Value) -> Arc<Child> {
    Arc::new(Child {
        run_id: RunId::new("child-0a1b2c").unwrap(),
        automation: BlueprintId::new("other").unwrap(),
        input: value.clone(),
    })
}

fn child_started(node: Site, value: &Value) -> Fact {
    Fact::NodeStarted {
        node,
        attempt: Attempt(1),
        generation: Generation(1),
        work: Digest::of(b"child"),
        deadline: None,
        repeat: Repeat::Never,
        agent: false,
        child: Some(child(value)),
    }
}

pub(super) fn agent_started(node: Site, attempt: u64) -> Fact {
    Fact::NodeStarted {
        node,
        attempt: Attempt(attempt),
        generation: Generation(1),
        work: Digest::of(b"agent"),
        deadline: Some(moment(60)),
        repeat: Repeat::Never,
        agent: true,
        child: None,
    }
}

fn beginnings(text: &str, value: &Value) -> Vec<Fact> {
    let usages = [
        Usage::default(),
        Usage { tokens: Some(0), ..Usage::default() },
        Usage {
            tokens: Some(u64::MAX),
            cost_micros: Some(12),
            agent_calls: Some(3),
            agent_time: Some(Span::from_millis(1)),
            unasked: false,
        },
        Usage { unasked: true, ..Usage::default() },
    ];
    let reported =
        |usage| Fact::UsageReported { node: at_item(text, 0), attempt: Attempt(2), usage };
    let mut facts = vec![
        Fact::RunStarted(Box::new(full_start(text))),
        child_started(site(text), value),
        agent_started(at_item(text, u32::MAX), 2),
        Fact::WaitStarted { node: site(text), until: moment(5) },
        Fact::NodeCompleted {
            node: at_item(text, 0),
            attempt: Some(Attempt(1)),
            output: Arc::new(value.clone()),
        },
    ];
    facts.extend(usages.map(reported));
    facts
}

fn of_containers(text: &str, value: &Value) -> Vec<Fact> {
    let node = site(text);
    let body = vec![NodeId::new(text), NodeId::new("b")];
    let begin = Arc::new(LoopBegin { most: 10_000, body: body.clone() });
    let loop_at = |iteration, begin| Fact::LoopIteration { node: node.clone(), iteration, begin };
    let items_of = |items: Vec<Value>| Fact::ForEachStarted {
        node: node.clone(),
        items: Arc::new(items),
        body: Arc::new(body.clone()),
    };
    vec![
        loop_at(Round(0), Some(begin)),
        loop_at(Round(7), None),
        Fact::LoopCompleted { node: node.clone() },
        items_of(Vec::new()),
        items_of(vec![value.clone(), Value::Null]),
        Fact::ItemCompleted { node: node.clone(), index: 0, output: Arc::new(value.clone()) },
        Fact::ItemCompleted { node: node.clone(), index: 1, output: Arc::new(Value::Null) },
        Fact::ItemFailed {
            node: node.clone(),
            index: u32::MAX,
            error: sample_error(text, Some(value.clone())),
        },
        Fact::ForEachCompleted { node },
    ]
}

fn of_failures(text: &str, value: &Value) -> Vec<Fact> {
    let (node, attempt) = (at_item(text, 3), Attempt(1));
    let asked = NodeError {
        retry_after: Some(Span::from_millis(1500)),
        ..sample_error(text, Some(value.clone()))
    };
    let mut facts = vec![Fact::AttemptFailed {
        node: node.clone(),
        attempt,
        error: asked.clone(),
        cause: AgainCause::Retry,
        wake: Some(moment(2)),
        session: None,
    }];
    for caught in Caught::ALL {
        let caught = Some(*caught);
        let (node, error, message) = (node.clone(), asked.clone(), text.to_owned());
        facts.push(Fact::NodeFailed { node: node.clone(), attempt: None, error, caught });
        let (cause, code) = (UnknownCause::Lost, Some("idle".to_owned()));
        facts.push(Fact::AttemptUnknown { node, attempt, cause, code, message, caught });
    }
    facts.push(Fact::RunFailed {
        reason: FailReason::Deadline,
        error: text.to_owned(),
        node: Some(node),
    });
    facts
}

/// A run in two batches; the first ends where every kind of thing is under
/// way: a second round, an item, a wait, a pause before another attempt, an
/// agent, a child, and a budget that is spent.
pub(crate) fn history(place: &RunPlace) -> Vec<Vec<Event>> {
    let start = RunStarted { run_id: place.run.clone(), ..full_start("call") };
    let mut first = vec![Fact::RunStarted(Box::new(start))];
    first.extend(rounds());
    first.extend(items());
    first.extend(under_way());
    numbered(vec![first, rest()], 0)
}

fn rounds() -> Vec<Fact> {
    let (node, body) = (site("again"), vec![NodeId::new("try"), NodeId::new("look")]);
    let begin = Some(Arc::new(LoopBegin { most: 3, body }));
    vec![
        Fact::LoopIteration { node: node.clone(), iteration: Round(0), begin },
        completed("try", None, json!({ "n": 1 })),
        Fact::NodeSkipped { node: site("look") },
        Fact::LoopIteration { node, iteration: Round(1), begin: None },
    ]
}

fn items() -> Vec<Fact> {
    let (node, body) = (site("each"), Arc::new(vec![NodeId::new("fix")]));
    let items = Arc::new(vec![json!("a"), json!({ "b": null }), json!(3)]);
    let caught = Some(Caught::Item);
    let error = sample_error("fix[1]: no", None);
    vec![
        Fact::ForEachStarted { node: node.clone(), items, body },
        completed_at("fix", 0, None, json!({ "fixed": true })),
        Fact::ItemCompleted { node: node.clone(), index: 0, output: Arc::new(json!(null)) },
        Fact::NodeFailed { node: at_item("fix", 1), attempt: None, error: error.clone(), caught },
        Fact::ItemFailed { node, index: 1, error },
    ]
}

fn completed_at(node: &str, item: u32, attempt: Option<u64>, output: Value) -> Fact {
    let (node, output) = (at_item(node, item), Arc::new(output));
    Fact::NodeCompleted { node, attempt: attempt.map(Attempt), output }
}

fn under_way() -> Vec<Fact> {
    let usage = Usage { tokens: Some(1200), cost_micros: Some(3), ..Usage::default() };
    let (error, attempt) = (sample_error("busy", None), Attempt(1));
    vec![
        Fact::WaitStarted { node: site("later"), until: moment(100) },
        node_started("web", 1, 1),
        Fact::AttemptFailed {
            node: site("web"),
            attempt,
            error: NodeError { retry_after: Some(Span::from_secs(3)), ..error },
            cause: AgainCause::Retry,
            wake: Some(moment(9)),
            session: None,
        },
        agent_started(site("try"), 1),
        Fact::UsageReported { node: site("try"), attempt, usage },
        Fact::DecisionCompleted {
            node: site("try"),
            attempt,
            output: Arc::new(json!({ "chosen": "x" })),
            port: blueprint::PortName::new("x"),
        },
        agent_started(at_item("fix", 2), 1),
        child_started(site("sub"), &json!({ "in": [1] })),
        Fact::BudgetNotice { limit: BudgetLimit::AgentCalls },
        Fact::BudgetReached { limit: BudgetLimit::Cost },
    ]
}

fn rest() -> Vec<Fact> {
    let (look, attempt) = (site("look"), Attempt(1));
    let error = sample_error("sub: no", None);
    let lost = |node| Fact::AttemptUnknown {
        node,
        attempt,
        cause: UnknownCause::Interrupted,
        code: None,
        message: "nobody knows".into(),
        caught: Some(Caught::Item),
    };
    vec![
        Fact::RunAdopted { generation: Generation(2), cut: 0 },
        lost(at_item("fix", 2)),
        Fact::ItemFailed { node: site("each"), index: 2, error: sample_error("lost", None) },
        Fact::ForEachCompleted { node: site("each") },
        Fact::RunResumed { actor: "ada".into(), signal: signal("s-1") },
        Fact::NodeFailed {
            node: site("sub"),
            attempt: Some(attempt),
            error,
            caught: Some(Caught::Port),
        },
        Fact::NodeCompleted { node: look, attempt: None, output: Arc::new(json!({})) },
        Fact::LoopCompleted { node: site("again") },
        completed("later", None, json!({ "until": moment(100).to_string() })),
        Fact::DeadlinePassed { deadline: moment(3600) },
        Fact::RunFailed {
            reason: FailReason::Deadline,
            error: "out of time".into(),
            node: Some(at_item("fix", 2)),
        },
    ]
}

/// Every event of the run is one that can follow.
#[test]
fn the_run_folds() {
    let history = history(&super::place());
    let state = super::folded(history.iter().flatten());
    assert!(state.closed.is_some() && state.degraded && state.unknown_effect);
    let half = super::folded(&history[0]);
    assert_eq!((half.timers.len(), half.children.len(), half.in_flight.len()), (2, 1, 1));
    assert!(half.spending.is_held());
}
