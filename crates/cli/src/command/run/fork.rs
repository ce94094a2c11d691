//! `wardian run fork`.

use host::Host;
use host::api::{ForkRequest, Forked};

use crate::args::ForkArgs;
use crate::command::launch;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;

pub(crate) fn run(host: &Host, console: &Console, args: &ForkArgs) -> Result<Exit, CliError> {
    let Forked { prepared, report } = host.prepare_fork(ForkRequest {
        run: args.run.run.clone(),
        from: args.from,
        automation: args.automation.clone(),
    })?;
    launch(host, console, &args.attach, prepared, |_| {
        let names = |what: &str, ids: Vec<String>| {
            if !ids.is_empty() && !console.json {
                console.talk(&format!("{what}: {}", escape::line(&ids.join(", "))));
            }
        };
        names("kept", report.kept.iter().map(ToString::to_string).collect());
        names("changed, and run again", report.again.iter().map(ToString::to_string).collect());
        names(
            "under way at that event, and started once more",
            report.under_way.iter().map(ToString::to_string).collect(),
        );
        Ok(())
    })
}
