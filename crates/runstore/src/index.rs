//! The index of a home, `.index.jsonl` beside the folders of its blueprints:
//! which runs there are, and how those that have ended did. It spares a
//! listing the look into every run, and recovery the look at runs that are
//! over. It is a cache. Whatever happens to it is mended by a scan, and no
//! run fails for it.
//!
//! - The birth of a run is told before the run is published, its end after
//!   that is in the log. So a run that the index does not know has ended may
//!   have, and is looked at; one that it knows has ended has.
//! - Nothing is synced. A loss of power may take lines, so an index counts
//!   only within its *era*: a text that the host makes of the machine's boot
//!   and of the folder itself. In another era it is made anew.
//! - Readers never write. Who finds no sound index scans the home; who
//!   writes anyway makes it anew ([`refresh`]).

mod append;
mod find;
mod line;
mod open;
mod read;
mod rebuild;
#[cfg(test)]
mod tests;

pub use append::{Told, born, confirm, ended, note};
pub use find::find;
pub use line::{End, Entry, Glance};
pub use open::OpenRuns;
pub use read::{Index, Key, Newest, Unsound, Wanted, scan};
pub use rebuild::{Believe, rebuild, refresh};
