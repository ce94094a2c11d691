//! Judges the runs of a home against each other: a run that works for another
//! does so for one attempt, whose start was durable before the run was there;
//! no attempt has two; what the one says of the other's end is what that end
//! was; and nobody waits for a run that is over.

use std::collections::BTreeMap;

use engine::{Child, Event, Fact, Parent, RunId, Site};
use runstore::{Invocation, RunPlace};

use crate::life::Theatre;
use crate::oracle::{Judged, Run, known, unless, violation};

pub(crate) fn relations(next: &Theatre, runs: &[Run]) -> Judged {
    let by_place: BTreeMap<&RunPlace, &Run> = runs.iter().map(|run| (&run.place, run)).collect();
    for run in runs {
        if let Some(parent) = parent(next, run)? {
            let place = run.place.home.place(&parent.blueprint_id, &parent.run_id);
            let asked = by_place.get(&place).is_some_and(|of| asks(&of.events, &parent, run));
            unless(asked, "O4", || format!("run {} works, and nobody asked", run.place.run))?;
        }
        for (site, child) in asked(&run.events) {
            let place = run.place.home.place(&child.automation, &child.run_id);
            answered(run, &site, &child.run_id, by_place.get(&place).copied())?;
        }
    }
    Ok(())
}

/// The attempt on whose behalf the run works, as it was told at its creation.
fn parent(next: &Theatre, run: &Run) -> Judged<Option<Parent>> {
    let path = run.place.invocation_json();
    let bytes = known(next.disk.read(&path, runstore::limits::INVOCATION_BYTES))?;
    let invocation = known(Invocation::decode(&bytes))?;
    let parent = invocation.works_for.map(|works_for| works_for.attempt);
    let started = run.state.started.as_ref();
    let same = started.is_none_or(|started| started.parent.as_deref() == parent.as_ref());
    unless(same, "O4", || format!("run {} began for someone else", run.place.run))?;
    Ok(parent)
}

/// Whether the log asks for exactly this run in exactly this attempt.
fn asks(events: &[Event], parent: &Parent, run: &Run) -> bool {
    events.iter().any(|event| {
        let Fact::NodeStarted { node, attempt, child: Some(child), .. } = &event.fact else {
            return false;
        };
        let same = *node == parent.node && *attempt == parent.attempt;
        same && child.run_id == run.place.run && child.automation == run.place.blueprint
    })
}

/// The runs that a log asks for, and where.
fn asked(events: &[Event]) -> impl Iterator<Item = (Site, &Child)> {
    events.iter().filter_map(|event| {
        let Fact::NodeStarted { node, child: Some(child), .. } = &event.fact else { return None };
        Some((node.clone(), &**child))
    })
}

/// What the log says of the end of the run, against that end.
fn answered(run: &Run, site: &Site, child: &RunId, found: Option<&Run>) -> Judged {
    let id = &run.place.run;
    let closed = found.and_then(|found| found.state.closed.as_ref());
    let waits = run.state.closed.is_none() && run.state.children.values().any(|one| one == child);
    if waits {
        let alive = found.is_some() && closed.is_none();
        return unless(alive, "O5", || format!("run {id} waits for {child}, which is over"));
    }
    let started = |event: &Event| matches!(&event.fact, Fact::NodeStarted { child: Some(one), .. } if one.run_id == *child);
    let since = run.events.iter().skip_while(|event| !started(event)).skip(1);
    let end = since.map(|event| &event.fact).find(|fact| ends(fact, site));
    let end = end.ok_or_else(|| violation("O4", format!("run {id} forgot {child}")))?;
    let fits = match (end, closed) {
        (Fact::NodeCompleted { output, .. }, Some(closed)) => {
            closed.failure.is_none() && output["run_id"] == child.as_str()
        }
        (Fact::NodeCompleted { .. }, None) => false,
        // One that cannot be seen may have ended in any way.
        (Fact::AttemptUnknown { .. }, _) => true,
        // One that cannot be had fails the attempt too, and is not there.
        (_, closed) => found.is_none() || closed.is_some_and(|closed| closed.failure.is_some()),
    };
    unless(fits, "O4", || format!("run {id} says {} of {child}, which is wrong", end.kind()))
}

fn ends(fact: &Fact, site: &Site) -> bool {
    let ends = matches!(
        fact,
        Fact::NodeCompleted { .. }
            | Fact::NodeFailed { .. }
            | Fact::AttemptFailed { .. }
            | Fact::AttemptUnknown { .. }
            | Fact::NodeCancelled { .. }
    );
    ends && fact.node() == Some(site)
}
