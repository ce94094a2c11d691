//! Trees without places, from the JSON of a snapshot.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Data, Entry, List, Map, Yaml};

/// How `serde_json` hands on a number with all its digits.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = deserializer.deserialize_any(Reader)?;
        Ok(Self { data, span: 0..0 })
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Data, E> {
        Ok(Data::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Data, E> {
        Ok(Data::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Data, E> {
        Ok(Data::Number(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Data, E> {
        Ok(Data::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Data::List(List { items, partial: false }))
    }

    /// The keys of a snapshot are in order, which shows at once that none is
    /// there twice.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == NUMBER {
                let number: Number =
                    map.next_value::<String>()?.parse().map_err(A::Error::custom)?;
                return Ok(Data::Number(number));
            }
            if entries.last().is_some_and(|last| last.key >= key) {
                return Err(A::Error::custom(format_args!("the key `{key}` is not in order")));
            }
            entries.push(Entry { key, key_span: 0..0, value: map.next_value()? });
        }
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
        let tree: Yaml = serde_json::from_str(text).unwrap();
        assert_eq!(tree.to_json(), serde_json::from_str::<Value>(text).ok());
        for wrong in [r#"{"a":1,"a":2}"#, r#"{"b":1,"a":2}"#, "[1", "01", "{\"a\":1e}"] {
            assert!(serde_json::from_str::<Yaml>(wrong).is_err(), "{wrong}");
        }
    }
}
