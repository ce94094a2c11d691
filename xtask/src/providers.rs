//! `cargo xtask providers --folder DIR`: puts the command lines of agents
//! into a folder and proves the adapters against them. What is installed
//! already stays.

use std::process::{Command, ExitCode};

use crate::{proofs, tree};

/// Installs by name; without names it installs all.
const INSTALL: &str = "tests/fake-models/install-providers";

pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let Some((folder, names)) = folder_and_names(args) else {
        return Err("--folder DIR is missing: it says where the programs are put".to_owned());
    };
    let status = Command::new(tree::root().join(INSTALL))
        .arg(folder)
        .args(&names)
        .status()
        .map_err(|error| format!("{INSTALL} does not start: {error}"))?;
    if !status.success() {
        return Err(format!("{INSTALL} failed; npm and a registry for it are needed"));
    }
    proofs::run("providers", args)
}

fn folder_and_names(args: &[String]) -> Option<(&str, Vec<&str>)> {
    let at = args.iter().position(|arg| arg == "--folder")?;
    let folder = args.get(at + 1)?;
    let others = args.iter().enumerate().filter(|(i, _)| *i != at && *i != at + 1);
    let names = others.map(|(_, arg)| arg.as_str()).filter(|arg| !arg.starts_with('-'));
    Some((folder, names.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_option_and_no_folder_is_a_name() {
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = args("--slow --folder d codex claude");
        assert_eq!(folder_and_names(&given), Some(("d", vec!["codex", "claude"])));
        assert_eq!(folder_and_names(&args("codex --folder")), None);
        assert_eq!(folder_and_names(&args("codex")), None);
    }
}
