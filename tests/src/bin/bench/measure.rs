//! Times, taken so that they can be compared on a machine that others use
//! as well: all that is compared is measured in turn, seven times, and the
//! median counts.

use std::time::{Duration, Instant};

use crate::Failure;

/// So often is everything measured, after one time that does not count.
const ROUNDS: usize = 7;

/// What was measured, in milliseconds, the shortest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<f64>);

/// Something to measure: does its work and says how long that took.
pub(crate) type Subject<'a> = Box<dyn FnMut() -> Result<Duration, Failure> + 'a>;

impl Samples {
    pub(crate) fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }

    /// How far apart the samples lie without the shortest and the longest,
    /// as a part of the median. Large where something else had the machine.
    pub(crate) fn spread(&self) -> f64 {
        let [_, low, .., high, _] = self.0[..] else { return 0.0 };
        (high - low) / self.median()
    }
}

/// Measures the subjects in turn, round by round.
pub(crate) fn in_turn<const N: usize>(
    mut subjects: [Subject<'_>; N],
) -> Result<[Samples; N], Failure> {
    let mut samples = [const { Samples(Vec::new()) }; N];
    for round in 0..=ROUNDS {
        for (subject, samples) in subjects.iter_mut().zip(&mut samples) {
            let took = subject()?.as_secs_f64() * 1000.0;
            if round > 0 {
                samples.0.push(took);
            }
        }
    }
    samples.iter_mut().for_each(|samples| samples.0.sort_by(f64::total_cmp));
    Ok(samples)
}

/// How long the work takes.
pub(crate) fn timed(work: impl FnOnce() -> Result<(), Failure>) -> Result<Duration, Failure> {
    #[expect(clippy::disallowed_methods, reason = "a stopwatch is what this program is")]
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_counts_and_one_odd_sample_at_either_end_does_not_spread() {
        let samples = Samples(vec![1.0, 9.0, 10.0, 10.0, 10.0, 11.0, 90.0]);
        assert_eq!(samples.median(), 10.0);
        assert!((samples.spread() - 0.2).abs() < 1e-9);
    }

    #[test]
    fn subjects_take_turns_and_the_first_round_does_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let subject = |name: char| -> Subject<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(Duration::from_millis(1))
            })
        };
        let samples = in_turn([subject('a'), subject('b')]).unwrap();
        assert_eq!(*order.borrow(), "ab".repeat(ROUNDS + 1));
        assert_eq!(samples.map(|samples| samples.0.len()), [ROUNDS; 2]);
    }
}
