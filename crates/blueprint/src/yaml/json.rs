//! Trees without places, from the JSON of a snapshot.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Data, Entry, List, Map, Yaml};

/// How `serde_json` hands on a number with all its digits.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de: 'a, 'a> Deserialize<'de> for Yaml<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tree(&mut Vec::new()).deserialize(deserializer)
    }
}

/// Reads one value. The entries of all mappings that are being read stand in
/// one list, so that each mapping gets a list of just its size.
struct Tree<'a, 'de>(&'a mut Vec<Entry<'de>>);

impl<'de> DeserializeSeed<'de> for Tree<'_, 'de> {
    type Value = Yaml<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml<'de>, D::Error> {
        let data = deserializer.deserialize_any(self)?;
        Ok(Yaml { data, span: 0..0 })
    }
}

/// A text of the snapshot, as it stands there if it has no escapes.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Cow<'de, str>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

impl<'de> Visitor<'de> for Tree<'_, 'de> {
    type Value = Data<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Data<'de>, E> {
        Ok(Data::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Data<'de>, E> {
        Ok(Data::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Data<'de>, E> {
        Ok(Data::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Data<'de>, E> {
        Ok(Data::Number(number.into()))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Data<'de>, E> {
        Ok(Data::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data<'de>, E> {
        Ok(Data::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Tree(self.0))? {
            items.push(item);
        }
        Ok(Data::List(List { items, partial: false }))
    }

    /// The keys of a snapshot are in order, which shows at once that none is
    /// there twice.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data<'de>, A::Error> {
        let mark = self.0.len();
        while let Some(key) = map.next_key_seed(Text)? {
            if key == NUMBER {
                let number: Number =
                    map.next_value::<String>()?.parse().map_err(A::Error::custom)?;
                return Ok(Data::Number(number));
            }
            if self.0[mark..].last().is_some_and(|last| last.key >= key) {
                return Err(A::Error::custom(format_args!("the key `{key}` is not in order")));
            }
            let value = map.next_value_seed(Tree(self.0))?;
            self.0.push(Entry { key, key_span: 0..0, value });
        }
        let entries = self.0.drain(mark..).collect();
        Ok(Data::Map(Map { entries, partial: false }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_tree_says_what_its_json_says() {
        let text = r#"{"a":[null,true,"b\n\u00e9",1.50,123456789012345678901234567890],"c":{}}"#;
        let tree: Yaml<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(tree.to_json(), serde_json::from_str::<Value>(text).ok());
        for wrong in [r#"{"a":1,"a":2}"#, r#"{"b":1,"a":2}"#, "[1", "01", "{\"a\":1e}"] {
            assert!(serde_json::from_str::<Yaml<'_>>(wrong).is_err(), "{wrong}");
        }
    }
}
