//! One line of the result, and how it is judged.

use serde_json::{Value, json};

use crate::measure::Samples;

/// A base whose own samples lie further apart than this says nothing about
/// what is compared with it.
const STEADY: f64 = 0.2;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    name: &'static str,
    unit: &'static str,
    value: f64,
    /// The most that passes.
    limit: f64,
    /// The value as a multiple of the base, or of the limit where there is
    /// no base.
    ratio: f64,
    verdict: Verdict,
    /// What the limit is made of, or what is missing.
    note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    /// It could not be measured, or the base was too unsteady.
    Skipped,
}

impl Row {
    /// A time of at most so many times that of the base.
    pub(crate) fn times(
        name: &'static str,
        subject: f64,
        most: f64,
        base: (&str, f64),
        spread: f64,
    ) -> Self {
        let (base_name, base) = base;
        let ratio = subject / base;
        let verdict = judge(ratio <= most, spread);
        let note = format!("at most {most} x {base_name}, {base:.3}±{:.0} %", spread * 100.0);
        Self { name, unit: "ms", value: subject, limit: most * base, ratio, verdict, note }
    }

    /// The same, of samples.
    pub(crate) fn compared(
        name: &'static str,
        subject: &Samples,
        most: f64,
        (base_name, base): (&str, &Samples),
    ) -> Self {
        Self::times(name, subject.median(), most, (base_name, base.median()), base.spread())
    }

    /// A number of at most so much. `spread` is of what it was measured by,
    /// and 0 for what was counted.
    pub(crate) fn at_most(
        name: &'static str,
        unit: &'static str,
        value: f64,
        limit: f64,
        spread: f64,
    ) -> Self {
        let verdict = judge(value <= limit, spread);
        Self { name, unit, value, limit, ratio: value / limit, verdict, note: String::new() }
    }

    pub(crate) fn skipped(name: &'static str, why: &str) -> Self {
        Self::without_value(name, Verdict::Skipped, why)
    }

    /// What could not be measured because something ended badly.
    pub(crate) fn failed(name: &'static str, why: &str) -> Self {
        Self::without_value(name, Verdict::Fail, why)
    }

    fn without_value(name: &'static str, verdict: Verdict, why: &str) -> Self {
        let (value, limit, ratio) = (0.0, 0.0, 0.0);
        Self { name, unit: "", value, limit, ratio, verdict, note: why.to_owned() }
    }

    #[must_use]
    pub(crate) fn noted(self, note: &str) -> Self {
        Self { note: note.to_owned(), ..self }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub(crate) const HEAD: &'static str =
        "name                                  value         limit   ratio  verdict";

    pub(crate) fn line(&self) -> String {
        let Self { name, unit, value, limit, ratio, verdict, note } = self;
        let number = |number: f64| format!("{number:.3} {unit}");
        let (value, limit, word) = (number(*value), number(*limit), verdict.word());
        format!("{name:<31} {value:>12}  {limit:>12}  {ratio:>6.2}  {word:<7}  {note}")
            .trim_end()
            .to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        let Self { name, unit, value, limit, ratio, verdict, note } = self;
        json!({
            "name": name, "unit": unit, "value": value, "limit": limit, "ratio": ratio,
            "verdict": verdict.word(), "note": note,
        })
    }
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skipped => "skipped",
        }
    }
}

fn judge(holds: bool, spread: f64) -> Verdict {
    match (holds, spread < STEADY) {
        (true, _) => Verdict::Pass,
        (false, true) => Verdict::Fail,
        (false, false) => Verdict::Skipped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(subject: f64, spread: f64) -> Verdict {
        Row::times("a", subject, 2.0, ("b", 10.0), spread).verdict()
    }

    #[test]
    fn a_limit_is_kept_or_not_and_only_a_steady_base_can_fail_it() {
        assert_eq!(verdict(20.0, 0.0), Verdict::Pass);
        assert_eq!(verdict(20.1, 0.0), Verdict::Fail);
        assert_eq!(verdict(20.1, 0.3), Verdict::Skipped);
        assert_eq!(verdict(20.0, 0.3), Verdict::Pass);
        assert_eq!(Row::at_most("a", "", 1.0, 1.0, 0.0).verdict(), Verdict::Pass);
        assert_eq!(Row::at_most("a", "", 1.1, 1.0, 0.0).verdict(), Verdict::Fail);
    }

    #[test]
    fn a_line_says_name_value_limit_ratio_and_verdict() {
        let line = Row::times("chain", 15.0, 2.0, ("floor", 10.0), 0.05).line();
        let words: Vec<&str> = line.split_whitespace().take(7).collect();
        assert_eq!(words, ["chain", "15.000", "ms", "20.000", "ms", "1.50", "pass"]);
    }
}
