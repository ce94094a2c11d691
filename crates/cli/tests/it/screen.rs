//! A small terminal: what a person has before their eyes after some bytes.
//! It knows the few sequences that the command may use, and refuses others.

/// The rows that there ever were; the last ones are on the screen.
pub(crate) struct Screen {
    columns: usize,
    rows: usize,
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    pub(crate) fn of(bytes: &str, (columns, rows): (u16, u16)) -> Self {
        let (columns, rows) = (columns.into(), rows.into());
        let mut screen = Self { columns, rows, lines: vec![Vec::new()], row: 0, column: 0 };
        let mut rest = bytes;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\u{1b}' => rest = screen.sequence(rest),
                '\r' => screen.column = 0,
                '\n' => screen.down(),
                c => screen.put(c),
            }
        }
        screen
    }

    pub(crate) fn text(&self) -> String {
        let line = |line: &Vec<char>| line.iter().collect::<String>().trim_end().to_owned();
        self.lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn cursor_is_at_the_beginning_of_an_empty_last_line(&self) -> bool {
        self.column == 0 && self.row + 1 == self.lines.len() && self.lines[self.row].is_empty()
    }

    fn sequence<'a>(&mut self, text: &'a str) -> &'a str {
        let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        let (sequence, rest) = text.split_at(end + 1);
        match sequence {
            "[J" => {
                self.lines.truncate(self.row + 1);
                self.lines[self.row].truncate(self.column);
            }
            "[2K" => self.lines[self.row].clear(),
            "[?2026h" | "[?2026l" => {}
            colors if colors.ends_with('m') => {}
            up if up.ends_with('A') => {
                let rows: usize = up[1..up.len() - 1].parse().unwrap();
                let top = self.lines.len().saturating_sub(self.rows);
                assert!(self.row >= top + rows, "{rows} rows up from {} of {top}", self.row);
                self.row -= rows;
            }
            other => panic!("what is ESC {other:?}?"),
        }
        rest
    }

    fn put(&mut self, c: char) {
        if self.column == self.columns {
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.column += 1;
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }
}
