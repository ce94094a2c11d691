//! Signals to a viewer, with a terminal and without one.

use std::io::BufReader;

use rustix::process::Signal;

use crate::house::{self, House, finish, line_of, on_terminal, read_until, send, waiting};

fn only_run(house: &House) -> String {
    let runs = house.json(&["run", "list"]);
    runs["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_terminal_a_signal_cancels_the_run_and_waits_for_its_end() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let house = House::new();
        house.write("waiting.md", waiting());
        let child = house.start(house.command(&["automation", "exec", "waiting.md", "--json"]));
        let shell = line_of(&house.work().join("shell"));
        send(&child, signal);
        let said = house::said(finish(child));
        assert_eq!(said.code, code, "{said:?}");
        let document = said.json();
        assert_eq!((&document["ok"], &document["reason"]), (&false.into(), &"cancelled".into()));
        assert!(!std::path::Path::new(&format!("/proc/{shell}")).exists());
    }
}

/// The worker is a copy of the command that starts the run.
#[test]
fn a_worker_has_a_session_of_its_own_and_nothing_of_its_starter() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let child = house.start(house.command(&["automation", "exec", "waiting.md", "--json"]));
    line_of(&house.work().join("shell"));
    let (owner, starter) = (house.owner(&only_run(&house)), child.id());
    assert_ne!(u32::try_from(owner).unwrap(), starter);
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{owner}/{name}")).unwrap();
    // Behind the name, which stands in brackets: state, parent, group, session.
    let stat = read("stat");
    let session = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap();
    assert_eq!(session, owner.to_string());
    let status = read("status");
    let signals = |name: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap()
    };
    let heard = [Signal::INT, Signal::TERM, Signal::HUP, Signal::CONT].map(Signal::as_raw);
    assert!(heard.iter().all(|signal| signals("SigCgt:") & (1 << (signal - 1)) == 0), "{status}");
    assert_eq!(signals("SigBlk:"), 0);
    let open = |process: u32| -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        links.filter(|link| link.to_string_lossy().contains(":[")).collect()
    };
    let (theirs, own) = (open(starter), open(owner.try_into().unwrap()));
    let both: Vec<_> = own.iter().filter(|link| theirs.contains(link)).collect();
    assert!(!theirs.is_empty() && both.is_empty(), "{both:?}");
    send(&child, Signal::INT);
    assert_eq!(finish(child).status.code(), Some(130));
}

#[test]
fn ctrl_c_on_a_terminal_leaves_the_run_and_says_how_to_come_back() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let (child, mut screen) = on_terminal(&house, &["automation", "exec", "waiting.md"]);
    line_of(&house.work().join("shell"));
    read_until(&mut screen, "started");
    send(&child, Signal::INT);
    let seen = read_until(&mut screen, "run cancel");
    assert!(seen.contains("detached") && seen.contains("run watch"), "{seen}");
    assert_eq!(finish(child).status.code(), Some(130));
    let run = only_run(&house);
    assert_eq!(house.status(&run), "running");
    house.write("go", "");
    assert_eq!(house.run(&["run", "watch", &run]).code, 0);
}

#[test]
fn a_second_ctrl_c_cancels_the_run() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let (child, mut screen) = on_terminal(&house, &["automation", "exec", "waiting.md"]);
    let shell = line_of(&house.work().join("shell"));
    send(&child, Signal::INT);
    read_until(&mut screen, "run cancel");
    send(&child, Signal::INT);
    read_until(&mut screen, "the run is cancelled");
    assert_eq!(finish(child).status.code(), Some(130));
    assert!(!std::path::Path::new(&format!("/proc/{shell}")).exists());
    assert_eq!(house.json(&["run", "show", &only_run(&house)])["run"]["reason"], "cancelled");
}

#[test]
fn in_the_foreground_a_terminal_changes_nothing() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let args = ["automation", "exec", "waiting.md", "--foreground"];
    let (child, mut screen) = on_terminal(&house, &args);
    line_of(&house.work().join("shell"));
    send(&child, Signal::INT);
    read_until(&mut screen, "failed (cancelled)");
    assert_eq!(finish(child).status.code(), Some(130));
}

#[test]
fn an_onlooker_leaves_and_the_run_does_not_notice() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let document = house.json(&["automation", "exec", "waiting.md", "--detach"]);
    let run = document["run_id"].as_str().unwrap();
    let mut child = house.start(house.command(&["run", "watch", run]));
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "wait   started");
    send(&child, Signal::INT);
    assert_eq!(finish(child).status.code(), Some(130));
    assert_eq!(house.status(run), "running");
    house.write("go", "");
    assert_eq!(house.run(&["run", "watch", run]).code, 0);
}
