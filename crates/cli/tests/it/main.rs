//! The real command in a home of its own: no environment, no network, no
//! agent. Every wait is for something that happens, and has a deadline.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod accounts;
mod agents;
mod arguments;
mod authoring;
mod check;
mod classes;
mod decide;
mod exec;
mod house;
mod language;
mod listing;
mod live;
mod look;
mod pages;
mod prove;
mod screen;
mod signals;
mod work;
mod workers;
mod worktree;
