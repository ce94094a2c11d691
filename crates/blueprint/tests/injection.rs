//! The law of shell commands, proved with real shells: a value never becomes
//! shell text. Every place is refused when the command is read, or hands on
//! the bytes of its value unchanged; what a value says is never run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use blueprint::{Root, Scope, ShellCommand, TemplateError, shell};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const SHELLS: [&str; 2] = ["dash", "bash"];

/// From this size on a value goes by file, as it does in a run.
const BY_FILE: usize = 96 << 10;

/// Values that would run `touch p` somewhere, or are otherwise awkward.
fn payloads() -> Vec<String> {
    let mut payloads: Vec<String> = [
        "$(touch p)",
        "`touch p`",
        "'; touch p; '",
        "\"; touch p; \"",
        "a\ntouch p\nE\ntouch p\n",
        "; touch p #",
        "a[$(touch p)]",
        "-rf",
        "*",
        "",
        "\\",
        "trailing line ends\n\n",
        "ends with x",
        "é\u{85}\u{a0}\u{2028}\t\r\u{1b}\u{7f}",
    ]
    .map(str::to_owned)
    .to_vec();
    payloads.push("'$(touch p)\n".repeat((200 << 10) / 12));
    payloads
}

/// Each place where a value would be read as text, named.
const REFUSED: [(&str, &str); 9] = [
    ("single quotes", "echo '@' > out"),
    ("here-document", "cat > out <<E\n@\nE"),
    ("back-ticks", "echo `echo @` > out"),
    ("substitution", "echo $(echo @) > out"),
    ("sh -c", "sh -c @ > out"),
    ("sh -c in quotes", "sh -c \"echo @\" > out"),
    ("eval", "eval @ > out"),
    ("comment", "echo a > out # @"),
    ("command position", "@ > out"),
];

/// Commands that write the value, and no more, to `out`.
const ACCEPTED: [&str; 12] = [
    "printf %s @ > out",
    "printf %s \"@\" > out",
    "printf '%s' \"\"@'' \\\n > out",
    "x=@; printf %s \"$x\" > out",
    "x=\"@\" && printf %s \"$x\" | cat > out",
    "for x in @; do printf %s \"$x\"; done > out",
    "f() { printf %s \"$1\"; }\nf @ > out",
    "set -- @; printf %s \"$1\" > out",
    "case @ in '') : > out ;; *) printf %s @ > out ;; esac",
    "if [ -n @ ]; then printf %s @; fi > out",
    "while [ \"$y\" != @a ]; do y=@a; done; printf %s @ > out",
    "# don't\n( cat <<'E' > in\n`$(\nE\n); { printf %s @; } > out",
];

struct Values(Value);

impl Scope for Values {
    fn value(&self, root: &Root) -> Option<&Value> {
        (*root == Root::Trigger).then_some(&self.0)
    }

    fn file(&self, _: &str) -> String {
        "unused".to_owned()
    }
}

fn with_place(command: &str) -> String {
    command.replace('@', "{{trigger.output.x}}")
}

/// Runs a rendered command as a run does; true when it ended well.
fn run(shell: &str, folder: &Path, command: &ShellCommand, scope: &dyn Scope) -> bool {
    let rendered = command.render(scope).expect("a value without NUL");
    let mut child = Command::new(shell);
    child.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut large = Vec::new();
    for (name, value) in rendered.values {
        if value.len() > BY_FILE {
            let path = folder.join(format!("it's {name}"));
            fs::write(&path, value).expect("a temporary folder can be written");
            large.push((name, path.to_str().expect("the folder is UTF-8").to_owned()));
        } else {
            child.env(name, value);
        }
    }
    child.arg("-c").arg(shell::preamble(&large) + &rendered.text);
    child.status().expect("the shell is installed").success()
}

#[test]
fn c_04_every_value_arrives_unchanged_or_its_place_is_refused() {
    for (name, command) in REFUSED {
        let errors = ShellCommand::parse(&with_place(command)).unwrap_err();
        assert!(errors.iter().all(|error| error.suggestion.is_some()), "{name}");
    }
    for command in ACCEPTED {
        let parsed = ShellCommand::parse(&with_place(command)).unwrap();
        for payload in payloads() {
            let scope = Values(json!({ "x": payload.clone() }));
            for shell in SHELLS {
                let folder = tempfile::tempdir().unwrap();
                fs::write(folder.path().join("bystander"), "").unwrap();
                let shown: String = payload.chars().take(40).collect();
                assert!(
                    run(shell, folder.path(), &parsed, &scope),
                    "{shell}: {command}: {shown:?}"
                );
                let out = fs::read(folder.path().join("out")).unwrap();
                assert!(out == payload.as_bytes(), "{shell}: {command}: {shown:?}");
                assert!(!folder.path().join("p").exists(), "{shell}: {command}: {shown:?}");
            }
        }
    }
}

#[test]
fn a_nul_is_refused_wherever_its_place_stands() {
    for command in ACCEPTED {
        let parsed = ShellCommand::parse(&with_place(command)).unwrap();
        let refused = parsed.render(&Values(json!({ "x": "a\0$(touch p)" })));
        assert_eq!(refused, Err(TemplateError::Nul { path: "trigger.output.x".to_owned() }));
    }
}

/// The payloads are real: as text each place that is refused runs one.
#[test]
fn put_in_as_text_a_value_would_run_in_every_refused_place() {
    for (name, command) in REFUSED {
        let ran = payloads().iter().filter(|payload| payload.len() < BY_FILE).any(|payload| {
            let folder = tempfile::tempdir().unwrap();
            let mut child = Command::new("dash");
            child.current_dir(folder.path()).arg("-c").arg(command.replace('@', payload));
            child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            child.status().unwrap();
            folder.path().join("p").exists()
        });
        assert!(ran, "{name}");
    }
}

#[test]
fn a_large_value_keeps_the_numbers_of_the_lines() {
    let large = [("WARDIAN_V1".to_owned(), "/dev/null".to_owned())];
    for shell in SHELLS {
        let script = shell::preamble(&large) + "\n\nnosuchcommand\n";
        let output = Command::new(shell).arg("-c").arg(script).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("3:") || told.contains("line 3"), "{shell}: {told}");
    }
}

/// A piece of a word: how it is written and what the shell makes of it.
fn piece() -> impl Strategy<Value = (String, Option<usize>, String)> {
    let fixed = |source: &str, text: &str| Just((source.to_owned(), None, text.to_owned()));
    prop_oneof![
        4 => (0..3_usize).prop_map(|n| (format!("{{{{trigger.output[{n}]}}}}"), Some(n), String::new())),
        4 => (0..3_usize).prop_map(|n| (format!("\"{{{{trigger.output[{n}]}}}}\""), Some(n), String::new())),
        1 => fixed("a", "a"),
        1 => fixed("'b \" $c'", "b \" $c"),
        1 => fixed("\"d ' \\\" \\\\\"", "d ' \" \\"),
        1 => fixed("\\\\", "\\"),
        1 => fixed("\\\n", ""),
        1 => fixed("\"$EMPTY\"", ""),
        1 => fixed("=", "="),
        1 => fixed("$(printf e)", "e"),
        1 => fixed("\"`printf f`\"", "f"),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        prop::sample::select("'\"`$(){}[]\\;&|<>*?~#!=- \t\n\r%".chars().collect::<Vec<_>>()),
        any::<char>().prop_filter("no process can be given NUL", |c| *c != '\0'),
    ];
    prop::collection::vec(character, 0..12).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// However quotes and texts stand around the places, the arguments that
    /// a command is given are the author's text with the values in it.
    #[test]
    fn words_around_places_reach_a_command_as_written(
        words in prop::collection::vec(prop::collection::vec(piece(), 1..5), 1..4),
        values in prop::collection::vec(value(), 3),
    ) {
        let mut source = "probe() { for a in \"$@\"; do printf '%s\\0' \"$a\"; done; }\nprobe".to_owned();
        let mut expected = Vec::new();
        for word in &words {
            source.push_str(" ''");
            for (text, place, plain) in word {
                source.push_str(text);
                expected.extend_from_slice(place.map_or(plain, |place| &values[place]).as_bytes());
            }
            expected.push(0);
        }
        source.push_str(" > out");
        let command = ShellCommand::parse(&source).unwrap();
        for shell in SHELLS {
            let folder = tempfile::tempdir().unwrap();
            prop_assert!(run(shell, folder.path(), &command, &Values(json!(values.clone()))));
            let out = fs::read(folder.path().join("out")).unwrap();
            prop_assert_eq!(&out, &expected, "{}: {}", shell, &source);
        }
    }
}

/// Texts that make commands when strung together, some of them traps.
const FRAGMENTS: &[&str] = &[
    "@",
    "@",
    "@",
    "@",
    "\"@\"",
    "x=@",
    "\"",
    "'",
    "\\",
    " ",
    " ",
    " ",
    "\n",
    "; ",
    " && ",
    " | ",
    " & ",
    "echo ",
    "echo ",
    "echo @",
    "printf ",
    "printf %s ",
    "cat ",
    ": ",
    "x=",
    "y=$x; ",
    "$x",
    "\"$x\"",
    "${x}",
    "${!x}",
    "${x:-",
    "${x#",
    "}",
    "$((x))",
    "$((",
    "))",
    "$(",
    ")",
    "`",
    "[ ",
    " ]",
    " = ",
    "-v ",
    "-n ",
    "[[ ",
    " ]]",
    "-eq ",
    "eval ",
    "sh -c ",
    "env ",
    "command ",
    "exec ",
    ". ",
    "test ",
    "set -- ",
    "export ",
    "read x; ",
    "unset ",
    "trap ",
    "for x in ",
    "; do ",
    "; done",
    "if ",
    "; then ",
    "; fi",
    "case ",
    " in ",
    " a) ",
    ";; ",
    "esac",
    "f() { ",
    "{ ",
    "; }",
    "f ",
    "( ",
    " )",
    "<<E\n",
    "\nE\n",
    "#",
    " > o",
    " 2>&1",
    "a[",
    "]=",
    "$'",
    "$",
    "{a,",
    "\\\n",
    "let ",
    "alias f=",
    "\"$@\" ",
    "$1",
];

fn a_command(runner: &mut TestRunner) -> String {
    let strategy = prop::collection::vec(prop::sample::select(FRAGMENTS), 2..12);
    strategy.new_tree(runner).expect("fragments are at hand").current().concat()
}

/// Whatever passes the reading is safe in both shells, traps or not.
#[test]
fn no_command_that_is_accepted_runs_what_a_value_says() {
    let payloads =
        ["$(touch p)", "a[$(touch p)]", "'; touch p; '", "\"; touch p; \"", "\ntouch p\n"];
    let mut runner = TestRunner::deterministic();
    let mut accepted = BTreeSet::new();
    while accepted.len() < 30 {
        let source = with_place(&a_command(&mut runner));
        if ShellCommand::parse(&source).is_ok_and(|command| command.exprs().next().is_some()) {
            accepted.insert(source);
        }
    }
    for source in &accepted {
        let command = ShellCommand::parse(source).unwrap();
        for shell in SHELLS {
            let folder = tempfile::tempdir().unwrap();
            for payload in payloads {
                run(shell, folder.path(), &command, &Values(json!({ "x": payload })));
                assert!(!folder.path().join("p").exists(), "{shell}: {source:?}: {payload:?}");
            }
        }
    }
}
