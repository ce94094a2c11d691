//! Drives one run: does what the machine asks, and hands in what happens.
//! There is nothing about graphs here. The [`World`] is everything that is
//! not the run itself, so that a test can drive the very same loop on a
//! simulated disk, clock and provider.

use durable::disk::Disk;
use durable::{Generation, Timestamp};
use engine::{Action, AttemptKey, Input, Outcome, RunMachine, RunState, RunStatus, SignalId, Work};
use runstore::{AppendError, RunPlace, RunWriter};

/// What a worker meets outside its run.
pub trait World {
    fn now(&self) -> Timestamp;
    /// Performs the work; its outcome arrives later.
    fn start(&mut self, work: Work);
    /// Ends the processes of an attempt; its outcome still arrives.
    fn stop(&mut self, key: &AttemptKey);
    /// Waits for something to happen, at most until `until`.
    fn wait(&mut self, until: Option<Timestamp>) -> Arrival;
    /// Whether the owner of a parked run has a reason to stay: what it waits
    /// for comes without anybody's doing, such as the moment `wake`.
    fn stays(&self, wake: Option<Timestamp>) -> bool;
    /// Ends what is in flight and waits until that is gone; runs that work
    /// for this one go on. Nothing is asked of the world after it.
    fn leave(&mut self);
    /// The end of the run is in its log; what is done behind it is for later.
    fn over(&mut self, _: &RunState) {}
    /// Says something to whoever reads the worker's own log.
    fn note(&mut self, text: &str);
}

/// Something that happened outside.
#[derive(Debug)]
pub enum Arrival {
    Outcome {
        key: AttemptKey,
        generation: Generation,
        outcome: Outcome,
    },
    /// A run that works for this one waits for a person, or does not any more.
    Child {
        key: AttemptKey,
        rests: bool,
    },
    /// The inbox may have changed.
    Inbox,
    Time,
}

/// How a worker left its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Closed(RunStatus),
    /// Someone must decide; the run needs no owner until then.
    Parked,
}

/// Drives the run until it is closed or parked. After an error of the store
/// nothing more is written: the next owner reads the disk.
pub fn drive(
    world: &mut dyn World,
    disk: &dyn Disk,
    writer: &mut RunWriter,
    machine: &mut RunMachine,
) -> Result<Left, AppendError> {
    hand_in_signals(world, disk, writer.place(), machine);
    let mut parked = false;
    loop {
        while let Some(action) = machine.poll() {
            match action {
                Action::Append(events) => {
                    parked = false;
                    writer.append(&events)?;
                    for signal in events.iter().filter_map(|event| event.fact.signal()) {
                        remove(world, disk, writer.place(), signal);
                    }
                    let next = writer.position().next_seq;
                    machine.handle(Input::Appended { next }, world.now());
                    if machine.state().closed.is_some() {
                        world.over(machine.state());
                    }
                }
                Action::Start(work) => world.start(*work),
                Action::Stop(key) => world.stop(&key),
                Action::Checkpoint => {
                    // The log is whole without it; the writer is not used again
                    // after a failure, so a next append ends the run's writing.
                    if let Err(error) = writer.checkpoint(machine.state()) {
                        world.note(&format!("the checkpoint was not written: {error}"));
                    }
                }
                Action::Park => parked = true,
                Action::Close(status) => {
                    runstore::index::ended(disk, writer, machine.state());
                    return Ok(Left::Closed(status));
                }
            }
        }
        if parked && !world.stays(machine.wake_at()) {
            if !hand_in_signals(world, disk, writer.place(), machine) {
                return Ok(Left::Parked);
            }
            continue;
        }
        match world.wait(machine.wake_at()) {
            Arrival::Outcome { key, generation, outcome } => {
                machine.handle(Input::Outcome { key, generation, outcome }, world.now());
            }
            // Nobody will ever ask for a run that somebody has removed.
            Arrival::Inbox if parked && is_gone(disk, writer.place()) => return Ok(Left::Parked),
            Arrival::Inbox => {
                hand_in_signals(world, disk, writer.place(), machine);
            }
            Arrival::Child { .. } => {}
            Arrival::Time => machine.handle(Input::Tick, world.now()),
        }
    }
}

/// Hands in the signals that the run has not answered; says whether there
/// were any. One that is answered already only lost its file's removal.
fn hand_in_signals(
    world: &mut dyn World,
    disk: &dyn Disk,
    place: &RunPlace,
    machine: &mut RunMachine,
) -> bool {
    let found = match runstore::inbox::pending(disk, place) {
        Ok(found) => found,
        Err(error) => {
            world.note(&format!("the inbox cannot be read: {error}"));
            return false;
        }
    };
    for refused in found.refused {
        world.note(&format!("{} is no signal: {}", refused.path.display(), refused.why));
    }
    let mut any = false;
    for (signal, _) in found.signals {
        if machine.state().signals.contains(&signal.id) {
            remove(world, disk, place, &signal.id);
        } else {
            any = true;
            machine.handle(Input::Signal(signal), world.now());
        }
    }
    any
}

fn is_gone(disk: &dyn Disk, place: &RunPlace) -> bool {
    matches!(disk.stat(&place.folder()), Ok(None))
}

fn remove(world: &mut dyn World, disk: &dyn Disk, place: &RunPlace, signal: &SignalId) {
    // It is answered; one that stays is known and passed over.
    if let Err(error) = runstore::inbox::remove(disk, place, signal) {
        world.note(&format!("an answered signal was not removed: {error}"));
    }
}
