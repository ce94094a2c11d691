//! What git prints for programs: records that a zero byte ends, so that a
//! path may hold anything. A path that is not UTF-8 is shown with U+FFFD.
//! Pure.

use std::collections::BTreeMap;

use crate::api::worktree::{ChangeKind, ChangedFile};

/// The records of a listing, without the end of the last.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

pub(super) fn names(bytes: &[u8]) -> Vec<String> {
    records(bytes).map(text).collect()
}

/// `--name-status -z`, without renames, and `--numstat -z` of the same two
/// trees.
pub(super) fn changed(statuses: &[u8], counts: &[u8]) -> Vec<ChangedFile> {
    let counts: BTreeMap<&[u8], (Option<u64>, Option<u64>)> = records(counts)
        .filter_map(|record| {
            let mut fields = record.splitn(3, |byte| *byte == b'\t');
            let (added, removed) = (number(fields.next()?), number(fields.next()?));
            Some((fields.next()?, (added, removed)))
        })
        .collect();
    let mut fields = records(statuses);
    let mut files = Vec::new();
    while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
        let (added, removed) = counts.get(path).copied().unwrap_or_default();
        let kind = match status.first() {
            Some(b'A') => ChangeKind::Added,
            Some(b'D') => ChangeKind::Removed,
            Some(_) | None => ChangeKind::Modified,
        };
        files.push(ChangedFile { path: text(path), kind, added, removed, is_committed: false });
    }
    files
}

/// `merge-tree --write-tree -z --name-only --no-messages`: the tree, then the
/// paths that are in conflict.
pub(super) fn merged(bytes: &[u8]) -> Option<(String, Vec<String>)> {
    let mut fields = records(bytes);
    let tree = text(fields.next()?);
    let is_name = tree.len() >= 40 && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut conflicts: Vec<String> = fields.map(text).collect();
    conflicts.dedup();
    is_name.then_some((tree, conflicts))
}

/// `worktree list --porcelain -z`: where this branch is checked out.
pub(super) fn checked_out(bytes: &[u8], branch: &str) -> Option<String> {
    let wanted = format!("branch refs/heads/{branch}");
    let mut at = None;
    for record in records(bytes) {
        if let Some(path) = record.strip_prefix(b"worktree ") {
            at = Some(text(path));
        } else if record == wanted.as_bytes() {
            return at;
        }
    }
    None
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Git counts no lines of a file that is not text.
fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_may_hold_line_feeds_tabs_and_dashes() {
        let statuses = b"A\0-n\na me\0M\0b\tc\0D\0gone\0T\0link\0";
        let counts = b"3\t0\t-n\na me\0-\t-\tb\tc\x000\t7\tgone\x001\t1\tlink\0";
        let found = changed(statuses, counts);
        let row = |file: &ChangedFile| (file.path.clone(), file.kind.word(), file.added);
        assert_eq!(
            found.iter().map(row).collect::<Vec<_>>(),
            [
                ("-n\na me".to_owned(), "added", Some(3)),
                ("b\tc".to_owned(), "modified", None),
                ("gone".to_owned(), "removed", Some(0)),
                ("link".to_owned(), "modified", Some(1)),
            ]
        );
    }

    #[test]
    fn a_merge_is_a_tree_and_the_paths_in_conflict() {
        let oid = "a".repeat(40);
        let clean = format!("{oid}\0");
        assert_eq!(merged(clean.as_bytes()), Some((oid.clone(), Vec::new())));
        let torn = format!("{oid}\0a b\0a b\0c\0");
        assert_eq!(merged(torn.as_bytes()).unwrap().1, ["a b", "c"]);
        for wrong in ["", "usage: git\0", "abc\0"] {
            assert_eq!(merged(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_branch_is_found_in_the_folder_that_has_it() {
        let list = b"worktree /a\nb\0HEAD 1\0branch refs/heads/main\0\0\
                     worktree /c\0HEAD 2\0branch refs/heads/x\0\0worktree /d\0HEAD 3\0detached\0\0";
        assert_eq!(checked_out(list, "main").as_deref(), Some("/a\nb"));
        assert_eq!(checked_out(list, "x").as_deref(), Some("/c"));
        assert_eq!(checked_out(list, "y"), None);
    }

    proptest! {
        #[test]
        fn whatever_git_prints_is_read_without_a_panic(bytes: Vec<u8>, other: Vec<u8>) {
            let found = changed(&bytes, &other);
            prop_assert!(found.len() <= records(&bytes).count());
            let _either = merged(&bytes);
            let _place = checked_out(&bytes, "main");
        }

        #[test]
        fn paths_come_back_as_they_were(paths in prop::collection::btree_set("[^\0]{1,12}", 0..9)) {
            let statuses: String = paths.iter().map(|path| format!("M\0{path}\0")).collect();
            let counts: String = paths.iter().map(|path| format!("1\t2\t{path}\0")).collect();
            let found = changed(statuses.as_bytes(), counts.as_bytes());
            prop_assert!(found.iter().all(|file| file.added == Some(1) && file.removed == Some(2)));
            let found: Vec<String> = found.into_iter().map(|file| file.path).collect();
            prop_assert_eq!(found, paths.into_iter().collect::<Vec<_>>());
        }
    }
}
