//! The real disk, over the system's files. No call follows a symbolic link
//! at the end of a path, no descriptor reaches a child by accident, and
//! modes are set whatever the umask is. A write is one system call and is
//! never completed by a second one; only opening and reading are taken up
//! again after a signal.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result as IoResult, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, Dir, FileType, Mode, OFlags, fadvise};

use super::{Append, Disk, DiskError, Kind, Lock, Stat};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// How often a lock is tried anew because its file was replaced meanwhile.
const LOCK_TRIES: u32 = 8;

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

/// A real file, open to append to.
#[derive(Debug)]
struct RealAppend {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// A call failed: what the file holds is no longer known.
    failed: bool,
}

impl Disk for RealDisk {
    fn stat(&self, path: &Path) -> Result<Option<Stat>, DiskError> {
        match fs::symlink_metadata(path) {
            Ok(data) => Ok(Some(Stat { kind: kind(&data), bytes: data.len() })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("look at", path)(error)),
        }
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        let fail = failed("read", path);
        let (file, data) = open_file(OpenOptions::new().read(true), path).map_err(&fail)?;
        // It may be longer than it says, as files in /proc are, or grow.
        let stated = data.len();
        let bytes = if stated > limit {
            Ok(Vec::new())
        } else {
            read_at(&file, stated, 0, limit.saturating_add(1))
        };
        let bytes = bytes.map_err(&fail)?;
        if stated.max(bytes.len() as u64) > limit {
            return Err(fail(Error::from(ErrorKind::FileTooLarge)));
        }
        Ok(bytes)
    }

    fn read_from(&self, path: &Path, offset: u64, limit: u64) -> Result<Vec<u8>, DiskError> {
        let file = open_file(OpenOptions::new().read(true), path);
        let read = |(file, data): (File, Metadata)| read_at(&file, data.len(), offset, limit);
        file.and_then(read).map_err(failed("read", path))
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        names(folder, |_, _| Ok(true))
    }

    fn folders(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        names(folder, |name, kind| {
            // Not every file system says it in the entry.
            if kind != FileType::Unknown {
                return Ok(kind == FileType::Directory);
            }
            Ok(self.stat(&folder.join(name))?.is_some_and(|stat| stat.kind == Kind::Folder))
        })
    }

    fn create_dir(&self, path: &Path) -> Result<(), DiskError> {
        let make = || {
            rustix::fs::mkdir(path, Mode::from_raw_mode(FOLDER_MODE))?;
            let data = fs::symlink_metadata(path)?;
            if data.mode() & 0o777 != FOLDER_MODE {
                fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE))?;
            }
            Ok(())
        };
        make().map_err(failed("create a folder at", path))
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        let fail = failed("create", path);
        let mut options = OpenOptions::new();
        let opened = open_file(options.write(true).create_new(true), path);
        let (mut file, data) = opened.map_err(&fail)?;
        let written = own_mode(&file, &data).and_then(|()| file.write_all(bytes));
        written.map_err(|error| {
            // The file is ours and half written; the error is what counts.
            let _removed = fs::remove_file(path);
            fail(error)
        })
    }

    fn sync_file(&self, path: &Path) -> Result<(), DiskError> {
        let file = open_file(OpenOptions::new().read(true), path);
        file.and_then(|(file, _)| file.sync_all()).map_err(failed("sync", path))
    }

    fn recall(&self, path: &Path) -> Result<(), DiskError> {
        let recall = || {
            let (file, _) = open_file(OpenOptions::new().read(true), path)?;
            file.sync_all()?;
            // Without a page of it in memory the next read asks the disk.
            Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
        };
        recall().map_err(failed("sync", path))
    }

    fn sync_dir(&self, path: &Path) -> Result<(), DiskError> {
        let folder = open_folder(path);
        folder.and_then(|folder| folder.sync_all()).map_err(failed("sync the folder", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        fs::rename(from, to).map_err(failed("rename a file to", to))
    }

    fn remove_file(&self, path: &Path) -> Result<(), DiskError> {
        fs::remove_file(path).map_err(failed("remove", path))
    }

    fn remove_dir(&self, path: &Path) -> Result<(), DiskError> {
        fs::remove_dir(path).map_err(failed("remove the folder", path))
    }

    fn append(&self, path: &Path) -> Result<Box<dyn Append>, DiskError> {
        let open = || {
            let (file, data) = open_file(OpenOptions::new().append(true), path)?;
            Ok(RealAppend { path: path.to_owned(), file, bytes: data.len(), failed: false })
        };
        Ok(Box::new(open().map_err(failed("open", path))?))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Lock>, DiskError> {
        try_lock(path).map_err(failed("lock", path))
    }

    fn is_locked(&self, path: &Path) -> Result<bool, DiskError> {
        is_locked(path).map_err(failed("look at the lock on", path))
    }
}

impl RealAppend {
    /// Runs `call` unless an earlier one failed; notes its failure.
    fn once(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&mut Self) -> IoResult<()>,
    ) -> Result<(), DiskError> {
        let done = if self.failed { Err(super::failed_before()) } else { call(self) };
        self.failed = done.is_err();
        done.map_err(failed(name, &self.path))
    }
}

impl Append for RealAppend {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.once("write to", |this| {
            if bytes.is_empty() {
                return Ok(());
            }
            let written = rustix::io::write(&this.file, bytes)?;
            if written < bytes.len() {
                return Err(super::short_write(written, bytes.len()));
            }
            this.bytes += bytes.len() as u64;
            Ok(())
        })
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        self.once("sync", |this| Ok(rustix::fs::fdatasync(&this.file)?))
    }

    fn cut(&mut self, bytes: u64) -> Result<(), DiskError> {
        self.once("cut", |this| {
            if bytes > this.bytes {
                return Err(super::cut_longer(bytes, this.bytes));
            }
            rustix::fs::ftruncate(&this.file, bytes)?;
            rustix::fs::fsync(&this.file)?;
            this.bytes = bytes;
            Ok(())
        })
    }
}

/// Locks the file, then looks whether the path still leads to it: a lock on
/// a file that someone moved away would keep nobody out.
fn try_lock(path: &Path) -> IoResult<Option<Lock>> {
    for _ in 0..LOCK_TRIES {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let (file, data) = open_file(options, path)?;
        own_mode(&file, &data)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if leads_to(path, &data)? {
            return Ok(Some(Lock::from_file(file)));
        }
    }
    Err(Error::other("the lock file was replaced again and again"))
}

/// Asks with a shared lock on a file that is open for reading only: it
/// writes nothing, and those who ask keep no other out who asks.
fn is_locked(path: &Path) -> IoResult<bool> {
    let (file, _) = open_file(OpenOptions::new().read(true), path)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn leads_to(path: &Path, held: &Metadata) -> IoResult<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a regular file, and says what it is. `NONBLOCK` makes opening a pipe that someone put
/// there return, so that it can be refused.
fn open_file(options: &mut OpenOptions, path: &Path) -> IoResult<(File, Metadata)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(Error::other)?;
    let file = options.custom_flags(flags).mode(FILE_MODE).open(path)?;
    let data = file.metadata()?;
    if data.is_dir() {
        return Err(Error::from(ErrorKind::IsADirectory));
    }
    if !data.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok((file, data))
}

fn open_folder(path: &Path) -> IoResult<File> {
    let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// The names in a folder that are wanted, sorted.
fn names(
    folder: &Path,
    wanted: impl Fn(&str, FileType) -> Result<bool, DiskError>,
) -> Result<Vec<String>, DiskError> {
    let fail = failed("list", folder);
    let opened = open_folder(folder).map_err(&fail)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened).map_err(|error| fail(error.into()))? {
        let entry = entry.map_err(|error| fail(error.into()))?;
        match entry.file_name().to_str() {
            Ok("." | "..") | Err(_) => {}
            Ok(name) if wanted(name, entry.file_type())? => names.push(name.to_owned()),
            Ok(_) => {}
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Gives a file of ours its mode, should the umask have taken part of it.
fn own_mode(file: &File, data: &Metadata) -> IoResult<()> {
    if data.mode() & 0o777 == FILE_MODE {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(FILE_MODE))
}

/// Reads up to `limit` bytes, or to the end of the file, which says that it
/// has so many in all.
fn read_at(file: &File, stated: u64, offset: u64, limit: u64) -> IoResult<Vec<u8>> {
    /// The least and the most that one call asks for. Memory is cleared
    /// before it is read into, so that asking for much costs much, however
    /// little comes.
    const LEAST: u64 = 1 << 12;
    const MOST: u64 = 1 << 20;
    let stated = stated.saturating_sub(offset);
    let mut bytes = Vec::new();
    let room = stated.min(limit).saturating_add(LEAST);
    bytes.try_reserve_exact(usize::try_from(room).map_err(Error::other)?)?;
    loop {
        let start = bytes.len();
        // One byte more than there should be shows that there are no more.
        let rest = stated.saturating_sub(start as u64).saturating_add(1).clamp(LEAST, MOST);
        let wanted = limit.saturating_sub(start as u64).min(rest);
        if wanted == 0 {
            return Ok(bytes);
        }
        bytes.resize(start + usize::try_from(wanted).map_err(Error::other)?, 0);
        let got = file.read_at(&mut bytes[start..], offset + start as u64);
        bytes.truncate(start + got.as_ref().map_or(0, |got| *got));
        match got {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) => return Ok(bytes),
            // Files in /proc state no length and come in pieces of any size.
            Ok(got) if (got as u64) < wanted && (1..=bytes.len() as u64).contains(&stated) => {
                return Ok(bytes);
            }
            Ok(_) => {}
        }
    }
}

fn kind(data: &fs::Metadata) -> Kind {
    if data.is_file() {
        Kind::File
    } else if data.is_dir() {
        Kind::Folder
    } else {
        Kind::Other
    }
}

fn failed(call: &'static str, path: &Path) -> impl Fn(Error) -> DiskError {
    move |source| DiskError { call, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
