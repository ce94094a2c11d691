//! Where programs were found, as a shell remembers it: to look through all
//! folders of a path takes a good part of what starting a command takes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::session::find_program;

/// Programs by their names and the paths that were looked through. Clones
/// share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Programs(Arc<Mutex<BTreeMap<(OsString, OsString), PathBuf>>>);

impl Programs {
    /// The program of this name in the folders of `path`, where it was the
    /// last time.
    pub(crate) fn find(&self, program: &OsStr, path: &OsStr) -> Option<PathBuf> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (program.to_owned(), path.to_owned());
        if let Some(file) = known.get(&key) {
            return Some(file.clone());
        }
        let file = find_program(program, path)?;
        // What is meant by a relative folder changes with the current one.
        if file.is_absolute() {
            known.insert(key, file.clone());
        }
        Some(file)
    }

    /// Somebody did not find it there: it is looked for again.
    pub(crate) fn forget(&self, program: &OsStr, path: &OsStr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&(program.to_owned(), path.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_is_where_it_was_until_somebody_does_not_find_it_there() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["a", "b", "c"].map(|name| folder.path().join(name));
        let path = std::env::join_paths(&folders).unwrap();
        folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        let [first, second, third] = folders.map(|folder| folder.join("tool"));
        let install = |file: &PathBuf| {
            fs::write(file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let programs = Programs::default();
        let find = || programs.find("tool".as_ref(), &path);
        assert_eq!(find(), None);
        install(&second);
        install(&third);
        assert_eq!(find(), Some(second.clone()));
        install(&first);
        assert_eq!(find(), Some(second.clone()));
        fs::remove_file(&second).unwrap();
        assert_eq!(find(), Some(second));
        programs.forget("tool".as_ref(), &path);
        assert_eq!(find(), Some(first));
    }
}
