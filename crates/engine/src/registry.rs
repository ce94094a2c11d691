//! The registry of a run as templates and conditions see it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use blueprint::{Root, Scope};
use durable::Digest;
use serde_json::Value;

use crate::state::RunState;
use crate::work::WorkFile;

/// A run's state, readable by templates. Values handed over by file are
/// collected, so that the work that mentions them can carry them.
#[derive(Debug)]
pub struct Registry<'a> {
    state: &'a RunState,
    /// The folder in which files named by digest will stand.
    artifacts: &'a str,
    files: RefCell<BTreeMap<Digest, String>>,
}

impl<'a> Registry<'a> {
    pub fn new(state: &'a RunState, artifacts: &'a str) -> Self {
        Self { state, artifacts, files: RefCell::new(BTreeMap::new()) }
    }

    /// The files that what was rendered so far refers to.
    pub fn into_files(self) -> Vec<WorkFile> {
        let files = self.files.into_inner().into_iter();
        files.map(|(digest, text)| WorkFile { digest, text }).collect()
    }
}

impl Scope for Registry<'_> {
    fn value(&self, root: &Root) -> Option<&Value> {
        match root {
            Root::Output(id) => self.state.node(id)?.output.as_deref(),
            Root::Error(id) => self.state.node(id)?.error_value.as_ref(),
            Root::Trigger => self.state.started.as_ref().map(|started| &*started.trigger),
            Root::Storage => Some(&self.state.storage),
            Root::RunId => Some(&self.state.run_id),
            // Rounds and items belong to loops.
            Root::Prev(_) | Root::Item | Root::ItemIndex => None,
        }
    }

    fn file(&self, text: &str) -> String {
        let digest = Digest::of(text.as_bytes());
        let path = format!("{}/{}", self.artifacts, digest.hex());
        self.files.borrow_mut().entry(digest).or_insert_with(|| text.to_owned());
        path
    }
}
