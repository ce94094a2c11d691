//! Every way in which one call of a scenario can go wrong, and every disk
//! that may be left then, each judged. One state is one such disk.

use std::panic::{AssertUnwindSafe, catch_unwind};

use durable::sim::{Crash, SimDisk};

use crate::effects;
use crate::fixed;
use crate::oracle::{Violation, judge};
use crate::prepared::{Prepared, theatre};
use crate::random;
use crate::spot::{Failing, Left, Mishap, Spot, Step};
use crate::witness::Told;

/// How much is tried. A stride of 1 is everything, of 0 nothing; all others
/// take every so many, beginning elsewhere in each place.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// Of what a loss of power after a crash may leave.
    pub power: usize,
    /// Of what one after a call that failed may leave.
    pub fault_power: usize,
    /// Of the calls that only look.
    pub blind: usize,
    /// Whether every recovery after a crash of the process is struck as well.
    pub double_process: bool,
    /// Of the states, those whose recovery is struck as well.
    pub double: usize,
    /// Of the calls of such a recovery.
    pub double_calls: usize,
    /// Of what a loss of power after that may leave.
    pub double_power: usize,
    /// Chooses among the places that a stride allows.
    pub seed: usize,
}

/// What a sweep has found.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub states: u64,
    pub violations: u64,
    /// The first of each scenario and oracle, a few of them.
    pub first: Vec<(Spot, Violation)>,
}

/// Of many violations so many are told.
const KEPT: usize = 8;

impl Depth {
    /// Everything after one crash, much after two.
    pub fn full(seed: usize) -> Self {
        let (double_process, double, double_calls, double_power) = (true, 101, 1, 41);
        Self {
            power: 1,
            fault_power: 11,
            blind: 1,
            double_process,
            double,
            double_calls,
            double_power,
            seed,
        }
    }

    /// Everything after one crash, some after two.
    pub fn short(seed: usize) -> Self {
        let (double, double_calls, double_power) = (211, 2, 61);
        let (fault_power, blind, double_process) = (37, 3, false);
        Self {
            fault_power,
            blind,
            double_process,
            double,
            double_calls,
            double_power,
            ..Self::full(seed)
        }
    }

    /// What fits among the tests: every call goes wrong in every way, and of
    /// the disks that this may leave some are judged.
    pub fn quick(seed: usize) -> Self {
        Self {
            power: 83,
            fault_power: 307,
            blind: 13,
            double: 997,
            double_calls: 5,
            ..Self::short(seed)
        }
    }

    /// Some of everything.
    pub fn sample(seed: usize) -> Self {
        Self {
            power: 7,
            fault_power: 61,
            blind: 7,
            double: 97,
            double_calls: 3,
            ..Self::short(seed)
        }
    }
}

impl Tally {
    /// Counts another's states, which come after this one's.
    pub fn add(&mut self, other: Self) {
        self.states += other.states;
        self.violations += other.violations;
        other.first.into_iter().for_each(|(spot, violation)| self.keep(spot, violation));
    }

    fn keep(&mut self, spot: Spot, violation: Violation) {
        let known = |(kept, why): &(Spot, Violation)| {
            kept.scenario == spot.scenario && why.oracle == violation.oracle
        };
        if self.first.len() < KEPT && !self.first.iter().any(known) {
            self.first.push((spot, violation));
        }
    }
}

/// Tries all that can go wrong at the call with this number, and a part of
/// the calls that only look.
pub fn sweep(prepared: &Prepared, call: usize, depth: Depth) -> Tally {
    let mut sweep = Sweep { prepared, depth, tally: Tally::default() };
    let named = prepared.calls.get(call);
    let writes = named.is_some_and(|call| writes(call.name));
    // The list of effects is the judges' own, and does not fail.
    let is_ours = named.is_some_and(|call| call.path.ends_with(effects::NAME));
    let weight = prepared.scenario.weight;
    for mishap in crashes(writes) {
        sweep.strike(call, mishap, depth.power * weight);
    }
    for mishap in faults(writes).into_iter().filter(|_| !is_ours) {
        sweep.strike(call, mishap, depth.fault_power * weight);
    }
    let looks = (call..prepared.looks).step_by(prepared.calls.len().max(1));
    for look in looks.filter(|look| taken(look / prepared.calls.len(), call, depth.blind)) {
        sweep.strike(look, Mishap::Blind, depth.fault_power * weight);
    }
    sweep.tally
}

/// Judges one state alone.
pub fn repeat(spot: &Spot) -> Result<Result<(), Violation>, String> {
    let scenario = match random::seed(&spot.scenario) {
        Some(seed) => random::scenario(seed),
        None => fixed::named(&spot.scenario)
            .ok_or_else(|| format!("there is no scenario `{}`", spot.scenario))?,
    };
    let prepared = Prepared::new(scenario);
    let (struck, told) = match caught(|| lived(&prepared, spot.first)) {
        Ok(struck) => struck,
        Err(violation) => return Ok(Err(violation)),
    };
    let absent = |step: Step| format!("{step} leaves no such disk");
    let left = world(&struck, spot.first.left).ok_or_else(|| absent(spot.first))?;
    let told = told.after(spot.first.left != Left::Process);
    let Some(second) = spot.second else {
        return Ok(judged(&prepared, &left, &told, 2, true));
    };
    let (struck, told) = match caught(|| recovered(&prepared, &left, told, second)) {
        Ok(struck) => struck,
        Err(violation) => return Ok(Err(violation)),
    };
    let left = world(&struck, second.left).ok_or_else(|| absent(second))?;
    let told = told.after(second.left != Left::Process);
    Ok(judged(&prepared, &left, &told, 4, true))
}

struct Sweep<'a> {
    prepared: &'a Prepared,
    depth: Depth,
    tally: Tally,
}

impl Sweep<'_> {
    /// One mishap, and all disks that it may leave.
    fn strike(&mut self, call: usize, mishap: Mishap, power: usize) {
        let first = Step { call, mishap, left: Left::Process };
        let (struck, told) = match caught(|| lived(self.prepared, first)) {
            Ok(struck) => struck,
            Err(violation) => {
                let spot = Spot { scenario: self.name(), first, second: None };
                return self.note(&spot, violation);
            }
        };
        for (left, disk) in worlds(&struck, power, call + self.depth.seed) {
            let first = Step { left, ..first };
            let spot = Spot { scenario: self.name(), first, second: None };
            let told = told.after(left != Left::Process);
            let state = usize::try_from(self.tally.states).unwrap_or_default();
            let always = self.depth.double_process && left == Left::Process;
            if always || taken(state, self.depth.seed + call, self.depth.double) {
                self.strike_recovery(&spot, &disk, &told);
            }
            self.judge(&spot, &disk, &told, 2);
        }
    }

    /// What goes wrong in the recovery of a disk.
    fn strike_recovery(&mut self, spot: &Spot, disk: &SimDisk, told: &Told) {
        let whole = disk.after_process_crash();
        let next = theatre(&self.prepared.scenario, &whole, told.clone(), 2);
        if next.recover().is_err() {
            return;
        }
        let device = Mishap::Fail { how: Failing::Device, forever: true };
        let crash = Mishap::Crash;
        let mishaps = [crash(Crash::Before), crash(Crash::After), crash(Crash::Prefix(40)), device];
        let offset = usize::try_from(self.tally.states).unwrap_or_default();
        let stride = self.depth.double_calls;
        for call in (0..whole.calls()).filter(|call| taken(*call, offset, stride)) {
            for mishap in mishaps {
                let second = Step { call, mishap, left: Left::Process };
                let struck = caught(|| recovered(self.prepared, disk, told.clone(), second));
                let (struck, told) = match struck {
                    Ok(struck) => struck,
                    Err(violation) => {
                        let spot = Spot { second: Some(second), ..spot.clone() };
                        self.note(&spot, violation);
                        continue;
                    }
                };
                for (left, disk) in worlds(&struck, self.depth.double_power, call) {
                    let told = told.after(left != Left::Process);
                    let second = Some(Step { left, ..second });
                    let spot = Spot { second, ..spot.clone() };
                    self.judge(&spot, &disk, &told, 4);
                }
            }
        }
    }

    fn judge(&mut self, spot: &Spot, disk: &SimDisk, told: &Told, part: u64) {
        self.tally.states += 1;
        let to_the_end = spot.second.unwrap_or(spot.first).left == Left::Process;
        if let Err(violation) = judged(self.prepared, disk, told, part, to_the_end) {
            self.note(spot, violation);
        }
    }

    fn note(&mut self, spot: &Spot, violation: Violation) {
        self.tally.violations += 1;
        self.tally.keep(spot.clone(), violation);
    }

    fn name(&self) -> String {
        self.prepared.scenario.name.clone()
    }
}

fn judged(
    prepared: &Prepared,
    disk: &SimDisk,
    told: &Told,
    part: u64,
    to_the_end: bool,
) -> Result<(), Violation> {
    caught(|| judge(&prepared.scenario, disk, told, part, to_the_end)).flatten()
}

/// A panic of the code that is judged is a violation too.
fn caught<T>(act: impl FnOnce() -> T) -> Result<T, Violation> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Violation { oracle: "panic", what: text.unwrap_or_else(|| "it panicked".to_owned()) }
    })
}

fn lived(prepared: &Prepared, step: Step) -> (SimDisk, Told) {
    let (disk, told, _) = prepared.live(|disk| step.mishap.plan(disk, step.call));
    (disk, told)
}

fn recovered(prepared: &Prepared, disk: &SimDisk, told: Told, step: Step) -> (SimDisk, Told) {
    let disk = disk.after_process_crash();
    step.mishap.plan(&disk, step.call);
    let next = theatre(&prepared.scenario, &disk, told, 2);
    // Whoever is struck says what it likes; the disk is what counts.
    drop(next.recover());
    (disk, next.told())
}

fn world(disk: &SimDisk, left: Left) -> Option<SimDisk> {
    match left {
        Left::Process => Some(disk.after_process_crash()),
        Left::Power(at) => disk.power_losses().get(at),
    }
}

fn worlds(
    disk: &SimDisk,
    stride: usize,
    offset: usize,
) -> impl Iterator<Item = (Left, SimDisk)> + use<> {
    let losses = disk.power_losses();
    let power = (0..losses.count()).filter(move |at| taken(*at, offset, stride));
    let power = power.filter_map(move |at| Some((Left::Power(at), losses.get(at)?)));
    std::iter::once((Left::Process, disk.after_process_crash())).chain(power)
}

/// Whether a stride takes the place with this number.
fn taken(at: usize, offset: usize, stride: usize) -> bool {
    at.wrapping_add(offset).checked_rem(stride) == Some(0)
}

fn writes(call: &str) -> bool {
    matches!(call, "create" | "write to")
}

/// A crash after a call leaves what one before the next call leaves, but
/// the process learned less; both are tried, since that is what may differ.
fn crashes(writes: bool) -> Vec<Mishap> {
    let mut crashes = vec![Crash::Before, Crash::After];
    if writes {
        crashes.extend([Crash::Prefix(1), Crash::Prefix(40), Crash::Prefix(300)]);
    }
    crashes.into_iter().map(Mishap::Crash).collect()
}

fn faults(writes: bool) -> Vec<Mishap> {
    let mut faults = vec![Failing::Device, Failing::Full];
    faults.extend(writes.then_some(Failing::Short(100)));
    let both = |how| [false, true].map(|forever| Mishap::Fail { how, forever });
    faults.into_iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stride_takes_what_it_says() {
        assert_eq!((0..10).filter(|at| taken(*at, 0, 0)).count(), 0);
        assert_eq!((0..10).filter(|at| taken(*at, 3, 1)).count(), 10);
        assert_eq!((0..10).filter(|at| taken(*at, 1, 5)).collect::<Vec<_>>(), [4, 9]);
    }
}
