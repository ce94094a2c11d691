//! Columns for people. Widths count characters, not bytes; the last column
//! is never padded. Pure.

use crate::style::{Paint, Style};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) paint: Option<Paint>,
}

impl Cell {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: None }
    }

    pub(crate) fn painted(paint: Paint, text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: Some(paint) }
    }
}

/// The rows below their header, without a last line end.
pub(crate) fn render(header: &[&str], rows: &[Vec<Cell>], style: Style) -> String {
    let header: Vec<Cell> = header.iter().map(|text| Cell::painted(Paint::Faint, *text)).collect();
    let all = || std::iter::once(&header).chain(rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let lines = all().map(|row| {
        let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).take(last + 1).enumerate() {
            if column > 0 {
                line.push_str("  ");
            }
            let shown = cell.text.chars().count();
            line.push_str(
                &cell
                    .paint
                    .map_or_else(|| cell.text.clone(), |paint| style.paint(paint, &cell.text)),
            );
            line.extend(std::iter::repeat_n(' ', width - shown));
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [
            vec![Cell::plain("a"), Cell::painted(Paint::Good, "grün"), Cell::plain("x")],
            vec![Cell::plain("longer"), Cell::plain(""), Cell::plain("y")],
            vec![Cell::plain("b"), Cell::plain("z"), Cell::plain("")],
        ];
        let table = render(&["RUN", "STATUS", "WHAT"], &rows, Style::PLAIN);
        insta::assert_snapshot!(table, @r"
        RUN     STATUS  WHAT
        a       grün    x
        longer          y
        b       z
        ");
    }

    #[test]
    fn paint_takes_no_room() {
        let painted = Style { color: true, unicode: true };
        let rows = [vec![Cell::painted(Paint::Good, "ok"), Cell::plain("x")]];
        let table = render(&["A", "B"], &rows, painted);
        assert!(table.ends_with("\u{1b}[32mok\u{1b}[0m  x"), "{table:?}");
    }
}
