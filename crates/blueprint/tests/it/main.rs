//! Blueprint files in, findings and programs out: the crate as its callers
//! see it.

mod cases;
mod fixtures;
mod generated;
mod layouts;
mod mending;
mod nested;
mod support;
mod weak_points;
