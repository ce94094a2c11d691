//! From judged fields to what runs. Whatever has a finding compiles to
//! nothing.

use serde_json::Value;

use super::values::{Compiled, Values};
use crate::node_type::Runs;
use crate::{
    Condition, Environment, Kind, PortName, Runtime, Schema, ShellCommand, StateOp, Template,
};

pub(super) fn kind(runs: Runs, values: &mut Values) -> Option<Kind> {
    Some(match runs {
        Runs::ManualTrigger => Kind::ManualTrigger { input_schema: values.schema("input_schema") },
        Runs::Task => Kind::Task {
            agent: values.template("agent")?,
            prompt: values.template("prompt")?,
            output_schema: values.schema("output_schema"),
        },
        Runs::Decision => Kind::Decision {
            agent: values.template("agent")?,
            prompt: values.template("prompt")?,
            choices: values.ports("choices")?,
        },
        Runs::Branch => Kind::Branch { condition: values.condition("condition")? },
        Runs::Join => Kind::Join,
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

impl Values {
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
