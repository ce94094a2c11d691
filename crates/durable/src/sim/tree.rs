//! All folders and files of a simulated disk, and what each call changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::node::{FileNode, FolderNode, Ino, Name, NameChange, Node};

pub(super) const ROOT: Ino = 0;

#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) nodes: BTreeMap<Ino, Node>,
    next: Ino,
    /// Changes of names that no sync has settled, in their order.
    pub(super) pending: Vec<NameChange>,
}

/// One call that changes the disk.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    CreateDir(&'a Path),
    Create(&'a Path, &'a [u8]),
    SyncFile(&'a Path),
    Recall(&'a Path),
    SyncDir(&'a Path),
    Rename(&'a Path, &'a Path),
    RemoveFile(&'a Path),
    RemoveDir(&'a Path),
    Write(Ino, &'a [u8]),
    SyncOpen(Ino),
    Cut(Ino, u64),
    Note(Ino, &'a str),
}

impl Change<'_> {
    /// How many bytes it is to write, if it writes.
    pub(super) fn written(&self) -> Option<usize> {
        match self {
            Self::Create(_, bytes) | Self::Write(_, bytes) => Some(bytes.len()),
            Self::Note(_, text) => Some(text.len()),
            Self::CreateDir(_)
            | Self::SyncFile(_)
            | Self::Recall(_)
            | Self::SyncDir(_)
            | Self::Rename(..)
            | Self::RemoveFile(_)
            | Self::RemoveDir(_)
            | Self::SyncOpen(_)
            | Self::Cut(..) => None,
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        let root = Node::Folder(FolderNode::default());
        Self { nodes: BTreeMap::from([(ROOT, root)]), next: ROOT + 1, pending: Vec::new() }
    }
}

/// Looking.
impl Tree {
    pub(super) fn find(&self, path: &Path) -> IoResult<Ino> {
        let mut at = ROOT;
        for part in path.components() {
            let name = match part {
                Component::RootDir | Component::CurDir => continue,
                Component::Normal(name) => name.to_str(),
                Component::ParentDir | Component::Prefix(_) => None,
            };
            let name = name.ok_or(ErrorKind::InvalidInput)?;
            at = *self.folder(at)?.now.get(name).ok_or(ErrorKind::NotFound)?;
        }
        Ok(at)
    }

    pub(super) fn folder(&self, ino: Ino) -> IoResult<&FolderNode> {
        match self.nodes.get(&ino) {
            Some(Node::Folder(folder)) => Ok(folder),
            Some(Node::File(_)) => Err(ErrorKind::NotADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn file(&self, ino: Ino) -> IoResult<&FileNode> {
        match self.nodes.get(&ino) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// Every path and what stands there; `None` for a folder.
    pub(super) fn walk(&self) -> Vec<(PathBuf, Option<Arc<Vec<u8>>>)> {
        let mut found = Vec::new();
        let mut open = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, ino)) = open.pop() {
            match self.nodes.get(&ino) {
                Some(Node::File(file)) => found.push((path, Some(Arc::clone(&file.now)))),
                Some(Node::Folder(folder)) => {
                    open.extend(folder.now.iter().map(|(name, ino)| (path.join(name), *ino)));
                    found.push((path, None));
                }
                None => {}
            }
        }
        found.sort();
        found
    }

    fn place(&self, path: &Path) -> IoResult<(Name, Option<Ino>)> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or(ErrorKind::AlreadyExists)?;
        let folder = self.find(path.parent().unwrap_or(Path::new("/")))?;
        let there = self.folder(folder)?.now.get(name).copied();
        Ok(((folder, name.to_owned()), there))
    }

    fn free_place(&self, path: &Path) -> IoResult<Name> {
        match self.place(path)? {
            (name, None) => Ok(name),
            (_, Some(_)) => Err(ErrorKind::AlreadyExists.into()),
        }
    }
}

/// Changing.
impl Tree {
    /// Makes `change`; of what it writes, the first `most` bytes.
    pub(super) fn apply(&mut self, change: Change<'_>, most: usize) -> IoResult<()> {
        match change {
            Change::CreateDir(path) => {
                let name = self.free_place(path)?;
                self.add(name, Node::Folder(FolderNode::default()));
            }
            Change::Create(path, bytes) => {
                let name = self.free_place(path)?;
                let now = Arc::new(bytes[..bytes.len().min(most)].to_vec());
                self.add(name, Node::File(FileNode { now, ..FileNode::default() }));
            }
            Change::SyncFile(path) => {
                let ino = self.find(path)?;
                self.file_mut(ino)?.sync();
            }
            Change::Recall(path) => {
                let ino = self.find(path)?;
                let file = self.file_mut(ino)?;
                file.sync();
                file.evict();
            }
            Change::SyncDir(path) => {
                let ino = self.find(path)?;
                self.folder(ino)?;
                self.settle_names(ino);
            }
            Change::Rename(from, to) => self.rename(from, to)?,
            Change::RemoveFile(path) => {
                let (name, there) = self.place(path)?;
                let ino = there.ok_or(ErrorKind::NotFound)?;
                self.file(ino)?;
                self.rename_with(NameChange::Remove { name, ino });
            }
            Change::RemoveDir(path) => {
                let (name, there) = self.place(path)?;
                let ino = there.ok_or(ErrorKind::NotFound)?;
                if !self.folder(ino)?.now.is_empty() {
                    return Err(ErrorKind::DirectoryNotEmpty.into());
                }
                self.rename_with(NameChange::Remove { name, ino });
            }
            Change::Write(ino, bytes) => {
                let bytes = &bytes[..bytes.len().min(most)];
                Arc::make_mut(&mut self.file_mut(ino)?.now).extend_from_slice(bytes);
            }
            Change::SyncOpen(ino) => self.file_mut(ino)?.sync(),
            Change::Cut(ino, bytes) => {
                let bytes = usize::try_from(bytes).map_err(Error::other)?;
                self.file_mut(ino)?.cut(bytes);
            }
            Change::Note(ino, text) => {
                self.file_mut(ino)?.now = Arc::new(text.as_bytes()[..text.len().min(most)].into());
            }
        }
        Ok(())
    }

    /// What a call that fails does all the same: a sync drops the bytes.
    pub(super) fn fail(&mut self, change: Change<'_>) {
        let ino = match change {
            Change::SyncFile(path) | Change::Recall(path) => self.find(path).ok(),
            Change::SyncOpen(ino) => Some(ino),
            Change::CreateDir(_)
            | Change::Create(..)
            | Change::SyncDir(_)
            | Change::Rename(..)
            | Change::RemoveFile(_)
            | Change::RemoveDir(_)
            | Change::Write(..)
            | Change::Cut(..)
            | Change::Note(..) => None,
        };
        if let Some(Ok(file)) = ino.map(|ino| self.file_mut(ino)) {
            file.fail_sync();
        }
    }

    /// Forgets what only memory held: bytes that a failed sync dropped.
    pub(super) fn evict(&mut self) {
        for node in self.nodes.values_mut() {
            if let Node::File(file) = node {
                file.evict();
            }
        }
    }

    /// Everything is on the disk.
    pub(super) fn settle(&mut self) {
        for node in self.nodes.values_mut() {
            match node {
                Node::File(file) => file.sync(),
                Node::Folder(folder) => folder.synced = folder.now.clone(),
            }
        }
        self.pending.clear();
    }

    pub(super) fn edit(&mut self, ino: Ino, bytes: Vec<u8>) -> IoResult<()> {
        *self.file_mut(ino)? = FileNode::settled(Arc::new(bytes));
        Ok(())
    }

    fn file_mut(&mut self, ino: Ino) -> IoResult<&mut FileNode> {
        match self.nodes.get_mut(&ino) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn add(&mut self, name: Name, node: Node) {
        let ino = self.next;
        self.next += 1;
        self.nodes.insert(ino, node);
        self.rename_with(NameChange::Add { name, ino });
    }

    fn rename(&mut self, from: &Path, to: &Path) -> IoResult<()> {
        let (source, moved) = self.place(from)?;
        let (target, there) = self.place(to)?;
        let ino = moved.ok_or(ErrorKind::NotFound)?;
        let is_folder = self.folder(ino).is_ok();
        if is_folder && to != from && to.starts_with(from) {
            return Err(ErrorKind::InvalidInput.into());
        }
        if to != from && from.starts_with(to) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        if there == Some(ino) {
            return Ok(());
        }
        let gives_way = match there {
            Some(there) if is_folder => self.folder(there)?.now.is_empty(),
            Some(there) => self.file(there).map(|_| true)?,
            None => true,
        };
        if !gives_way {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        self.rename_with(NameChange::Move { from: source, to: target, ino });
        Ok(())
    }

    fn rename_with(&mut self, change: NameChange) {
        for edit in change.edits() {
            if let Some(Node::Folder(folder)) = self.nodes.get_mut(&edit.folder) {
                edit.make(&mut folder.now);
            }
        }
        self.pending.push(change);
    }

    /// A sync of a folder settles the changes of its names, a move to or
    /// from another folder included, and whatever went before on the same
    /// names.
    fn settle_names(&mut self, folder: Ino) {
        let mut names = BTreeSet::new();
        let mut settled = vec![false; self.pending.len()];
        for (at, change) in self.pending.iter().enumerate().rev() {
            let touched = change.names();
            if touched.iter().any(|name| name.0 == folder || names.contains(*name)) {
                settled[at] = true;
                names.extend(touched.into_iter().cloned());
            }
        }
        for (change, settled) in std::mem::take(&mut self.pending).into_iter().zip(settled) {
            if !settled {
                self.pending.push(change);
                continue;
            }
            for edit in change.edits() {
                if let Some(Node::Folder(folder)) = self.nodes.get_mut(&edit.folder) {
                    edit.make(&mut folder.synced);
                }
            }
        }
    }
}
