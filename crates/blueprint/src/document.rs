//! A blueprint file as text: where its front matter is, where its prose, and
//! which line and column a byte has. A file that is no blueprint is a finding,
//! never an empty blueprint.

use std::cell::OnceCell;
use std::ops::Range;

use durable::limits;

use crate::{Finding, Rule, Severity};

/// The byte order mark that some editors write first.
const BOM: &str = "\u{feff}";
const FENCE: &str = "---";
/// So far a place is counted from the start while no lines were looked for.
const NEAR: usize = 4096;

/// A file that has front matter.
#[derive(Debug, Clone)]
pub struct Document<'t> {
    text: &'t str,
    front: Range<usize>,
    body: Range<usize>,
}

/// Turns bytes of a text into lines and columns. It looks for the lines once
/// it is asked.
#[derive(Debug, Clone)]
pub struct Lines<'t> {
    text: &'t str,
    starts: OnceCell<Vec<usize>>,
}

impl<'t> Document<'t> {
    /// Finds the front matter of `bytes`.
    #[expect(clippy::result_large_err, reason = "one finding a file, not a hot path")]
    pub fn read(bytes: &'t [u8]) -> Result<Self, Finding> {
        if bytes.len() > limits::BLUEPRINT_BYTES {
            return Err(too_large(bytes.len()));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error))?;
        let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let mut lines = lines_from(text, start);
        let first = lines.next().unwrap_or(start..start);
        if trim_line(&text[first.clone()]) != FENCE {
            return Err(missing_front_matter(text, first));
        }
        let front = first.end;
        for line in lines {
            if trim_line(&text[line.clone()]) == FENCE {
                return Ok(Self { text, front: front..line.start, body: line.end..text.len() });
            }
        }
        Err(unclosed(first))
    }

    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Where the YAML is, without its fences.
    pub fn front(&self) -> Range<usize> {
        self.front.clone()
    }

    /// The prose, without the blank lines before it.
    pub fn body(&self) -> &'t str {
        self.text[self.body.clone()].trim_start_matches(['\r', '\n'])
    }

    pub fn lines(&self) -> Lines<'t> {
        Lines::new(self.text)
    }
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, starts: OnceCell::new() }
    }

    /// Line and column of a byte, each from 1, in characters. The byte order
    /// mark is no character of line 1.
    pub fn place(&self, byte: usize) -> (usize, usize) {
        let byte = byte.min(self.text.len());
        if self.starts.get().is_none()
            && byte < NEAR
            && let Some(head) = self.text.get(..byte)
        {
            let head = head.strip_prefix(BOM).unwrap_or(head);
            let last = head.rsplit('\n').next().unwrap_or("");
            return (head.matches('\n').count() + 1, last.chars().count() + 1);
        }
        let starts = self.starts.get_or_init(|| starts(self.text));
        let line = starts.partition_point(|start| *start <= byte).max(1);
        let start = starts[line - 1];
        let before = self.text.get(start..byte).unwrap_or("");
        (line, before.chars().count() + 1)
    }
}

fn starts(text: &str) -> Vec<usize> {
    let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(start).chain(ends.map(|(at, _)| at + 1)).collect()
}

/// The lines of `text` from byte `from` on, each with its line break.
fn lines_from(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = from;
    text[from..].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

fn trim_line(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

fn error(rule: Rule, span: Range<usize>, message: String) -> Finding {
    Finding::new(rule, Severity::Error, span, message)
}

fn too_large(bytes: usize) -> Finding {
    let most = limits::BLUEPRINT_BYTES;
    let message = format!("the file has {bytes} bytes, a blueprint has at most {most}");
    let mut finding = error(Rule::TooLarge, 0..0, message);
    finding.suggest("keep long texts in files of their own and name them in the prompts");
    finding
}

fn not_utf8(bytes: &[u8], error_at: std::str::Utf8Error) -> Finding {
    let at = error_at.valid_up_to();
    let byte = bytes[at];
    let message = format!("byte {at} is 0x{byte:02x}, which is no UTF-8 text");
    let mut finding = error(Rule::NotUtf8, at..at + 1, message);
    finding.suggest("save the file as UTF-8");
    let valid = std::str::from_utf8(&bytes[..at]).unwrap_or("");
    (finding.line, finding.column) = Lines::new(valid).place(at);
    finding
}

fn missing_front_matter(text: &str, first: Range<usize>) -> Finding {
    let line = trim_line(&text[first.clone()]);
    let span = first.start..first.start + line.len();
    let later = lines_from(text, first.end).find(|l| trim_line(&text[l.clone()]) == FENCE);
    let (message, suggestion) = if line.trim_end() == FENCE {
        ("line 1 is `---` with blanks after it", "remove the blanks after `---`".to_owned())
    } else if line.trim().is_empty() && later.is_some() {
        (
            "line 1 is blank; the front matter must begin there",
            "remove the blank lines before `---`".to_owned(),
        )
    } else if later.is_some() {
        (
            "there is text before the front matter",
            "move it below the line that ends the front matter".to_owned(),
        )
    } else {
        (
            "the file has no front matter",
            "begin the file with a line `---`, then the graph as YAML, then `---`".to_owned(),
        )
    };
    let mut finding = error(Rule::MissingFrontMatter, span, message.to_owned());
    finding.suggest(suggestion);
    finding
}

fn unclosed(first: Range<usize>) -> Finding {
    let message = "the front matter that begins here has no end".to_owned();
    let mut finding =
        error(Rule::UnclosedFrontMatter, first.start..first.start + FENCE.len(), message);
    finding.suggest("write a line that is exactly `---` after the last edge");
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(bytes: &[u8]) -> (Rule, usize, usize) {
        let finding = Document::read(bytes).unwrap_err();
        (finding.rule, finding.line, finding.column)
    }

    #[test]
    fn the_front_matter_ends_at_the_first_line_that_is_exactly_the_fence() {
        let document =
            Document::read(b"---\na: |\n  ---\n --- \n---\n\n\nbody\n---\nmore\n").unwrap();
        assert_eq!(&document.text()[document.front()], "a: |\n  ---\n --- \n");
        assert_eq!(document.body(), "body\n---\nmore\n");
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
        let document = Document::read("\u{feff}---\r\na: 1\r\n---\r\nbody".as_bytes()).unwrap();
        assert_eq!(&document.text()[document.front()], "a: 1\r\n");
        assert_eq!(document.body(), "body");
        assert_eq!(document.lines().place(3), (1, 1));
    }

    #[test]
    fn a_file_may_end_at_the_closing_fence() {
        assert_eq!(Document::read(b"---\n---").unwrap().body(), "");
    }

    #[test]
    fn a_file_without_front_matter_is_never_an_empty_blueprint() {
        for text in ["", "\n---\n---\n", "x\n---\n---\n", "--- \n---\n", "a: 1\n", "----\n"] {
            assert_eq!(fault(text.as_bytes()), (Rule::MissingFrontMatter, 1, 1), "{text:?}");
        }
        assert_eq!(fault(b"---\na: 1\n--- \n").0, Rule::UnclosedFrontMatter);
    }

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_place() {
        assert_eq!(fault(b"---\nid: \xc3\xa9\xff\n---\n"), (Rule::NotUtf8, 2, 6));
        assert_eq!(fault(&vec![b'-'; limits::BLUEPRINT_BYTES + 1]).0, Rule::TooLarge);
    }

    #[test]
    fn columns_count_characters() {
        let lines = Lines::new("é→x\ny");
        assert_eq!(lines.place(5), (1, 3));
        assert_eq!(lines.place(7), (2, 1));
        assert_eq!(lines.place(99), (2, 2));
    }
}
