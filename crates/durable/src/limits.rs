//! Every bound of the system, each with its reason.

/// A path component. Every file system we meet allows 255 bytes; 100 leaves
/// room for prefixes, suffixes and temporary names.
pub const COMPONENT_BYTES: usize = 100;

/// A blueprint file. A graph of 1,000 nodes with long prompts stays under it.
pub const BLUEPRINT_BYTES: usize = 1 << 20;

/// Nesting of front matter and of run data. Deeper documents are mistakes or
/// attacks; serde_json stops at 128 itself.
pub const DEPTH: usize = 64;

/// Nodes of one graph, and edges. Beyond this a person cannot read it.
pub const NODES: usize = 2000;
pub const EDGES: usize = 8000;

/// Findings reported for one file; the rest is counted, not listed.
pub const FINDINGS: usize = 500;

/// One line of an event log. Larger outputs are kept as artifacts.
pub const LINE_BYTES: usize = 16 << 20;

/// Events that are read at a time, and after which a run that settles much by
/// itself pauses to write.
pub const BATCH_EVENTS: usize = 4096;

/// Events of one write. A run that tries another again takes over all that it
/// keeps of it at once, which is far more than it does in one go.
pub const WRITE_EVENTS: usize = 1 << 18;

/// The trigger input of a run.
pub const INPUT_BYTES: usize = 8 << 20;

/// Output kept of one stream of a child process; the rest is dropped and
/// the cut is marked.
pub const CAPTURE_BYTES: usize = 1 << 20;

/// An environment variable of a child. Linux refuses a single string of
/// 128 KiB; beyond this a value goes by file.
pub const ENV_VALUE_BYTES: usize = 96 << 10;

/// A rendered template (a prompt, a message).
pub const RENDERED_BYTES: usize = 4 << 20;

/// A note on an approval, and any other free text of a signal.
pub const NOTE_BYTES: usize = 8 << 10;

/// A signal file.
pub const SIGNAL_BYTES: usize = 64 << 10;

/// Attempts in flight in one run, when a blueprint says nothing, and at most.
pub const PARALLEL_DEFAULT: usize = 4;
pub const PARALLEL_MAX: usize = 64;

/// Rounds of one loop. A loop that needs more is waiting, or lost.
pub const ITERATIONS_MAX: u64 = 10_000;

/// Items of one `for_each`, when a blueprint says nothing, and at most. The
/// output of every one stays in the state of the run.
pub const ITEMS_DEFAULT: u64 = 1_000;
pub const ITEMS_MAX: u64 = 10_000;

/// Attempts that a `retry` can ask for, and the longest wait between two.
pub const RETRY_ATTEMPTS: u64 = 100;

/// Blueprints that run each other, counted from the first one down.
pub const AUTOMATIONS_DEEP: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_event_carries_fits_into_one_line() {
        for (name, bytes) in [
            ("input", INPUT_BYTES),
            ("rendered", RENDERED_BYTES),
            ("two captured streams", 2 * CAPTURE_BYTES),
            ("blueprint", BLUEPRINT_BYTES),
            ("signal", SIGNAL_BYTES),
        ] {
            assert!(bytes + ENV_VALUE_BYTES < crate::frame::BODY_BYTES, "{name}");
        }
    }

    #[test]
    fn smaller_things_fit_into_those_that_hold_them() {
        let pairs = [
            (NOTE_BYTES, SIGNAL_BYTES),
            (NODES, EDGES),
            (PARALLEL_DEFAULT, PARALLEL_MAX),
            (DEPTH, 128),
            (2 * COMPONENT_BYTES, 255),
        ];
        for (small, large) in pairs {
            assert!(small < large, "{small} {large}");
        }
    }
}
