//! The disks that a loss of power may leave, counted and each made on call.
//!
//! Names: of the changes of names that no sync has settled, any may be
//! missing. Tried are: none missing, all, each one, each two (of up to
//! [`PAIRS`] changes), and all after each one. A rename that is kept may so
//! stand without the creation before it, and before the bytes of its file.
//!
//! Bytes: each of these with all unsynced bytes of all files there, with
//! none of them, and with zeros in their place. Then, with all names kept and
//! the other files once whole and once without their unsynced bytes, for
//! each file with unsynced bytes:
//!
//! - cut at every byte, or when more than [`EVERY_CUT`] are unsynced: at
//!   each of the first and last [`ENDS`], around line feeds and 512-byte
//!   borders, and at [`SAMPLES`] places in between;
//! - at full length, from each 512-byte border on zeros;
//! - at full length, with one block of 512 or 4096 bytes zeros, garbage, or
//!   as it was before; of many blocks the first and last [`ENDS`].
//!
//! Bytes that were synced are never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::disk::SimDisk;
use super::node::{FileNode, FolderNode, Ino, Node};
use super::tree::Tree;

/// Unsettled changes of names up to which pairs are tried.
const PAIRS: usize = 16;
/// Unsynced bytes of one file up to which every cut is tried.
const EVERY_CUT: usize = 512;
const ENDS: usize = 32;
const SAMPLES: usize = 64;
const SMALL_BLOCK: usize = 512;
const LARGE_BLOCK: usize = 4096;

/// The disks that a loss of power may leave of one disk.
#[derive(Debug, Clone)]
pub struct PowerLosses {
    tree: Tree,
    worlds: Vec<World>,
}

#[derive(Debug, Clone, Copy)]
struct World {
    missing: Missing,
    bytes: Bytes,
    one: Option<(Ino, Harm)>,
}

/// Which unsettled changes of names are missing.
#[derive(Debug, Clone, Copy)]
enum Missing {
    Nothing,
    Everything,
    One(usize),
    Two(usize, usize),
    From(usize),
}

/// What is there of the unsynced bytes of files.
#[derive(Debug, Clone, Copy)]
enum Bytes {
    Whole,
    Gone,
    Zeros,
}

/// What is there of the unsynced bytes of one file.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Cut(usize),
    ZerosFrom(usize),
    Block { start: usize, size: usize, fill: Fill },
}

#[derive(Debug, Clone, Copy)]
enum Fill {
    Zeros,
    Garbage,
    Old,
}

impl PowerLosses {
    pub(super) fn of(tree: Tree) -> Self {
        let files: Vec<(Ino, FileNode)> = tree
            .nodes
            .iter()
            .filter_map(|(ino, node)| match node {
                Node::File(file) if file.reachable() != file.synced => Some((*ino, file.clone())),
                Node::File(_) | Node::Folder(_) => None,
            })
            .collect();
        let every: &[Bytes] = &[Bytes::Whole, Bytes::Gone, Bytes::Zeros];
        let bytes = if files.is_empty() { &every[..1] } else { every };
        let mut worlds = Vec::new();
        for missing in missing_names(tree.pending.len()) {
            worlds.extend(bytes.iter().map(|bytes| World { missing, bytes: *bytes, one: None }));
        }
        let others = if files.len() > 1 { &every[..2] } else { &every[..1] };
        for (ino, file) in &files {
            for harm in harms(file) {
                worlds.extend(others.iter().map(|bytes| World {
                    missing: Missing::Nothing,
                    bytes: *bytes,
                    one: Some((*ino, harm)),
                }));
            }
        }
        Self { tree, worlds }
    }

    pub fn count(&self) -> usize {
        self.worlds.len()
    }

    /// The disk with the number `at`; `None` from [`PowerLosses::count`] on.
    pub fn get(&self, at: usize) -> Option<SimDisk> {
        self.worlds.get(at).map(|world| SimDisk::from_tree(world.make(&self.tree)))
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = SimDisk> {
        self.worlds.iter().map(|world| SimDisk::from_tree(world.make(&self.tree)))
    }
}

impl World {
    fn make(&self, tree: &Tree) -> Tree {
        let mut folders: BTreeMap<Ino, BTreeMap<String, Ino>> = BTreeMap::new();
        for (ino, node) in &tree.nodes {
            if let Node::Folder(folder) = node {
                folders.insert(*ino, folder.synced.clone());
            }
        }
        for (at, change) in tree.pending.iter().enumerate() {
            if self.missing.has(at) {
                continue;
            }
            for edit in change.edits() {
                if let Some(names) = folders.get_mut(&edit.folder) {
                    edit.make(names);
                }
            }
        }
        let mut after = tree.clone();
        after.pending.clear();
        for (ino, node) in &mut after.nodes {
            match node {
                Node::File(file) => *file = FileNode::settled(self.content(*ino, file)),
                Node::Folder(folder) => {
                    let names = folders.remove(ino).unwrap_or_default();
                    *folder = FolderNode { now: names.clone(), synced: names };
                }
            }
        }
        after
    }

    fn content(&self, ino: Ino, file: &FileNode) -> Arc<Vec<u8>> {
        let harm = self.one.filter(|(harmed, _)| *harmed == ino);
        match (harm, self.bytes) {
            (Some((_, harm)), _) => Arc::new(harm.make(file)),
            (None, Bytes::Whole) => file.reachable(),
            (None, Bytes::Gone) => Arc::clone(&file.synced),
            (None, Bytes::Zeros) => Arc::new(Harm::ZerosFrom(0).make(file)),
        }
    }
}

impl Missing {
    fn has(self, at: usize) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::One(one) => at == one,
            Self::Two(one, other) => at == one || at == other,
            Self::From(first) => at >= first,
        }
    }
}

impl Harm {
    fn make(self, file: &FileNode) -> Vec<u8> {
        let mut bytes = file.reachable().as_ref().clone();
        let dirty = file.safe_bytes()..bytes.len();
        let (range, fill) = match self {
            Self::Cut(len) => {
                bytes.truncate(len);
                return bytes;
            }
            Self::ZerosFrom(start) => (start..dirty.end, Fill::Zeros),
            Self::Block { start, size, fill } => (start..start + size, fill),
        };
        let range = range.start.max(dirty.start)..range.end.min(dirty.end);
        for (at, byte) in bytes.iter_mut().enumerate().take(range.end).skip(range.start) {
            *byte = match fill {
                Fill::Zeros => 0,
                Fill::Garbage => garbage(at),
                Fill::Old => file.synced.get(at).copied().unwrap_or(0),
            };
        }
        bytes
    }
}

/// Every byte there is, line feeds among them.
fn garbage(at: usize) -> u8 {
    (at.wrapping_mul(167).wrapping_add(13) & 0xff) as u8
}

fn missing_names(changes: usize) -> Vec<Missing> {
    let mut all = vec![Missing::Nothing];
    if changes > 0 {
        all.push(Missing::Everything);
    }
    if changes > 1 {
        all.extend((0..changes).map(Missing::One));
        all.extend((1..changes - 1).map(Missing::From));
    }
    if (3..=PAIRS).contains(&changes) {
        let pairs = (0..changes).flat_map(|one| (one + 1..changes).map(move |two| (one, two)));
        all.extend(pairs.map(|(one, two)| Missing::Two(one, two)));
    }
    all
}

fn harms(file: &FileNode) -> Vec<Harm> {
    let bytes = file.reachable();
    let dirty = file.safe_bytes()..bytes.len();
    let mut all = Vec::new();
    // A file that was only appended to may have any length in between.
    if file.synced.len() == dirty.start {
        all.extend(cuts(&bytes, dirty.clone()).into_iter().map(Harm::Cut));
    }
    all.extend(
        blocks(&dirty, SMALL_BLOCK)
            .into_iter()
            .filter(|start| *start > dirty.start)
            .map(Harm::ZerosFrom),
    );
    let fills: &[Fill] = match file.synced.len() > dirty.start {
        true => &[Fill::Zeros, Fill::Garbage, Fill::Old],
        false => &[Fill::Zeros, Fill::Garbage],
    };
    for size in [SMALL_BLOCK, LARGE_BLOCK] {
        for start in blocks(&dirty, size) {
            all.extend(fills.iter().map(|fill| Harm::Block { start, size, fill: *fill }));
        }
    }
    all
}

/// Lengths to which the unsynced bytes are cut, neither none nor all of them.
fn cuts(bytes: &[u8], dirty: Range<usize>) -> BTreeSet<usize> {
    let inner = dirty.start + 1..dirty.end;
    if dirty.len() <= EVERY_CUT {
        return inner.collect();
    }
    let mut all: BTreeSet<usize> = inner.clone().take(ENDS).collect();
    all.extend(inner.clone().rev().take(ENDS));
    all.extend(inner.clone().step_by(dirty.len().div_ceil(SAMPLES)));
    let feeds: Vec<usize> = dirty.clone().filter(|at| bytes[*at] == b'\n').collect();
    let borders = blocks(&dirty, SMALL_BLOCK);
    for at in ends(&feeds).into_iter().chain(borders) {
        all.extend([at.saturating_sub(1), at, at + 1, at + 2]);
    }
    all.retain(|at| inner.contains(at));
    all
}

/// Where the blocks begin that have unsynced bytes.
fn blocks(dirty: &Range<usize>, size: usize) -> Vec<usize> {
    let starts: Vec<usize> = (dirty.start / size * size..dirty.end).step_by(size).collect();
    ends(&starts)
}

/// The first and last [`ENDS`] of a list.
fn ends(list: &[usize]) -> Vec<usize> {
    let tail = list.len().saturating_sub(ENDS).max(ENDS.min(list.len()));
    [&list[..ENDS.min(list.len())], &list[tail..]].concat()
}
