//! The graph of a run that is just being made, read ahead of it by the worker
//! that will be given the run. It only saves time: what counts is what the
//! run's folder holds, and it is the same graph only if it has the same bytes.

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
    /// Reads the bytes of a snapshot.
    pub(crate) fn read(&self, snapshot: Vec<u8>) {
        // Whoever needs the graph will be told what is wrong with it.
        if let Ok(program) = Program::from_snapshot(&snapshot) {
            let foreseen = Foreseen { snapshot, program };
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(foreseen);
        }
    }

    /// The graph of these bytes, foreseen or not.
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

    fn snapshot(name: &str) -> Vec<u8> {
        let text = format!(
            "---\nid: a\nname: {name}\nnodes:\n  - {{ id: start, type: manual_trigger }}\n---\n"
        );
        blueprint::check(text.as_bytes()).program.unwrap().snapshot()
    }

    #[test]
    fn a_graph_is_foreseen_by_its_bytes_and_once() {
        let foresight = Foresight::default();
        foresight.read(snapshot("A"));
        assert_eq!(foresight.program(&snapshot("A")).unwrap().name(), "A");
        assert_eq!(foresight.program(&snapshot("A")).unwrap().name(), "A");
        foresight.read(snapshot("A"));
        assert_eq!(foresight.program(&snapshot("B")).unwrap().name(), "B");
    }

    #[test]
    fn what_is_no_graph_is_not_foreseen() {
        let foresight = Foresight::default();
        foresight.read(b"{}".to_vec());
        assert!(foresight.program(b"{}").is_err());
    }
}
