//! One part of `cargo xtask test`: what it does, how long it may take, and how
//! its end is judged.

use std::process::Command;
use std::time::{Duration, Instant};

/// What begins the line of a proof that needs something absent.
pub(crate) const SKIPPED: &str = "SKIPPED needs";

/// A part by name. One that only builds has no budget: how long that takes
/// says nothing about the code.
pub(crate) struct Part<'a> {
    pub(crate) name: String,
    pub(crate) budget: Option<Duration>,
    pub(crate) work: Box<dyn Fn() -> Result<Outcome, String> + 'a>,
}

/// How the work ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: bool,
    pub(crate) output: String,
}

/// What the environment asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    pub(crate) budgets_off: bool,
    pub(crate) proofs_required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    OverBudget,
    /// Something was skipped where nothing may be.
    Skipped,
}

/// A part that was run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
    pub(crate) skips: Vec<String>,
    pub(crate) output: String,
}

impl Rules {
    pub(crate) fn from_environment() -> Self {
        let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
        Self {
            budgets_off: is("WARDIAN_BUDGETS", "off"),
            proofs_required: is("WARDIAN_PROOFS", "required"),
        }
    }
}

impl Part<'_> {
    pub(crate) fn run(&self, rules: Rules) -> Report {
        #[expect(
            clippy::disallowed_methods,
            reason = "a stopwatch for a person; no check depends on the clock of a product crate"
        )]
        let start = Instant::now();
        let outcome =
            (self.work)().unwrap_or_else(|error| Outcome { passed: false, output: error });
        let took = start.elapsed();
        let verdict = judge(&outcome, took, self.budget, rules);
        let skips = skips(&outcome.output).map(str::to_owned).collect();
        Report { verdict, took, skips, output: outcome.output }
    }
}

/// Runs a command to its end and keeps what it says.
pub(crate) fn output_of(mut command: Command) -> Result<Outcome, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program} does not start: {error}"))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        text.push_str(&format!("{program} ended with {}\n", output.status));
    }
    Ok(Outcome { passed: output.status.success(), output: text })
}

fn judge(outcome: &Outcome, took: Duration, budget: Option<Duration>, rules: Rules) -> Verdict {
    if !outcome.passed {
        Verdict::Failed
    } else if rules.proofs_required && skips(&outcome.output).next().is_some() {
        Verdict::Skipped
    } else if !rules.budgets_off && budget.is_some_and(|budget| took > budget) {
        Verdict::OverBudget
    } else {
        Verdict::Passed
    }
}

fn skips(output: &str) -> impl Iterator<Item = &str> {
    output.lines().map(str::trim).filter(|line| line.starts_with(SKIPPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn verdict(passed: bool, output: &str, budget: Option<Duration>, rules: Rules) -> Verdict {
        judge(&Outcome { passed, output: output.to_owned() }, 2 * SECOND, budget, rules)
    }

    #[test]
    fn a_part_passes_within_its_budget_only() {
        let rules = Rules::default();
        assert_eq!(verdict(true, "", None, rules), Verdict::Passed);
        assert_eq!(verdict(true, "", Some(2 * SECOND), rules), Verdict::Passed);
        assert_eq!(verdict(true, "", Some(SECOND), rules), Verdict::OverBudget);
        let rules = Rules { budgets_off: true, ..rules };
        assert_eq!(verdict(true, "", Some(SECOND), rules), Verdict::Passed);
        assert_eq!(verdict(false, "", None, rules), Verdict::Failed);
    }

    #[test]
    fn a_skip_passes_unless_proofs_are_required() {
        let output = "a\n  SKIPPED needs strace\nSKIPPED needs namespaces\n";
        assert_eq!(skips(output).count(), 2);
        assert_eq!(verdict(true, output, None, Rules::default()), Verdict::Passed);
        let rules = Rules { proofs_required: true, ..Rules::default() };
        assert_eq!(verdict(true, output, None, rules), Verdict::Skipped);
        assert_eq!(verdict(true, "nothing skipped", None, rules), Verdict::Passed);
    }

    #[test]
    fn what_a_command_says_is_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let outcome = output_of(command).expect("sh is there");
        assert!(!outcome.passed);
        assert_eq!(outcome.output, "out\nerr\nsh ended with exit status: 3\n");
        assert!(output_of(Command::new("no-such-program-here")).is_err());
    }
}
