//! Verbs of `wardian automation` that show what there is to write with, and
//! what was written.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// A blueprint file, or the id of an automation in the library
    #[arg(value_name = "FILE|ID", required_unless_present = "run")]
    pub(crate) automation: Option<String>,
    /// Draw this run instead, with the state of its nodes
    #[arg(long, value_name = "RUN", conflicts_with = "automation")]
    pub(crate) run: Option<String>,
    /// What to draw it as
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    pub(crate) format: GraphFormat,
    /// Write it there instead of showing it
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A tree of lines
    Text,
    /// A picture that stands alone
    Svg,
    /// A Mermaid flowchart
    Mermaid,
    /// The language of Graphviz
    Dot,
}

#[derive(Debug, Args)]
pub(crate) struct NodeTypesArgs {
    /// Only this type, with its fields
    #[arg(value_name = "TYPE")]
    pub(crate) node_type: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Write it there instead of showing it
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The code of a finding; without it all codes are listed
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}

/// A page that derives from source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferencePage {
    NodeTypes,
    Findings,
    Cli,
}
