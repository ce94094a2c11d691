//! Laws of the usual layout, over front matter written in every way that the
//! YAML of a blueprint can be written in.

use blueprint::{FormatError, check, format, yaml};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::fixtures;

/// Writes YAML; a tape of numbers decides what and how.
struct Pen {
    tape: Vec<u8>,
    at: usize,
    out: String,
    comments: Vec<String>,
    keys: usize,
    /// Blanks and comments may follow on this line.
    open: bool,
    /// How far in a comment on its own line may stand.
    reach: usize,
}

impl Pen {
    fn new(tape: Vec<u8>) -> Self {
        let (out, comments) = (String::new(), Vec::new());
        Self { tape, at: 0, out, comments, keys: 0, open: true, reach: 3 }
    }

    fn pick(&mut self, of: usize) -> usize {
        // The end of the tape says one, which adds nothing anywhere.
        let number = self.tape.get(self.at).copied().unwrap_or(1);
        self.at += 1;
        usize::from(number) % of
    }

    fn blanks(&mut self, most: usize) {
        let count = self.pick(most + 1);
        self.out.push_str(&" ".repeat(count));
    }

    fn comment(&mut self) {
        let text = ["", " a: {b", " - x", " \"", "  it's:  so "][self.pick(5)];
        let comment = format!("#{}.{text}", self.comments.len());
        self.out.push_str(&comment);
        self.comments.push(comment.trim_end().to_owned());
    }

    /// The end of a line, and lines that hold nothing.
    fn end(&mut self, column: usize) {
        if self.open {
            self.blanks(2);
            if self.pick(5) == 0 {
                self.out.push(' ');
                self.comment();
            }
        }
        self.out.push('\n');
        while self.pick(4) == 0 {
            if self.pick(2) == 0 {
                self.blanks(1);
            } else {
                let most = column + self.reach;
                self.blanks(most);
                self.comment();
            }
            self.out.push('\n');
        }
    }

    fn key(&mut self) {
        let name = ["key", "'a b'", "\"q\"", "null", "x.y"][self.pick(5)];
        let number = self.keys;
        let name = match name.strip_suffix(['\'', '"']) {
            Some(name) => format!("{name}{number}{}", &name[..1]),
            None => format!("{name}{number}"),
        };
        self.keys += 1;
        self.out.push_str(&name);
        self.blanks(1);
        self.out.push(':');
    }

    /// A mapping whose first key is the next thing on the line.
    fn map(&mut self, column: usize, deep: usize) {
        for nth in 0..=self.pick(3) {
            if nth > 0 {
                self.end(column);
                self.out.push_str(&" ".repeat(column));
            }
            self.reach = 3;
            self.key();
            self.open = true;
            if self.pick(6) > 0 {
                self.value(column, deep, false);
            }
        }
    }

    fn list(&mut self, column: usize, deep: usize) {
        for nth in 0..=self.pick(3) {
            if nth > 0 {
                self.end(column);
                self.out.push_str(&" ".repeat(column));
            }
            self.reach = 3;
            self.out.push('-');
            self.open = true;
            if self.pick(6) > 0 {
                self.value(column, deep, true);
            }
        }
    }

    /// What a key or dash at `column` holds.
    fn value(&mut self, column: usize, deep: usize, item: bool) {
        let kind = if deep == 0 { 2 + self.pick(5) } else { self.pick(7) };
        let inner = column + 1 + self.pick(4);
        match kind {
            0 | 1 => {
                let mut inner = inner;
                if item && self.pick(3) > 0 {
                    inner = column + 2 + self.pick(3);
                    self.out.push_str(&" ".repeat(inner - column - 1));
                } else {
                    self.end(column);
                    self.out.push_str(&" ".repeat(inner));
                }
                if kind == 0 { self.map(inner, deep - 1) } else { self.list(inner, deep - 1) }
            }
            2 => {
                self.out.push(' ');
                self.blanks(2);
                self.brackets(column, 2);
            }
            3 => self.block_text(column, inner),
            _ => {
                self.out.push(' ');
                self.blanks(2);
                let at = " ".repeat(inner);
                let text = match self.pick(9) {
                    0 => "plain".to_owned(),
                    1 => format!("one  \n{at}two\n\n{at}three"),
                    2 => format!("\"x  \\\n{at}  y\\ \n{at}\\u0041\""),
                    3 => format!("'it''s\n\n{at}more # no'"),
                    4 => "~".to_owned(),
                    5 => "1.50".to_owned(),
                    6 => "a#b: c".replace(": ", ":"),
                    7 => "\"\"".to_owned(),
                    _ => "null".to_owned(),
                };
                self.out.push_str(&text);
            }
        }
    }

    fn block_text(&mut self, column: usize, inner: usize) {
        let style = ["|", ">"][self.pick(2)];
        let chomp = ["", "-", "+"][self.pick(3)];
        let told = self.pick(3) == 0;
        let digit = if told { (inner - column).to_string() } else { String::new() };
        self.out.push_str(&format!(" {style}{chomp}{digit}"));
        if self.pick(4) == 0 {
            self.out.push_str("  ");
            self.comment();
        }
        let lines = self.pick(4);
        for nth in 0..lines {
            let first = if told && self.pick(2) == 0 { "  " } else { "" };
            let line = ["text", "# no", "", "  in", "end  ", "k: [", "\ttab", "    "][self.pick(8)];
            let line = if nth == 0 { line.trim() } else { line };
            let blank = line.is_empty() && first.is_empty();
            let at = if blank { self.pick(inner + 1) } else { inner };
            self.out.push_str(&format!("\n{}{first}{line}", " ".repeat(at)));
        }
        (self.open, self.reach) = (false, 0);
    }

    fn brackets(&mut self, column: usize, deep: usize) {
        let (open, close) = [("{", "}"), ("[", "]")][self.pick(2)];
        self.out.push_str(open);
        for nth in 0..self.pick(4) {
            if nth > 0 {
                self.out.push(',');
            }
            self.break_or_blank(column);
            if open == "{" {
                self.key();
                self.out.push(' ');
            }
            if deep > 0 && self.pick(3) == 0 {
                self.brackets(column, deep - 1);
            } else {
                let text = ["a", "\"b, c\"", "'d}'", "1", "null", "e f"][self.pick(6)];
                self.out.push_str(text);
            }
            self.blanks(1);
        }
        self.break_or_blank(column);
        self.out.push_str(close);
    }

    fn break_or_blank(&mut self, column: usize) {
        self.blanks(2);
        if self.pick(4) == 0 {
            if self.pick(3) == 0 {
                self.out.push(' ');
                self.comment();
            }
            self.out.push('\n');
            if self.pick(4) == 0 {
                self.comment();
                self.out.push_str("\n\n");
            }
            let inner = column + 1 + self.pick(5);
            self.out.push_str(&" ".repeat(inner));
        }
    }
}

/// A front matter, and the comments in it.
fn written(tape: Vec<u8>) -> (String, Vec<String>) {
    let mut pen = Pen::new(tape);
    pen.map(0, 3);
    pen.end(0);
    (pen.out, pen.comments)
}

/// The same with the keys of a blueprint, in any order.
fn shuffled(tape: Vec<u8>) -> (String, Vec<String>) {
    let mut pen = Pen::new(tape);
    let mut keys = vec!["edges", "nodes", "other", "name", "id", "schema"];
    pen.out.push_str("# head\n\n");
    while !keys.is_empty() {
        let at = pen.pick(keys.len());
        let key = keys.swap_remove(at);
        (pen.reach, pen.open) = (3, true);
        pen.out.push_str(&format!("{key}:"));
        pen.value(0, 2, false);
        pen.end(0);
    }
    (pen.out, pen.comments)
}

/// The front matter as a value, if the reader takes it.
fn meaning(front: &str) -> Option<Value> {
    let reading = yaml::read(front, 0..front.len());
    let sound = reading.complete && reading.findings.is_empty();
    if sound { reading.root?.to_json() } else { None }
}

fn laid_out(text: &str) -> String {
    let new = format(text.as_bytes()).unwrap_or_else(|error| panic!("{error:?} in\n{text}"));
    String::from_utf8(new).expect("a layout of text is text")
}

const PROSE: &str = "---\n\n# Prose  \n---\n\n\n\tend";

fn front_of(file: &str) -> &str {
    let front = file.strip_prefix("---\n").and_then(|rest| rest.strip_suffix(PROSE));
    front.expect("the fences and the prose are as they were")
}

fn tapes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 4096, ..ProptestConfig::with_cases(160) })]

    #[test]
    fn a_layout_keeps_values_comments_and_prose_and_is_its_own_layout(tape in tapes()) {
        let (front, comments) = written(tape);
        let value = meaning(&front);
        prop_assume!(value.is_some());
        let new = laid_out(&format!("---\n{front}{PROSE}"));
        prop_assert_eq!(meaning(front_of(&new)), value);
        let mut rest = front_of(&new);
        for comment in &comments {
            let at = rest.find(&format!("{comment}\n"));
            prop_assert!(at.is_some(), "{} is lost from\n{}\nof\n{}", comment, new, front);
            rest = &rest[at.unwrap() + comment.len()..];
        }
        prop_assert_eq!(laid_out(&new), new);
    }

    #[test]
    fn keys_in_any_order_keep_their_values_and_comments(tape in tapes()) {
        let (front, comments) = shuffled(tape);
        let value = meaning(&front);
        prop_assume!(value.is_some());
        let new = laid_out(&format!("---\n{front}{PROSE}"));
        prop_assert_eq!(meaning(front_of(&new)), value);
        prop_assert!(front_of(&new).starts_with("# head\n"));
        for comment in &comments {
            prop_assert_eq!(front_of(&new).matches(&format!("{comment}\n")).count(), 1);
        }
        prop_assert_eq!(laid_out(&new), new);
    }

    #[test]
    fn line_ends_of_windows_make_no_difference(tape in tapes()) {
        let (front, _) = written(tape);
        prop_assume!(meaning(&front).is_some());
        let file = format!("---\n{front}{PROSE}");
        let windows = format!("\u{feff}{}", file.replace('\n', "\r\n"));
        let new = laid_out(&file);
        prop_assert_eq!(laid_out(&windows), format!("\u{feff}{}", new.replace('\n', "\r\n")));
    }
}

#[test]
fn most_of_what_is_written_here_can_be_read() {
    let readable = (0..=255u8).filter(|n| {
        let tape = (0..=200u8).map(|at| n.wrapping_mul(31).wrapping_add(at.wrapping_mul(*n | 1)));
        meaning(&written(tape.collect()).0).is_some()
    });
    assert!(readable.count() > 200);
}

#[test]
fn every_good_file_has_a_layout_with_the_same_graph() {
    for fixture in fixtures("valid") {
        let new =
            format(&fixture.bytes).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let hash = |bytes: &[u8]| check(bytes).program.map(|program| program.hash());
        assert_eq!(hash(&new), hash(&fixture.bytes), "{}", fixture.name);
        assert_eq!(format(&new).unwrap(), new, "{}", fixture.name);
    }
}

#[test]
fn a_bad_file_is_laid_out_or_refused_with_findings() {
    for fixture in fixtures("invalid") {
        match format(&fixture.bytes) {
            Ok(new) => assert_eq!(format(&new).unwrap(), new, "{}", fixture.name),
            Err(FormatError::Unreadable(findings)) => assert!(!findings.is_empty()),
            Err(error) => panic!("{}: {error}", fixture.name),
        }
    }
}
