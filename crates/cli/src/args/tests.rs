//! Command lines that parse, and some that do not.

use clap::{CommandFactory, Parser};

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(std::iter::once("wardian").chain(line.split_whitespace()))
}

fn retry(line: &str) -> RetryArgs {
    let command = parse(line).unwrap().command;
    let Command::Run(RunVerb::Retry(args)) = command else { panic!("{command:?}") };
    args
}

#[test]
fn the_tree_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn global_flags_stand_anywhere() {
    for line in ["--json run list", "run --json list", "run list --json"] {
        assert!(parse(line).unwrap().globals.json, "{line}");
    }
}

#[test]
fn verdicts_name_their_nodes() {
    let args = retry("run retry 7f --happened a={\"x\":\"b=c\"} --happened b --did-not c --redo d");
    let output = Some("{\"x\":\"b=c\"}".to_owned());
    assert_eq!(args.happened, [("a".to_owned(), output), ("b".to_owned(), None)]);
    assert_eq!((args.did_not, args.redo), (vec!["c".to_owned()], vec!["d".to_owned()]));
}

#[test]
fn a_binding_has_two_sides() {
    assert!(parse("automation exec a.md --bind role:x=claude").is_ok());
    for wrong in ["role:x", "=claude", "role:x="] {
        assert!(parse(&format!("automation exec a.md --bind {wrong}")).is_err(), "{wrong}");
    }
}

#[test]
fn a_negative_number_is_an_input() {
    assert!(parse("automation exec a.md --input -1").is_ok());
    assert!(parse("automation exec a.md --input -").is_ok());
}

#[test]
fn one_cannot_stay_and_leave() {
    assert!(parse("automation exec a.md --foreground --detach").is_err());
}

#[test]
fn a_status_is_one_of_the_words_of_the_engine() {
    for status in host::api::RunStatus::ALL {
        assert!(parse(&format!("run list --status {}", status.word())).is_ok());
    }
    assert!(parse("run list --status done").is_err());
}

#[test]
fn every_option_and_command_is_explained() {
    fn look(command: &clap::Command) {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        let named = |arg: &&clap::Arg| arg.get_long().is_some();
        for arg in command.get_arguments().filter(named) {
            assert!(arg.get_help().is_some(), "{} {}", command.get_name(), arg.get_id());
        }
        command.get_subcommands().for_each(look);
    }
    let mut tree = Cli::command();
    tree.build();
    look(&tree);
}

/// A comment on what is built later would take the place of it.
#[test]
fn a_command_is_explained_alike_before_and_after_it_is_built() {
    fn abouts(command: &clap::Command) -> Vec<(&str, Option<String>)> {
        let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
        verbs.map(|verb| (verb.get_name(), verb.get_about().map(ToString::to_string))).collect()
    }
    let mut tree = Cli::command();
    tree.build();
    assert_eq!(abouts(&tree), abouts(&Cli::command()));
    let verbs = [
        ("automation", AutomationVerb::augment_subcommands as fn(_) -> _),
        ("run", RunVerb::augment_subcommands),
        ("provider", ProviderVerb::augment_subcommands),
        ("workers", WorkersVerb::augment_subcommands),
        ("worktree", WorktreeVerb::augment_subcommands),
    ];
    for (name, augment) in verbs {
        let built = tree.find_subcommand(name).unwrap();
        assert_eq!(abouts(built), abouts(&augment(clap::Command::new(name))));
    }
}
