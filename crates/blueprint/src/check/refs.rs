//! Do the paths in templates and conditions lead to values that are there?

use super::Sink;
use super::bodies::runs;
use super::cycles::show_path;
use super::flow::{Flow, Gives};
use super::graph::{Graph, chooses, near_id};
use super::node::Judged;
use super::uses::{Asker, Asks, Use};
use crate::draft::Draft;
use crate::node_type::{BODY, Runs};
use crate::program::ERROR;
use crate::yaml::shorten;
use crate::{Finding, NodeId, Root, Rule};

pub(super) struct Refs<'a, 't> {
    pub(super) graph: &'a Graph<'t>,
    pub(super) draft: &'a Draft<'t>,
    pub(super) judged: &'a [Judged<'t>],
    pub(super) flow: &'a Flow,
}

/// One question for a value of a node.
struct Question<'a> {
    one: &'a Use<'a>,
    reader: Asker,
    node: usize,
    gives: Gives,
}

/// A rule, what is wrong, and what to do instead.
type Fault = (Rule, String, String);

impl<'t> Refs<'_, 't> {
    pub(super) fn judge(&self, uses: &[Use<'_>], sink: &mut Sink<'_>) {
        for one in uses {
            let mark = sink.mark();
            if let Some((rule, message, suggestion)) = self.judge_one(one, sink) {
                self.error(rule, one, message, sink).suggest(suggestion);
            }
            sink.assign_since(mark, self.draft.nodes[one.reader.node].id.map(|id| id.text));
        }
    }

    fn judge_one(&self, one: &Use<'_>, sink: &mut Sink<'_>) -> Option<Fault> {
        let reader = one.reader;
        let (name, gives) = match &one.root {
            Root::Trigger | Root::Storage | Root::RunId => return None,
            Root::Item | Root::ItemIndex => return self.item(reader),
            Root::Prev(name) => {
                let node = self.find(one, name, sink)?;
                return self.prev(one, node);
            }
            Root::Output(name) => (name, Gives::Output),
            Root::Error(name) => (name, Gives::Error),
        };
        let node = self.find(one, name, sink)?;
        if reader.claims && node == reader.node && gives == Gives::Output {
            return None;
        }
        let question = Question { one, reader, node, gives };
        if self.is_unclear(reader.node) || self.is_unclear(node) {
            return None;
        }
        self.never(&question)
            .or_else(|| self.not_before(&question))
            .or_else(|| self.not_always(&question, sink))
    }

    /// The node of that id; a finding when there is none.
    fn find(&self, one: &Use<'_>, node: &NodeId, sink: &mut Sink<'_>) -> Option<usize> {
        let graph = self.graph;
        let found = graph.ids.get(node.as_str()).copied();
        if found.is_none() && self.knows_all() {
            let near = near_id(graph, node.as_str(), sink);
            let message = format!("no node has the id `{}`", shorten(node.as_str()));
            let path = (one.span, one.text, &one.part);
            let fix = sink.rename_in_path(path, node.as_str(), graph.names());
            self.error(Rule::UnknownTemplateNode, one, message, sink).fix(fix).suggestion = near;
        }
        found
    }

    /// Whether a node that is not found is not there.
    pub(super) fn knows_all(&self) -> bool {
        !self.draft.cut && self.draft.nodes.iter().all(|node| node.id.is_some())
    }

    /// Whether a fault that is already reported leaves open where it stands.
    pub(super) fn is_unclear(&self, node: usize) -> bool {
        let graph = self.graph;
        let nested = |body: usize| graph.parent[body].is_some();
        self.draft.cut
            || graph.stray[node]
            || graph.lost[node]
            || graph.parent[node].is_some_and(nested)
    }

    fn item(&self, reader: Asker) -> Option<Fault> {
        let inside = self.body(reader).is_some_and(|body| self.runs(body) == Some(Runs::ForEach));
        if inside || self.is_unclear(reader.node) {
            return None;
        }
        let message = "`item` and `item_index` have a value only inside a `for_each`".to_owned();
        Some((Rule::TemplateOutOfScope, message, "name the node whose output you mean".to_owned()))
    }

    /// The output of the round before.
    fn prev(&self, one: &Use<'_>, node: usize) -> Option<Fault> {
        if self.is_unclear(one.reader.node) || self.is_unclear(node) {
            return None;
        }
        let id = self.id(node);
        let (message, help) = match self.body(one.reader) {
            None => (
                format!("`nodes.{id}.prev` has a value only inside a loop"),
                format!("read `nodes.{id}.output`"),
            ),
            Some(body) if self.runs(body) == Some(Runs::ForEach) => (
                format!("the items of `{}` have no round before them", self.id(body)),
                "remove it: no item sees another".to_owned(),
            ),
            Some(body) if self.graph.parent[node] != Some(body) => (
                format!(
                    "`{id}` does not stand inside of `{}`, so it has no round before",
                    self.id(body)
                ),
                format!("read `nodes.{id}.output`"),
            ),
            Some(body) => return self.first_round(one.asks, id, body),
        };
        Some((Rule::TemplateOutOfScope, message, help))
    }

    fn first_round(&self, asks: Asks, id: &str, body: usize) -> Option<Fault> {
        let help = match asks {
            Asks::Nothing => return None,
            Asks::Template => DEFAULT.to_owned(),
            Asks::Comparison => format!("ask first: `has(nodes.{id}.prev) && …`"),
        };
        let message =
            format!("in the first round of `{}` there is no `nodes.{id}.prev`", self.id(body));
        Some((Rule::TemplateNotUpstream, message, help))
    }

    /// Values that the reader can see on no path.
    fn never(&self, question: &Question<'_>) -> Option<Fault> {
        let node = question.node;
        let (graph, id) = (self.graph, self.id(node));
        if question.gives == Gives::Error && !graph.catches(node) && !graph.broken_out[node] {
            let message =
                format!("`nodes.{id}.error` has a value only where a run goes on after a failure");
            let node_type = self.judged[node].node_type;
            let help = match node_type.filter(|node_type| !node_type.errors) {
                Some(t) => format!("remove it: a `{}` has no way out `{ERROR}`", t.id),
                None => format!("add an edge with `from: {id}` and `from_port: {ERROR}`"),
            };
            return Some((Rule::TemplateOutOfScope, message, help));
        }
        let body = graph.parent[node].filter(|body| self.runs(*body) == Some(Runs::ForEach))?;
        if self.body(question.reader) == Some(body) {
            return None;
        }
        let body = self.id(body);
        let message = format!("`{id}` runs once for each item of `{body}`, and only they see it");
        let help = format!("read `nodes.{body}.output`, the list of what the items gave");
        Some((Rule::TemplateOutOfScope, message, help))
    }

    /// Values of nodes for which the reader does not wait.
    fn not_before(&self, question: &Question<'_>) -> Option<Fault> {
        let (node, reader) = (question.node, question.reader);
        if self.flow.is_before(node, reader) {
            return None;
        }
        let (id, name, what) = (self.id(node), self.id(reader.node), question.what());
        let body = self.graph.parent[node];
        let message = if node == reader.node {
            format!("`{name}` cannot read its own {what}")
        } else if self.body(reader) == Some(node) {
            format!("`{id}` ends after `{name}`, so its {what} is not there yet")
        } else if body == Some(reader.node) {
            format!("`{id}` runs inside of `{name}`, so its {what} is not there yet")
        } else if self.flow.is_before(reader.node, Asker::at(node)) {
            format!("`{id}` runs after `{name}`, so its {what} is not there yet")
        } else if let Some(body) = body.filter(|body| self.flow.is_before(*body, reader)) {
            format!("`{name}` runs where `{}` failed, so `{id}` has no {what}", self.id(body))
        } else {
            format!("`{name}` does not wait for `{id}`, so its {what} may not be there")
        };
        let help = format!("read a node that leads to `{name}`");
        Some((Rule::TemplateNotUpstream, message, help))
    }

    /// Values that are missing on some path to the reader.
    fn not_always(&self, question: &Question<'_>, sink: &Sink<'_>) -> Option<Fault> {
        let Question { one, reader, node, gives } = *question;
        if one.asks == Asks::Nothing || self.flow.is_known(node, gives, reader) {
            return None;
        }
        let id = self.id(node);
        let help = match (one.asks, gives) {
            (Asks::Template, _) => DEFAULT.to_owned(),
            (Asks::Comparison | Asks::Nothing, Gives::Output) => {
                format!("compare where `{id}` has run, or ask first: `has(nodes.{id}.output) && …`")
            }
            (Asks::Comparison | Asks::Nothing, Gives::Error) => {
                format!(
                    "compare where `{id}` has failed, or ask first: `has(nodes.{id}.error) && …`"
                )
            }
        };
        Some((Rule::TemplateNotUpstream, self.missing(question, sink), help))
    }

    fn missing(&self, question: &Question<'_>, sink: &Sink<'_>) -> String {
        let Question { reader, node, gives, .. } = *question;
        let (id, name) = (self.id(node), self.id(reader.node));
        let body = self.graph.parent[node];
        if let Some(body) =
            body.filter(|body| self.body(reader) != Some(*body) || reader.after_round)
            && !self.flow.in_every_round(node, gives)
        {
            let without = match gives {
                Gives::Output => "without the output of",
                Gives::Error => "without a failure of",
            };
            return format!("a round of `{}` can end {without} `{id}`", self.id(body));
        }
        let without = match gives {
            Gives::Output if self.graph.catches(node) => "without the output of",
            Gives::Output => "without",
            Gives::Error => "without a failure of",
        };
        let message = format!("`{name}` can run {without} `{id}`");
        if sink.is_full() {
            return message;
        }
        let path = self.flow.path_without(self.graph, node, gives, reader.node);
        let mut names: Vec<String> = path.iter().map(|link| self.link(*link)).collect();
        names.push(name.to_owned());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{message}, by {}", show_path(&names))
    }

    /// Where a link begins, with the way out when there are several.
    fn link(&self, link: usize) -> String {
        let link = self.graph.links[link];
        let id = self.id(link.from);
        let named = chooses(&self.judged[link.from]) || [ERROR, BODY].contains(&link.from_port);
        if named { format!("{id}.{}", link.from_port) } else { id.to_owned() }
    }

    /// The container in whose body a value is asked for.
    fn body(&self, reader: Asker) -> Option<usize> {
        if reader.after_round { Some(reader.node) } else { self.graph.parent[reader.node] }
    }

    fn runs(&self, node: usize) -> Option<Runs> {
        runs(&self.judged[node])
    }

    pub(super) fn id(&self, node: usize) -> &'t str {
        self.draft.nodes[node].id.map_or("", |id| id.text)
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

const DEFAULT: &str = "say what stands for a missing value: `| default(…)`";

impl Question<'_> {
    fn what(&self) -> &'static str {
        match self.gives {
            Gives::Output => "output",
            Gives::Error => "error",
        }
    }
}
