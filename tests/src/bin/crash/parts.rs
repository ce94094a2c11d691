//! The parts of a sweep, shared out among threads, with a word now and then
//! to whoever waits for the end.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use world::Tally;

/// So long nothing is said.
const SILENCE: Duration = Duration::from_secs(30);

/// Counts and tells what has been judged since the program's start.
pub(crate) struct Progress {
    begin: Instant,
    so_far: Mutex<SoFar>,
}

struct SoFar {
    /// When something was said last, from the start.
    said: Duration,
    tally: Tally,
}

impl Progress {
    pub(crate) fn new() -> Self {
        #[expect(clippy::disallowed_methods, reason = "a stopwatch for a person")]
        let begin = Instant::now();
        let so_far = SoFar { said: Duration::ZERO, tally: Tally::default() };
        Self { begin, so_far: Mutex::new(so_far) }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// What went wrong is told at once, the rest now and then.
    fn done(&self, part: &Tally, at: usize, parts: usize) {
        let mut so_far = self.so_far.lock().expect("nobody panics while he tells");
        let known = so_far.tally.first.len();
        so_far.tally.add(part.clone());
        for (spot, violation) in so_far.tally.first.iter().skip(known) {
            println!("{violation}\n  cargo xtask crash --only {spot}");
        }
        let now = self.elapsed();
        if now.saturating_sub(so_far.said) >= SILENCE {
            so_far.said = now;
            let Tally { states, violations, .. } = &so_far.tally;
            println!(
                "crash: {states} states, {violations} violations, {} s, about part {at} of {parts}",
                now.as_secs()
            );
        }
    }
}

/// Does these parts on all processors. The sum is the same whoever does what.
pub(crate) fn in_parallel(
    progress: &Progress,
    parts: usize,
    part: impl Fn(usize) -> Tally + Sync,
) -> Tally {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Tally)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= parts {
                        return;
                    }
                    let tally = part(at);
                    progress.done(&tally, at + 1, parts);
                    done.lock().expect("no part panics with the list").push((at, tally));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no part panics with the list");
    done.sort_by_key(|(at, _)| *at);
    let mut sum = Tally::default();
    done.into_iter().for_each(|(_, tally)| sum.add(tally));
    sum
}
