//! The pages and their examples.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::{check, check_library};

/// Rules whose bad example no page can hold: too much of something, or bytes
/// that are no text.
const NOT_SHOWN: [Rule; 3] = [Rule::TooLarge, Rule::TooMany, Rule::NotUtf8];

/// The blocks of a page that are marked with a word, as whole files.
fn examples(page: &str, mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = page;
    let fence = format!("```yaml {mark}\n");
    while let Some((_, tail)) = rest.split_once(&fence) {
        let (example, tail) = tail.split_once("\n```\n").expect("a block has an end");
        found.push(match example.starts_with('#') || example.starts_with("---") {
            true => format!("{example}\n"),
            false => format!("---\nschema: 2\nid: example\nname: Example\n{example}\n---\n"),
        });
        rest = tail;
    }
    found
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let pages: BTreeSet<String> = PAGES.iter().map(|(rule, _)| rule.code().to_owned()).collect();
    let rules: BTreeSet<String> = Rule::ALL.iter().map(|rule| rule.code().to_owned()).collect();
    assert_eq!(pages, rules, "write explain/<code>.md and name it in the table");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/explain");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let files: BTreeSet<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(files, rules);
    assert_eq!(PAGES.len(), rules.len());
}

#[test]
fn every_page_begins_with_its_code_and_has_its_parts() {
    for (rule, page) in PAGES {
        assert!(page.starts_with(&format!("# {rule}\n\n")), "{rule}");
        assert!(page.contains("\nWrong") && page.contains("\nRight:\n"), "{rule}");
        assert!(page.lines().all(|line| line.trim_end() == line), "{rule}");
    }
}

#[test]
fn every_bad_example_breaks_its_rule_and_no_other() {
    for (rule, page) in PAGES {
        let bad = examples(page, "bad");
        assert_eq!(bad.is_empty(), NOT_SHOWN.contains(rule), "{rule}");
        if *rule == Rule::DuplicateBlueprintId {
            let checked: Vec<_> = bad.iter().map(|text| check(text.as_bytes())).collect();
            assert!(checked.iter().all(|checked| checked.findings.is_empty()));
            let files: Vec<_> = checked.iter().map(|c| ("a.md".to_owned(), c)).collect();
            let found = check_library(&files);
            assert!(found.len() == bad.len() && found.iter().all(|(_, f)| f.rule == *rule));
            continue;
        }
        for text in bad {
            let findings = check(text.as_bytes()).findings;
            let codes: BTreeSet<_> = findings.iter().map(|finding| finding.rule).collect();
            assert_eq!(codes, BTreeSet::from([*rule]), "{text}\n{findings:?}");
        }
    }
}

#[test]
fn every_good_example_has_no_finding() {
    for (rule, page) in PAGES {
        let good = examples(page, "good");
        assert!(!good.is_empty(), "{rule}");
        for text in good {
            let checked = check(text.as_bytes());
            assert!(checked.findings.is_empty(), "{rule}: {:?}", checked.findings);
            assert!(checked.program.is_some(), "{rule}");
        }
    }
}

#[test]
fn a_code_is_found_however_it_is_written() {
    assert_eq!(find("unknown_key"), Ok(Rule::UnknownKey));
    assert_eq!(find(" Unknown-Key "), Ok(Rule::UnknownKey));
    assert_eq!(find("unknwon_key"), Err(Some("unknown_key")));
    assert_eq!(find("weather"), Err(None));
}
