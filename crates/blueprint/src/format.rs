//! One layout for the front matter of every file. It moves blanks, line
//! breaks and top-level keys and nothing else: every comment keeps its place,
//! every scalar its quotes, the prose its bytes. What comes out is read again
//! and must mean what went in; if it ever does not, there is no result.

mod flow;
mod layout;
mod order;
mod page;
mod scalar;
#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::document::{Document, Lines};
use crate::yaml::{self, Data, Reading, Yaml};
use crate::{Finding, check};

/// Why a file stays as it is.
#[derive(Debug, Error)]
pub enum FormatError {
    #[error("the front matter cannot be read")]
    Unreadable(Vec<Finding>),
    #[error("line {line} is written in a way that has no other layout: {what}")]
    Odd { line: usize, what: &'static str },
    #[error("internal fault: the new layout would have changed {0}")]
    Changed(&'static str),
}

/// A place that the layout does not know; its byte of the front matter.
#[derive(Debug)]
struct Odd {
    at: usize,
    what: &'static str,
}

/// A front matter in its new layout.
#[derive(Debug)]
struct Laid {
    text: String,
    /// The comments, in order.
    comments: Vec<String>,
}

/// The bytes of a file in their usual layout.
pub fn format(bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
    let document =
        Document::read(bytes).map_err(|finding| FormatError::Unreadable(vec![finding]))?;
    let (text, front) = (document.text(), document.front());
    let reading = yaml::read(text, front.clone());
    if !is_sound(&reading) {
        return Err(FormatError::Unreadable(check(bytes).findings));
    }
    let crlf = text[..front.start].ends_with("\r\n");
    let old = text[front.clone()].replace("\r\n", "\n");
    let laid = lay_out(&old).map_err(|fault| match fault {
        Fault::Odd(Odd { at, what }) => {
            let (fences, (line, _)) = (1, Lines::new(&old).place(at));
            FormatError::Odd { line: line + fences, what }
        }
        Fault::Changed(what) => FormatError::Changed(what),
    })?;
    let laid = if crlf { laid.replace('\n', "\r\n") } else { laid };
    let new = [&text[..front.start], &laid, &text[front.end..]].concat().into_bytes();
    let hash = |bytes: &[u8]| check(bytes).program.map(|program| program.hash());
    if hash(bytes) != hash(&new) {
        return Err(FormatError::Changed("the graph"));
    }
    Ok(new)
}

enum Fault {
    Odd(Odd),
    Changed(&'static str),
}

fn is_sound(reading: &Reading<'_>) -> bool {
    let is_map = reading.root.as_ref().is_some_and(|root| matches!(root.data, Data::Map(_)));
    is_map && reading.complete && reading.findings.is_empty()
}

/// The lines in their layout and then, where that is possible, the keys in
/// their order: so that what could not be moved at first is not moved later.
fn lay_out(text: &str) -> Result<String, Fault> {
    let root = root(text).ok_or(Fault::Changed("what it means"))?;
    let laid = layout::lay_out(text, &root).map_err(Fault::Odd)?;
    let tree = verify(&laid, &root, &laid.comments).map_err(Fault::Changed)?;
    let ordered = order::by_rank(&laid.text, &tree).and_then(|text| {
        let moved = layout::lay_out(&text, &self::root(&text)?).ok()?;
        verify(&moved, &root, &laid.comments).is_ok().then_some(moved)
    });
    Ok(ordered.unwrap_or(laid).text)
}

fn root(text: &str) -> Option<Yaml<'_>> {
    let reading = yaml::read(text, 0..text.len());
    if is_sound(&reading) { reading.root } else { None }
}

/// The new layout as a tree, when it has the same values as the old one and
/// the same comments, wherever they moved along with their keys.
fn verify<'l>(
    laid: &'l Laid,
    old: &Yaml<'_>,
    comments: &[String],
) -> Result<Yaml<'l>, &'static str> {
    let new = root(&laid.text).ok_or("what it means")?;
    if new.to_json() != old.to_json() {
        return Err("what it means");
    }
    let sorted = |comments: &[String]| {
        let mut sorted = comments.to_vec();
        sorted.sort();
        sorted
    };
    let again = layout::lay_out(&laid.text, &new).map_err(|_| "the comments")?;
    if sorted(&again.comments) == sorted(comments) { Ok(new) } else { Err("the comments") }
}
