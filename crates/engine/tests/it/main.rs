//! The engine from outside: scripts with their expected output, laws over
//! random graphs and inputs, and the weak points of other engines by name.

mod blueprints;
mod folding;
mod golden;
mod laws;
mod looks;
mod rig;
mod script;
mod weak_points;
