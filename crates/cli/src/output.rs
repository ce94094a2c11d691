//! From answers to text. Everything that comes from outside passes through
//! [`escape`] on its way to people.

pub(crate) mod change;
pub(crate) mod columns;
pub(crate) mod escape;
pub(crate) mod finding;
pub(crate) mod gist;
pub(crate) mod graph;
pub(crate) mod json;
pub(crate) mod page;
pub(crate) mod run;
pub(crate) mod size;
pub(crate) mod spent;
pub(crate) mod table;
pub(crate) mod time;
