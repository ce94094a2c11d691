//! The registry in a reader's words, for listings and pages alike.

use super::{Actor, Category, Field, FieldKind, NodeType, Outputs};
use crate::ERROR;

/// A key of a node that only some types may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeKey {
    pub id: &'static str,
    pub help: &'static str,
    /// What holds without the key.
    pub default: &'static str,
}

impl NodeType {
    /// The ways in, by name.
    pub fn ways_in(&self) -> String {
        if self.inputs.is_empty() { "none".to_owned() } else { self.inputs.join(", ") }
    }

    /// The ways out, by name or by where their names come from.
    pub fn ways_out(&self) -> String {
        let (ports, from) = match self.outputs {
            Outputs::Fixed(ports) => (ports, None),
            Outputs::FromField(field) => (&[][..], Some(format!("one for each of {field}"))),
        };
        let mut ways: Vec<String> = ports.iter().map(|port| (*port).to_owned()).collect();
        ways.extend(from);
        ways.extend(self.errors.then(|| ERROR.to_owned()));
        if ways.is_empty() { "none".to_owned() } else { ways.join(", ") }
    }

    /// Keys that this type may be given, and not every type.
    pub fn keys(&self) -> Vec<NodeKey> {
        let timeout = NodeKey {
            id: "timeout",
            help: "How long one attempt may take, such as `90s`, `10m` or `1h30m`.",
            default: "no limit",
        };
        let repeat = NodeKey {
            id: "repeat",
            help: "`safe` when the work may be done twice, so that an attempt of unknown outcome \
                   is made again; else `never`.",
            default: self.repeat.default.word(),
        };
        let retry = NodeKey {
            id: "retry",
            help: "How many attempts there are when one fails for certain, such as `3`; or a \
                   mapping of `attempts`, `backoff`, `max_backoff`, `jitter` and `on`, the classes \
                   of failure.",
            default: "one attempt",
        };
        let on_limit = NodeKey {
            id: "on_limit",
            help: "What happens when the provider's limit is reached: `wait` until it resets, or \
                   `fail` as after any other failure.",
            default: "that of the blueprint, else wait",
        };
        let prove = NodeKey {
            id: "prove",
            help: "A list of checks that must hold once the node claims success: `command`, \
                   `changed`, `file` or `output`; the run makes them, not the agent.",
            default: "no check",
        };
        let keys = [
            (self.timeout, timeout),
            (self.retry, retry),
            (self.repeat.settable, repeat),
            (self.meets_limits(), on_limit),
            (self.prove, prove),
        ];
        keys.into_iter().filter(|(taken, _)| *taken).map(|(_, key)| key).collect()
    }
}

impl Category {
    pub fn word(self) -> &'static str {
        match self {
            Self::Triggers => "triggers",
            Self::Agents => "agents",
            Self::Control => "control",
            Self::Actions => "actions",
            Self::Data => "data",
        }
    }
}

impl Actor {
    pub fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Engine => "engine",
            Self::Trigger => "trigger",
        }
    }
}

impl Field {
    /// What is written as its value: `text`, `list of texts`, `python, node or sh`.
    pub fn form(&self) -> String {
        let (one, many) = match self.kind {
            FieldKind::Text | FieldKind::LongText | FieldKind::Prompt => ("text", "texts"),
            FieldKind::Code { language } => return format!("{language} code"),
            FieldKind::Enum { options } => return one_of(options),
            FieldKind::Bool => ("true or false", "flags"),
            FieldKind::Number { least, most } => return format!("number from {least} to {most}"),
            FieldKind::Duration => ("length of time", "lengths of time"),
            FieldKind::Path => ("path", "paths"),
            FieldKind::AgentRef => ("agent", "agents"),
            FieldKind::AutomationRef => ("id of a blueprint", "ids of blueprints"),
            FieldKind::JsonSchema => ("schema", "schemas"),
            FieldKind::KvMap => ("keys with values", "mappings"),
            FieldKind::EnvMap => ("names with texts", "mappings"),
            FieldKind::EnvName => ("name of a variable", "names of variables"),
            FieldKind::BranchPort => ("way out", "ways out"),
            FieldKind::Condition => ("condition", "conditions"),
            FieldKind::Items => ("path to a list", "paths to lists"),
            FieldKind::HeaderMap => ("names with texts", "mappings"),
            FieldKind::Plain => ("word", "words"),
            FieldKind::Session => return "fresh or continue:<node>".to_owned(),
        };
        if self.multiple { format!("list of {many}") } else { one.to_owned() }
    }
}

/// `a, b or c`.
fn one_of(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node_type::{all, find};

    #[test]
    fn ports_are_told_by_name_or_by_their_field() {
        assert_eq!(find("branch").unwrap().ways_out(), "on_true, on_false");
        assert_eq!(find("shell").unwrap().ways_out(), "out, error");
        assert_eq!(find("decision").unwrap().ways_out(), "one for each of choices, error");
        assert_eq!(find("manual_trigger").unwrap().ways_in(), "none");
    }

    #[test]
    fn a_field_says_what_is_written_there() {
        let form = |node_type: &str, field: &str| {
            find(node_type).and_then(|t| t.field(field)).map(Field::form).unwrap()
        };
        assert_eq!(form("script", "runtime"), "python, node or sh");
        assert_eq!(form("script", "args"), "list of texts");
        assert_eq!(form("shell", "command"), "sh code");
    }

    #[test]
    fn every_help_is_a_sentence() {
        let fields = all().flat_map(|t| t.fields).map(|field| field.help);
        let keys = all().flat_map(NodeType::keys).map(|key| key.help);
        for help in fields.chain(keys).chain(all().map(|t| t.description)) {
            assert!(help.ends_with('.') && !help.contains('\n'), "{help}");
        }
    }
}
