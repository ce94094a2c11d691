//! What there is to say about the providers of a home: which there are, how
//! each is asked, and what each says of itself.

use std::path::PathBuf;

use providers::HostEnv;
use providers::agent::{Adapter, AgentRequest, Mode, find, probe};

use crate::Host;
use crate::agents::Agents;
use crate::api::{Code, HostError, ProviderMode, ProviderProbe, ProviderReport, ProviderRow};

impl Host {
    /// All providers, installed or not. Nothing is started.
    pub fn providers(&self) -> Result<Vec<ProviderRow>, HostError> {
        let (agents, env) = (self.agents()?, host_env());
        // Without the book no provider is less there; `doctor` tells of that.
        let blocked = self.blocked_accounts().unwrap_or_default();
        let row = |adapter: Adapter| {
            let row = row(&agents, &adapter, &env);
            let own = blocked.iter().filter(|account| account.provider == row.name);
            ProviderRow { blocked: own.cloned().collect(), ..row }
        };
        Ok(agents.adapters().map(row).collect())
    }

    /// One provider, and the command line with which it is asked in each
    /// mode. Nothing is started.
    pub fn provider(&self, name: &str) -> Result<ProviderReport, HostError> {
        let (agents, env) = (self.agents()?, host_env());
        let adapter = found(&agents, name)?;
        let mut variables = Vec::new();
        let modes = Mode::ALL.map(|mode| {
            let asked = adapter.launch(&example(mode));
            let (args, warnings) = match asked {
                Ok(launch) => {
                    variables = launch.env_pass;
                    (Ok(launch.args), launch.warnings)
                }
                Err(refusal) => (Err(refusal.message), Vec::new()),
            };
            ProviderMode { mode: mode.word(), args, warnings }
        });
        variables.sort();
        variables.dedup();
        let row = row(&agents, &adapter, &env);
        Ok(ProviderReport { row, modes: modes.into(), variables })
    }

    /// Asks the programs for their versions: of all providers that are
    /// installed, or of one.
    pub fn probe_providers(&self, name: Option<&str>) -> Result<Vec<ProviderProbe>, HostError> {
        let (agents, env) = (self.agents()?, host_env());
        let wanted = match name {
            Some(name) => vec![found(&agents, name)?],
            None => agents.adapters().collect(),
        };
        Ok(wanted.iter().map(|adapter| probed(&agents, adapter, &env)).collect())
    }
}

fn probed(agents: &Agents, adapter: &Adapter, env: &HostEnv) -> ProviderProbe {
    let row = row(agents, adapter, env);
    let Some(found) = probe(adapter, agents.program(adapter), env) else {
        let trouble = Some(format!("`{}` is not in PATH", row.program));
        return ProviderProbe { row, version: None, trouble };
    };
    let refused = found.refusal(adapter).map(|refusal| refusal.message);
    let version = found.version.map(|version| version.to_string());
    ProviderProbe { row, version, trouble: found.trouble.or(refused) }
}

fn found(agents: &Agents, name: &str) -> Result<Adapter, HostError> {
    let named = |adapter: &Adapter| adapter.name().word() == name;
    agents.adapters().find(named).ok_or_else(|| {
        let names: Vec<String> =
            agents.adapters().map(|adapter| adapter.name().word().to_owned()).collect();
        HostError::new(Code::ProviderUnavailable, format!("there is no provider `{name}`"))
            .hint(format!("there are: {}", names.join(", ")))
    })
}

fn row(agents: &Agents, adapter: &Adapter, env: &HostEnv) -> ProviderRow {
    let program = agents.program(adapter);
    ProviderRow {
        name: adapter.name().word().to_owned(),
        configured: matches!(adapter, Adapter::Configured(_)),
        program: program.unwrap_or_else(|| adapter.program()).to_owned(),
        path: find(adapter, program, env),
        blocked: Vec::new(),
    }
}

/// A request to show by: what differs from one to the next is named by words
/// in capitals.
fn example(mode: Mode) -> AgentRequest {
    let tools = if mode == Mode::Custom { vec!["TOOL".to_owned()] } else { Vec::new() };
    AgentRequest {
        prompt: "PROMPT".to_owned(),
        mode,
        tools,
        workspace: PathBuf::from("WORKSPACE"),
        folder: PathBuf::from("FOLDER"),
        ..AgentRequest::default()
    }
}

fn host_env() -> HostEnv {
    HostEnv::new(std::env::vars_os())
}
