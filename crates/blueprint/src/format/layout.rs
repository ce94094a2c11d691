//! The walk over keys and items that stand on lines of their own.

use std::ops::Range;

use super::page::{Page, STEP};
use super::{Laid, Odd};
use crate::yaml::{Data, List, Map, Yaml};

/// How far in the keys or items of a collection stand, in the file and in
/// the new layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) old: usize,
    pub(super) new: usize,
}

/// What a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Root,
    Key,
    Item,
}

#[derive(Debug)]
pub(super) struct Layout<'t> {
    pub(super) page: Page<'t>,
    /// Collections that ended since the last token, the innermost first: the
    /// comments that come next may belong to one of them.
    closed: Vec<Level>,
}

pub(super) fn lay_out(text: &str, root: &Yaml<'_>) -> Result<Laid, Odd> {
    let mut layout = Layout { page: Page::new(text), closed: Vec::new() };
    let top = Level { old: 0, new: 0 };
    let breaks = layout.page.between(|_| 0);
    layout.page.line(breaks, 0);
    match &root.data {
        Data::Map(map) if !layout.is_flow() => {
            let old = map.entries.first().map_or(0, |e| layout.page.column(e.key_span.start));
            layout.map(map, Level { old, new: 0 })?;
        }
        Data::Map(_)
        | Data::List(_)
        | Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::Text(_)
        | Data::Refused => layout.flow(root, top, Owner::Root)?,
    }
    layout.between(top);
    if layout.page.at < text.len() {
        return Err(Odd { at: layout.page.at, what: "the YAML ends before the front matter does" });
    }
    let (text, comments) = layout.page.finish();
    Ok(Laid { text, comments })
}

impl Layout<'_> {
    /// Lays out the keys of a mapping; the first is the next token.
    fn map(&mut self, map: &Map<'_>, level: Level) -> Result<(), Odd> {
        for (nth, entry) in map.entries.iter().enumerate() {
            if nth > 0 {
                self.next_line(level);
            }
            if self.page.at != entry.key_span.start {
                return Err(Odd { at: self.page.at, what: "a key must begin its line" });
            }
            self.leaf(&entry.key_span, level.new + STEP);
            self.page.sign(':', "no `:` follows the key")?;
            if is_written(self.page.text, &entry.value, &entry.key_span) {
                self.value(&entry.value, level, Owner::Key)?;
            }
        }
        self.closed.push(level);
        Ok(())
    }

    /// Lays out the items of a list; the first dash is the next token.
    fn list(&mut self, list: &List<'_>, level: Level) -> Result<(), Odd> {
        for (nth, item) in list.items.iter().enumerate() {
            if nth > 0 {
                self.next_line(level);
            }
            self.page.sign('-', "an item must begin with `- `")?;
            if is_written(self.page.text, item, &(0..0)) {
                self.value(item, level, Owner::Item)?;
            }
        }
        self.closed.push(level);
        Ok(())
    }

    /// Lays out what a key or a dash of `level` holds.
    fn value(&mut self, value: &Yaml<'_>, level: Level, owner: Owner) -> Result<(), Odd> {
        let next = self.page.next();
        let new = level.new + STEP;
        let inner = Level { old: self.page.column(next), new };
        let is_flow = self.page.text[next..].starts_with(['{', '[']);
        let breaks = self.page.between(|_| new);
        match breaks {
            0 => self.page.push(" "),
            _ => self.page.line(breaks, new),
        }
        match &value.data {
            Data::Map(_) | Data::List(_) if is_flow => self.flow(value, level, owner),
            Data::Map(map) => self.map(map, inner),
            Data::List(list) => self.list(list, inner),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::Refused => {
                if self.page.text[next..].starts_with(['|', '>']) {
                    self.block_scalar(level);
                } else {
                    self.leaf(&value.span, new);
                }
                Ok(())
            }
        }
    }

    fn next_line(&mut self, level: Level) {
        let breaks = self.between(level);
        self.page.line(breaks, level.new);
    }

    /// Carries over what stands before the next token of `level`. A comment
    /// that stands as far in as a collection that just ended belongs to it.
    fn between(&mut self, level: Level) -> usize {
        let closed = std::mem::take(&mut self.closed);
        self.page.between(|column| {
            let owns = |closed: &&Level| level.old < closed.old && closed.old <= column;
            closed.iter().find(owns).map_or(level.new, |closed| closed.new)
        })
    }

    fn is_flow(&self) -> bool {
        self.page.text[self.page.at..].starts_with(['{', '['])
    }
}

/// Whether a value has bytes of its own. One that is left out has the place
/// of its key, or of a sign after it.
pub(super) fn is_written(text: &str, value: &Yaml<'_>, key: &Range<usize>) -> bool {
    let word = matches!(&text[value.span.clone()], "~" | "null");
    value.data != Data::Null || (word && value.span != *key)
}
