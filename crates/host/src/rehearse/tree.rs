//! The files of a workspace as values: to begin each play alike, and to
//! compare what two plays leave.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Files and bytes of one workspace.
const FILES_MAX: usize = 5_000;
const BYTES_MAX: u64 = 64 << 20;

/// What stands at each path, from the workspace on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Folder,
    File { bytes: Vec<u8>, executable: bool },
    Link(PathBuf),
}

#[derive(Debug, Error)]
pub(crate) enum TreeError {
    #[error("{} has more than {FILES_MAX} files or {} MiB", .0.display(), BYTES_MAX >> 20)]
    TooLarge(PathBuf),
    #[error("{} cannot be read", .0.display())]
    Io(PathBuf, #[source] io::Error),
}

impl Tree {
    /// Reads a folder. What git keeps for itself changes with every command
    /// and says nothing of its effect, so it is taken along and not compared.
    pub(crate) fn read(folder: &Path) -> Result<Self, TreeError> {
        let mut entries = BTreeMap::new();
        let mut bytes = 0;
        let mut open = vec![PathBuf::new()];
        while let Some(at) = open.pop() {
            let full = folder.join(&at);
            let fail = |error| TreeError::Io(full.clone(), error);
            for entry in fs::read_dir(&full).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                let path = at.join(entry.file_name());
                let kind = entry.file_type().map_err(fail)?;
                let found = if kind.is_dir() {
                    open.push(path.clone());
                    Entry::Folder
                } else if kind.is_symlink() {
                    Entry::Link(fs::read_link(entry.path()).map_err(fail)?)
                } else if kind.is_file() {
                    let stat = entry.metadata().map_err(fail)?;
                    bytes += stat.len();
                    if bytes > BYTES_MAX {
                        return Err(TreeError::TooLarge(folder.to_owned()));
                    }
                    let executable = stat.permissions().mode() & 0o111 != 0;
                    Entry::File { bytes: fs::read(entry.path()).map_err(fail)?, executable }
                } else {
                    continue;
                };
                entries.insert(path, found);
                if entries.len() > FILES_MAX {
                    return Err(TreeError::TooLarge(folder.to_owned()));
                }
            }
        }
        Ok(Self(entries))
    }

    /// Makes the files in an empty folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for (path, entry) in &self.0 {
            let full = folder.join(path);
            match entry {
                Entry::Folder => fs::create_dir_all(&full)?,
                Entry::Link(target) => std::os::unix::fs::symlink(target, &full)?,
                Entry::File { bytes, executable } => {
                    fs::write(&full, bytes)?;
                    let mode = if *executable { 0o755 } else { 0o644 };
                    fs::set_permissions(&full, fs::Permissions::from_mode(mode))?;
                }
            }
        }
        Ok(())
    }

    /// Paths at which two trees are not alike.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let paths = self.0.keys().chain(other.0.keys());
        let differs = |path: &&PathBuf| {
            let ours = path.components().next().is_some_and(|first| first.as_os_str() == ".git");
            !ours && self.0.get(*path) != other.0.get(*path)
        };
        let mut found: Vec<String> =
            paths.filter(differs).map(|path| path.display().to_string()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_written_as_it_was_read() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(one.path().join("a/b")).unwrap();
        fs::write(one.path().join("a/b/run.sh"), "true\n").unwrap();
        fs::set_permissions(one.path().join("a/b/run.sh"), fs::Permissions::from_mode(0o755))
            .unwrap();
        std::os::unix::fs::symlink("b/run.sh", one.path().join("a/link")).unwrap();
        let tree = Tree::read(one.path()).unwrap();
        tree.write(other.path()).unwrap();
        assert_eq!(Tree::read(other.path()).unwrap(), tree);
        fs::write(other.path().join("a/b/run.sh"), "false\n").unwrap();
        fs::write(other.path().join("new"), "").unwrap();
        let changed = Tree::read(other.path()).unwrap();
        assert_eq!(tree.differences(&changed), ["a/b/run.sh", "new"]);
    }
}
