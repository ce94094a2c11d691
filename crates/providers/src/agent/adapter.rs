//! The agents that this program can speak to by their command lines, and one
//! door to all of them.

use super::configured::{self, Configured};
use super::request::{AgentLaunch, AgentRequest, Refusal};
use super::{Reader, claude, codex, gemini, opencode};
use crate::choose::ProviderName;
use crate::environment::ChildEnv;

/// How the world is reached, where a machine needs more than a route.
pub(super) const NETWORK: [&str; 8] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

/// Whose process it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Adapter {
    Claude,
    Codex,
    Gemini,
    OpenCode,
    /// One that a person described.
    Configured(Box<Configured>),
}

impl Adapter {
    pub const BUILT_IN: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::OpenCode];

    pub fn name(&self) -> ProviderName {
        match self {
            Self::Claude => ProviderName::Claude,
            Self::Codex => ProviderName::Codex,
            Self::Gemini => ProviderName::Gemini,
            Self::OpenCode => ProviderName::OpenCode,
            Self::Configured(provider) => ProviderName::Named(provider.name.clone()),
        }
    }

    /// The program that is started when nothing else is said.
    pub fn program(&self) -> &str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Configured(provider) => &provider.program,
        }
    }

    /// The process that asks.
    pub fn launch(&self, request: &AgentRequest) -> Result<AgentLaunch, Refusal> {
        request.check()?;
        let mut launch = match self {
            Self::Claude => claude::launch(request),
            Self::Codex => codex::launch(request),
            Self::Gemini => gemini::launch(request),
            Self::OpenCode => opencode::launch(request),
            Self::Configured(provider) => configured::launch(provider, request),
        }?;
        let tmp = request.path("tmp")?;
        launch.env.push(("TMPDIR".to_owned(), tmp));
        launch.env_pass.extend(request.env_pass.iter().cloned());
        Ok(launch)
    }

    /// What reads the answer to this request.
    pub fn reader(&self, request: &AgentRequest) -> Reader {
        match self {
            Self::Claude => claude::reader(request),
            Self::Codex => codex::reader(request),
            Self::Gemini => gemini::reader(request),
            Self::OpenCode => opencode::reader(request),
            Self::Configured(provider) => configured::reader(provider, request),
        }
    }

    /// Whether what the program keeps in its own folder proves that no tool was
    /// called in the turn that just ended in this session.
    pub(super) fn proves_idle(
        &self,
        request: &AgentRequest,
        session: &str,
        env: &ChildEnv,
    ) -> bool {
        match self {
            Self::Codex => codex::proves_idle(request, session, env),
            // They tell of every call.
            Self::Claude | Self::Gemini | Self::OpenCode | Self::Configured(_) => false,
        }
    }
}
