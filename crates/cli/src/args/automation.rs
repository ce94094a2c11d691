//! `wardian automation …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    AttachArgs, DiffArgs, ExplainArgs, FmtArgs, GraphArgs, IsolationWord, LintArgs, NewArgs,
    NodeTypesArgs, SchemaArgs,
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AutomationVerb {
    /// List the automations of the library
    List,
    /// Show an automation: its file, its state, its last runs
    Show(SourceArgs),
    /// Check a blueprint and show every finding at its place
    Validate(SourceArgs),
    /// Run an automation and watch it
    Exec(ExecArgs),
    /// Write a blueprint to begin with
    New(NewArgs),
    /// Lay out blueprints in the usual way; comments and prose stay
    Fmt(FmtArgs),
    /// Check blueprints and their style, and mend what is certain
    Lint(LintArgs),
    /// Tell what two graphs have different
    Diff(DiffArgs),
    /// Stop a trial run behind every event and tell which effects come twice
    CrashTest(CrashTestArgs),
    /// Draw the graph of an automation, or of a run
    Graph(GraphArgs),
    /// List the types of nodes, or show one with its fields
    NodeTypes(NodeTypesArgs),
    /// Print the JSON Schema of front matter, for editors
    Schema(SchemaArgs),
    /// Explain what a finding means, by its code
    Explain(ExplainArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// A blueprint file, or the id of an automation in the library
    #[arg(value_name = "FILE|ID")]
    pub(crate) automation: String,
}

#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// The input: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The folder that the run works in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Who acts as a role; may be given several times
    #[arg(long, value_name = "ROLE=PROVIDER", value_parser = binding)]
    pub(crate) bind: Vec<(String, String)>,
    /// Who acts where no binding says otherwise
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// The replies of the scripted provider
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// In the workspace itself or in a git worktree of its own [default: a worktree when agents get tasks]
    #[arg(long, value_name = "WHERE")]
    pub(crate) isolation: Option<IsolationWord>,
    #[command(flatten)]
    pub(crate) attach: AttachArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CrashTestArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// The input: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The folder of which each trial gets a copy [default: an empty one]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Who acts as a role; may be given several times
    #[arg(long, value_name = "ROLE=PROVIDER", value_parser = binding)]
    pub(crate) bind: Vec<(String, String)>,
    /// What the agents answer
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
}

fn binding(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, provider)) if !role.is_empty() && !provider.is_empty() => {
            Ok((role.to_owned(), provider.to_owned()))
        }
        Some(_) | None => Err("write it as role:NAME=PROVIDER".to_owned()),
    }
}
