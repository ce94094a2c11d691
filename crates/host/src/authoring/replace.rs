//! A person's file replaced in one step: whoever reads meanwhile, and
//! whatever crashes, there is one complete file, the old or the new one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::Host;
use crate::api::{Code, HostError};

impl Host {
    /// Puts `new` where `old` was read. The file keeps its mode; a link stays
    /// a link, and what it leads to is replaced. A file that is not `old` any
    /// more is left to whoever changed it.
    pub(super) fn replace(&self, path: &Path, old: &[u8], new: &[u8]) -> Result<(), HostError> {
        if old == new {
            return Ok(());
        }
        let fail = |fault: &dyn std::error::Error| {
            let what = format!("{} cannot be written", path.display());
            HostError::from_fault(Code::Store, &what, fault)
                .hint("see who may write in its folder; nothing was changed")
        };
        let real = fs::canonicalize(path).map_err(|fault| fail(&fault))?;
        let mode = fs::metadata(&real).map_err(|fault| fail(&fault))?.permissions().mode();
        let (folder, name) = (real.parent().unwrap_or(Path::new("/")), real.file_name());
        let name = name.unwrap_or_default().to_string_lossy();
        let aside = folder.join(format!(".{name}.{}.tmp", self.entropy.hex8()));
        self.disk.create(&aside, new).map_err(|fault| fail(&fault))?;
        let placed = fs::set_permissions(&aside, fs::Permissions::from_mode(mode & 0o7777))
            .map_err(|fault| fail(&fault))
            .and_then(|()| self.disk.sync_file(&aside).map_err(|fault| fail(&fault)))
            .and_then(|()| unchanged(&real, old))
            .and_then(|()| self.disk.rename(&aside, &real).map_err(|fault| fail(&fault)));
        if let Err(error) = placed {
            drop(self.disk.remove_file(&aside));
            return Err(error);
        }
        self.disk.sync_dir(folder).map_err(|fault| fail(&fault))
    }
}

fn unchanged(path: &Path, old: &[u8]) -> Result<(), HostError> {
    if fs::read(path).is_ok_and(|bytes| bytes == old) {
        return Ok(());
    }
    let message = format!("{} was changed by someone else meanwhile", path.display());
    Err(HostError::new(Code::Conflict, message).hint("run the command again"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::HostConfig;

    fn host(folder: &Path) -> Host {
        let (home, current_dir) = (folder.join("home"), folder.to_owned());
        Host::open(HostConfig { home, executable: "/bin/false".into(), current_dir }).unwrap()
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.md"), folder.path().join("b.md"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a.md", &link).unwrap();
        host(folder.path()).replace(&link, b"old", b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left over");
    }

    #[test]
    fn a_file_that_someone_changed_meanwhile_is_left_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.md");
        fs::write(&file, "theirs").unwrap();
        let error = host(folder.path()).replace(&file, b"old", b"new").unwrap_err();
        assert_eq!(error.code, Code::Conflict);
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
    }
}
