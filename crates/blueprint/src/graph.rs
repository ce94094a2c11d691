//! A graph to look at: as a tree of lines for a terminal, as text for other
//! drawing programs, as a picture. All start from a [`Drawing`], which a sound
//! program gives and a file that is still being written as well. Names are
//! data here: nothing that an author writes becomes markup, and the same
//! drawing gives the same bytes.

mod dot;
mod drawing;
mod label;
mod layout;
mod mermaid;
mod nest;
mod svg;
mod text;

pub use dot::dot;
pub use drawing::{Course, Drawing, Line, Mark, Shape, Tone};
pub use layout::{Layout, Point, Rect, Route};
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::{Lead, Row, Strokes, rows};

#[cfg(test)]
mod tests;
