//! The files of a folder by their times and sizes. Links are not followed.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::Baseline;

/// Files that are looked at; a folder with more is one for git.
const FILES: usize = 10_000;

/// What another tool keeps there for itself.
const PASSED_OVER: &str = ".git";

pub(super) fn state(root: &Path) -> io::Result<Baseline> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if prefix.is_empty() => return Err(error),
            // It went meanwhile, or is nobody's business.
            Err(_) => continue,
        };
        let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()).collect();
        names.sort_by_key(std::fs::DirEntry::file_name);
        for entry in names {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(data) = std::fs::symlink_metadata(entry.path()) else { continue };
            let path = format!("{prefix}{name}");
            if data.is_dir() {
                if name != PASSED_OVER {
                    folders.push((entry.path(), format!("{path}/")));
                }
                continue;
            }
            if seen.len() == FILES {
                return Ok(Baseline::Files { seen, whole: false });
            }
            seen.insert(path, told(&data));
        }
    }
    Ok(Baseline::Files { seen, whole: true })
}

/// What is known of a file without reading it.
pub(super) fn told(data: &std::fs::Metadata) -> String {
    format!("{}.{:09} {} {:o}", data.mtime(), data.mtime_nsec(), data.len(), data.mode())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_file_that_came_went_or_changed_is_seen_and_nothing_else() {
        let folder = TempDir::new().unwrap();
        let at = folder.path();
        std::fs::create_dir_all(at.join(".git")).unwrap();
        std::fs::create_dir_all(at.join("a/b")).unwrap();
        std::fs::write(at.join("a/b/c"), "1").unwrap();
        std::fs::write(at.join("stays"), "1").unwrap();
        let Baseline::Files { seen: before, whole: true } = state(at).unwrap() else { panic!() };
        std::fs::write(at.join("a/b/c"), "22").unwrap();
        std::fs::write(at.join(".git/index"), "1").unwrap();
        std::fs::write(at.join("new"), "1").unwrap();
        let Baseline::Files { seen: after, .. } = state(at).unwrap() else { panic!() };
        let found: Vec<String> = super::super::differing(&before, &after).into_iter().collect();
        assert_eq!(found, ["a/b/c", "new"]);
    }
}
