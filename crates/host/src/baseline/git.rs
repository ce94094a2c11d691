//! A git checkout: its commit, and what differs from that. Git is only asked,
//! and takes no lock; nothing that the checkout itself configures to be run is
//! run beyond its filters.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use durable::Digest;
use engine::AttemptKey;
use providers::process::{Exit, Launch, Stdin, run};
use providers::{Marks, Stop, Stream};

use super::{Baseline, walk};
use crate::perform::Stage;

/// As much as git may say.
const SAID_BYTES: usize = 16 << 20;

/// Files up to this size are told apart by their content, as long as all of
/// them together stay below the other.
const FILE_BYTES: u64 = 8 << 20;
const ALL_BYTES: u64 = 256 << 20;

/// The state of the workspace as a checkout; `None` when it is none, or when
/// there is no git.
pub(super) fn state(
    stage: &Stage,
    key: &AttemptKey,
    stop: &Stop,
) -> Result<Option<Baseline>, String> {
    let git = Git { stage, key, stop };
    let Some(prefix) = git.says(&["rev-parse", "--show-prefix"])? else { return Ok(None) };
    let prefix = text(&prefix).trim_end_matches('\n').to_owned();
    let head = git.says(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
    let head = head.map(|head| text(&head).trim().to_owned());
    let status = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "."];
    let status = git.says(&status)?.ok_or("git does not say what has changed")?;
    let mut changed = BTreeMap::new();
    let mut room = ALL_BYTES;
    for entry in text(&status).split('\0').filter(|entry| entry.len() > 3) {
        let (kind, path) = entry.split_at(3);
        let Some(path) = path.strip_prefix(&prefix) else { continue };
        let content = content(&stage.workspace.join(path), &mut room);
        changed.insert(path.to_owned(), format!("{} {content}", kind.trim()));
    }
    Ok(Some(Baseline::Git { head, changed }))
}

/// The paths in which two commits differ.
pub(super) fn between(
    stage: &Stage,
    key: &AttemptKey,
    stop: &Stop,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<BTreeSet<String>, String> {
    let git = Git { stage, key, stop };
    let said = match (old, new) {
        (Some(old), Some(new)) => git.says(&[
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--relative",
            old,
            new,
            "--",
            ".",
        ])?,
        // Before the first commit there was nothing.
        (None, Some(one)) | (Some(one), None) => {
            git.says(&["ls-tree", "-r", "--name-only", "-z", one])?
        }
        (None, None) => Some(Vec::new()),
    };
    let said = said.ok_or("git does not say in what the two commits differ")?;
    let paths = text(&said);
    Ok(paths.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

struct Git<'a> {
    stage: &'a Stage,
    key: &'a AttemptKey,
    stop: &'a Stop,
}

impl Git<'_> {
    /// What git prints; `None` when it refuses, or is not there.
    fn says(&self, args: &[&str]) -> Result<Option<Vec<u8>>, String> {
        let safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
        let env = [("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned())];
        let launch = Launch {
            program: "git".into(),
            args: safe.iter().chain(args).map(Into::into).collect(),
            env: self.stage.host_env.child(&[], &env, Marks::of(self.key)),
            cwd: self.stage.workspace.clone(),
            stdin: Stdin::Null,
            kept_bytes: 0,
        };
        let mut said = Vec::new();
        let mut too_much = false;
        let mut sink = |stream: Stream, bytes: &[u8]| {
            if stream == Stream::Stdout {
                too_much |= said.len() + bytes.len() > SAID_BYTES;
                if !too_much {
                    said.extend_from_slice(bytes);
                }
            }
            if too_much { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match run(&launch, self.stop, &mut sink) {
            Ok(ended) if ended.stopped => Err("it was ended while git was asked".to_owned()),
            Ok(_) if too_much => Err("git says more than is read".to_owned()),
            Ok(ended) => Ok((ended.exit == Exit::Code(0)).then_some(said)),
            Err(_) => Ok(None),
        }
    }
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn content(path: &Path, room: &mut u64) -> String {
    let Ok(data) = std::fs::symlink_metadata(path) else { return "gone".to_owned() };
    if data.is_symlink() {
        let to = std::fs::read_link(path).unwrap_or_default();
        return format!("to {}", to.display());
    }
    if !data.is_file() || data.len() > FILE_BYTES.min(*room) {
        return walk::told(&data);
    }
    *room -= data.len();
    match std::fs::read(path) {
        Ok(bytes) => Digest::of(&bytes).to_string(),
        Err(_) => walk::told(&data),
    }
}
