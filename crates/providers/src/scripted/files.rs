//! Files that a scripted agent writes. The kernel resolves every path
//! beneath the workspace, so that no `..` and no link leads out of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use engine::Class;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2};
use rustix::io::Errno;
use thiserror::Error;

#[derive(Debug, Error)]
pub(super) enum WriteError {
    #[error("scripted file `{0}` lies outside the workspace; give a path inside it")]
    Outside(String),
    #[error("scripted file `{path}` could not be written: {source}")]
    Failed { path: String, source: io::Error },
}

impl WriteError {
    pub(super) fn class(&self) -> Class {
        match self {
            Self::Outside(_) => Class::Policy,
            Self::Failed { .. } => Class::Bug,
        }
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Outside(_) => "file_outside_workspace",
            Self::Failed { .. } => "file_not_written",
        }
    }
}

/// Writes all files, with the folders they need.
pub(super) fn write(workspace: &Path, files: &BTreeMap<String, String>) -> Result<(), WriteError> {
    for (path, content) in files {
        write_one(workspace, path, content).map_err(|source| {
            if source.raw_os_error() == Some(Errno::XDEV.raw_os_error()) {
                WriteError::Outside(path.clone())
            } else {
                WriteError::Failed { path: path.clone(), source }
            }
        })?;
    }
    Ok(())
}

fn write_one(workspace: &Path, path: &str, content: &str) -> io::Result<()> {
    let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, workspace, folder, Mode::empty())?;
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (name, folders) = parts.split_last().ok_or(Errno::INVAL)?;
    let mut prefix = String::new();
    let mut last: Option<OwnedFd> = None;
    for part in folders {
        prefix = if prefix.is_empty() { (*part).to_owned() } else { format!("{prefix}/{part}") };
        let open = || openat2(&root, &prefix, folder, Mode::empty(), ResolveFlags::BENEATH);
        last = Some(match open() {
            Err(Errno::NOENT) => {
                mkdirat(last.as_ref().unwrap_or(&root), *part, Mode::from_raw_mode(0o755))?;
                open()?
            }
            other => other?,
        });
    }
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
    let whole = if prefix.is_empty() { (*name).to_owned() } else { format!("{prefix}/{name}") };
    let mode = Mode::from_raw_mode(0o644);
    let fd = openat2(&root, whole, flags, mode, ResolveFlags::BENEATH)?;
    File::from(fd).write_all(content.as_bytes())
}
