//! One node: its type, its keys and its fields. What the graph around it says
//! is judged elsewhere.

use durable::{Span, limits};

use super::Sink;
use super::compile;
use super::literals;
use super::policy;
use super::prove::{self, Prove};
use super::uses::Uses;
use super::values::{CHOICES, Reader, Values, is_name};
use crate::draft::{DraftKey, DraftNode, Word};
use crate::hash::Source;
use crate::node_type::{self, FieldKind, NodeType, Outputs, Runs};
use crate::program::ERROR;
use crate::yaml::{Data, Entry, Yaml, shorten};
use crate::{AgentTerms, Kind, Mode, OnLimit, Repeat, Retry, Rule, suggest};

/// What could be made of a node.
#[derive(Debug)]
pub(crate) struct Judged<'t> {
    pub(crate) node_type: Option<&'static NodeType>,
    pub(crate) kind: Option<Kind>,
    pub(crate) timeout: Option<Span>,
    pub(crate) repeat: Repeat,
    pub(crate) retry: Option<Retry>,
    pub(crate) on_limit: Option<OnLimit>,
    pub(crate) prove: Option<Prove>,
    /// The fields as the content hash has them.
    pub(crate) fields: Vec<(&'static str, Source<'t>)>,
    pub(crate) outputs: Ports<'t>,
    pub(crate) inputs: Ports<'t>,
}

/// The ports of a node.
#[derive(Debug)]
pub(crate) enum Ports<'t> {
    /// Whatever an edge says is right, since the node itself is wrong.
    Any,
    Known(Vec<&'t str>),
}

pub(super) fn judge<'t>(
    node: &DraftNode<'t>,
    sink: &mut Sink<'_>,
    uses: &mut Uses<'t>,
) -> Judged<'t> {
    if let Some(id) = node.id {
        judge_id(id, sink);
    }
    let node_type = node.node_type.and_then(|word| judge_type(word, sink));
    let mut judged = Judged {
        node_type,
        kind: None,
        timeout: None,
        repeat: node_type.map_or(Repeat::Never, |t| t.repeat.default),
        retry: None,
        on_limit: None,
        prove: None,
        fields: Vec::new(),
        outputs: Ports::Any,
        inputs: Ports::Any,
    };
    let Some(node_type) = node_type else { return judged };
    judged.inputs = Ports::Known(node_type.inputs.to_vec());
    judged.outputs = outputs(node, node_type);
    let Some(runs) = node_type.runs else { return judged };
    judged.timeout = judge_timeout(node, node_type, sink);
    judged.repeat = judge_repeat(node, node_type, sink);
    judged.retry = judge_retry(node, node_type, sink);
    judged.on_limit = judge_on_limit(node, node_type, sink);
    judged.prove = judge_prove(node, node_type, sink, uses);
    if node.fields_refused {
        return judged;
    }
    let mut values = fields(node, node_type, sink, uses);
    judged.fields = std::mem::take(&mut values.canonical);
    if runs == Runs::Wait {
        judge_wait(node, sink);
    }
    judged.kind = compile::kind(runs, &mut values);
    if let Some(kind) = &judged.kind {
        literals::judge(node, kind, sink);
        judge_tools(node, kind, sink);
    }
    let asks_safely = matches!(&judged.kind, Some(Kind::Http(http)) if http.method.is_safe());
    if asks_safely && node.repeat.is_none() {
        judged.repeat = Repeat::Safe;
    }
    judged
}

fn judge_id(id: Word<'_>, sink: &mut Sink<'_>) {
    let message = if id.text.len() > limits::COMPONENT_BYTES {
        let most = limits::COMPONENT_BYTES;
        format!("the id of a node has at most {most} bytes, this one has {}", id.text.len())
    } else if is_name(id.text) {
        return;
    } else {
        format!("no template can name a node with the id `{}`", shorten(id.text))
    };
    sink.error(Rule::InvalidId, id.span, message)
        .suggest("use letters, digits, `_` and `-`, and begin with a letter or `_`");
}

fn judge_type(word: Word<'_>, sink: &mut Sink<'_>) -> Option<&'static NodeType> {
    let Some(node_type) = node_type::find(word.text) else {
        let names = node_type::all().filter(|t| t.supported()).map(|t| t.id);
        let near = suggest::did_you_mean(word.text, node_type::all().map(|t| t.id));
        let list = || format!("the types are {}", names.collect::<Vec<_>>().join(", "));
        let fix = sink.rename(word.span, word.text, node_type::all().map(|t| t.id));
        let message = format!("there is no node type `{}`", shorten(word.text));
        let finding = sink.error(Rule::UnknownNodeType, word.span, message);
        finding.suggest(near.unwrap_or_else(list)).fix(fix);
        return None;
    };
    if !node_type.supported() {
        let message = format!("nodes of type `{}` cannot run yet", node_type.id);
        sink.error(Rule::UnsupportedNodeType, word.span, message)
            .suggest("leave the node out, or use another type");
    }
    Some(node_type)
}

fn outputs<'t>(node: &DraftNode<'t>, node_type: &NodeType) -> Ports<'t> {
    let error = node_type.errors.then_some(ERROR);
    let field = match node_type.outputs {
        Outputs::Fixed(ports) => {
            return Ports::Known(ports.iter().copied().chain(error).collect());
        }
        Outputs::FromField(field) => field,
    };
    let Some(entry) = node.fields.and_then(|fields| fields.get(field)) else { return Ports::Any };
    let Data::List(list) = &entry.value.data else { return Ports::Any };
    let name = |item: &'t Yaml<'t>| match &item.data {
        Data::Text(text) => Some(&**text),
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::List(_)
        | Data::Map(_)
        | Data::Refused => None,
    };
    let names: Option<Vec<_>> = list.items.iter().map(name).collect();
    let sound = |names: &Vec<_>| (1..=CHOICES).contains(&names.len()) && !list.partial;
    let with_error = |names: Vec<&'t str>| Ports::Known(names.into_iter().chain(error).collect());
    names.filter(sound).map_or(Ports::Any, with_error)
}

fn judge_timeout(node: &DraftNode<'_>, node_type: &NodeType, sink: &mut Sink<'_>) -> Option<Span> {
    let key = node.timeout?;
    if !node_type.timeout {
        no_such_key("timeout", key, node_type, |t| t.timeout, sink);
        return None;
    }
    let text = match &key.value.data {
        Data::Text(text) => text,
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => "",
    };
    let span = text.parse::<Span>().ok().filter(|span| *span != Span::ZERO);
    if span.is_none() {
        let message = format!("`timeout` must be a length of time, it is {}", key.value.describe());
        let suggestion = match &key.value.data {
            Data::Number(number) => format!("write the unit: `{number}s` or `{number}m`"),
            Data::Null
            | Data::Bool(_)
            | Data::Text(_)
            | Data::List(_)
            | Data::Map(_)
            | Data::Refused => "write for example `90s`, `10m` or `1h30m`".to_owned(),
        };
        sink.error(Rule::InvalidTimeout, &key.value.span, message).suggest(suggestion);
    }
    span
}

fn judge_repeat(node: &DraftNode<'_>, node_type: &NodeType, sink: &mut Sink<'_>) -> Repeat {
    let default = node_type.repeat.default;
    let Some(key) = node.repeat else { return default };
    if !node_type.repeat.settable {
        no_such_key("repeat", key, node_type, |t| t.repeat.settable, sink);
        return default;
    }
    match &key.value.data {
        Data::Text(text) if text == Repeat::Never.word() => return Repeat::Never,
        Data::Text(text) if text == Repeat::Safe.word() => return Repeat::Safe,
        Data::Refused => return default,
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::Text(_)
        | Data::List(_)
        | Data::Map(_) => {}
    }
    let message = format!("`repeat` must be `never` or `safe`, it is {}", key.value.describe());
    sink.error(Rule::InvalidValue, &key.value.span, message)
        .suggest("write `safe` only when the work may be done twice");
    default
}

fn judge_wait(node: &DraftNode<'_>, sink: &mut Sink<'_>) {
    let has = |id: &str| node.fields.is_some_and(|fields| fields.get(id).is_some());
    let message = match (has("for"), has("until")) {
        (true, true) => "a `wait` waits `for` a time or `until` a moment, not both",
        (false, false) => "this `wait` does not say what it waits for",
        (true, false) | (false, true) => return,
    };
    // Fields that could not be read may be the missing one.
    if node.fields.is_some_and(|fields| fields.partial) {
        return;
    }
    sink.error(Rule::InvalidWait, node.place(), message)
        .suggest("write one of `for: 10m` and `until: 2027-01-31T09:00:00Z`");
}

fn judge_retry(node: &DraftNode<'_>, node_type: &NodeType, sink: &mut Sink<'_>) -> Option<Retry> {
    let key = node.retry?;
    if !node_type.retry {
        no_such_key("retry", key, node_type, |t| t.retry, sink);
        return None;
    }
    policy::retry(key.value, sink)
}

fn judge_on_limit(
    node: &DraftNode<'_>,
    node_type: &NodeType,
    sink: &mut Sink<'_>,
) -> Option<OnLimit> {
    let key = node.on_limit?;
    if !node_type.meets_limits() {
        no_such_key("on_limit", key, node_type, NodeType::meets_limits, sink);
        return None;
    }
    let found = match &key.value.data {
        Data::Text(text) => OnLimit::ALL.iter().copied().find(|one| one.word() == text),
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => None,
    };
    if found.is_none() {
        let message =
            format!("`on_limit` must be `wait` or `fail`, it is {}", key.value.describe());
        sink.error(Rule::InvalidValue, &key.value.span, message);
    }
    found
}

fn judge_prove<'t>(
    node: &DraftNode<'t>,
    node_type: &'static NodeType,
    sink: &mut Sink<'_>,
    uses: &mut Uses<'t>,
) -> Option<Prove> {
    let key = node.prove?;
    if !node_type.prove {
        no_such_key("prove", key, node_type, |t| t.prove, sink);
        return None;
    }
    let asker = uses.reader;
    uses.reader.claims = true;
    let read = prove::read(key, &mut Reader { sink, uses, node_type: node_type.id });
    uses.reader = asker;
    read
}

/// Tools are for `mode: custom`, which is nothing without them.
fn judge_tools(node: &DraftNode<'_>, kind: &Kind, sink: &mut Sink<'_>) {
    let (Kind::Task { terms, .. } | Kind::Decision { terms, .. }) = kind else { return };
    let AgentTerms { mode, tools, .. } = &**terms;
    let key = |id: &str| node.fields.and_then(|fields| fields.get(id));
    let (place, message, help) = match (mode, key("mode"), key("tools")) {
        (Some(Mode::Custom), Some(entry), None) => (
            &entry.value.span,
            "`mode: custom` names no tools",
            "add `tools: [...]`, or use `plan`, `edit` or `full`",
        ),
        (Some(Mode::Custom), _, Some(entry)) if tools.is_empty() => {
            (&entry.value.span, "`tools` is empty", "name a tool, or write `mode: plan`")
        }
        (Some(Mode::Plan | Mode::Edit | Mode::Full) | None, _, Some(entry)) => (
            &entry.key_span,
            "`tools` counts only with `mode: custom`",
            "write `mode: custom`, or remove the tools",
        ),
        (Some(_), ..) | (None, _, None) => return,
    };
    sink.error(Rule::InvalidTools, place, message).suggest(help);
}

fn no_such_key(
    key_name: &str,
    key: DraftKey<'_>,
    node_type: &NodeType,
    has: impl Fn(&NodeType) -> bool,
    sink: &mut Sink<'_>,
) {
    let takers: Vec<_> =
        node_type::all().filter(|t| t.supported() && has(t)).map(|t| t.id).collect();
    let message = format!("a `{}` node has no key `{key_name}`", node_type.id);
    sink.error(Rule::UnknownKey, key.key_span, message)
        .suggest(format!("remove it; it is for {}", takers.join(", ")));
}

fn fields<'t>(
    node: &DraftNode<'t>,
    node_type: &'static NodeType,
    sink: &mut Sink<'_>,
    uses: &mut Uses<'t>,
) -> Values<'t> {
    let entries = node.fields.map_or(&[][..], |fields| &fields.entries);
    let mut values = Values::with_room(entries.len());
    for entry in entries {
        let Some(field) = node_type.field(&entry.key) else {
            let ids = || node_type.fields.iter().map(|field| field.id);
            let near = suggest::did_you_mean(&entry.key, ids());
            let list = || match node_type.fields {
                [] => "remove it; the type has no fields".to_owned(),
                _ => format!("its fields are {}", ids().collect::<Vec<_>>().join(", ")),
            };
            let key = shorten(&entry.key);
            let message = format!("a `{}` has no field `{key}`", node_type.id);
            let absent = ids().filter(|id| !entries.iter().any(|entry| entry.key == *id));
            let fix = sink.rename(&entry.key_span, &entry.key, absent);
            let finding = sink.error(Rule::UnknownField, &entry.key_span, message);
            finding.suggest(near.unwrap_or_else(list)).fix(fix);
            continue;
        };
        let asks_after = node_type.runs == Some(Runs::Loop) && field.kind == FieldKind::Condition;
        uses.reader.after_round = asks_after;
        let mut reader = Reader { sink, uses, node_type: node_type.id };
        if let Some((compiled, canonical)) = reader.read(field, entry) {
            values.put(field.id, compiled, canonical);
        }
    }
    let partial = node.fields.is_some_and(|fields| fields.partial);
    let absent = |id: &str| !entries.iter().any(|entry| entry.key == id);
    for field in node_type.fields.iter().filter(|f| f.required && !partial && absent(f.id)) {
        // A field under a mistyped name is one fault, not two.
        let meant = |e: &Entry<'_>| suggest::closest(&e.key, [field.id]).is_some();
        if entries.iter().filter(|e| node_type.field(&e.key).is_none()).any(meant) {
            continue;
        }
        let message = format!("a `{}` needs the field `{}`", node_type.id, field.id);
        sink.error(Rule::MissingRequiredField, node.place(), message)
            .suggest(format!("add `{}` to its fields: {}", field.id, field.help));
    }
    values
}
