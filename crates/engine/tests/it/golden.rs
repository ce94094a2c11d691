//! Expected output beside its input: compared, with the difference shown, or
//! written anew when `UPDATE_GOLDEN=1` says so.

use std::fmt::Write as _;
use std::path::Path;

/// What differs, as text, or nothing.
pub(crate) fn compare(path: &Path, actual: &str) -> Result<(), String> {
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(path, actual).expect("the expected output can be written");
        return Ok(());
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Err(format!("{name} (UPDATE_GOLDEN=1 accepts it):\n{}", diff(&expected, actual)))
}

/// The lines that differ, each with some that do not around it.
fn diff(old: &str, new: &str) -> String {
    const AROUND: usize = 2;
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let marked = marked(&old, &new);
    let mut text = String::new();
    for (at, (mark, line)) in marked.iter().enumerate() {
        let around = at.saturating_sub(AROUND)..marked.len().min(at + AROUND + 1);
        if marked[around].iter().any(|(mark, _)| *mark != ' ') {
            writeln!(text, "{mark} {line}").expect("a text takes all");
        }
    }
    text
}

/// Both texts in one, by their longest common subsequence.
fn marked<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    lines
}

#[test]
fn a_difference_shows_the_lines_that_changed_and_those_around() {
    let text = diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n");
    assert_eq!(text, "  b\n  c\n- d\n+ D\n  e\n  f\n");
}
