//! What clap says when it does not run a command: help, the version, or what
//! is wrong with the arguments.

use clap::error::ErrorKind;
use host::api::json;

use crate::args::Globals;
use crate::console::Console;
use crate::exit::Exit;
use crate::output::escape;
use crate::style::When;
use crate::surroundings::Surroundings;

pub(crate) fn explain(error: &clap::Error, surroundings: &Surroundings) -> Exit {
    let console = Console::new(&guess(surroundings), surroundings);
    let text = error.render();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let shown = match console.style.color {
            true => text.ansi().to_string(),
            false => text.to_string(),
        };
        return match console.line(shown.trim_end()) {
            Ok(()) => Exit::Done,
            Err(error) => error.report(&console),
        };
    }
    // It repeats arguments, so colors cannot be told from what they hold.
    let text = escape::text(&text.to_string()).into_owned();
    match console.json {
        true => {
            let (message, hint) = split(&text);
            let document = json::plain_error("invalid_arguments", &message, Some(&hint));
            console.error_document(&document);
        }
        false => console.talk(text.trim_end()),
    }
    Exit::Usage
}

/// The global flags of a command line that cannot be parsed.
fn guess(surroundings: &Surroundings) -> Globals {
    let args = || surroundings.args.iter().take_while(|arg| *arg != "--");
    let has = |wanted: &str| args().any(|arg| arg == wanted);
    let color = match () {
        () if has("--color=always") => When::Always,
        () if has("--color=never") => When::Never,
        () => When::Auto,
    };
    Globals { json: has("--json"), home: None, color, no_input: true }
}

/// The first paragraph, and the others in a line.
fn split(text: &str) -> (String, String) {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = rest.split("\n\n").map(words).filter(|part| !part.is_empty());
    (words(message), rest.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_has_a_message_and_a_way_out() {
        let text = "error: unexpected argument '--jsn' found\n\n  tip: a similar argument \
                    exists: '--json'\n\nUsage: wardian run list [OPTIONS]\n\nFor more \
                    information, try '--help'.\n";
        let (message, hint) = split(text);
        assert_eq!(message, "unexpected argument '--jsn' found");
        assert_eq!(
            hint,
            "tip: a similar argument exists: '--json'; Usage: wardian run list [OPTIONS]; \
             For more information, try '--help'."
        );
    }
}
