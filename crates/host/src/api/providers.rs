//! Providers of agents, as people are told of them.

use std::fmt;
use std::path::PathBuf;

use durable::Timestamp;

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
    /// Its accounts that are not asked at present.
    pub blocked: Vec<BlockedAccount>,
}

/// An account whose limit is reached, so that nobody asks it for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedAccount {
    /// Its name in the book; it says nothing of the account itself.
    pub account: String,
    pub provider: String,
    pub label: String,
    pub since: Timestamp,
    pub until: Timestamp,
    /// The provider said when its limit resets.
    pub reset_known: bool,
    /// How many times in a row it was met again as soon as it was over.
    pub backoffs: u32,
}

impl fmt::Display for BlockedAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, label, since, until, .. } = self;
        write!(f, "{provider} ({label}) met its limit at {since} and is not asked until {until}")?;
        if self.reset_known { Ok(()) } else { write!(f, ", when it is tried again") }
    }
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
