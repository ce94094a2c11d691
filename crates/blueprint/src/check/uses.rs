//! Which values of the run the fields ask for, and where.

use std::ops::Range;

use crate::template::Filter;
use crate::{Condition, NodeId, Root, Template};

/// One path in one field.
#[derive(Debug)]
pub(super) struct Use<'t> {
    pub(super) reader: Asker,
    pub(super) root: Root,
    pub(super) asks: Asks,
    /// The text value, its bytes in the file, and the path's bytes in it.
    pub(super) text: &'t str,
    pub(super) span: &'t Range<usize>,
    pub(super) part: Range<usize>,
}

/// Who asks for a value, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Asker {
    /// The node, by its place in the draft.
    pub(super) node: usize,
    /// The loop asks after each round of its body, not when it begins.
    pub(super) after_round: bool,
    /// It is asked once the node claims success, so that its own output is
    /// there too.
    pub(super) claims: bool,
}

impl Asker {
    pub(super) fn at(node: usize) -> Self {
        Self { node, after_round: false, claims: false }
    }
}

/// What is asked of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// It must be there, or the node fails; `| default(…)` would help.
    Template,
    /// It must be there, or the condition has no answer.
    Comparison,
    /// It may be missing.
    Nothing,
}

/// A node that goes on in the session of another.
#[derive(Debug)]
pub(super) struct SessionUse<'t> {
    /// The one that goes on, by its place in the draft.
    pub(super) reader: usize,
    pub(super) node: NodeId,
    pub(super) span: &'t Range<usize>,
}

/// The uses of all nodes, collected while their fields are read.
#[derive(Debug, Default)]
pub(super) struct Uses<'t> {
    pub(super) list: Vec<Use<'t>>,
    pub(super) sessions: Vec<SessionUse<'t>>,
    /// The node whose fields are being read.
    pub(super) reader: Asker,
}

impl<'t> Uses<'t> {
    /// Whether any of them is for what a node gives.
    pub(super) fn ask_nodes(&self) -> bool {
        let asks = |one: &Use<'_>| match one.root {
            Root::Output(_) | Root::Error(_) | Root::Prev(_) => true,
            Root::Trigger | Root::Storage | Root::RunId | Root::Item | Root::ItemIndex => false,
        };
        !self.sessions.is_empty() || self.list.iter().any(asks)
    }

    /// Notes the places of a template that is the value `text` at `span`.
    pub(super) fn add(&mut self, template: &Template, span: &'t Range<usize>, text: &'t str) {
        for expr in template.exprs() {
            let defaulted = expr.filters.iter().any(|f| matches!(f, Filter::Default(_)));
            let asks = if defaulted { Asks::Nothing } else { Asks::Template };
            let (reader, root, part) = (self.reader, expr.root.clone(), expr.range.clone());
            self.list.push(Use { reader, root, asks, text, span, part });
        }
    }

    /// Notes the paths of a condition. A bare path that leads to nothing is
    /// false, by the rules of conditions, and needs no value; nor does one
    /// that the condition asks about with `has`.
    pub(super) fn add_condition(
        &mut self,
        condition: &Condition,
        span: &'t Range<usize>,
        text: &'t str,
    ) {
        for (expr, needed) in condition.needs() {
            let asks = if needed { Asks::Comparison } else { Asks::Nothing };
            let (reader, root, part) = (self.reader, expr.root.clone(), expr.range.clone());
            self.list.push(Use { reader, root, asks, text, span, part });
        }
    }
}
