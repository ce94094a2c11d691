//! The real program in a house of its own, as people run it: traced, killed
//! and refused at its system calls, and judged by what it leaves.

pub mod case;
pub mod house;
pub mod patience;
pub mod trace;
pub mod verdict;

pub use case::Case;
pub use house::House;
pub use trace::Point;
