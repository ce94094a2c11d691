//! Words to a run: approve, reject, cancel, resume, retry.

use std::io::Write;

use rustix::process::{Pid, Signal, kill_process};

use crate::house::{
    House, assert_gone, chain, finish, gated, line_of, on_terminal, read_until, until, waiting,
};

fn parked(house: &House) -> String {
    house.write("gated.md", gated());
    house.exec("gated.md")
}

fn running(house: &House) -> String {
    house.write("waiting.md", waiting());
    let document = house.json(&["automation", "exec", "waiting.md", "--detach"]);
    document["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_gate_says_what_it_asks_and_how_to_answer() {
    let house = House::new();
    house.write("gated.md", gated());
    let said = house.run(&["automation", "exec", "gated.md"]);
    assert_eq!(said.code, 11);
    insta::assert_snapshot!(house.normal(&said.out));
}

#[test]
fn an_approved_run_is_completed_by_its_worker() {
    let house = House::new();
    let run = parked(&house);
    let said = house.run(&["run", "approve", &run, "--node", "gate", "--note", "fine by me"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.starts_with("approved at gate\n"), "{}", said.out);
    let said = house.run(&["run", "watch", &run]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("approved by ") && said.out.contains("fine by me"), "{}", said.out);
    assert_eq!(house.status(&run), "completed");
    let said = house.run(&["run", "approve", &run, "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (13, "run_ended"));
}

#[test]
fn a_rejected_run_fails() {
    let house = House::new();
    let run = parked(&house);
    let said = house.run(&["run", "reject", &run, "--note", "no", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(house.run(&["run", "watch", &run]).code, 10);
    let document = house.json(&["run", "show", &run]);
    assert_eq!(document["run"]["reason"], "rejected");
}

#[test]
fn a_decision_about_something_else_changes_nothing() {
    let house = House::new();
    let run = parked(&house);
    let said = house.run(&["run", "approve", &run, "--node", "after", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (13, "not_waiting"));
    assert_eq!(house.status(&run), "awaiting_approval");
    let said = house.run(&["run", "approve", &run, "--note", &"x".repeat(9000), "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_request"));
    assert_eq!(house.status(&run), "awaiting_approval");
}

#[test]
fn a_caller_inside_a_run_may_not_decide() {
    let house = House::new();
    let run = parked(&house);
    let mut command = house.command(&["run", "approve", &run, "--json"]);
    command.env("WARDIAN_RUN_ID", &run);
    let said = crate::house::said(crate::house::finish(house.start(command)));
    assert_eq!((said.code, said.error_code().as_str()), (9, "managed_caller"));
    assert_eq!(house.status(&run), "awaiting_approval");
}

#[test]
fn a_parked_run_can_be_cancelled() {
    let house = House::new();
    let run = parked(&house);
    let said = house.run(&["run", "cancel", &run, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let document = said.json();
    assert_eq!((&document["status"], &document["reason"]), (&"failed".into(), &"cancelled".into()));
}

#[test]
fn cancelling_ends_every_process_of_the_run_first() {
    let house = House::new();
    let run = running(&house);
    let shell = line_of(&house.work().join("shell"));
    let said = house.run(&["run", "cancel", &run, "--note", "enough"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!std::path::Path::new(&format!("/proc/{shell}")).exists());
    assert_eq!(house.run(&["run", "watch", &run]).code, 10);
}

#[test]
fn a_parked_run_can_be_resumed_and_stays_parked() {
    let house = House::new();
    let run = parked(&house);
    let said = house.run(&["run", "resume", &run]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(house.run(&["run", "watch", &run]).code, 11);
    assert_eq!(house.status(&run), "awaiting_approval");
}

#[test]
fn a_retry_keeps_what_was_done() {
    let house = House::new();
    let once = "command: |\n  echo x >> times\n  wc -l < times";
    let fail = "command: test -e mended";
    let nodes = [("once", "shell", once), ("fail", "shell", fail)];
    house.write("twice.md", chain("twice", &nodes));
    let first = house.exec("twice.md");
    house.write("mended", "");
    let said = house.run(&["run", "retry", &first, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let second = said.json()["run_id"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(house.work().join("times")).unwrap(), "x\n");
    assert_eq!(house.json(&["run", "show", &second])["run"]["retry_of"], first.as_str());
    assert_eq!(house.json(&["run", "show", &first])["run"]["retried_as"][0], second.as_str());
    let said = house.run(&["run", "retry", &second, "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (13, "conflict"));
}

/// A run whose worker was killed in the middle of a node.
fn abandoned(house: &House) -> String {
    let run = running(house);
    let worker = line_of(&house.work().join("worker"));
    line_of(&house.work().join("shell"));
    kill_process(Pid::from_raw(worker.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    assert_gone(&worker);
    // Its last thread may hold the lock a moment longer.
    let ownerless = || house.json(&["run", "show", &run])["run"]["ownerless"] == true;
    until("a run without an owner", ownerless);
    run
}

#[test]
fn a_dead_worker_leaves_an_unknown_outcome_that_a_person_decides() {
    let house = House::new();
    let run = abandoned(&house);
    let shell = line_of(&house.work().join("shell"));
    assert!(house.run(&["run", "list"]).out.contains("interrupted?"));
    let said = house.run(&["run", "watch", &run]);
    assert_eq!(said.code, 12, "{said:?}");
    assert!(said.talk.contains("recorded as interrupted"), "{}", said.talk);
    insta::assert_snapshot!(house.normal(said.out.rsplit("\n\n").next().unwrap()));
    assert_gone(&shell);
    let said = house.run(&["run", "retry", &run, "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (13, "undecided"));
    let said = house.run(&["run", "retry", &run, "--redo", "wait", "--did-not", "wait", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (64, "invalid_arguments"));
    let said = house.run(&["run", "retry", &run, "--redo", "nothing", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (2, "node_not_found"));
    let said = house.run(&["run", "retry", &run, "--happened", "wait={\"stdout\":\"by hand\"}"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("by hand") && said.out.contains("last"), "{}", said.out);
}

#[test]
fn whoever_sits_at_a_terminal_is_asked_about_an_unknown_outcome() {
    let house = House::new();
    let run = abandoned(&house);
    assert_eq!(house.run(&["run", "watch", &run]).code, 12);
    house.write("go", "");
    let (child, mut screen) = on_terminal(&house, &["run", "retry", &run]);
    read_until(&mut screen, "[r]edo");
    screen.get_ref().write_all(b"what?\nredo\n").unwrap();
    read_until(&mut screen, "completed in");
    assert_eq!(finish(child).status.code(), Some(0));
    let said = house.run(&["run", "retry", &run, "--no-input", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (13, "undecided"));
}

#[test]
fn after_a_run_the_lost_runs_of_others_are_recorded() {
    let house = House::new();
    let lost = abandoned(&house);
    house.write("quiet.md", chain("quiet", &[("x", "shell", "command: echo quiet")]));
    let said = house.run(&["automation", "exec", "quiet.md"]);
    assert_eq!(said.code, 0);
    assert!(said.talk.contains(&lost) && said.talk.contains("interrupted"), "{}", said.talk);
    assert_eq!(house.json(&["run", "show", &lost])["run"]["reason"], "interrupted");
    assert_eq!(house.run(&["automation", "exec", "quiet.md"]).talk, "");
}
