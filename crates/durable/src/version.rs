//! Versions of stored formats: who may read what, and who may write it.

use serde::{Deserialize, Serialize};

/// The version of a stored format. A change of `minor` only adds what an
/// older reader may ignore; a change of `major` it must not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Format {
    pub major: u32,
    pub minor: u32,
}

/// What this program may do with a stored thing of some format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Of our own version or an older one: read and write.
    ReadWrite,
    /// Of a newer minor version: read, but never write.
    ReadOnly,
    /// Of a newer major version: refuse, and say which version can read it.
    TooNew,
}

impl Format {
    /// What a program that knows `self` may do with a thing of format `found`.
    pub fn access(self, found: Self) -> Access {
        if found.major > self.major {
            Access::TooNew
        } else if found.major == self.major && found.minor > self.minor {
            Access::ReadOnly
        } else {
            Access::ReadWrite
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_is_ours_newer_minor_is_read_newer_major_is_refused() {
        let ours = Format { major: 2, minor: 3 };
        let access = |major, minor| ours.access(Format { major, minor });
        assert_eq!(
            [access(1, 0), access(1, 9), access(2, 0), access(2, 3)],
            [Access::ReadWrite; 4]
        );
        assert_eq!([access(2, 4), access(2, u32::MAX)], [Access::ReadOnly; 2]);
        assert_eq!([access(3, 0), access(u32::MAX, 3)], [Access::TooNew; 2]);
    }

    #[test]
    fn versions_are_ordered_by_major_first() {
        assert!(Format { major: 1, minor: 9 } < Format { major: 2, minor: 0 });
        let json = serde_json::to_string(&Format { major: 1, minor: 2 }).unwrap();
        assert_eq!(json, r#"{"major":1,"minor":2}"#);
    }
}
