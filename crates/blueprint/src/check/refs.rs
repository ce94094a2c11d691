//! Do the paths in templates and conditions lead to values that are there?

use super::Sink;
use super::cycles::show_path;
use super::flow::Flow;
use super::graph::{Graph, chooses, near_id};
use super::node::Judged;
use super::uses::{Asks, Use};
use crate::draft::Draft;
use crate::yaml::shorten;
use crate::{Finding, NodeId, Root, Rule};

pub(super) struct Refs<'a, 't> {
    pub(super) graph: &'a Graph<'t>,
    pub(super) draft: &'a Draft<'t>,
    pub(super) judged: &'a [Judged<'t>],
    pub(super) flow: &'a Flow,
}

impl Refs<'_, '_> {
    pub(super) fn judge(&self, uses: &[Use<'_>], sink: &mut Sink<'_>) {
        for one in uses {
            let mark = sink.mark();
            self.judge_one(one, sink);
            sink.assign_since(mark, self.draft.nodes[one.reader].id.map(|id| id.text));
        }
    }

    fn judge_one(&self, one: &Use<'_>, sink: &mut Sink<'_>) {
        let (message, suggestion) = match &one.root {
            Root::Output(node) => return self.output(one, node, sink),
            Root::Trigger | Root::Storage | Root::RunId => return,
            Root::Prev(node) => (
                format!("`nodes.{node}.prev` has a value only inside a loop"),
                format!("read `nodes.{node}.output`"),
            ),
            Root::Error(node) => (
                format!(
                    "`nodes.{node}.error` has a value only where a run goes on after a failure"
                ),
                "remove it: a node that fails ends the run".to_owned(),
            ),
            Root::Item | Root::ItemIndex => (
                "`item` and `item_index` have a value only inside a `for_each`".to_owned(),
                "name the node whose output you mean".to_owned(),
            ),
        };
        // A node inside a loop is judged when loops can run.
        if self.draft.nodes[one.reader].parent.is_none() {
            self.error(Rule::TemplateOutOfScope, one, message, sink).suggest(suggestion);
        }
    }

    fn output(&self, one: &Use<'_>, node: &NodeId, sink: &mut Sink<'_>) {
        let (draft, graph) = (self.draft, self.graph);
        let Some(target) = graph.ids.get(node.as_str()).copied() else {
            if draft.cut || draft.nodes.iter().any(|node| node.id.is_none()) {
                return;
            }
            let near = near_id(graph, node.as_str(), sink);
            let message = format!("no node has the id `{}`", shorten(node.as_str()));
            let path = (one.span, one.text, &one.part);
            let fix = sink.rename_in_path(path, node.as_str(), graph.ids.keys().copied());
            self.error(Rule::UnknownTemplateNode, one, message, sink).fix(fix).suggestion = near;
            return;
        };
        let inside = |at: usize| draft.nodes[at].parent.is_some();
        if draft.cut || graph.stray[one.reader] || inside(one.reader) || inside(target) {
            return;
        }
        let reader = draft.nodes[one.reader].id.map_or("", |id| id.text);
        if !self.flow.is_before(target, one.reader) {
            let message = if target == one.reader {
                format!("`{reader}` cannot read its own output")
            } else if self.flow.is_before(one.reader, target) {
                format!("`{node}` runs after `{reader}`, so its output is not there yet")
            } else {
                format!("`{reader}` does not wait for `{node}`, so its output may not be there")
            };
            self.error(Rule::TemplateNotUpstream, one, message, sink)
                .suggest(format!("read a node that leads to `{reader}`"));
        } else if one.asks != Asks::Nothing && !self.flow.is_known(target, one.reader) {
            let message = self.missing(node, target, one.reader, sink);
            let help = match one.asks {
                Asks::Template => "say what stands for a missing value: `| default(…)`".to_owned(),
                Asks::Comparison | Asks::Nothing => {
                    format!("compare on a path where `{node}` has run")
                }
            };
            self.error(Rule::TemplateNotUpstream, one, message, sink).suggest(help);
        }
    }

    fn missing(&self, node: &NodeId, target: usize, reader: usize, sink: &Sink<'_>) -> String {
        let id = |at: usize| self.draft.nodes[at].id.map_or("", |id| id.text);
        let message = format!("`{}` can run without `{node}`", id(reader));
        if sink.is_full() {
            return message;
        }
        let name = |link: &usize| {
            let link = self.graph.links[*link];
            if chooses(&self.judged[link.from]) {
                format!("{}.{}", id(link.from), link.from_port)
            } else {
                id(link.from).to_owned()
            }
        };
        let mut names: Vec<String> =
            self.flow.path_without(self.graph, target, reader).iter().map(name).collect();
        names.push(id(reader).to_owned());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{message}, by {}", show_path(&names))
    }

    fn error<'s>(
        &self,
        rule: Rule,
        one: &Use<'_>,
        message: String,
        sink: &'s mut Sink<'_>,
    ) -> &'s mut Finding {
        let place = sink.place_within(one.span, one.text, &one.part);
        sink.error(rule, &place, message)
    }
}
