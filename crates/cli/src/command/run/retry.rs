//! `wardian run retry`. Where a node's outcome is unknown a person decides;
//! one who is there is asked.

use std::io::BufRead;

use host::Host;
use host::api::input::read_input;
use host::api::{NodeStatus, NodeView, RunReport, Verdict};
use serde_json::Value;

use crate::args::RetryArgs;
use crate::command::automation::exec::text_of;
use crate::command::launch;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{escape, gist};

pub(crate) fn run(host: &Host, console: &Console, args: &RetryArgs) -> Result<Exit, CliError> {
    let mut verdicts = said(args)?;
    if console.may_ask {
        let report = host.show(&args.run.run)?;
        ask(console, &report, &mut verdicts)?;
    }
    let prepared = host.prepare_retry(&args.run.run, verdicts)?;
    launch(host, console, &args.attach, prepared, |_| Ok(()))
}

/// The verdicts of the command line, one a node.
fn said(args: &RetryArgs) -> Result<Vec<(String, Verdict)>, CliError> {
    let mut verdicts: Vec<(String, Verdict)> = Vec::new();
    for (node, output) in &args.happened {
        verdicts.push((node.clone(), happened(output.as_deref())?));
    }
    verdicts.extend(args.did_not.iter().map(|node| (node.clone(), Verdict::DidNot)));
    verdicts.extend(args.redo.iter().map(|node| (node.clone(), Verdict::Redo)));
    let mut nodes: Vec<&str> = verdicts.iter().map(|(node, _)| node.as_str()).collect();
    nodes.sort_unstable();
    if let Some(twice) = nodes.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("`{}` has two verdicts", twice[0]);
        return Err(CliError::usage(
            message,
            "give each node one of --happened, --did-not, --redo",
        ));
    }
    Ok(verdicts)
}

/// What the node would have given, had anybody been there to see it.
fn happened(output: Option<&str>) -> Result<Verdict, CliError> {
    let Some(output) = output else { return Ok(Verdict::Happened(Value::Null)) };
    let (value, raw) = read_input(&text_of(output)?)?;
    Ok(Verdict::Happened(value.or(raw.map(Value::String)).unwrap_or(Value::Null)))
}

fn ask(
    console: &Console,
    report: &RunReport,
    verdicts: &mut Vec<(String, Verdict)>,
) -> Result<(), CliError> {
    let open = |node: &&NodeView| node.status == NodeStatus::Unknown && node.port.is_none();
    let unknown = report.view.nodes.iter().filter(open);
    for node in unknown {
        let id = node.id.as_str();
        if !verdicts.iter().any(|(said, _)| said == id) {
            verdicts.push((id.to_owned(), ask_about(console, node)?));
        }
    }
    Ok(())
}

fn ask_about(console: &Console, node: &NodeView) -> Result<Verdict, CliError> {
    let why = node.error.as_ref().map(|error| gist::first_line(&error.message, 200));
    let id = escape::line(node.id.as_str()).into_owned();
    console.talk(&format!("what {id} did is unknown: {}", why.unwrap_or_default()));
    loop {
        console.talk(&format!("did {id} do its work?  [h]appened  [d]id-not  [r]edo"));
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            let hint = "say --happened, --did-not or --redo";
            return Err(CliError::usage(format!("nobody said what {id} did"), hint));
        }
        match line.trim() {
            "h" | "happened" => return Ok(Verdict::Happened(Value::Null)),
            "d" | "did-not" => return Ok(Verdict::DidNot),
            "r" | "redo" => return Ok(Verdict::Redo),
            _ => {}
        }
    }
}
