//! The headers of a request.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Reader;
use crate::check::literals;
use crate::node_type::Field;
use crate::yaml::{Entry, Yaml, shorten};
use crate::{Rule, Template};

impl<'t> Reader<'_, '_, 't> {
    pub(super) fn headers(
        &mut self,
        field: &Field,
        value: &'t Yaml<'t>,
    ) -> Option<Vec<(String, Template)>> {
        let map = self.mapping(field, value)?;
        let mut seen: BTreeMap<String, &Range<usize>> = BTreeMap::new();
        let mut pairs = self.each(map, |reader, entry| {
            let first = seen.insert(entry.key.to_ascii_lowercase(), &entry.key_span);
            let sound = reader.header(entry, first);
            let text = reader.item(field, &entry.value)?;
            let template = reader.template(text, &entry.value.span)?;
            sound.then(|| (entry.key.to_string(), template))
        })?;
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        Some(pairs)
    }

    /// Whether a request can have the header; `first` is where it already
    /// stands, since no case tells one header from another.
    fn header(&mut self, entry: &Entry<'_>, first: Option<&Range<usize>>) -> bool {
        let name = shorten(&entry.key);
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let (message, suggestion) = if entry.key.is_empty() || !entry.key.chars().all(token) {
            (format!("`{name}` cannot be the name of a header"), "use letters, digits and `-`")
        } else if literals::is_own_header(&entry.key) {
            (format!("the request itself sets the header `{name}`"), "remove it")
        } else if first.is_some() {
            (format!("the header `{name}` is there twice"), "remove one of the two")
        } else {
            return true;
        };
        let finding = self.sink.error(Rule::InvalidFieldValue, &entry.key_span, message);
        finding.suggest(suggestion);
        if let Some(first) = first {
            finding.relate(first.clone(), "first here");
        }
        false
    }
}
