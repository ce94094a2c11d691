//! What a new run does first, worked out while the run is still being made.
//! It only saves time: the worker begins so if the run's folder turns out to
//! hold the very bytes that this was worked out from, and else anew.

use std::sync::Arc;

use blueprint::Program;
use durable::{Digest, Timestamp};
use engine::{Input, Launch, RunMachine, RunState};
use runstore::{Invocation, Opened, RunPlace};

use crate::launch::Prepared;

#[derive(Debug)]
pub(crate) struct HeadStart {
    place: RunPlace,
    snapshot: Arc<Vec<u8>>,
    invocation: Vec<u8>,
    machine: RunMachine,
}

impl HeadStart {
    /// `None` for a run that begins with what another one has left.
    pub(crate) fn of(prepared: &Prepared, now: Timestamp) -> Option<Self> {
        let Prepared { place, program, snapshot, invocation, .. } = prepared;
        if invocation.retry.is_some() || invocation.fork.is_some() {
            return None;
        }
        let (place, snapshot) = (place.clone(), Arc::clone(snapshot));
        let (invocation, bytes) = (invocation.clone(), invocation.encode());
        let launch = launch(&place, invocation, Some(&snapshot), Some(&bytes));
        let mut machine = open(&place, Arc::clone(program), RunState::fresh());
        machine.handle(Input::Launch(Box::new(launch)), now);
        Some(Self { place, snapshot, invocation: bytes, machine })
    }

    /// The machine under way, if the run is as it was foreseen.
    pub(crate) fn take(self, place: &RunPlace, opened: &Opened) -> Option<RunMachine> {
        let is_so = self.place == *place
            && opened.state == RunState::fresh()
            && opened.blueprint.as_deref() == Some(&self.snapshot)
            && opened.invocation.as_deref() == Some(&self.invocation);
        is_so.then_some(self.machine)
    }
}

/// The machine of a run in this place.
pub(crate) fn open(place: &RunPlace, program: Arc<Program>, state: RunState) -> RunMachine {
    RunMachine::open(program, state, place.artifacts().display().to_string())
}

/// What a run is given at its start that keeps nothing of another one.
pub(crate) fn launch(
    place: &RunPlace,
    invocation: Invocation,
    blueprint: Option<&[u8]>,
    bytes: Option<&[u8]>,
) -> Launch {
    let works_for = invocation.works_for;
    Launch {
        run_id: place.run.clone(),
        input: invocation.input,
        blueprint_digest: Digest::of(blueprint.unwrap_or_default()),
        invocation_digest: Digest::of(bytes.unwrap_or_default()),
        principal: invocation.memory_principal,
        retry: None,
        parent: works_for.as_ref().map(|works| works.attempt.clone()),
        deadline: works_for.as_ref().and_then(|works| works.deadline),
        budget: works_for.map(|works| works.budget).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use engine::{Action, Fact};

    use super::*;
    use crate::Recruit;
    use crate::api::LaunchRequest;
    use crate::tests::{Room, room};

    const BLUEPRINT: &str = "---\nschema: 2\nid: note\nname: Note\nnodes:\n  \
        - { id: start, type: manual_trigger }\n  \
        - { id: set, type: state, fields: { op: set, entries: { a: 1 } } }\n\
        edges:\n  - { from: start, to: set }\n---\n";

    fn prepared(room: &Room, blueprint: &str, input: &str) -> Prepared {
        let file = room.folder.path().join("note.md");
        std::fs::write(&file, blueprint).unwrap();
        let automation = file.display().to_string();
        let input = Some(serde_json::from_str(input).unwrap());
        room.host.prepare(LaunchRequest { automation, input, ..LaunchRequest::default() }).unwrap()
    }

    #[test]
    fn a_head_start_is_for_the_run_that_it_was_worked_out_from_alone() {
        let room = room();
        let run = prepared(&room, BLUEPRINT, "{}");
        let place = run.place.clone();
        let of = |prepared: &Prepared| HeadStart::of(prepared, room.host.now()).unwrap();
        let own = of(&run);
        let as_this = |other| Prepared { place: place.clone(), ..other };
        let other_input = of(&as_this(prepared(&room, BLUEPRINT, "{\"b\":2}")));
        let other_graph = of(&as_this(prepared(&room, &BLUEPRINT.replace("Note", "Other"), "{}")));
        let other_run = of(&prepared(&room, BLUEPRINT, "{}"));
        room.host.launch(run, Recruit::none()).unwrap();
        let opened = room.host.opened(&place).unwrap();
        for other in [other_input, other_graph, other_run] {
            assert!(other.take(&place, &opened).is_none());
        }
        let mut machine = own.take(&place, &opened).unwrap();
        let Some(Action::Append(events)) = machine.poll() else { panic!("nothing was worked out") };
        let Fact::RunStarted(started) = &events[0].fact else { panic!("{:?}", events[0]) };
        assert_eq!(started.run_id, place.run);
        assert!(matches!(events.last().unwrap().fact, Fact::RunCompleted));
    }

    #[test]
    fn a_run_that_has_begun_goes_on_from_its_log() {
        let room = room();
        let run = prepared(&room, BLUEPRINT, "{}");
        let (place, head_start) = (run.place.clone(), HeadStart::of(&run, room.host.now()));
        room.host.launch(run, Recruit::none()).unwrap();
        let mut opened = room.host.opened(&place).unwrap();
        opened.state.next_seq = durable::Seq(1);
        assert!(head_start.unwrap().take(&place, &opened).is_none());
    }
}
