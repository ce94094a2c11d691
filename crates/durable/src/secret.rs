//! Two wrappers that keep values apart: what must never be printed, and what
//! was redacted and must never be used as an input again.

use std::fmt;

/// A secret value. It does not print, compare or serialise; the one way to
/// the value has a name that shows up in a search.
pub struct Sealed<T>(T);

impl<T> Sealed<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself, for the one child that may have it.
    pub fn reveal(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sealed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[sealed]")
    }
}

/// A value that went through redaction. It may be shown and stored; nothing
/// takes it as input, because part of it may be missing.
#[derive(Clone, PartialEq, Eq)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    pub fn shown(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_prints_as_nothing_and_is_there_for_who_asks() {
        let key = Sealed::new("hunter2".to_owned());
        assert_eq!(
            format!("{key:?} {:?} {:#?}", Some(&key), &key),
            "[sealed] Some([sealed]) [sealed]"
        );
        assert_eq!(key.reveal(), "hunter2");
    }

    #[test]
    fn a_redacted_value_shows_as_it_is() {
        let text = Redacted::new("the key is [redacted]");
        assert_eq!(text.to_string(), "the key is [redacted]");
        assert_eq!(format!("{text:?}"), "\"the key is [redacted]\"");
        assert_eq!(text.shown(), &"the key is [redacted]");
    }
}
