//! `wardian automation graph`.

use std::path::Path;

use blueprint::graph::{self, Drawing};
use host::Host;
use host::api::{Code, HostError, Severity, json};

use crate::args::{GraphArgs, GraphFormat};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::style::Style;

pub(crate) fn run(host: &Host, console: &Console, args: &GraphArgs) -> Result<Exit, CliError> {
    let drawing = match (&args.run, &args.automation) {
        (Some(run), _) => host.drawing(run)?,
        (None, automation) => of_file(host, console, automation.as_deref().unwrap_or_default())?,
    };
    if console.json {
        console.document(&json::graph(&drawing))?;
        return Ok(Exit::Done);
    }
    // A file has no colors, and its reader can show every sign.
    let style = match &args.output {
        Some(_) => Style { color: false, unicode: true },
        None => console.style,
    };
    let text = match args.format {
        GraphFormat::Text => output::graph::render(&drawing, style) + "\n",
        GraphFormat::Svg => graph::svg(&drawing),
        GraphFormat::Mermaid => graph::mermaid(&drawing),
        GraphFormat::Dot => graph::dot(&drawing),
    };
    match &args.output {
        Some(path) => write(console, path, &text)?,
        None => console.bytes(text.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// The graph of a file, whether or not it could run.
fn of_file(host: &Host, console: &Console, automation: &str) -> Result<Drawing, CliError> {
    let checked = host.check_source(automation)?;
    let path = console.short_path(&checked.source.path);
    let drawing = Drawing::of_file(&checked.source.bytes);
    let Some(drawing) = drawing.filter(|drawing| !drawing.shapes.is_empty()) else {
        let mut error =
            HostError::new(Code::InvalidBlueprint, format!("there is no graph in {path}"));
        error.findings = Some(Box::new(checked));
        return Err(error.into());
    };
    if checked.findings.iter().any(|finding| finding.severity == Severity::Error) {
        let count = output::finding::summary(&checked).unwrap_or_default();
        console.talk(&format!("{path}: {count}; the drawing shows what can be seen of it"));
        console.talk(&format!("  {} automation validate {path}", console.program));
    }
    Ok(drawing)
}

/// Writes a text to a file that a person named, and says so.
pub(super) fn write(console: &Console, path: &Path, text: &str) -> Result<(), CliError> {
    let shown = console.short_path(path);
    std::fs::write(path, text).map_err(|error| {
        CliError::Host(
            HostError::new(Code::InvalidRequest, format!("{shown} cannot be written: {error}"))
                .hint("name a file in a folder that exists, with --output"),
        )
    })?;
    console.talk(&format!("{shown} written"));
    Ok(())
}
