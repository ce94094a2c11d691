//! What a turn came to: an answer, or a failure with its code, and what was
//! used and done on the way.

use engine::{Effect, NodeError, Outcome, Usage};
use serde_json::Value;

use super::answer::Answer;
use super::fault::{Course, Fault};
use super::limits::DENIED_TOLD;
use super::wall::WallTime;

/// One turn after its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The answer; JSON when the provider itself checked it by the schema.
    pub result: Result<String, NodeError>,
    /// The provider's own name for the session.
    pub session: Option<String>,
    pub usage: Usage,
    /// All tokens of the session, from providers that tell no less.
    pub session_tokens: Option<u64>,
    /// When the limit that was reached ends.
    pub resets: Option<Reset>,
    /// Tool calls that were refused.
    pub denied: Vec<String>,
    /// Lines that were no JSON, or too long.
    pub unread_lines: u64,
}

/// When a limit ends, as a program tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reset {
    /// Seconds since 1970.
    At(u64),
    /// By the clock of this machine.
    Wall(WallTime),
}

/// What all dialects gather.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) session: Option<String>,
    pub(super) answer: Answer,
    /// A tool was called.
    pub(super) acted: bool,
    /// It is proved that no tool was called.
    pub(super) idle: bool,
    pub(super) denied: Vec<String>,
    pub(super) denied_count: u64,
    pub(super) tokens: Option<u64>,
    pub(super) cost_micros: Option<u64>,
    pub(super) session_tokens: Option<u64>,
    /// The service said that the account's limit is reached.
    pub(super) limited: bool,
    /// When that ends, in seconds since 1970.
    pub(super) resets_at: Option<u64>,
}

/// How a dialect judges the end.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Answer(String),
    Failed { fault: Fault, message: String, definite: bool },
}

impl Seen {
    pub(super) fn deny(&mut self, what: String) {
        self.denied_count += 1;
        if self.denied.len() < DENIED_TOLD && !self.denied.contains(&what) {
            self.denied.push(what);
        }
    }

    /// The first name counts; later events only repeat it.
    pub(super) fn name_session(&mut self, name: Option<&Value>) {
        if let (None, Some(name)) = (&self.session, name.and_then(Value::as_str))
            && !name.is_empty()
            && name.len() <= 200
        {
            self.session = Some(name.to_owned());
        }
    }

    pub(super) fn course(&self, definite: bool) -> Course {
        Course { definite, acted: self.acted }
    }
}

impl Verdict {
    pub(super) fn failed(fault: Fault, message: impl Into<String>) -> Self {
        Self::Failed { fault, message: message.into(), definite: true }
    }

    pub(super) fn unsure(fault: Fault, message: impl Into<String>) -> Self {
        Self::Failed { fault, message: message.into(), definite: false }
    }
}

impl Reading {
    /// What a run takes from it.
    pub fn outcome(self) -> Outcome {
        match self.result {
            Ok(text) => {
                let usage = (self.usage != Usage::default()).then(|| Box::new(self.usage));
                Outcome::Replied { text, session: self.session, usage }
            }
            Err(error) => Outcome::Failed(error),
        }
    }

    pub fn is_uncertain(&self) -> bool {
        self.result.as_ref().is_err_and(|error| error.effect == Effect::Uncertain)
    }
}

/// A number of tokens or a sum of them; nothing when none is told.
pub(super) fn sum(object: Option<&Value>, names: &[&str]) -> Option<u64> {
    let object = object?;
    let counts: Vec<u64> =
        names.iter().filter_map(|name| object.get(name).and_then(Value::as_u64)).collect();
    (!counts.is_empty()).then(|| counts.into_iter().fold(0, u64::saturating_add))
}

/// Dollars as millionths, rounded up so that spending is never told short.
pub(super) fn micros(dollars: Option<&Value>) -> Option<u64> {
    let dollars = dollars?.as_f64().filter(|d| d.is_finite() && *d >= 0.0 && *d < 1e9)?;
    format!("{:.0}", (dollars * 1e6).ceil()).parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_told_is_absent_and_not_zero() {
        let usage = json!({"input_tokens": 5, "output_tokens": 7, "x": 9});
        assert_eq!(sum(Some(&usage), &["input_tokens", "output_tokens"]), Some(12));
        assert_eq!(sum(Some(&usage), &["other"]), None);
        assert_eq!(sum(None, &["x"]), None);
        assert_eq!(micros(Some(&json!(0.0504441))), Some(50_445));
        assert_eq!(micros(Some(&json!(-1))), None);
        assert_eq!(micros(None), None);
    }

    #[test]
    fn the_first_name_of_a_session_stays() {
        let mut seen = Seen::default();
        seen.name_session(Some(&json!("")));
        seen.name_session(Some(&json!("a")));
        seen.name_session(Some(&json!("b")));
        assert_eq!(seen.session.as_deref(), Some("a"));
    }
}
