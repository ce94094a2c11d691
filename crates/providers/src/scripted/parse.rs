//! A script read from its parsed form. Everything that is wrong is reported
//! at once, each with its place; a key that nothing would read is an error.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use durable::Span;
use serde_json::{Map, Value};
use thiserror::Error;

use super::{End, Reply, Script};
use crate::suggest::did_you_mean;

const KEYS: [&str; 11] = [
    "text",
    "json",
    "files",
    "usage",
    "session",
    "exit",
    "error_event",
    "delay",
    "hang",
    "limit",
    "die",
];

/// One thing that is wrong with a script.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}: {message}", if .pointer.is_empty() { "/" } else { .pointer })]
pub struct ScriptError {
    /// Where, as a JSON pointer.
    pub pointer: String,
    pub message: String,
}

impl Script {
    /// Reads `{node: [reply, …]}`.
    pub fn from_value(value: &Value) -> Result<Self, Vec<ScriptError>> {
        let mut errors = Errors(Vec::new());
        let script = read(value, &mut errors);
        match (script, errors.0.is_empty()) {
            (Some(script), true) => Ok(script),
            _ => Err(errors.0),
        }
    }
}

struct Errors(Vec<ScriptError>);

impl Errors {
    fn add(&mut self, pointer: &str, message: impl Into<String>) {
        self.0.push(ScriptError { pointer: pointer.to_owned(), message: message.into() });
    }

    /// Nothing, because of this error.
    fn none<T>(&mut self, pointer: &str, message: impl Into<String>) -> Option<T> {
        self.add(pointer, message);
        None
    }
}

fn read(value: &Value, errors: &mut Errors) -> Option<Script> {
    let Some(map) = value.as_object() else {
        return errors.none("", "a script is a mapping from node ids to lists of replies");
    };
    let mut nodes = BTreeMap::new();
    for (node, list) in map {
        let place = under("", node);
        let Some(list) = list.as_array().filter(|list| !list.is_empty()) else {
            errors.add(&place, "a node has a list of at least one reply");
            continue;
        };
        let replies = list.iter().enumerate();
        let replies = replies.filter_map(|(i, r)| reply(r, &under(&place, &i.to_string()), errors));
        nodes.insert(node.clone(), replies.collect());
    }
    Some(Script { nodes })
}

fn reply(value: &Value, place: &str, errors: &mut Errors) -> Option<Reply> {
    let Some(map) = value.as_object() else {
        return errors.none(place, format!("a reply is a mapping; its keys are {}", listed(&KEYS)));
    };
    unknown_keys(map, &KEYS, place, errors);
    let mut fields = Fields { map, place, errors };
    let files = fields.files();
    let usage = fields.usage();
    let session = fields.text("session").map(str::to_owned);
    let delay = fields.span("delay").unwrap_or(Span::ZERO);
    let end = fields.end()?;
    Some(Reply { files, delay, usage, session, end })
}

/// The keys of one reply, read one by one.
struct Fields<'a> {
    map: &'a Map<String, Value>,
    place: &'a str,
    errors: &'a mut Errors,
}

impl<'a> Fields<'a> {
    /// The value of a key in the form that `form` wants; an error when it is
    /// there in another.
    fn get<T>(
        &mut self,
        key: &str,
        want: &str,
        form: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.map.get(key)?;
        form(value)
            .or_else(|| self.errors.none(&under(self.place, key), format!("`{key}` is {want}")))
    }

    fn text(&mut self, key: &str) -> Option<&'a str> {
        self.get(key, "a text", Value::as_str)
    }

    fn flag(&mut self, key: &str) -> bool {
        self.get(key, "true or false", Value::as_bool).unwrap_or(false)
    }

    fn span(&mut self, key: &str) -> Option<Span> {
        self.get(key, "a length of time such as `90s` or `10m`", span)
    }

    fn files(&mut self) -> BTreeMap<String, String> {
        let want = "a mapping from paths in the workspace to texts";
        let Some(map) = self.get("files", want, Value::as_object) else { return BTreeMap::new() };
        let mut files = BTreeMap::new();
        for (path, content) in map {
            let place = under(&under(self.place, "files"), path);
            if !is_inside(path) {
                let message = "a file is named by a path inside the workspace, \
                               without `..` and without `/` at the start";
                self.errors.add(&place, message);
            }
            if let Some(text) = content.as_str() {
                files.insert(path.clone(), text.to_owned());
            } else {
                self.errors.add(&place, "the content of a file is a text");
            }
        }
        files
    }

    fn usage(&mut self) -> Option<Map<String, Value>> {
        let counts = |value: &Value| {
            value.as_object().filter(|map| map.values().all(Value::is_u64)).cloned()
        };
        self.get("usage", "a mapping from names to whole numbers", counts)
    }

    fn end(&mut self) -> Option<End> {
        let text = self.text("text");
        let json = self.map.get("json");
        let exit = self.get("exit", "an exit code from 0 to 255", |value| {
            value.as_u64().and_then(|code| u8::try_from(code).ok())
        });
        let event = self.text("error_event");
        let limit = self.limit();
        let hang = self.flag("hang");
        let die = self.flag("die");
        self.conflicts(hang, die)?;
        let answer = || match json {
            Some(json) => format!("{json:#}"),
            None => text.unwrap_or_default().to_owned(),
        };
        Some(match (limit, exit.unwrap_or(0), event) {
            _ if hang => End::Hang,
            _ if die => End::Die,
            (Some(resets_in), ..) => End::Limit { resets_in },
            (None, 0, None) => End::Answer(answer()),
            (None, 0, Some(event)) => End::ErrorEvent(event.to_owned()),
            (None, code, event) => {
                End::Exit { code, says: event.map_or_else(answer, str::to_owned) }
            }
        })
    }

    /// Whether there is a limit, and when it resets, if that is known.
    fn limit(&mut self) -> Option<Option<Span>> {
        if self.map.get("limit") == Some(&Value::Bool(true)) {
            return Some(None);
        }
        let map = self.get("limit", "`true` or a mapping with `resets_in`", Value::as_object)?;
        let place = under(self.place, "limit");
        unknown_keys(map, &["resets_in"], &place, self.errors);
        match map.get("resets_in").map(span) {
            Some(Some(span)) => Some(Some(span)),
            Some(None) => {
                let message = "`resets_in` is a length of time such as `90s` or `10m`";
                self.errors.none(&under(&place, "resets_in"), message)
            }
            None => self.errors.none(&place, "`limit` is `true`, or has `resets_in`"),
        }
    }

    /// An agent that says nothing says nothing: keys that would be read for
    /// nothing are an error like any other such key.
    fn conflicts(&mut self, hang: bool, die: bool) -> Option<()> {
        let silent = [("hang", hang), ("die", die), ("limit", self.map.contains_key("limit"))];
        let silent = silent.into_iter().filter(|(_, on)| *on).map(|(key, _)| key);
        let speaks = ["text", "json", "exit", "error_event", "usage", "session"];
        let speaks = speaks.into_iter().filter(|key| self.map.contains_key(*key));
        let silent: Vec<&str> = silent.collect();
        let speaks: Vec<&str> = speaks.collect();
        let pair = match (&silent[..], &speaks[..]) {
            ([first, second, ..], _) | ([first], [second, ..]) => Some((*first, *second)),
            _ if speaks.starts_with(&["text", "json"]) => Some(("text", "json")),
            _ => None,
        };
        match pair {
            None => Some(()),
            Some((first, second)) => {
                let message = format!("a reply has `{first}` or `{second}`, not both");
                self.errors.none(self.place, message)
            }
        }
    }
}

fn unknown_keys(map: &Map<String, Value>, known: &[&str], place: &str, errors: &mut Errors) {
    for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
        let hint = did_you_mean(key, known.iter().copied()).map_or_else(
            || format!("the keys are {}", listed(known)),
            |near| format!("did you mean `{near}`?"),
        );
        errors.add(&under(place, key), format!("unknown key `{key}`; {hint}"));
    }
}

fn span(value: &Value) -> Option<Span> {
    value.as_str()?.parse().ok()
}

fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some()
        && parts.all(|part| matches!(part, Component::Normal(_)))
        && !path.ends_with('/')
        && !path.contains('\0')
}

fn listed(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// A JSON pointer one step further.
fn under(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
