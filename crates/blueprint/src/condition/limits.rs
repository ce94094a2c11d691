//! The bounds of conditions, each with its reason.

/// A condition that is longer is a program, and belongs into a script.
pub(super) const SOURCE_BYTES: usize = 4096;

/// Brackets, `!` and `-` inside each other. Reading goes down one level of
/// the stack for each.
pub(super) const NESTING: usize = 32;

/// Levels of the finished tree. `a + b + c` adds one for each `+`. The
/// evaluation goes down as deep, and takes 50 KiB of stack for each level when
/// it is built without optimisation, of the 2 MiB that a thread has.
pub(super) const LEVELS: usize = 24;

/// Values, operators and calls of one condition.
pub(super) const PARTS: usize = 512;

/// `exists`, `all`, `map`, … inside each other: each multiplies the work.
pub(super) const LOOPS: usize = 2;

/// A pattern of `matches`. What is compiled from it stays small.
pub(super) const PATTERN_BYTES: usize = 256;

/// Steps of one evaluation: one for each value that is looked at in a loop,
/// copied or compared. A list of 100,000 items can be searched by a short
/// question in well under a second.
pub(super) const WORK: u64 = 1_000_000;

/// Steps that stand for compiling one pattern.
pub(super) const PATTERN_WORK: u64 = 2_000;

/// Letters of a condition that an error message repeats.
pub(super) const TOLD_CHARS: usize = 160;
