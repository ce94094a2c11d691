//! Every bound of the outgoing client, each with its reason.

/// An address. Servers refuse longer ones; 8 KiB is what most of them read.
pub(super) const URL_BYTES: usize = 8 << 10;

/// Headers of a request: how many, and names and values together.
pub(super) const HEADERS: usize = 64;
pub(super) const HEADER_BYTES: usize = 16 << 10;

/// What is sent. Larger things are files, and files have other ways.
pub(super) const SENT_BYTES: usize = 1 << 20;

/// What comes back, as it travels and again after it was decoded.
pub(super) const RECEIVED_BYTES: usize = 10 << 20;

/// How much larger an answer may become by decoding. Text shrinks to a tenth,
/// repetitive text to a fiftieth; what shrinks to less than a hundredth was
/// made to.
pub(super) const RATIO: usize = 100;

/// Below this size an answer may be as repetitive as it likes.
pub(super) const RATIO_COUNTS_FROM: usize = 1 << 20;

/// Headers of an answer, with its status line.
pub(super) const ANSWER_HEADER_BYTES: usize = 64 << 10;

/// Redirects followed.
pub(super) const REDIRECTS: usize = 5;

/// Addresses of one name that are looked at. A name with more of them is
/// refused, for each has to be checked.
pub(super) const ADDRESSES: usize = 64;

/// Ports that need no word of the author.
pub(super) const PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// Hosts and networks that a request may name as allowed.
pub(super) const ALLOWED: usize = 256;
