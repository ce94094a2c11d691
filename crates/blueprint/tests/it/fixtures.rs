//! For every rule a file that breaks it and a close one that does not.

use std::collections::BTreeMap;

use blueprint::check::check_library;
use blueprint::{Program, Rule, check};

use crate::support::{Fixture, fixture, fixtures, render};

/// Rules whose bad file is too large to keep, and that file.
fn made() -> Vec<Fixture> {
    let many = "  - { id: n, type: join }\n".repeat(durable::limits::NODES + 1);
    let many = format!("---\nid: many\nname: Many\nnodes:\n{many}---\n");
    let large = format!("---\nid: large\n---\n{}", "x".repeat(durable::limits::BLUEPRINT_BYTES));
    [("too_large", large), ("too_many", many)]
        .map(|(name, text)| Fixture { name: name.to_owned(), bytes: text.into_bytes() })
        .into()
}

#[test]
fn the_findings_of_every_bad_file_are_these() {
    for Fixture { name, bytes } in fixtures("invalid") {
        insta::assert_snapshot!(name.as_str(), render(&bytes, &check(&bytes)));
    }
}

#[test]
fn every_rule_fires_on_its_bad_file_and_nothing_else_does() {
    let mut bad: BTreeMap<String, Vec<u8>> =
        fixtures("invalid").into_iter().chain(made()).map(|f| (f.name, f.bytes)).collect();
    for rule in Rule::ALL.iter().filter(|rule| **rule != Rule::DuplicateBlueprintId) {
        let bytes = bad.remove(rule.code()).unwrap_or_else(|| panic!("no bad file for {rule}"));
        let findings = check(&bytes).findings;
        assert!(!findings.is_empty(), "{rule} does not fire");
        if *rule == Rule::TooMany {
            // Two thousand nodes with one id are faults of their own.
            assert!(findings.iter().any(|finding| finding.rule == *rule));
            continue;
        }
        for finding in findings {
            assert_eq!(finding.rule, *rule, "{finding}");
        }
    }
    assert_eq!(bad.keys().collect::<Vec<_>>(), ["duplicate_blueprint_id"]);
}

#[test]
fn no_rule_fires_on_a_good_file_and_each_rule_has_one() {
    let good = fixtures("valid");
    for Fixture { name, bytes } in &good {
        let checked = check(bytes);
        assert!(checked.findings.is_empty(), "{name}: {:?}", checked.findings);
        let program = checked.program.expect("a file without findings is a program");
        let again = Program::from_snapshot(&program.snapshot()).unwrap();
        assert_eq!(format!("{again:?}"), format!("{program:?}"), "{name}");
    }
    let names: Vec<_> = good.iter().map(|fixture| fixture.name.as_str()).collect();
    // The good files next to the limits would be as large as the bad ones.
    let large = [Rule::TooLarge, Rule::TooMany];
    for rule in Rule::ALL.iter().filter(|rule| !large.contains(rule)) {
        assert!(names.contains(&rule.code()), "no good file for {rule}");
    }
}

#[test]
fn two_files_of_a_library_with_one_id_are_both_reported() {
    let labels = ["a.md", "b.md", "c.md"];
    let files = [
        check(&fixture("valid/duplicate_node_id.md")),
        check(&fixture("valid/duplicate_blueprint_id.md")),
        check(&fixture("invalid/duplicate_blueprint_id.md")),
    ];
    let pairs: Vec<_> = labels.iter().map(|l| (*l).to_owned()).zip(&files).collect();
    let found = check_library(&pairs);
    let shown: Vec<_> = found.iter().map(|(at, f)| format!("{at} {f}")).collect();
    insta::assert_snapshot!(shown.join("\n"));
    assert!(check_library(&pairs[..2]).is_empty());
}

#[test]
fn a_file_with_twenty_faults_tells_all_of_them_at_once() {
    let bytes = fixture("twenty-faults.md");
    let checked = check(&bytes);
    assert!(checked.findings.len() >= 20);
    assert_eq!(checked.omitted, 0);
    insta::assert_snapshot!(render(&bytes, &checked));
}
