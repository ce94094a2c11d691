//! Whether this process was started by a run, directly or through others,
//! and must not use what only people may use. A cleared environment does not
//! hide it: the processes it descends from still carry theirs.

use crate::environment::RUN_MARK;
use crate::proc_table;

/// Marks the sessions of agents.
const SESSION_MARK: &str = "WARDIAN_SESSION_ID";

/// The run, the session, or both, inside which this process runs. That there
/// is a mark cannot be hidden; which run it names, a process that sets its
/// own environment can choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub run_id: Option<String>,
    pub session_id: Option<String>,
    /// The nearest process that carries the mark; may be this one.
    pub pid: i32,
}

/// Looks at this process, then at each process it descends from.
pub fn caller() -> Option<Caller> {
    let own = i32::try_from(std::process::id()).ok()?;
    caller_of(own, |name| Some(std::env::var_os(name)?.to_string_lossy().into_owned()))
}

/// The same for any process; `current` reads what it has changed since its
/// start, which only it can know.
fn caller_of(own: i32, current: impl Fn(&str) -> Option<String>) -> Option<Caller> {
    // Where processes cannot be listed, this one's own word is all there is.
    let lineage = proc_table::lineage(own).unwrap_or_else(|_| vec![own]);
    first_marked(lineage, |pid, name| {
        let changed = (pid == own).then(|| current(name)).flatten();
        changed.or_else(|| proc_table::variable(pid, name).ok().flatten())
    })
}

fn first_marked(
    lineage: impl IntoIterator<Item = i32>,
    variable: impl Fn(i32, &str) -> Option<String>,
) -> Option<Caller> {
    lineage.into_iter().find_map(|pid| {
        // An empty value hides nothing: the look goes on further up.
        let run_id = variable(pid, RUN_MARK).filter(|id| !id.is_empty());
        let session_id = variable(pid, SESSION_MARK).filter(|id| !id.is_empty());
        (run_id.is_some() || session_id.is_some()).then_some(Caller { run_id, session_id, pid })
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    fn found(marked: &[(i32, &str, &str)]) -> Option<Caller> {
        first_marked([30, 20, 10, 1], |pid, name| {
            let hit = marked.iter().find(|(p, n, _)| *p == pid && *n == name);
            hit.map(|(_, _, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_caller_without_marks_in_its_line_is_a_person() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[(40, RUN_MARK, "stranger")]), None);
    }

    #[test]
    fn a_mark_anywhere_in_the_line_is_found_and_the_nearest_counts() {
        let run = |pid, run: &str| Caller { run_id: Some(run.to_owned()), session_id: None, pid };
        assert_eq!(found(&[(30, RUN_MARK, "own")]), Some(run(30, "own")));
        assert_eq!(found(&[(10, RUN_MARK, "far")]), Some(run(10, "far")));
        assert_eq!(found(&[(10, RUN_MARK, "far"), (20, RUN_MARK, "near")]), Some(run(20, "near")));
        assert_eq!(found(&[(10, RUN_MARK, "far"), (20, RUN_MARK, "")]), Some(run(10, "far")));
    }

    #[test]
    fn an_agents_session_counts_as_well() {
        let got = found(&[(20, SESSION_MARK, "s1")]).unwrap();
        assert_eq!((got.run_id, got.session_id.as_deref(), got.pid), (None, Some("s1"), 20));
    }

    #[test]
    fn a_process_with_a_cleared_environment_is_still_known_as_inside_its_run() {
        let run = format!("caller-{}", std::process::id());
        let mut child = Command::new("sh")
            .args(["-c", "env -i /bin/sh -c 'echo $$; exec sleep 300'; :"])
            .env(RUN_MARK, &run)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = line.trim().parse().unwrap();
        let found = caller_of(pid, |_| None).unwrap();
        assert_eq!(found.run_id.as_deref(), Some(&run[..]));
        assert_eq!(found.pid, i32::try_from(child.id()).unwrap());
        // The cleared one descends from the marked one, and goes with it.
        assert!(crate::reap_run(&run).unwrap().found >= 2);
        assert!(proc_table::process(pid).unwrap().is_none_or(|process| process.ended));
        child.wait().unwrap();
    }
}
