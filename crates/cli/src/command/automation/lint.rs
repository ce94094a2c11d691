//! `wardian automation lint`.

use host::Host;
use host::api::authoring::{Done, Linted};
use host::api::{Finding, Severity, json};

use crate::args::{LintArgs, LintFormat};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{escape, finding};
use crate::style::Paint;
use crate::surroundings::quote;

pub(crate) fn run(host: &Host, console: &Console, args: &LintArgs) -> Result<Exit, CliError> {
    let files = host.lint(&args.automations, args.fix)?;
    let exit = if files.iter().all(|file| file.checked.ok) { Exit::Done } else { Exit::Invalid };
    match args.format {
        LintFormat::Json => console.document(&json::linted(&files))?,
        LintFormat::Text | LintFormat::Github if console.json => {
            console.document(&json::linted(&files))?;
        }
        LintFormat::Github => github(console, &files)?,
        LintFormat::Text => text(host, console, &files, args)?,
    }
    Ok(exit)
}

fn text(host: &Host, console: &Console, files: &[Linted], args: &LintArgs) -> Result<(), CliError> {
    if files.is_empty() {
        let library = console.short_path(&host.home().join("library").join("automations"));
        console.talk(&format!("no automations in {library}"));
        console.talk(&format!("  {} automation new ID", console.program));
        return Ok(());
    }
    let look = finding::Look { style: console.style, width: console.width };
    for Linted { checked, done } in files {
        let path = console.short_path(&checked.source.path);
        for done in done {
            console.line(&mended(console, &path, done))?;
        }
        if !checked.findings.is_empty() {
            console.line(&finding::render(checked, &path, look))?;
            console.line("")?;
        }
    }
    for line in verdicts(console, files) {
        console.line(&line)?;
    }
    let mendable = |file: &Linted| file.checked.findings.iter().any(is_safe);
    if !args.fix && files.iter().any(mendable) {
        let names = args.automations.iter().map(|name| format!(" {}", quote(name)));
        let names = escape::line(&names.collect::<String>()).into_owned();
        console.talk("some of this can be mended for you:");
        console.talk(&format!("  {} automation lint --fix{names}", console.program));
    }
    Ok(())
}

/// A change that was made, as lines out and lines in.
fn mended(console: &Console, path: &str, done: &Done) -> String {
    let style = console.style;
    let finding = &done.finding;
    let head = format!("{path}:{}", finding.line);
    let message = escape::line(&finding.message);
    let mut text = format!("{} {head}: {message}\n", style.paint(Paint::Good, "fixed"));
    for (sign, paint, lines) in [("-", Paint::Bad, &done.before), ("+", Paint::Good, &done.after)] {
        for line in lines.lines() {
            text.push_str(&style.paint(paint, &format!("  {sign} {}", escape::line(line))));
            text.push('\n');
        }
    }
    text
}

/// One line a file; those without a finding in one line when they are many.
fn verdicts(console: &Console, files: &[Linted]) -> Vec<String> {
    let good = console.style.paint(Paint::Good, "valid");
    let bad = console.style.paint(Paint::Bad, "invalid");
    let mut lines = Vec::new();
    let mut clean = 0;
    for Linted { checked, .. } in files {
        let path = console.short_path(&checked.source.path);
        match finding::summary(checked) {
            Some(count) if checked.ok => lines.push(format!("{path} is {good} ({count})")),
            Some(count) => lines.push(format!("{path} is {bad} ({count})")),
            None if files.len() == 1 => lines.push(format!("{path} is {good}")),
            None => clean += 1,
        }
    }
    match clean {
        0 => {}
        1 => lines.push(format!("1 other file is {good}")),
        _ => lines.push(format!("{clean} files are {good}")),
    }
    lines
}

fn is_safe(finding: &Finding) -> bool {
    finding.fix.as_ref().is_some_and(|fix| fix.safe)
}

/// `::error file=…,line=…,col=…,title=…::…`
fn github(console: &Console, files: &[Linted]) -> Result<(), CliError> {
    for Linted { checked, .. } in files {
        let path = console.short_path(&checked.source.path);
        for finding in &checked.findings {
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let help = finding.suggestion.as_ref().map(|help| format!("\n{help}"));
            let message = format!("{}{}", finding.message, help.unwrap_or_default());
            console.line(&format!(
                "::{level} file={},line={},col={},title={}::{}",
                property(&path),
                finding.line,
                finding.column,
                finding.rule.code(),
                data(&message)
            ))?;
        }
    }
    Ok(())
}

/// What an annotation may hold; the runner undoes these.
fn data(text: &str) -> String {
    let text = escape::text(text);
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_is_one_line_whatever_it_says() {
        assert_eq!(data("50% of\nthis: a, b"), "50%25 of%0Athis: a, b");
        assert_eq!(property("a:b,c.md"), "a%3Ab%2Cc.md");
        assert!(!data("\u{1b}[2J").contains('\u{1b}'));
    }
}
