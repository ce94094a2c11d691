//! The runs of a home, a page at a time. The index says which come next; what
//! a row says is from the run itself, but for runs that have ended, which do
//! not change. Without a sound index all runs are gone through. Nothing is
//! written.

use durable::Timestamp;
use engine::{RunId, RunStatus};
use runstore::index::{self, Entry, Glance, Index, Key, OpenRuns, Unsound};
use runstore::{OpenError, RunPlace, Summary};

use crate::Host;
use crate::api::{Code, HostError, RunRow, RunsPage, RunsQuery};
use crate::library::store;
use crate::reading::open_fault;

/// What a row must be like.
struct Wanted<'a> {
    query: &'a RunsQuery,
    since: Option<Timestamp>,
    after: Option<Key>,
}

impl Host {
    /// The runs that are asked for, the newest first.
    pub fn list_runs(&self, query: &RunsQuery) -> Result<RunsPage, HostError> {
        let wanted = Wanted {
            query,
            since: query.since.map(|span| self.before(span)),
            after: query.after.as_deref().map(|text| self.cursor(text)).transpose()?,
        };
        if let Some(index) = self.index() {
            let may_have = |glance: &Glance<'_>| wanted.may_have(glance);
            let newest = index.newest(&*self.disk, wanted.after.as_ref(), &may_have);
            let newest = newest.map_err(|fault| store(&fault))?;
            if let Ok(page) = self.page(newest, &wanted)? {
                return Ok(page);
            }
        }
        let scanned = index::scan(&*self.disk, &self.home, wanted.after.as_ref());
        let scanned = scanned.map_err(|fault| store(&fault))?;
        Ok(self.page(scanned.into_iter().map(Ok), &wanted)?.unwrap_or_default())
    }

    /// All runs of the home, each looked into, the newest first.
    pub fn runs(&self) -> Result<Vec<RunRow>, HostError> {
        let places = runstore::list::all(&*self.disk, &self.home).map_err(|fault| store(&fault))?;
        let row = |place| self.row(place, runstore::list::summary(&*self.disk, place));
        places.iter().map(row).collect()
    }

    fn page(
        &self,
        runs: impl Iterator<Item = Result<(Key, Entry), Unsound>>,
        wanted: &Wanted<'_>,
    ) -> Result<Result<RunsPage, Unsound>, HostError> {
        let limit = wanted.query.limit.unwrap_or(usize::MAX);
        let mut page = RunsPage::default();
        let mut last = None;
        for run in runs {
            let (key, entry) = match run {
                Ok(run) => run,
                Err(unsound) => return Ok(Err(unsound)),
            };
            if wanted.since.is_some_and(|since| key.begun.is_none_or(|begun| begun < since)) {
                break;
            }
            if !wanted.may_have(&Glance::of(&entry)) {
                continue;
            }
            let Some(summary) = entry.summary(&*self.disk, &self.home).transpose() else {
                continue;
            };
            let row = self.row(&key.place, summary)?;
            if !wanted.has(row.status) {
                continue;
            }
            if page.rows.len() == limit {
                page.next = last.as_ref().map(Key::text);
                break;
            }
            page.rows.push(row);
            last = Some(key);
        }
        Ok(Ok(page))
    }

    fn row(
        &self,
        place: &RunPlace,
        summary: Result<Summary, OpenError>,
    ) -> Result<RunRow, HostError> {
        let mut row = RunRow {
            run_id: place.run.to_string(),
            short_id: short_id(&place.run).to_owned(),
            blueprint_id: place.blueprint.to_string(),
            status: None,
            reason: None,
            unknown_effect: false,
            failure: None,
            started_at: None,
            updated_at: None,
            asked_at: self.clock.now(),
            node_count: 0,
            run_dir: place.folder(),
            ownerless: false,
            fault: None,
        };
        let summary = match summary {
            Ok(summary) => summary,
            Err(fault) => return Ok(RunRow { fault: Some(open_fault(&fault).message), ..row }),
        };
        row.ownerless = !has_ended(summary.status) && !summary.parked && !self.is_owned(place)?;
        row.status = Some(summary.status);
        row.reason = summary.failure.as_ref().map(|failure| failure.reason);
        row.failure = summary.failure.map(|failure| failure.message);
        row.unknown_effect = summary.unknown_effect;
        row.node_count = summary.node_count;
        row.started_at = summary.started_at;
        row.updated_at = summary.updated_at;
        Ok(row)
    }

    /// The index, when there is a sound one.
    pub(crate) fn index(&self) -> Option<Index> {
        Index::open(&*self.disk, &self.home, &self.era()?)
    }

    /// The runs that go on, as a sound index has them.
    pub(crate) fn open_runs(&self) -> Option<OpenRuns> {
        OpenRuns::look(&*self.disk, &self.home, &self.era()?)
    }

    /// The same for one who may write: the index is made anew when it is not
    /// sound. No fault of it is a fault of the caller, who then looks at the
    /// runs.
    pub(crate) fn fresh_open_runs(&self) -> Option<OpenRuns> {
        index::refresh(&*self.disk, &self.home, &self.era()?, &*self.entropy).ok().flatten()
    }

    /// What an index counts in: this boot of the machine, since a loss of
    /// power takes what was not synced, and this folder, since a copy may
    /// have been made while runs went on.
    pub(crate) fn era(&self) -> Option<String> {
        self.processes.era(&self.home.runs())
    }

    pub(crate) fn before(&self, span: durable::Span) -> Timestamp {
        let ago = i64::try_from(span.millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.clock.now().millis().saturating_sub(ago))
    }

    fn cursor(&self, text: &str) -> Result<Key, HostError> {
        Key::read(text, &self.home).ok_or_else(|| {
            let shown: String = text.chars().take(100).collect();
            HostError::new(Code::InvalidRequest, format!("`{shown}` is no place in a listing"))
                .hint("take it from `next` of `wardian run list --json`")
        })
    }
}

impl Wanted<'_> {
    /// Whether the row may be wanted; a run that is open may have ended.
    fn may_have(&self, glance: &Glance<'_>) -> bool {
        let automation = self.query.automation.as_deref();
        automation.is_none_or(|id| id == glance.blueprint)
            && glance.status.is_none_or(|status| self.has(Some(status)))
    }

    fn has(&self, status: Option<RunStatus>) -> bool {
        let statuses = &self.query.statuses;
        statuses.is_empty() || status.is_some_and(|status| statuses.contains(&status))
    }
}

pub(crate) fn has_ended(status: RunStatus) -> bool {
    match status {
        RunStatus::Completed | RunStatus::Failed => true,
        RunStatus::Running | RunStatus::AwaitingApproval | RunStatus::Waiting => false,
    }
}

/// What people call a run: the eight digits of chance in its id, or the first
/// eight of a digest. Should ever two runs of a home have the same, both are
/// named to who asks.
pub(crate) fn short_id(run: &RunId) -> &str {
    const DIGITS: usize = 8;
    const OF_A_DIGEST: usize = 64;
    let is_drawn = |tail: &str| {
        [DIGITS, OF_A_DIGEST].contains(&tail.len())
            && tail.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    match run.as_str().rsplit_once('-') {
        Some((_, tail)) if is_drawn(tail) => &tail[..DIGITS],
        Some(_) | None => run.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_the_part_that_chance_made() {
        let cases = [
            ("1764500000000-0a1b2c3d", "0a1b2c3d"),
            ("listener-9f0a1b2c", "9f0a1b2c"),
            ("listener-3", "listener-3"),
            ("plain", "plain"),
            ("child-239f5b7ad0d4bef99a130d3ef0bf2e9949016634146ed31022cc6815e0a55133", "239f5b7a"),
        ];
        for (id, short) in cases {
            assert_eq!(short_id(&RunId::new(id).unwrap()), short);
        }
    }
}
