//! Real children, told by what they print when to be looked at.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use durable::limits;
use nix::sys::signal::SigSet;

use super::*;
use crate::environment::{HostEnv, Marks};
use crate::proc_table;

/// A run of its own for every test, so that none finds another's children.
fn launch_in(name: &str, host: &HostEnv, program: &str, args: &[&str]) -> Launch {
    let run = format!("{name}-{}", std::process::id());
    let marks = Marks { attempt: format!("{run}/node/0/1"), run };
    Launch {
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        env: host.child(&[], &[], marks),
        cwd: std::env::temp_dir(),
        stdin: Stdin::Null,
        kept_bytes: limits::CAPTURE_BYTES,
    }
}

fn launch(name: &str, program: &str, args: &[&str]) -> Launch {
    launch_in(name, &HostEnv::current(), program, args)
}

fn to_the_end(launch: &Launch) -> Ended {
    run(launch, &Stop::new().unwrap(), &mut |_, _| ControlFlow::Break(())).unwrap()
}

fn sh(name: &str, text: &str) -> Ended {
    to_the_end(&launch(name, "sh", &["-c", text]))
}

/// Runs a command, stops it once it has printed so many lines, and gives
/// all it said.
fn stopped_after(lines: usize, name: &str, text: &str) -> (Ended, String) {
    let stop = Stop::new().unwrap();
    let mut said = String::new();
    let ended = run(&launch(name, "sh", &["-c", text]), &stop, &mut |_, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        if said.matches('\n').count() >= lines {
            stop.request();
        }
        ControlFlow::Continue(())
    });
    let ended = ended.unwrap();
    assert!(ended.stopped && ended.left == 0, "{ended:?}");
    (ended, said)
}

/// The process ids that a command printed, one a line.
fn pids(text: &str) -> Vec<i32> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

fn is_gone(pid: i32) -> bool {
    proc_table::process(pid).unwrap().is_none_or(|process| process.ended)
}

#[test]
fn a_child_ends_with_its_code_or_its_signal() {
    assert_eq!(sh("exit", "exit 0").exit, Exit::Code(0));
    assert_eq!(sh("exit", "exit 7").exit, Exit::Code(7));
    let killed = sh("exit", "kill -9 $$");
    assert_eq!((killed.exit, killed.stopped), (Exit::Signal(9), false));
}

#[test]
fn x_01_a_child_that_reads_its_input_to_the_end_finishes() {
    let nothing = to_the_end(&launch("stdin", "cat", &[]));
    assert_eq!((nothing.exit, &nothing.stdout.text[..]), (Exit::Code(0), ""));
    // More than any pipe holds, and read by nobody before it is written.
    let text = "a line of input\n".repeat(30_000);
    let with_text = Launch { stdin: Stdin::Text(text.clone()), ..launch("stdin", "cat", &[]) };
    assert!(to_the_end(&with_text).stdout.text == text);
    let unread = Launch { stdin: Stdin::Text(text), ..launch("stdin", "true", &[]) };
    assert_eq!(to_the_end(&unread).exit, Exit::Code(0));
}

#[test]
fn x_02_a_stop_ends_what_runs_in_front_and_what_runs_behind_at_once() {
    let five = Deadline::after(Span::from_secs(5)).unwrap();
    let text = "sleep 300 & echo $!; echo $$; exec sleep 200";
    let (_, said) = stopped_after(2, "stop", text);
    assert!(!five.passed());
    let pids = pids(&said);
    assert_eq!(pids.len(), 2);
    assert!(pids.into_iter().all(is_gone));
}

#[test]
fn a_stop_ends_what_ignores_it_and_what_left_the_session() {
    let five = Deadline::after(Span::from_secs(5)).unwrap();
    let text = "trap '' TERM
        setsid sh -c 'echo $$; sleep 300; sleep 300' &
        (setsid sleep 300 & echo $!)
        env -i /usr/bin/env setsid sh -c 'echo $$; sleep 300; sleep 300' &
        echo $$
        while :; do sleep 100; done";
    let (ended, said) = stopped_after(4, "stubborn", text);
    assert!(!five.passed());
    assert_eq!(ended.exit, Exit::Signal(9));
    let pids = pids(&said);
    assert_eq!(pids.len(), 4);
    assert!(pids.into_iter().all(is_gone));
}

#[test]
fn a_child_may_tidy_up_when_it_is_stopped_and_what_it_says_is_kept() {
    let text = "trap 'echo tidied; exit 3' TERM; echo ready; sleep 300 & wait";
    let (ended, _) = stopped_after(1, "tidy", text);
    assert_eq!(ended.exit, Exit::Code(3));
    assert!(ended.stdout.text.ends_with("tidied\n"));
}

#[test]
fn the_end_is_the_childs_own_and_what_it_left_behind_is_gone() {
    let five = Deadline::after(Span::from_secs(5)).unwrap();
    let ended = sh("left", "sleep 300 & echo $!; (sleep 300 & echo $!)");
    assert!(!five.passed());
    let pids = pids(&ended.stdout.text);
    assert_eq!((ended.exit, pids.len()), (Exit::Code(0), 2));
    assert!(pids.into_iter().all(is_gone));
}

/// What a child can see of how it was started, without its own number.
fn seen(launch: &Launch) -> String {
    let ended = to_the_end(launch);
    assert_eq!(ended.exit, Exit::Code(0), "{}", ended.stderr.text);
    ended.stdout.text
}

#[test]
fn a_child_is_the_same_whichever_way_it_is_started() {
    let here = std::env::current_dir().unwrap();
    let link = tempfile::tempdir().unwrap();
    let link = link.path().join("here");
    std::os::unix::fs::symlink(&here, &link).unwrap();
    // Of the signals those that have names; the C library keeps two more.
    let look = "read -r pid _ _ _ group session _ </proc/$$/stat
        [ $$ = $pid ] && [ $$ = $group ] && [ $$ = $session ] && echo a session of its own
        sed -En 's/^(Sig(Blk|Ign)|ShdPnd):.*(.{8})$/\\1 \\3/p' /proc/self/status; ls /proc/$$/fd; env | sort; id";
    let ways = [here.clone(), link, std::env::temp_dir()].map(|cwd| {
        let launch = Launch { cwd, ..launch("ways", "sh", &["-c", look]) };
        SigSet::all().thread_block().unwrap();
        let seen = seen(&launch);
        SigSet::all().thread_unblock().unwrap();
        seen.lines().filter(|line| !line.contains("PWD=")).collect::<Vec<_>>().join("\n")
    });
    assert!(ways[0].starts_with("a session of its own\n"), "{}", ways[0]);
    assert_eq!(ways[0], ways[1]);
    assert_eq!(ways[0], ways[2]);
    for cwd in [&here, &std::env::temp_dir()] {
        let pwd = seen(&Launch { cwd: cwd.clone(), ..launch("pwd", "pwd", &["-P"]) });
        assert_eq!(pwd.trim_end(), cwd.canonicalize().unwrap().display().to_string());
    }
}

#[test]
fn a_script_without_a_first_line_runs_where_this_process_stands_too() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let file = folder.path().canonicalize().unwrap().join("script");
    std::fs::write(&file, "echo ran").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&file, mode).unwrap();
    for cwd in [std::env::current_dir().unwrap(), std::env::temp_dir()] {
        let launch = Launch { cwd, ..launch("bare", &file.display().to_string(), &[]) };
        assert_eq!(seen(&launch), "ran\n");
    }
}

#[test]
fn a_job_of_its_own_group_is_gone_too_when_it_stayed_in_the_session() {
    let ended = to_the_end(&launch("job", "bash", &["-c", "set -m; sleep 300 & echo $!"]));
    assert!(pids(&ended.stdout.text).into_iter().all(is_gone));
    assert_eq!((ended.exit, ended.left), (Exit::Code(0), 0));
}

#[test]
fn those_that_this_process_adopts_do_not_stay_as_shadows() {
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).unwrap();
    let shadow = |pid: i32| proc_table::process(pid).unwrap().is_some();
    let text = "(sleep 300 & echo $!); (setsid sleep 300 & echo $!)";
    let left = pids(&sh("adopted", "(sleep 300 & echo $!)").stdout.text);
    let (_, said) = stopped_after(2, "adopted", &format!("{text}; sleep 300"));
    let stopped = pids(&said);
    assert_eq!((left.len(), stopped.len()), (1, 2));
    assert!(!left.into_iter().chain(stopped).any(shadow));
}

#[test]
fn one_who_stays_behind_and_writes_for_ever_holds_nobody_up() {
    let five = Deadline::after(Span::from_secs(5)).unwrap();
    let ended = sh("flood", "yes & echo first >&2");
    assert!(!five.passed());
    assert_eq!(ended.stderr.text, "first\n");
}

#[test]
fn a_process_that_took_its_own_session_outlives_an_ordinary_end() {
    // The session is the sixth field; the shell waits until it is its own.
    let text = "setsid sleep 300 &
        until read -r _ _ _ _ _ session _ </proc/$!/stat && [ $session = $! ]; do :; done";
    let launch = launch("outlive", "sh", &["-c", text]);
    assert_eq!(to_the_end(&launch).exit, Exit::Code(0));
    let reaped = crate::reap_run(&launch.env.marks().run).unwrap();
    assert_eq!(reaped, crate::Reaped { found: 1, left: 0 });
}

#[test]
fn a_stop_asked_for_before_the_start_still_leaves_nothing() {
    let stop = Stop::new().unwrap();
    stop.request();
    let ended = run(&launch("early", "sleep", &["300"]), &stop, &mut |_, _| ControlFlow::Break(()))
        .unwrap();
    assert!(ended.stopped);
    assert_eq!(ended.exit, Exit::Signal(15));
}

#[test]
fn x_03_characters_written_byte_by_byte_stay_whole() {
    let text = "─".repeat(100_000);
    let launch = Launch {
        stdin: Stdin::Text(text.clone()),
        ..launch("bytes", "dd", &["bs=1", "status=none"])
    };
    let ended = to_the_end(&launch);
    assert!(ended.stdout.text == text);
    assert_eq!((ended.stdout.base64, ended.stdout.dropped), (None, 0));
}

#[test]
fn x_04_output_without_end_neither_blocks_nor_grows() {
    let before = resident_bytes();
    let text =
        "head -c 160000 /dev/zero | tr '\\0' e >&2; head -c 200000000 /dev/zero | tr '\\0' o";
    let launch = launch("much", "sh", &["-c", text]);
    let (mut most, mut heard) = (before, 0);
    let ended = run(&launch, &Stop::new().unwrap(), &mut |_, bytes| {
        heard += bytes.len();
        most = most.max(resident_bytes());
        ControlFlow::Continue(())
    });
    let ended = ended.unwrap();
    assert_eq!(heard, 200_160_000);
    assert!(most - before < 64 << 20, "{before} {most}");
    assert_eq!((ended.stderr.text.len(), ended.stderr.dropped), (160_000, 0));
    assert_eq!(ended.stdout.dropped, 200_000_000 - limits::CAPTURE_BYTES as u64);
    assert!(ended.stdout.text.len() < limits::CAPTURE_BYTES + 100);
    assert!(ended.stdout.text.contains(" bytes dropped …]\n"));
}

fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn bytes_that_are_no_text_are_kept_beside_it() {
    let ended = sh("raw", r"printf 'a\377b'; printf 'fine' >&2");
    assert_eq!(ended.stdout.text, "a\u{fffd}b");
    assert_eq!(ended.stdout.base64.as_deref(), Some("Yf9i"));
    assert_eq!(ended.stderr.base64, None);
}

#[test]
fn c_07_a_child_sees_the_allowed_environment_and_nothing_else() {
    let host = [("AWS_SECRET_ACCESS_KEY", "canary1"), ("LANG", "C"), ("PATH", "/usr/bin:/bin")];
    let host = HostEnv::new(host.map(|(name, value)| (name.into(), value.into())));
    let launch = launch_in("env", &host, "env", &[]);
    let marks = launch.env.marks().clone();
    let expected = format!(
        "LANG=C\nPATH=/usr/bin:/bin\nWARDIAN_ATTEMPT={}\nWARDIAN_RUN_ID={}\n",
        marks.attempt, marks.run
    );
    let mut lines: Vec<String> =
        to_the_end(&launch).stdout.text.lines().map(|line| format!("{line}\n")).collect();
    lines.sort();
    assert_eq!(lines.concat(), expected);
    // The environment of this very process holds more than is passed on.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!sh("env", "env").stdout.text.contains("CARGO_MANIFEST_DIR"));
}

#[test]
fn a_child_leads_its_own_session_and_holds_no_descriptor_of_ours() {
    let stat = to_the_end(&launch("own", "cat", &["/proc/self/stat"])).stdout.text;
    let fields: Vec<&str> = stat.split(' ').collect();
    assert!(fields[0] == fields[4] && fields[0] == fields[5], "{stat}");
    let _ours = std::fs::File::open("/dev/null").unwrap();
    let list = "for fd in /proc/$$/fd/*; do [ -e $fd ] && echo ${fd##*/}; done; :";
    let text = Stdin::Text("read by nobody".to_owned());
    let listed = Launch { stdin: text, ..launch("own", "sh", &["-c", list]) };
    let listed = to_the_end(&listed).stdout.text;
    let fds: BTreeSet<i32> = listed.lines().map(|fd| fd.parse().unwrap()).collect();
    let given: BTreeSet<i32> = [0, 1, 2].into_iter().chain(inherited()).collect();
    assert_eq!(fds, given);
}

/// What whoever started the tests left open for everyone.
fn inherited() -> Vec<i32> {
    let fds = std::fs::read_dir("/proc/self/fd").unwrap();
    let open_on_exec = |fd: &i32| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| i64::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 == 0)
    };
    let fds = fds.filter_map(|fd| fd.ok()?.file_name().to_str()?.parse().ok());
    fds.filter(open_on_exec).filter(|fd| *fd > 2).collect()
}

#[test]
fn what_cannot_start_says_why() {
    let why = |launch: Launch| {
        run(&launch, &Stop::new().unwrap(), &mut |_, _| ControlFlow::Break(()))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        why(launch("no", "no-such-program", &[])),
        "program `no-such-program` was not found"
    );
    assert_eq!(why(launch("no", "/etc/passwd", &[])), "program `/etc/passwd` may not be executed");
    let nowhere = Launch { cwd: "/no/such/folder".into(), ..launch("no", "true", &[]) };
    assert_eq!(why(nowhere), "folder /no/such/folder is not there");
    let huge = "x".repeat(200_000);
    let too_large = "arguments and environment are larger than the system allows";
    assert_eq!(why(launch("no", "true", &[&huge])), too_large);
}
