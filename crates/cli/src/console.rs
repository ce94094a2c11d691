//! Where a command speaks: data on standard output, talk on standard error.
//! Nothing here panics when a pipe is closed.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;

use crate::args::Globals;
use crate::error::CliError;
use crate::output::{escape, json};
use crate::style::{Place, Style};
use crate::surroundings::Surroundings;

/// The least terminal on which something can be drawn anew in place.
const COLUMNS_MIN: usize = 20;
const ROWS_MIN: usize = 4;

/// The width of lines where nobody says how wide the terminal is.
const WIDTH: usize = 100;

/// How large a terminal is, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) json: bool,
    /// Someone sits at both ends.
    pub(crate) is_interactive: bool,
    /// Someone may be asked.
    pub(crate) may_ask: bool,
    pub(crate) width: usize,
    /// Standard output is a terminal that knows how to move its cursor.
    has_screen: bool,
    /// Of standard output, and of standard error.
    pub(crate) style: Style,
    pub(crate) talk_style: Style,
    /// How a person calls this program for this home.
    pub(crate) program: String,
    current_dir: std::path::PathBuf,
}

impl Console {
    pub(crate) fn new(globals: &Globals, surroundings: &Surroundings) -> Self {
        let style = |is_terminal| {
            let settings = &surroundings.settings;
            Style::of(Place { when: globals.color, is_terminal, settings })
        };
        let is_interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
        Self {
            json: globals.json,
            is_interactive,
            may_ask: is_interactive && !globals.no_input && !globals.json,
            width: terminal_width().unwrap_or(WIDTH),
            has_screen: io::stdout().is_terminal() && !surroundings.settings.dumb_terminal,
            style: style(io::stdout().is_terminal()),
            talk_style: style(io::stderr().is_terminal()),
            program: escape::line(&surroundings.program(globals.home.as_deref())).into_owned(),
            current_dir: surroundings.current_dir.clone().unwrap_or_default(),
        }
    }

    /// How large the screen is just now; `None` where nothing can be drawn
    /// anew in place.
    pub(crate) fn screen(&self) -> Option<Size> {
        let size = if self.has_screen { terminal_size() } else { None };
        size.filter(|size| size.columns >= COLUMNS_MIN && size.rows >= ROWS_MIN)
    }

    /// One line, or several, of standard output. What comes from outside has
    /// been escaped.
    pub(crate) fn line(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// One JSON document.
    pub(crate) fn document(&self, document: &impl Serialize) -> Result<(), CliError> {
        let mut bytes = json::encode(document);
        bytes.push(b'\n');
        self.bytes(&bytes)
    }

    /// A line of a log, which is JSON. It stays as it is, byte for byte,
    /// unless it is shown to somebody.
    pub(crate) fn document_line(&self, line: &[u8]) -> Result<(), CliError> {
        self.document_lines(std::iter::once(line))
    }

    /// Such lines, that are there at once.
    pub(crate) fn document_lines(
        &self,
        lines: impl Iterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), CliError> {
        let (is_shown, mut bytes) = (io::stdout().is_terminal(), Vec::new());
        for line in lines {
            match is_shown {
                true => bytes.extend_from_slice(escape::json(line.as_ref()).as_bytes()),
                false => bytes.extend_from_slice(line.as_ref()),
            }
            bytes.push(b'\n');
        }
        self.bytes(&bytes)
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }

    /// One line of talk. When standard error is gone there is nobody to tell.
    pub(crate) fn talk(&self, text: &str) {
        drop(io::stderr().lock().write_all(format!("{text}\n").as_bytes()));
    }

    pub(crate) fn error_document(&self, document: &impl Serialize) {
        let mut bytes = json::encode(document);
        bytes.push(b'\n');
        drop(io::stderr().lock().write_all(&bytes));
    }

    /// A path as a person here would write it.
    pub(crate) fn short_path(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.current_dir).unwrap_or(path);
        escape::line(&short.display().to_string()).into_owned()
    }
}

fn terminal_width() -> Option<usize> {
    terminal_size().map(|size| size.columns).filter(|columns| *columns >= 40)
}

fn terminal_size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(Size { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) })
}
