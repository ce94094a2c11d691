//! A model that says every planted secret, by every way that leads into a
//! run: as an answer, as data, as the output of a tool, as an error, and as
//! the output of a command. Then everything that can be asked is asked.

use std::fs;

use serde_json::json;
use world::Draft;

use crate::canary::{Canary, is_masked};
use crate::house::{House, Verdict};
use crate::runs::{expect, task};

pub(crate) fn secrets(house: &House) -> Verdict {
    // Beside the places that are looked through.
    let text = house.folder.join("planted.txt");
    let data = house.folder.join("planted.json");
    let write = |path, text: &str| fs::write(path, text).map_err(|error| error.to_string());
    write(&text, &Canary::text())?;
    write(&data, &json!({ "found": Canary::text() }).to_string())?;
    let (text, data) = (text.display(), data.display());
    let shape = json!({
        "agent": "role:worker", "prompt": format!("[[fake json text-file={data}]]"),
        "output_schema": { "found": "string" },
    });
    let tool = format!("[[fake tool-call command=\"env; cat {text}\"]]");
    let draft = Draft::new("secrets")
        .setting("max_parallel: 2")
        .node("says", "task", task(&format!("[[fake ok text-file={text}]]"), "plan"))
        .node("shape", "task", shape)
        .node("tool", "task", task(&tool, "full"))
        .node("fails", "task", task(&format!("[[fake bad-request text-file={text}]]"), "plan"))
        .shell("command", &format!("cat {text} {text} >&2; cat {text}; env"))
        .notify("tell", "{{nodes.says.output | json}} {{nodes.fails.error.message}}")
        .path(&["start", "says", "shape", "tool", "command", "fails"])
        .port("fails", "error", "tell");
    let (code, run) = house.rest(&draft, &[])?;
    let shown = house.show(&run)?;
    expect(code == 0, "the run", &shown)?;
    let nodes = &shown["nodes"];
    is_masked(nodes["says"]["output"]["text"].as_str().unwrap_or_default())?;
    is_masked(nodes["shape"]["output"]["found"].as_str().unwrap_or_default())?;
    is_masked(&nodes["command"]["output"].to_string())?;
    for node in ["tool", "command"] {
        let output = nodes[node]["output"].to_string();
        expect(!output.contains("PLANTED_TOKEN="), "who has no use for it was given it", &output)?;
    }
    let listed = house.json(&["workers", "list"])?;
    let worker = listed["workers"][0]["id"].as_str().unwrap_or_default().to_owned();
    for args in [
        &["run", "show", &run][..],
        &["run", "logs", &run],
        &["run", "events", &run],
        &["run", "watch", &run],
        &["run", "view", &run, "--at", "9", "--json"],
        &["run", "export", &run],
        &["workers", "show", &worker],
        &["doctor"],
    ] {
        let said = house.run(args)?;
        expect(!said.out.is_empty(), "nothing is said", &args.join(" "))?;
    }
    let logs = house.run(&["run", "logs", &run])?;
    is_masked(&logs.out)
}
