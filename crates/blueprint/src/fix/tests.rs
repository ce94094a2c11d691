//! What is mended, what is left, and how it is told.

use super::*;

fn file(front: &str) -> String {
    format!("---\nschema: 2\nid: t\nname: T\n{front}---\nProse.\n")
}

/// The file after its safe changes.
fn mended(text: &str) -> String {
    String::from_utf8(fix(text.as_bytes()).bytes).unwrap()
}

#[track_caller]
fn assert_mended(wrong: &str, right: &str) {
    let fixed = fix(file(wrong).as_bytes());
    assert_eq!(String::from_utf8(fixed.bytes).unwrap(), file(right));
    assert!(fixed.checked.program.is_some(), "{:?}", fixed.checked.findings);
}

const GOOD: &str = "nodes:
  - { id: start, type: manual_trigger }
  - id: work
    type: shell
    fields:
      command: echo {{ nodes.start.output.x | default(1) }} # as it was
edges:
  - { from: start, to: work }
";

#[test]
fn mistyped_words_are_mended_wherever_they_stand() {
    for (right, wrong) in [
        ("edges:", "edgse:"),
        ("fields:", "feilds:"),
        ("command:", "comand:"),
        ("type: shell", "type: shel"),
        ("type: 'shell'", "type: 'Shell'"),
        ("to: work", "to: wrok"),
        ("\"to\": \"work\"", "\"to\": \"wrk\""),
        ("from:", "form:"),
        ("nodes.start", "nodes.strat"),
    ] {
        let plain = right.replace(['\'', '"'], "");
        assert_mended(&GOOD.replacen(&plain, wrong, 1), &GOOD.replacen(&plain, right, 1));
    }
}

#[test]
fn faults_under_a_mistyped_word_are_mended_after_it() {
    let wrong =
        GOOD.replace("nodes:", "noes:").replace("shell", "shel").replace("command", "comand");
    assert_mended(&wrong, GOOD);
}

#[test]
fn an_edge_that_is_there_twice_goes_with_its_line() {
    for twice in ["  - { from: start, to: work }\n", "  - from: start\n    to: work\n"] {
        assert_mended(&format!("{GOOD}{twice}"), GOOD);
    }
    let flow = "edges: [ { from: start, to: work } ]\n";
    let nodes = GOOD.split("edges:").next().unwrap();
    let twice = flow.replace(" ]", ", { from: start, to: work } ]");
    assert_mended(&format!("{nodes}{twice}"), &format!("{nodes}{flow}"));
    let noted = file(&format!("{GOOD}  - {{ from: start, to: work }} # why\n"));
    assert_eq!(mended(&noted), noted, "a comment is not thrown away");
}

#[test]
fn a_file_without_a_format_gets_one() {
    for (end, mark) in [("\n", ""), ("\r\n", "\u{feff}")] {
        let whole = format!("{mark}{}", file(GOOD)).replace('\n', end);
        let bare = whole.replace(&format!("schema: 2{end}"), "");
        let found = lint(bare.as_bytes()).findings;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].severity, found[0].line), (Severity::Warning, 2));
        assert_eq!(mended(&bare), whole);
        assert!(lint(whole.as_bytes()).findings.is_empty());
    }
}

#[test]
fn what_could_mean_two_things_is_left() {
    let two = GOOD
        .replace("id: work", "id: work1")
        .replace("- { id: start", "- { id: work2, type: join }\n  - { id: start");
    let text = file(&two);
    let fixed = fix(text.as_bytes());
    let dangling = fixed.checked.findings.iter().find(|f| f.rule == Rule::DanglingEdge).unwrap();
    assert!(!dangling.fix.as_ref().unwrap().safe);
    assert_eq!(String::from_utf8(fixed.bytes).unwrap(), text);
}

#[test]
fn a_change_that_makes_an_error_is_taken_back() {
    // To say `work` would make the edge one that is there already.
    let twice = file(&format!("{GOOD}  - {{ from: start, to: wokr }}\n"));
    assert_eq!(mended(&twice), twice);
    // To say `work` would make the node read itself.
    let reader = GOOD.replace("nodes.start", "nodes.wrk");
    assert_eq!(mended(&file(&reader)), file(&reader));
}

#[test]
fn a_change_is_told_with_the_lines_that_it_touched() {
    let fixed = fix(file(&GOOD.replace("shell", "shel")).as_bytes());
    let [done] = &fixed.done[..] else { panic!("{:?}", fixed.done) };
    assert_eq!((&done.before[..], &done.after[..]), ("    type: shel\n", "    type: shell\n"));
    let bare = file(GOOD).replace("schema: 2\n", "");
    let done = &fix(bare.as_bytes()).done[0];
    assert_eq!((&done.before[..], &done.after[..]), ("", "schema: 2\n"));
    let twice = file(&format!("{GOOD}  - {{ from: start, to: work }}\n"));
    let done = &fix(twice.as_bytes()).done[0];
    assert_eq!((&done.before[..], &done.after[..]), ("  - { from: start, to: work }\n", ""));
}

#[test]
fn a_file_of_any_bytes_comes_back() {
    for bytes in [&b""[..], b"---\n", b"---\n\xff\n---\n", b"---\n[1\n---\n", b"---\n- 1\n---\n"] {
        let fixed = fix(bytes);
        assert_eq!(fixed.bytes, bytes);
        assert!(fixed.checked.program.is_none());
    }
}
