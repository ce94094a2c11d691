//! `cargo xtask test`: everything that must hold, in order, with the time of
//! each part. It ends at the first part that fails, after showing what that
//! part said.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use crate::cargo::{PROFILE, cargo};
use crate::finding::Finding;
use crate::part::{Outcome, Part, Report, Rules, Verdict, output_of};
use crate::{layers, proofs, tidy, tree};

/// Proof programs with a short form, in order.
const PROOFS: [&str; 4] = ["crash", "kill", "faults", "mutilate"];

pub(crate) fn run() -> Result<ExitCode, String> {
    let root = tree::root();
    let rules = Rules::from_environment();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for part in parts(&root) {
        print!("{:<22}", part.name);
        flush()?;
        let report = part.run(rules);
        println!("{}", line(&report, part.budget));
        for skip in &report.skips {
            println!("  {skip}");
        }
        skipped += report.skips.len();
        if report.verdict == Verdict::Passed {
            passed += 1;
        } else {
            failed += 1;
            println!("{}", report.output.trim_end());
            break;
        }
    }
    if skipped > 0 {
        println!("{skipped} skipped");
    }
    println!("{}", summary(passed, failed));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Cheap and telling parts first. Building stands apart from running, so that
/// budgets count only what the code itself takes.
fn parts(root: &Path) -> Vec<Part<'_>> {
    let mut parts = vec![
        cargo_part(root, "fmt", Some(30), &["fmt", "--all", "--check"], &[]),
        part("layers", Some(10), || Ok(outcome_of(&layers::check(root)?))),
        part("tidy", Some(10), || Ok(outcome_of(&tidy::check(root)?))),
        part("pure crates alone", None, || pure_crates_alone(root)),
        cargo_part(
            root,
            "clippy",
            None,
            &["clippy", "--quiet", "--workspace", "--all-targets"],
            &["--", "--deny", "warnings"],
        ),
        cargo_part(root, "build of programs", None, &proofs::BUILD, &[]),
        cargo_part(root, "build of tests", None, &["test", "--workspace", "--no-run"], &[]),
        cargo_part(
            root,
            "tests",
            Some(240),
            &["test", "--workspace", "--no-fail-fast"],
            // A test that skips says so in its output, which is counted.
            &["--", "--show-output"],
        ),
    ];
    for program in PROOFS.into_iter().filter(|program| proofs::exists(root, program)) {
        parts.push(part(program, Some(180), move || proofs::run_short(root, program)));
    }
    parts
}

fn part<'a>(
    name: &str,
    budget_s: Option<u64>,
    work: impl Fn() -> Result<Outcome, String> + 'a,
) -> Part<'a> {
    let budget = budget_s.map(Duration::from_secs);
    Part { name: name.to_owned(), budget, work: Box::new(work) }
}

fn cargo_part<'a>(
    root: &'a Path,
    name: &str,
    budget_s: Option<u64>,
    args: &'a [&'a str],
    last: &'a [&'a str],
) -> Part<'a> {
    part(name, budget_s, move || {
        let mut command = cargo(root, args);
        if args.first() != Some(&"fmt") {
            command.args(PROFILE);
        }
        command.args(last);
        output_of(command)
    })
}

fn pure_crates_alone(root: &Path) -> Result<Outcome, String> {
    let workspace = crate::metadata::Workspace::read(root)?;
    let mut findings = Vec::new();
    for package in layers::pure_packages(&workspace) {
        findings.extend(layers::builds_alone(root, package)?);
    }
    Ok(outcome_of(&findings))
}

fn outcome_of(findings: &[Finding]) -> Outcome {
    let output = findings.iter().map(|finding| format!("{finding}\n")).collect();
    Outcome { passed: findings.is_empty(), output }
}

fn line(report: &Report, budget: Option<Duration>) -> String {
    let verdict = match report.verdict {
        Verdict::Passed => "ok",
        Verdict::Failed => "FAILED",
        Verdict::OverBudget => "OVER BUDGET",
        Verdict::Skipped => "SKIPPED, but required",
    };
    let budget = budget.map(|budget| format!(" of {} s", budget.as_secs())).unwrap_or_default();
    format!("{verdict} {:.1} s{budget}", report.took.as_secs_f64())
}

fn summary(passed: usize, failed: usize) -> String {
    format!("xtask test: {passed} parts passed, {failed} failed")
}

fn flush() -> Result<(), String> {
    io::stdout().flush().map_err(|error| format!("cannot write: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_runs_code_has_a_budget_and_none_that_builds() {
        let root = tree::root();
        let without: Vec<String> = parts(&root)
            .into_iter()
            .filter(|part| part.budget.is_none())
            .map(|part| part.name)
            .collect();
        assert_eq!(without, ["pure crates alone", "clippy", "build of programs", "build of tests"]);
    }

    #[test]
    fn a_line_says_how_a_part_ended_and_in_what_time() {
        let report = |verdict| Report {
            verdict,
            took: Duration::from_millis(1250),
            skips: Vec::new(),
            output: String::new(),
        };
        assert_eq!(line(&report(Verdict::Passed), None), "ok 1.2 s");
        let over = line(&report(Verdict::OverBudget), Some(Duration::from_secs(1)));
        assert_eq!(over, "OVER BUDGET 1.2 s of 1 s");
        assert_eq!(summary(9, 1), "xtask test: 9 parts passed, 1 failed");
    }

    #[test]
    fn findings_fail_a_part() {
        assert_eq!(outcome_of(&[]), Outcome { passed: true, output: String::new() });
        let found = outcome_of(&[Finding::new("a.rs", 3, "b")]);
        assert_eq!(found, Outcome { passed: false, output: "a.rs:3: b\n".to_owned() });
    }
}
