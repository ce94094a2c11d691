//! What the attempts in flight say: how much, when last, and their last
//! line. It comes from the files that output goes into while it is written,
//! and is for people who watch; nothing is decided by it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use durable::disk::Disk;
use durable::{Round, Timestamp};
use engine::AttemptKey;

use crate::api::{Activity, NodeActivity};
use crate::follow::Follower;
use crate::perform::output_name;

/// How much of the end of a file is read for its last line.
const END_BYTES: u64 = 2 << 10;

/// What was found at an earlier look, by node.
#[derive(Debug, Default)]
pub(crate) struct Seen(BTreeMap<String, NodeActivity>);

impl Follower {
    /// What the attempts in flight have said up to now. A file is read only
    /// when it has changed; one that cannot be read has said nothing.
    pub fn activity(&mut self) -> Activity {
        let mut nodes = BTreeMap::new();
        for site in &self.state().in_flight {
            let Some(node) = self.state().node(site) else { continue };
            let (round, attempt) = (node.round, node.attempt);
            let (run, node, proof) = (self.place().run.clone(), site.clone(), None);
            let key = AttemptKey { run, node, round, attempt, proof };
            let path = self.place().output().join(output_name(&key));
            let id = site.to_string();
            let before = self.seen.0.get(&id).filter(|before| before.round == round);
            if let Some(found) = look(self.disk(), &path, (round, attempt.0), before) {
                nodes.insert(id, found);
            }
        }
        self.seen = Seen(nodes.clone());
        Activity { asked_at: self.host().now(), nodes }
    }
}

fn look(
    disk: &dyn Disk,
    path: &Path,
    (round, attempt): (Round, u64),
    before: Option<&NodeActivity>,
) -> Option<NodeActivity> {
    let data = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let bytes = data.len();
    let since = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let at = Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let said_at = (bytes > 0).then_some(at);
    if let Some(before) = before
        && (before.attempt, before.bytes, before.said_at) == (attempt, bytes, said_at)
    {
        return Some(before.clone());
    }
    let end = disk.read_from(path, bytes.saturating_sub(END_BYTES), END_BYTES).ok()?;
    Some(NodeActivity { round, attempt, bytes, said_at, last_line: last_line(&end) })
}

/// The last line that says something. A carriage return begins a line anew,
/// as programs that show their progress use it.
fn last_line(end: &[u8]) -> String {
    let text = String::from_utf8_lossy(end);
    let lines = text.split(['\n', '\r']).map(str::trim);
    lines.rev().find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use durable::disk::RealDisk;

    #[test]
    fn the_last_line_is_the_last_that_says_something() {
        assert_eq!(last_line(b"one\ntwo\n\n  \n"), "two");
        assert_eq!(last_line(b"10%\r20%\r30%"), "30%");
        assert_eq!(last_line("\u{e9}".as_bytes().get(1..).unwrap()), "\u{fffd}");
        assert_eq!(last_line(b""), "");
    }

    #[test]
    fn a_file_tells_how_much_was_said_and_when() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.1.log");
        assert!(look(&RealDisk, &path, (Round::FIRST, 1), None).is_none());
        std::fs::write(&path, "").unwrap();
        let silent = look(&RealDisk, &path, (Round::FIRST, 1), None).unwrap();
        assert_eq!((silent.bytes, silent.said_at), (0, None));
        std::fs::write(&path, "x".repeat(5000) + "\nlast\n").unwrap();
        let spoke = look(&RealDisk, &path, (Round::FIRST, 1), Some(&silent)).unwrap();
        assert_eq!((spoke.bytes, &spoke.last_line[..]), (5006, "last"));
        assert!(spoke.said_at.is_some());
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        let path = folder.path().join("a.1.log");
        std::os::unix::fs::symlink(folder.path().join("secret"), &path).unwrap();
        assert!(look(&RealDisk, &path, (Round::FIRST, 1), None).is_none());
    }
}
