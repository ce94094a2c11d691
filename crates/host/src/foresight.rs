//! A graph that is known before it is read from its run: its launcher has just
//! checked it, and so has the worker that will be given the run. It only saves
//! time. What counts is what the run's folder holds, and that is the same graph
//! if it has the same bytes, since a snapshot gives back the very program that
//! it was made of.

use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{Program, SnapshotError};

/// What was foreseen last. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Foresight(Arc<Mutex<Option<Foreseen>>>);

#[derive(Debug)]
struct Foreseen {
    snapshot: Vec<u8>,
    program: Program,
}

impl Foresight {
    /// Reads the file of an automation.
    pub(crate) fn read(&self, file: &[u8]) {
        // Where it is no graph there will be no run of it.
        if let Some(program) = blueprint::check(file).program {
            self.keep(program.snapshot(), program);
        }
    }

    pub(crate) fn keep(&self, snapshot: Vec<u8>, program: Program) {
        let foreseen = Foreseen { snapshot, program };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(foreseen);
    }

    /// The graph of this snapshot, foreseen or not.
    pub(crate) fn program(&self, snapshot: &[u8]) -> Result<Program, SnapshotError> {
        let foreseen = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match foreseen {
            Some(foreseen) if foreseen.snapshot == snapshot => Ok(foreseen.program),
            Some(_) | None => Program::from_snapshot(snapshot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Vec<u8> {
        let text = format!(
            "---\nid: a\nname: {name}\nnodes:\n  - {{ id: start, type: manual_trigger }}\n---\n"
        );
        text.into_bytes()
    }

    fn name(foresight: &Foresight, name: &str) -> String {
        let snapshot = blueprint::check(&file(name)).program.unwrap().snapshot();
        foresight.program(&snapshot).unwrap().name().to_owned()
    }

    #[test]
    fn a_graph_is_foreseen_by_its_bytes_and_once() {
        let foresight = Foresight::default();
        foresight.read(&file("A"));
        assert_eq!(name(&foresight, "A"), "A");
        assert_eq!(name(&foresight, "A"), "A");
        foresight.read(&file("A"));
        assert_eq!(name(&foresight, "B"), "B");
    }

    #[test]
    fn what_is_no_graph_is_not_foreseen() {
        let foresight = Foresight::default();
        foresight.read(b"no front matter");
        assert!(foresight.program(b"no front matter").is_err());
    }
}
