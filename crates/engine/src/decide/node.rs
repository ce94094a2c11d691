//! One ready node: what it records by itself, or the work that it asks for.

use std::sync::Arc;

use blueprint::{
    Environment, Kind, Node, NodeIx, PortName, Program, StateOp, Template, TemplateError,
};
use durable::{Generation, Round, Timestamp};
use serde_json::{Map, Value, json};

use super::{Step, prompt};
use crate::event::Fact;
use crate::registry::Registry;
use crate::state::RunState;
use crate::trigger::check_input;
use crate::work::{AgentTask, AttemptKey, Class, NodeError, ScriptTask, ShellTask, Task, Work};

/// Settles a node that needs nothing from outside.
pub(super) fn settle(program: &Program, state: &RunState, ix: NodeIx, artifacts: &str) -> Step {
    let node = program.node(ix);
    let registry = Registry::new(state, artifacts);
    let facts = match internal(node, state, &registry) {
        Ok(facts) => facts,
        Err(error) => vec![failed(node, error)],
    };
    Step::facts(facts)
}

/// Starts an attempt of a node, or fails it when its fields have no value.
pub(super) fn start(
    program: &Program,
    state: &RunState,
    ix: NodeIx,
    artifacts: &str,
    now: Timestamp,
) -> Step {
    let node = program.node(ix);
    let registry = Registry::new(state, artifacts);
    let task = match external(node, state, &registry) {
        Ok(task) => task,
        Err(error) => return Step::facts(vec![failed(node, error)]),
    };
    let key = AttemptKey {
        run: state
            .started
            .as_ref()
            .map(|started| started.run_id.clone())
            .expect("decide starts nothing before the run"),
        node: node.id.clone(),
        round: Round::FIRST,
        attempt: state.node(&node.id).map_or(durable::Attempt::FIRST, |node| node.attempt.next()),
    };
    let generation: Generation = state.generation;
    let work = Work { key, generation, timeout: node.timeout, task, files: registry.into_files() };
    let fact = Fact::NodeStarted {
        node: node.id.clone(),
        attempt: work.key.attempt,
        generation,
        work: work.digest(),
        deadline: node.timeout.map(|timeout| now.after(timeout)),
        repeat: node.repeat,
    };
    Step { facts: vec![fact], work: Some(work) }
}

fn failed(node: &Node, error: NodeError) -> Fact {
    Fact::NodeFailed { node: node.id.clone(), attempt: None, error }
}

/// A field without a value is the author's mistake, found before any effect.
fn unresolved(node: &Node, error: &TemplateError) -> NodeError {
    let code = match error {
        TemplateError::Unresolved { .. } => "unresolved_template",
        TemplateError::Nul { .. } => "nul_in_value",
        TemplateError::TooLarge { .. } => "rendered_too_large",
        TemplateError::Incomparable { .. } => "not_comparable",
        TemplateError::NoAnswer { .. } => "condition_without_answer",
    };
    NodeError::before_effect(Class::Bug, code, format!("{}: {error}", node.id))
}

fn internal(
    node: &Node,
    state: &RunState,
    registry: &Registry<'_>,
) -> Result<Vec<Fact>, NodeError> {
    let id = || node.id.clone();
    let complete =
        |output| Fact::NodeCompleted { node: id(), attempt: None, output: Arc::new(output) };
    let render = |template: &Template| template.render(registry).map_err(|e| unresolved(node, &e));
    if let Some(output) = half_done(node, state) {
        return Ok(vec![Fact::NodeCompleted { node: id(), attempt: None, output }]);
    }
    Ok(match &node.kind {
        Kind::ManualTrigger { input_schema } => {
            let trigger = state.started.as_ref().map(|started| Arc::clone(&started.trigger));
            let trigger = trigger.unwrap_or_default();
            if let Some(Err(faults)) =
                input_schema.as_ref().map(|schema| check_input(schema, &trigger))
            {
                let message = format!(
                    "{}: the input breaks the input schema: {}",
                    node.id,
                    faults.join("; ")
                );
                return Err(NodeError::before_effect(Class::Preflight, "invalid_input", message));
            }
            vec![Fact::NodeCompleted { node: id(), attempt: None, output: trigger }]
        }
        Kind::Branch { condition } => {
            let holds = condition.eval(registry).map_err(|error| unresolved(node, &error))?;
            let port = PortName::new(if holds { "on_true" } else { "on_false" });
            vec![Fact::BranchTaken { node: id(), port }]
        }
        Kind::Join => vec![complete(json!({}))],
        Kind::Approval { prompt } => {
            let prompt = prompt.as_ref().map(render).transpose()?;
            vec![Fact::AwaitingApproval { node: id(), prompt }]
        }
        Kind::State { op, entries } => return storage(node, *op, entries, registry, state),
        Kind::Notify { message } => {
            let message = render(message)?;
            vec![Fact::Notification { node: id(), message }, complete(json!({}))]
        }
        Kind::Task { .. } | Kind::Decision { .. } | Kind::Shell { .. } | Kind::Script { .. } => {
            let message = format!("{}: this node needs an attempt", node.id);
            return Err(NodeError::before_effect(Class::Bug, "needs_attempt", message));
        }
    })
}

/// The output of a node whose effect is recorded and whose end is not, since
/// the write of both was cut short. It must not be done twice: an entry may
/// depend on what was stored before.
fn half_done(node: &Node, state: &RunState) -> Option<Arc<Value>> {
    state.node(&node.id)?.output.clone()
}

/// The storage node: `get` reads keys, `set` replaces them, `merge` merges
/// objects key by key to any depth, `delete` removes them. The fact carries
/// the resulting values, so that folding needs to know no rule.
fn storage(
    node: &Node,
    op: StateOp,
    entries: &[(String, Value)],
    registry: &Registry<'_>,
    state: &RunState,
) -> Result<Vec<Fact>, NodeError> {
    let stored = |key: &String| state.storage.get(key).cloned();
    let mut values = Map::new();
    for (key, value) in entries {
        let value = match op {
            StateOp::Get => stored(key).unwrap_or(Value::Null),
            StateOp::Delete => Value::Null,
            StateOp::Set => render_value(value, registry).map_err(|e| unresolved(node, &e))?,
            StateOp::Merge => {
                let value = render_value(value, registry).map_err(|e| unresolved(node, &e))?;
                merged(stored(key), value)
            }
        };
        values.insert(key.clone(), value);
    }
    let output = match op {
        StateOp::Get if entries.is_empty() => state.storage.clone(),
        StateOp::Get | StateOp::Set | StateOp::Merge => Value::Object(values.clone()),
        StateOp::Delete => json!({}),
    };
    let id = || node.id.clone();
    let done = Fact::NodeCompleted { node: id(), attempt: None, output: Arc::new(output) };
    Ok(match op {
        StateOp::Get => vec![done],
        StateOp::Set | StateOp::Merge | StateOp::Delete => {
            vec![Fact::StateUpdated { node: id(), op, entries: values }, done]
        }
    })
}

fn merged(old: Option<Value>, new: Value) -> Value {
    match (old, new) {
        (Some(Value::Object(mut old)), Value::Object(new)) => {
            for (key, value) in new {
                let merged = merged(old.remove(&key), value);
                old.insert(key, merged);
            }
            Value::Object(old)
        }
        (_, new) => new,
    }
}

/// Renders the string values inside, to any depth; keys stay as written.
fn render_value(value: &Value, registry: &Registry<'_>) -> Result<Value, TemplateError> {
    Ok(match value {
        Value::String(text) => match Template::parse(text) {
            Ok(template) => template.render_value(registry)?,
            // The check has read every template of a program.
            Err(_) => Value::String(text.clone()),
        },
        Value::Array(items) => Value::Array(
            items.iter().map(|item| render_value(item, registry)).collect::<Result<_, _>>()?,
        ),
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| Ok((key.clone(), render_value(value, registry)?));
            Value::Object(members.iter().map(member).collect::<Result<_, _>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

fn external(node: &Node, state: &RunState, registry: &Registry<'_>) -> Result<Task, NodeError> {
    // All of it is given to a process.
    let render = |template: &Template| {
        template.render_for_process(registry).map_err(|e| unresolved(node, &e))
    };
    let agent = |agent: &Template,
                 prompt: &Template,
                 choices: &[PortName],
                 schema: Option<&blueprint::Schema>| {
        let before = state.node(&node.id);
        let prompt = match before.and_then(|node| node.correction.as_deref()) {
            Some(fault) => prompt::correction(fault, choices),
            None => prompt::with_contract(&render(prompt)?, choices, schema),
        };
        Ok(Task::Agent(AgentTask {
            agent: render(agent)?,
            prompt,
            choices: choices.to_vec(),
            schema: schema.map(|schema| schema.json_schema().clone()),
            session: before.and_then(|node| node.session.clone()),
        }))
    };
    match &node.kind {
        Kind::Task { agent: who, prompt, output_schema } => {
            agent(who, prompt, &[], output_schema.as_ref())
        }
        Kind::Decision { agent: who, prompt, choices } => agent(who, prompt, choices, None),
        Kind::Shell { command, cwd, env } => {
            let shell = command.render(registry).map_err(|error| unresolved(node, &error))?;
            Ok(Task::Shell(ShellTask {
                text: shell.text,
                values: shell.values,
                cwd: cwd.as_ref().map(render).transpose()?,
                env: environment(env, &render)?,
                env_pass: env.pass.clone(),
            }))
        }
        Kind::Script { runtime, path, args, env } => Ok(Task::Script(ScriptTask {
            runtime: *runtime,
            path: render(path)?,
            args: args.iter().map(render).collect::<Result<_, _>>()?,
            env: environment(env, &render)?,
            env_pass: env.pass.clone(),
        })),
        Kind::ManualTrigger { .. }
        | Kind::Branch { .. }
        | Kind::Join
        | Kind::Approval { .. }
        | Kind::State { .. }
        | Kind::Notify { .. } => {
            let message = format!("{}: this node needs no attempt", node.id);
            Err(NodeError::before_effect(Class::Bug, "needs_no_attempt", message))
        }
    }
}

fn environment(
    environment: &Environment,
    render: &impl Fn(&Template) -> Result<String, NodeError>,
) -> Result<Vec<(String, String)>, NodeError> {
    environment.set.iter().map(|(name, value)| Ok((name.clone(), render(value)?))).collect()
}
