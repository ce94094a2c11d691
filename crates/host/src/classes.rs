//! The classes of a home's agents, `library/classes/<name>.md`: what all agents
//! of a class are told, and on which terms they work.

use std::io;

use blueprint::AgentClass;
use blueprint::class::CLASS_BYTES;

use crate::Host;
use crate::api::{Code, HostError};

/// Where the definitions are, from the home.
const FOLDER: &str = "library/classes";

/// Bytes of a name.
const NAME_BYTES: usize = 100;

impl Host {
    /// The definition of the class that this agent is of. An agent may be of
    /// none, and a class without a definition is only a name.
    pub(crate) fn class_of(&self, agent: &str) -> Result<Option<AgentClass>, HostError> {
        let Some(name) = agent.strip_prefix("class:").map(str::trim) else { return Ok(None) };
        if !is_name(name) {
            let message = format!("no class can have the name `{name:.40}`");
            return Err(HostError::new(Code::InvalidRequest, message)
                .hint("a name has letters, digits, `_` and `-`, and begins with a letter or `_`"));
        }
        let path = self.home.path().join(FOLDER).join(format!("{name}.md"));
        // One byte more than a definition has tells that a file is too long.
        let bytes = match self.disk.read_from(&path, 0, CLASS_BYTES as u64 + 1) {
            Ok(bytes) => bytes,
            Err(fault) if fault.source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(fault) => {
                let what = format!("the definition of the class `{name}` cannot be read");
                return Err(HostError::from_fault(Code::Store, &what, &fault)
                    .hint("make the file readable, or remove it"));
            }
        };
        AgentClass::read(&bytes).map(Some).map_err(|fault| {
            let message = format!("{}: {fault}", path.display());
            HostError::new(Code::InvalidRequest, message)
                .hint("docs/providers/README.md has an example of a class")
        })
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= NAME_BYTES
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}
