//! Processes that nobody watches any more.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;
use crate::environment::RUN_MARK;
use crate::proc_table;

/// Starts `text` with the mark of a run and reads the ids it prints.
fn abandoned(run: &str, text: &str, lines: usize) -> (Child, Vec<i32>) {
    let mut child = Command::new("sh")
        .args(["-c", text])
        .env(RUN_MARK, run)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let reader = BufReader::new(child.stdout.take().unwrap());
    let pids = reader.lines().take(lines).map(|line| line.unwrap().parse().unwrap()).collect();
    (child, pids)
}

fn is_gone(pid: &i32) -> bool {
    proc_table::process(*pid).unwrap().is_none_or(|process| process.ended)
}

#[test]
fn everything_of_the_run_is_killed_and_nothing_of_another() {
    let run = |name: &str| format!("{name}-{}", std::process::id());
    let text = "trap '' TERM; echo $$; setsid sleep 300 & echo $!; (setsid sleep 300 & echo $!)
        env -i /bin/sleep 300 & echo $!; wait";
    let (mut child, pids) = abandoned(&run("reap"), text, 4);
    let (mut other, others) = abandoned(&run("reap2"), "echo $$; exec sleep 300", 1);
    let reaped = reap_run(&run("reap")).unwrap();
    assert!(reaped.found >= 4 && reaped.left == 0, "{reaped:?}");
    assert!(pids.iter().all(is_gone), "{pids:?}");
    assert!(!is_gone(&others[0]));
    assert_eq!(reap_run(&run("reap")).unwrap(), Reaped { found: 0, left: 0 });
    assert_eq!(reap_run(&run("reap2")).unwrap(), Reaped { found: 1, left: 0 });
    child.wait().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_process_that_is_just_becoming_another_program_is_found_too() {
    let again = r#"exec sh -c "$0" "$0""#;
    for i in 0..25 {
        let run = format!("exec{i}-{}", std::process::id());
        let text = format!("echo $$; set -- '{again}'; exec sh -c \"$1\" \"$1\"");
        let (mut child, _) = abandoned(&run, &text, 1);
        let reaped = reap_run(&run).unwrap();
        let missed = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!missed && reaped.found == 1, "{i}: {reaped:?}");
    }
}
