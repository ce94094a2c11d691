//! `wardian run changes`.

use host::Host;
use host::api::json;
use host::api::worktree::{ChangeKind, ChangedFile, Changes, ChangesDetail};

use crate::args::ChangesArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::style::{Paint, Style};

pub(crate) fn run(host: &Host, console: &Console, args: &ChangesArgs) -> Result<Exit, CliError> {
    let detail = match args.stat || args.name_only {
        true => ChangesDetail::Files,
        false => ChangesDetail::Diff,
    };
    let changes = host.changes(&args.run.run, detail)?;
    if console.json {
        console.document(&json::changes(&changes))?;
        return Ok(Exit::Done);
    }
    if args.name_only {
        for file in &changes.files {
            console.line(&escape::line(&file.path))?;
        }
    } else if args.stat {
        for file in &changes.files {
            console.line(&stat(file, console.style))?;
        }
    } else {
        show(console, &changes)?;
    }
    tell(console, &changes);
    Ok(Exit::Done)
}

/// A pipe gets the diff as git wrote it, so that others can apply it; a
/// terminal gets nothing that it would act upon.
fn show(console: &Console, changes: &Changes) -> Result<(), CliError> {
    if !console.is_interactive {
        console.bytes(&changes.diff)?;
        return Ok(());
    }
    for line in String::from_utf8_lossy(&changes.diff).lines() {
        let text = escape::text(line);
        let paint = match line.as_bytes().first() {
            Some(b'+') => Paint::Good,
            Some(b'-') => Paint::Bad,
            Some(b'@') => Paint::Accent,
            Some(b'd') => Paint::Strong,
            Some(_) | None => {
                console.line(&text)?;
                continue;
            }
        };
        console.line(&console.style.paint(paint, &text))?;
    }
    Ok(())
}

fn stat(file: &ChangedFile, style: Style) -> String {
    let sign = match file.kind {
        ChangeKind::Added => style.paint(Paint::Good, "+"),
        ChangeKind::Removed => style.paint(Paint::Bad, "-"),
        ChangeKind::Modified => "~".to_owned(),
    };
    let count = match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!("+{added} -{removed}"),
        _ => "not text".to_owned(),
    };
    let open = if file.is_committed { "" } else { ", not committed" };
    format!("{sign} {}  {count}{open}", escape::line(&file.path))
}

fn tell(console: &Console, changes: &Changes) {
    if changes.is_cut {
        console.talk("the diff is longer; `--stat` names every file");
    }
    let (files, open) =
        (changes.files.len(), changes.files.iter().filter(|file| !file.is_committed).count());
    if files == 0 {
        console.talk(&format!("run {} has changed nothing", changes.run_id));
        return;
    }
    let plural = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    let branch = escape::line(&changes.worktree.branch);
    let commits = usize::try_from(changes.commits).unwrap_or(usize::MAX);
    console.talk(&format!(
        "{} changed; {} on {branch}, {} not committed",
        plural(files, "file"),
        plural(commits, "commit"),
        plural(open, "file"),
    ));
    if changes.is_applied {
        console.talk("all of it is applied");
    } else {
        console.talk(&format!("  {} run apply {}", console.program, changes.run_id));
    }
}
