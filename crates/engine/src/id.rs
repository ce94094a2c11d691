//! The names of runs and of signals. Each names a file or a folder.

use std::fmt;

use durable::{Component, ComponentError};
use serde::{Deserialize, Serialize};

/// The id of a run; it names the run's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Component);

/// The id of a signal; it names the signal's file in the run's inbox.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignalId(Component);

impl RunId {
    pub fn new(text: &str) -> Result<Self, ComponentError> {
        Component::new(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl SignalId {
    pub fn new(text: &str) -> Result<Self, ComponentError> {
        Component::new(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for SignalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
