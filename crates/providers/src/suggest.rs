//! "Did you mean": the known word nearest to a mistyped one.

/// The candidate that differs from `word` in at most a third of its letters
/// (one at least), case aside; of equally near ones the first.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let near = |candidate: &&'a str| {
        let length = word.len().max(candidate.chars().count());
        // Nobody mistypes a word of more than 64 letters.
        length <= 64 && steps(&word, candidate) <= (length / 3).max(1).min(length - 1)
    };
    candidates.into_iter().filter(near).min_by_key(|candidate| steps(&word, candidate))
}

/// How many letters must be inserted, removed or replaced.
fn steps(word: &[char], other: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (i, letter) in other.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, own) in word.iter().enumerate() {
            let replaced = diagonal + usize::from(*own != letter);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[word.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["text", "json", "files", "error_event"];

    #[test]
    fn a_typing_mistake_finds_its_word_and_a_far_one_none() {
        assert_eq!(did_you_mean("txt", WORDS), Some("text"));
        assert_eq!(did_you_mean("File", WORDS), Some("files"));
        assert_eq!(did_you_mean("errorevent", WORDS), Some("error_event"));
        assert_eq!(did_you_mean("prompt", WORDS), None);
        assert_eq!(did_you_mean("x", ["a"]), None);
        assert_eq!(did_you_mean("", WORDS), None);
        assert_eq!(did_you_mean(&"n".repeat(10_000), WORDS), None);
    }

    #[test]
    fn steps_are_counted_both_ways() {
        let word: Vec<char> = "kitten".chars().collect();
        assert_eq!(steps(&word, "sitting"), 3);
        assert_eq!(steps(&[], "abc"), 3);
        assert_eq!(steps(&word, ""), 6);
    }
}
