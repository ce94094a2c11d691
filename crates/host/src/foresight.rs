//! A graph that is known before it is read from its run: its launcher has just
//! checked it, and the worker is a copy of the launcher. It only saves time. What counts is what the run's folder holds, and that is the same graph
//! if it has the same bytes, since a snapshot gives back the very program that
//! it was made of.

use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{Program, SnapshotError};

/// What was foreseen last. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Foresight(Arc<Mutex<Option<Foreseen>>>);

#[derive(Debug)]
struct Foreseen {
    snapshot: Arc<Vec<u8>>,
    program: Arc<Program>,
}

impl Foresight {
    pub(crate) fn keep(&self, snapshot: Arc<Vec<u8>>, program: Arc<Program>) {
        let foreseen = Foreseen { snapshot, program };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(foreseen);
    }

    /// The graph of this snapshot, foreseen or not.
    pub(crate) fn program(&self, snapshot: &[u8]) -> Result<Arc<Program>, SnapshotError> {
        let foreseen = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match foreseen {
            Some(foreseen) if *foreseen.snapshot == snapshot => Ok(foreseen.program),
            Some(_) | None => Program::from_snapshot(snapshot).map(Arc::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(name: &str) -> Program {
        let text = format!(
            "---\nid: a\nname: {name}\nnodes:\n  - {{ id: start, type: manual_trigger }}\n---\n"
        );
        blueprint::check(text.as_bytes()).program.unwrap()
    }

    #[test]
    fn a_graph_is_foreseen_by_its_bytes_and_once() {
        let foresight = Foresight::default();
        let (graph, other) = (Arc::new(graph("A")), graph("B"));
        let keep = || foresight.keep(Arc::new(graph.snapshot()), Arc::clone(&graph));
        let known = |snapshot: &[u8]| {
            let found = foresight.program(snapshot).unwrap();
            (found.name().to_owned(), Arc::ptr_eq(&found, &graph))
        };
        keep();
        assert_eq!(known(&graph.snapshot()), ("A".to_owned(), true));
        assert_eq!(known(&graph.snapshot()), ("A".to_owned(), false));
        keep();
        assert_eq!(known(&other.snapshot()), ("B".to_owned(), false));
        assert!(foresight.program(b"no graph").is_err());
    }
}
