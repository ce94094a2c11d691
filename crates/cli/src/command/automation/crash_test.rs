//! `wardian automation crash-test`.

use host::Host;
use host::api::input::read_input;
use host::api::{CrashFinding, CrashTestReport, CrashTestRequest, RunStatus, json};

use crate::args::CrashTestArgs;
use crate::command::automation::exec::{bindings, text_of};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{escape, gist};
use crate::style::{Paint, Style};

/// Files of one finding that are named.
const FILES_SHOWN: usize = 5;

pub(crate) fn run(host: &Host, console: &Console, args: &CrashTestArgs) -> Result<Exit, CliError> {
    let mut request = CrashTestRequest {
        automation: args.source.automation.clone(),
        workspace: args.workspace.clone(),
        script: args.script.clone(),
        bindings: bindings(&args.bind)?,
        ..CrashTestRequest::default()
    };
    if let Some(input) = &args.input {
        (request.input, request.input_raw) = read_input(&text_of(input)?)?;
    }
    let report = host.crash_test(request)?;
    let faults = report.findings.iter().filter(|finding| finding.kind.is_fault()).count();
    let exit = if faults > 0 { Exit::RunFailed } else { Exit::Done };
    if console.json {
        console.document(&json::crash_test(&report))?;
        return Ok(exit);
    }
    for line in lines(&report, faults, console.style) {
        console.line(&line)?;
    }
    Ok(exit)
}

fn lines(report: &CrashTestReport, faults: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if report.status != RunStatus::Completed {
        let why = report.failure.as_deref().unwrap_or_default();
        let status = report.status.word();
        let text = format!("an undisturbed run ends as {status}: {}", gist::first_line(why, 200));
        lines.push(style.paint(Paint::Attention, &text));
    }
    for finding in &report.findings {
        lines.extend(finding_lines(finding, style));
    }
    if !report.unsteady.is_empty() {
        let files = files(&report.unsteady);
        let text = format!("not compared, since no two runs leave them alike: {files}");
        lines.push(style.paint(Paint::Faint, &text));
    }
    let (events, plays) = (report.boundaries, report.plays);
    let verdict = match faults {
        0 => "no crash does an effect twice, or loses one".to_owned(),
        1 => "one node is not safe against a crash".to_owned(),
        count => format!("{count} nodes are not safe against a crash"),
    };
    let icon = if faults == 0 { "✓" } else { "✗" };
    let icon = style.sign(icon, if faults == 0 { "+" } else { "x" });
    lines.push(format!("{icon} {verdict} ({plays} plays, cut behind each of {events} events)"));
    lines
}

fn finding_lines(finding: &CrashFinding, style: Style) -> Vec<String> {
    let mark = if finding.kind.is_fault() { Paint::Bad } else { Paint::Attention };
    let word = style.paint(mark, finding.kind.word());
    let mut lines = vec![
        format!("{word} {}", escape::line(&finding.node)),
        format!("  crash   {}", escape::line(&finding.boundary)),
        format!("  effect  {}", escape::line(&finding.message)),
    ];
    if !finding.files.is_empty() {
        lines.push(format!("  files   {}", files(&finding.files)));
    }
    lines.push(format!("  advice  {}", escape::line(&finding.advice)));
    lines.push(String::new());
    lines
}

fn files(files: &[String]) -> String {
    let shown: Vec<_> = files.iter().take(FILES_SHOWN).map(|file| escape::line(file)).collect();
    let more = files.len().saturating_sub(FILES_SHOWN);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{tail}", shown.join(", "))
}
