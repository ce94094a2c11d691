//! A scenario with what lies behind it already on disk, and the number of
//! calls that the rest of it takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use durable::disk::SharedDisk;
use durable::sim::{Call, SeededEntropy, SimDisk};
use engine::RunStatus;
use host::worker::Left;
use runstore::Home;
use runstore::index::{self, Believe};

use crate::effects;
use crate::life::{Failure, Theatre};
use crate::scenario::Scenario;
use crate::witness::Told;

/// The home of every simulated run.
pub const HOME: &str = "/home";

#[derive(Debug, Clone)]
pub struct Prepared {
    pub scenario: Arc<Scenario>,
    base: SimDisk,
    told: Told,
    /// The calls that change the disk, when nothing goes wrong.
    pub calls: Vec<Call>,
    /// The calls that only look.
    pub looks: usize,
}

impl Prepared {
    /// Performs the scenario once, without a crash.
    ///
    /// # Panics
    ///
    /// When it fails all by itself.
    pub fn new(scenario: Scenario) -> Self {
        Self::on(scenario, SimDisk::new())
    }

    /// The same in a home with an index of its runs.
    ///
    /// # Panics
    ///
    /// When it fails all by itself.
    pub fn beside_an_index(scenario: Scenario) -> Self {
        let (base, home) = (SimDisk::new(), Home::at(PathBuf::from(HOME)));
        base.put(&home.index(), b"");
        let made = index::rebuild(
            &base,
            &home,
            &Told::default().era(),
            &SeededEntropy::new(0),
            Believe::Nothing,
        );
        assert!(matches!(made, Ok(Some(0))), "an index is made: {made:?}");
        Self::on(scenario, base)
    }

    fn on(scenario: Scenario, base: SimDisk) -> Self {
        let scenario = Arc::new(scenario);
        base.put(&effects::path(&Home::at(PathBuf::from(HOME))), b"");
        let theatre = theatre(&scenario, &base, Told::default(), 0);
        let behind = theatre.perform(&scenario.acts[..scenario.settled]);
        if let Err(error) = behind {
            panic!("{} fails by itself: {error}", scenario.name);
        }
        let told = theatre.told();
        base.settle();
        let mut prepared = Self { scenario, base, told, calls: Vec::new(), looks: 0 };
        let (disk, told, ended) = prepared.live(|_| {});
        if let Err(error) = ended {
            panic!("{} fails by itself: {error}", prepared.scenario.name);
        }
        let failed = Left::Closed(RunStatus::Failed);
        let all_well = !told.left.values().any(|left| *left == failed);
        assert!(all_well || !prepared.scenario.completes, "{} fails", prepared.scenario.name);
        prepared.calls = disk.history();
        prepared.looks = disk.looks();
        prepared
    }

    /// Lives the rest of the scenario on a disk with this plan.
    pub fn live(&self, plan: impl FnOnce(&SimDisk)) -> (SimDisk, Told, Result<(), Failure>) {
        let disk = self.base.after_process_crash();
        plan(&disk);
        let theatre = theatre(&self.scenario, &disk, self.told.clone(), 1);
        let ended = theatre.perform(&self.scenario.acts[self.scenario.settled..]);
        (disk, theatre.told(), ended)
    }
}

/// Those who act on this disk after `part` crashes.
pub fn theatre(scenario: &Arc<Scenario>, disk: &SimDisk, told: Told, part: u64) -> Arc<Theatre> {
    let disk: SharedDisk = Arc::new(disk.clone());
    Theatre::new(scenario, disk, Path::new(HOME).to_owned(), told, part)
}
