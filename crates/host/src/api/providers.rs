//! Providers of agents, as people are told of them.

use std::path::PathBuf;

/// One provider of a home.
#[derive(Debug, Clone)]
pub struct ProviderRow {
    pub name: String,
    /// It is described in `settings/providers.toml`.
    pub configured: bool,
    /// As it is looked for.
    pub program: String,
    /// Where it was found; nothing when it is not installed.
    pub path: Option<PathBuf>,
}

/// A provider and how it is asked.
#[derive(Debug, Clone)]
pub struct ProviderReport {
    pub row: ProviderRow,
    pub modes: Vec<ProviderMode>,
    /// Variables of the host that reach it, where they are set. Other
    /// programs that the host starts do not get them.
    pub variables: Vec<String>,
}

/// How a provider is asked in one mode.
#[derive(Debug, Clone)]
pub struct ProviderMode {
    pub mode: &'static str,
    /// The words of its command line, without the program; or why it cannot
    /// be asked so.
    pub args: Result<Vec<String>, String>,
    pub warnings: Vec<String>,
}

/// What a provider said of itself.
#[derive(Debug, Clone)]
pub struct ProviderProbe {
    pub row: ProviderRow,
    pub version: Option<String>,
    /// Why it cannot be worked with.
    pub trouble: Option<String>,
}
