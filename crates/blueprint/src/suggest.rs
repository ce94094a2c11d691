//! "Did you mean": the known word nearest to a mistyped one.

/// Longer words are not worth the comparison: nobody mistypes one of them.
const MOST_CHARS: usize = 64;

/// A word that differs from the written one by at most this many steps may
/// be put in its place unasked, when no other word is as near.
const SURE: usize = 2;

/// The candidate that a mistyped word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Near<'a> {
    pub(crate) word: &'a str,
    /// Nothing else can have been meant.
    pub(crate) sure: bool,
}

/// The candidate nearest to `word`, when it is near enough to be meant: at
/// most a third of the letters may differ. Case does not count. Of two
/// equally near the first is taken.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    nearest(word, candidates).map(|near| near.word)
}

/// As [`closest`], and whether there is room for doubt: a second candidate
/// within [`SURE`] steps, unless only the case of the first is wrong.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<Near<'a>> {
    let word = letters(word)?;
    let mut best: Option<(usize, &'a str)> = None;
    let mut second = usize::MAX;
    for candidate in candidates {
        let Some(other) = letters(candidate) else { continue };
        let most = (word.len().max(other.len()) / 3).max(1);
        let distance = distance(&word, &other);
        // A word of one or two letters is near to everything.
        if distance > most || distance >= word.len().max(other.len()) {
            continue;
        }
        match best {
            Some((least, _)) if least <= distance => second = second.min(distance),
            Some((least, _)) => (best, second) = (Some((distance, candidate)), least),
            None => best = Some((distance, candidate)),
        }
    }
    let (least, word) = best?;
    let doubt = if least == 0 { 0 } else { SURE };
    Some(Near { word, sure: least <= SURE && second > doubt })
}

/// The sentence for a finding, when a word is near.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    closest(word, candidates).map(|found| format!("did you mean `{found}`?"))
}

fn letters(word: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).take(65).collect();
    (!letters.is_empty() && letters.len() <= MOST_CHARS).then_some(letters)
}

/// Damerau–Levenshtein in its restricted form: insert, delete, replace, and
/// swap two neighbours, no letter touched twice.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = last;
        last = row;
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 5] = ["nodes", "trigger", "storage", "run", "item"];

    #[test]
    fn a_typing_mistake_finds_its_word() {
        assert_eq!(closest("node", WORDS), Some("nodes"));
        assert_eq!(closest("tirgger", WORDS), Some("trigger"));
        assert_eq!(closest("Storgae", WORDS), Some("storage"));
        assert_eq!(closest("nodes", WORDS), Some("nodes"));
    }

    #[test]
    fn a_word_that_is_far_from_all_finds_none() {
        assert_eq!(closest("inputs", WORDS), None);
        assert_eq!(closest("", WORDS), None);
        assert_eq!(closest("x", ["a", "b"]), None);
        assert_eq!(closest(&"n".repeat(10_000), WORDS), None);
    }

    #[test]
    fn a_word_is_sure_when_no_other_is_within_two_steps() {
        let sure = |word: &str, words: &[&'static str]| {
            nearest(word, words.iter().copied()).map(|near| (near.word, near.sure))
        };
        assert_eq!(sure("stroage", &WORDS), Some(("storage", true)));
        assert_eq!(sure("pathc", &["patch", "match"]), Some(("patch", true)));
        assert_eq!(sure("patchh", &["patch", "patch2"]), Some(("patch", false)));
        assert_eq!(sure("patch2x", &["patch", "patch2"]), Some(("patch2", false)));
        assert_eq!(sure("Patch", &["patch", "patch2"]), Some(("patch", true)));
        assert_eq!(sure("subautomations", &["sub_automation"]), Some(("sub_automation", true)));
        assert_eq!(sure("condxxxion", &["condition"]), Some(("condition", false)));
    }

    #[test]
    fn a_swap_counts_as_one_step() {
        let word = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&word("abcd"), &word("abdc")), 1);
        assert_eq!(distance(&word("kitten"), &word("sitting")), 3);
        assert_eq!(distance(&word(""), &word("abc")), 3);
    }
}
