//! Does a node that goes on in the session of another find one there?

use super::Sink;
use super::flow::Gives;
use super::graph::near_id;
use super::refs::Refs;
use super::uses::{Asker, SessionUse};
use crate::node_type::Actor;
use crate::yaml::shorten;
use crate::{Kind, Rule};

impl Refs<'_, '_> {
    pub(super) fn judge_sessions(&self, uses: &[SessionUse<'_>], sink: &mut Sink<'_>) {
        for one in uses {
            let mark = sink.mark();
            if let Some((message, help)) = self.judge_session(one, sink) {
                sink.error(Rule::InvalidSession, one.span, message).suggestion = help;
            }
            sink.assign_since(mark, Some(self.id(one.reader)));
        }
    }

    /// What is wrong, and what to do about it.
    fn judge_session(
        &self,
        one: &SessionUse<'_>,
        sink: &Sink<'_>,
    ) -> Option<(String, Option<String>)> {
        let id = one.node.as_str();
        let Some(node) = self.graph.ids.get(id).copied() else {
            let message = format!("no node has the id `{}`", shorten(id));
            return self.knows_all().then(|| (message, near_id(self.graph, id, sink)));
        };
        if self.is_unclear(node) || self.is_unclear(one.reader) {
            return None;
        }
        let node_type = self.judged[node].node_type?;
        if node_type.actor != Actor::Agent {
            let message = format!("`{id}` is a `{}`, which has no session", node_type.id);
            return Some((message, Some("name a task or a decision".to_owned())));
        }
        let reader = self.id(one.reader);
        let inside = self.graph.parent[node];
        let sees = inside.is_none() || inside == self.graph.parent[one.reader];
        let asker = Asker::at(one.reader);
        if let Some(fault) = self.no_session(node, asker, sees) {
            let help =
                format!("name a task or decision that every way to `{reader}` leads through");
            return Some((fault, Some(help)));
        }
        let provider = |at: usize| match &self.judged[at].kind {
            Some(Kind::Task { terms, .. } | Kind::Decision { terms, .. }) => {
                terms.provider.as_deref()
            }
            Some(_) | None => None,
        };
        let (theirs, ours) = provider(node).zip(provider(one.reader))?;
        (theirs != ours).then(|| {
            let message =
                format!("`{id}` works with {theirs}, whose session {ours} cannot continue");
            (message, Some("give both the same `provider`".to_owned()))
        })
    }

    /// Why the session of `node` is not always there.
    fn no_session(&self, node: usize, asker: Asker, sees: bool) -> Option<String> {
        let (id, reader) = (self.id(node), self.id(asker.node));
        if node == asker.node {
            Some(format!("`{reader}` cannot continue its own session"))
        } else if !sees {
            Some(format!("`{id}` runs once for each round or item, and only they see its session"))
        } else if !self.flow.is_before(node, asker) {
            Some(format!("`{reader}` does not wait for `{id}`, so its session may not be there"))
        } else if !self.flow.is_known(node, Gives::Output, asker) {
            Some(format!("`{reader}` can run without `{id}`, and then there is no session"))
        } else {
            None
        }
    }
}
