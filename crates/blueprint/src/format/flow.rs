//! Lists and mappings in brackets. Line breaks stay where they are; the
//! blanks around the signs are the same everywhere: `{ a: b, c: [d, e] }`.

use std::ops::Range;

use super::Odd;
use super::layout::{Layout, Level, Owner, is_written};
use super::page::STEP;
use crate::yaml::{Data, Yaml};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Sign(char),
    Leaf,
}

impl Layout<'_> {
    /// Lays out a collection in brackets, which is the next token.
    pub(super) fn flow(&mut self, value: &Yaml<'_>, level: Level, owner: Owner) -> Result<(), Odd> {
        let mut leaves = Vec::new();
        collect(self.page.text, value, &mut leaves);
        let mut leaves = leaves.into_iter().peekable();
        let base = match owner {
            Owner::Root | Owner::Key => level.new,
            Owner::Item => level.new + STEP,
        };
        let mut depth = 0;
        let mut last = None;
        while depth > 0 || last.is_none() {
            let breaks = self.page.between(|_| base + STEP * depth);
            let at = self.page.at;
            let leaf = leaves.next_if(|leaf| leaf.start == at);
            let token = match (&leaf, self.page.text[at..].chars().next()) {
                (Some(_), _) => Token::Leaf,
                (None, Some(sign @ ('{' | '}' | '[' | ']' | ',' | ':'))) => Token::Sign(sign),
                (None, _) => return Err(Odd { at, what: "a key in brackets must be one word" }),
            };
            if matches!(token, Token::Sign('}' | ']')) {
                depth = usize::saturating_sub(depth, 1);
            }
            if breaks > 0 {
                let close = depth == 0 && owner == Owner::Key;
                let under = close && self.page.column(at) > level.old;
                self.page.line(breaks, base + STEP * if under { 1 } else { depth });
            } else if last.is_some_and(|last| has_blank(last, token)) {
                self.page.push(" ");
            }
            match leaf {
                Some(leaf) => self.leaf(&leaf, base + STEP * (depth + 1)),
                None => self.page.sign(self.page.text[at..].chars().next().unwrap_or(' '), "")?,
            }
            depth += usize::from(matches!(token, Token::Sign('{' | '[')));
            last = Some(token);
        }
        Ok(())
    }
}

/// The texts of a value, in the order of the file.
fn collect(text: &str, value: &Yaml<'_>, leaves: &mut Vec<Range<usize>>) {
    match &value.data {
        Data::Map(map) => {
            for entry in &map.entries {
                leaves.push(entry.key_span.clone());
                if is_written(text, &entry.value, &entry.key_span) {
                    collect(text, &entry.value, leaves);
                }
            }
        }
        Data::List(list) => {
            for item in list.items.iter().filter(|item| is_written(text, item, &(0..0))) {
                collect(text, item, leaves);
            }
        }
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::Refused => {
            leaves.push(value.span.clone());
        }
    }
}

/// Whether a blank parts two tokens of one line.
fn has_blank(last: Token, next: Token) -> bool {
    match (last, next) {
        (_, Token::Sign(',' | ':' | ']'))
        | (Token::Sign('['), _)
        | (Token::Sign('{'), Token::Sign('}')) => false,
        (Token::Sign(_) | Token::Leaf, Token::Sign(_) | Token::Leaf) => true,
    }
}
