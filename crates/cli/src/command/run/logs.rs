//! `wardian run logs`.

use std::time::Duration;

use host::Host;
use host::api::{Listened, OutputPiece, Round, json};

use crate::args::LogsArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::style::Paint;
use crate::viewer::Signals;

/// How long output may wait until a signal is heard, and the other way round.
const PATIENCE: Duration = Duration::from_millis(100);

pub(crate) fn run(host: &Host, console: &Console, args: &LogsArgs) -> Result<Exit, CliError> {
    if args.follow {
        return follow(host, console, args);
    }
    let logs = host.output(&args.run.run, args.node.as_deref())?;
    if console.json {
        console.document(&json::logs(&args.run.run, &logs))?;
        return Ok(Exit::Done);
    }
    if logs.is_empty() {
        silence(console);
    }
    for log in &logs {
        console.line(&title(console, &log.node, log.attempt))?;
        console.line(escape::text(&log.text).trim_end_matches('\n'))?;
    }
    Ok(Exit::Done)
}

/// Tells what is printed until the run rests, or until a signal comes, which
/// means nothing to the run.
fn follow(host: &Host, console: &Console, args: &LogsArgs) -> Result<Exit, CliError> {
    let signals = Signals::listen()?;
    let mut listener = host.listen(&args.run.run, args.node.as_deref())?;
    let mut teller = Teller { console, run: &args.run.run, last: None, is_open: false };
    loop {
        if let Some(heard) = signals.take() {
            teller.end_line()?;
            return Ok(heard.exit());
        }
        match listener.next(PATIENCE)? {
            Listened::Pieces(pieces) => {
                pieces.iter().try_for_each(|piece| teller.piece(piece))?;
            }
            Listened::Quiet => {}
            Listened::Rest => {
                teller.end_line()?;
                if teller.last.is_none() && !console.json {
                    silence(console);
                }
                return Ok(Exit::Done);
            }
        }
    }
}

struct Teller<'a> {
    console: &'a Console,
    run: &'a str,
    /// Who printed last.
    last: Option<(String, Round, u64)>,
    /// The last line has no end yet.
    is_open: bool,
}

impl Teller<'_> {
    fn piece(&mut self, piece: &OutputPiece) -> Result<(), CliError> {
        if self.console.json {
            return self.console.document(&json::output_piece(self.run, piece));
        }
        let who = (piece.node.clone(), piece.round, piece.attempt);
        if self.last.as_ref() != Some(&who) {
            self.end_line()?;
            self.console.line(&title(self.console, &named(piece), piece.attempt))?;
            self.last = Some(who);
        }
        self.is_open = !piece.text.ends_with('\n');
        self.console.bytes(escape::text(&piece.text).as_bytes())
    }

    fn end_line(&mut self) -> Result<(), CliError> {
        match std::mem::take(&mut self.is_open) {
            true => self.console.line(""),
            false => Ok(()),
        }
    }
}

/// The node, and its round where that is not the first.
fn named(piece: &OutputPiece) -> String {
    match piece.round {
        Round::FIRST => piece.node.clone(),
        round => format!("{} round {}", piece.node, round.0.saturating_add(1)),
    }
}

fn title(console: &Console, node: &str, attempt: u64) -> String {
    let title = format!("== {} attempt {attempt} ==", escape::line(node));
    console.style.paint(Paint::Strong, &title)
}

fn silence(console: &Console) {
    console.talk("no attempt has printed anything");
}
