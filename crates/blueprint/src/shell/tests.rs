//! Which places of a command may hold a value, by example.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{NodeId, Root};

struct Fixed(Value);

impl Scope for Fixed {
    fn value(&self, root: &Root) -> Option<&Value> {
        (*root == Root::Trigger).then_some(&self.0)
    }

    fn file(&self, text: &str) -> String {
        format!("/run/values/{}", text.len())
    }
}

/// `«x»` stands for a place, so that the cases stay readable.
fn with_places(case: &str) -> String {
    let case = case.replace('«', "{{trigger.output.");
    case.replace('»', "}}")
}

fn text_of(case: &str) -> Result<String, String> {
    match ShellCommand::parse(&with_places(case)) {
        Ok(command) => Ok(command.text().replace("WARDIAN_V", "V")),
        Err(errors) => {
            Err(errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Commands with places, and what the shell is given.
const PLACES: &[(&str, &str)] = &[
    ("echo «x»", r#"echo "${V1}""#),
    ("echo \"«x»\"", r#"echo "${V1}""#),
    ("echo a«x»b", r#"echo a"${V1}"b"#),
    (r#"echo a"«x»"b«y»c"#, r#"echo a"${V1}"b"${V2}"c"#),
    ("echo 'a'«x»'b'", r#"echo 'a'"${V1}"'b'"#),
    ("echo «x»«y» «x»", r#"echo "${V1}""${V2}" "${V1}""#),
    ("echo \"$HOME/«x» \\\" «y»\"", r#"echo "$HOME/${V1} \" ${V2}""#),
    ("echo \\\\«x»", r#"echo \\"${V1}""#),
    ("echo a \\\n  «x»", "echo a \\\n  \"${V1}\""),
    ("printf '%s' «x» > out", r#"printf '%s' "${V1}" > out"#),
    ("A=«x» B=\"«y»\" env C=«z» sort", r#"A="${V1}" B="${V2}" env C="${V3}" sort"#),
    ("cat < «x» 2> «y» | sort && echo «z»", r#"cat < "${V1}" 2> "${V2}" | sort && echo "${V3}""#),
    ("if [ «x» = done ]; then echo «y»; fi", r#"if [ "${V1}" = done ]; then echo "${V2}"; fi"#),
    ("[ -n \"«x»\" ] || exit 1", r#"[ -n "${V1}" ] || exit 1"#),
    ("[ \"$a\" = «x» ] && [ ! -z «x» ]", r#"[ "$a" = "${V1}" ] && [ ! -z "${V1}" ]"#),
    ("for f in «x» b; do cat \"$f\"; done", r#"for f in "${V1}" b; do cat "$f"; done"#),
    (
        "case «x» in a|b*) echo «y» ;; (*) ;; esac",
        r#"case "${V1}" in a|b*) echo "${V2}" ;; (*) ;; esac"#,
    ),
    ("while [ \"$n\" != «x» ]; do n=«x»; done", r#"while [ "$n" != "${V1}" ]; do n="${V1}"; done"#),
    ("( cd «x» && ls )", r#"( cd "${V1}" && ls )"#),
    ("{ echo «x»; } > log", r#"{ echo "${V1}"; } > log"#),
    ("f() { echo \"$1\"; }\nf «x»", "f() { echo \"$1\"; }\nf \"${V1}\""),
    ("d=$(date +%s); echo \"$d\" «x»", r#"d=$(date +%s); echo "$d" "${V1}""#),
    ("echo `date` $((1 + 2)) ${HOME:-x} «x»", r#"echo `date` $((1 + 2)) ${HOME:-x} "${V1}""#),
    ("cat <<END\nhi $USER\nEND\necho «x»", "cat <<END\nhi $USER\nEND\necho \"${V1}\""),
    ("cat <<-'E'\n\t$(x) `\n\tE\necho «x»", "cat <<-'E'\n\t$(x) `\n\tE\necho \"${V1}\""),
    ("echo hi # it's a comment\necho «x»", "echo hi # it's a comment\necho \"${V1}\""),
    ("echo a#b «x»", r#"echo a#b "${V1}""#),
    (
        "sh ./run.sh «x»; bash -e build.sh \"«y»\"",
        r#"sh ./run.sh "${V1}"; bash -e build.sh "${V2}""#,
    ),
    ("python3 -u tool.py --name «x»", r#"python3 -u tool.py --name "${V1}""#),
    ("timeout -k 5 10 nice -n 5 grep -- «x» f", r#"timeout -k 5 10 nice -n 5 grep -- "${V1}" f"#),
    ("sudo -u app env -i A=1 ls «x»", r#"sudo -u app env -i A=1 ls "${V1}""#),
    (
        "find . -name «x» -exec grep -l «y» {} +",
        r#"find . -name "${V1}" -exec grep -l "${V2}" {} +"#,
    ),
    ("find ./«x» -type f", r#"find ./"${V1}" -type f"#),
    ("git -C «x» commit -m «y»", r#"git -C "${V1}" commit -m "${V2}""#),
    ("set -- «x» && echo \"$1\"", r#"set -- "${V1}" && echo "$1""#),
    ("[[ -n $a ]] && echo «x»", r#"[[ -n $a ]] && echo "${V1}""#),
    ("trap 'rm -f \"$t\"' EXIT; cp «x» \"$t\"", "trap 'rm -f \"$t\"' EXIT; cp \"${V1}\" \"$t\""),
    ("X=«x» sh -c 'echo \"$X\"'", "X=\"${V1}\" sh -c 'echo \"$X\"'"),
    ("X=«x»; export X; export Y=\"$X\"", "X=\"${V1}\"; export X; export Y=\"$X\""),
    ("! grep -q «x» f &", r#"! grep -q "${V1}" f &"#),
    ("curl -H \"A: «x»\" https://h/ --data «y»", r#"curl -H "A: ${V1}" https://h/ --data "${V2}""#),
];

#[test]
fn a_place_becomes_a_quoted_variable() {
    for (case, text) in PLACES {
        assert_eq!(text_of(case).as_deref(), Ok(*text), "{case}");
    }
}

#[test]
fn a_command_without_places_is_kept_as_it_is() {
    for text in ["eval \"$(x)\" <<< `y` &> z $'a", "", "# {", "[[ a =~ (b) ]]"] {
        assert_eq!(ShellCommand::parse(text).map(|c| c.text().to_owned()), Ok(text.to_owned()));
    }
    let escaped = ShellCommand::parse("echo '{{\"{{\"}}x}}'").unwrap();
    assert_eq!(escaped.text(), "echo '{{x}}'");
}

const REFUSED: &[&str] = &[
    // Places where a shell would not put a variable in, or not safely.
    "echo '«x»'",
    "echo 'it'\\''s «x»'",
    "cat <<END\n«x»\nEND",
    "cat <<-\"END\"\n\t«x»\n\tEND",
    "cat <<«x»\na\nEND",
    "cat <<< «x»",
    "echo `echo «x»`",
    "echo \"`echo «x»`\"",
    "echo $(echo «x»)",
    "echo \"$(echo \"$(echo '«x»')\")\"",
    "echo $((1 + «x»))",
    "((n = «x»))",
    "echo ${a:-«x»}",
    "echo \"${a#«x»}\"",
    "echo $'«x»'",
    "echo hi # «x»",
    "echo \\«x»",
    "echo \"\\«x»\"",
    "echo $«x»",
    "echo \"$«x»\"",
    "echo {a,«x»}",
    // Names.
    "«x»",
    "\"«x»\" a",
    "A=1 > f «x» b",
    "true && «x»",
    "if «x»; then echo; fi",
    "! «x»",
    "a | «x»",
    "( «x» )",
    "case a in a) «x»;; esac",
    "$cmd «x»",
    "$(which sh) -c «x»",
    "/bin/s? -c «x»",
    "«x»=1",
    "A«x»=1",
    "a[«x»]=1",
    "a+=«x»",
    "f«x»() { echo; }",
    "for «x» in a; do echo; done",
    "case a in «x») echo;; esac",
    "[[ «x» == a ]]",
    "echo >& «x»",
    // Commands that run, evaluate or interpret their arguments.
    "eval «x»",
    "\\eval \"«x»\"",
    "'ev'al «x»",
    ". «x»",
    "source «x»",
    "trap «x» EXIT",
    "alias a=«x»",
    "alias e=eval\ne «x»",
    "let a=«x»",
    "declare a=«x»",
    "export A=«x»",
    "declare -i n; n=«x»",
    "read «x»",
    "unset «x»",
    "wait «x»",
    "sh -c «x»",
    "sh -ec 'echo \"$1\"' _ «x»",
    "/usr/bin/bash -x «x»",
    "sh «x»",
    "sh $opts «x»",
    "busybox sh -c «x»",
    "exec «x»",
    "command eval «x»",
    "builtin eval «x»",
    "env «x» ls",
    "env A=1 sh -c «x»",
    "env -S «x»",
    "nohup timeout 5 sh -c «x»",
    "timeout «x» 5 ls",
    "xargs -I{} sh -c «x»",
    "xargs «x»",
    "sudo -s «x»",
    "time { eval «x»; }",
    "watch «x»",
    "ssh host «x»",
    "su -c «x»",
    "make A=«x»",
    "docker exec c sh -c «x»",
    "python3 -c «x»",
    "python3 «x»",
    "perl -e «x»",
    "node --eval «x»",
    "awk «x» f",
    "sed -e s/a/«x»/",
    "find . -exec sh -c «x» \\;",
    "find . -exec «x» {} +",
    "find «x» -name a",
    "tar --to-command=«x» -xf a",
    "git -c «x» status",
    "git «x»",
    "printf «x»",
    "printf -v a «x»",
    "[ -v «x» ]",
    "[ «x» «y» ]",
    "[ a = b -o «x» ]",
    "test $a «x»",
    "set «x»",
    "PATH=«x» ls",
    "PS4=«x»; set -x",
    "env LD_PRELOAD=«x» ls",
    "SECONDS=«x»",
    "for RANDOM in «x»; do :; done",
    // A value that goes on under another name.
    "n=«x»; echo $((n + 1))",
    "n=«x»; m=$n; [[ $m -eq 1 ]]",
    "n=«x»; eval \"echo $n\"",
    "n=«x»; sh -c \"echo $n\"",
    "n=«x»; $n",
    "n=«x»; echo ${!n}",
    "n=«x»; echo ${a[n]}",
    "n=«x»; echo ${n@P}",
    "for i in «x»; do echo $((i)); done",
    "f() { echo $(($1)); }; f «x»",
    "set -- «x»; eval \"$@\"",
    "echo «x» | while read -r l; do echo $((l)); done",
    // What is not understood.
    "echo «x» &> f",
    "echo «x» |& cat",
    "diff <(a) «x»",
    "a=(b c); echo «x»",
    "echo 'a «x»",
    "echo \"a «x»",
    "if true; then echo «x»",
    "echo «x»; }",
    "function f { echo; }; f «x»",
    "select a in b; do echo «x»; done",
    "coproc cat; echo «x»",
    "cat <<END\n$(a)\nEND\necho «x»",
    "cat <<END; echo «x»",
    "10> f «x»",
    "a \u{a0}«x»",
    "echo $WARDIAN_V1 «x»",
    "echo a &\\\n& «x»",
];

#[test]
fn where_a_value_would_not_be_safe_the_command_is_refused_with_the_fix() {
    let mut out = String::new();
    for case in REFUSED {
        let source = with_places(case);
        let Err(errors) = ShellCommand::parse(&source) else {
            panic!("accepted: {case}");
        };
        writeln!(out, "{case:?}").unwrap();
        for error in errors {
            let at = &source[error.range.clone()];
            let fix = error.suggestion.unwrap_or_default();
            writeln!(out, "    at {at:?}: {}\n    fix: {fix}", error.message).unwrap();
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn every_place_that_cannot_stand_is_told_at_once() {
    let source = with_places("echo '«a»' «b» `«c»` # «d»");
    let errors = ShellCommand::parse(&source).unwrap_err();
    let told: Vec<&str> = errors.iter().map(|error| &source[error.range.clone()]).collect();
    assert_eq!(told, ["{{trigger.output.a}}", "{{trigger.output.c}}", "{{trigger.output.d}}"]);
}

#[test]
fn a_broken_place_is_told_as_in_any_template() {
    let errors = ShellCommand::parse("echo {{ nope.x }} {{trigger.output.x | jsno}}").unwrap_err();
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(messages, ["no path begins with `nope`", "there is no filter `jsno`"]);
}

#[test]
fn values_are_rendered_once_for_each_distinct_place() {
    let command = ShellCommand::parse(
        "echo {{trigger.output.a}} \"{{ trigger.output.b }}\" {{trigger.output.a}} {{trigger.output.a | json}}",
    )
    .unwrap();
    assert_eq!(command.exprs().count(), 4);
    let scope = Fixed(
        json!({ "a": "$(x)\n{{run.id}}", "b": [1, {"c": 18_446_744_073_709_551_616_u128.to_string()}] }),
    );
    let rendered = command.render(&scope).unwrap();
    assert_eq!(
        rendered.text,
        "echo \"${WARDIAN_V1}\" \"${WARDIAN_V2}\" \"${WARDIAN_V1}\" \"${WARDIAN_V3}\""
    );
    assert_eq!(
        rendered.values,
        [
            ("WARDIAN_V1".to_owned(), "$(x)\n{{run.id}}".to_owned()),
            ("WARDIAN_V2".to_owned(), "[1,{\"c\":\"18446744073709551616\"}]".to_owned()),
            ("WARDIAN_V3".to_owned(), "\"$(x)\\n{{run.id}}\"".to_owned()),
        ]
    );
}

#[test]
fn a_nul_and_a_missing_value_are_refused_with_the_path() {
    let command = ShellCommand::parse("echo {{trigger.output.x}}").unwrap();
    let nul = command.render(&Fixed(json!({ "x": "a\0b" }))).unwrap_err();
    assert_eq!(nul, TemplateError::Nul { path: "trigger.output.x".to_owned() });
    let missing = command.render(&Fixed(json!({ "y": 1 }))).unwrap_err();
    assert!(matches!(missing, TemplateError::Unresolved { .. }));
}

#[test]
fn a_value_beyond_the_environment_is_still_given_to_the_caller() {
    let command = ShellCommand::parse("echo {{trigger.output.x}}").unwrap();
    let large = "x".repeat(200 << 10);
    let rendered = command.render(&Fixed(json!({ "x": &large }))).unwrap();
    assert_eq!(rendered.values, [("WARDIAN_V1".to_owned(), large)]);
}

#[test]
fn the_preamble_is_one_line_and_quotes_its_paths() {
    let large = [
        ("WARDIAN_V1".to_owned(), "/t/it's".to_owned()),
        ("WARDIAN_V3".to_owned(), "/t/$(x)".to_owned()),
    ];
    insta::assert_snapshot!(preamble(&large), @r"WARDIAN_V1=$(cat < '/t/it'\''s'; printf x); WARDIAN_V1=${WARDIAN_V1%x}; WARDIAN_V3=$(cat < '/t/$(x)'; printf x); WARDIAN_V3=${WARDIAN_V3%x}; ");
    assert_eq!(preamble(&[]), "");
}

#[test]
fn the_filter_file_gives_the_path_of_a_file() {
    let command = ShellCommand::parse("cat {{trigger.output | json | file}}").unwrap();
    let rendered = command.render(&Fixed(json!("ab"))).unwrap();
    assert_eq!(rendered.values[0].1, "/run/values/4");
    assert_eq!(command.exprs().next().unwrap().root, Root::Trigger);
    assert_ne!(Root::Trigger, Root::Output(NodeId::new("a")));
}

const FRAGMENTS: &[&str] = &[
    "{{run.id}}",
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "$((",
    "))",
    "${",
    "}",
    "{",
    "\\",
    "\n",
    " ",
    ";",
    "&",
    "|",
    "<<E",
    "\nE\n",
    "#",
    "if ",
    "then ",
    "fi",
    "case ",
    " in ",
    "esac",
    "eval ",
    "echo ",
    "x=",
    ">",
    "<",
    "[[ ",
    "é",
    "\u{a0}",
    "do ",
    "done",
    "for x in ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Any text at all ends in a verdict, and a place never gets lost.
    #[test]
    fn any_text_is_read_to_a_verdict(
        parts in prop::collection::vec(
            prop::sample::select(FRAGMENTS),
            0..24,
        )
    ) {
        let source = parts.concat();
        let places = source.matches("{{run.id}}").count();
        match ShellCommand::parse(&source) {
            Ok(command) if places > 0 => {
                prop_assert_eq!(command.exprs().count(), places);
                prop_assert_eq!(command.text().matches("${WARDIAN_V1}").count(), places);
            }
            Ok(command) => prop_assert_eq!(command.text(), source),
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert!(source.get(error.range).is_some());
                }
            }
        }
    }
}
