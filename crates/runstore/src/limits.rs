//! Bounds of what stands in a run's folder, each with its reason. Bounds of
//! more than this crate stand in [`durable::limits`].

/// How much of a log is read at a time. Large enough that the calls do not
/// show, small enough that a log of any length is read in little memory.
pub const CHUNK_BYTES: u64 = 1 << 16;

/// How much of a first line is read for the format that it names.
pub const FIRST_LINE_BYTES: u64 = 1 << 20;

/// `state.json`. It holds every output of the run once.
pub const CHECKPOINT_BYTES: u64 = 256 << 20;

/// `blueprint.json`: a blueprint as JSON is little longer than its file.
pub const SNAPSHOT_BYTES: u64 = 16 << 20;

/// `invocation.json`: the input, and as much again for all else.
pub const INVOCATION_BYTES: u64 = 16 << 20;

/// One artifact.
pub const ARTIFACT_BYTES: u64 = 64 << 20;

/// Signals taken from an inbox at a time; the others wait for the next look.
pub const INBOX_SIGNALS: usize = 256;

/// Torn ends kept aside in one run. Each is one loss of power; a run that
/// meets more is better looked at by a person.
pub const TORN_FILES: u32 = 64;

/// Runs that an ambiguous query lists.
pub const MATCHES: usize = 20;

/// Tries at a lock that a reader's probe may hold for an instant.
pub const LOCK_TRIES: u32 = 64;

/// How much of a log's first line is read for the time at which it begins.
pub const HEAD_BYTES: u64 = 256;

/// Characters of a wrong text that an error repeats.
pub const SHOWN_CHARS: usize = 100;

/// The index of a home: millions of runs. One that is longer is not used.
pub const INDEX_BYTES: u64 = 1 << 30;

/// The first line of an index.
pub const INDEX_HEADER_BYTES: u64 = 512;

/// What may be added to an index before it is made anew, beside a part of
/// what it holds: some hundred runs, read within a millisecond.
pub const INDEX_LATER_BYTES: usize = 64 << 10;

/// The text of a failure in a line of the index, so that a line stays within
/// the 4 KiB that one write puts down as a whole.
pub const INDEX_MESSAGE_BYTES: usize = 400;

/// How much of the ended runs a listing reads at first: a page of them.
pub const INDEX_PIECE_BYTES: u64 = 32 << 10;

/// Tries to add a line to an index that is replaced meanwhile.
pub const INDEX_TRIES: u32 = 8;
