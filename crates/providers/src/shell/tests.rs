//! Shell commands, run for real.

use std::ops::ControlFlow;
use std::path::Path;

use durable::{Attempt, Round};
use engine::{AttemptKey, Class, Effect, NodeError, RunId};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::environment::HostEnv;

struct Bench {
    folder: TempDir,
    key: AttemptKey,
    host_env: HostEnv,
}

impl Bench {
    fn new(run: &str) -> Self {
        let key = AttemptKey {
            run: RunId::new(&format!("{run}-{}", std::process::id())).unwrap(),
            node: serde_json::from_value(json!("build")).unwrap(),
            round: Round::FIRST,
            attempt: Attempt::FIRST,
            proof: None,
        };
        Self { folder: TempDir::new().unwrap(), key, host_env: HostEnv::current() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn perform(&self, task: &ShellTask) -> Outcome {
        self.perform_with(task, &Stop::new().unwrap())
    }

    fn perform_with(&self, task: &ShellTask, stop: &Stop) -> Outcome {
        let mut kept = 0;
        let mut keep = |text: &str| {
            kept += 1;
            let path = self.path().join(format!("kept {kept}'s"));
            std::fs::write(&path, text).map(|()| path)
        };
        let place = Place { workspace: self.path(), host_env: &self.host_env, key: &self.key };
        let mut place = ShellPlace { place, keep: &mut keep, preamble: &preamble };
        perform_shell(task, &mut place, stop, &mut |_, bytes| {
            if bytes.ends_with(b"stop me\n") {
                stop.request();
            }
            ControlFlow::Continue(())
        })
    }
}

fn preamble(values: &[(String, String)]) -> String {
    let line = |(name, path): &(String, String)| {
        let path = path.replace('\'', r"'\''");
        format!("{name}=$(cat '{path}'; printf x); {name}=${{{name}%x}}\n")
    };
    values.iter().map(line).collect()
}

fn task(text: &str, values: &[&str]) -> ShellTask {
    let values = values.iter().enumerate();
    ShellTask {
        text: text.to_owned(),
        values: values.map(|(i, v)| (format!("WARDIAN_V{}", i + 1), (*v).to_owned())).collect(),
        cwd: None,
        env: Vec::new(),
        env_pass: Vec::new(),
    }
}

fn output(outcome: Outcome) -> Value {
    let Outcome::Output(value) = outcome else { panic!("no output") };
    value
}

fn error(outcome: Outcome) -> NodeError {
    let Outcome::Failed(error) = outcome else { panic!("no failure") };
    error
}

#[test]
fn a_command_that_ends_well_gives_its_code_and_both_streams() {
    let bench = Bench::new("ok");
    let got = output(bench.perform(&task("pwd; echo warn >&2", &[])));
    let here = bench.path().canonicalize().unwrap();
    let stdout = format!("{}\n", here.display());
    assert_eq!(got, json!({"exit_code": 0, "stdout": stdout, "stderr": "warn\n"}));
}

#[test]
fn what_is_cut_or_is_no_text_is_said_beside_the_stream() {
    let got = output(
        Bench::new("cut").perform(&task(r"head -c 2000000 /dev/zero; printf '\377' >&2", &[])),
    );
    let keys: Vec<&String> = got.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["exit_code", "stderr", "stderr_base64", "stdout", "stdout_truncated"]);
    assert_eq!(got["stdout_truncated"], json!(2_000_000 - limits::CAPTURE_BYTES));
    assert_eq!(got["stderr_base64"], "/w==");
}

#[test]
fn a_code_other_than_zero_is_a_definite_failure_that_quotes_the_last_line() {
    let failed = error(
        Bench::new("fail")
            .perform(&task("echo out; printf 'one\\n\\ntwo \\n\\n' >&2; exit 3", &[])),
    );
    assert_eq!(
        failed,
        NodeError {
            class: Class::Bug,
            code: "exit_3".to_owned(),
            message: "sh exited with exit code 3: two".to_owned(),
            effect: Effect::Done,
            output: Some(json!({"exit_code": 3, "stdout": "out\n", "stderr": "one\n\ntwo \n\n"})),
            retry_after: None,
        }
    );
    let quiet = error(Bench::new("fail").perform(&task("exit 3", &[])));
    assert_eq!(quiet.message, "sh exited with exit code 3");
    let long = error(Bench::new("fail").perform(&task("printf '─%.0s' $(seq 5000); exit 3", &[])));
    assert_eq!(long.message, format!("sh exited with exit code 3: {}…", "─".repeat(300)));
}

#[test]
fn a_signal_that_was_not_ours_is_a_failure_of_its_own_kind() {
    let failed = error(Bench::new("signal").perform(&task("echo hm; kill -9 $$", &[])));
    assert_eq!(
        (&failed.code[..], &failed.message[..]),
        ("signal_9", "sh was ended by signal 9: hm")
    );
    assert_eq!(failed.output.unwrap()["exit_code"], Value::Null);
}

#[test]
fn a_value_is_data_whatever_is_in_it() {
    let bench = Bench::new("inject");
    let hostile = ["x'; touch pwned #", "$(touch pwned)", "`touch pwned`", "a\nb\n", "-n", "", "─"];
    for value in hostile {
        let got = output(bench.perform(&task("printf '%s|' \"${WARDIAN_V1}\"", &[value])));
        assert_eq!(got["stdout"], format!("{value}|"));
    }
    assert!(!bench.path().join("pwned").exists());
}

#[test]
fn a_zero_byte_anywhere_is_refused_before_anything_starts() {
    let bench = Bench::new("nul");
    let mut in_env = task("touch started", &[]);
    in_env.env = vec![("NAME".to_owned(), "a\0b".to_owned())];
    let mut in_cwd = task("touch started", &[]);
    in_cwd.cwd = Some("\0".to_owned());
    for task in
        [task("touch started", &["fine", "a\0b"]), task("touch started\0", &[]), in_env, in_cwd]
    {
        let failed = error(bench.perform(&task));
        assert_eq!((&failed.code[..], failed.class), ("nul_in_value", Class::Preflight));
        assert_eq!(failed.effect, Effect::None);
    }
    let named = error(bench.perform(&task("true", &["fine", "a\0b"])));
    assert!(named.message.starts_with("the value of WARDIAN_V2 contains a zero byte"));
    assert!(!bench.path().join("started").exists());
}

#[test]
fn a_large_value_goes_by_file_and_arrives_whole() {
    let large = "a line ─\n".repeat(40_000);
    let got = output(Bench::new("large").perform(&task(
        "printf '%s' \"${WARDIAN_V2}\"; printf '%s' \"${WARDIAN_V1}\" >&2",
        &["small", &large],
    )));
    assert!(got["stdout"] == large);
    assert_eq!(got["stderr"], "small");
}

#[test]
fn values_that_are_too_large_together_go_by_file_largest_first() {
    let value = |name: &str, kib: usize| (name.to_owned(), "x".repeat(kib << 10));
    let few: Vec<_> = (0..11).map(|i| value(&format!("V{i}"), 90 - i)).collect();
    assert_eq!(by_size(&few), (few, Vec::new()));
    let many: Vec<_> = (0..14).map(|i| value(&format!("V{i}"), 90 - i)).collect();
    let (small, large) = by_size(&many);
    assert_eq!((&small[..], &large[..]), (&many[2..], &many[..2]));
}

#[test]
fn a_folder_that_is_missing_is_named_before_anything_starts() {
    let bench = Bench::new("cwd");
    let mut task = task("pwd", &[]);
    task.cwd = Some("not/here".to_owned());
    let failed = error(bench.perform(&task));
    assert_eq!(
        (&failed.code[..], failed.class, failed.effect),
        ("cwd_missing", Class::Preflight, Effect::None)
    );
    assert!(failed.message.contains(&bench.path().join("not/here").display().to_string()));
    std::fs::create_dir_all(bench.path().join("not/here")).unwrap();
    assert!(output(bench.perform(&task))["stdout"].as_str().unwrap().ends_with("/not/here\n"));
}

#[test]
fn a_command_that_is_stopped_says_so_and_one_that_was_stopped_before_never_starts() {
    let bench = Bench::new("stop");
    let stop = Stop::new().unwrap();
    let tidy = task("trap 'exit 0' TERM; echo stop me; sleep 300 & wait", &[]);
    assert_eq!(bench.perform_with(&tidy, &stop), Outcome::Stopped);
    assert!(stop.requested());
    assert_eq!(bench.perform_with(&task("touch started", &[]), &stop), Outcome::Stopped);
    assert!(!bench.path().join("started").exists());
}

#[test]
fn what_the_author_sets_and_passes_is_there_and_a_wrong_name_is_refused() {
    let bench = Bench::new("env");
    let mut shown = task("echo $A $CARGO_PKG_NAME $CARGO_MANIFEST_DIR", &[]);
    shown.env = vec![("A".to_owned(), "set".to_owned())];
    shown.env_pass = vec!["CARGO_PKG_NAME".to_owned()];
    assert_eq!(output(bench.perform(&shown))["stdout"], "set wardian-providers\n");
    shown.env = vec![("A=B".to_owned(), "x".to_owned())];
    assert_eq!(error(bench.perform(&shown)).code, "invalid_env_name");
    shown.env = vec![("A".to_owned(), "x".repeat(limits::ENV_VALUE_BYTES + 1))];
    assert_eq!(error(bench.perform(&shown)).code, "env_value_too_large");
}

#[test]
fn a_command_longer_than_the_system_takes_is_a_clear_failure() {
    let failed =
        error(Bench::new("long").perform(&task(&format!("true {}", "x".repeat(200_000)), &[])));
    assert_eq!((&failed.code[..], failed.effect), ("arguments_too_large", Effect::None));
}
