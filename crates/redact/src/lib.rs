//! Masking of secrets: of values that are known, in every form that programs
//! give them, and of what has the shape of a secret or stands behind the name of
//! one; in whole texts, in JSON and in streams that arrive in pieces. It stores
//! nothing and withholds nothing: a mark says what stood there.
//!
//! The laws of the crate: what comes out holds no form of a known value; masking
//! it again changes nothing; how a stream was cut does not show; the time is
//! linear and what is held back is bounded.

mod form;
mod json;
mod known_stream;
mod mark;
mod masker;
mod part;
mod pattern;
mod stream;

#[cfg(test)]
mod tests;

pub use mark::is_only_marks;
pub use masker::Masker;
pub use stream::StreamMasker;
