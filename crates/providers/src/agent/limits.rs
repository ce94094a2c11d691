//! The bounds of what is taken from an agent and given to one.

/// One line of an agent's output. Longer ones are skipped and counted: a
/// result with a file of a few megabytes in it still fits.
pub(super) const LINE_BYTES: usize = 4 << 20;

/// An answer. What is larger belongs into a file of the workspace.
pub(super) const ANSWER_BYTES: usize = 1 << 20;

/// What is kept of error output, for a message when nothing else tells why.
pub(super) const STDERR_BYTES: usize = 8 << 10;

/// A line of a note for people.
pub(super) const NOTE_CHARS: usize = 200;

/// The name of a tool in a note.
pub(super) const NAME_CHARS: usize = 60;

/// A message of an error.
pub(super) const MESSAGE_CHARS: usize = 1000;

/// Refused tool calls that are told by name; the rest is only counted.
pub(super) const DENIED_TOLD: usize = 20;

/// A schema or a setting that can only go by argument. Linux refuses a
/// single string of 128 KiB.
pub(super) const ARGUMENT_BYTES: usize = 96 << 10;

/// Names that one request can ask for as tools.
pub(super) const TOOLS: usize = 200;
