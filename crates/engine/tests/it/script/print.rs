//! Actions, events and states as lines for people to compare.

use std::fmt::Write as _;

use durable::{Round, Timestamp};
use engine::view::Progress;
use engine::{
    Action, AttemptKey, BudgetLimit, Caught, CheckResult, Event, Fact, NodeError, Probe,
    RunStarted, ShellTask, Task, Work,
};
use serde_json::Value;

use crate::rig::{Rig, START};

pub(super) fn actions(actions: &[Action]) -> String {
    let mut text = String::new();
    for action in actions {
        match action {
            Action::Append(batch) => {
                line(&mut text, "  append");
                text.push_str(&events(batch));
            }
            Action::Start(work) => start(&mut text, work),
            Action::Stop(key) => line(&mut text, &format!("  stop {}", attempt(key))),
            Action::Checkpoint => line(&mut text, "  checkpoint"),
            Action::Park => line(&mut text, "  park"),
            Action::Close(status) => line(&mut text, &format!("  close {}", status.word())),
        }
    }
    text
}

/// An attempt by name, with its round where that is not the first.
fn attempt(key: &AttemptKey) -> String {
    let round =
        if key.round == Round::FIRST { String::new() } else { format!(" round {}", key.round) };
    let proof = key.proof.map(|proof| format!(" proof {proof}")).unwrap_or_default();
    format!("{}/{}{round}{proof}", key.node, key.attempt)
}

/// When the run wants to be looked at.
pub(super) fn wake(rig: &Rig) -> String {
    match rig.machine().wake_at() {
        Some(at) => format!("  at +{}\n", since(at)),
        None => "  when something happens\n".to_owned(),
    }
}

/// What agents have used, as the view says it.
pub(super) fn spent(rig: &Rig) -> String {
    let view = rig.machine().view();
    let spending = &view.spending;
    let mut text = format!(
        "  calls={} time={} tokens={} cost={} untold={}/{} grants={}",
        spending.calls,
        spending.time,
        spending.tokens,
        spending.cost_micros,
        spending.untold_tokens,
        spending.untold_cost,
        spending.grants,
    );
    option(&mut text, "held", view.held.map(BudgetLimit::word).as_ref());
    text + "\n"
}

pub(super) fn events(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        let (seq, kind, rest) = (event.seq, event.fact.kind(), fields(&event.fact));
        line(&mut text, &format!("    {seq} +{} {kind}{rest}", since(event.at)));
    }
    text
}

/// Each node that something happened to.
pub(super) fn nodes(rig: &Rig) -> String {
    let mut text = String::new();
    for (id, node) in &rig.state().nodes {
        let mut parts = format!("  {id}: {}", node.status.word());
        if node.round != Round::FIRST {
            write!(parts, " round={}", node.round).expect("a text takes all");
        }
        option(&mut parts, "wake", node.wake.map(since).map(|span| format!("+{span}")).as_ref());
        option(&mut parts, "prev", node.prev.as_ref());
        option(&mut parts, "port", node.port.as_ref());
        option(&mut parts, "output", node.output.as_ref());
        option(&mut parts, "error", node.error_value.as_ref());
        option(&mut parts, "prompt", node.prompt.as_ref().map(quoted).as_ref());
        line(&mut text, &parts);
    }
    line(&mut text, &format!("  storage {}", rig.state().storage));
    text
}

/// The run as its view says it.
pub(super) fn view(rig: &Rig) -> String {
    let view = rig.machine().view();
    let look = view.look();
    let mut text = String::new();
    let mut parts = format!("  {} {} exit={}", look.icon, view.status.word(), look.exit);
    option(&mut parts, "reason", view.reason().map(engine::FailReason::word).as_ref());
    option(&mut parts, "node", view.failure.as_ref().and_then(|failure| failure.node.as_ref()));
    if view.unknown_effect {
        parts.push_str(" unknown_effect");
    }
    if view.degraded {
        parts.push_str(" degraded");
    }
    option(&mut parts, "held", view.held.map(BudgetLimit::word).as_ref());
    if view.waits_for_limit {
        parts.push_str(" waits_for_limit");
    }
    option(&mut parts, "proof", view.proof.map(engine::Proof::word).as_ref());
    line(&mut text, &parts);
    if let Some(failure) = &view.failure {
        line(&mut text, &format!("    {}", failure.message));
    }
    for node in &view.nodes {
        let icon = engine::view::node_icon(node.status).0;
        let attempt = node.attempt;
        let mut parts = format!("    {icon} {} {} attempt={attempt}", node.id, node.status.word());
        match node.progress {
            Some(Progress::Rounds { round, most }) => write!(parts, " round {round} of {most}"),
            Some(Progress::Items { done, failed, count }) => {
                write!(parts, " {done} of {count} items, {failed} failed")
            }
            None => Ok(()),
        }
        .expect("a text takes all");
        option(&mut parts, "wake", node.wake.map(since).map(|span| format!("+{span}")).as_ref());
        option(&mut parts, "child", node.open_child().map(child_name).as_ref());
        option(&mut parts, "again", node.again.map(engine::AgainCause::word).as_ref());
        option(&mut parts, "proof", node.proof.map(engine::Proof::word).as_ref());
        line(&mut text, &parts);
    }
    text
}

fn start(text: &mut String, work: &Work) {
    let head = format!("  start {} g{}", attempt(&work.key), work.generation);
    let mut parts = head;
    option(&mut parts, "timeout", work.timeout.as_ref());
    match &work.task {
        Task::Agent(agent) => {
            write!(parts, " agent={} prompt={}", agent.agent, quoted(&agent.prompt)).expect("text");
            let choices: Vec<_> = agent.choices.iter().map(ToString::to_string).collect();
            list(&mut parts, "choices", &choices);
            option(&mut parts, "schema", agent.schema.as_ref());
            option(&mut parts, "session", agent.session.as_ref());
            option(&mut parts, "provider", agent.provider.as_ref());
            option(&mut parts, "model", agent.model.as_ref());
            option(&mut parts, "mode", agent.mode.map(blueprint::Mode::word).as_ref());
            list(&mut parts, "tools", &agent.tools);
        }
        Task::Shell(task) => shell(&mut parts, task),
        Task::Prove(prove) => prove.probes.iter().for_each(|one| probe(&mut parts, one)),
        Task::Script(script) => {
            let runtime = engine::work::runtime_word(script.runtime);
            write!(parts, " {runtime}={}", quoted(&script.path)).expect("text");
            list(&mut parts, "args", &script.args);
            pairs(&mut parts, &script.env);
            list(&mut parts, "pass", &script.env_pass);
        }
        Task::Http(http) => {
            write!(parts, " http={} {}", http.method.word(), quoted(&http.url)).expect("text");
            pairs(&mut parts, &http.headers);
            option(&mut parts, "body", http.body.as_ref().map(quoted).as_ref());
        }
        Task::Child(child) => {
            let run = child_name(child.run.as_str());
            write!(parts, " child={run} of {} input={}", child.automation, child.input)
                .expect("text");
            option(
                &mut parts,
                "until",
                child.deadline.map(since).map(|at| format!("+{at}")).as_ref(),
            );
            budget(&mut parts, &child.budget);
        }
    }
    for file in &work.files {
        write!(parts, " file={}", quoted(&file.text)).expect("a text takes all");
    }
    if work.baseline {
        parts.push_str(" baseline");
    }
    line(text, &parts);
}

fn shell(text: &mut String, shell: &ShellTask) {
    write!(text, " shell={}", quoted(&shell.text)).expect("text");
    pairs(text, &shell.values);
    option(text, "cwd", shell.cwd.as_ref());
    pairs(text, &shell.env);
    list(text, "pass", &shell.env_pass);
}

fn probe(text: &mut String, probe: &Probe) {
    match probe {
        Probe::Command { shell: task, timeout } => {
            write!(text, " within={timeout}").expect("text");
            shell(text, task);
        }
        Probe::Changed { paths } => {
            let paths: Vec<_> = paths.iter().map(|glob| glob.as_str().to_owned()).collect();
            write!(text, " changed={paths:?}").expect("text");
        }
        Probe::File { path, contains } => {
            write!(text, " exists={}", quoted(path)).expect("text");
            option(text, "contains", contains.as_ref().map(quoted).as_ref());
        }
    }
}

fn fields(fact: &Fact) -> String {
    let mut text = String::new();
    if let Some(node) = fact.node() {
        write!(text, " {node}").expect("a text takes all");
    }
    match fact {
        Fact::RunStarted(started) => run_started(&mut text, started),
        Fact::RunAdopted { generation, .. } => write!(text, " g{generation}").expect("text"),
        Fact::RunResumed { actor, signal } => {
            write!(text, " actor={actor} signal={signal}").expect("text");
        }
        Fact::NodeStarted { .. } => node_started(&mut text, fact),
        Fact::NodeCompleted { attempt, output, .. } => {
            option(&mut text, "attempt", attempt.as_ref());
            option(&mut text, "output", Some(output));
        }
        Fact::DecisionCompleted { attempt, output, port, .. } => {
            write!(text, " attempt={attempt} port={port} output={output}").expect("text");
        }
        Fact::BranchTaken { port, .. } => write!(text, " port={port}").expect("text"),
        Fact::StateUpdated { op, entries, .. } => {
            let entries = Value::Object(entries.clone());
            write!(text, " {op:?} {entries}").expect("text");
        }
        Fact::Notification { message, .. } => write!(text, " {}", quoted(message)).expect("text"),
        Fact::NodeFailed { .. } | Fact::AttemptFailed { .. } | Fact::AttemptUnknown { .. } => {
            failure_fields(&mut text, fact);
        }
        Fact::LoopIteration { .. }
        | Fact::ForEachStarted { .. }
        | Fact::ItemCompleted { .. }
        | Fact::ItemFailed { .. } => container_fields(&mut text, fact),
        Fact::WaitStarted { until, .. } => write!(text, " until=+{}", since(*until)).expect("text"),
        Fact::UsageReported { attempt, usage, .. } => {
            let usage = serde_json::to_value(usage).expect("numbers are JSON");
            write!(text, "/{attempt} {usage}").expect("text");
        }
        Fact::SessionReported { .. }
        | Fact::NodeClaimed { .. }
        | Fact::ProofStarted { .. }
        | Fact::ProofInterrupted { .. }
        | Fact::ProofReported { .. } => claim_fields(&mut text, fact),
        Fact::BudgetNotice { limit } | Fact::BudgetReached { limit } => {
            write!(text, " {}", limit.word()).expect("text");
        }
        Fact::DeadlinePassed { deadline } => {
            write!(text, " +{}", since(*deadline)).expect("text");
        }
        Fact::NodeCancelled { attempt, .. } => write!(text, "/{attempt}").expect("text"),
        Fact::AwaitingApproval { prompt, .. } => {
            option(&mut text, "prompt", prompt.as_ref().map(quoted).as_ref());
        }
        Fact::ApprovalGranted { actor, note, signal, .. }
        | Fact::ApprovalRejected { actor, note, signal, .. }
        | Fact::CancelRequested { actor, note, signal } => {
            write!(text, " actor={actor} signal={signal}").expect("text");
            option(&mut text, "note", note.as_ref().map(quoted).as_ref());
        }
        Fact::SignalRefused { .. } => refused(&mut text, fact),
        Fact::NodeSkipped { .. }
        | Fact::LoopCompleted { .. }
        | Fact::ForEachCompleted { .. }
        | Fact::RunCompleted => {}
        Fact::RunFailed { reason, error, .. } => {
            write!(text, " reason={} {}", reason.word(), quoted(error)).expect("text");
        }
    }
    text
}

fn refused(text: &mut String, fact: &Fact) {
    if let Fact::SignalRefused { signal, verb, actor, code, message } = fact {
        write!(text, " {verb} actor={actor} signal={signal} code={code} {}", quoted(message))
            .expect("text");
    }
}

fn run_started(text: &mut String, started: &RunStarted) {
    write!(text, " run={} trigger={}", started.run_id, started.trigger).expect("text");
    option(text, "retry_of", started.retry_of.as_ref());
    let fork_of = started.fork_of.as_ref().map(|(run, seq)| format!("{run}@{seq}"));
    option(text, "fork_of", fork_of.as_ref());
    option(text, "parent", started.parent.as_ref().map(|p| &p.run_id));
    option(text, "deadline", started.deadline.map(since).map(|at| format!("+{at}")).as_ref());
    budget(text, &started.budget);
}

fn node_started(text: &mut String, fact: &Fact) {
    if let Fact::NodeStarted { attempt, generation, deadline, repeat, child, .. } = fact {
        write!(text, "/{attempt} g{generation} repeat={}", repeat.word()).expect("text");
        option(text, "deadline", deadline.map(since).as_ref());
        let run = child.as_ref().map(|child| child_name(child.run_id.as_str()));
        option(text, "child", run.as_ref());
    }
}

fn failure_fields(text: &mut String, fact: &Fact) {
    if let Fact::NodeFailed { attempt, error, caught, .. } = fact {
        option(text, "attempt", attempt.as_ref());
        option(text, "caught", caught.map(Caught::word).as_ref());
        text.push_str(&error_text(error));
    }
    if let Fact::AttemptFailed { attempt, error, cause, wake, session, .. } = fact {
        write!(text, "/{attempt} cause={}", cause.word()).expect("text");
        option(text, "wake", wake.map(since).map(|at| format!("+{at}")).as_ref());
        option(text, "session", session.as_ref());
        text.push_str(&error_text(error));
    }
    if let Fact::AttemptUnknown { attempt, cause, message, caught, .. } = fact {
        write!(text, "/{attempt} cause={}", cause.word()).expect("text");
        option(text, "caught", caught.map(Caught::word).as_ref());
        write!(text, " {}", quoted(message)).expect("text");
    }
}

fn claim_fields(text: &mut String, fact: &Fact) {
    if let Fact::SessionReported { attempt, session, .. } = fact {
        write!(text, "/{attempt} {session}").expect("text");
    }
    if let Fact::NodeClaimed { attempt, output, port, .. } = fact {
        write!(text, "/{attempt} port={port} output={output}").expect("text");
    }
    if let Fact::ProofStarted { attempt, proof, generation, deadline, .. } = fact {
        write!(text, "/{attempt} {proof} g{generation}").expect("text");
        option(text, "deadline", deadline.map(since).as_ref());
    }
    if let Fact::ProofInterrupted { attempt, .. } = fact {
        write!(text, "/{attempt}").expect("text");
    }
    if let Fact::ProofReported { attempt, proof, checks, .. } = fact {
        write!(text, "/{attempt} {}", proof.word()).expect("text");
        for CheckResult { check, end, note } in checks {
            write!(text, " {}={}", quoted(check), end.word()).expect("text");
            option(text, "note", note.as_ref().map(quoted).as_ref());
        }
    }
}

fn container_fields(text: &mut String, fact: &Fact) {
    if let Fact::LoopIteration { iteration, begin, .. } = fact {
        write!(text, " {iteration}").expect("text");
        if let Some(begin) = begin {
            write!(text, " most={} body={}", begin.most, ids(&begin.body)).expect("text");
        }
    }
    if let Fact::ForEachStarted { items, body, .. } = fact {
        let items = Value::Array((**items).clone());
        write!(text, " items={items} body={}", ids(body)).expect("text");
    }
    if let Fact::ItemCompleted { index, output, .. } = fact {
        write!(text, " {index} output={output}").expect("text");
    }
    if let Fact::ItemFailed { index, error, .. } = fact {
        write!(text, " {index}{}", error_text(error)).expect("text");
    }
}

fn error_text(error: &NodeError) -> String {
    let mut text = format!(
        " class={} code={} effect={} {}",
        error.class.word(),
        error.code,
        error.effect.word(),
        quoted(&error.message)
    );
    option(&mut text, "output", error.output.as_ref());
    option(&mut text, "retry_after", error.retry_after.as_ref());
    text
}

/// The name of a child is a digest; its beginning tells it from others.
fn child_name(run: &str) -> &str {
    run.get(..14).unwrap_or(run)
}

fn ids(ids: &[blueprint::NodeId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn budget(text: &mut String, budget: &blueprint::Budget) {
    if *budget != blueprint::Budget::default() {
        let budget = serde_json::to_value(budget).expect("numbers are JSON");
        write!(text, " budget={budget}").expect("a text takes all");
    }
}

fn option<T: std::fmt::Display>(text: &mut String, name: &str, value: Option<&T>) {
    if let Some(value) = value {
        write!(text, " {name}={value}").expect("a text takes all");
    }
}

fn list(text: &mut String, name: &str, items: &[String]) {
    if !items.is_empty() {
        write!(text, " {name}={items:?}").expect("a text takes all");
    }
}

fn pairs(text: &mut String, pairs: &[(String, String)]) {
    for (name, value) in pairs {
        write!(text, " {name}={}", quoted(value)).expect("a text takes all");
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a text takes all");
}

fn quoted(text: impl AsRef<str>) -> String {
    Value::from(text.as_ref()).to_string()
}

/// The time since the start of the script.
fn since(at: Timestamp) -> durable::Span {
    at.since(Timestamp::from_millis(START))
}
