//! `wardian run diff`.

use host::Host;
use host::api::diff::{Change, NodeDiff, RunDiff, Side, ValueDiff};
use host::api::json;
use serde_json::Value;

use crate::args::DiffRunsArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{escape, gist};
use crate::style::{Paint, Style};

/// Letters of one value.
const VALUE_CHARS: usize = 60;

pub(crate) fn run(host: &Host, console: &Console, args: &DiffRunsArgs) -> Result<Exit, CliError> {
    let found = host.compare_runs(&args.first.run, &args.second)?;
    let exit = if found.diff.is_empty() { Exit::Done } else { Exit::Failed };
    if console.json {
        console.document(&json::run_diff(&found))?;
        return Ok(exit);
    }
    for line in lines(&found.diff, &found.first, &found.second, console.style) {
        console.line(&line)?;
    }
    Ok(exit)
}

fn lines(diff: &RunDiff, first: &str, second: &str, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint(Paint::Strong, &format!("{first} → {second}"))];
    let noted = [
        (diff.same_graph, "the graphs differ; `wardian automation diff` shows how"),
        (diff.same_input, "the inputs differ"),
        (diff.same_end, "they ended differently"),
    ];
    lines.extend(noted.iter().filter(|(same, _)| !same).map(|(_, text)| format!("~ {text}")));
    for node in &diff.nodes {
        lines.extend(node_lines(node, style));
    }
    let count = diff.same_nodes;
    let noun = if count == 1 { "node" } else { "nodes" };
    lines.push(style.paint(Paint::Faint, &format!("{count} {noun} went the same way")));
    lines
}

fn node_lines(node: &NodeDiff, style: Style) -> Vec<String> {
    let id = style.paint(Paint::Strong, &escape::line(&node.id));
    let mut lines = Vec::new();
    for change in &node.changes {
        let or = |text: &Option<String>| text.as_deref().unwrap_or("–").to_owned();
        let line = match change {
            Change::OnlyIn(Side::First) => format!("- {id} is in the first run only"),
            Change::OnlyIn(Side::Second) => format!("+ {id} is in the second run only"),
            Change::Status(one, other) => format!("~ {id} {one} → {other}"),
            Change::Port(one, other) => {
                format!("~ {id} took {} → {}", escape::line(&or(one)), escape::line(&or(other)))
            }
            Change::Error(one, other) => format!(
                "~ {id} error: {} → {}",
                gist::first_line(&or(one), VALUE_CHARS),
                gist::first_line(&or(other), VALUE_CHARS)
            ),
            Change::Attempts(one, other) => format!("~ {id} attempts: {one} → {other}"),
            Change::Took(one, other) => format!("~ {id} took {one} → {other}"),
            Change::Output(places) => {
                lines.push(format!("~ {id} output"));
                lines.extend(places.iter().map(value_line));
                continue;
            }
        };
        lines.push(line);
    }
    lines
}

fn value_line(at: &ValueDiff) -> String {
    let text = |value: &Option<Value>| {
        value.as_ref().map_or_else(
            || "–".to_owned(),
            |value| gist::first_line(&value.to_string(), VALUE_CHARS),
        )
    };
    let path = if at.path.is_empty() { "(all)" } else { &at.path };
    format!("    {}: {} → {}", escape::line(path), text(&at.first), text(&at.second))
}
