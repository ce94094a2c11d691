//! The value of one field: judged by the field's kind and compiled.

mod agent;
mod header;
mod scalar;

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use super::Sink;
use super::uses::Uses;
use crate::hash::Source;
use crate::node_type::{Field, FieldKind};
use crate::program::ERROR;
use crate::template::SyntaxError;
use crate::yaml::{Data, Entry, List, Map, Yaml, shorten};
use crate::{
    BlueprintId, Condition, Count, Finding, PortName, Rule, Schema, Session, ShellCommand,
    Template, suggest,
};

/// A field's value, ready for the node that it becomes part of.
#[derive(Debug, Clone)]
pub(super) enum Compiled {
    Template(Template),
    Templates(Vec<Template>),
    Shell(ShellCommand),
    Condition(Condition),
    Schema(Schema),
    Word(&'static str),
    Ports(Vec<PortName>),
    Names(Vec<String>),
    Environment(Vec<(String, Template)>),
    Entries(Vec<(String, Value)>),
    Headers(Vec<(String, Template)>),
    Count(Count),
    Flag(bool),
    Automation(BlueprintId),
    Plain(String),
    Session(Session),
}

/// The fields of the reading so far, by their ids.
#[derive(Debug)]
pub(super) struct Values<'t> {
    compiled: Vec<(&'static str, Compiled)>,
    /// What the content hash and the snapshot hold.
    pub(super) canonical: Vec<(&'static str, Source<'t>)>,
}

pub(super) struct Reader<'a, 'f, 't> {
    pub(super) sink: &'a mut Sink<'f>,
    pub(super) uses: &'a mut Uses<'t>,
    pub(super) node_type: &'static str,
}

impl<'t> Values<'t> {
    pub(super) fn with_room(count: usize) -> Self {
        Self { compiled: Vec::with_capacity(count), canonical: Vec::with_capacity(count) }
    }

    pub(super) fn put(&mut self, id: &'static str, compiled: Compiled, canonical: Source<'t>) {
        self.compiled.push((id, compiled));
        self.canonical.push((id, canonical));
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Compiled> {
        let at = self.compiled.iter().position(|(name, _)| *name == id)?;
        Some(self.compiled.swap_remove(at).1)
    }
}

impl<'t> Reader<'_, '_, 't> {
    /// Judges the value and leaves findings; `None` when it cannot be used.
    pub(super) fn read(
        &mut self,
        field: &'static Field,
        entry: &'t Entry<'t>,
    ) -> Option<(Compiled, Source<'t>)> {
        let value = &entry.value;
        if value.data == Data::Refused {
            return None;
        }
        if value.data == Data::Null {
            self.nothing(field, value);
            return None;
        }
        if field.multiple {
            return self.read_list(field, value);
        }
        let compiled = match field.kind {
            FieldKind::JsonSchema => return self.read_schema(field, value),
            FieldKind::KvMap => Compiled::Entries(self.entries(field, value)?),
            FieldKind::EnvMap => Compiled::Environment(self.environment(field, value)?),
            FieldKind::Code { .. } => {
                let text = self.text(field, value)?;
                Compiled::Shell(self.shell(text, &value.span)?)
            }
            FieldKind::Condition => {
                let text = self.text(field, value)?;
                self.condition(text, &value.span)?
            }
            FieldKind::Enum { options } => self.option(field, options, value)?,
            FieldKind::HeaderMap => Compiled::Headers(self.headers(field, value)?),
            FieldKind::Bool => self.flag(field, value)?,
            FieldKind::Number { least, most } => self.count(field, value, (least, most))?,
            FieldKind::Duration => self.duration(field, value)?,
            FieldKind::Items => self.items(field, value)?,
            FieldKind::AutomationRef => self.automation(field, value)?,
            FieldKind::Plain => {
                let text = self.text(field, value)?;
                Compiled::Plain(self.plain(field, text, &value.span)?)
            }
            FieldKind::Session => Compiled::Session(self.session(field, value)?),
            FieldKind::Text
            | FieldKind::LongText
            | FieldKind::Prompt
            | FieldKind::Path
            | FieldKind::AgentRef
            | FieldKind::EnvName
            | FieldKind::BranchPort => {
                let text = self.text(field, value)?;
                if field.kind == FieldKind::AgentRef {
                    self.agent(field, text, &value.span);
                }
                Compiled::Template(self.template(text, &value.span)?)
            }
        };
        value.is_whole().then_some((compiled, Source::Written(value)))
    }

    fn read_list(
        &mut self,
        field: &'static Field,
        value: &'t Yaml<'t>,
    ) -> Option<(Compiled, Source<'t>)> {
        let Data::List(list) = &value.data else {
            self.wrong(field, value, "a list")
                .suggest("begin each item with `- `, or write `[a, b]`");
            return None;
        };
        if field.kind == FieldKind::BranchPort && list.items.is_empty() && !list.partial {
            self.sink
                .error(Rule::EmptyDecisionChoices, &value.span, format!("`{}` is empty", field.id))
                .suggest("name at least two ways to go");
            return None;
        }
        if field.kind == FieldKind::BranchPort && list.items.len() > CHOICES {
            let count = list.items.len();
            let message = format!("`{}` has {count} items, the most is {CHOICES}", field.id);
            self.sink
                .error(Rule::TooMany, &value.span, message)
                .suggest("let one decision lead to further ones");
            return None;
        }
        let compiled = match field.kind {
            FieldKind::BranchPort => Compiled::Ports(self.ports(field, list)?),
            FieldKind::EnvName => Compiled::Names(self.names(field, list)?),
            FieldKind::Plain => Compiled::Names(self.all(list, |reader, item| {
                let text = reader.item(field, item)?;
                reader.plain(field, text, &item.span)
            })?),
            FieldKind::Text
            | FieldKind::LongText
            | FieldKind::Prompt
            | FieldKind::Code { .. }
            | FieldKind::Enum { .. }
            | FieldKind::Bool
            | FieldKind::Number { .. }
            | FieldKind::Duration
            | FieldKind::Path
            | FieldKind::AgentRef
            | FieldKind::AutomationRef
            | FieldKind::JsonSchema
            | FieldKind::KvMap
            | FieldKind::EnvMap
            | FieldKind::Items
            | FieldKind::HeaderMap
            | FieldKind::Session
            | FieldKind::Condition => Compiled::Templates(self.all(list, |reader, item| {
                let text = reader.item(field, item)?;
                reader.template(text, &item.span)
            })?),
        };
        value.is_whole().then_some((compiled, Source::Written(value)))
    }

    // Texts.

    /// The text of a field that is one text.
    fn text(&mut self, field: &Field, value: &'t Yaml<'t>) -> Option<&'t str> {
        let Data::Text(text) = &value.data else {
            self.wrong(field, value, "a text").suggestion = quoted(value);
            return None;
        };
        if text.trim().is_empty() && (field.required || field.kind == FieldKind::Path) {
            self.nothing(field, value);
            return None;
        }
        Some(text)
    }

    /// The text of one item of a list.
    fn item(&mut self, field: &Field, value: &'t Yaml<'t>) -> Option<&'t str> {
        match &value.data {
            Data::Text(text) => return Some(text),
            Data::Refused => {}
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => {
                let message =
                    format!("each of `{}` must be a text, this is {}", field.id, value.describe());
                self.sink.error(Rule::InvalidFieldValue, &value.span, message).suggestion =
                    quoted(value);
            }
        }
        None
    }

    pub(super) fn template(&mut self, text: &'t str, span: &'t Range<usize>) -> Option<Template> {
        match Template::parse(text) {
            Ok(template) => {
                self.uses.add(&template, span, text);
                Some(template)
            }
            Err(errors) => {
                self.faults(Rule::InvalidTemplate, errors, span, text);
                None
            }
        }
    }

    pub(super) fn shell(&mut self, text: &'t str, span: &'t Range<usize>) -> Option<ShellCommand> {
        // What is wrong with a place itself is not the shell's doing.
        self.template(text, span)?;
        match ShellCommand::parse(text) {
            Ok(command) => Some(command),
            Err(errors) => {
                self.faults(Rule::UnsafeShellTemplate, errors, span, text);
                None
            }
        }
    }

    fn condition(&mut self, text: &'t str, span: &'t Range<usize>) -> Option<Compiled> {
        match Condition::parse(text) {
            Ok(condition) => {
                self.uses.add_condition(&condition, span, text);
                Some(Compiled::Condition(condition))
            }
            Err(error) => {
                self.faults(Rule::InvalidCondition, vec![error], span, text);
                None
            }
        }
    }

    fn option(
        &mut self,
        field: &Field,
        options: &'static [&'static str],
        value: &'t Yaml<'t>,
    ) -> Option<Compiled> {
        let text = self.text(field, value)?;
        let found = options.iter().copied().find(|option| *option == text);
        if found.is_none() {
            let near = suggest::did_you_mean(text, options.iter().copied());
            let fix = self.sink.rename(&value.span, text, options.iter().copied());
            let finding = self.wrong(field, value, &format!("one of {}", options.join(", ")));
            finding.fix(fix).suggestion = near;
        }
        found.map(Compiled::Word)
    }

    fn agent(&mut self, field: &Field, text: &str, span: &Range<usize>) {
        if matches!(text.trim(), "role:" | "class:") {
            let message = format!("`{}` says `{}` without a name", field.id, text.trim());
            self.sink
                .error(Rule::InvalidFieldValue, span, message)
                .suggest("write `role:<name>` or `class:<name>`");
        }
    }

    // Lists and mappings.

    fn ports(&mut self, field: &Field, list: &'t List<'t>) -> Option<Vec<PortName>> {
        let mut seen: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
        self.all(list, |reader, item| {
            let text = reader.item(field, item)?;
            if let Some(first) = seen.insert(text, &item.span) {
                let message = format!("the choice `{}` is there twice", shorten(text));
                reader
                    .sink
                    .error(Rule::DuplicateDecisionChoice, &item.span, message)
                    .suggest("remove one of the two")
                    .relate(first.clone(), "first here");
                return None;
            }
            if !is_name(text) {
                let message = format!("the choice `{}` cannot be a port", shorten(text));
                reader
                    .sink
                    .error(Rule::InvalidDecisionChoice, &item.span, message)
                    .suggest(NAME_RULE);
                return None;
            }
            if text == ERROR {
                let message = format!("the choice `{ERROR}` has the name of another way out");
                reader
                    .sink
                    .error(Rule::InvalidDecisionChoice, &item.span, message)
                    .suggest("use another word: by `error` a run goes on after a failure");
                return None;
            }
            Some(PortName::new(text))
        })
    }

    fn names(&mut self, field: &Field, list: &'t List<'t>) -> Option<Vec<String>> {
        self.all(list, |reader, item| {
            let text = reader.item(field, item)?;
            reader.variable(text, &item.span)?;
            Some(text.to_owned())
        })
    }

    fn environment(
        &mut self,
        field: &Field,
        value: &'t Yaml<'t>,
    ) -> Option<Vec<(String, Template)>> {
        let map = self.mapping(field, value)?;
        let mut pairs = self.each(map, |reader, entry| {
            let name = reader.variable(&entry.key, &entry.key_span);
            let reserved = entry.key.starts_with(RESERVED);
            if reserved {
                let message = format!("`{}` is set by the runner", shorten(&entry.key));
                reader
                    .sink
                    .error(Rule::InvalidFieldValue, &entry.key_span, message)
                    .suggest(format!("choose a name that does not begin with `{RESERVED}`"));
            }
            let Data::Text(text) = &entry.value.data else {
                if entry.value.data != Data::Refused {
                    let what = entry.value.describe();
                    let message = format!("`{}` must be a text, it is {what}", shorten(&entry.key));
                    reader
                        .sink
                        .error(Rule::InvalidFieldValue, &entry.value.span, message)
                        .suggestion = quoted(&entry.value);
                }
                return None;
            };
            let template = reader.template(text, &entry.value.span)?;
            name.filter(|()| !reserved).map(|()| (entry.key.to_string(), template))
        })?;
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        Some(pairs)
    }

    fn variable(&mut self, name: &str, span: &Range<usize>) -> Option<()> {
        let head = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let tail = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if head && tail {
            return Some(());
        }
        let message = format!("`{}` cannot be the name of a variable", shorten(name));
        self.sink
            .error(Rule::InvalidFieldValue, span, message)
            .suggest("use letters, digits and `_`, and begin with no digit");
        None
    }

    fn entries(&mut self, field: &Field, value: &'t Yaml<'t>) -> Option<Vec<(String, Value)>> {
        let map = self.mapping(field, value)?;
        let mut pairs = self.each(map, |reader, entry| {
            reader.inner_templates(&entry.value)?;
            Some((entry.key.to_string(), entry.value.to_json()?))
        })?;
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        Some(pairs)
    }

    /// Judges the texts inside a value; its depth is bounded by the reading.
    fn inner_templates(&mut self, value: &'t Yaml<'t>) -> Option<()> {
        match &value.data {
            Data::Text(text) => self.template(text, &value.span).map(drop),
            Data::List(list) => self.all(list, Self::inner_templates).map(drop),
            Data::Map(map) => {
                self.each(map, |reader, entry| reader.inner_templates(&entry.value)).map(drop)
            }
            Data::Null | Data::Bool(_) | Data::Number(_) => Some(()),
            Data::Refused => None,
        }
    }

    fn read_schema(&mut self, field: &Field, value: &Yaml<'_>) -> Option<(Compiled, Source<'t>)> {
        if !matches!(value.data, Data::Text(_) | Data::Map(_)) {
            self.wrong(field, value, "a schema: JSON in a text, or a mapping");
            return None;
        }
        match Schema::parse(&value.to_json()?) {
            Ok(schema) => {
                let source = Source::Made(schema.source().clone());
                Some((Compiled::Schema(schema), source))
            }
            Err(error) => {
                let message = format!("`{}`: {}", field.id, error.message);
                self.sink.error(Rule::InvalidSchema, &value.span, message).suggestion =
                    error.suggestion;
                None
            }
        }
    }

    fn mapping(&mut self, field: &Field, value: &'t Yaml<'t>) -> Option<&'t Map<'t>> {
        let Data::Map(map) = &value.data else {
            self.wrong(field, value, "a mapping of names and values");
            return None;
        };
        Some(map)
    }

    /// All items, judged to the last one even when an earlier one is wrong.
    fn all<T>(
        &mut self,
        list: &'t List<'t>,
        mut read: impl FnMut(&mut Self, &'t Yaml<'t>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items: Vec<_> = list.items.iter().map(|item| read(self, item)).collect();
        items.into_iter().collect()
    }

    fn each<T>(
        &mut self,
        map: &'t Map<'t>,
        mut read: impl FnMut(&mut Self, &'t Entry<'t>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items: Vec<_> = map.entries.iter().map(|entry| read(self, entry)).collect();
        items.into_iter().collect()
    }

    // Findings.

    fn nothing(&mut self, field: &Field, value: &Yaml<'_>) {
        let (rule, suggestion) = if field.required {
            (Rule::BlankRequiredField, field.help.to_owned())
        } else {
            (Rule::InvalidFieldValue, "write a value, or leave the field out".to_owned())
        };
        self.sink.error(rule, &value.span, format!("`{}` is empty", field.id)).suggest(suggestion);
    }

    fn wrong(&mut self, field: &Field, value: &Yaml<'_>, wanted: &str) -> &mut Finding {
        let (id, node_type, found) = (field.id, self.node_type, value.describe());
        let message = format!("`{id}` of a `{node_type}` must be {wanted}, it is {found}");
        self.sink.error(Rule::InvalidFieldValue, &value.span, message)
    }

    fn faults(&mut self, rule: Rule, errors: Vec<SyntaxError>, span: &Range<usize>, text: &str) {
        for error in errors {
            let place = self.sink.place_within(span, text, &error.range);
            self.sink.error(rule, &place, error.message).suggestion = error.suggestion;
        }
    }
}

/// Choices of one decision. An agent that is offered more picks badly, and a
/// person cannot read the graph.
pub(super) const CHOICES: usize = 64;

const NAME_RULE: &str = "use letters, digits, `_` and `-`, and begin with a letter or `_`";

/// Variables that the runner itself gives to every child.
const RESERVED: &str = "WARDIAN_";

/// A word that a template path and an edge can name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// How a value becomes a text, when that is what was meant.
fn quoted(value: &Yaml<'_>) -> Option<String> {
    match &value.data {
        Data::Bool(flag) => Some(format!("write \"{flag}\" with the quotes")),
        Data::Number(number) => Some(format!("write \"{number}\" with the quotes")),
        Data::Map(map) if map.entries.is_empty() || map.entries[0].key_span.is_empty() => None,
        Data::Map(_) => Some("put the whole text in quotes if it begins with `{`".to_owned()),
        Data::Null | Data::Text(_) | Data::List(_) | Data::Refused => None,
    }
}
