//! The key `prove` of a node: what must hold once it claims success.

use durable::Span;
use serde_json::{Value, json};

use super::policy::known_keys;
use super::values::Reader;
use crate::draft::DraftKey;
use crate::yaml::{Data, Entry, Map, Yaml, shorten};
use crate::{Check, Finding, Glob, Rule};

/// The checks, and as the content hash has them.
#[derive(Debug)]
pub(crate) struct Prove {
    pub(crate) checks: Vec<Check>,
    pub(crate) source: Value,
}

/// Checks of one node; a longer list belongs into a script.
const CHECKS: usize = 16;
const PATHS: usize = 64;
const TIMEOUT: Span = Span::from_secs(600);

/// What is checked, and the further key that goes with it.
const KINDS: [(&str, &str); 4] =
    [("command", "timeout"), ("changed", "paths"), ("file", "contains"), ("output", "equals")];
const KEYS: [&str; 8] =
    ["command", "timeout", "changed", "paths", "file", "contains", "output", "equals"];
const HELP: &str = "write for example `- { command: \"make test\" }`, `- { changed: true }`, \
                    `- { file: report.md, contains: Summary }` or `- { output: /passing, equals: true }`";

pub(super) fn read<'t>(key: DraftKey<'t>, reader: &mut Reader<'_, '_, 't>) -> Option<Prove> {
    let list = match &key.value.data {
        Data::List(list) if !list.items.is_empty() => list,
        Data::Refused => return None,
        Data::List(list) if list.partial => return None,
        Data::List(_) => {
            wrong(reader, key.value, "`prove` checks nothing").suggest(HELP);
            return None;
        }
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::Map(_) => {
            let message =
                format!("`prove` must be a list of checks, it is {}", key.value.describe());
            wrong(reader, key.value, message).suggest(HELP);
            return None;
        }
    };
    if list.items.len() > CHECKS {
        let message = format!("`prove` has {} checks, the most is {CHECKS}", list.items.len());
        reader
            .sink
            .error(Rule::TooMany, key.key_span, message)
            .suggest("let one command run a script that makes them");
        return None;
    }
    let read: Vec<_> = list.items.iter().map(|item| check(item, reader)).collect();
    let (checks, source): (Vec<_>, Vec<_>) =
        read.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
    (!list.partial).then(|| Prove { checks, source: source.into() })
}

fn check<'t>(item: &'t Yaml<'t>, reader: &mut Reader<'_, '_, 't>) -> Option<(Check, Value)> {
    let map = match &item.data {
        Data::Map(map) => map,
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => {
            let message = format!("a check is a mapping, this is {}", item.describe());
            wrong(reader, item, message).suggest(HELP);
            return None;
        }
    };
    let sound = known_keys(map, &KEYS, "a check", reader.sink);
    let kinds: Vec<_> = KINDS.iter().filter(|(kind, _)| map.get(kind).is_some()).collect();
    let (kind, further) = match kinds.as_slice() {
        [(kind, further)] => (*kind, *further),
        // A mistyped word is one fault, not two.
        [] => {
            if sound && !map.partial {
                wrong(reader, item, "this check does not say what it checks").suggest(HELP);
            }
            return None;
        }
        [(one, _), (other, _), ..] => {
            let message = format!("one check has both `{one}` and `{other}`");
            wrong(reader, item, message).suggest("make two checks of it");
            return None;
        }
    };
    let strays = KINDS.iter().filter(|(_, other)| *other != further);
    let stray = strays.filter_map(|(of, key)| Some((of, map.get(key)?))).next();
    if let Some((of, entry)) = stray {
        let message = format!("`{}` belongs to `{of}`, not to `{kind}`", entry.key);
        reader.sink.error(Rule::InvalidProve, &entry.key_span, message).suggest("remove it");
        return None;
    }
    let entry = map.get(kind)?;
    let read = match kind {
        "command" => command(entry, map, reader),
        "changed" => changed(entry, map, reader),
        "file" => file(entry, map, reader),
        _ => output(entry, map, item, reader),
    };
    read.filter(|_| sound)
}

fn command<'t>(
    entry: &'t Entry<'t>,
    map: &'t Map<'t>,
    reader: &mut Reader<'_, '_, 't>,
) -> Option<(Check, Value)> {
    let timeout = match map.get("timeout") {
        Some(entry) => timeout(entry, reader),
        None => Some(TIMEOUT),
    };
    let text = text(entry, reader)?;
    let command = reader.shell(text, &entry.value.span)?;
    let timeout = timeout?;
    let source = json!({ "command": text, "timeout": timeout.to_string() });
    Some((Check::Command { command, timeout }, source))
}

fn timeout(entry: &Entry<'_>, reader: &mut Reader<'_, '_, '_>) -> Option<Span> {
    let span = match &entry.value.data {
        Data::Text(text) => text.parse().ok().filter(|span| *span != Span::ZERO),
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => None,
    };
    if span.is_none() {
        let found = entry.value.describe();
        let message = format!("`timeout` must be a length of time, it is {found}");
        wrong(reader, &entry.value, message).suggest("write for example `90s` or `10m`");
    }
    span
}

fn changed(
    entry: &Entry<'_>,
    map: &Map<'_>,
    reader: &mut Reader<'_, '_, '_>,
) -> Option<(Check, Value)> {
    if entry.value.data != Data::Bool(true) {
        if entry.value.data != Data::Refused {
            let message = format!("`changed` must be `true`, it is {}", entry.value.describe());
            wrong(reader, &entry.value, message)
                .suggest("leave the check out where nothing need change");
        }
        return None;
    }
    let Some(entry) = map.get("paths") else {
        return Some((Check::Changed { paths: Vec::new() }, json!({ "changed": true })));
    };
    let items = match &entry.value.data {
        Data::List(list) if (1..=PATHS).contains(&list.items.len()) => &list.items,
        Data::Refused => return None,
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::Text(_)
        | Data::Map(_)
        | Data::List(_) => {
            let message = format!("`paths` must be a list of 1 to {PATHS} patterns");
            wrong(reader, &entry.value, message).suggest("write for example `paths: [\"src/**\"]`");
            return None;
        }
    };
    let read: Vec<_> = items.iter().map(|item| glob(item, reader)).collect();
    let paths = read.into_iter().collect::<Option<Vec<_>>>()?;
    let texts: Vec<&str> = paths.iter().map(Glob::as_str).collect();
    let source = json!({ "changed": true, "paths": texts });
    Some((Check::Changed { paths }, source))
}

fn glob(item: &Yaml<'_>, reader: &mut Reader<'_, '_, '_>) -> Option<Glob> {
    let message = match &item.data {
        Data::Text(text) => match Glob::new(text) {
            Ok(glob) => return Some(glob),
            Err(fault) => format!("the pattern `{}` {fault}", shorten(text)),
        },
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => {
            format!("a pattern is a text, this is {}", item.describe())
        }
    };
    wrong(reader, item, message)
        .suggest("write a path from the workspace, with `*` and `**` where names may vary");
    None
}

fn file<'t>(
    entry: &'t Entry<'t>,
    map: &'t Map<'t>,
    reader: &mut Reader<'_, '_, 't>,
) -> Option<(Check, Value)> {
    let contains = map.get("contains").map(|entry| {
        let text = text(entry, reader)?;
        Some((text, reader.template(text, &entry.value.span)?))
    });
    let path = text(entry, reader)?;
    let template = reader.template(path, &entry.value.span)?;
    let leads_out = |path: &str| path.starts_with('/') || path.split('/').any(|part| part == "..");
    if template.literal().is_some_and(leads_out) {
        let message = format!("the file `{}` lies outside the workspace", shorten(path));
        wrong(reader, &entry.value, message).suggest("write a path from the workspace");
        return None;
    }
    let mut source = json!({ "file": path });
    let contains = match contains {
        Some(read) => {
            let (text, template) = read?;
            source["contains"] = text.into();
            Some(template)
        }
        None => None,
    };
    Some((Check::File { path: template, contains }, source))
}

fn output(
    entry: &Entry<'_>,
    map: &Map<'_>,
    item: &Yaml<'_>,
    reader: &mut Reader<'_, '_, '_>,
) -> Option<(Check, Value)> {
    let pointer = match &entry.value.data {
        Data::Text(text) if is_pointer(text) => text.to_string(),
        Data::Refused => return None,
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::Text(_)
        | Data::List(_)
        | Data::Map(_) => {
            let message =
                format!("`output` must be a JSON pointer, it is {}", entry.value.describe());
            wrong(reader, &entry.value, message).suggest(
                "write for example `/passing` or `/tests/0/name`; `\"\"` is the whole output",
            );
            return None;
        }
    };
    let Some(equals) = map.get("equals") else {
        if !map.partial {
            wrong(reader, item, "this check does not say what the output must be")
                .suggest("add `equals: ...`");
        }
        return None;
    };
    let equals = equals.value.to_json()?;
    let source = json!({ "output": pointer, "equals": equals });
    Some((Check::Output { pointer, equals }, source))
}

/// RFC 6901: empty, or parts that each begin with `/`, where `~` is `~0`.
fn is_pointer(text: &str) -> bool {
    let escaped = |(at, _): (usize, &str)| matches!(text.as_bytes().get(at + 1), Some(b'0' | b'1'));
    (text.is_empty() || text.starts_with('/')) && text.match_indices('~').all(escaped)
}

fn text<'t>(entry: &'t Entry<'t>, reader: &mut Reader<'_, '_, 't>) -> Option<&'t str> {
    match &entry.value.data {
        Data::Text(text) if !text.trim().is_empty() => return Some(text),
        Data::Refused => {}
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::Text(_)
        | Data::List(_)
        | Data::Map(_) => {
            let found = entry.value.describe();
            let message =
                format!("`{}` must be a text with something in it, it is {found}", entry.key);
            wrong(reader, &entry.value, message);
        }
    }
    None
}

fn wrong<'r>(
    reader: &'r mut Reader<'_, '_, '_>,
    value: &Yaml<'_>,
    message: impl Into<String>,
) -> &'r mut Finding {
    reader.sink.error(Rule::InvalidProve, &value.span, message)
}
