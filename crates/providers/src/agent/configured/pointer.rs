//! A JSON pointer that was taken apart once, for it is followed in every line
//! that an agent says. Pure.

use serde_json::Value;

/// The longest pointer, in bytes.
const BYTES: usize = 200;

/// Where something stands in a document: `/message/content/0/text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    key: String,
    /// The same in an array, if it is a place there.
    index: Option<usize>,
}

impl Pointer {
    /// The pointer that this text is, if it is one and not too long.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let steps = text.strip_prefix('/').filter(|_| text.len() <= BYTES)?;
        Some(Self(steps.split('/').map(Step::new).collect()))
    }

    /// What stands there, if anything does.
    pub(super) fn find<'v>(&self, document: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(document, |value, step| match value {
            Value::Object(members) => members.get(&step.key),
            Value::Array(items) => items.get(step.index?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        })
    }
}

impl Step {
    fn new(text: &str) -> Self {
        let key = text.replace("~1", "/").replace("~0", "~");
        // `+1` and `01` are keys and no places.
        let plain = !key.starts_with('+') && (!key.starts_with('0') || key.len() == 1);
        let index = key.parse().ok().filter(|_| plain);
        Self { key, index }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_that_is_no_pointer_or_too_long_is_none() {
        assert_eq!(Pointer::parse(""), None);
        assert_eq!(Pointer::parse("a/b"), None);
        assert_eq!(Pointer::parse(&"/a".repeat(BYTES)), None);
    }

    proptest! {
        #[test]
        fn it_finds_what_the_library_finds(
            steps in prop::collection::vec("[ab]|~[01]|~|/|[+]?0?[0-3]|", 1..4),
        ) {
            let inner = json!({ "a": 1, "b": [2, null], "": "x", "/": 3, "~": 4, "01": 5, "+1": 6 });
            let list = json!([inner, [inner, inner], "text", inner]);
            let document = json!({ "a": list, "b": inner, "": list, "0": inner, "/": inner, "~": list });
            let text = format!("/{}", steps.join("/"));
            let found = Pointer::parse(&text).and_then(|pointer| pointer.find(&document));
            prop_assert_eq!(found, document.pointer(&text), "{}", text);
        }
    }
}
