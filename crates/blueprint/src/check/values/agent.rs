//! The fields that say on which terms an agent works.

use std::ops::Range;

use super::{NAME_RULE, Reader, is_name};
use crate::check::uses::SessionUse;
use crate::node_type::Field;
use crate::yaml::{Yaml, shorten};
use crate::{NodeId, Rule, Session};

impl<'t> Reader<'_, '_, 't> {
    /// A text in which no value can stand.
    pub(super) fn plain(
        &mut self,
        field: &Field,
        text: &str,
        span: &Range<usize>,
    ) -> Option<String> {
        let trimmed = text.trim();
        let (fault, help) = if trimmed.is_empty() {
            ("is empty", "write a word, or leave the field out")
        } else if trimmed.contains("{{") {
            ("takes no value of the run", "write the word itself")
        } else if trimmed.contains(char::is_control) {
            ("has a character that no name has", "write one line of plain text")
        } else {
            return Some(trimmed.to_owned());
        };
        self.sink
            .error(Rule::InvalidFieldValue, span, format!("`{}` {fault}", field.id))
            .suggest(help);
        None
    }

    /// `fresh` or `continue:<node>`; which node that is, the graph tells.
    pub(super) fn session(&mut self, field: &Field, value: &'t Yaml<'t>) -> Option<Session> {
        let text = self.text(field, value)?.trim();
        if text == "fresh" {
            return Some(Session::Fresh);
        }
        let (fault, help) = match text.strip_prefix("continue:").map(str::trim) {
            Some(node) if is_name(node) => {
                let node = NodeId::new(node);
                let reader = self.uses.reader.node;
                let (session, span) = (Session::Continue(node.clone()), &value.span);
                self.uses.sessions.push(SessionUse { reader, node, span });
                return Some(session);
            }
            Some("") => ("`continue:` names no node".to_owned(), "write `continue:<node>`"),
            Some(node) => (format!("no node can have the id `{}`", shorten(node)), NAME_RULE),
            None if text == "agent" => (
                "an agent of the house has no session to continue yet".to_owned(),
                "write `fresh`, or `continue:<node>` for the session of a node before this one",
            ),
            None => (
                format!("`{}` is no session", shorten(text)),
                "write `fresh`, or `continue:<node>` for the session of a node before this one",
            ),
        };
        self.sink.error(Rule::InvalidSession, &value.span, fault).suggest(help);
        None
    }
}
