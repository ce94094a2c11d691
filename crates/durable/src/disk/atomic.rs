//! Two steps that files are changed by: a whole file replaced in one step,
//! and a path of folders made to last. Whoever reads meanwhile, and whatever
//! crashes, there is one complete file, the old or the new one.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::{Disk, DiskError, Kind};

/// Puts a file with these bytes at `path`, in place of one that is there:
/// a new file beside it, synced, renamed, the folder synced. On an error the
/// new file is removed and the old one stands, untouched; only when the last
/// step fails, it is not known which of the two a loss of power would leave.
/// Nothing is tried again: after a failed sync a second one may succeed
/// without the bytes.
///
/// `salt` keeps two writers apart; fresh digits for each call.
pub fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8], salt: &str) -> Result<(), DiskError> {
    replace_cache(disk, path, bytes, salt)?;
    disk.sync_dir(split(path)?.0)
}

/// The same without the last sync, for a file that can be made anew: a loss
/// of power may leave the old one, or none, and never half of one.
pub fn replace_cache(
    disk: &dyn Disk,
    path: &Path,
    bytes: &[u8],
    salt: &str,
) -> Result<(), DiskError> {
    let (folder, name) = split(path)?;
    let temporary = folder.join(format!(".{name}.{salt}.tmp"));
    let placed = disk
        .create(&temporary, bytes)
        .and_then(|()| disk.sync_file(&temporary))
        .and_then(|()| disk.rename(&temporary, path));
    match placed {
        Ok(()) => Ok(()),
        // A file of this name is not ours to remove.
        Err(error) if error.source.kind() == ErrorKind::AlreadyExists => Err(error),
        Err(error) => {
            // The first error is the one to tell; a file left behind is
            // swept by its name.
            let _removed = disk.remove_file(&temporary);
            Err(error)
        }
    }
}

/// Whether a name in a folder is of a file that [`replace`] did not bring to
/// its place. One that no writer of ours can still be working on may go.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

/// Makes the folder at `path` and those above it that are missing. On return
/// the names of all new ones last, and so does the name of the lowest one
/// that was there: an earlier call may have been cut off before its sync.
pub fn create_dir_all(disk: &dyn Disk, path: &Path) -> Result<(), DiskError> {
    make_dir_all(disk, path)?.sync(disk)
}

/// A folder that is there, and whose name does not last yet.
#[derive(Debug)]
#[must_use = "the folder may be lost until its name is synced"]
pub struct Unnamed {
    /// Holds its name.
    parent: Option<PathBuf>,
    is_new: bool,
}

/// Does what [`create_dir_all`] does but for the last sync, for a caller who
/// has more to sync and does it all together: to sync what another sync has
/// brought to the disk with it takes next to nothing.
pub fn make_dir_all(disk: &dyn Disk, path: &Path) -> Result<Unnamed, DiskError> {
    let mut missing = Vec::new();
    let mut present = path;
    loop {
        match disk.stat(present)?.map(|stat| stat.kind) {
            Some(Kind::Folder) => break,
            // A link above may lead to a folder; `path` itself may be none.
            Some(Kind::Other) if present != path => break,
            Some(Kind::File | Kind::Other) => return Err(no_folder(present)),
            None => missing.push(present),
        }
        present = present.parent().ok_or_else(|| no_folder(present))?;
    }
    let mut made = Unnamed { parent: present.parent().map(Path::to_owned), is_new: false };
    for folder in missing.into_iter().rev() {
        // So that of all folders the lowest alone may ever lack its name.
        made.sync(disk)?;
        match disk.create_dir(folder) {
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {
                if disk.stat(folder)?.map(|stat| stat.kind) != Some(Kind::Folder) {
                    return Err(error);
                }
            }
            created => created?,
        }
        made = Unnamed { parent: folder.parent().map(Path::to_owned), is_new: true };
    }
    Ok(made)
}

impl Unnamed {
    /// Durable on return: its name.
    pub fn sync(self, disk: &dyn Disk) -> Result<(), DiskError> {
        match self.parent.map(|parent| disk.sync_dir(&parent)) {
            // A folder that may not be opened is not one that we made things in.
            Some(Err(error)) if error.source.kind() == ErrorKind::PermissionDenied => {
                if self.is_new { Err(error) } else { Ok(()) }
            }
            Some(synced) => synced,
            None => Ok(()),
        }
    }
}

fn split(path: &Path) -> Result<(&Path, &str), DiskError> {
    let name = path.file_name().and_then(|name| name.to_str());
    path.parent().zip(name).ok_or_else(|| DiskError {
        call: "replace",
        path: path.to_owned(),
        source: Error::new(ErrorKind::InvalidInput, "the path does not end in a name"),
    })
}

fn no_folder(path: &Path) -> DiskError {
    DiskError {
        call: "create a folder at",
        path: PathBuf::from(path),
        source: Error::from(ErrorKind::NotADirectory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{Fault, SimDisk};

    fn calls(disk: &SimDisk) -> Vec<String> {
        let history = disk.history();
        history.iter().map(|call| format!("{} {}", call.name, call.path.display())).collect()
    }

    #[test]
    fn a_replacement_is_these_calls_in_this_order() {
        let disk = SimDisk::new();
        disk.put(Path::new("/home/state.json"), b"old");
        replace(&disk, Path::new("/home/state.json"), b"new", "0a1b").unwrap();
        insta::assert_snapshot!(calls(&disk).join("\n"));
    }

    #[test]
    fn a_cache_is_replaced_without_the_last_of_these_calls() {
        let both = [replace, replace_cache].map(|replace| {
            let disk = SimDisk::new();
            disk.put(Path::new("/home/state.json"), b"old");
            replace(&disk, Path::new("/home/state.json"), b"new", "0a1b").unwrap();
            calls(&disk)
        });
        let (last, before) = both[0].split_last().unwrap();
        assert_eq!((last.as_str(), before), ("sync the folder /home", &both[1][..]));
    }

    #[test]
    fn new_folders_are_made_and_synced_from_the_top() {
        let disk = SimDisk::new();
        disk.create_dir(Path::new("/home")).unwrap();
        create_dir_all(&disk, Path::new("/home/logs/runs")).unwrap();
        insta::assert_snapshot!(calls(&disk).join("\n"));
    }

    #[test]
    fn a_file_that_has_the_temporary_name_is_left_alone() {
        let disk = SimDisk::new();
        disk.put(Path::new("/home/.state.json.0a.tmp"), b"theirs");
        let error = replace(&disk, Path::new("/home/state.json"), b"new", "0a").unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
        assert_eq!(disk.list(Path::new("/home")).unwrap(), [".state.json.0a.tmp"]);
        assert!(is_temporary(".state.json.0a.tmp"));
        assert!(!is_temporary("state.json") && !is_temporary("notes.tmp"));
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        for path in ["/", "/home/.."] {
            let error = replace(&SimDisk::new(), Path::new(path), b"", "0a").unwrap_err();
            assert_eq!(error.source.kind(), ErrorKind::InvalidInput, "{path}");
        }
    }

    #[test]
    fn a_folder_above_that_may_not_be_opened_is_not_ours_to_sync() {
        let disk = SimDisk::new();
        disk.put(Path::new("/home/me/file"), b"");
        disk.fail_at(0, Fault::error(ErrorKind::PermissionDenied));
        create_dir_all(&disk, Path::new("/home/me/logs")).unwrap();
        disk.fail_at(disk.calls(), Fault::error(ErrorKind::Other));
        create_dir_all(&disk, Path::new("/home/me/logs/runs")).unwrap_err();
    }
}
