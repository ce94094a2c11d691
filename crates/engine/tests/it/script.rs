//! Scripts: `tests/scripts/*.txt`, each with its expected output in `.out`
//! beside it. A script is a graph (see [`crate::blueprints`]), then commands,
//! a line each:
//!
//! ```text
//! given KEY=JSON …              what the run is given beside its input:
//!                               parent, deadline, budget
//! start JSON                    launches the run with this input
//! finish NODE ok JSON           the attempt did its work
//! reply NODE TEXT [SESSION]     the agent answered
//! ended NODE ok JSON            a run that worked for the node succeeded
//! ended NODE CLASS CODE TEXT    … or failed
//! fail NODE CLASS CODE TEXT     the attempt failed, and that was seen
//! lost NODE TEXT                nobody knows
//! proved NODE held broken=TEXT unknown=TEXT    what each check of a claim found
//! stopped NODE                  its processes are gone
//! late NODE ATTEMPT GENERATION [ROUND]     an outcome from another time
//! approve [GATE] [note=…] [id=…] [as=…]    and so reject, cancel, resume
//! deny VERB                     a caller inside the run tried this
//! tick SPAN                     time passes, and the owner notices
//! clock +SPAN / -SPAN           the clock is set, and nobody notices yet
//! wake                          prints when the run wants to be looked at
//! hold / release                appends stay outstanding until released
//! crash [before-append|torn=N]  the owner dies, a new one opens the run
//! retry JSON                    tries the closed run again, with verdicts
//! change LINE                   changes the graph, for a fork: a node anew,
//!                               a further edge, or `without NODE`
//! fork SEQ                      a run of that graph from that event on
//! show / view / events / spent  prints nodes, the view, the whole log, or
//!                               what agents have used
//! ```
//!
//! A NODE inside of a `for_each` is written with its item, as `fix[3]`. An end
//! may say `usage=JSON`, a failure `effect=WORD` and `retry_after=SPAN`.
//! Texts are JSON strings or bare words. Signals get ids `s1`, `s2`, … unless
//! they bring one. After the script every prefix of its log is opened by a
//! new owner and driven to its end, so that each script is a test of every
//! torn write as well.

mod play;
mod print;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::blueprints::Draft;
use crate::golden;
use crate::laws::drive;
use play::Player;

#[test]
fn every_script_gives_its_expected_output() {
    let scripts = scripts();
    assert!(!scripts.is_empty());
    let faults =
        faults(&scripts, |path| golden::compare(&path.with_extension("out"), &play(path).output));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_expected_output_has_its_script() {
    for path in files("out") {
        assert!(path.with_extension("txt").exists(), "{} has no script", path.display());
    }
}

#[test]
fn a_new_owner_can_go_on_from_every_prefix_of_every_log() {
    let faults = faults(&scripts(), |path| {
        for (launch, program, log) in play(path).logs {
            for length in 1..=log.len() {
                drive::from_prefix(&program, &launch, &log[..length]);
            }
        }
        Ok(())
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is wrong with each script, so that one does not hide the others.
fn faults(scripts: &[PathBuf], test: impl Fn(&Path) -> Result<(), String>) -> Vec<String> {
    let fault = |path: &PathBuf| match catch_unwind(AssertUnwindSafe(|| test(path))) {
        Ok(result) => result.err(),
        Err(_) => Some(format!("{} panicked, see above", path.display())),
    };
    scripts.iter().filter_map(fault).collect()
}

fn scripts() -> Vec<PathBuf> {
    files("txt")
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let entries = std::fs::read_dir(folder).expect("the folder of scripts is there");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
}

fn play(path: &Path) -> Player {
    let text = std::fs::read_to_string(path).expect("the script can be read");
    let mut draft = Draft::default();
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let mut lines = text.lines().map(str::trim).filter(is_said).peekable();
    while lines.peek().is_some_and(|line| draft.line(line)) {
        lines.next();
    }
    let mut player = Player::new(draft);
    for line in lines {
        player.line(line);
    }
    player.leave();
    player
}
