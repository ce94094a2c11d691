//! What agents say of themselves, and what a run makes of it: claims with
//! their proofs, sessions, corrective turns and the limits of a provider.

use serde_json::{Value, json};

use crate::house::{House, Said, until};

/// A blueprint with one task, `write`, and what is said of it beyond that.
fn one_task(more: &str) -> String {
    format!(
        "---\nschema: 2\nid: one\nname: One task\nnodes:\n  - {{ id: start, type: manual_trigger }}\n  \
         - id: write\n    type: task\n    fields: {{ agent: claude, prompt: Write the report }}\n{more}\
         edges:\n  - {{ from: start, to: write }}\n---\n"
    )
}

fn exec(house: &House, blueprint: &str, script: &str, more: &[&str]) -> Said {
    house.write("one.md", blueprint);
    house.write("script.yaml", script);
    let args =
        ["automation", "exec", "one.md", "--provider", "scripted", "--script", "script.yaml"];
    house.run(&[&args[..], more].concat())
}

fn ran(house: &House, blueprint: &str, script: &str, code: i32) -> Value {
    let said = exec(house, blueprint, script, &["--json"]);
    assert_eq!(said.code, code, "{said:?}");
    let run = said.json()["run_id"].as_str().unwrap().to_owned();
    house.json(&["run", "show", &run])["run"].clone()
}

const REPORT: &str =
    "    prove:\n      - { changed: true }\n      - { file: report.md, contains: Summary }\n";

#[test]
fn who_says_done_and_writes_nothing_is_contradicted_and_told_so() {
    let house = House::new();
    let run = ran(&house, &one_task(REPORT), "write:\n  - text: Done.\n", 10);
    assert_eq!((&run["status"], &run["reason"]), (&json!("failed"), &json!("contradicted")));
    assert_eq!((&run["proof"], &run["unknown_effect"]), (&json!("contradicted"), &json!(false)));
    let write = &run["nodes"]["write"];
    assert_eq!(
        (&write["proof"], &write["error"]["code"]),
        (&json!("contradicted"), &json!("contradicted"))
    );
    let ends: Vec<_> =
        write["checks"].as_array().unwrap().iter().map(|check| &check["end"]).collect();
    assert_eq!(ends, ["broken", "broken"]);
    let shown = house.run(&["run", "show", run["run_id"].as_str().unwrap()]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let places = ["started", "folder", "workspace"];
    let told = house.normal(&shown.out);
    let told: Vec<&str> =
        told.lines().filter(|line| !places.iter().any(|word| line.starts_with(word))).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_was_written_is_proven_and_what_was_there_before_is_no_change() {
    let house = House::new();
    house.write("report.md", "# Summary\n");
    let run = ran(&house, &one_task(REPORT), "write:\n  - text: Done.\n", 10);
    assert_eq!(run["nodes"]["write"]["checks"][0]["note"], "nothing has changed");
    assert_eq!(run["nodes"]["write"]["checks"][1]["end"], "held");
    let script = "write:\n  - text: Done.\n    files: { report.md: \"# Summary\\nmore\\n\" }\n";
    let run = ran(&house, &one_task(REPORT), script, 0);
    assert_eq!(
        (&run["proof"], &run["nodes"]["write"]["proof"]),
        (&json!("proven"), &json!("proven"))
    );
    let run = ran(&house, &one_task(""), script, 0);
    assert_eq!(run["proof"], "claimed", "nobody has looked");
}

#[test]
fn commands_that_fail_contradict_and_those_that_cannot_be_run_prove_nothing() {
    let house = House::new();
    let script = "write:\n  - json: { name: out.txt, passing: true }\n    files: { out.txt: x }\n";
    let prove = |check: &str| one_task(&format!("    prove: [{check}]\n"));
    let held =
        "{ command: \"test -s {{nodes.write.output.name}}\" }, { output: /passing, equals: true }";
    assert_eq!(ran(&house, &prove(held), script, 0)["proof"], "proven");
    let run = ran(&house, &prove("{ command: echo it broke >&2; exit 3 }"), script, 10);
    assert!(run["failure"].as_str().unwrap().contains("it broke"), "{run}");
    for check in ["{ command: no-such-command-here }", "{ command: sleep 60, timeout: 20ms }"] {
        let run = ran(&house, &prove(check), script, 12);
        assert_eq!((&run["proof"], &run["unknown_effect"]), (&json!("unknown"), &json!(true)));
    }
}

#[test]
fn in_a_checkout_git_says_what_has_changed() {
    let house = House::new();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(args);
        git.current_dir(house.work()).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        let said = git.env("HOME", house.work()).output().unwrap();
        assert!(said.status.success(), "{said:?}");
    };
    house.write(".gitignore", "*.log\none.md\nscript.yaml\n");
    house.write("src/a.rs", "one");
    house.write("dirty.txt", "before");
    git(&["init", "-q"]);
    git(&["add", ".gitignore", "src"]);
    git(&["commit", "-qm", "first"]);
    let changed = one_task("    prove: [{ changed: true, paths: [\"src/**\"] }]\n");
    let writes = |files: &str| format!("write:\n  - text: Done.\n    files: {files}\n");
    let run = ran(&house, &changed, &writes("{ src/a.log: ignored, dirty.txt: after }"), 10);
    let note = &run["nodes"]["write"]["checks"][0]["note"];
    assert_eq!(note, "only others have changed: dirty.txt");
    ran(&house, &changed, &writes("{ src/a.rs: one }"), 10);
    ran(&house, &changed, &writes("{ src/a.rs: two }"), 0);
    ran(&house, &changed, &writes("{ src/new/b.rs: new }"), 0);
    // What is committed on the way has changed as well.
    let commit = "---\nschema: 2\nid: one\nname: One\nnodes:\n  - { id: start, type: manual_trigger }\n  \
                  - id: make\n    type: shell\n    fields: { command: \"echo three > src/a.rs; git -c user.name=a -c user.email=a@b.c commit -qam second\" }\n    \
                  prove: [{ changed: true, paths: [src/a.rs] }]\nedges:\n  - { from: start, to: make }\n---\n";
    assert_eq!(ran(&house, commit, "write:\n  - text: x\n", 0)["proof"], "proven");
}

#[test]
fn a_limit_parks_the_run_and_it_goes_on_when_somebody_says_so() {
    let house = House::new();
    let script = "write:\n  - limit: { resets_in: 2h }\n  - text: Done.\n";
    let said = exec(&house, &one_task(""), script, &["--detach", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let run = said.json()["run_id"].as_str().unwrap().to_owned();
    until("the run waits", || house.status(&run) == "waiting");
    let shown = house.json(&["run", "show", &run])["run"].clone();
    assert_eq!(
        (&shown["waits_for_limit"], &shown["nodes"]["write"]["again"]),
        (&json!(true), &json!("limit"))
    );
    let text = house.run(&["run", "show", &run]);
    assert!(text.out.contains("waiting (limit)"), "{text:?}");
    assert!(text.out.contains("`run resume` tries at once"), "{text:?}");
    let resumed = house.run(&["run", "resume", &run]);
    assert!([0, 11].contains(&resumed.code), "{resumed:?}");
    until("the run is over", || house.status(&run) == "completed");
    let shown = house.json(&["run", "show", &run])["run"].clone();
    assert_eq!(shown["nodes"]["write"]["attempt"], 2);
    let off = ran(
        &house,
        &one_task("    on_limit: fail\n    retry: { attempts: 2, backoff: 1ms, on: [bug] }\n"),
        script,
        10,
    );
    assert_eq!(off["nodes"]["write"]["error"]["code"], "limit_reached");
}

#[test]
fn a_session_goes_on_is_corrected_once_and_is_never_swapped() {
    let house = House::new();
    let two = |session: &str| {
        format!(
            "---\nschema: 2\nid: one\nname: Two tasks\nnodes:\n  - {{ id: start, type: manual_trigger }}\n  \
             - {{ id: plan, type: task, fields: {{ agent: claude, prompt: Plan it, output_schema: {{ steps: integer }} }} }}\n  \
             - {{ id: build, type: task, fields: {{ agent: claude, prompt: Build it, session: \"{session}\" }} }}\n\
             edges:\n  - {{ from: start, to: plan }}\n  - {{ from: plan, to: build }}\n---\n"
        )
    };
    let script = "plan:\n  - text: three steps\n  - json: { steps: 3 }\nbuild:\n  - text: built\n";
    let run = ran(&house, &two("continue:plan"), script, 0);
    assert_eq!(run["nodes"]["plan"]["attempt"], 2, "one corrective turn");
    let swapped = format!("{script}    session: another\n");
    let run = ran(&house, &two("continue:plan"), &swapped, 10);
    assert_eq!(run["nodes"]["build"]["error"]["code"], "session_changed");
    ran(&house, &two("fresh"), &swapped, 0);
}
