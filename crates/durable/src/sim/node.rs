//! A simulated file and folder, each in two states: as the system shows it
//! now, and as the disk is sure to hold it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The number of a file or folder, whatever its name.
pub(super) type Ino = u64;

/// A name in a folder.
pub(super) type Name = (Ino, String);

#[derive(Debug, Clone)]
pub(super) enum Node {
    File(FileNode),
    Folder(FolderNode),
}

#[derive(Debug, Clone, Default)]
pub(super) struct FileNode {
    pub(super) now: Arc<Vec<u8>>,
    pub(super) synced: Arc<Vec<u8>>,
    /// What a failed sync has dropped. The system still shows these bytes
    /// and believes them to be on the disk, which never gets them.
    pub(super) dropped: Vec<Range<usize>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct FolderNode {
    pub(super) now: BTreeMap<String, Ino>,
    pub(super) synced: BTreeMap<String, Ino>,
}

/// A change of names in folders, all of it or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NameChange {
    Add { name: Name, ino: Ino },
    Remove { name: Name, ino: Ino },
    Move { from: Name, to: Name, ino: Ino },
}

/// What a change does to one folder: `name` leads to `ino`, or does no more.
#[derive(Debug)]
pub(super) struct Edit<'a> {
    pub(super) folder: Ino,
    pub(super) name: &'a str,
    ino: Ino,
    present: bool,
}

impl FileNode {
    pub(super) fn settled(bytes: Arc<Vec<u8>>) -> Self {
        Self { now: Arc::clone(&bytes), synced: bytes, dropped: Vec::new() }
    }

    /// The best that the disk can come to hold.
    pub(super) fn reachable(&self) -> Arc<Vec<u8>> {
        if self.dropped.is_empty() {
            return Arc::clone(&self.now);
        }
        let mut bytes = self.now.as_ref().clone();
        for at in self.dropped.iter().cloned().flatten() {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = self.synced.get(at).copied().unwrap_or(0);
            }
        }
        Arc::new(bytes)
    }

    /// Bytes at the beginning that a loss of power cannot touch.
    pub(super) fn safe_bytes(&self) -> usize {
        let pairs = self.reachable();
        pairs.iter().zip(self.synced.iter()).take_while(|(a, b)| a == b).count()
    }

    pub(super) fn sync(&mut self) {
        self.synced = self.reachable();
    }

    /// Memory forgets the file; it is read anew from the disk.
    pub(super) fn evict(&mut self) {
        self.now = self.reachable();
        self.dropped.clear();
    }

    /// A sync that fails: what it was to write is dropped.
    pub(super) fn fail_sync(&mut self) {
        let dirty = self.safe_bytes()..self.now.len();
        if !dirty.is_empty() {
            self.dropped.push(dirty);
        }
    }

    pub(super) fn cut(&mut self, bytes: usize) {
        Arc::make_mut(&mut self.now).truncate(bytes);
        for range in &mut self.dropped {
            range.end = range.end.min(bytes);
        }
        self.dropped.retain(|range| !range.is_empty());
        self.sync();
    }
}

impl NameChange {
    pub(super) fn edits(&self) -> Vec<Edit<'_>> {
        match self {
            Self::Add { name, ino } => vec![Edit::new(name, *ino, true)],
            Self::Remove { name, ino } => vec![Edit::new(name, *ino, false)],
            Self::Move { from, to, ino } => {
                vec![Edit::new(from, *ino, false), Edit::new(to, *ino, true)]
            }
        }
    }

    pub(super) fn names(&self) -> Vec<&Name> {
        match self {
            Self::Add { name, .. } | Self::Remove { name, .. } => vec![name],
            Self::Move { from, to, .. } => vec![from, to],
        }
    }
}

impl<'a> Edit<'a> {
    fn new(name: &'a Name, ino: Ino, present: bool) -> Self {
        Self { folder: name.0, name: &name.1, ino, present }
    }

    pub(super) fn make(&self, names: &mut BTreeMap<String, Ino>) {
        if self.present {
            names.insert(self.name.to_owned(), self.ino);
        } else if names.get(self.name) == Some(&self.ino) {
            names.remove(self.name);
        }
    }
}
