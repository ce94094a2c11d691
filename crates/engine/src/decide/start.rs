//! One ready site that needs something from outside: the work that it asks
//! for, or why there is none.

use std::sync::Arc;

use blueprint::{
    AgentTerms, Check, Environment, Http, Kind, Node, OnLimit, PortName, Program, Session, Template,
};
use durable::{Attempt, Digest, Generation, Round};
use serde_json::{Map, Value};

use super::node::{render_value, unresolved};
use super::{Step, View, prompt};
use crate::event::{Child, Fact};
use crate::failing::caught;
use crate::id::RunId;
use crate::registry::Registry;
use crate::site::Site;
use crate::state::{NodeState, RunState};
use crate::work::{
    AgentTask, AttemptKey, ChildTask, Class, HttpTask, NodeError, ScriptTask, ShellTask, Task, Work,
};

/// Whether an agent does the work of the site.
pub(super) fn asks_agent(program: &Program, site: &Site) -> bool {
    let node = program.node_ix(&site.node).map(|ix| &program.node(ix).kind);
    matches!(node, Some(Kind::Task { .. } | Kind::Decision { .. }))
}

/// Whether the work of the site counts against the budget, here or by what a
/// run that does it may spend.
pub(super) fn spends(program: &Program, site: &Site) -> bool {
    let node = program.node_ix(&site.node).map(|ix| &program.node(ix).kind);
    asks_agent(program, site) || matches!(node, Some(Kind::SubAutomation { .. }))
}

/// Starts an attempt of a node, or fails it when its fields have no value.
pub(super) fn start(view: View<'_>, site: &Site) -> Step {
    let View { program, state, artifacts, now } = view;
    let ix = program.node_ix(&site.node).expect("only a node of the program is ready");
    let node = program.node(ix);
    let registry = Registry::at(program, state, artifacts, site);
    let key = next_key(state, site);
    let task = match external(program, node, &key, state, &registry) {
        Ok(task) => task,
        Err(error) => {
            let (node, caught) = (site.clone(), caught(program, site));
            return Step::fact(Fact::NodeFailed { node, attempt: None, error, caught });
        }
    };
    let child = match &task {
        Task::Child(child) => Some(Arc::new(Child {
            run_id: child.run.clone(),
            automation: child.automation.clone(),
            input: child.input.clone(),
        })),
        Task::Agent(_) | Task::Shell(_) | Task::Script(_) | Task::Http(_) | Task::Prove(_) => None,
    };
    let generation: Generation = state.generation;
    let (timeout, files, baseline) = (node.timeout, registry.into_files(), has_baseline(node));
    let work = Work { key, generation, timeout, task, files, baseline };
    let fact = Fact::NodeStarted {
        node: site.clone(),
        attempt: work.key.attempt,
        generation,
        work: work.digest(),
        deadline: node.timeout.map(|timeout| now.after(timeout)),
        repeat: node.repeat,
        agent: asks_agent(program, site),
        child,
    };
    Step { facts: vec![fact], work: Some(work) }
}

/// The work of a run that carries out the attempt of a site, which is asked
/// for again by every new owner.
pub(crate) fn child_work(program: &Program, state: &RunState, site: &Site) -> Option<Work> {
    let node = state.node(site)?;
    let (child, flight) = (node.child.as_ref()?, node.in_flight?);
    let Child { run_id, automation, input } = (**child).clone();
    let key = key(state, site, node.attempt);
    let task = Task::Child(child_task(state, run_id, automation, input));
    let timeout = flight.deadline.map(|deadline| deadline.since(flight.since));
    let baseline = program.node_ix(&site.node).is_some_and(|ix| has_baseline(program.node(ix)));
    let (generation, files) = (state.generation, Vec::new());
    Some(Work { key, generation, timeout, task, files, baseline })
}

pub(crate) fn key(state: &RunState, site: &Site, attempt: Attempt) -> AttemptKey {
    let started = state.started.as_ref().expect("nothing has an attempt before the run starts");
    AttemptKey {
        run: started.run_id.clone(),
        node: site.clone(),
        round: round(state, site),
        attempt,
        proof: None,
    }
}

/// The key of what is in flight at the site.
pub(crate) fn flight_key(state: &RunState, site: &Site) -> AttemptKey {
    let node = state.node(site);
    let attempt = node.map_or(Attempt(0), |node| node.attempt);
    let proof = node.and_then(|node| node.in_flight).and_then(|flight| flight.proof);
    AttemptKey { proof, ..key(state, site, attempt) }
}

fn has_baseline(node: &Node) -> bool {
    node.prove.iter().any(|check| matches!(check, Check::Changed { .. }))
}

/// The session of its provider in which the next attempt, or the present
/// one, is to be made; none for a fresh one.
pub(crate) fn asked_session(
    program: &Program,
    state: &RunState,
    site: &Site,
    node: &Node,
) -> Result<Option<String>, NodeError> {
    let own = state.node(site);
    if let Some(own) = own.filter(|own| own.correction.is_some()) {
        return Ok(own.session.clone());
    }
    let (Kind::Task { terms, .. } | Kind::Decision { terms, .. }) = &node.kind else {
        return Ok(None);
    };
    let Session::Continue(of) = &terms.session else { return Ok(None) };
    let parent = |id| program.node_ix(id).and_then(|ix| program.node(ix).parent);
    let item = site.item.filter(|_| parent(of) == parent(&site.node));
    let found = state.node(&Site::at(of, item)).and_then(|node| node.session.clone());
    found.map(Some).ok_or_else(|| {
        let message = format!("{site}: `{of}` has left no session that could be continued");
        NodeError::before_effect(Class::Preflight, "session_missing", message)
    })
}

fn next_key(state: &RunState, site: &Site) -> AttemptKey {
    let attempt = state.node(site).map_or(Attempt::FIRST, |node| node.attempt.next());
    key(state, site, attempt)
}

fn round(state: &RunState, site: &Site) -> Round {
    state.node(site).map_or(Round::FIRST, |node| node.round)
}

fn child_task(
    state: &RunState,
    run: RunId,
    automation: blueprint::BlueprintId,
    input: Value,
) -> ChildTask {
    let budget = state.started.as_ref().map(|started| started.budget.clone()).unwrap_or_default();
    let budget = state.spending.rest_of(&budget);
    ChildTask { run, automation, input, budget, deadline: state.deadline() }
}

/// The name of the run that carries out an attempt, so that it is started
/// once, however often it is asked for.
fn child_run(key: &AttemptKey) -> RunId {
    let (node, round, attempt) =
        (key.node.to_string(), key.round.to_string(), key.attempt.to_string());
    let parts = ["child", key.run.as_str(), &node, &round, &attempt];
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let name = format!("child-{}", Digest::of_parts(&parts).hex());
    RunId::new(&name).expect("letters, digits and a dash are a safe name")
}

fn external(
    program: &Program,
    node: &Node,
    key: &AttemptKey,
    state: &RunState,
    registry: &Registry<'_>,
) -> Result<Task, NodeError> {
    let site = &key.node;
    // All of it is given to a process, or to another machine.
    let render = |template: &Template| {
        template.render_for_process(registry).map_err(|e| unresolved(site, &e))
    };
    match &node.kind {
        Kind::Task { agent, prompt, output_schema, terms } => {
            let (choices, schema, waits) = (&[][..], output_schema.as_ref(), waits(node));
            let ask = Ask { agent, prompt, choices, schema, terms, waits };
            let session = asked_session(program, state, site, node)?;
            ask.task(state.node(site), session, &render)
        }
        Kind::Decision { agent, prompt, choices, terms } => {
            let ask = Ask { agent, prompt, choices, schema: None, terms, waits: waits(node) };
            let session = asked_session(program, state, site, node)?;
            ask.task(state.node(site), session, &render)
        }
        Kind::Shell { command, cwd, env } => {
            let shell = command.render(registry).map_err(|error| unresolved(site, &error))?;
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
        Kind::Http(http) => http_task(http, &render),
        Kind::SubAutomation { automation, input } => {
            let entry = |(name, value): &(String, Value)| {
                let value = render_value(value, registry).map_err(|e| unresolved(site, &e))?;
                Ok((name.clone(), value))
            };
            let input = input.iter().map(entry).collect::<Result<Map<_, _>, NodeError>>()?;
            let (run, automation) = (child_run(key), automation.clone());
            Ok(Task::Child(child_task(state, run, automation, Value::Object(input))))
        }
        Kind::ManualTrigger { .. }
        | Kind::Branch { .. }
        | Kind::Loop { .. }
        | Kind::ForEach { .. }
        | Kind::Join
        | Kind::Approval { .. }
        | Kind::Wait(_)
        | Kind::State { .. }
        | Kind::Notify { .. } => {
            let message = format!("{site}: this node needs no attempt");
            Err(NodeError::before_effect(Class::Bug, "needs_no_attempt", message))
        }
    }
}

/// A question to an agent, as its author wrote it.
struct Ask<'a> {
    agent: &'a Template,
    prompt: &'a Template,
    choices: &'a [PortName],
    schema: Option<&'a blueprint::Schema>,
    terms: &'a AgentTerms,
    waits: bool,
}

fn waits(node: &Node) -> bool {
    node.on_limit == OnLimit::Wait
}

impl Ask<'_> {
    fn task(
        &self,
        before: Option<&NodeState>,
        session: Option<String>,
        render: &impl Fn(&Template) -> Result<String, NodeError>,
    ) -> Result<Task, NodeError> {
        let agent = render(self.agent)?;
        let prompt = match before.and_then(|node| node.correction.as_deref()) {
            Some(fault) => prompt::correction(fault, self.choices),
            None => prompt::with_contract(&render(self.prompt)?, self.choices, self.schema),
        };
        Ok(Task::Agent(AgentTask {
            agent,
            prompt,
            choices: self.choices.to_vec(),
            schema: self.schema.map(|schema| schema.json_schema().clone()),
            session,
            provider: self.terms.provider.clone(),
            model: self.terms.model.clone(),
            mode: self.terms.mode,
            tools: self.terms.tools.clone(),
            waits_for_limits: self.waits,
        }))
    }
}

fn http_task(
    http: &Http,
    render: &impl Fn(&Template) -> Result<String, NodeError>,
) -> Result<Task, NodeError> {
    let header = |(name, value): &(String, Template)| Ok((name.clone(), render(value)?));
    Ok(Task::Http(HttpTask {
        method: http.method,
        url: render(&http.url)?,
        headers: http.headers.iter().map(header).collect::<Result<_, NodeError>>()?,
        body: http.body.as_ref().map(render).transpose()?,
        allow_private: http.allow_private,
    }))
}

fn environment(
    environment: &Environment,
    render: &impl Fn(&Template) -> Result<String, NodeError>,
) -> Result<Vec<(String, String)>, NodeError> {
    environment.set.iter().map(|(name, value)| Ok((name.clone(), render(value)?))).collect()
}
