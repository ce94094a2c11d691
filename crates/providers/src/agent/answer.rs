//! Text that is kept up to a limit: its beginning, with a mark where it was
//! cut, and no character in pieces.

use std::str::Chars;

use super::limits::ANSWER_BYTES;
use crate::cut;

/// The last answer of an agent, whole or in the pieces in which it came.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    /// How many bytes did not fit.
    over: u64,
}

impl Answer {
    pub(super) fn set(&mut self, text: &str) {
        self.text.clear();
        self.over = 0;
        self.push(text);
    }

    pub(super) fn push(&mut self, text: &str) {
        if self.over > 0 {
            self.over += text.len() as u64;
            return;
        }
        let room = ANSWER_BYTES - self.text.len();
        let kept = text.floor_char_boundary(room);
        self.text.push_str(&text[..kept]);
        self.over += (text.len() - kept) as u64;
        // The cut may lie between two pieces of one word as well.
        if self.over > 0 {
            let word = cut::word_at_end(self.text.as_bytes());
            self.text.truncate(self.text.len() - word);
            self.over += word as u64;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(super) fn text(&self) -> String {
        match self.over {
            0 => self.text.clone(),
            over => format!("{}\n[… {over} bytes dropped …]", self.text),
        }
    }
}

/// The first characters of a text on one line, without anything that could
/// move a cursor; cut with a mark.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let (mut count, mut apart) = (0, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars = after_escape(chars);
            continue;
        }
        if c.is_whitespace() || c.is_control() {
            apart = count > 0;
            continue;
        }
        if count + usize::from(apart) >= most {
            return if apart { line + "…" } else { cut::line(line) };
        }
        if apart {
            line.push(' ');
            count += 1;
        }
        line.push(c);
        count += 1;
        apart = false;
    }
    line
}

/// What follows a sequence by which a terminal is told a colour.
fn after_escape(chars: Chars<'_>) -> Chars<'_> {
    let Some(sequence) = chars.as_str().strip_prefix('[') else { return chars };
    let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';');
    let rest = &sequence[end.unwrap_or(sequence.len())..];
    rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest).chars()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_at_a_character_and_says_so() {
        let mut answer = Answer::default();
        let text = "─".repeat(ANSWER_BYTES / 3 + 2);
        answer.push(&text);
        answer.push("more");
        let kept = answer.text();
        let (head, tail) = kept.split_once('\n').unwrap();
        assert!(text.starts_with(head) && head.len() <= ANSWER_BYTES);
        assert_eq!(tail, format!("[… {} bytes dropped …]", text.len() - head.len() + 4));
    }

    #[test]
    fn a_cut_between_two_pieces_goes_through_no_word() {
        let mut answer = Answer::default();
        answer.push(&"a ".repeat(ANSWER_BYTES / 2 - 2));
        answer.push("ghp_");
        answer.push("0123");
        let kept = answer.text();
        let (head, tail) = kept.split_once('\n').unwrap();
        assert!(head.ends_with("a a "), "{:?}", &head[head.len() - 10..]);
        assert_eq!(tail, "[… 8 bytes dropped …]");
    }

    #[test]
    fn a_new_answer_takes_the_place_of_the_old_one() {
        let mut answer = Answer::default();
        answer.set("first");
        answer.set("second");
        answer.push(" part");
        assert_eq!(answer.text(), "second part");
        answer.set(" \n");
        assert!(answer.is_empty());
    }

    #[test]
    fn a_line_for_people_has_no_controls_and_an_end() {
        assert_eq!(one_line("a\n\tb \u{1b}[31mc", 20), "a b c");
        assert_eq!(one_line("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mno\u{1b}", 20), "Error: no");
        assert_eq!(one_line("a bcdef", 3), "a…", "half a word is no word");
        assert_eq!(one_line("abc def", 3), "abc…");
        assert_eq!(one_line("abc", 3), "abc");
        assert_eq!(one_line("", 3), "");
    }
}
