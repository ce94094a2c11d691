//! The author's tools: `wardian automation new`, `fmt`, `lint` and `diff`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use host::api::authoring::TEMPLATES;

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The id that the automation gets; it names the folder of its runs
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What people read [default: made of the id]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// What to begin with
    #[arg(long, value_name = "TEMPLATE", default_value = "blank", value_parser = templates())]
    pub(crate) from: String,
    /// Write it into the library, to be run by its id; this is the default
    #[arg(long, conflicts_with = "file")]
    pub(crate) library: bool,
    /// Write it to this file instead
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// Blueprint files, or ids of automations in the library
    #[arg(value_name = "FILE|ID", required = true)]
    pub(crate) automations: Vec<String>,
    /// Write nothing; name the files that have another layout, and exit with 1
    #[arg(long, conflicts_with = "stdout")]
    pub(crate) check: bool,
    /// Print the new layout of one file instead of writing it
    #[arg(long)]
    pub(crate) stdout: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Blueprint files, or ids of automations; the whole library when none is given
    #[arg(value_name = "FILE|ID")]
    pub(crate) automations: Vec<String>,
    /// Make the changes that are certain, and tell what they were
    #[arg(long)]
    pub(crate) fix: bool,
    /// How findings are printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: LintFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// For people, each finding at its place
    Text,
    /// One JSON document, as with --json
    Json,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A blueprint file, the id of an automation, or a run
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// The same for what it is compared with
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
}

fn templates() -> PossibleValuesParser {
    let value = |(word, what): &(&'static str, &'static str)| PossibleValue::new(*word).help(*what);
    TEMPLATES.iter().map(value).collect::<Vec<_>>().into()
}
