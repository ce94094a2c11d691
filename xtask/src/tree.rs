//! The files of the repository, read once and then passed to the checks as
//! text. Build output and version control are not part of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders that hold nothing of ours.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// What is read as text; of other files only the path is known.
const READ: [&str; 3] = ["rs", "md", "toml"];

/// The repository at one moment.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Text by path, `/` between the parts, relative to the root.
    pub(crate) files: BTreeMap<String, String>,
    /// Every path, folders too.
    pub(crate) paths: Vec<String>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        tree.paths.sort();
        Ok(tree)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    pub(crate) fn with_extension<'a>(
        &'a self,
        extension: &str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let suffix = format!(".{extension}");
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(&suffix))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.path().is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else if READ.iter().any(|extension| name.ends_with(&format!(".{extension}"))) {
                let bytes = fs::read(entry.path())?;
                self.files.insert(path.clone(), String::from_utf8_lossy(&bytes).into_owned());
            }
            self.paths.push(path);
        }
        Ok(())
    }
}

/// The root of the repository: the folder above this package.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or_else(|| package.clone(), Path::to_path_buf)
}

/// Whether a file holds nothing but tests: `tests.rs`, or below a `tests`
/// folder of a crate. The package `tests` holds programs and is none.
pub(crate) fn is_test_file(path: &str) -> bool {
    let inside = path.strip_prefix("tests/").unwrap_or(path);
    inside.split('/').any(|part| part == "tests" || part == "tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_their_path() {
        for path in ["crates/a/src/b/tests.rs", "crates/a/tests/it/main.rs", "tests/src/x/tests.rs"]
        {
            assert!(is_test_file(path), "{path}");
        }
        for path in ["crates/a/src/test.rs", "tests/src/bin/crash.rs", "crates/a/src/attests.rs"] {
            assert!(!is_test_file(path), "{path}");
        }
    }

    #[test]
    fn the_tree_holds_this_file_and_no_build_output() {
        let tree = Tree::read(&root()).expect("the repository can be read");
        assert!(tree.text("xtask/src/tree.rs").is_some_and(|text| text.starts_with("//!")));
        assert!(!tree.paths.iter().any(|path| path.contains("target/")));
    }
}
