//! Agents that change files: two runs of one checkout at once, neither of
//! which touches it, until their changes are taken home.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use world::Draft;

use crate::house::{House, Verdict};
use crate::runs::{expect, task};

pub(crate) fn worktree(house: &House) -> Verdict {
    let repo = house.work().join("repo");
    begin(&repo)?;
    let before = git(&repo, &["rev-parse", "HEAD"])?;
    let starts = ["one", "two"].map(|word| {
        let args = house.exec(&editing(house, word), &["--workspace", &repo.display().to_string()]);
        args.and_then(|args| house.start(&args.iter().map(String::as_str).collect::<Vec<_>>()))
    });
    let mut runs = Vec::new();
    for start in starts {
        let said = house.finish(start?)?;
        expect(said.code == 0, "the run", &said.out)?;
        runs.push(said.json()?["run_id"].as_str().unwrap_or_default().to_owned());
    }
    let status = git(&repo, &["status", "--porcelain"])?;
    let after = git(&repo, &["rev-parse", "HEAD"])?;
    expect(status.is_empty() && before == after, "the checkout was touched", &status)?;
    for (run, word) in runs.iter().zip(["one", "two"]) {
        let names = house.run(&["run", "changes", run, "--name-only"])?;
        expect(names.out == format!("{word}.txt\n"), "what changed", &names.out)?;
        let diff = house.run(&["run", "changes", run])?;
        expect(diff.out.contains(&format!("+by {word}")), "the diff", &diff.out)?;
    }
    for run in &runs {
        let said = house.run(&["run", "apply", run, "--json"])?;
        expect(said.code == 0, "run apply", &said.out)?;
    }
    for word in ["one", "two"] {
        let text = fs::read_to_string(repo.join(format!("{word}.txt"))).unwrap_or_default();
        expect(text.trim_end() == format!("by {word}"), "what was applied", &text)?;
    }
    Ok("two runs, the checkout untouched, both applied".to_owned())
}

/// A task that writes one file with the tool that its program has for it.
fn editing(house: &House, word: &str) -> Draft {
    let id = format!("edit-{word}");
    // The server cannot know where the run works; the run's own id tells.
    let place = house.home().join("worktrees").join(&id);
    let path = format!("{}/{{{{run.id}}}}/{word}.txt", place.display());
    let text = format!("by {word}\n");
    let (tool, args) = match &house.provider[..] {
        "claude" => ("Write", json!({ "file_path": path, "content": text })),
        "gemini" => ("write_file", json!({ "file_path": path, "content": text })),
        "opencode" => ("write", json!({ "filePath": path, "content": text })),
        // It changes files by commands, in its sandbox.
        _ => ("", json!(format!("echo by {word} > {word}.txt"))),
    };
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let call = match tool {
        "" => format!("command=\"{}\"", quoted(args.as_str().unwrap_or_default())),
        tool => format!("tool={tool} args=\"{}\"", quoted(&args.to_string())),
    };
    let prompt = format!("[[fake tool-call {call}]]");
    Draft::new(&id).node("edit", "task", task(&prompt, "edit")).path(&["start", "edit"])
}

fn begin(repo: &Path) -> Result<(), String> {
    fs::create_dir_all(repo).map_err(|error| format!("no repository: {error}"))?;
    git(repo, &["init", "-q"])?;
    fs::write(repo.join("kept.txt"), "kept\n").map_err(|error| error.to_string())?;
    git(repo, &["add", "."])?;
    git(repo, &["commit", "-q", "-m", "first"]).map(drop)
}

fn git(folder: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Kim");
        command.env(format!("GIT_{role}_EMAIL"), "kim@localhost");
    }
    let output = command.output().map_err(|error| format!("git does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("git {args:?}: {}", String::from_utf8_lossy(&output.stderr)))
}
