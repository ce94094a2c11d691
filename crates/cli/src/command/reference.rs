//! `wardian __reference PAGE`: a page of the reference as it stands in the
//! documentation. The pages derive from the registry, the rules and the tree
//! of commands, so that none of them can tell of something else.

use blueprint::reference;
use clap::{Arg, Command, CommandFactory};

use crate::args::{Cli, ReferencePage};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(console: &Console, page: ReferencePage) -> Result<Exit, CliError> {
    let text = match page {
        ReferencePage::NodeTypes => reference::node_types(),
        ReferencePage::Findings => reference::findings(),
        ReferencePage::Cli => commands(),
    };
    console.bytes(text.as_bytes())?;
    Ok(Exit::Done)
}

fn commands() -> String {
    let mut text = String::from("<!-- written by `cargo xtask generate` -->\n\n# Commands\n");
    let mut tree = Cli::command();
    tree.build();
    if let Some(codes) = tree.get_after_help() {
        text.push_str(&format!("\n```text\n{codes}\n```\n"));
    }
    text.push_str("\nEvery command takes:\n\n");
    text.push_str(&table(tree.get_arguments().filter(|arg| arg.is_global_set())));
    part(&tree, "wardian", &mut text);
    text
}

/// A command and all below it.
fn part(command: &Command, path: &str, text: &mut String) {
    let mut verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set()).peekable();
    if verbs.peek().is_none() {
        text.push_str(&format!("\n## {path}\n\n{}\n", about(command)));
        text.push_str(&format!("\n    {}\n", usage(command, path)));
        if own(command).next().is_some() {
            text.push_str(&format!("\n{}", table(own(command))));
        }
    }
    for verb in verbs.filter(|verb| verb.get_name() != "help") {
        part(verb, &format!("{path} {}", verb.get_name()), text);
    }
}

/// What a command takes and others do not.
fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !arg.is_global_set() && !is_everywhere(arg))
}

fn is_everywhere(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

fn about(command: &Command) -> String {
    command.get_about().map(|about| format!("{about}.")).unwrap_or_default()
}

fn usage(command: &Command, path: &str) -> String {
    let mut words = vec![path.to_owned()];
    if own(command).any(|arg| !arg.is_positional()) {
        words.push("[OPTIONS]".to_owned());
    }
    for arg in own(command).filter(|arg| arg.is_positional()) {
        let name = value(arg);
        words.push(if arg.is_required_set() { name } else { format!("[{name}]") });
    }
    words.join(" ")
}

fn table<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let mut text = String::from("| | |\n|---|---|\n");
    for arg in args.filter(|arg| !is_everywhere(arg)) {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let name = match arg.get_long() {
            Some(long) if arg.get_action().takes_values() => format!("--{long} {}", value(arg)),
            Some(long) => format!("--{long}"),
            None => value(arg),
        };
        let cell = |text: &str| text.replace('|', "\\|");
        text.push_str(&format!("| `{}` | {}{} |\n", cell(&name), cell(&help), cell(&words(arg))));
    }
    text
}

/// What a value is called.
fn value(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| arg.get_id().as_str().to_uppercase(), ToString::to_string)
}

/// The words that may stand for a value, and the one that does without it.
fn words(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    let all = arg.get_possible_values();
    let all: Vec<&str> = all.iter().map(clap::builder::PossibleValue::get_name).collect();
    let default = arg.get_default_values().first().map(|value| value.to_string_lossy());
    let default = default.map(|value| format!(" (`{value}`)")).unwrap_or_default();
    if all.is_empty() {
        default
    } else {
        format!("{}{}{default}", if arg.get_help().is_some() { ": " } else { "" }, all.join(", "))
    }
}
