//! One ready site that needs nothing from outside: what it records.

use std::sync::Arc;

use blueprint::{Count, Kind, Node, NodeIx, PortName, StateOp, Template, TemplateError, Wait};
use durable::{Round, Span, Timestamp, limits};
use serde_json::{Map, Value, json};

use super::{Step, View};
use crate::event::{Fact, LoopBegin};
use crate::failing::caught;
use crate::registry::Registry;
use crate::site::Site;
use crate::state::RunState;
use crate::trigger::check_input;
use crate::work::{Class, NodeError};

/// Settles a node, or begins it when it is a container or a wait.
pub(super) fn settle(view: View<'_>, ix: NodeIx, site: &Site) -> Step {
    let node = view.program.node(ix);
    let registry = Registry::new(view.program, view.state, view.artifacts, node.parent, site.item);
    let own = Own { node, site, registry: &registry, view };
    Step::facts(own.facts().unwrap_or_else(|error| {
        let caught = caught(view.program, site);
        vec![Fact::NodeFailed { node: site.clone(), attempt: None, error, caught }]
    }))
}

/// The end of a `wait`.
pub(super) fn wait_is_over(view: View<'_>, site: &Site) -> Step {
    let until = view.state.node(site).and_then(|node| node.wake).unwrap_or(view.now);
    Step::fact(waited(site, until))
}

fn waited(site: &Site, until: Timestamp) -> Fact {
    let output = Arc::new(json!({ "until": until.to_string() }));
    Fact::NodeCompleted { node: site.clone(), attempt: None, output }
}

/// A field without a value is the author's mistake, found before any effect.
pub(super) fn unresolved(site: &Site, error: &TemplateError) -> NodeError {
    let code = match error {
        TemplateError::Unresolved { .. } => "unresolved_template",
        TemplateError::Nul { .. } => "nul_in_value",
        TemplateError::TooLarge { .. } => "rendered_too_large",
        TemplateError::Incomparable { .. } => "not_comparable",
        TemplateError::NoAnswer { .. } => "condition_without_answer",
    };
    wrong(site, code, &error.to_string())
}

fn wrong(site: &Site, code: &str, why: &str) -> NodeError {
    NodeError::before_effect(Class::Bug, code, format!("{site}: {why}"))
}

/// A node and what it sees.
struct Own<'a> {
    node: &'a Node,
    site: &'a Site,
    registry: &'a Registry<'a>,
    view: View<'a>,
}

impl Own<'_> {
    fn facts(&self) -> Result<Vec<Fact>, NodeError> {
        let node = || self.site.clone();
        if let Some(output) = half_done(self.view.state, self.site) {
            return Ok(vec![Fact::NodeCompleted { node: node(), attempt: None, output }]);
        }
        Ok(match &self.node.kind {
            Kind::ManualTrigger { input_schema } => vec![self.trigger(input_schema.as_ref())?],
            Kind::Branch { condition } => {
                let holds =
                    condition.eval(self.registry).map_err(|error| self.unresolved(&error))?;
                let port = PortName::new(if holds { "on_true" } else { "on_false" });
                vec![Fact::BranchTaken { node: node(), port }]
            }
            Kind::Loop { max_iterations, .. } => vec![self.begin_loop(max_iterations)?],
            Kind::ForEach { items, max_items, .. } => vec![self.begin_items(items, *max_items)?],
            Kind::Join => vec![self.complete(json!({}))],
            Kind::Approval { prompt } => {
                let prompt = prompt.as_ref().map(|prompt| self.render(prompt)).transpose()?;
                vec![Fact::AwaitingApproval { node: node(), prompt }]
            }
            Kind::Wait(wait) => vec![self.wait(wait)?],
            Kind::State { op, entries } => return self.storage(*op, entries),
            Kind::Notify { message } => {
                let message = self.render(message)?;
                vec![Fact::Notification { node: node(), message }, self.complete(json!({}))]
            }
            Kind::Task { .. }
            | Kind::Decision { .. }
            | Kind::Shell { .. }
            | Kind::Script { .. }
            | Kind::Http(_)
            | Kind::SubAutomation { .. } => {
                return Err(self.wrong("needs_attempt", "this node needs an attempt"));
            }
        })
    }

    fn trigger(&self, schema: Option<&blueprint::Schema>) -> Result<Fact, NodeError> {
        let started = self.view.state.started.as_ref();
        let trigger = started.map(|started| Arc::clone(&started.trigger)).unwrap_or_default();
        if let Some(Err(faults)) = schema.map(|schema| check_input(schema, &trigger)) {
            let faults = faults.join("; ");
            let message = format!("{}: the input breaks the input schema: {faults}", self.site);
            return Err(NodeError::before_effect(Class::Preflight, "invalid_input", message));
        }
        Ok(Fact::NodeCompleted { node: self.site.clone(), attempt: None, output: trigger })
    }

    fn begin_loop(&self, most: &Count) -> Result<Fact, NodeError> {
        let most = match most {
            Count::Is(most) => *most,
            Count::From(template) => self.count(template)?,
        };
        let begin = Arc::new(LoopBegin { most, body: self.body() });
        let (node, iteration) = (self.site.clone(), Round::FIRST);
        Ok(Fact::LoopIteration { node, iteration, begin: Some(begin) })
    }

    /// The number that a template gives, as a number or as its digits.
    fn count(&self, template: &Template) -> Result<u64, NodeError> {
        let value =
            template.render_value(self.registry).map_err(|error| self.unresolved(&error))?;
        let number = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let most = limits::ITERATIONS_MAX;
        number.filter(|number| (1..=most).contains(number)).ok_or_else(|| {
            let source = template.source();
            let why = format!(
                "`max_iterations` is `{source}`, which is no whole number from 1 to {most}"
            );
            self.wrong("invalid_max_iterations", &why)
        })
    }

    fn begin_items(&self, items: &Template, most: usize) -> Result<Fact, NodeError> {
        let value = items.render_value(self.registry).map_err(|error| self.unresolved(&error))?;
        let Value::Array(items) = value else {
            let why = format!("`items` is `{}`, which leads to no list", items.source());
            return Err(self.wrong("items_not_a_list", &why));
        };
        if items.len() > most {
            let why = format!("the list has {} items, `max_items` is {most}", items.len());
            return Err(self.wrong("too_many_items", &why));
        }
        let (node, body) = (self.site.clone(), Arc::new(self.body()));
        Ok(Fact::ForEachStarted { node, items: Arc::new(items), body })
    }

    fn body(&self) -> Vec<blueprint::NodeId> {
        let program = self.view.program;
        let ix = program.node_ix(&self.node.id).expect("the node is one of the program");
        program.body(ix).iter().map(|ix| program.node(*ix).id.clone()).collect()
    }

    fn wait(&self, wait: &Wait) -> Result<Fact, NodeError> {
        let now = self.view.now;
        let until = match wait {
            Wait::For(span) => {
                let text = self.render(span)?;
                let span: Span = text
                    .trim()
                    .parse()
                    .map_err(|error| self.wrong("invalid_wait", &format!("`for`: {error}")))?;
                now.after(span)
            }
            Wait::Until(moment) => {
                let text = self.render(moment)?;
                text.trim()
                    .parse()
                    .map_err(|error| self.wrong("invalid_wait", &format!("`until`: {error}")))?
            }
        };
        if until <= now {
            return Ok(waited(self.site, until));
        }
        Ok(Fact::WaitStarted { node: self.site.clone(), until })
    }

    /// The storage node: `get` reads keys, `set` replaces them, `merge` merges
    /// objects key by key to any depth, `delete` removes them. The fact carries
    /// the resulting values, so that folding needs to know no rule.
    fn storage(&self, op: StateOp, entries: &[(String, Value)]) -> Result<Vec<Fact>, NodeError> {
        let stored = |key: &String| self.view.state.storage.get(key).cloned();
        let render = |value: &Value| {
            render_value(value, self.registry).map_err(|error| self.unresolved(&error))
        };
        let mut values = Map::new();
        for (key, value) in entries {
            let value = match op {
                StateOp::Get => stored(key).unwrap_or(Value::Null),
                StateOp::Delete => Value::Null,
                StateOp::Set => render(value)?,
                StateOp::Merge => merged(stored(key), render(value)?),
            };
            values.insert(key.clone(), value);
        }
        let output = match op {
            StateOp::Get if entries.is_empty() => self.view.state.storage.clone(),
            StateOp::Get | StateOp::Set | StateOp::Merge => Value::Object(values.clone()),
            StateOp::Delete => json!({}),
        };
        let node = self.site.clone();
        let done = self.complete(output);
        Ok(match op {
            StateOp::Get => vec![done],
            StateOp::Set | StateOp::Merge | StateOp::Delete => {
                vec![Fact::StateUpdated { node, op, entries: values }, done]
            }
        })
    }

    fn complete(&self, output: Value) -> Fact {
        Fact::NodeCompleted { node: self.site.clone(), attempt: None, output: Arc::new(output) }
    }

    fn render(&self, template: &Template) -> Result<String, NodeError> {
        template.render(self.registry).map_err(|error| self.unresolved(&error))
    }

    fn unresolved(&self, error: &TemplateError) -> NodeError {
        unresolved(self.site, error)
    }

    fn wrong(&self, code: &str, why: &str) -> NodeError {
        wrong(self.site, code, why)
    }
}

/// The output of a node whose effect is recorded and whose end is not, since
/// the write of both was cut short. It must not be done twice: an entry may
/// depend on what was stored before.
fn half_done(state: &RunState, site: &Site) -> Option<Arc<Value>> {
    state.node(site)?.output.clone()
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
pub(super) fn render_value(value: &Value, registry: &Registry<'_>) -> Result<Value, TemplateError> {
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
