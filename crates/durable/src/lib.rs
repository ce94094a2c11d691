//! What lasting means in this house: names, digests, time, counters, log
//! lines and the limits of everything. It knows nothing of runs, blueprints
//! or people. The default build is pure; feature `disk` adds the one place
//! that touches files and syncs bytes, feature `sqlite` one way to open a
//! database, feature `sim` a disk that crashes.

pub mod canon;
pub mod component;
pub mod count;
pub mod digest;
pub mod entropy;
pub mod frame;
mod hex;
pub mod limits;
pub mod put_once;
pub mod secret;
pub mod tail;
pub mod time;
pub mod version;

#[cfg(feature = "disk")]
pub mod disk;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use component::{Component, ComponentError};
pub use count::{Attempt, Generation, Round, Seq};
pub use digest::Digest;
pub use secret::{Redacted, Sealed};
pub use time::{Clock, Span, Timestamp};
