//! Which rule may find something at which byte, and what a finding is. Pure.

use super::kind::Kind;
use super::run::Class;
use super::window::{Look, Window};
use super::{assign, header, pem, shape, url};

/// A secret that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    /// It goes at least up to here.
    pub(super) end: usize,
    /// What it goes on with behind `end`.
    pub(super) open: Option<Class>,
    pub(super) kind: Kind,
}

/// What the rules find from this place on. Nothing that is found begins before
/// the place.
pub(super) fn find(window: &Window<'_>, at: usize) -> Look<Vec<Found>> {
    let mut found = Vec::new();
    let Some(byte) = window.byte(at)? else { return Ok(found) };
    match byte {
        b':' => found.extend(url::find(window, at)?),
        b'-' => {
            found.extend(pem::find(window, at)?);
            found.extend(assign::find(window, at)?);
        }
        b'_' => found.extend(assign::find(window, at)?),
        _ if byte.is_ascii_alphanumeric() && window.opens_word(at) => {
            found.extend(shape::find(window, at)?);
            found.extend(header::find(window, at)?);
            found.extend(assign::find(window, at)?);
        }
        _ => {}
    }
    Ok(found)
}
