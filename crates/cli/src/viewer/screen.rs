//! Drawing lines anew in place, below whatever the terminal showed before.
//! It moves the cursor and nothing else: no other screen, no hidden cursor,
//! no changed mode of the terminal, so that there is nothing to put back
//! however the process ends. Gives the bytes to write. Pure.

use crate::console::Size;
use crate::output::columns;

/// Asks a terminal to show what follows at once. Those that do not know the
/// mode pass over it.
const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";

const CLEAR_LINE: &str = "\u{1b}[2K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// What stands above the cursor, which is at the beginning of the row below.
#[derive(Debug, Default)]
pub(super) struct Screen {
    drawn: Vec<String>,
    columns: usize,
}

impl Screen {
    /// Draws the lines in the place of those drawn before; `None` when they
    /// are the same.
    pub(super) fn draw(&mut self, lines: Vec<String>, size: Size) -> Option<String> {
        if lines == self.drawn && size.columns == self.columns {
            return None;
        }
        let mut bytes = format!("{BEGIN}{}", self.to_top(size));
        for line in &lines {
            // A line that wraps stands on rows that hold old text as well.
            let wraps = columns::width(line) >= size.columns;
            bytes.push_str(if wraps { CLEAR_BELOW } else { CLEAR_LINE });
            bytes.push_str(line);
            bytes.push('\n');
        }
        bytes.push_str(CLEAR_BELOW);
        bytes.push_str(END);
        (self.drawn, self.columns) = (lines, size.columns);
        Some(bytes)
    }

    /// Leaves what was drawn as it is.
    pub(super) fn forget(&mut self) {
        self.drawn.clear();
    }

    /// Takes away what was drawn, and leaves its place to others.
    pub(super) fn clear(&mut self, size: Size) -> Option<String> {
        if self.drawn.is_empty() {
            return None;
        }
        let bytes = format!("{}{CLEAR_BELOW}", self.to_top(size));
        self.drawn.clear();
        Some(bytes)
    }

    /// Draws the lines a last time; they stay, and are nobody's any more.
    pub(super) fn leave(&mut self, lines: &[String], size: Size) -> String {
        let mut bytes = format!("{BEGIN}{}{CLEAR_BELOW}", self.to_top(size));
        for line in lines {
            bytes.push_str(line);
            bytes.push('\n');
        }
        bytes.push_str(END);
        self.drawn.clear();
        bytes
    }

    /// From the row below to the first row. When a terminal became narrower
    /// its lines were wrapped, so that they take more rows than before.
    fn to_top(&self, size: Size) -> String {
        let rows: usize = self.drawn.iter().map(|line| columns::rows(line, size.columns)).sum();
        match rows.min(size.rows.saturating_sub(1)) {
            0 => "\r".to_owned(),
            rows => format!("\r\u{1b}[{rows}A"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { columns: 10, rows: 5 };

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_frame_is_drawn_over_the_one_before() {
        let mut screen = Screen::default();
        let first = screen.draw(lines(&["a", "b"]), SIZE).unwrap();
        assert_eq!(first, "\u{1b}[?2026h\r\u{1b}[2Ka\n\u{1b}[2Kb\n\u{1b}[J\u{1b}[?2026l");
        let second = screen.draw(lines(&["c"]), SIZE).unwrap();
        assert!(second.starts_with("\u{1b}[?2026h\r\u{1b}[2A\u{1b}[2Kc\n"), "{second:?}");
    }

    #[test]
    fn the_same_frame_is_not_written_twice() {
        let mut screen = Screen::default();
        assert!(screen.draw(lines(&["a"]), SIZE).is_some());
        assert!(screen.draw(lines(&["a"]), SIZE).is_none());
        let narrower = Size { columns: 9, ..SIZE };
        assert!(screen.draw(lines(&["a"]), narrower).is_some());
    }

    #[test]
    fn lines_that_wrap_count_for_all_their_rows() {
        let mut screen = Screen::default();
        screen.draw(lines(&["0123456789abc", "x"]), SIZE).unwrap();
        assert_eq!(screen.to_top(SIZE), "\r\u{1b}[3A");
        assert_eq!(screen.to_top(Size { columns: 5, ..SIZE }), "\r\u{1b}[4A");
        assert_eq!(screen.to_top(Size { columns: 5, rows: 3 }), "\r\u{1b}[2A");
    }

    #[test]
    fn what_was_left_is_not_touched_again() {
        let mut screen = Screen::default();
        screen.draw(lines(&["a"]), SIZE).unwrap();
        let bytes = screen.leave(&lines(&["last"]), SIZE);
        assert!(bytes.contains("\u{1b}[1A\u{1b}[Jlast\n"), "{bytes:?}");
        assert!(screen.clear(SIZE).is_none());
        assert!(!screen.draw(lines(&["new"]), SIZE).unwrap().contains('A'));
    }
}
