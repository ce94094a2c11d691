//! Which runs may go, and their going. Only runs that have ended are ever
//! removed, and none that an open run needs: one whose past it goes on from,
//! which its worker may still have to read, one that works for it and of
//! whose end it may not have taken notice, and one that it works for. All
//! other runs have what they took over from others in their own logs.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::BlueprintId;
use durable::Timestamp;
use engine::RunId;
use runstore::index::{self, Believe, Entry};
use runstore::{Invocation, PruneError, RunPlace, Summary, limits, prune};

use crate::Host;
use crate::api::{Code, HostError, LeftRun, PrunePlan, PruneQuery, PruneRow, Pruned};
use crate::library::store;
use crate::listing::has_ended;
use crate::reading::open_fault;

impl Host {
    /// The runs that a prune would remove, the newest first. Nothing is
    /// changed.
    pub fn prune_plan(&self, query: &PruneQuery) -> Result<PrunePlan, HostError> {
        refuse_everything(query)?;
        let (mut ended, mut needed) = (Vec::new(), BTreeSet::new());
        for entry in self.entries()? {
            match entry.summary(&*self.disk, &self.home) {
                Ok(Some(summary)) if has_ended(summary.status) => ended.push(summary),
                Ok(Some(open)) => {
                    needed.extend(open.children.iter().chain(&open.parent).map(id));
                    needed.extend(self.past_of(&open.place));
                }
                // One that cannot be read may be open.
                Err(_) => needed.extend(self.past_of(&entry.place(&self.home))),
                Ok(None) => {}
            }
        }
        let before = query.older_than.map(|span| self.before(span));
        let mut plan = PrunePlan::default();
        for summary in chosen(ended, query, before) {
            let run = summary.place.run.to_string();
            if needed.contains(&run) {
                let why = "an open run needs it".to_owned();
                plan.left.push(LeftRun { run_id: run, why });
                continue;
            }
            if self.keeps_worktree(&summary.place) {
                let why = format!("its worktree is kept; `wardian worktree remove {run}` first");
                plan.left.push(LeftRun { run_id: run, why });
                continue;
            }
            let bytes = prune::bytes(&*self.disk, &summary.place).map_err(|fault| store(&fault))?;
            plan.rows.push(PruneRow {
                run_id: run,
                blueprint_id: summary.place.blueprint.to_string(),
                status: summary.status,
                ended_at: summary.updated_at,
                bytes,
            });
        }
        Ok(plan)
    }

    /// Removes the runs of a plan. One that someone has, or that has changed,
    /// is left; so is nothing half.
    pub fn prune(&self, plan: &PrunePlan) -> Result<Pruned, HostError> {
        self.refuse_managed_caller("prune runs")?;
        let mut pruned = Pruned { rows: Vec::new(), left: plan.left.clone() };
        for row in &plan.rows {
            let Some(place) = self.place_of(row) else { continue };
            match prune::remove(&*self.disk, &place, &*self.entropy) {
                Ok(()) => pruned.rows.push(row.clone()),
                Err(fault) => {
                    let why = prune_fault(&fault).message;
                    pruned.left.push(LeftRun { run_id: row.run_id.clone(), why });
                }
            }
        }
        self.rebuild_index(Believe::Ends)?;
        Ok(pruned)
    }

    /// Makes the index anew, and sweeps what crashes have left beside the
    /// runs.
    pub(crate) fn rebuild_index(&self, believe: Believe) -> Result<Option<usize>, HostError> {
        let era = self.era().unwrap_or_default();
        let rebuilt = index::rebuild(&*self.disk, &self.home, &era, &*self.entropy, believe);
        rebuilt.map_err(|fault| store(&fault))
    }

    /// All runs, the newest first, and what the index knows of them.
    fn entries(&self) -> Result<Vec<Entry>, HostError> {
        if let Some(index) = self.index() {
            let newest =
                index.newest(&*self.disk, None, &|_| true).map_err(|fault| store(&fault))?;
            let entries: Result<Vec<Entry>, _> =
                newest.map(|run| run.map(|(_, run)| run)).collect();
            if let Ok(entries) = entries {
                return Ok(entries);
            }
        }
        let runs = index::scan(&*self.disk, &self.home, None).map_err(|fault| store(&fault))?;
        Ok(runs.into_iter().map(|(_, entry)| entry).collect())
    }

    fn place_of(&self, row: &PruneRow) -> Option<RunPlace> {
        let blueprint = BlueprintId::new(&row.blueprint_id).ok()?;
        Some(self.home.place(&blueprint, &RunId::new(&row.run_id).ok()?))
    }

    /// The run that this one tries again, or from whose past it goes on.
    fn past_of(&self, place: &RunPlace) -> Option<String> {
        let bytes = self.disk.read(&place.invocation_json(), limits::INVOCATION_BYTES).ok()?;
        let invocation = Invocation::decode(&bytes).ok()?;
        let retry = invocation.retry.map(|retry| retry.run_id);
        retry.or_else(|| Some(invocation.fork?.run_id))
    }
}

/// A prune must say what it is after.
fn refuse_everything(query: &PruneQuery) -> Result<(), HostError> {
    let PruneQuery { older_than, keep_last, statuses, automation } = query;
    let hint = "say --older-than 30d, --keep-last N, --status failed or --automation ID";
    if older_than.is_none() && keep_last.is_none() && statuses.is_empty() && automation.is_none() {
        let message = "nothing says which runs are to go";
        return Err(HostError::new(Code::InvalidRequest, message).hint(hint));
    }
    match statuses.iter().find(|status| !has_ended(**status)) {
        Some(status) => {
            let message = format!("a run that is {} has not ended, so it stays", status.word());
            Err(HostError::new(Code::InvalidRequest, message)
                .hint("`wardian run cancel ID` ends a run; --status takes completed and failed"))
        }
        None => Ok(()),
    }
}

/// Of ended runs, the newest first, those that are to go. All that was said
/// must hold; the last runs are counted for each automation by itself, and
/// among runs of the wanted statuses.
fn chosen(
    ended: Vec<Summary>,
    query: &PruneQuery,
    before: Option<Timestamp>,
) -> impl Iterator<Item = Summary> {
    let PruneQuery { keep_last, statuses, automation, .. } = query.clone();
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    ended.into_iter().filter(move |run| {
        let id = run.place.blueprint.as_str();
        let is_meant = automation.as_deref().is_none_or(|automation| automation == id)
            && (statuses.is_empty() || statuses.contains(&run.status));
        if !is_meant {
            return false;
        }
        if let Some(keep) = keep_last {
            let kept = kept.entry(id.to_owned()).or_default();
            if *kept < keep {
                *kept += 1;
                return false;
            }
        }
        before.is_none_or(|before| run.updated_at.is_some_and(|ended| ended < before))
    })
}

fn id(place: &RunPlace) -> String {
    place.run.to_string()
}

fn prune_fault(fault: &PruneError) -> HostError {
    match fault {
        PruneError::Owned(_) => HostError::new(Code::RunBusy, fault.to_string()),
        PruneError::Open(_) => HostError::new(Code::RunOpen, fault.to_string()),
        PruneError::Read(fault) => open_fault(fault),
        PruneError::Disk(fault) => store(fault),
    }
}

#[cfg(test)]
mod tests {
    use durable::{Seq, Span};
    use engine::RunStatus;
    use runstore::Home;

    use super::*;

    fn run(id: &str, of: &str, status: RunStatus, ended: i64) -> Summary {
        let place =
            Home::at("/h".into()).place(&BlueprintId::new(of).unwrap(), &RunId::new(id).unwrap());
        Summary {
            place,
            status,
            parked: false,
            failure: None,
            started_at: None,
            updated_at: Some(Timestamp::from_millis(ended)),
            next_seq: Seq(2),
            unknown_effect: false,
            node_count: 1,
            torn: false,
            log_bytes: 1,
            wake_at: None,
            children: Vec::new(),
            parent: None,
        }
    }

    fn gone(query: &PruneQuery) -> String {
        use RunStatus::{Completed, Failed};
        let ended = vec![
            run("f", "b", Completed, 60),
            run("e", "a", Failed, 50),
            run("d", "a", Completed, 40),
            run("c", "b", Completed, 30),
            run("b", "a", Failed, 20),
            run("a", "a", Completed, 10),
        ];
        let now = Timestamp::from_millis(100);
        let ago = |span: Span| {
            Timestamp::from_millis(now.millis() - i64::try_from(span.millis()).unwrap())
        };
        let before = query.older_than.map(ago);
        chosen(ended, query, before).map(|run| run.place.run.to_string()).collect()
    }

    #[test]
    fn what_goes_is_all_that_was_said() {
        let all = PruneQuery::default;
        let older = Some(Span::from_millis(65));
        let failed = vec![RunStatus::Failed];
        let a = Some("a".to_owned());
        let cases = [
            (PruneQuery { older_than: older, ..all() }, "cba"),
            (PruneQuery { keep_last: Some(1), ..all() }, "dcba"),
            (PruneQuery { keep_last: Some(0), ..all() }, "fedcba"),
            (PruneQuery { statuses: failed.clone(), ..all() }, "eb"),
            (PruneQuery { statuses: failed, keep_last: Some(1), ..all() }, "b"),
            (PruneQuery { automation: a.clone(), ..all() }, "edba"),
            (PruneQuery { automation: a, keep_last: Some(2), older_than: older, ..all() }, "ba"),
            (PruneQuery { older_than: Some(Span::from_millis(1000)), ..all() }, ""),
        ];
        for (query, want) in cases {
            assert_eq!(gone(&query), want, "{query:?}");
        }
    }

    #[test]
    fn a_prune_of_everything_or_of_what_is_open_is_refused() {
        assert!(refuse_everything(&PruneQuery::default()).is_err());
        let open = PruneQuery { statuses: vec![RunStatus::Waiting], ..PruneQuery::default() };
        assert!(refuse_everything(&open).is_err());
        let last = PruneQuery { keep_last: Some(0), ..PruneQuery::default() };
        assert!(refuse_everything(&last).is_ok());
    }
}
