//! What is read the short way is what the parser reads.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::yaml::build;

/// Texts of every kind that front matter is made of, right and wrong.
const SEEDS: &[&str] = &[
    include_str!("../../../tests/fixtures/twenty-faults.md"),
    include_str!("../../../tests/fixtures/valid/every-construct.md"),
    "schema: 2\nid: a\nnodes:\n  - id: x # the first\n    type: task\n    fields:\n      prompt: \"a: b\"\n      n: -5\n  - { id: y, type: join, l: [1, {a: b c}, 'd'], e: {}, f: [] }\n\n# end\nedges:\n- from: x\n  to: y\n- {\"from\":\"x\",\"to\":[],\"é\":{\"a\":-1}}\n",
    "- - a\n  - b: http://x/y#z\n    c: 1.5\n-\n  d: x\n  \"e\":\n  - ~\n  -   f: true\n      g: null\n- 'h'\n",
    "a:\n  - b\n  - 'c # d' \n  -\n    - e\n  # f\n  - g h\nb: >-\n  x\nc: [\n  1]\n",
    "a: b\n  c\nd: \"e\n  f\"\ng:\nh: |\n  i\n",
];

/// Pieces that change what a text means.
const PIECES: &[&str] = &[
    " ", "  ", "\n", "\n  ", "\n    ", "\n- ", "- ", ": ", ":", "#", " # ", "a", "1", "-", ",",
    "{", "}", "[", "]", "\"", "'", "\\", "\t", "?", "|", ">", "&", "*", "!", "%", "@", "---",
    "...", "<<", "~", "é", "\r\n", "\u{feff}", "a: b", "a: ", "\"a\":", "a: b\n", "{a: 1}",
    "[a, b]", ".5", "null", ", ", "{}",
];

fn agrees(text: &str) -> bool {
    let Some(root) = read(text, 0..text.len()) else { return false };
    let reading = build::read(text, 0..text.len());
    assert!(reading.complete && reading.findings.is_empty(), "{text:?}: {:?}", reading.findings);
    assert_eq!(Some(root), reading.root, "{text:?}");
    true
}

fn front(text: &str) -> &str {
    let inside = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    inside.map_or(text, |(front, _)| front)
}

/// A value in flow form.
fn flow() -> impl Strategy<Value = String> {
    let scalar = select(vec!["a", "'b c'", "\"d: e\"", "-1", "x/y:z", "f g", "true", "é", "''"]);
    scalar.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        let key = select(vec!["k: ", "\"l\":", "'m': ", "n o: ", "\"p\": "]);
        let pair = (key, inner.clone()).prop_map(|(key, value)| format!("{key}{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(pair, 0..2).prop_map(|items| format!("{{{}}}", items.join(","))),
        ]
    })
}

/// A value in block form, its lines without the indentation of the whole.
fn block() -> impl Strategy<Value = Vec<String>> {
    let leaf = flow().prop_map(|value| vec![format!("k: {value}")]);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let entry = (0..5_usize, 0..4_usize, inner, flow());
        prop::collection::vec(entry, 1..4).prop_map(|entries| {
            let mut lines = Vec::new();
            let list = entries[0].0 == 0;
            for (at, (style, indent, below, value)) in entries.into_iter().enumerate() {
                let key = if list { "-".to_owned() } else { format!("k{at}:") };
                let blanks = " ".repeat(indent + usize::from(list));
                let mut below = below.into_iter();
                match style {
                    0 | 1 => lines.push(format!("{key} {value}")),
                    2 if list => {
                        let first = below.next().unwrap_or_default();
                        lines.push(format!("-{blanks}{first}"));
                        lines.extend(below.map(|line| format!(" {blanks}{line}")));
                    }
                    2 => lines.extend([format!("{key} # a"), format!("  {blanks}- {value}")]),
                    3 => {
                        lines.extend([key, String::new(), "# b".to_owned()]);
                        lines.extend(below.map(|line| format!("{blanks}{line}")));
                    }
                    _ => {
                        lines.push(format!("{key}  "));
                        lines.extend(below.map(|line| format!(" {blanks}{line}")));
                    }
                }
            }
            lines
        })
    })
}

fn changed(mut text: String, changes: &[(Index, Index, usize)]) -> String {
    for (at, piece, cut) in changes {
        let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        places.push(text.len());
        let start = at.index(places.len());
        let end = (start + cut).min(places.len() - 1);
        text.replace_range(places[start]..places[end], PIECES[piece.index(PIECES.len())]);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_read_the_short_way_is_what_the_parser_reads(
        lines in block(),
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), 0..3_usize), 0..3),
    ) {
        agrees(&changed(lines.join("\n"), &changes));
    }

    #[test]
    fn no_change_of_a_file_makes_the_two_disagree(
        seed in select(SEEDS),
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), 0..4_usize), 1..4),
    ) {
        agrees(&changed(front(seed).to_owned(), &changes));
    }

    #[test]
    fn no_text_of_such_pieces_makes_the_two_disagree(
        pieces in prop::collection::vec(select(PIECES), 0..12),
    ) {
        agrees(&pieces.concat());
    }
}

#[test]
fn front_matter_as_it_is_mostly_written_is_read_the_short_way() {
    for text in [SEEDS[2], SEEDS[3], "a: 1", "\n\n  a: b\n  c: d # e\n\n", "- a\n- b: c\n"] {
        assert!(agrees(text), "{text}");
    }
}

#[test]
fn what_needs_more_than_a_line_is_left_to_the_parser() {
    for text in [
        "",
        "# a\n",
        "a",
        "a: b\n c\n",
        "a: |\n  b\n",
        "a: 'b\n  c'\n",
        "a: \"\\n\"\n",
        "a: 'it''s'\n",
        "a: [\n1]\n",
        "a:\n",
        "a: &b c\n",
        "a: 1\na: 2\n",
        "--- a\n",
        "a: \"b\" # c\n",
        "a:\tb\n",
    ] {
        assert_eq!(read(text, 0..text.len()), None, "{text:?}");
    }
}
