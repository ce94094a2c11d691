//! The least that a command line of this kind can be: one argument, read by
//! the same library, and one line. What it takes to start is the measure of
//! what ours takes.

#![expect(clippy::print_stdout, reason = "it is all that it does")]

use clap::Parser;

/// Greets.
#[derive(Debug, Parser)]
#[command(version)]
struct Hello {
    /// Who is greeted
    #[arg(default_value = "world")]
    name: String,
}

fn main() {
    println!("hello {}", Hello::parse().name);
}
