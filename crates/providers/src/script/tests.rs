//! Scripts of every runtime, as far as this machine has them.

use std::ops::ControlFlow;

use durable::{Attempt, Round};
use engine::{AttemptKey, NodeError, RunId};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::environment::HostEnv;

struct Bench {
    folder: TempDir,
    key: AttemptKey,
}

impl Bench {
    fn with(name: &str, content: &str) -> Self {
        let key = AttemptKey {
            run: RunId::new(&format!("script-{}", std::process::id())).unwrap(),
            node: serde_json::from_value(json!("run")).unwrap(),
            round: Round::FIRST,
            attempt: Attempt::FIRST,
            proof: None,
        };
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join(name), content).unwrap();
        Self { folder, key }
    }

    fn perform(&self, word: &str, path: &str, args: &[&str], host_env: &HostEnv) -> Outcome {
        let parts = Parts {
            path,
            args: &args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>(),
            env: &[],
            env_pass: &[],
        };
        let place = Place { workspace: self.folder.path(), host_env, key: &self.key };
        perform_by(programs(word), parts, place, &Stop::new().unwrap(), &mut |_, _| {
            ControlFlow::Break(())
        })
    }
}

fn stdout(outcome: Outcome) -> String {
    let Outcome::Output(value) = outcome else { panic!("no output") };
    value["stdout"].as_str().unwrap().to_owned()
}

fn failure(outcome: Outcome) -> (String, String) {
    let Outcome::Failed(error) = outcome else { panic!("no failure") };
    (error.code, error.message)
}

#[test]
fn each_runtime_gets_its_arguments_after_the_mark_and_in_the_environment() {
    let here = HostEnv::current();
    for (word, name, content) in [
        ("sh", "-a.sh", r#"printf '%s,' "$@" "$WARDIAN_V1" "$WARDIAN_V2"; pwd >&2"#),
        (
            "python",
            "a.py",
            "import os, sys; e = os.environ; a = sys.argv[1:]\n\
             print(*a, e['WARDIAN_V1'], e['WARDIAN_V2'], sep=',', end=',')",
        ),
        (
            "node",
            "a.js",
            "const e = process.env, a = process.argv.slice(2);\n\
             process.stdout.write([...a, e.WARDIAN_V1, e.WARDIAN_V2, ''].join(','))",
        ),
    ] {
        let bench = Bench::with(name, content);
        let outcome = bench.perform(word, name, &["--help", "$(x) 'y"], &here);
        // Not every machine has every runtime.
        let missing = |error: &NodeError| error.code == "program_missing" && word != "sh";
        if !matches!(&outcome, Outcome::Failed(error) if missing(error)) {
            assert_eq!(stdout(outcome), "--,--help,$(x) 'y,--help,$(x) 'y,", "{word}");
        }
    }
}

#[test]
fn a_script_that_is_missing_is_named_with_its_whole_path() {
    let bench = Bench::with("a.sh", "");
    let (code, message) = failure(bench.perform("sh", "b.sh", &[], &HostEnv::current()));
    assert_eq!(code, "script_missing");
    assert!(message.contains(&bench.folder.path().join("b.sh").display().to_string()));
}

#[test]
fn a_language_that_is_not_installed_names_the_programs_that_were_tried() {
    let bench = Bench::with("a.py", "");
    let bare = HostEnv::new([("PATH".into(), bench.folder.path().into())]);
    let (code, message) = failure(bench.perform("python", "a.py", &[], &bare));
    assert_eq!(code, "program_missing");
    assert!(message.starts_with("program `python3` or `python` was not found"), "{message}");
}

#[test]
fn an_older_name_of_a_program_will_do() {
    let bench = Bench::with("a.py", "the argument of a program that only says it is there");
    let program = bench.folder.path().join("python");
    std::os::unix::fs::symlink("/bin/echo", program).unwrap();
    let bare = HostEnv::new([("PATH".into(), bench.folder.path().into())]);
    assert!(stdout(bench.perform("python", "a.py", &[], &bare)).ends_with("/a.py --\n"));
}

#[test]
fn an_argument_that_no_process_can_take_is_refused_by_its_number() {
    let bench = Bench::with("a.sh", "");
    let large = "x".repeat(limits::ENV_VALUE_BYTES + 1);
    let here = HostEnv::current();
    let (code, message) = failure(bench.perform("sh", "a.sh", &["ok", &large], &here));
    assert_eq!(code, "argument_too_large");
    assert!(message.starts_with("argument 2 has "));
    assert_eq!(failure(bench.perform("sh", "a.sh", &["a\0"], &here)).0, "nul_in_value");
}

#[test]
fn a_script_that_fails_is_named_by_its_program() {
    let bench = Bench::with("a.sh", "echo no luck; exit 4");
    let (code, message) = failure(bench.perform("sh", "a.sh", &[], &HostEnv::current()));
    assert_eq!((&code[..], &message[..]), ("exit_4", "sh exited with exit code 4: no luck"));
}
