//! A process that takes in orphans, as a worker does, finds what a child has
//! left without a look at every process there is. In a binary of its own: to
//! take in orphans is a trait of the whole process.

use std::ops::ControlFlow;
use std::process::Command;

use providers::process::{Ended, Launch, Stdin, run};
use providers::{HostEnv, Marks, Stop};

fn sh(name: &str, text: &str) -> Ended {
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).expect("a process may take in orphans");
    let run_id = format!("{name}-{}", std::process::id());
    let marks = Marks { attempt: format!("{run_id}/node/0/1"), run: run_id };
    let launch = Launch {
        program: "sh".into(),
        args: vec!["-c".into(), text.into()],
        env: HostEnv::current().child(&[], &[], marks),
        cwd: std::env::temp_dir(),
        stdin: Stdin::Null,
        kept_bytes: 4096,
    };
    let stop = Stop::new().expect("an eventfd");
    run(&launch, &stop, &mut |_, _| ControlFlow::Break(())).expect("sh can be started")
}

/// Neither alive nor a shadow that nobody took away.
fn is_no_more(pid: &str) -> bool {
    let exists = Command::new("test").args(["-e", &format!("/proc/{pid}")]).status();
    !exists.expect("test can be started").success()
}

#[test]
fn what_a_child_leaves_in_its_session_is_ended_with_it() {
    let ended = sh("left", "sleep 300 & echo $!; (sleep 301 & echo $!)");
    let pids: Vec<&str> = ended.stdout.text.lines().collect();
    assert_eq!((pids.len(), ended.left), (2, 0), "{ended:?}");
    assert!(pids.into_iter().all(is_no_more));
}

#[test]
fn a_job_in_a_group_of_its_own_is_ended_too() {
    let ended = sh("job", "set -m; sleep 302 & echo $!");
    assert!(is_no_more(ended.stdout.text.trim()), "{ended:?}");
}

#[test]
fn a_child_that_leaves_nothing_just_ends() {
    let ended = sh("none", "printf done");
    assert_eq!((ended.stdout.text.as_str(), ended.left), ("done", 0));
}
