//! `wardian automation fmt`.

use host::Host;
use host::api::authoring::{FormatReport, Formatted};
use host::api::{CheckedSource, json};

use crate::args::FmtArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::finding;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &FmtArgs) -> Result<Exit, CliError> {
    if args.stdout && args.automations.len() > 1 {
        let hint = "name one, or leave --stdout out to write each file";
        return Err(CliError::usage("--stdout prints one file", hint));
    }
    let reports = args.automations.iter().map(|name| host.format(name));
    let reports: Vec<FormatReport> = reports.collect::<Result<_, _>>()?;
    let is_refused = |report: &FormatReport| matches!(report.outcome, Formatted::Refused(_));
    let (refused, changed) =
        (reports.iter().any(is_refused), reports.iter().any(FormatReport::is_changed));
    let writes = !args.check && !args.stdout;
    if writes {
        for report in reports.iter().filter(|report| report.is_changed()) {
            host.write_format(report)?;
        }
    }
    if args.stdout && !console.json {
        print(console, &reports)?;
    } else if console.json {
        console.document(&json::formatted(&reports, writes))?;
    } else {
        tell(console, &reports, args.check)?;
    }
    Ok(match (refused, args.check && changed) {
        (true, _) => Exit::Invalid,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}

fn print(console: &Console, reports: &[FormatReport]) -> Result<(), CliError> {
    for report in reports {
        match &report.outcome {
            Formatted::Done(bytes) => console.bytes(bytes)?,
            Formatted::Refused(checked) => refuse(console, checked),
        }
    }
    Ok(())
}

fn tell(console: &Console, reports: &[FormatReport], is_check: bool) -> Result<(), CliError> {
    let mut same = 0;
    for report in reports {
        let path = console.short_path(&report.source.path);
        match &report.outcome {
            Formatted::Refused(checked) => refuse(console, checked),
            Formatted::Done(_) if !report.is_changed() => same += 1,
            Formatted::Done(_) if is_check => console.line(&path)?,
            Formatted::Done(_) => console.line(&format!("formatted {path}"))?,
        }
    }
    match (same, reports) {
        (0, _) => {}
        (1, [one]) => {
            console.talk(&format!("{} is as it should be", console.short_path(&one.source.path)));
        }
        (1, _) => console.talk("1 file is as it should be"),
        (same, _) => console.talk(&format!("{same} files are as they should be")),
    }
    if is_check && reports.iter().any(FormatReport::is_changed) {
        console.talk(&format!("`{} automation fmt FILE` lays them out", console.program));
    }
    Ok(())
}

fn refuse(console: &Console, checked: &CheckedSource) {
    let path = console.short_path(&checked.source.path);
    let look = finding::Look { style: console.talk_style, width: console.width };
    console.talk(&finding::render(checked, &path, look));
    let bad = console.talk_style.paint(Paint::Bad, "error:");
    console.talk(&format!("{bad} {path} cannot be read, and stays as it is"));
}
