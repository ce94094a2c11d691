//! Tests of the crate as a whole: what a crash, a broken disk, a rival or a
//! hostile name can and cannot do. The samples serve the other tests too.

mod crash;
mod files;
mod golden;
mod mutilate;
mod names;
mod reading;
pub(crate) mod samples;
