//! From judged fields to what runs. Whatever has a finding compiles to
//! nothing.

use durable::limits;
use serde_json::Value;

use super::values::{Compiled, Values};
use crate::node_type::Runs;
use crate::{
    AgentTerms, BlueprintId, Condition, Count, Environment, Http, Kind, Method, Mode, OnItemError,
    PortName, Runtime, Schema, ShellCommand, StateOp, Template, Wait,
};

pub(super) fn kind(runs: Runs, values: &mut Values<'_>) -> Option<Kind> {
    Some(match runs {
        Runs::ManualTrigger => Kind::ManualTrigger { input_schema: values.schema("input_schema") },
        Runs::Task => Kind::Task {
            agent: values.template("agent")?,
            prompt: values.template("prompt")?,
            output_schema: values.schema("output_schema"),
            terms: Box::new(values.terms()),
        },
        Runs::Decision => Kind::Decision {
            agent: values.template("agent")?,
            prompt: values.template("prompt")?,
            choices: values.ports("choices")?,
            terms: Box::new(values.terms()),
        },
        Runs::Branch => Kind::Branch { condition: values.condition("condition")? },
        Runs::Loop => Kind::Loop {
            max_iterations: values.count("max_iterations").unwrap_or(Count::Is(1)),
            until: values.condition("until"),
        },
        Runs::ForEach => Kind::ForEach {
            items: values.template("items")?,
            max_parallel: values.size("max_parallel", limits::PARALLEL_DEFAULT as u64),
            max_items: values.size("max_items", limits::ITEMS_DEFAULT),
            on_item_error: values.on_item_error("on_item_error"),
        },
        Runs::Join => Kind::Join,
        Runs::Wait => Kind::Wait(match (values.template("for"), values.template("until")) {
            (Some(span), None) => Wait::For(span),
            (None, Some(moment)) => Wait::Until(moment),
            (Some(_), Some(_)) | (None, None) => return None,
        }),
        Runs::Http => Kind::Http(Box::new(Http {
            method: values.method("method"),
            url: values.template("url")?,
            headers: values.headers("headers"),
            body: values.template("body"),
            allow_private: values.flag("allow_private"),
        })),
        Runs::SubAutomation => Kind::SubAutomation {
            automation: values.automation("automation")?,
            input: values.entries("input"),
        },
        Runs::Approval => Kind::Approval { prompt: values.template("prompt") },
        Runs::Shell => Kind::Shell {
            command: values.shell("command")?,
            cwd: values.template("cwd"),
            env: values.environment(),
        },
        Runs::Script => Kind::Script {
            runtime: values.runtime("runtime")?,
            path: values.template("path")?,
            args: values.templates("args"),
            env: values.environment(),
        },
        Runs::State => {
            Kind::State { op: values.state_op("op")?, entries: values.entries("entries") }
        }
        Runs::Notify => Kind::Notify { message: values.template("message")? },
    })
}

/// Takes a field to which the registry gives one form.
macro_rules! take {
    ($values:expr, $id:expr, $form:ident) => {
        match $values.take($id) {
            Some(Compiled::$form(value)) => Some(value),
            Some(_) | None => None,
        }
    };
}

impl Values<'_> {
    fn template(&mut self, id: &str) -> Option<Template> {
        take!(self, id, Template)
    }

    fn templates(&mut self, id: &str) -> Vec<Template> {
        take!(self, id, Templates).unwrap_or_default()
    }

    fn schema(&mut self, id: &str) -> Option<Schema> {
        take!(self, id, Schema)
    }

    fn condition(&mut self, id: &str) -> Option<Condition> {
        take!(self, id, Condition)
    }

    fn shell(&mut self, id: &str) -> Option<ShellCommand> {
        take!(self, id, Shell)
    }

    fn ports(&mut self, id: &str) -> Option<Vec<PortName>> {
        take!(self, id, Ports)
    }

    fn word(&mut self, id: &str) -> Option<&'static str> {
        take!(self, id, Word)
    }

    fn entries(&mut self, id: &str) -> Vec<(String, Value)> {
        take!(self, id, Entries).unwrap_or_default()
    }

    fn headers(&mut self, id: &str) -> Vec<(String, Template)> {
        take!(self, id, Headers).unwrap_or_default()
    }

    fn count(&mut self, id: &str) -> Option<Count> {
        take!(self, id, Count)
    }

    /// A number that no template can give.
    fn size(&mut self, id: &str, default: u64) -> usize {
        let number = match self.count(id) {
            Some(Count::Is(number)) => number,
            Some(Count::From(_)) | None => default,
        };
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    fn flag(&mut self, id: &str) -> bool {
        take!(self, id, Flag).unwrap_or_default()
    }

    fn automation(&mut self, id: &str) -> Option<BlueprintId> {
        take!(self, id, Automation)
    }

    fn terms(&mut self) -> AgentTerms {
        let mode = self.word("mode");
        AgentTerms {
            provider: take!(self, "provider", Plain),
            model: take!(self, "model", Plain),
            mode: Mode::ALL.iter().copied().find(|one| Some(one.word()) == mode),
            tools: take!(self, "tools", Names).unwrap_or_default(),
            session: take!(self, "session", Session).unwrap_or_default(),
        }
    }

    fn method(&mut self, id: &str) -> Method {
        let word = self.word(id);
        let found = Method::ALL.iter().copied().find(|method| Some(method.word()) == word);
        found.unwrap_or(Method::Get)
    }

    fn on_item_error(&mut self, id: &str) -> OnItemError {
        match self.word(id) {
            Some("collect") => OnItemError::Collect,
            Some(_) | None => OnItemError::Stop,
        }
    }

    fn environment(&mut self) -> Environment {
        let set = take!(self, "env", Environment).unwrap_or_default();
        Environment { set, pass: take!(self, "env_pass", Names).unwrap_or_default() }
    }

    fn runtime(&mut self, id: &str) -> Option<Runtime> {
        Some(match self.word(id)? {
            "python" => Runtime::Python,
            "node" => Runtime::Node,
            "sh" => Runtime::Sh,
            _ => return None,
        })
    }

    fn state_op(&mut self, id: &str) -> Option<StateOp> {
        Some(match self.word(id)? {
            "get" => StateOp::Get,
            "set" => StateOp::Set,
            "merge" => StateOp::Merge,
            "delete" => StateOp::Delete,
            _ => return None,
        })
    }
}
