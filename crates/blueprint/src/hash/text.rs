//! Writes compact JSON whose keys are in order, and notes whether it is the
//! canonical form of RFC 8785 as it stands (see [`durable::canon`]).

use serde_json::{Number, Value};

use crate::yaml::{Data, Yaml};

#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    /// A number or a key that the canonical form may write or order otherwise.
    differs: bool,
}

impl Writer {
    /// The beginning of a list or a mapping.
    pub(super) fn new(bracket: char) -> Self {
        Self { out: bracket.to_string(), differs: false }
    }

    /// Makes room, and some more for what stands around it.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes + 512);
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn is_canonical(&self) -> bool {
        !self.differs
    }

    pub(super) fn into_text(self) -> String {
        self.out
    }

    pub(super) fn open(&mut self, bracket: char) {
        self.out.push(bracket);
    }

    pub(super) fn close(&mut self, bracket: char) {
        self.out.push(bracket);
    }

    /// What stands before an item of a list.
    pub(super) fn item(&mut self) {
        if !matches!(self.out.as_bytes().last(), None | Some(b'[' | b'{')) {
            self.out.push(',');
        }
    }

    /// The next key of a mapping. Keys that are not ASCII have another order
    /// in the canonical form.
    pub(super) fn key(&mut self, key: &str) {
        self.item();
        self.string(key);
        self.out.push(':');
        self.differs |= !key.is_ascii();
    }

    /// The keys that have a text.
    pub(super) fn texts<const N: usize>(&mut self, pairs: [(&str, Option<&str>); N]) {
        for (key, text) in pairs {
            if let Some(text) = text {
                self.key(key);
                self.string(text);
            }
        }
    }

    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(flag) => self.flag(*flag),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list(items, Self::value),
            Value::Object(map) => {
                self.map(map.iter().map(|(key, value)| (key.as_str(), value)), Self::value);
            }
        }
    }

    /// A value in which nothing was refused.
    pub(super) fn yaml(&mut self, value: &Yaml<'_>) {
        match &value.data {
            Data::Null | Data::Refused => self.out.push_str("null"),
            Data::Bool(flag) => self.flag(*flag),
            Data::Number(number) => self.number(number),
            Data::Text(text) => self.string(text),
            Data::List(list) => self.list(&list.items, Self::yaml),
            Data::Map(map) => {
                let pairs = map.entries.iter().map(|entry| (&*entry.key, &entry.value));
                self.map(pairs, Self::yaml);
            }
        }
    }

    fn list<T>(&mut self, items: &[T], write: fn(&mut Self, &T)) {
        self.out.push('[');
        for item in items {
            self.item();
            write(self, item);
        }
        self.out.push(']');
    }

    fn map<'a, T: 'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a str, &'a T)>,
        write: fn(&mut Self, &T),
    ) {
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable_by_key(|(key, _)| *key);
        self.out.push('{');
        for (key, value) in pairs {
            self.key(key);
            write(self, value);
        }
        self.out.push('}');
    }

    fn flag(&mut self, flag: bool) {
        self.out.push_str(if flag { "true" } else { "false" });
    }

    /// A whole number has one text; any other may have several.
    fn number(&mut self, number: &Number) {
        let text = number.as_str();
        let digits = text.strip_prefix('-').unwrap_or(text);
        self.differs |= !digits.bytes().all(|byte| byte.is_ascii_digit()) || text == "-0";
        self.out.push_str(text);
    }

    /// The escapes of `serde_json` are those of the canonical form.
    fn string(&mut self, text: &str) {
        if text.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
            self.out += &serde_json::to_string(text).expect("a text has a JSON text");
            return;
        }
        self.out.push('"');
        self.out.push_str(text);
        self.out.push('"');
    }
}
