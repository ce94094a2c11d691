//! SHA-256 digests, of bytes and of named parts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::hex;

/// A SHA-256 digest, written `sha256:<64 hex>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a digest of the form sha256:<64 hex digits>")]
pub struct DigestError(String);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts, each preceded by its length as eight
    /// big-endian bytes, so that no two lists of parts share an input.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 lower-case hexadecimal digits alone.
    pub fn hex(&self) -> String {
        self.with_hex(str::to_owned)
    }

    fn with_hex<T>(&self, act: impl FnOnce(&str) -> T) -> T {
        let mut text = [0; 64];
        hex::write(&self.0, &mut text);
        act(std::str::from_utf8(&text).expect("hexadecimal digits are ASCII"))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.with_hex(|hex| f.write_str(hex))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let mut bytes = [0; 32];
        match hex::read(hex.as_bytes(), &mut bytes) {
            true => Ok(Self(bytes)),
            false => Err(DigestError(text.to_owned())),
        }
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

/// Reads a digest from a text, wherever that stands.
struct Text;

impl de::Visitor<'_> for Text {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a digest of the form sha256:<64 hex digits>")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Digest, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_digests_of_nothing_and_of_abc_are_those_of_the_standard() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"").hex(), empty);
        assert_eq!(Digest::of(b"abc").to_string(), format!("sha256:{abc}"));
    }

    #[test]
    fn parts_are_told_apart() {
        let lists: [&[&[u8]]; 6] =
            [&[], &[b""], &[b"", b""], &[b"ab", b"c"], &[b"a", b"bc"], &[b"abc"]];
        for (at, list) in lists.iter().enumerate() {
            for other in &lists[at + 1..] {
                assert_ne!(Digest::of_parts(list), Digest::of_parts(other));
            }
        }
        let input = [&[0, 0, 0, 0, 0, 0, 0, 2], b"ab".as_slice(), &[0; 8]].concat();
        assert_eq!(Digest::of_parts(&[b"ab", b""]), Digest::of(&input));
    }

    #[test]
    fn only_64_lower_case_digits_are_a_digest() {
        let digest = Digest::of(b"x");
        let hex = digest.hex();
        let upper = hex.to_uppercase();
        let bad = ["", "sha256:", &hex[1..], &format!("{hex}0"), &format!("sha1:{hex}"), &upper]
            .map(str::to_owned);
        for bad in bad {
            assert_eq!(bad.parse::<Digest>(), Err(DigestError(bad.clone())), "{bad}");
        }
        assert_eq!(hex.parse(), Ok(digest));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn text_and_json_lead_back(bytes in any::<Vec<u8>>()) {
            let digest = Digest::of(&bytes);
            prop_assert_eq!(digest.to_string().parse(), Ok(digest));
            let json = serde_json::to_string(&digest).unwrap();
            prop_assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        }
    }
}
