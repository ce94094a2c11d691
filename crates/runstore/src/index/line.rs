//! The bytes of `.index.jsonl`: a header, then one small JSON object a line
//! for the birth or for the end of a run. Each line but the header begins
//! with the line feed, so that one that was cut short spoils no other, and
//! ends with a checksum of its own. Times are milliseconds since 1970: tens
//! of thousands of lines are read for one page. Pure.

use std::borrow::Cow;

use blueprint::BlueprintId;
use durable::version::{Access, Format};
use durable::{Seq, Timestamp};
use engine::state::Failure;
use engine::{FailReason, RunId, RunStatus, Site};
use serde::{Deserialize, Serialize};

use crate::layout::{Home, RunPlace};
use crate::limits;
use crate::list::{Summary, begun_of_id};

/// The version of the index. An index of any other one is made anew.
pub(crate) const FORMAT: Format = Format { major: 1, minor: 0 };

/// The first line. No two are the same, so that it names one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: Format,
    pub(crate) salt: String,
    /// Within one era no line that was written can have been lost.
    pub(crate) era: String,
    /// Bytes behind this line that hold ended runs only, one line each, the
    /// oldest first. What follows came later.
    pub(crate) sorted: u64,
}

/// What the index knows of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub blueprint: BlueprintId,
    pub run: RunId,
    /// The end of the run, if the index knows of it. It was in the log first,
    /// and a run that has ended does not change.
    pub end: Option<End>,
    /// A birth without a run that an earlier rebuilding has kept.
    pub(crate) again: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub status: RunStatus,
    pub failure: Option<Failure>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub unknown_effect: bool,
    pub node_count: usize,
    pub next_seq: Seq,
    /// The length of the whole log. Another one makes the line void.
    pub log_bytes: u64,
    /// The run that this one worked for.
    pub parent: Option<(BlueprintId, RunId)>,
    /// Not all that a listing says has room in a line.
    pub is_partial: bool,
}

/// What a look at the beginning of a line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance<'a> {
    pub run: &'a str,
    pub blueprint: &'a str,
    /// How the run ended, if it has.
    pub status: Option<RunStatus>,
}

#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    #[serde(borrow)]
    run: Cow<'a, str>,
    #[serde(borrow)]
    of: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "is_false")]
    again: bool,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    end: Option<StoredEnd<'a>>,
}

#[derive(Serialize, Deserialize)]
struct StoredEnd<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    node: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    message: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<i64>,
    #[serde(default, skip_serializing_if = "is_false")]
    unknown: bool,
    nodes: usize,
    events: u64,
    bytes: u64,
    #[serde(default, rename = "for", borrow, skip_serializing_if = "Option::is_none")]
    parent: Option<(Cow<'a, str>, Cow<'a, str>)>,
    #[serde(default, skip_serializing_if = "is_false")]
    more: bool,
}

const RUN: &[u8] = b"{\"run\":\"";
const OF: &[u8] = b",\"of\":\"";
const STATUS: &[u8] = b",\"end\":{\"status\":\"";
const SUM: &[u8] = b",\"sum\":\"";
/// Bytes of `,"sum":"<8 hex>"}`.
const SUM_BYTES: usize = SUM.len() + 8 + 2;

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        json(self)
    }

    /// The header at the beginning of `bytes`, and how long it is. One that
    /// this program may not go on with is none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let line = first_line(bytes);
        let header: Self = serde_json::from_slice(line).ok()?;
        match FORMAT.access(header.format) {
            Access::ReadWrite => Some((header, line.len())),
            Access::ReadOnly | Access::TooNew => None,
        }
    }
}

impl Entry {
    /// A run that began and of which nothing else is known.
    pub fn born(place: &RunPlace) -> Self {
        let (blueprint, run) = (place.blueprint.clone(), place.run.clone());
        Self { blueprint, run, end: None, again: false }
    }

    /// A run as its log has it. One that goes on may be otherwise the next
    /// moment, so that of it only the birth is kept.
    pub fn of(summary: &Summary) -> Self {
        let ended = matches!(summary.status, RunStatus::Completed | RunStatus::Failed);
        let end = (ended && !summary.torn).then(|| End::of(summary));
        Self { end, ..Self::born(&summary.place) }
    }

    pub fn place(&self, home: &Home) -> RunPlace {
        home.place(&self.blueprint, &self.run)
    }

    /// When the run began, where that needs no look at its log.
    pub fn begun(&self) -> Option<Timestamp> {
        let end = || self.end.as_ref().and_then(|end| end.started_at.or(end.updated_at));
        begun_of_id(self.run.as_str()).or_else(end)
    }

    /// The line, with the line feed before it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let stored = Stored {
            run: self.run.as_str().into(),
            of: self.blueprint.as_str().into(),
            again: self.again,
            end: self.end.as_ref().map(StoredEnd::of),
        };
        let mut line = json(&stored);
        assert_eq!(line.pop(), Some(b'}'), "an entry is a JSON object");
        let sum = checksum(&line);
        line.extend_from_slice(SUM);
        line.extend_from_slice(format!("{sum:08x}\"}}").as_bytes());
        line.insert(0, b'\n');
        line
    }

    /// The entry in a line without line feeds, if its checksum is right.
    pub(crate) fn decode(line: &[u8]) -> Option<Self> {
        if !is_sound(line) {
            return None;
        }
        let stored: Stored<'_> = serde_json::from_slice(line).ok()?;
        let end = match stored.end {
            Some(end) => Some(end.end()?),
            None => None,
        };
        let blueprint = BlueprintId::new(&stored.of).ok()?;
        Some(Self { blueprint, run: RunId::new(&stored.run).ok()?, end, again: stored.again })
    }
}

impl<'a> Glance<'a> {
    /// Looks at a line, if its checksum is right.
    pub(crate) fn at(line: &'a [u8]) -> Option<Self> {
        let (run, rest) = word(line, RUN)?;
        let (blueprint, rest) = word(rest, OF)?;
        let status = match word(rest, STATUS) {
            Some((status, _)) => Some(RunStatus::from_word(status)?),
            None => None,
        };
        is_sound(line).then_some(Self { run, blueprint, status })
    }

    pub fn of(entry: &'a Entry) -> Self {
        Self {
            run: entry.run.as_str(),
            blueprint: entry.blueprint.as_str(),
            status: entry.end.as_ref().map(|end| end.status),
        }
    }
}

impl End {
    fn of(summary: &Summary) -> Self {
        let message = summary.failure.as_ref().map_or(0, |failure| failure.message.len());
        let is_partial = message > limits::INDEX_MESSAGE_BYTES || !summary.children.is_empty();
        let failure = summary.failure.clone().map(|failure| match is_partial {
            true => Failure { message: String::new(), ..failure },
            false => failure,
        });
        let parent = summary.parent.as_ref();
        Self {
            status: summary.status,
            failure,
            started_at: summary.started_at,
            updated_at: summary.updated_at,
            unknown_effect: summary.unknown_effect,
            node_count: summary.node_count,
            next_seq: summary.next_seq,
            log_bytes: summary.log_bytes,
            parent: parent.map(|parent| (parent.blueprint.clone(), parent.run.clone())),
            is_partial,
        }
    }

    /// What a listing says of the run, when all of it stands here.
    pub(crate) fn summary(&self, place: RunPlace) -> Option<Summary> {
        let parent = self.parent.as_ref();
        (!self.is_partial).then(|| Summary {
            parent: parent.map(|(blueprint, run)| place.home.place(blueprint, run)),
            place,
            status: self.status,
            parked: false,
            failure: self.failure.clone(),
            started_at: self.started_at,
            updated_at: self.updated_at,
            next_seq: self.next_seq,
            unknown_effect: self.unknown_effect,
            node_count: self.node_count,
            torn: false,
            log_bytes: self.log_bytes,
            // A run that has ended waits for nothing.
            wake_at: None,
            children: Vec::new(),
        })
    }
}

impl<'a> StoredEnd<'a> {
    fn of(end: &'a End) -> Self {
        let failure = end.failure.as_ref();
        let node = failure.and_then(|failure| failure.node.as_ref());
        let message = failure.filter(|_| !end.is_partial);
        Self {
            status: end.status.word().into(),
            reason: failure.map(|failure| failure.reason.word().into()),
            node: node.map(|node| node.to_string().into()),
            message: message.map(|failure| failure.message.as_str().into()),
            started: end.started_at.map(Timestamp::millis),
            updated: end.updated_at.map(Timestamp::millis),
            unknown: end.unknown_effect,
            nodes: end.node_count,
            events: end.next_seq.0,
            bytes: end.log_bytes,
            parent: end.parent.as_ref().map(|(of, run)| (of.as_str().into(), run.as_str().into())),
            more: end.is_partial,
        }
    }

    fn end(self) -> Option<End> {
        let failure = match self.reason {
            Some(reason) => Some(Failure {
                reason: FailReason::from_word(&reason)?,
                node: self.node.map(|node| Site::parse(&node)),
                message: self.message.unwrap_or_default().into_owned(),
            }),
            None => None,
        };
        Some(End {
            status: RunStatus::from_word(&self.status)?,
            failure,
            started_at: self.started.map(Timestamp::from_millis),
            updated_at: self.updated.map(Timestamp::from_millis),
            unknown_effect: self.unknown,
            node_count: self.nodes,
            next_seq: Seq(self.events),
            log_bytes: self.bytes,
            parent: match self.parent {
                Some((of, run)) => Some((BlueprintId::new(&of).ok()?, RunId::new(&run).ok()?)),
                None => None,
            },
            is_partial: self.more,
        })
    }
}

/// The id in a line that may be anything; it is not verified.
pub(crate) fn run_of(line: &[u8]) -> Option<&str> {
    word(line, RUN).map(|(run, _)| run)
}

/// The word behind `before`, and what follows it. A word needs no escapes.
fn word<'a>(text: &'a [u8], before: &[u8]) -> Option<(&'a str, &'a [u8])> {
    let rest = text.strip_prefix(before)?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    Some((std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
}

fn is_sound(line: &[u8]) -> bool {
    let Some(cut) = line.len().checked_sub(SUM_BYTES) else { return false };
    let (content, sum) = line.split_at(cut);
    let sum = sum.strip_prefix(SUM).and_then(|sum| sum.strip_suffix(b"\"}"));
    let sum = sum.and_then(|sum| u32::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok());
    sum == Some(checksum(content))
}

pub(crate) fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// FNV-1a of 64 bits, taken over words of eight bytes and folded in two: it
/// notices an accident, and is little work for lines by the hundred thousand.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3);
        sum ^= sum >> 32;
    }
    let [a, b, c, d, ..] = sum.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

fn is_false(value: &bool) -> bool {
    !value
}

fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and numbers can be written to memory")
}
