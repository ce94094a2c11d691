//! `wardian doctor`.

use host::Host;
use host::api::{DoctorVerdict, json};

use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console) -> Result<Exit, CliError> {
    let lines = host.doctor()?;
    if console.json {
        console.document(&json::doctor(&lines))?;
    } else {
        let longest = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        for line in &lines {
            let (paint, icon) = match line.verdict {
                DoctorVerdict::Pass => (Paint::Good, console.style.sign("✓", "+")),
                DoctorVerdict::Warn => (Paint::Attention, "!"),
                DoctorVerdict::Fail => (Paint::Bad, console.style.sign("✗", "x")),
            };
            let icon = console.style.paint(paint, icon);
            let detail = escape::line(&line.detail);
            console.line(format!("{icon} {:<longest$}  {detail}", line.name).trim_end())?;
            if let Some(fix) = &line.fix {
                let fix = console.style.paint(Paint::Accent, &escape::line(fix));
                console.line(&format!("  {:<longest$}  {fix}", ""))?;
            }
        }
    }
    let failed = lines.iter().any(|line| line.verdict == DoctorVerdict::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Done })
}
