//! On which terms an agent works for a node, as its author wrote them.

use crate::NodeId;

/// The terms; what is absent is left to the run and to the provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentTerms {
    pub provider: Option<String>,
    /// In the provider's own words.
    pub model: Option<String>,
    pub mode: Option<Mode>,
    /// In the provider's own words; only with [`Mode::Custom`].
    pub tools: Vec<String>,
    pub session: Session,
}

/// What an agent may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Plan,
    Edit,
    Full,
    /// What the listed tools can do.
    Custom,
}

impl Mode {
    pub const ALL: &[Self] = &[Self::Plan, Self::Edit, Self::Full, Self::Custom];

    pub fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Edit => "edit",
            Self::Full => "full",
            Self::Custom => "custom",
        }
    }
}

/// Which session of its provider the agent works in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Session {
    #[default]
    Fresh,
    /// That of a task or decision which ran before.
    Continue(NodeId),
}
