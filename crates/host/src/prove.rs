//! Looks whether what a node claims is so: runs the commands, reads the files,
//! compares the workspace. It says what it found; what that proves the engine
//! decides. To look changes nothing, so it may be done twice.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use durable::Span;
use engine::proof::Finding;
use engine::{AttemptKey, Effect, NodeError, Outcome, Probe, ProveTask, ShellTask};
use providers::{Sink, Stop};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use crate::baseline::{self, Difference};
use crate::perform::{Stage, shell};

/// As much of a file as is looked through for a text.
const FILE_BYTES: u64 = 8 << 20;

/// Changed paths that a message names.
const SHOWN: usize = 5;

/// How a shell says that there is no such command, or that it is none.
const NOT_RUN: [&str; 2] = ["exit_126", "exit_127"];

/// All probes, one after the other.
pub(crate) fn perform_proof(
    stage: &Stage,
    key: &AttemptKey,
    task: &ProveTask,
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Outcome {
    let mut findings = Vec::with_capacity(task.probes.len());
    let mut changes = None;
    for probe in &task.probes {
        let found = match probe {
            Probe::Command { shell: task, timeout } => {
                command(stage, key, (task, *timeout), stop, sink)
            }
            Probe::Changed { paths } => {
                let changes = changes.get_or_insert_with(|| baseline::compare(stage, key, stop));
                changed(changes, &|path| {
                    paths.is_empty() || paths.iter().any(|glob| glob.matches(path))
                })
            }
            Probe::File { path, contains } => file(&stage.workspace, path, contains.as_deref()),
        };
        if stop.requested() {
            return Outcome::Stopped;
        }
        findings.push(found);
    }
    Outcome::Proved(findings)
}

fn command(
    stage: &Stage,
    key: &AttemptKey,
    (task, timeout): (&ShellTask, Span),
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Finding {
    let ended = stop.within(timeout, |stop| shell(stage, key, task, stop, sink));
    match ended {
        Ok((Outcome::Output(_), _)) => Finding::held(),
        Ok((Outcome::Failed(error), _)) => exited(error),
        Ok((Outcome::Lost { message }, _)) => Finding::unknown(message),
        Ok((_, true)) => Finding::unknown(format!("it ran past its time of {timeout}")),
        Ok((
            Outcome::Stopped
            | Outcome::Replied { .. }
            | Outcome::Ended { .. }
            | Outcome::Used { .. }
            | Outcome::Proved(_),
            false,
        )) => Finding::unknown("it was ended".to_owned()),
        Err(error) => Finding::unknown(format!("it cannot be watched: {error}")),
    }
}

/// A command that could not even begin says nothing of the claim.
fn exited(error: NodeError) -> Finding {
    if error.effect == Effect::None || NOT_RUN.contains(&error.code.as_str()) {
        Finding::unknown(error.message)
    } else {
        Finding::broken(error.message)
    }
}

fn changed(difference: &Result<Difference, String>, wanted: &dyn Fn(&str) -> bool) -> Finding {
    let difference = match difference {
        Ok(difference) => difference,
        Err(why) => return Finding::unknown(why.clone()),
    };
    if difference.paths.iter().any(|path| wanted(path)) {
        return Finding::held();
    }
    if !difference.whole {
        let why = "nothing of what was looked at has changed, and there is more than is looked at";
        return Finding::unknown(why.to_owned());
    }
    let others: Vec<&str> = difference.paths.iter().take(SHOWN).map(String::as_str).collect();
    match difference.paths.len() {
        0 => Finding::broken("nothing has changed".to_owned()),
        count if count > SHOWN => {
            let more = count - SHOWN;
            Finding::broken(format!(
                "only others have changed: {} and {more} more",
                others.join(", ")
            ))
        }
        _ => Finding::broken(format!("only others have changed: {}", others.join(", "))),
    }
}

/// The kernel resolves the path beneath the workspace, so that no `..` and no
/// link leads out of it.
fn file(workspace: &Path, path: &str, contains: Option<&str>) -> Finding {
    let inside = Path::new(path).strip_prefix(workspace).unwrap_or(Path::new(path));
    let file = match open(workspace, inside) {
        Ok(file) => file,
        Err(error) => return not_opened(&error),
    };
    let data = match file.metadata() {
        Ok(data) if data.is_file() => data,
        Ok(_) => return Finding::broken("it is no file".to_owned()),
        Err(error) => return Finding::unknown(format!("it cannot be read: {error}")),
    };
    let Some(wanted) = contains else { return Finding::held() };
    let mut bytes = Vec::new();
    if let Err(error) = file.take(FILE_BYTES).read_to_end(&mut bytes) {
        return Finding::unknown(format!("it cannot be read: {error}"));
    }
    if String::from_utf8_lossy(&bytes).contains(wanted) {
        Finding::held()
    } else if data.len() > FILE_BYTES {
        Finding::unknown(format!("the text is not in its first {FILE_BYTES} bytes"))
    } else {
        Finding::broken("the text is not in it".to_owned())
    }
}

fn open(workspace: &Path, path: &Path) -> io::Result<File> {
    let root = openat(CWD, workspace, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // A pipe that nobody writes to must not be waited for.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(openat2(&root, path, flags, Mode::empty(), ResolveFlags::BENEATH)?))
}

fn not_opened(error: &io::Error) -> Finding {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR) => Finding::broken("there is no such file".to_owned()),
        Some(Errno::XDEV) => Finding::broken("it leads out of the workspace".to_owned()),
        Some(_) | None => Finding::unknown(format!("it cannot be opened: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use engine::CheckEnd;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_file_is_looked_for_in_the_workspace_and_nowhere_else() {
        let (workspace, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let at = workspace.path();
        std::fs::create_dir(at.join("sub")).unwrap();
        std::fs::write(at.join("sub/a.txt"), "one Summary two").unwrap();
        std::fs::write(outside.path().join("secret"), "Summary").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), at.join("link")).unwrap();
        std::os::unix::fs::symlink("sub/a.txt", at.join("inner")).unwrap();
        let end = |path: &str, contains: Option<&str>| file(at, path, contains).end;
        assert_eq!(end("sub/a.txt", None), CheckEnd::Held);
        assert_eq!(end("inner", Some("Summary")), CheckEnd::Held);
        assert_eq!(end(at.join("sub/a.txt").to_str().unwrap(), Some("one")), CheckEnd::Held);
        assert_eq!(end("sub/a.txt", Some("three")), CheckEnd::Broken);
        let outside = outside.path().join("secret");
        for path in ["b.txt", "sub", "link", "../x", "/etc/passwd", outside.to_str().unwrap(), ""] {
            assert_eq!(end(path, None), CheckEnd::Broken, "{path}");
        }
    }
}
