//! A name that is safe as one component of a path. Every id that becomes a
//! file or folder name passes through here before the first file call.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits;

/// Device names that Windows gives to no file, whatever the extension.
const RESERVED: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// One safe path component: 1 to 100 ASCII letters, digits, `.`, `_`, `-`,
/// beginning with a letter or digit, and not a reserved device name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Component(Arc<str>);

/// Why a text is not a [`Component`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ComponentError {
    #[error("it is empty")]
    Empty,
    #[error("it has {0} bytes, the most is {max}", max = limits::COMPONENT_BYTES)]
    TooLong(usize),
    #[error("it begins with {0:?}; the first character must be a letter or a digit")]
    BadStart(char),
    #[error("it contains {0:?}; only letters, digits, `.`, `_` and `-` are allowed")]
    BadCharacter(char),
    #[error("it is a reserved device name")]
    Reserved,
}

impl Component {
    /// Checks `text` and keeps it.
    pub fn new(text: &str) -> Result<Self, ComponentError> {
        if text.len() > limits::COMPONENT_BYTES {
            return Err(ComponentError::TooLong(text.len()));
        }
        let first = text.chars().next().ok_or(ComponentError::Empty)?;
        let bad = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if let Some(c) = text.chars().find(bad) {
            return Err(ComponentError::BadCharacter(c));
        }
        if !first.is_ascii_alphanumeric() {
            return Err(ComponentError::BadStart(first));
        }
        let stem = text.split('.').next().unwrap_or(text).to_ascii_lowercase();
        if RESERVED.contains(&stem.as_str()) {
            return Err(ComponentError::Reserved);
        }
        Ok(Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl TryFrom<String> for Component {
    type Error = ComponentError;

    fn try_from(text: String) -> Result<Self, ComponentError> {
        Self::new(&text)
    }
}

impl From<Component> for String {
    fn from(component: Component) -> Self {
        component.0.as_ref().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_names_are_kept_as_they_are() {
        let longest = "a".repeat(limits::COMPONENT_BYTES);
        for name in ["a", "7", "nightly-report", "v1.2_x", "A.B", "constant", "com10", &longest] {
            assert_eq!(Component::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn each_bad_name_has_its_reason() {
        let long = "a".repeat(limits::COMPONENT_BYTES + 1);
        let table = [
            ("", ComponentError::Empty),
            (&long, ComponentError::TooLong(101)),
            (".", ComponentError::BadStart('.')),
            ("..", ComponentError::BadStart('.')),
            (".hidden", ComponentError::BadStart('.')),
            ("-rf", ComponentError::BadStart('-')),
            ("_x", ComponentError::BadStart('_')),
            ("../etc", ComponentError::BadCharacter('/')),
            ("a/b", ComponentError::BadCharacter('/')),
            ("a\\b", ComponentError::BadCharacter('\\')),
            ("a\0b", ComponentError::BadCharacter('\0')),
            ("a b", ComponentError::BadCharacter(' ')),
            ("a\n", ComponentError::BadCharacter('\n')),
            ("c:", ComponentError::BadCharacter(':')),
            ("é", ComponentError::BadCharacter('é')),
            ("CON", ComponentError::Reserved),
            ("nul.txt", ComponentError::Reserved),
            ("Com1.a.b", ComponentError::Reserved),
        ];
        for (name, want) in table {
            assert_eq!(Component::new(name), Err(want), "{name:?}");
        }
    }

    #[test]
    fn json_that_is_no_component_is_refused_with_the_reason() {
        let kept: Component = serde_json::from_str("\"a-b\"").unwrap();
        assert_eq!(serde_json::to_string(&kept).unwrap(), "\"a-b\"");
        let error = serde_json::from_str::<Component>("\"../a\"").unwrap_err();
        assert!(error.to_string().contains("it contains '/'"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_accepted_is_one_plain_part_of_a_path(text in "[a-zA-Z0-9./\\\\_\\-\\x00é ]{0,12}") {
            if let Ok(component) = Component::new(&text) {
                let path = std::path::Path::new("/base").join(component.as_str());
                let parts: Vec<_> = path.components().skip(2).collect();
                prop_assert_eq!(parts, [std::path::Component::Normal(text.as_ref())]);
                prop_assert_eq!(path.parent(), Some(std::path::Path::new("/base")));
            }
        }
    }
}
