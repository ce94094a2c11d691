//! `wardian automation diff`.

use host::Host;
use host::api::authoring::{Difference, Place};
use host::api::json;

use crate::args::DiffArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::change;
use crate::output::escape;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &DiffArgs) -> Result<Exit, CliError> {
    let report = host.diff(&args.old, &args.new)?;
    let same = report.differences.is_empty();
    let exit = if same { Exit::Done } else { Exit::Failed };
    if console.json {
        console.document(&json::diff(&report))?;
        return Ok(exit);
    }
    if same {
        console.line(&format!("same graph ({})", &report.new.hash))?;
        return Ok(exit);
    }
    let mut node = None;
    for difference in &report.differences {
        if let Place::Part { node: of, .. } = &difference.place
            && node.replace(of) != Some(of)
        {
            let sign = console.style.paint(Paint::Attention, "~");
            console.line(&format!("{sign} node {}", escape::line(of)))?;
        }
        console.line(&line(console, difference))?;
    }
    Ok(exit)
}

fn line(console: &Console, difference: &Difference) -> String {
    let (sign, paint) = match (&difference.old, &difference.new) {
        (None, _) => ("+", Paint::Good),
        (Some(_), None) => ("-", Paint::Bad),
        (Some(_), Some(_)) => ("~", Paint::Attention),
    };
    let sign = console.style.paint(paint, sign);
    let arrow = console.style.arrow();
    let (old, new) = (difference.old.as_ref(), difference.new.as_ref());
    let width = console.width.saturating_sub(24) / 2;
    let values = || change::change(old, new, arrow, width.max(20));
    match &difference.place {
        Place::Key(key) => format!("{sign} {}: {}", escape::line(key), values()),
        Place::Node(id) => {
            let kind = new.or(old).and_then(|kind| kind.as_str()).unwrap_or("?");
            format!("{sign} node {} ({})", escape::line(id), escape::line(kind))
        }
        Place::Part { path, .. } => {
            let path = path.strip_prefix("fields.").unwrap_or(path);
            format!("    {sign} {}: {}", escape::line(path), values())
        }
        Place::Edge(edge) => {
            format!("{sign} edge {}", escape::line(&edge.replace('→', arrow)))
        }
        Place::NodeOrder => format!("{sign} the nodes are in another order: {}", values()),
        Place::EdgeOrder => format!("{sign} the edges are in another order"),
    }
}
