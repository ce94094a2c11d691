//! Findings of files of every kind, as people see them.

use std::path::PathBuf;

use host::api::{CheckedSource, Finding, Rule, Severity, Source};

use super::*;

const LOOK: Look = Look { style: Style::PLAIN, width: 100 };

/// A finding at the first place of `needle`.
fn at(source: &[u8], needle: &[u8], message: &str) -> Finding {
    let start = source.windows(needle.len()).position(|found| found == needle).unwrap();
    let before = &source[..start];
    let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    Finding {
        rule: Rule::UnknownOutputPort,
        severity: Severity::Error,
        message: message.to_owned(),
        suggestion: None,
        node: None,
        span: start..start + needle.len(),
        line: 1 + before.iter().filter(|b| **b == b'\n').count(),
        column: 1 + String::from_utf8_lossy(&source[line_start..start]).chars().count(),
        related: Vec::new(),
        fix: None,
    }
}

fn checked(source: &[u8], findings: Vec<Finding>) -> CheckedSource {
    CheckedSource {
        source: Source { path: PathBuf::from("x.md"), bytes: source.to_vec() },
        blueprint_id: None,
        name: None,
        findings,
        omitted: 0,
        ok: false,
    }
}

fn show(source: &[u8], findings: Vec<Finding>) -> String {
    render(&checked(source, findings), "x.md", LOOK)
}

#[test]
fn a_finding_shows_its_place_its_relations_and_the_way_out() {
    let source =
        b"---\nnodes:\n  - id: triage\n    type: decision\nedges:\n  - triage.fixx -> patch\n---\n";
    let mut finding = at(source, b"fixx", "`triage` has no port `fixx`");
    finding.suggestion = Some("did you mean `fix`?".to_owned());
    finding.related = vec![(at(source, b"triage", "").span, "it declares: fix, skip".to_owned())];
    insta::assert_snapshot!(show(source, vec![finding]));
}

#[test]
fn many_findings_stand_apart_and_are_counted() {
    let source = b"---\na: 1\nb: 2\n---\n";
    let mut warning = at(source, b"b", "nothing reads `b`");
    warning.severity = Severity::Warning;
    let mut checked = checked(source, vec![at(source, b"a", "nothing reads `a`"), warning]);
    insta::assert_snapshot!(render(&checked, "x.md", LOOK));
    assert_eq!(summary(&checked).as_deref(), Some("1 error, 1 warning"));
    checked.omitted = 3;
    assert_eq!(summary(&checked).as_deref(), Some("1 error, 1 warning, 3 more not shown"));
    checked.findings.clear();
    checked.omitted = 0;
    assert_eq!(summary(&checked), None);
}

#[test]
fn characters_of_many_bytes_are_underlined_where_they_are() {
    let source = "---\nname: Grüße 世界 é\nid: ünfug\n---\n".as_bytes();
    let findings =
        vec![at(source, "世界".as_bytes(), "wide"), at(source, "ünfug".as_bytes(), "an id")];
    insta::assert_snapshot!(show(source, findings));
}

#[test]
fn files_of_other_systems_look_the_same() {
    let source = b"\xef\xbb\xbf---\r\nid: a b\r\n---\r\n";
    insta::assert_snapshot!(show(source, vec![at(source, b"a b", "an id")]));
}

#[test]
fn tabs_do_not_shift_the_marks() {
    let source = b"---\nnodes:\n\t- id: a\n---\n";
    insta::assert_snapshot!(show(
        source,
        vec![at(source, b"\t", "a tab"), at(source, b"a\n", "an id")]
    ));
}

#[test]
fn what_a_terminal_acts_upon_is_shown_and_not_sent() {
    let source = b"---\nid: \x1b[2J\xc2\x9b31m\xe2\x80\xae\x00\rx\n---\n";
    let mut finding = at(source, b"\x1b[2J", "`\u{1b}[2J` is no id");
    finding.suggestion = Some("not \u{1b}]0;x\u{7}".to_owned());
    finding.related = vec![(0..3, "\u{9b}label".to_owned())];
    let shown = show(source, vec![finding]);
    assert!(!shown.contains(|c| c != '\n' && crate::output::escape::is_dangerous(c)), "{shown:?}");
    insta::assert_snapshot!(shown);
}

#[test]
fn bytes_that_are_no_text_are_numbers() {
    let source = b"---\nname: caf\xe9 \xff\xfe\n---\n";
    let mut finding = at(source, b"\xe9", "byte 10 of the line is not UTF-8");
    finding.rule = Rule::NotUtf8;
    let after = at(source, b"\xfe", "the column counts what the file has");
    insta::assert_snapshot!(show(source, vec![finding, after]));
}

#[test]
fn places_at_the_edges_of_a_file_can_be_shown() {
    for source in [&b""[..], b"x", b"x\n", b"\n\n", b"\xff"] {
        for span in [0..0, 0..source.len(), source.len()..source.len(), 7..9, 0..100] {
            let mut finding = at(b"x", b"x", "edge");
            finding.span = span.clone();
            finding.related = vec![(span, "here".to_owned())];
            let shown = show(source, vec![finding]);
            assert!(shown.contains("edge"), "{shown}");
        }
    }
}

#[test]
fn places_far_apart_are_shown_apart() {
    let mut source = b"---\nfirst: 1\n".to_vec();
    for line in 0..1000 {
        source.extend(format!("key{line}: {line}\n").bytes());
    }
    source.extend(b"first: 2\n---\n");
    let mut finding = at(&source, b"first: 2", "the key `first` stands here twice");
    finding.related = vec![(4..9, "the first one".to_owned())];
    insta::assert_snapshot!(show(&source, vec![finding]));
}

#[test]
fn color_is_only_added_when_wanted() {
    let source = b"---\na: 1\n---\n";
    let checked = checked(source, vec![at(source, b"a", "nothing reads `a`")]);
    let styled = Look { style: Style { color: true, unicode: true }, width: 100 };
    assert!(render(&checked, "x.md", styled).contains('\u{1b}'));
    assert!(!render(&checked, "x.md", LOOK).contains('\u{1b}'));
}
