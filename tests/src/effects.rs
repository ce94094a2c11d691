//! The list of effects: a line for each attempt, durable before the attempt
//! acts. It is the judges' truth of what was done, so it lies apart from
//! everything that the product writes.

use std::path::{Path, PathBuf};

use durable::disk::{Disk, DiskError};
use engine::AttemptKey;
use runstore::Home;

/// The name of the list in a home.
pub const NAME: &str = "effects.log";

const LIMIT: u64 = 1 << 20;

/// Where the list of a home is.
pub fn path(home: &Home) -> PathBuf {
    home.path().join(NAME)
}

/// Notes that the attempt is about to act. A line that an earlier crash has
/// cut short is of an attempt that did not, and is taken away.
pub fn note(disk: &dyn Disk, home: &Home, key: &AttemptKey) -> Result<(), DiskError> {
    let path = path(home);
    if disk.stat(&path)?.is_none() {
        disk.create(&path, b"")?;
        disk.sync_dir(home.path())?;
    }
    let text = disk.read(&path, LIMIT)?;
    let whole = whole(&text).1;
    let mut file = disk.append(&path)?;
    if whole < text.len() {
        file.cut(whole as u64)?;
    }
    file.write(format!("{key}\n").as_bytes())?;
    file.sync()
}

/// The whole lines.
pub fn lines(disk: &dyn Disk, home: &Home) -> Result<Vec<String>, DiskError> {
    read(disk, &path(home))
}

/// The whole lines of any such list.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Vec<String>, DiskError> {
    if disk.stat(path)?.is_none() {
        return Ok(Vec::new());
    }
    Ok(whole(&disk.read(path, LIMIT)?).0)
}

/// The whole lines at the beginning, and their bytes.
fn whole(text: &[u8]) -> (Vec<String>, usize) {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let key = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
        match key.filter(|key| is_key(key)) {
            Some(key) => lines.push(key.to_owned()),
            None => break,
        }
        bytes += line.len();
    }
    (lines, bytes)
}

fn is_key(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').collect();
    let number = |text: &str| text.parse::<u64>().is_ok();
    matches!(parts[..], [_, _, round, attempt] if number(round) && number(attempt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_at_the_beginning_count() {
        let (lines, bytes) = whole(b"r/a/1/1\nr/b/1/2\nr/c/1\nr/d/1/1\n");
        assert_eq!((lines, bytes), (vec!["r/a/1/1".to_owned(), "r/b/1/2".to_owned()], 16));
        assert_eq!(whole(b"\0\0\0\n").1, 0);
        assert_eq!(whole(b"r/a/1/1").1, 0);
    }
}
