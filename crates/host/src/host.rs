//! A host over one home: the disk, the clock and the names that every verb
//! needs, found once.

use std::path::PathBuf;
use std::sync::Arc;

use durable::disk::{RealDisk, SharedDisk};
use durable::entropy::Entropy;
use durable::{Clock, Timestamp};
use runstore::Home;

use crate::api::{Code, HostError};
use crate::clock::{RealClock, RealEntropy};
use crate::foresight::Foresight;
use crate::latest::Latest;
use crate::processes::{Processes, RealProcesses};

/// What the outermost crate knows and hands in.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// The folder of everything that lasts.
    pub home: PathBuf,
    /// The program that a worker process runs.
    pub executable: PathBuf,
    /// The working folder of the person who asks.
    pub current_dir: PathBuf,
}

/// Everything a verb needs.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) home: Home,
    pub(crate) config: HostConfig,
    pub(crate) disk: SharedDisk,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) processes: Arc<dyn Processes>,
    pub(crate) foresight: Foresight,
    pub(crate) latest: Latest,
}

/// What surrounds a host: all that it does not decide itself.
#[derive(Debug)]
pub struct Surroundings {
    pub disk: SharedDisk,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub processes: Arc<dyn Processes>,
}

impl Host {
    /// A host on the real disk. It creates nothing: reading an absent home
    /// shows an empty one.
    pub fn open(config: HostConfig) -> Result<Self, HostError> {
        let home = Home::open(&config.home).map_err(|fault| {
            HostError::from_fault(Code::Store, "the home cannot be used", &fault)
                .hint("name another folder with WARDIAN_HOME or --home")
        })?;
        let executable = config.executable.clone();
        let real = Surroundings {
            disk: Arc::new(RealDisk),
            clock: Arc::new(RealClock),
            entropy: Arc::new(RealEntropy),
            processes: Arc::new(RealProcesses::new(executable)),
        };
        Ok(Self::within(home, config, real))
    }

    /// A host in surroundings that are given.
    pub fn within(home: Home, config: HostConfig, surroundings: Surroundings) -> Self {
        let Surroundings { disk, clock, entropy, processes } = surroundings;
        let (foresight, latest) = (Foresight::default(), Latest::default());
        Self { home, config, disk, clock, entropy, processes, foresight, latest }
    }

    /// What the clock says.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn home(&self) -> &std::path::Path {
        self.home.path()
    }
}
