//! The one judge of a blueprint. Every fault of a file is reported at once,
//! in the order of the file; a fault that follows from another is not. A
//! [`Program`] comes out exactly when there is no error.

mod bits;
mod bodies;
mod compile;
mod cycles;
mod flow;
mod graph;
mod literals;
mod node;
mod policy;
mod program;
mod prove;
mod refs;
mod sessions;
mod sink;
mod uses;
mod values;

use std::collections::BTreeMap;
use std::ops::Range;

use durable::Span;

use crate::document::Document;
use crate::draft::{self, Draft, Word};
use crate::yaml::{self, Yaml, shorten};
use crate::{BlueprintId, Finding, Program, Rule, Severity};

pub(crate) use node::Judged;
pub(crate) use program::Limits;
pub(crate) use sink::Sink;

/// What a check has to say.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// As written, even when it is wrong.
    pub id: Option<String>,
    pub name: Option<String>,
    /// In the order of the file.
    pub findings: Vec<Finding>,
    /// Findings beyond the limit, which are counted only.
    pub omitted: usize,
    /// There when no finding is an error.
    pub program: Option<Program>,
    /// Where the id stands, with its line and column.
    id_place: Option<(Range<usize>, usize, usize)>,
}

/// Judges the bytes of a file.
pub fn check(bytes: &[u8]) -> Checked {
    let document = match Document::read(bytes) {
        Ok(document) => document,
        Err(finding) => return Checked { findings: vec![finding], ..Checked::default() },
    };
    let reading = yaml::read(document.text(), document.front());
    let mut sink = Sink::new(document.text());
    for finding in reading.findings {
        sink.add(finding);
    }
    let Some(root) = &reading.root else {
        if reading.complete && !sink.has_errors() {
            let front = document.front();
            sink.error(
                Rule::InvalidValue,
                &(front.start..front.start),
                "the front matter is empty",
            )
            .suggest(draft::BEGIN);
        }
        return Checked::from(sink);
    };
    judge(root, reading.complete, sink)
}

/// Judges the tree of a file or of a snapshot.
pub(crate) fn judge(root: &Yaml<'_>, complete: bool, mut sink: Sink<'_>) -> Checked {
    let Some(draft) = Draft::read(root, complete, &mut sink) else { return Checked::from(sink) };
    let id = draft.id.and_then(|id| judge_id(id, &mut sink));
    let mut uses = uses::Uses::default();
    let mut judged = Vec::with_capacity(draft.nodes.len());
    for (at, node) in draft.nodes.iter().enumerate() {
        let mark = sink.mark();
        uses.reader = uses::Asker::at(at);
        judged.push(node::judge(node, &mut sink, &mut uses));
        sink.assign_since(mark, node.id.map(|id| id.text));
    }
    let mut graph = graph::build(&draft, &judged, &mut sink);
    graph::judge(&mut graph, &draft, &judged, &mut sink);
    let order = cycles::order(&graph);
    cycles::judge(&graph, &draft, &order, &mut sink);
    // It is followed only where someone asks what it says.
    let order = if uses.ask_nodes() { &order[..] } else { &[] };
    let flow = flow::Flow::new(&graph, &judged, order);
    let refs = refs::Refs { graph: &graph, draft: &draft, judged: &judged, flow: &flow };
    refs.judge(&uses.list, &mut sink);
    refs.judge_sessions(&uses.sessions, &mut sink);
    let limits = program::Limits {
        deadline: draft.deadline.and_then(|key| policy::deadline(key, &mut sink)),
        budget: draft.budget.map(|key| policy::budget(key, &mut sink)).unwrap_or_default(),
        budget_source: draft.budget.and_then(|key| key.value.to_json()),
    };
    if let Some(deadline) = limits.deadline {
        late_timeouts(&draft, &judged, deadline, &mut sink);
    }
    let program = match id {
        Some(id) if !sink.has_errors() => program::program(id, &draft, judged, &graph, limits),
        Some(_) | None => None,
    };
    let text = |word: Option<Word<'_>>| word.map(|word| word.text.to_owned());
    let id_place = draft.id.map(|id| sink.place(id.span));
    Checked { id: text(draft.id), name: text(draft.name), program, id_place, ..Checked::from(sink) }
}

/// Findings about several files of one library: the index of a file, and what
/// is wrong with it. Each file comes with the label that a message calls it.
pub fn check_library(files: &[(String, &Checked)]) -> Vec<(usize, Finding)> {
    let mut by_id: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (_, checked)) in files.iter().enumerate() {
        if let Some(id) = &checked.id {
            by_id.entry(id).or_default().push(at);
        }
    }
    let mut found = Vec::new();
    for (id, owners) in by_id.iter().filter(|(_, owners)| owners.len() > 1) {
        for at in owners {
            let others = owners.iter().filter(|other| *other != at);
            let others: Vec<_> = others.map(|other| files[*other].0.as_str()).collect();
            found.push((*at, duplicate(id, &others, files[*at].1)));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found
}

fn duplicate(id: &str, others: &[&str], checked: &Checked) -> Finding {
    /// As many other files as a message names.
    const SHOWN: usize = 3;
    let (span, line, column) = checked.id_place.clone().unwrap_or((0..0, 1, 1));
    let mut names = others[..others.len().min(SHOWN)].join(", ");
    if others.len() > SHOWN {
        names = format!("{names} and {} more", others.len() - SHOWN);
    }
    let message = format!("`{}` is also the id of {names}", shorten(id));
    let mut finding = Finding::new(Rule::DuplicateBlueprintId, Severity::Error, span, message);
    finding.suggest("give each blueprint of a library its own id");
    Finding { line, column, ..finding }
}

/// A timeout that the deadline of the run comes before limits nothing.
fn late_timeouts(draft: &Draft<'_>, judged: &[Judged<'_>], deadline: Span, sink: &mut Sink<'_>) {
    for (node, judged) in draft.nodes.iter().zip(judged) {
        let Some((timeout, key)) = judged.timeout.zip(node.timeout) else { continue };
        if timeout >= deadline {
            let message = format!("the deadline of {deadline} ends the run before this timeout");
            sink.warn(Rule::InvalidTimeout, &key.value.span, message)
                .suggest("write a shorter timeout, or a later `deadline`")
                .of(node.id.map_or("", |id| id.text));
        }
    }
}

fn judge_id(word: Word<'_>, sink: &mut Sink<'_>) -> Option<BlueprintId> {
    match BlueprintId::new(word.text) {
        Ok(id) => Some(id),
        Err(error) => {
            let message =
                format!("`{}` cannot be the id of a blueprint: {error}", shorten(word.text));
            sink.error(Rule::InvalidId, word.span, message)
                .suggest("use letters, digits, `.`, `_` and `-`, and begin with a letter or digit");
            None
        }
    }
}

impl From<Sink<'_>> for Checked {
    fn from(sink: Sink<'_>) -> Self {
        let (findings, omitted) = sink.finish();
        Self { findings, omitted, ..Self::default() }
    }
}
