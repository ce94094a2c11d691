//! Whose limits a turn uses up: the account that a provider would ask with.
//! It is told by what selects it (the home or configuration folder, the
//! credentials, the endpoint), of which only one digest is kept: no key ever
//! stands in a file of ours. Two names for one account only cost an extra
//! question; one name for two would make a run wait in vain, so whatever may
//! select an account counts.

use std::os::unix::ffi::OsStrExt as _;

use durable::Digest;

use super::adapter::{Adapter, NETWORK};
use super::request::{AgentLaunch, AgentRequest};
use crate::environment::HostEnv;

/// How much of the digest names an account.
const ID_DIGITS: usize = 16;

/// Variables that go to a provider and say nothing of who asks.
const NEUTRAL: [&str; 15] = [
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "IS_SANDBOX",
    "CODEX_CA_CERTIFICATE",
    "GEMINI_MODEL",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
];

/// An account of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The same for the same account, and good for nothing else.
    pub id: String,
    pub provider: String,
    /// For people: the folder that it is logged in by, and the names of the
    /// variables that hold its keys.
    pub label: String,
}

/// The account with which this launch would ask; `program` is what the
/// settings start instead of the provider's own.
pub fn account(
    adapter: &Adapter,
    request: &AgentRequest,
    launch: &AgentLaunch,
    program: Option<&str>,
    host_env: &HostEnv,
) -> Account {
    let provider = adapter.name().word().to_owned();
    let mut names: Vec<&str> = launch.env_pass.iter().map(String::as_str).collect();
    names.retain(|name| !NETWORK.contains(name) && !NEUTRAL.contains(name));
    names.push("HOME");
    names.sort_unstable();
    names.dedup();
    let mut parts: Vec<Vec<u8>> = vec![b"account".to_vec(), provider.clone().into_bytes()];
    parts.push(program.unwrap_or_else(|| adapter.program()).as_bytes().to_vec());
    for name in &names {
        if let Some(value) = host_env.value(name) {
            parts.extend([name.as_bytes().to_vec(), value.as_bytes().to_vec()]);
        }
    }
    match adapter {
        // One program, and an account for each service behind it.
        Adapter::OpenCode => {
            let service = request.model.as_deref().and_then(|model| model.split_once('/'));
            parts.extend(service.map(|(service, _)| service.as_bytes().to_vec()));
        }
        Adapter::Configured(_) => {
            for (name, value) in launch.env.iter().filter(|(name, _)| name != "TMPDIR") {
                parts.extend([name.as_bytes().to_vec(), value.as_bytes().to_vec()]);
            }
        }
        Adapter::Claude | Adapter::Codex | Adapter::Gemini => {}
    }
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let id = Digest::of_parts(&parts).hex()[..ID_DIGITS].to_owned();
    Account { id, provider, label: label(adapter, &names, host_env) }
}

fn label(adapter: &Adapter, names: &[&str], host_env: &HostEnv) -> String {
    let (variable, below) = match adapter {
        Adapter::Claude => (Some("CLAUDE_CONFIG_DIR"), "~/.claude"),
        Adapter::Codex => (Some("CODEX_HOME"), "~/.codex"),
        Adapter::Gemini => (None, "~/.gemini"),
        Adapter::OpenCode => (Some("XDG_DATA_HOME"), "~/.local/share"),
        Adapter::Configured(_) => (None, "~"),
    };
    let named = variable.and_then(|name| host_env.value(name));
    let folder = named.map_or_else(|| below.to_owned(), |path| path.to_string_lossy().into_owned());
    let is_key = |name: &&&str| {
        let holds = ["KEY", "TOKEN", "CREDENTIALS"].iter().any(|word| name.contains(word));
        holds && host_env.value(name).is_some_and(|value| !value.is_empty())
    };
    let keys: Vec<&str> = names.iter().filter(is_key).copied().collect();
    match keys[..] {
        [] => folder,
        _ => format!("{folder}, {}", keys.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(adapter: &Adapter, model: Option<&str>, vars: &[(&str, &str)]) -> Account {
        let request = AgentRequest {
            prompt: "x".to_owned(),
            model: model.map(str::to_owned),
            workspace: "/w".into(),
            folder: "/f".into(),
            ..AgentRequest::default()
        };
        let launch = adapter.launch(&request).unwrap();
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into()));
        account(adapter, &request, &launch, None, &HostEnv::new(vars))
    }

    #[test]
    fn what_selects_an_account_tells_it_apart_and_nothing_else_does() {
        let home = ("HOME", "/home/p");
        let plain = of(&Adapter::Claude, None, &[home]);
        assert_eq!(plain, of(&Adapter::Claude, Some("opus"), &[home, ("HTTP_PROXY", "http://p")]));
        assert_eq!(plain, of(&Adapter::Claude, None, &[home, ("ANTHROPIC_MODEL", "opus")]));
        let others = [
            of(&Adapter::Claude, None, &[("HOME", "/home/q")]),
            of(&Adapter::Claude, None, &[home, ("CLAUDE_CONFIG_DIR", "/c")]),
            of(&Adapter::Claude, None, &[home, ("ANTHROPIC_API_KEY", "one")]),
            of(&Adapter::Claude, None, &[home, ("ANTHROPIC_API_KEY", "two")]),
            of(&Adapter::Claude, None, &[home, ("ANTHROPIC_BASE_URL", "https://b")]),
            of(&Adapter::Codex, None, &[home]),
        ];
        let ids: std::collections::BTreeSet<&String> =
            others.iter().chain([&plain]).map(|account| &account.id).collect();
        assert_eq!(ids.len(), others.len() + 1);
    }

    #[test]
    fn the_services_behind_opencode_are_accounts_of_their_own() {
        let asked = |model| of(&Adapter::OpenCode, Some(model), &[("HOME", "/h")]).id;
        assert_eq!(asked("anthropic/a"), asked("anthropic/b"));
        assert_ne!(asked("anthropic/a"), asked("openai/a"));
    }

    #[test]
    fn a_label_names_folder_and_keys_and_holds_no_key() {
        let plain = of(&Adapter::Claude, None, &[("HOME", "/home/p")]);
        assert_eq!(plain.label, "~/.claude");
        let vars = [("CODEX_HOME", "/work/codex"), ("OPENAI_API_KEY", "canary-1")];
        let keyed = of(&Adapter::Codex, None, &vars);
        assert_eq!(keyed.label, "/work/codex, OPENAI_API_KEY");
        assert!(!format!("{keyed:?}").contains("canary-1"));
    }
}
