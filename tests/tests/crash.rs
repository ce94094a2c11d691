//! The proof program `crash` in a form that fits among the tests.

use world::{Depth, Prepared, Tally, fixed, random, sweep};

/// Of the disks that a loss of power may leave of a creation with the
/// automations of others, of which there are thousands.
const FAMILY_POWER: usize = 211;

fn swept(scenario: world::Scenario, stride: usize) -> Tally {
    swept_at(scenario, stride, |depth| depth)
}

fn swept_at(scenario: world::Scenario, stride: usize, at: impl Fn(Depth) -> Depth) -> Tally {
    let prepared = Prepared::new(scenario);
    let mut tally = Tally::default();
    for call in (0..prepared.calls.len()).step_by(stride) {
        tally.add(sweep(&prepared, call, at(Depth::sample(call))));
    }
    tally
}

fn is_well(tally: &Tally) {
    let first = tally.first.first().map(|(spot, violation)| format!("{spot}: {violation}"));
    assert_eq!(first, None);
    assert!(tally.states > 50, "{} states", tally.states);
}

#[test]
fn a_crash_anywhere_loses_nothing_and_does_nothing_twice() {
    for name in ["gate", "resume", "decision"] {
        is_well(&swept(fixed::named(name).unwrap(), 3));
    }
}

#[test]
fn what_has_rounds_items_moments_and_limits_survives() {
    for name in
        ["until", "stop", "item-gates", "backoff", "lost-port", "budget", "proven-resume", "limit"]
    {
        is_well(&swept(fixed::named(name).unwrap(), 7));
    }
}

#[test]
fn runs_that_work_for_each_other_survive() {
    for name in ["child", "child-cancelled", "child-again", "child-gate"] {
        let at =
            |depth: Depth| Depth { power: FAMILY_POWER, fault_power: 5 * FAMILY_POWER, ..depth };
        is_well(&swept_at(fixed::named(name).unwrap(), 11, at));
    }
}

#[test]
fn a_creation_is_whole_or_not_there() {
    is_well(&swept(fixed::named("creation").unwrap(), 4));
}

/// The index is written to where a run is born and where it ends. It is never
/// synced, so that a loss of power at any later call may do anything to it.
#[test]
fn an_index_that_breaks_breaks_no_run() {
    for name in ["creation", "failure"] {
        let prepared = Prepared::beside_an_index(fixed::named(name).unwrap());
        let is_index = |at: &usize| prepared.calls[*at].path.ends_with(".index.jsonl");
        let calls: Vec<usize> = (0..prepared.calls.len()).filter(is_index).collect();
        assert!(!calls.is_empty(), "{name} tells no index");
        let mut tally = Tally::default();
        for call in calls.into_iter().flat_map(|call| [call, call + 1]) {
            if call < prepared.calls.len() {
                tally.add(sweep(&prepared, call, Depth::sample(call)));
            }
        }
        is_well(&tally);
    }
}

#[test]
fn what_grows_from_a_seed_survives_too() {
    let mut tally = Tally::default();
    (0..6).for_each(|seed| tally.add(swept(random::scenario(seed), 5)));
    is_well(&tally);
}

#[test]
fn every_fixed_scenario_lives_without_a_crash() {
    for scenario in fixed::all() {
        let name = scenario.name.clone();
        let calls = Prepared::new(scenario).calls.len();
        assert!((5..200).contains(&calls), "{name} has {calls} calls");
    }
}
