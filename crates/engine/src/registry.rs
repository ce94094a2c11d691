//! The registry of a run as templates and conditions see it from one site.

use std::cell::RefCell;
use std::collections::BTreeMap;

use blueprint::{Kind, NodeId, NodeIx, Program, Root, Scope};
use durable::Digest;
use serde_json::Value;

use crate::container::Container;
use crate::site::Site;
use crate::state::{NodeState, RunState};
use crate::work::WorkFile;

/// A run's state, readable by templates. Values handed over by file are
/// collected, so that the work that mentions them can carry them.
#[derive(Debug)]
pub struct Registry<'a> {
    program: &'a Program,
    state: &'a RunState,
    /// The folder in which files named by digest will stand.
    artifacts: &'a str,
    /// The body from which is read, and the item that it is run for.
    body: Option<NodeIx>,
    item: Option<u32>,
    index: Value,
    files: RefCell<BTreeMap<Digest, String>>,
}

impl<'a> Registry<'a> {
    /// What a node sees.
    pub fn at(program: &'a Program, state: &'a RunState, artifacts: &'a str, site: &Site) -> Self {
        let body = program.node_ix(&site.node).and_then(|ix| program.node(ix).parent);
        Self::new(program, state, artifacts, body, site.item)
    }

    /// What is seen from inside of a container, such as by the condition that
    /// ends it.
    pub fn inside(
        program: &'a Program,
        state: &'a RunState,
        artifacts: &'a str,
        container: NodeIx,
    ) -> Self {
        Self::new(program, state, artifacts, Some(container), None)
    }

    /// What is seen in a body, or in the blueprint itself.
    pub(crate) fn new(
        program: &'a Program,
        state: &'a RunState,
        artifacts: &'a str,
        body: Option<NodeIx>,
        item: Option<u32>,
    ) -> Self {
        let index = item.map_or(Value::Null, Value::from);
        Self { program, state, artifacts, body, item, index, files: RefCell::default() }
    }

    /// The files that what was rendered so far refers to.
    pub fn into_files(self) -> Vec<WorkFile> {
        let files = self.files.into_inner().into_iter();
        files.map(|(digest, text)| WorkFile { digest, text }).collect()
    }

    /// The node of that name: of the same item, or the only one that there is.
    fn node(&self, id: &NodeId) -> Option<&'a NodeState> {
        let parent = self.program.node(self.program.node_ix(id)?).parent;
        let item = if parent == self.body { self.item } else { None };
        self.state.node(&Site::at(id, item))
    }

    fn item(&self) -> Option<&'a Value> {
        let container = self.program.node(self.body?);
        if !matches!(container.kind, Kind::ForEach { .. }) {
            return None;
        }
        match self.state.containers.get(&container.id)? {
            Container::ForEach(own) => own.items.get(usize::try_from(self.item?).ok()?),
            Container::Loop(_) => None,
        }
    }
}

impl Scope for Registry<'_> {
    fn value(&self, root: &Root) -> Option<&Value> {
        match root {
            Root::Output(id) => self.node(id)?.output.as_deref(),
            Root::Prev(id) => self.node(id)?.prev.as_deref(),
            Root::Error(id) => self.node(id)?.error_value.as_ref(),
            Root::Trigger => self.state.started.as_ref().map(|started| &*started.trigger),
            Root::Storage => Some(&self.state.storage),
            Root::RunId => Some(&self.state.run_id),
            Root::Item => self.item(),
            Root::ItemIndex => self.item.map(|_| &self.index),
        }
    }

    fn file(&self, text: &str) -> String {
        let digest = Digest::of(text.as_bytes());
        let path = format!("{}/{}", self.artifacts, digest.hex());
        self.files.borrow_mut().entry(digest).or_insert_with(|| text.to_owned());
        path
    }
}
