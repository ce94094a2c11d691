//! Keys that say how a run deals with failure and with its limits: `retry`
//! of a node, `deadline` and `budget` of the blueprint.

use durable::{Span, limits};

use super::Sink;
use crate::draft::DraftKey;
use crate::yaml::{Data, Entry, Map, Yaml, shorten};
use crate::{Budget, FailureClass, Retry, Rule, suggest};

const RETRY_KEYS: [&str; 5] = ["attempts", "backoff", "max_backoff", "jitter", "on"];
const RETRY_HELP: &str = "write `retry: 3`, or `retry: { attempts: 3, backoff: 10s }`";
const BUDGET_KEYS: [&str; 4] = ["tokens", "cost_usd", "agent_minutes", "agent_calls"];

/// Waits when the author says nothing of them.
const BACKOFF: Span = Span::from_millis(5_000);
const MAX_BACKOFF: Span = Span::from_millis(300_000);

/// The value of a node's `retry`: attempts in all, or a mapping.
pub(super) fn retry(value: &Yaml<'_>, sink: &mut Sink<'_>) -> Option<Retry> {
    let mut retry = Retry {
        attempts: 0,
        backoff: BACKOFF,
        max_backoff: MAX_BACKOFF,
        jitter: true,
        on: vec![FailureClass::Transient, FailureClass::Bug],
    };
    let map = match &value.data {
        Data::Number(_) => {
            retry.attempts = attempts(value, sink)?;
            return Some(retry);
        }
        Data::Map(map) => map,
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) => {
            let message =
                format!("`retry` must be a number or a mapping, it is {}", value.describe());
            sink.error(Rule::InvalidRetry, &value.span, message).suggest(RETRY_HELP);
            return None;
        }
    };
    let mut sound = known_keys(map, &RETRY_KEYS, "`retry`", sink);
    for entry in &map.entries {
        let read = match &*entry.key {
            "attempts" => attempts(&entry.value, sink).map(|count| retry.attempts = count),
            "backoff" => span(entry, Rule::InvalidRetry, sink).map(|span| retry.backoff = span),
            "max_backoff" => {
                span(entry, Rule::InvalidRetry, sink).map(|span| retry.max_backoff = span)
            }
            "jitter" => flag(entry, sink).map(|flag| retry.jitter = flag),
            "on" => classes(entry, sink).map(|classes| retry.on = classes),
            _ => Some(()),
        };
        sound &= read.is_some();
    }
    if retry.attempts == 0 && sound && !map.partial {
        sink.error(Rule::InvalidRetry, &value.span, "`retry` does not say how many attempts")
            .suggest(RETRY_HELP);
        sound = false;
    }
    if !map.entries.iter().any(|entry| entry.key == "max_backoff") {
        retry.max_backoff = retry.max_backoff.max(retry.backoff);
    }
    sound.then_some(retry)
}

/// The time that a whole run may take.
pub(super) fn deadline(key: DraftKey<'_>, sink: &mut Sink<'_>) -> Option<Span> {
    let text = match &key.value.data {
        Data::Text(text) => text,
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => "",
    };
    let span = text.parse::<Span>().ok().filter(|span| *span != Span::ZERO);
    if span.is_none() {
        let found = key.value.describe();
        let message = format!("`deadline` must be a length of time, it is {found}");
        sink.error(Rule::InvalidTimeout, &key.value.span, message)
            .suggest("write for example `45m`, `6h` or `2d`");
    }
    span
}

/// What a run may spend on agents.
pub(super) fn budget(key: DraftKey<'_>, sink: &mut Sink<'_>) -> Budget {
    let mut budget = Budget::default();
    let help = || format!("the limits are {}", BUDGET_KEYS.join(", "));
    let map = match &key.value.data {
        Data::Map(map) => map,
        Data::Refused => return budget,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => {
            let message = format!("`budget` must be a mapping, it is {}", key.value.describe());
            sink.error(Rule::InvalidBudget, &key.value.span, message).suggest(help());
            return budget;
        }
    };
    known_keys(map, &BUDGET_KEYS, "`budget`", sink);
    if map.entries.is_empty() && !map.partial {
        sink.error(Rule::InvalidBudget, &key.value.span, "`budget` limits nothing").suggest(help());
    }
    for entry in &map.entries {
        match &*entry.key {
            "tokens" => budget.tokens = whole(entry, sink),
            "agent_calls" => budget.agent_calls = whole(entry, sink),
            "agent_minutes" => {
                let millis = decimal(entry, 60_000.0, sink);
                budget.agent_time = millis.map(Span::from_millis);
            }
            "cost_usd" => budget.cost_micros = decimal(entry, 1_000_000.0, sink),
            _ => {}
        }
    }
    budget
}

pub(super) fn known_keys(
    map: &Map<'_>,
    known: &[&'static str],
    what: &str,
    sink: &mut Sink<'_>,
) -> bool {
    let mut sound = true;
    for entry in map.entries.iter().filter(|entry| !known.contains(&&*entry.key)) {
        let near = suggest::did_you_mean(&entry.key, known.iter().copied());
        let message = format!("{what} has no key `{}`", shorten(&entry.key));
        sink.error(Rule::UnknownKey, &entry.key_span, message)
            .suggest(near.unwrap_or_else(|| format!("the keys are {}", known.join(", "))));
        sound = false;
    }
    sound
}

fn attempts(value: &Yaml<'_>, sink: &mut Sink<'_>) -> Option<u32> {
    let number = match &value.data {
        Data::Number(number) => number.as_u64(),
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) | Data::Map(_) => None,
    };
    let most = limits::RETRY_ATTEMPTS;
    let sound = number.filter(|number| (2..=most).contains(number));
    if sound.is_none() {
        let found = value.describe();
        let message = format!("`attempts` must be a whole number from 2 to {most}, it is {found}");
        sink.error(Rule::InvalidRetry, &value.span, message)
            .suggest("it counts the first attempt too; leave `retry` out for a single one");
    }
    sound.and_then(|number| u32::try_from(number).ok())
}

fn span(entry: &Entry<'_>, rule: Rule, sink: &mut Sink<'_>) -> Option<Span> {
    if let Data::Text(text) = &entry.value.data
        && let Ok(span) = text.parse()
    {
        return Some(span);
    }
    if entry.value.data != Data::Refused {
        let message =
            format!("`{}` must be a length of time, it is {}", entry.key, entry.value.describe());
        sink.error(rule, &entry.value.span, message).suggest("write for example `10s` or `5m`");
    }
    None
}

fn flag(entry: &Entry<'_>, sink: &mut Sink<'_>) -> Option<bool> {
    if let Data::Bool(flag) = &entry.value.data {
        return Some(*flag);
    }
    let message =
        format!("`{}` must be `true` or `false`, it is {}", entry.key, entry.value.describe());
    sink.error(Rule::InvalidRetry, &entry.value.span, message);
    None
}

fn classes(entry: &Entry<'_>, sink: &mut Sink<'_>) -> Option<Vec<FailureClass>> {
    let words = || FailureClass::ALL.iter().map(|class| class.word());
    let read = |item: &Yaml<'_>| match &item.data {
        Data::Text(text) => FailureClass::ALL.iter().copied().find(|class| class.word() == text),
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::List(_)
        | Data::Map(_)
        | Data::Refused => None,
    };
    let list = match &entry.value.data {
        Data::List(list) if !list.items.is_empty() => &list.items,
        Data::Refused => return None,
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::Text(_)
        | Data::Map(_)
        | Data::List(_) => {
            sink.error(Rule::InvalidRetry, &entry.value.span, "`on` must be a list of classes")
                .suggest(format!("write some of {}", words().collect::<Vec<_>>().join(", ")));
            return None;
        }
    };
    let mut classes = Vec::new();
    let mut sound = true;
    for item in list {
        match read(item) {
            Some(class) => classes.push(class),
            None => {
                sound = false;
                let message = format!("no failure has the class {}", item.describe());
                sink.error(Rule::InvalidRetry, &item.span, message).suggest(format!(
                    "the classes are {}; an unknown outcome is tried again only with \
                     `repeat: safe`",
                    words().collect::<Vec<_>>().join(", ")
                ));
            }
        }
    }
    sound.then_some(classes)
}

fn whole(entry: &Entry<'_>, sink: &mut Sink<'_>) -> Option<u64> {
    let number = match &entry.value.data {
        Data::Number(number) => number.as_u64().filter(|number| *number > 0),
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) | Data::Map(_) => None,
    };
    if number.is_none() {
        limit(entry, "a whole number above 0", sink);
    }
    number
}

/// A number with a fraction, in units of `1 / scale`.
fn decimal(entry: &Entry<'_>, scale: f64, sink: &mut Sink<'_>) -> Option<u64> {
    let number = match &entry.value.data {
        Data::Number(number) => number.as_f64().filter(|number| *number > 0.0 && *number < 1e9),
        Data::Refused => return None,
        Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) | Data::Map(_) => None,
    };
    if number.is_none() {
        limit(entry, "a number above 0", sink);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and far below 2^53, as checked above"
    )]
    number.map(|number| (number * scale).round() as u64)
}

fn limit(entry: &Entry<'_>, wanted: &str, sink: &mut Sink<'_>) {
    let message = format!("`{}` must be {wanted}, it is {}", entry.key, entry.value.describe());
    sink.error(Rule::InvalidBudget, &entry.value.span, message)
        .suggest("leave the key out for no limit");
}
