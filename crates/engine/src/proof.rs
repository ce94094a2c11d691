//! Proven is not claimed. A node may say what must hold once it claims
//! success; the claim is recorded, then the checks are made as work of their
//! own, and only what holds lets the node complete. Here are the words for
//! it, and the judgement over the results.

use blueprint::{Check, PortName};
use durable::Attempt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::words;

/// How what a node says of itself stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Every check held.
    Proven,
    /// An agent says so, and nothing was checked.
    Claimed,
    /// Some check could not be made.
    Unknown,
    /// Some check did not hold.
    Contradicted,
}

words!(Proof {
    Proven => "proven",
    Claimed => "claimed",
    Unknown => "unknown",
    Contradicted => "contradicted",
});

/// One check, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// What was checked, as a line for people.
    pub check: String,
    pub end: CheckEnd,
    /// Why it did not hold, or was not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnd {
    Held,
    Broken,
    Unknown,
}

words!(CheckEnd {
    Held => "held",
    Broken => "broken",
    Unknown => "unknown",
});

/// What one probe of [`crate::ProveTask`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub end: CheckEnd,
    pub note: Option<String>,
}

impl Finding {
    pub fn held() -> Self {
        Self { end: CheckEnd::Held, note: None }
    }

    pub fn broken(note: String) -> Self {
        Self { end: CheckEnd::Broken, note: Some(note) }
    }

    pub fn unknown(note: String) -> Self {
        Self { end: CheckEnd::Unknown, note: Some(note) }
    }
}

/// A node that says that it has done its work, until that is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The way out that it takes then.
    pub port: PortName,
    /// How many times its checks were asked for.
    pub asked: Attempt,
}

/// The code of a failure that the checks have shown.
pub(crate) const CONTRADICTED: &str = "contradicted";

/// Whether the check needs somebody to look at the world.
pub(crate) fn needs_work(check: &Check) -> bool {
    match check {
        Check::Command { .. } | Check::Changed { .. } | Check::File { .. } => true,
        Check::Output { .. } => false,
    }
}

/// The results of all checks: the findings go to those that need work, in
/// their order; the others are judged by the output alone.
pub(crate) fn results(checks: &[Check], output: &Value, findings: &[Finding]) -> Vec<CheckResult> {
    let mut findings = findings.iter().cloned();
    let judge = |check: &Check| {
        let found = match check {
            Check::Output { pointer, equals } => of_output(output, pointer, equals),
            Check::Command { .. } | Check::Changed { .. } | Check::File { .. } => findings
                .next()
                .unwrap_or_else(|| Finding::unknown("nobody says what came of it".to_owned())),
        };
        CheckResult { check: check.told(), end: found.end, note: found.note }
    };
    checks.iter().map(judge).collect()
}

/// What the results prove. What is known to be wrong outweighs what is not
/// known.
pub(crate) fn verdict(results: &[CheckResult]) -> Proof {
    let any = |end: CheckEnd| results.iter().any(|result| result.end == end);
    if any(CheckEnd::Broken) {
        Proof::Contradicted
    } else if any(CheckEnd::Unknown) {
        Proof::Unknown
    } else {
        Proof::Proven
    }
}

/// The checks that ended so, for a message.
pub(crate) fn told(results: &[CheckResult], end: CheckEnd) -> String {
    let of = results.iter().filter(|result| result.end == end);
    let line = |result: &CheckResult| match &result.note {
        Some(note) => format!("{} ({note})", result.check),
        None => result.check.clone(),
    };
    of.map(line).collect::<Vec<_>>().join("; ")
}

fn of_output(output: &Value, pointer: &str, equals: &Value) -> Finding {
    match output.pointer(pointer) {
        Some(found) if same(found, equals) => Finding::held(),
        Some(found) => Finding::broken(format!("it is {}, not {}", gist(found), gist(equals))),
        None => Finding::broken("the output has no such place".to_owned()),
    }
}

/// Equal as JSON: `1` and `1.0` are one number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.as_f64() == other.as_f64() && !(both_whole(one, other)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let there = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|other| same(value, other))
            };
            one.len() == other.len() && one.iter().all(there)
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => one == other,
    }
}

/// Two whole numbers differ by their digits, however large.
fn both_whole(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    let whole = |number: &serde_json::Number| {
        let text = number.to_string();
        text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    whole(one) && whole(other)
}

/// A value as a message shows it.
fn gist(value: &Value) -> String {
    const SHOWN: usize = 80;
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    format!("{} …", text.chars().take(SHOWN).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn held(output: &Value, pointer: &str, equals: &Value) -> bool {
        of_output(output, pointer, equals).end == CheckEnd::Held
    }

    #[test]
    fn an_output_is_compared_as_json() {
        let output =
            json!({ "a": 1, "b": [1.0, "x"], "n": null, "big": 9_007_199_254_740_993_u64 });
        assert!(held(&output, "/a", &json!(1.0)) && held(&output, "/b", &json!([1, "x"])));
        assert!(held(&output, "/n", &Value::Null) && held(&output, "", &output));
        assert!(!held(&output, "/a", &json!("1")) && !held(&output, "/c", &Value::Null));
        assert!(!held(&output, "/big", &json!(9_007_199_254_740_992_u64)));
    }

    #[test]
    fn what_is_wrong_outweighs_what_is_not_known() {
        let result = |end| CheckResult { check: String::new(), end, note: None };
        let of =
            |ends: &[CheckEnd]| verdict(&ends.iter().map(|end| result(*end)).collect::<Vec<_>>());
        assert_eq!(of(&[CheckEnd::Held, CheckEnd::Held]), Proof::Proven);
        assert_eq!(of(&[CheckEnd::Held, CheckEnd::Unknown]), Proof::Unknown);
        assert_eq!(of(&[CheckEnd::Unknown, CheckEnd::Broken]), Proof::Contradicted);
    }
}
