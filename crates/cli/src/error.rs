//! What a command ends with when it cannot do what it was asked, and how
//! that is told: to people a message and the next step, to programs an
//! envelope.

use std::io;

use host::api::{CheckedSource, HostError, json};

use crate::console::Console;
use crate::exit::Exit;
use crate::output::{escape, finding};
use crate::style::Paint;

#[derive(Debug)]
pub(crate) enum CliError {
    Host(HostError),
    /// The arguments do not go together.
    Usage {
        message: String,
        hint: String,
    },
    /// The run's log shows why a signal changed nothing.
    Refused {
        code: String,
        message: String,
        hint: String,
    },
    /// Whoever read the output has closed it. Nobody is left to tell.
    ReaderGone,
    /// The output cannot be written.
    Output(io::Error),
}

impl From<HostError> for CliError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let gone = error.kind() == io::ErrorKind::BrokenPipe;
        if gone { Self::ReaderGone } else { Self::Output(error) }
    }
}

impl CliError {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    /// Tells of it on standard error, and says what to exit with.
    pub(crate) fn report(&self, console: &Console) -> Exit {
        let (code, message, hint) = match self {
            Self::Host(error) if console.json => {
                console.error_document(&json::error(error));
                return self.exit();
            }
            Self::Host(error) => {
                if let Some(checked) = &error.findings {
                    show_findings(console, checked);
                }
                (error.code.word(), error.message.clone(), error.hint.clone())
            }
            Self::Usage { message, hint } => {
                ("invalid_arguments", message.clone(), Some(hint.clone()))
            }
            Self::Refused { code, message, hint } => {
                (code.as_str(), message.clone(), Some(hint.clone()))
            }
            Self::ReaderGone => return self.exit(),
            Self::Output(error) => {
                ("output_failed", format!("the output cannot be written: {error}"), None)
            }
        };
        match console.json {
            true => console.error_document(&json::plain_error(code, &message, hint.as_deref())),
            false => tell(console, &message, hint.as_deref()),
        }
        self.exit()
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Host(error) => Exit::of(error.code.exit()),
            Self::Usage { .. } => Exit::Usage,
            Self::Refused { code, .. } => match code.as_str() {
                "ambiguous_gate" => Exit::Ambiguous,
                "managed_caller" => Exit::Denied,
                _ => Exit::Conflict,
            },
            Self::ReaderGone => Exit::Done,
            Self::Output(_) => Exit::Failed,
        }
    }
}

fn show_findings(console: &Console, checked: &CheckedSource) {
    let look = finding::Look { style: console.talk_style, width: console.width };
    console.talk(&finding::render(checked, &console.short_path(&checked.source.path), look));
}

fn tell(console: &Console, message: &str, hint: Option<&str>) {
    let style = console.talk_style;
    console.talk(&format!("{} {}", style.paint(Paint::Bad, "error:"), escape::text(message)));
    if let Some(hint) = hint {
        console.talk("");
        for line in hint.lines() {
            console.talk(&format!(
                "{} {}",
                style.paint(Paint::Accent, "hint:"),
                escape::line(line)
            ));
        }
    }
}
