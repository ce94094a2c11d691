//! Starts cargo for a part of the work.

use std::path::Path;
use std::process::Command;

/// The one profile of tests and proofs, so that everything built is shared.
pub(crate) const PROFILE: [&str; 2] = ["--profile", "proof"];

/// A cargo command at the root of the repository.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(args);
    command
}
