//! Matching of known secret values: the same value in every form that
//! programs give it, in whole texts, in JSON and in streams that arrive in
//! pieces. It masks what it was told of and nothing else, and it neither finds
//! nor stores secrets itself.
//!
//! The law of the crate: what comes out holds no form of a known value, and
//! masking it again changes nothing.

mod form;
mod json;
mod mark;
mod masker;
mod stream;

#[cfg(test)]
mod tests;

pub use mark::is_only_marks;
pub use masker::Masker;
pub use stream::StreamMasker;
