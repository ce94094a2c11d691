//! The outside world for tests: a disk that crashes, tears and fails on
//! call, a clock that moves when told to, and chance that repeats. One seed
//! and one plan of faults make one world, the same each time.
//!
//! # What a simulated disk can do
//!
//! Every call that changes the disk has a number, from 0. A test runs the
//! code under test once to learn how many there are, then once for each
//! number with a crash or a fault there ([`SimDisk::crash_at`],
//! [`SimDisk::fail_at`]), and lets it recover on what is left:
//!
//! - after a crash of the process ([`SimDisk::after_process_crash`]): all
//!   calls that were made, and the locks free;
//! - after a loss of power ([`SimDisk::power_losses`]): any of many disks,
//!   on which what was not synced is missing, cut, blank or garbage.

mod clock;
mod conformance;
mod disk;
mod entropy;
mod fault;
mod node;
mod power;
mod tree;

pub use clock::ManualClock;
pub use conformance::conformance;
pub use disk::{Call, SimDisk};
pub use entropy::SeededEntropy;
pub use fault::{Crash, Crashed, Fault, is_crash};
pub use power::PowerLosses;

#[cfg(test)]
mod tests;
