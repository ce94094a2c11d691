//! Text by the columns that it takes on a terminal: wide characters take
//! two, marks over letters none, and our own colors none. Pure.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::style::{Paint, Style};

/// Characters that are looked at for each column, at most: marks without
/// width must not make a line endless.
const CHARS_PER_COLUMN: usize = 4;

/// A line that never takes more than its room. What is put into it has been
/// escaped.
#[derive(Debug)]
pub(crate) struct Line {
    style: Style,
    text: String,
    room: usize,
}

impl Line {
    pub(crate) fn new(style: Style, columns: usize) -> Self {
        Self { style, text: String::new(), room: columns }
    }

    /// The columns that are left.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Adds a text, cut to what is left.
    pub(crate) fn plain(&mut self, text: &str) {
        let text = fit(text, self.room, self.style);
        self.room -= width(&text).min(self.room);
        self.text.push_str(&text);
    }

    /// The same in a color.
    pub(crate) fn paint(&mut self, paint: Paint, text: &str) {
        let text = fit(text, self.room, self.style);
        self.room -= width(&text).min(self.room);
        self.text.push_str(&self.style.paint(paint, &text));
    }

    /// Adds a text that has its colors already, whole or not at all.
    pub(crate) fn whole(&mut self, text: &str) {
        let columns = width(text);
        if columns <= self.room {
            self.room -= columns;
            self.text.push_str(text);
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text.trim_end().to_owned()
    }
}

/// The columns that a line takes.
pub(crate) fn width(line: &str) -> usize {
    if !line.contains('\u{1b}') {
        return taken(line);
    }
    // Our own colors, `ESC [ … m`; everybody else's were escaped.
    let mut parts = line.split('\u{1b}');
    let first = taken(parts.next().unwrap_or_default());
    first + parts.map(|part| part.split_once('m').map_or(0, |(_, rest)| taken(rest))).sum::<usize>()
}

/// The rows that a line takes on a terminal so wide.
pub(crate) fn rows(line: &str, columns: usize) -> usize {
    width(line).div_ceil(columns.max(1)).max(1)
}

/// The text padded with spaces to a width, or cut to it.
pub(crate) fn pad(text: &str, columns: usize, style: Style) -> String {
    let text = fit(text, columns, style);
    let spaces = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(spaces))
}

/// As much of the text as fits; what was cut is marked.
pub(crate) fn fit(text: &str, columns: usize, style: Style) -> String {
    let most = columns.saturating_mul(CHARS_PER_COLUMN);
    let is_long = text.char_indices().nth(most).is_some();
    if !is_long && taken(text) <= columns {
        return text.to_owned();
    }
    let mark = style.sign("…", "...");
    if columns <= mark.width() {
        return mark.chars().take(columns).collect();
    }
    let mut kept = longest(text, columns - mark.width(), most).trim_end().to_owned();
    kept.push_str(mark);
    kept
}

/// The longest beginning that takes at most so many columns.
fn longest(text: &str, columns: usize, most: usize) -> &str {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).take(most + 1).collect();
    let fitting = ends.partition_point(|end| taken(&text[..*end]) <= columns);
    fitting.checked_sub(1).map_or("", |last| &text[..ends[last]])
}

/// Terminals differ about characters that join others: whichever counts more
/// is right, since a line that is too long would wrap.
fn taken(text: &str) -> usize {
    let one_by_one: usize = text.chars().map(|c| c.width().unwrap_or(0)).sum();
    text.width().max(one_by_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: Style = Style { color: false, unicode: false };

    #[test]
    fn a_text_takes_no_more_columns_than_it_may() {
        for text in
            ["plain text", "世界世界世界", "e\u{301}e\u{301}e\u{301}e\u{301}", "👩‍🚀👩‍🚀 ok", ""]
        {
            for columns in 0..12 {
                for style in [Style::PLAIN, ASCII] {
                    let cut = fit(text, columns, style);
                    assert!(taken(&cut) <= columns, "{text} {columns}: {cut}");
                    assert_eq!(width(&pad(text, columns, style)), columns);
                }
            }
        }
    }

    #[test]
    fn what_was_cut_is_marked() {
        assert_eq!(fit("abcdef", 6, Style::PLAIN), "abcdef");
        assert_eq!(fit("abcdef", 5, Style::PLAIN), "abcd…");
        assert_eq!(fit("abcdef", 5, ASCII), "ab...");
        assert_eq!(fit("世界世界", 5, Style::PLAIN), "世界…");
        assert_eq!(fit("世界世界", 4, Style::PLAIN), "世…");
    }

    #[test]
    fn marks_without_width_do_not_make_a_line_endless() {
        let text = format!("e{}", "\u{301}".repeat(100_000));
        assert!(fit(&text, 10, Style::PLAIN).chars().count() <= 41);
    }

    #[test]
    fn colors_take_no_room() {
        let style = Style { color: true, unicode: true };
        let mut line = Line::new(style, 9);
        line.paint(Paint::Good, "ok ");
        line.plain("世界 and more");
        let line = line.finish();
        assert_eq!(line, "\u{1b}[32mok \u{1b}[0m世界…");
        assert_eq!((width(&line), rows(&line, 4)), (8, 2));
        assert_eq!(rows("", 80), 1);
    }
}
