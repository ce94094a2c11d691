//! `wardian provider …`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ProviderVerb {
    /// List the providers of agents, installed or not
    List,
    /// Show how a provider is asked in each mode, and what reaches it
    Show { name: String },
    /// Ask the programs for their versions
    Probe {
        /// One of them; all otherwise
        name: Option<String>,
    },
}
