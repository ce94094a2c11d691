//! The world around the product, simulated: a disk that crashes, a clock
//! that stands still, a performer that plays from a list, people who say
//! their words at given moments; and the judges of what is then left. The
//! code that is judged is the real one. One name or seed makes one world,
//! the same each time.

pub mod corpus;
pub mod draft;
pub mod effects;
pub mod fixed;
pub mod herd;
pub mod life;
pub mod mutilate;
pub mod oracle;
pub mod performer;
pub mod prepared;
pub mod random;
pub mod real;
mod relations;
pub mod scenario;
pub mod spot;
pub mod story;
pub mod sweep;
mod wings;
pub mod witness;

pub use draft::Draft;
pub use herd::herd;
pub use life::Theatre;
pub use oracle::Violation;
pub use prepared::Prepared;
pub use scenario::{Act, Play, Scenario, Word};
pub use spot::Spot;
pub use story::judge_story;
pub use sweep::{Depth, Tally, sweep};
pub use witness::Told;
