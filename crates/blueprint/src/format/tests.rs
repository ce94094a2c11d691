//! The layout, one habit a test.

use super::*;

fn formatted(front: &str) -> String {
    let file = format!("---\n{front}---\nProse  \n\n\n# end\n");
    let new = format(file.as_bytes()).unwrap_or_else(|error| panic!("{error:?}\n{front}"));
    let new = String::from_utf8(new).unwrap();
    let again = format(new.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), new, "twice is once");
    let front = new.strip_prefix("---\n").unwrap();
    front.strip_suffix("---\nProse  \n\n\n# end\n").unwrap().to_owned()
}

#[track_caller]
fn assert_laid(messy: &str, tidy: &str) {
    assert_eq!(formatted(messy), tidy);
    assert_eq!(formatted(tidy), tidy);
}

#[test]
fn keys_and_items_stand_two_blanks_in() {
    assert_laid(
        "nodes:\n-   id: a\n    fields:\n       x:   1\n-\n    id :  b\nedges:\n    -  c\n    -   - d\n        - e\n",
        "nodes:\n  - id: a\n    fields:\n      x: 1\n  -\n    id: b\nedges:\n  - c\n  - - d\n    - e\n",
    );
}

#[test]
fn brackets_have_one_look() {
    assert_laid(
        "a: {b:   1,c : [ x,  y ], \"d\":2 ,}\ne: {  }\nf: [ ]\ng: {h: , i}\n",
        "a: { b: 1, c: [x, y], \"d\": 2, }\ne: {}\nf: []\ng: { h:, i }\n",
    );
}

#[test]
fn lines_in_brackets_stay_lines() {
    assert_laid(
        "a: {\n      b: 1, # one\n\n\n  c: [\n d,\n     e ]\n   }\nn:\n- {x: 1,\n   y: 2}\n- z: {\n    q: 1\n  }\n",
        "a: {\n  b: 1, # one\n\n  c: [\n    d,\n    e]\n  }\nn:\n  - { x: 1,\n      y: 2 }\n  - z: {\n      q: 1\n    }\n",
    );
}

#[test]
fn at_most_one_line_is_blank_and_none_at_the_ends() {
    assert_laid("\n\na: 1   \n\n\n\nb: 2\n  \n\n", "a: 1\n\nb: 2\n");
}

#[test]
fn texts_stay_as_they_are_written() {
    assert_laid(
        "a: 'it''s'\nb: \"x\\u0041 \\\n     y\"\nc: one\n   two\n\n   three\nd: 012\ne: ~\nf:\n    plain\n",
        "a: 'it''s'\nb: \"x\\u0041 \\\n  y\"\nc: one\n  two\n\n  three\nd: 012\ne: ~\nf:\n  plain\n",
    );
}

#[test]
fn block_texts_keep_their_lines_and_blanks() {
    assert_laid(
        "a:\n    b: |   # why\n          one\n            two  \n\n          three\n    c: >-\n     folded\n     more\n    d: |2\n        first\n      second\n",
        "a:\n  b: |   # why\n    one\n      two  \n\n    three\n  c: >-\n    folded\n    more\n  d: |2\n      first\n    second\n",
    );
    assert_laid(
        "a: |+\n   x\n\n\n\nb: |\n   y\n     \n\n\nc: |+\n\n\n",
        "a: |+\n  x\n\n\n\nb: |\n  y\n    \n\nc: |+\n\n\n",
    );
    assert_laid(
        "a: |\nb: >\n\nc: |-\n  # no comment\n # one\n",
        "a: |\nb: >\n\nc: |-\n  # no comment\n# one\n",
    );
}

#[test]
fn a_comment_stays_with_what_it_is_about() {
    assert_laid(
        "# file\n\n# about id\nid: x   # said\nnodes: # those\n# first\n-  id: a\n    # end of a\n   # end of a too\n# second\n-  id: b\n#  - id: c\n\n # end\nedges: []\n# tail\n",
        "# file\n\n# about id\nid: x   # said\nnodes: # those\n  # first\n  - id: a\n    # end of a\n    # end of a too\n  # second\n  - id: b\n#  - id: c\n\n# end\nedges: []\n# tail\n",
    );
}

#[test]
fn top_level_keys_move_with_their_comments() {
    assert_laid(
        "# file\n\n# the graph\nnodes:\n  - id: a\n  # no more\n\n# the name\nname: N # n\nother: 1\n# who\nid: x\nschema: 2\n# tail\n",
        "# file\n\nschema: 2\n# who\nid: x\n\n# the name\nname: N # n\nother: 1\n# the graph\nnodes:\n  - id: a\n  # no more\n# tail\n",
    );
    // The blank lines are part of the text, so its key stays before them.
    assert_laid("name: |+\n  N\n\nid: x\n", "name: |+\n  N\n\nid: x\n");
    assert_laid("{ name: N, id: x }\n", "{ name: N, id: x }\n");
}

#[test]
fn line_ends_and_a_byte_order_mark_stay() {
    let file = "\u{feff}---\r\nnodes:\r\n- id:  a\r\n  f: |\r\n     x\r\n---\r\nProse\n";
    let tidy = "\u{feff}---\r\nnodes:\r\n  - id: a\r\n    f: |\r\n      x\r\n---\r\nProse\n";
    assert_eq!(format(file.as_bytes()).unwrap(), tidy.as_bytes());
    assert_eq!(format(tidy.as_bytes()).unwrap(), tidy.as_bytes());
}

#[test]
fn what_cannot_be_read_is_refused_with_its_findings() {
    for file in ["", "---\na: [\n---\n", "---\na: 1\na: 2\n---\n", "---\n- 1\n---\n", "---\n---\n"]
    {
        let error = format(file.as_bytes()).unwrap_err();
        let FormatError::Unreadable(findings) = error else { panic!("{file:?}: {error:?}") };
        assert!(!findings.is_empty(), "{file:?}");
    }
}

#[test]
fn what_has_no_other_layout_is_refused_with_its_line() {
    for (file, line) in [
        ("---\na: 1\n? b\n: c\n---\n", 3),
        ("---\na: { ? b : c }\n---\n", 2),
        ("---\na: 1\n...\n---\n", 3),
    ] {
        let error = format(file.as_bytes()).unwrap_err();
        assert!(matches!(error, FormatError::Odd { line: at, .. } if at == line), "{error:?}");
    }
}
