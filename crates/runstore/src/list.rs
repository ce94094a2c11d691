//! The runs of a home: all of them, one by the beginning of its id, and what
//! a listing says of each. Nothing is written, and no path is made of a text
//! that is not a safe name.

use std::cmp::Reverse;

use blueprint::BlueprintId;
use durable::disk::{Disk, DiskError, Kind};
use durable::{Component, ComponentError, Seq, Timestamp};
use engine::{RunId, RunState, RunStatus, Site, state::Failure};
use thiserror::Error;

use crate::layout::{Home, RunPlace};
use crate::limits;
use crate::open::{OpenError, read_checkpoint, replay};

/// What a query found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    One(RunPlace),
    None,
    /// More than one, of which the newest are listed.
    Many {
        places: Vec<RunPlace>,
        count: usize,
    },
}

/// Why a query was not asked.
#[derive(Debug, Error)]
pub enum FindError {
    #[error("`{query}` cannot be part of a run's id: {source}")]
    Query { query: String, source: ComponentError },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// What a listing says of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub place: RunPlace,
    pub status: RunStatus,
    /// Nothing in flight: without an owner it is well all the same.
    pub parked: bool,
    pub failure: Option<Failure>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub next_seq: Seq,
    /// Some attempt's effect is not known.
    pub unknown_effect: bool,
    /// Nodes that something happened to.
    pub node_count: usize,
    /// A write of the last owner was cut short.
    pub torn: bool,
    /// When something is due, though nobody does anything.
    pub wake_at: Option<Timestamp>,
    /// The runs that work for this one now.
    pub children: Vec<RunPlace>,
    /// The run that this one works for.
    pub parent: Option<RunPlace>,
    /// The length of the log.
    pub log_bytes: u64,
}

/// Every run, the newest first.
pub fn all(disk: &dyn Disk, home: &Home) -> Result<Vec<RunPlace>, DiskError> {
    newest_first(disk, places(disk, home)?)
}

/// The runs of one blueprint, the newest first.
pub fn of(
    disk: &dyn Disk,
    home: &Home,
    blueprint: &BlueprintId,
) -> Result<Vec<RunPlace>, DiskError> {
    newest_first(disk, places_of(disk, home, blueprint)?)
}

/// The run whose id, or the part of it after the last `-`, begins with
/// `query`. A whole id is that run, whatever else begins with it.
pub fn find(disk: &dyn Disk, home: &Home, query: &str) -> Result<Found, FindError> {
    if let Err(source) = Component::new(query) {
        return Err(not_a_query(query, source));
    }
    let mut matching = places(disk, home)?;
    matching.retain(|place| begins_with(place.run.as_str(), query));
    Ok(find_among(disk, matching, query)?)
}

/// The run that a query means among those whose ids begin with it.
pub(crate) fn find_among(
    disk: &dyn Disk,
    mut matching: Vec<RunPlace>,
    query: &str,
) -> Result<Found, DiskError> {
    if matching.iter().any(|place| place.run.as_str() == query) {
        matching.retain(|place| place.run.as_str() == query);
    }
    match matching.len() {
        0 => Ok(Found::None),
        1 => Ok(Found::One(matching.swap_remove(0))),
        count => {
            let mut places = newest_first(disk, matching)?;
            places.truncate(limits::MATCHES);
            Ok(Found::Many { places, count })
        }
    }
}

/// What a listing says of the run: from its checkpoint where that knows the
/// whole log, else from the log.
pub fn summary(disk: &dyn Disk, place: &RunPlace) -> Result<Summary, OpenError> {
    let saved = read_checkpoint(disk, place)?.unwrap_or_default();
    let log = disk.stat(&place.events())?.map(|stat| stat.bytes);
    if let Some(saved) = saved.filter(|saved| Some(saved.position.offset) == log) {
        return Ok(told(place, &saved.state, false, saved.position.offset));
    }
    let opened = replay(disk, place)?;
    let dropped = opened.torn.map_or(0, |torn| torn.dropped);
    let log_bytes = opened.position.offset.saturating_add(dropped);
    Ok(told(place, &opened.state, opened.torn.is_some(), log_bytes))
}

/// What a listing says of a run in this state.
pub(crate) fn told(place: &RunPlace, state: &RunState, torn: bool, log_bytes: u64) -> Summary {
    let closed = state.closed.as_ref();
    Summary {
        place: place.clone(),
        status: state.status(),
        parked: state.is_parked(),
        failure: closed.map_or(&state.failure, |closed| &closed.failure).clone(),
        started_at: state.started_at,
        updated_at: state.updated_at,
        next_seq: state.next_seq,
        unknown_effect: state.unknown_effect,
        node_count: state.nodes.len(),
        torn,
        log_bytes,
        wake_at: if closed.is_some() { None } else { state.wake_at() },
        children: state.children.keys().filter_map(|site| child(place, state, site)).collect(),
        parent: parent(place, state),
    }
}

fn child(place: &RunPlace, state: &RunState, site: &Site) -> Option<RunPlace> {
    let child = state.node(site)?.child.as_ref()?;
    Some(place.home.place(&child.automation, &child.run_id))
}

fn parent(place: &RunPlace, state: &RunState) -> Option<RunPlace> {
    let parent = state.started.as_ref()?.parent.as_ref()?;
    Some(place.home.place(&parent.blueprint_id, &parent.run_id))
}

pub(crate) fn not_a_query(query: &str, source: ComponentError) -> FindError {
    let query = query.chars().take(limits::SHOWN_CHARS).collect();
    FindError::Query { query, source }
}

pub(crate) fn begins_with(id: &str, query: &str) -> bool {
    let end = id.rsplit_once('-').map(|(_, end)| end);
    id.starts_with(query) || end.is_some_and(|end| end.starts_with(query))
}

/// The blueprints that have a folder, by name.
pub(crate) fn blueprints(disk: &dyn Disk, home: &Home) -> Result<Vec<BlueprintId>, DiskError> {
    let mut blueprints = Vec::new();
    if disk.stat(&home.runs())?.is_none() {
        return Ok(blueprints);
    }
    let names = disk.folders(&home.runs())?;
    blueprints.extend(names.iter().filter_map(|name| BlueprintId::new(name).ok()));
    Ok(blueprints)
}

pub(crate) fn places(disk: &dyn Disk, home: &Home) -> Result<Vec<RunPlace>, DiskError> {
    let mut places = Vec::new();
    for blueprint in blueprints(disk, home)? {
        places.extend(places_of(disk, home, &blueprint)?);
    }
    Ok(places)
}

pub(crate) fn places_of(
    disk: &dyn Disk,
    home: &Home,
    blueprint: &BlueprintId,
) -> Result<Vec<RunPlace>, DiskError> {
    let folder = home.runs_of(blueprint);
    let mut places = Vec::new();
    if disk.stat(&folder)?.map(|stat| stat.kind) != Some(Kind::Folder) {
        return Ok(places);
    }
    let runs = disk.folders(&folder)?;
    let runs = runs.iter().filter_map(|name| RunId::new(name).ok());
    places.extend(runs.map(|run| home.place(blueprint, &run)));
    Ok(places)
}

fn newest_first(disk: &dyn Disk, places: Vec<RunPlace>) -> Result<Vec<RunPlace>, DiskError> {
    let timed = places.into_iter().map(|place| Ok((begun(disk, &place)?, place)));
    let mut timed = timed.collect::<Result<Vec<_>, DiskError>>()?;
    timed.sort_by(|a, b| Reverse(a).cmp(&Reverse(b)));
    Ok(timed.into_iter().map(|(_, place)| place).collect())
}

/// When the run began: its id says it, or else its first line.
pub(crate) fn begun(disk: &dyn Disk, place: &RunPlace) -> Result<Option<Timestamp>, DiskError> {
    if let Some(begun) = begun_of_id(place.run.as_str()) {
        return Ok(Some(begun));
    }
    if disk.stat(&place.events())?.is_none() {
        return Ok(None);
    }
    let line = disk.read_from(&place.events(), 0, limits::HEAD_BYTES)?;
    let line = String::from_utf8_lossy(&line);
    let after = line.split_once("\"ts\":\"").map(|(_, rest)| rest);
    Ok(after.and_then(|rest| rest.split('"').next()).and_then(|text| text.parse().ok()))
}

/// The time that stands in an id.
pub(crate) fn begun_of_id(run: &str) -> Option<Timestamp> {
    let head = run.split('-').next().unwrap_or_default();
    let is_time = head.len() == MILLIS_DIGITS && head.bytes().all(|byte| byte.is_ascii_digit());
    is_time.then(|| head.parse().ok()).flatten().map(Timestamp::from_millis)
}

/// Digits of a time in milliseconds, from 2001 to 2286.
const MILLIS_DIGITS: usize = 13;
