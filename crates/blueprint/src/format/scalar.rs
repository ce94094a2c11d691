//! Texts, which stay as they are written. Of one that runs over several lines
//! only the indentation changes, which is no part of its value.

use std::ops::Range;

use super::layout::{Layout, Level};
use super::page::STEP;

/// The head of a text that begins with `|` or `>`.
struct Header {
    /// Blanks before each line, beyond those of the collection, when the
    /// author says how many.
    indent: Option<usize>,
    /// The line breaks at the end belong to the text.
    keep: bool,
}

impl Layout<'_> {
    /// A plain or quoted text; lines after its first stand at `indent`.
    pub(super) fn leaf(&mut self, span: &Range<usize>, indent: usize) {
        let source = &self.page.text[span.clone()];
        let quoted = source.starts_with(['"', '\'']);
        for (nth, line) in source.split('\n').enumerate() {
            // A blank before the end of a quoted line may be escaped.
            let line = if quoted { line } else { line.trim_end() };
            if nth == 0 {
                self.page.push(line);
                continue;
            }
            let line = line.trim_start_matches([' ', '\t']);
            self.page.line(1, if line.is_empty() { 0 } else { indent });
            self.page.push(line);
        }
        self.page.at = span.end;
    }

    /// A text that begins with `|` or `>`, in a collection at `level`.
    pub(super) fn block_scalar(&mut self, level: Level) {
        let (text, start) = (self.page.text, self.page.at);
        let end = self.page.line_end(start);
        let header = Header::read(&text[start..end]);
        let head = text[start..end].trim_end();
        self.page.push(head);
        if let Some((_, comment)) = head.split_once('#') {
            self.page.note_comment(&format!("#{comment}"));
        }
        self.page.at = end;
        let lines: Vec<&str> = text[end..].split('\n').skip(1).collect();
        let Some(old) = header.indent_in(&lines, level) else { return };
        let new = level.new + header.indent.unwrap_or(STEP);
        let inside = |line: &&&str| is_blank(line) || depth(line) >= old;
        let inside: Vec<&str> = lines.iter().take_while(inside).copied().collect();
        let counts = |line: &&str| !is_blank(line) || line.len() > old;
        // What follows the last line break of the front matter is no line.
        let all = inside.len() - usize::from(inside.len() == lines.len() && !lines.is_empty());
        let count = match inside.iter().rposition(counts) {
            _ if header.keep => all,
            Some(last) => last + 1,
            None => 0,
        };
        for line in &inside[..count] {
            let rest = line.get(old..).unwrap_or("");
            self.page.line(1, if rest.is_empty() { 0 } else { new });
            self.page.push(rest);
            self.page.at += 1 + line.len();
        }
    }
}

impl Header {
    fn read(head: &str) -> Self {
        let signs = head.split([' ', '\t']).next().unwrap_or("");
        let digit = signs.chars().find_map(|c| c.to_digit(10));
        Self { indent: digit.and_then(|n| usize::try_from(n).ok()), keep: signs.contains('+') }
    }

    /// How far in the lines of the text stand; `None` when it has none.
    fn indent_in(&self, lines: &[&str], level: Level) -> Option<usize> {
        if let Some(indent) = self.indent {
            return Some(level.old + indent);
        }
        let first = lines.iter().find(|line| !is_blank(line)).map(|line| depth(line));
        match first.filter(|depth| *depth > level.old) {
            // Line breaks alone are a text when they are kept, blanks are not.
            None if self.keep => Some(usize::MAX),
            other => other,
        }
    }
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ')
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
