//! Runs in worktrees of their own: what they change, where it goes, and what
//! is left after a crash. Every repository has an identity of its own and no
//! configuration but what a test writes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::house::{House, Said, chain, finish, line_of, said, send, until};

/// An agent that edits, then a command that works in the same place.
fn editing() -> String {
    chain(
        "editing",
        &[
            ("edit", "task", "agent: role:coder\nprompt: Mend it."),
            ("more", "shell", "command: \"cat new.txt; echo more >> kept.txt\""),
        ],
    )
}

/// The same, and then it waits for a file `go` beside the repository.
fn lingering() -> String {
    let wait = "command: |\n  echo $PPID > \"$HOME/worker\"\n  \
                while [ ! -e \"$HOME/go\" ]; do sleep 0.02; done";
    chain(
        "lingering",
        &[("edit", "task", "agent: role:coder\nprompt: Mend it."), ("wait", "shell", wait)],
    )
}

const SCRIPT: &str =
    "edit:\n  - files: { new.txt: \"new\\n\", kept.txt: \"changed\\n\" }\n    text: Done.\n";

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args).env_clear().stdin(Stdio::null());
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", folder);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Kim");
        command.env(format!("GIT_{role}_EMAIL"), "kim@localhost");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// A house whose working folder has a repository, and blueprints beside it.
fn house(repository: &str) -> (House, PathBuf) {
    let house = House::new();
    house.write("editing.md", editing());
    house.write("lingering.md", lingering());
    house.write("script.yaml", SCRIPT);
    let repo = house.work().join(repository);
    fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(repo.join("kept.txt"), "as it was\n").unwrap();
    fs::write(repo.join("other.txt"), "other\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "first"]);
    (house, repo)
}

fn exec(house: &House, file: &str, repo: &Path, more: &[&str]) -> Said {
    let repo = repo.to_str().unwrap();
    let args = ["automation", "exec", file, "--workspace", repo, "--script", "script.yaml"];
    house.run(&[&args[..], &["--provider", "scripted"], more].concat())
}

fn run_of(said: &Said) -> String {
    said.json()["run_id"].as_str().unwrap().to_owned()
}

/// Every file below a folder, but for git's own.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != ".git" {
            found.extend(files(&path));
        } else if path.is_file() {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

fn states(house: &House) -> Vec<String> {
    let list = house.json(&["worktree", "list"]);
    let rows = list["worktrees"].as_array().unwrap();
    rows.iter().map(|row| row["state"].as_str().unwrap().to_owned()).collect()
}

/// Whatever the home still has of worktrees, by name.
fn left(house: &House) -> Vec<String> {
    let Ok(folders) = fs::read_dir(house.home().join("worktrees")) else { return Vec::new() };
    let names = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = folders.flat_map(|folder| names(folder.unwrap().path()));
    files.map(|file| file.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_task_leaves_the_checkout_alone_and_its_changes_come_when_asked_for() {
    let (house, repo) = house("repo");
    fs::write(repo.join("other.txt"), "not committed\n").unwrap();
    let before = files(&repo);
    let told = exec(&house, "editing.md", &repo, &[]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.talk.contains("1 path of"), "{told:?}");
    assert!(told.out.contains("2 files changed in its worktree"), "{told:?}");
    assert!(told.out.contains("run changes") && told.out.contains("run apply"), "{told:?}");
    assert_eq!(files(&repo), before);
    let list = house.json(&["worktree", "list"]);
    let row = &list["worktrees"][0];
    let run = row["run_id"].as_str().unwrap().to_owned();
    assert_eq!(row["state"], "kept");
    assert_eq!(row["branch"], format!("wardian/editing/{run}"));
    assert_eq!(row["base"], git(&repo, &["rev-parse", "HEAD"]));
    let shown = house.json(&["run", "show", &run]);
    assert_eq!(shown["run"]["worktree"]["original_cwd"], repo.to_str().unwrap());
    assert_eq!(shown["run"]["workspace"], row["target_cwd"]);
    let invocation = fs::read(house.run_folder(&run).join("invocation.json")).unwrap();
    let invocation: Value = serde_json::from_slice(&invocation).unwrap();
    assert_eq!(invocation["worktree"]["base"], row["base"]);

    let diff = house.run(&["run", "changes", &run]);
    assert!(diff.out.contains("+changed\n+more\n") && diff.out.contains("+new\n"), "{diff:?}");
    assert!(diff.out.contains("new file mode") && diff.talk.contains("2 files not committed"));
    let names = house.run(&["run", "changes", &run, "--name-only"]);
    assert_eq!(names.out, "kept.txt\nnew.txt\n");
    let document = house.json(&["run", "changes", &run, "--stat"]);
    assert_eq!(document["files"][1]["change"], "added");
    assert_eq!(document["applied"], false);

    let refused = house.run(&["worktree", "remove", &run, "--json"]);
    assert_eq!((refused.code, refused.error_code().as_str()), (13, "unmerged_changes"));
    let pruned = house.run(&["run", "prune", "--keep-last", "0", "--yes"]);
    assert!(pruned.talk.contains("its worktree is kept"), "{pruned:?}");

    let applied = house.run(&["run", "apply", &run]);
    assert_eq!((applied.code, &applied.out[..]), (0, "kept.txt\nnew.txt\n"), "{applied:?}");
    assert_eq!(fs::read_to_string(repo.join("kept.txt")).unwrap(), "changed\nmore\n");
    assert_eq!(fs::read_to_string(repo.join("other.txt")).unwrap(), "not committed\n");
    assert_eq!(git(&repo, &["status", "--porcelain"]), " M kept.txt\n M other.txt\n?? new.txt");
    let again = house.run(&["run", "apply", &run]);
    assert_eq!(again.code, 0);
    assert!(again.out.contains("already"), "{again:?}");
    assert_eq!(states(&house), ["merged"]);
    assert_eq!(house.run(&["worktree", "remove", &run]).code, 0);
    assert_eq!(left(&house), [""; 0]);
    assert_eq!(git(&repo, &["branch", "--list", "wardian/*"]), "");
    assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
    let gone = house.run(&["run", "changes", &run, "--json"]);
    assert_eq!((gone.code, gone.error_code().as_str()), (2, "no_worktree"));
}

#[test]
fn what_is_there_already_or_in_the_way_is_known_before_a_file_is_touched() {
    let (house, repo) = house("repo");
    let run = run_of(&exec(&house, "editing.md", &repo, &["--json"]));
    fs::write(repo.join("kept.txt"), "mine\n").unwrap();
    let before = files(&repo);
    let dirty = house.run(&["run", "apply", &run, "--json"]);
    assert_eq!((dirty.code, dirty.error_code().as_str()), (13, "dirty_target"));
    assert_eq!(dirty.json()["error"]["details"]["files"][0], "kept.txt");
    git(&repo, &["commit", "--quiet", "--all", "-m", "mine"]);
    let moved = house.run(&["run", "apply", &run, "--json"]);
    assert_eq!((moved.code, moved.error_code().as_str()), (13, "does_not_apply"));
    assert_eq!(moved.json()["error"]["details"]["files"][0], "kept.txt");
    assert_eq!(files(&repo), before);
    fs::write(repo.join("kept.txt"), "changed\nmore\n").unwrap();
    fs::write(repo.join("new.txt"), "new\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "by hand"]);
    let again = house.run(&["run", "apply", &run, "--json"]);
    assert_eq!((again.code, &again.json()["already"]), (0, &Value::Bool(true)), "{again:?}");
}

#[test]
fn changes_are_committed_here_or_onto_a_branch_when_that_is_asked_for() {
    let (house, repo) = house("repo");
    git(&repo, &["config", "user.name", "Kim"]);
    git(&repo, &["config", "user.email", "kim@localhost"]);
    git(&repo, &["branch", "side"]);
    git(&repo, &["worktree", "add", "--quiet", "-b", "there", "../there"]);
    let run = run_of(&exec(&house, "editing.md", &repo, &["--json"]));
    for (args, code) in [
        (&["--to", "none"][..], "invalid_request"),
        (&["--to", "side"][..], "invalid_request"),
        (&["--to", "there", "--commit", "-m", "x"][..], "invalid_request"),
        (&["--here"][..], "invalid_request"),
    ] {
        let said = house.run(&[&["run", "apply", &run, "--json"], args].concat());
        assert_eq!(said.error_code(), code, "{args:?}");
    }
    let before = files(&repo);
    let side = ["run", "apply", &run, "--to", "side", "--commit", "-m", "A change"];
    assert_eq!(house.run(&side).code, 0);
    assert_eq!(git(&repo, &["log", "--format=%s %an", "-1", "side"]), "A change Kim");
    assert_eq!(git(&repo, &["show", "side:new.txt"]), "new");
    assert_eq!(files(&repo), before);
    let mut here = house.command(&["run", "apply", &run, "--here", "--commit", "-m", "-m is it"]);
    here.current_dir(house.work().join("there"));
    let here = said(finish(house.start(here)));
    assert_eq!(here.code, 0, "{here:?}");
    assert_eq!(git(&repo, &["log", "--format=%s", "-1", "there"]), "-m is it");
    assert_eq!(git(&house.work().join("there"), &["status", "--porcelain"]), "");
    assert!(house.run(&side).out.contains("already"));
    assert_eq!(house.run(&["run", "apply", &run]).code, 0);
    assert_eq!(git(&repo, &["log", "--format=%s", "main"]), "first");
    let late = ["run", "apply", &run, "--commit", "--message", "After all"];
    for already in [false, true] {
        let said = house.run(&[&late[..], &["--json"]].concat());
        assert_eq!(said.json()["already"], already, "{said:?}");
        assert_eq!(git(&repo, &["log", "--format=%s", "main"]), "After all\nfirst");
    }
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn two_runs_of_one_repository_do_not_collide() {
    let (house, repo) = house("a repo\nof -two");
    let start = || {
        let workspace = repo.to_str().unwrap();
        let args = ["automation", "exec", "editing.md", "--provider", "scripted", "--json"];
        let more = ["--script", "script.yaml", "--workspace", workspace];
        house.start(house.command(&[&args[..], &more].concat()))
    };
    let (one, two) = (start(), start());
    let (one, two) = (said(finish(one)), said(finish(two)));
    assert_eq!((one.code, two.code), (0, 0), "{one:?} {two:?}");
    assert_eq!(states(&house), ["kept", "kept"]);
    assert_eq!(house.run(&["run", "apply", &run_of(&one)]).code, 0);
    let both = house.run(&["run", "apply", &run_of(&two), "--json"]);
    assert_eq!(both.json()["already"], true, "{both:?}");
}

#[test]
fn two_writers_of_one_checkout_are_one_too_many() {
    let (house, repo) = house("repo");
    let shared = ["--isolation", "shared", "--detach", "--json"];
    let first = exec(&house, "lingering.md", &repo, &shared);
    let run = run_of(&first);
    line_of(&house.home().with_file_name("worker"));
    let second = exec(&house, "editing.md", &repo, &shared);
    assert_eq!((second.code, second.error_code().as_str()), (75, "workspace_busy"));
    let error = &second.json()["error"];
    assert!(error["message"].as_str().unwrap().contains(&run), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("--isolation worktree"), "{error}");
    assert_eq!(exec(&house, "editing.md", &repo, &[]).code, 0);
    fs::write(house.work().parent().unwrap().join("go"), "").unwrap();
    until("the end of the first run", || house.status(&run) == "completed");
    assert_eq!(fs::read_to_string(repo.join("kept.txt")).unwrap(), "changed\n");
    let third = exec(&house, "editing.md", &repo, &["--isolation", "shared"]);
    assert_eq!(third.code, 0, "{third:?}");
}

#[test]
fn a_run_that_waited_finds_its_checkout_taken_and_goes_on_later() {
    let (house, repo) = house("repo");
    let nodes = [
        ("gate", "approval", "prompt: Now?"),
        ("edit", "task", "agent: role:coder\nprompt: Mend it."),
    ];
    house.write("gate.md", chain("gate", &nodes));
    let run = run_of(&exec(&house, "gate.md", &repo, &["--isolation", "shared", "--json"]));
    let other =
        exec(&house, "lingering.md", &repo, &["--isolation", "shared", "--detach", "--json"]);
    line_of(&house.home().with_file_name("worker"));
    house.run(&["run", "approve", &run]);
    until("the end of the run that waited", || house.status(&run) == "failed");
    let error = house.json(&["run", "show", &run])["run"]["nodes"]["edit"]["error"].clone();
    assert_eq!((&error["code"], &error["class"]), (&"workspace_busy".into(), &"preflight".into()));
    assert!(error["message"].as_str().unwrap().contains(&run_of(&other)), "{error}");
    fs::write(house.home().with_file_name("go"), "").unwrap();
    until("the end of the other", || house.status(&run_of(&other)) == "completed");
    let retried = house.json(&["run", "retry", &run]);
    assert_eq!(retried["status"], "completed", "{retried}");
}

#[test]
fn a_run_that_works_for_another_works_in_the_same_place() {
    let (house, repo) = house("repo");
    let child = "automation: editing";
    let look = ("look", "shell", "command: cat kept.txt new.txt");
    house.write("parent.md", chain("parent", &[("child", "sub_automation", child), look]));
    for isolation in ["worktree", "shared"] {
        let said = exec(&house, "parent.md", &repo, &["--isolation", isolation]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(states(&house), ["kept"]);
        let is_changed = fs::read_to_string(repo.join("kept.txt")).unwrap() == "changed\nmore\n";
        assert_eq!(is_changed, isolation == "shared");
    }
    git(&repo, &["checkout", "--quiet", "."]);
    fs::remove_file(repo.join("new.txt")).unwrap();
    assert_eq!(exec(&house, "parent.md", &repo, &[]).code, 0);
    assert_eq!(states(&house), ["kept", "kept"], "the child's task counts");
}

#[test]
fn a_run_that_changed_nothing_leaves_nothing() {
    let (house, repo) = house("repo");
    house.write("script.yaml", "edit:\n  - text: Nothing to do.\n");
    let fields = "agent: role:coder\nprompt: Look.";
    house.write("look.md", chain("look", &[("edit", "task", fields)]));
    let told = exec(&house, "look.md", &repo, &[]);
    assert_eq!(told.code, 0);
    assert!(!told.out.contains("changed in its worktree"), "{told:?}");
    assert_eq!((states(&house), left(&house)), (Vec::new(), Vec::new()));
    assert_eq!(git(&repo, &["branch", "--list", "wardian/*"]), "");
}

#[test]
fn the_default_is_careful_and_a_wish_is_a_wish() {
    let (house, repo) = house("repo");
    house.write("bare.md", chain("bare", &[("x", "shell", "command: pwd")]));
    let plain = exec(&house, "bare.md", &repo, &[]);
    assert!(plain.out.contains(repo.to_str().unwrap()) && states(&house).is_empty(), "{plain:?}");
    let asked = exec(&house, "bare.md", &repo, &["--isolation", "worktree"]);
    assert!(asked.out.contains("/worktrees/bare/"), "{asked:?}");
    let empty = house.work().join("empty");
    fs::create_dir(&empty).unwrap();
    git(&empty, &["init", "--quiet"]);
    let noted = exec(&house, "editing.md", &empty, &[]);
    assert_eq!(noted.code, 0);
    assert!(noted.talk.contains("no commit yet"), "{noted:?}");
    let untracked = repo.join("untracked");
    fs::create_dir(&untracked).unwrap();
    for folder in [&empty, &house.work(), &untracked] {
        let refused = exec(&house, "editing.md", folder, &["--isolation", "worktree", "--json"]);
        assert_eq!((refused.code, refused.error_code().as_str()), (2, "no_worktree"), "{folder:?}");
    }
    assert!(states(&house).is_empty());
}

#[test]
fn a_folder_of_the_checkout_keeps_its_place() {
    let (house, repo) = house("repo");
    fs::create_dir(repo.join("web")).unwrap();
    fs::write(repo.join("web/page"), "").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "web"]);
    let run = run_of(&exec(&house, "editing.md", &repo.join("web"), &["--json"]));
    let names = house.run(&["run", "changes", &run, "--name-only"]);
    assert_eq!(names.out, "web/kept.txt\nweb/new.txt\n");
    assert_eq!(house.run(&["run", "apply", &run]).code, 0);
    assert!(repo.join("web/new.txt").is_file());
}

#[test]
fn a_retry_stays_in_the_worktree_and_a_fork_gets_a_new_one() {
    let (house, repo) = house("repo");
    let nodes = [
        ("edit", "task", "agent: role:coder\nprompt: Mend it."),
        ("check", "shell", "command: \"pwd; test -e ok\""),
    ];
    house.write("fails.md", chain("fails", &nodes));
    let failed = exec(&house, "fails.md", &repo, &[]);
    assert_eq!(failed.code, 10);
    assert!(failed.out.contains("2 files changed"), "{failed:?}");
    let row = house.json(&["worktree", "list"])["worktrees"][0].clone();
    let (run, path) = (row["run_id"].as_str().unwrap(), row["path"].as_str().unwrap());
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "later"]);
    fs::write(Path::new(path).join("ok"), "").unwrap();
    let retried = house.json(&["run", "retry", run]);
    assert_eq!(retried["status"], "completed", "{retried}");
    let retried = retried["run_id"].as_str().unwrap();
    assert_eq!(house.json(&["run", "show", retried])["run"]["workspace"], path);
    let forked = house.json(&["run", "fork", run, "--from", "1"]);
    let forked = forked["run_id"].as_str().unwrap();
    let shown = house.json(&["run", "show", forked]);
    assert_ne!(shown["run"]["workspace"], path);
    assert_eq!(shown["run"]["worktree"]["base"], row["base"]);
    assert_eq!(house.run(&["worktree", "remove", run, "--force"]).code, 0);
    let gone = house.run(&["run", "retry", run, "--json"]);
    assert_eq!(gone.error_code(), "no_worktree");
}

#[test]
fn a_run_whose_worktree_is_gone_can_still_be_cancelled() {
    let (house, repo) = house("repo");
    let nodes = [
        ("edit", "task", "agent: role:coder\nprompt: Mend it."),
        ("gate", "approval", "prompt: Is it good?"),
        ("after", "shell", "command: echo after"),
    ];
    house.write("gate.md", chain("gate", &nodes));
    let runs = [(); 2].map(|()| run_of(&exec(&house, "gate.md", &repo, &["--json"])));
    assert_eq!(states(&house), ["active", "active"]);
    fs::remove_dir_all(house.home().join("worktrees/gate").join(&runs[0])).unwrap();
    fs::remove_dir_all(house.home().join("worktrees/gate").join(&runs[1])).unwrap();
    assert_eq!(house.run(&["run", "cancel", &runs[0]]).code, 0);
    house.run(&["run", "approve", &runs[1]]);
    until("the end of the other", || house.status(&runs[1]) == "failed");
    let node = house.json(&["run", "show", &runs[1]])["run"]["nodes"]["after"].clone();
    assert_eq!(node["error"]["class"], "preflight", "{node}");
    for run in &runs {
        assert_eq!(house.run(&["worktree", "remove", run]).code, 0);
    }
    assert_eq!(left(&house), [""; 0]);
    assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn an_orphan_is_listed_and_recovered_unless_it_holds_changes() {
    let (house, repo) = house("repo");
    let run = run_of(&exec(&house, "editing.md", &repo, &["--json"]));
    let folder = house.run_folder(&run);
    let row = house.json(&["worktree", "list"])["worktrees"][0].clone();
    let path = PathBuf::from(row["path"].as_str().unwrap());
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(states(&house), ["orphan"]);
    let kept = house.json(&["recover"]);
    assert_eq!(kept["runs"][0]["action"], "left", "{kept}");
    git(&path, &["checkout", "--quiet", "."]);
    fs::remove_file(path.join("new.txt")).unwrap();
    let swept = house.json(&["recover"]);
    assert_eq!(swept["runs"][0]["action"], "worktree_removed", "{swept}");
    assert_eq!(left(&house), [""; 0]);
    assert_eq!(git(&repo, &["branch", "--list", "wardian/*"]), "");
}

/// The checkout's own filter reports that git is at work, and waits: there the
/// launching command dies, then git does.
#[test]
fn a_launch_that_is_killed_while_git_works_leaves_no_orphan() {
    let (house, repo) = house("repo");
    let user = house.work().parent().unwrap().to_owned();
    fs::write(repo.join(".gitattributes"), "*.slow filter=slow\n").unwrap();
    fs::write(repo.join("a.slow"), "a\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "slow"]);
    let (mark, go) = (user.join("at-work"), user.join("go"));
    let smudge = format!(
        "echo $PPID > '{}'; while [ ! -e '{}' ]; do sleep 0.02; done; cat",
        mark.display(),
        go.display()
    );
    git(&repo, &["config", "filter.slow.smudge", &smudge]);
    for kills_git in [false, true] {
        let workspace = repo.to_str().unwrap();
        let args = ["automation", "exec", "editing.md", "--provider", "scripted"];
        let more = ["--script", "script.yaml", "--workspace", workspace];
        let child = house.start(house.command(&[&args[..], &more].concat()));
        let git_pid = line_of(&mark);
        send(&child, Signal::KILL);
        finish(child);
        assert_eq!(states(&house), ["active"], "git still works there");
        assert_eq!(house.json(&["recover"])["runs"], Value::Array(Vec::new()));
        if kills_git {
            let pid = git_pid.parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, Signal::KILL).unwrap();
        }
        fs::write(&go, "").unwrap();
        until("the end of git", || states(&house) == ["orphan"]);
        assert_eq!(house.json(&["recover"])["runs"][0]["action"], "worktree_removed");
        assert_eq!(left(&house), [""; 0]);
        assert_eq!(git(&repo, &["branch", "--list", "wardian/*"]), "");
        assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
        assert!(fs::read_dir(repo.join(".git/worktrees")).map_or(0, Iterator::count) == 0);
        fs::remove_file(&go).unwrap();
        fs::remove_file(&mark).unwrap();
    }
}

#[test]
fn a_worker_that_is_killed_leaves_a_worktree_that_can_be_retried_or_removed() {
    let (house, repo) = house("repo");
    let run = run_of(&exec(&house, "lingering.md", &repo, &["--detach", "--json"]));
    let worker = line_of(&house.home().with_file_name("worker")).parse().unwrap();
    assert_eq!(states(&house), ["active"]);
    let live = house.run(&["worktree", "remove", &run, "--force", "--json"]);
    assert_eq!((live.code, live.error_code().as_str()), (13, "run_open"));
    let open = house.run(&["run", "apply", &run, "--json"]);
    assert_eq!(open.error_code(), "run_open");
    assert_eq!(house.json(&["run", "changes", &run])["files"].as_array().unwrap().len(), 2);
    let pid = rustix::process::Pid::from_raw(worker).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    until("the record of the end", || {
        house.run(&["recover"]);
        house.status(&run) == "failed"
    });
    assert_eq!(states(&house), ["kept"]);
    assert_eq!(house.run(&["worktree", "remove", &run]).code, 13);
    assert_eq!(house.run(&["worktree", "remove", &run, "--force"]).code, 0);
    assert_eq!(left(&house), [""; 0]);
}

#[test]
fn a_hostile_repository_starts_nothing_and_leads_nowhere() {
    let (house, repo) = house("repo");
    let mark = house.work().join("mark");
    let evil = house.work().join("evil.sh");
    fs::write(&evil, format!("#!/bin/sh\necho $0 $* >> '{}'\nexit 1\n", mark.display())).unwrap();
    fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let evil = evil.to_str().unwrap();
    for hook in ["post-checkout", "pre-commit", "reference-transaction", "post-index-change"] {
        symlink(evil, repo.join(".git/hooks").join(hook)).unwrap();
    }
    for key in ["core.fsmonitor", "core.sshCommand", "core.pager", "diff.external", "gpg.program"] {
        git(&repo, &["config", key, evil]);
    }
    git(&repo, &["config", "commit.gpgSign", "true"]);
    git(&repo, &["config", "user.name", "Kim"]);
    git(&repo, &["config", "user.email", "kim@localhost"]);
    let told = exec(&house, "editing.md", &repo, &["--json"]);
    assert_eq!(told.code, 0, "{told:?}");
    let run = run_of(&told);
    assert!(house.run(&["run", "changes", &run]).out.contains("+changed"));
    let commit = house.run(&["run", "apply", &run, "--commit", "-m", "x"]);
    assert_eq!(commit.code, 0, "{commit:?}");
    assert_eq!(house.run(&["worktree", "remove", &run]).code, 0);
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap_or_default());

    fs::remove_dir_all(repo.join(".git/hooks")).unwrap();
    git(&repo, &["branch", "wardian"]);
    let taken = exec(&house, "editing.md", &repo, &["--json"]);
    assert_eq!((taken.code, taken.error_code().as_str()), (1, "git_failed"));
    assert_eq!(left(&house), [""; 0]);
    git(&repo, &["branch", "-D", "wardian"]);
    let outside = house.work().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir(house.home().join("worktrees/editing")).unwrap();
    symlink(&outside, house.home().join("worktrees/editing")).unwrap();
    let linked = exec(&house, "editing.md", &repo, &["--json"]);
    assert_eq!((linked.code, linked.error_code().as_str()), (13, "conflict"));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn no_worktree_is_removed_while_an_agent_of_the_home_works() {
    let (house, repo) = house("repo");
    let run = run_of(&exec(&house, "editing.md", &repo, &["--json"]));
    let path = house.home().join("runtime/workflow-execution.lock");
    let guard = fs::File::open(&path).unwrap();
    guard.lock_shared().unwrap();
    let said = house.run(&["worktree", "remove", &run, "--force", "--json"]);
    assert_eq!(said.error_code(), "run_busy", "{said:?}");
    assert_eq!(states(&house), ["kept"]);
    guard.unlock().unwrap();
    assert_eq!(house.run(&["worktree", "remove", &run, "--force"]).code, 0);
    assert!(states(&house).is_empty());
}

#[test]
fn a_run_without_agents_has_nothing_to_do_with_the_guard() {
    let house = House::new();
    house.write("plain.md", chain("plain", &[("say", "shell", "command: \"true\"")]));
    assert_eq!(house.run(&["automation", "exec", "plain.md"]).code, 0);
    assert!(!house.home().join("runtime").exists());
}
