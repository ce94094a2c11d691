//! Reading runs: listing, showing, time travel, replay, verification. Reads
//! come from the files alone, work with nobody running, and never write.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use blueprint::{BlueprintId, Program};
use durable::tail::{End, Trust};
use durable::{Seq, limits};
use engine::view::RunView;
use engine::{RunId, RunState, RunStatus, checkpoint};
use runstore::list::FindError;
use runstore::verify::FileCheck;
use runstore::{CheckpointUse, Found, Invocation, OpenError, Opened, RunPlace};
use serde_json::json;

use crate::Host;
use crate::api::VerifyReport;
use crate::api::{Code, HostError, OutputLog, ReplayReport, RunNames, RunReport, RunRow};
use crate::library::store;

impl Host {
    /// All runs of the home, the newest first.
    pub fn runs(&self) -> Result<Vec<RunRow>, HostError> {
        let places = runstore::list::all(&*self.disk, &self.home).map_err(|fault| store(&fault))?;
        let short = short_ids(&places);
        let mut rows = Vec::with_capacity(places.len());
        for place in &places {
            rows.push(self.row(place, short.get(&place.run))?);
        }
        Ok(rows)
    }

    /// What a run is called. It is not opened.
    pub fn names(&self, query: &str) -> Result<RunNames, HostError> {
        self.names_of(&self.find(query)?)
    }

    /// One run as it is now.
    pub fn show(&self, query: &str) -> Result<RunReport, HostError> {
        let place = self.find(query)?;
        let opened = self.opened(&place)?;
        let ownerless =
            opened.state.closed.is_none() && !opened.state.is_parked() && !self.is_owned(&place)?;
        let torn = opened.torn.map_or(0, |torn| torn.dropped);
        let state = opened.state.clone();
        self.report(&place, &opened, &state, ownerless, torn)
    }

    /// One run as it was just after event `seq`, from that and the events
    /// before it alone.
    pub fn view_at(&self, query: &str, seq: u64) -> Result<RunReport, HostError> {
        let place = self.find(query)?;
        let opened = self.opened(&place)?;
        let last = opened.position.next_seq.0;
        if seq >= last {
            let message = format!(
                "run {} has {last} events, numbered from 0; there is no event {seq}",
                place.run
            );
            return Err(HostError::new(Code::InvalidRequest, message)
                .hint(format!("`wardian run events {}` lists them", place.run)));
        }
        let state = runstore::read::state_at(&*self.disk, &place, Seq(seq));
        let state = state.map_err(|fault| open_fault(&fault))?;
        self.report(&place, &opened, &state, false, 0)
    }

    /// The lines of the log as they stand, from event `from` on, until the
    /// sink has had enough.
    pub fn events(
        &self,
        query: &str,
        from: u64,
        sink: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), HostError> {
        let place = self.find(query)?;
        let lines = runstore::read::each_line(&*self.disk, &place, |seq, line| {
            if seq.0 < from || sink(line) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        lines.map(drop).map_err(|fault| open_fault(&fault))
    }

    /// What attempts said while they worked, in the order of their names.
    pub fn output(&self, query: &str, node: Option<&str>) -> Result<Vec<OutputLog>, HostError> {
        let place = self.find(query)?;
        if let (Some(node), Some(program)) = (node, self.program_of(&place))
            && program.node_ix(&blueprint::NodeId::new(node)).is_none()
        {
            return Err(HostError::new(
                Code::NodeNotFound,
                format!("the run has no node `{node}`"),
            )
            .hint(format!("`wardian run show {}` lists its nodes", place.run)));
        }
        let folder = place.output();
        if self.disk.stat(&folder).map_err(|fault| store(&fault))?.is_none() {
            return Ok(Vec::new());
        }
        let mut logs = Vec::new();
        for name in self.disk.list(&folder).map_err(|fault| store(&fault))? {
            let Some((of, attempt)) = output_name(&name) else { continue };
            if node.is_some_and(|node| node != of) {
                continue;
            }
            let limit = 2 * limits::CAPTURE_BYTES as u64;
            let bytes =
                self.disk.read(&folder.join(&name), limit).map_err(|fault| store(&fault))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            logs.push(OutputLog { node: of.to_owned(), attempt, text });
        }
        Ok(logs)
    }

    /// Folds the whole log and says what it gives.
    pub fn replay(&self, query: &str) -> Result<ReplayReport, HostError> {
        let place = self.find(query)?;
        let opened = self.opened(&place)?;
        let state = runstore::read::state_at(&*self.disk, &place, Seq(u64::MAX));
        let state = state.map_err(|fault| open_fault(&fault))?;
        let program = self.program_of(&place);
        Ok(ReplayReport {
            run_id: place.run.to_string(),
            events: state.next_seq.0,
            view: view(program.as_ref(), &state),
            state_digest: state_digest(&state),
            checkpoint_agrees: match opened.checkpoint {
                CheckpointUse::Absent => None,
                CheckpointUse::Used { .. } => Some(opened.state == state),
                CheckpointUse::Passed(_) => Some(false),
            },
        })
    }

    /// Checks everything of a run that can be checked; changes nothing.
    pub fn verify(&self, query: &str) -> Result<VerifyReport, HostError> {
        let place = self.find(query)?;
        let report = runstore::verify(&*self.disk, &place).map_err(|fault| open_fault(&fault))?;
        let (mut damages, mut notes) = (Vec::new(), Vec::new());
        match &report.end {
            End::Clean => {}
            End::Torn { keep, dropped, why } => {
                let text = format!(
                    "events.jsonl: a write was cut short ({why}): {dropped} bytes behind byte {keep}"
                );
                // A live owner may be in the middle of a write.
                if self.is_owned(&place)? { notes.push(text) } else { damages.push(text) }
            }
            End::Damaged { .. } => damages.push(format!("events.jsonl: {}", describe(&report.end))),
        }
        damages.extend(report.fault.iter().map(ToString::to_string));
        for (name, check) in &report.files {
            match check {
                FileCheck::Good => {}
                FileCheck::Unproven => {
                    notes.push(format!("{name}: nothing tells what it should be"));
                }
                FileCheck::Bad(why) => damages.push(format!("{name}: {why}")),
            }
        }
        let unverified = report.trust == Trust::Unverified;
        if unverified {
            notes.push("the log carries no hashes: it was not written by this program".to_owned());
        }
        Ok(VerifyReport {
            run_id: place.run.to_string(),
            ok: damages.is_empty(),
            events: report.events,
            witnessed: report.witnessed.map(|seq| seq.0),
            unverified,
            damages,
            notes,
        })
    }

    /// The run that a person means.
    pub(crate) fn find(&self, query: &str) -> Result<RunPlace, HostError> {
        let list = "`wardian run list` shows the runs of this home";
        match runstore::list::find(&*self.disk, &self.home, query) {
            Ok(Found::One(place)) => Ok(place),
            Ok(Found::None) => {
                Err(HostError::new(Code::RunNotFound, format!("no run begins with `{query}`"))
                    .hint(list))
            }
            Ok(Found::Many { places, count }) => {
                let ids: Vec<&str> = places.iter().map(|place| place.run.as_str()).collect();
                let message =
                    format!("`{query}` is the beginning of {count} runs: {}", ids.join(", "));
                Err(HostError::new(Code::AmbiguousRun, message)
                    .hint("type more of the id")
                    .details(json!({ "runs": ids, "count": count })))
            }
            Err(fault @ FindError::Query { .. }) => {
                Err(HostError::new(Code::InvalidId, fault.to_string()).hint(list))
            }
            Err(fault @ FindError::Disk(_)) => Err(store(&fault)),
        }
    }

    /// The run that a folder holds.
    pub(crate) fn place_of_folder(&self, folder: &Path) -> Result<RunPlace, HostError> {
        let name = |path: Option<&Path>| path?.file_name()?.to_str().map(str::to_owned);
        let run = name(Some(folder)).and_then(|name| RunId::new(&name).ok());
        let blueprint = name(folder.parent()).and_then(|name| BlueprintId::new(&name).ok());
        let place = run.zip(blueprint).map(|(run, blueprint)| self.home.place(&blueprint, &run));
        place.filter(|place| place.folder() == folder).ok_or_else(|| {
            let message = format!(
                "{} is not the folder of a run in {}",
                folder.display(),
                self.home.path().display()
            );
            HostError::new(Code::InvalidRequest, message)
                .hint("a worker is started by wardian itself")
        })
    }

    pub(crate) fn opened(&self, place: &RunPlace) -> Result<Opened, HostError> {
        runstore::open(&*self.disk, place).map_err(|fault| open_fault(&fault))
    }

    pub(crate) fn is_owned(&self, place: &RunPlace) -> Result<bool, HostError> {
        runstore::lock::is_owned(&*self.disk, place).map_err(|fault| store(&fault))
    }

    /// The graph that the run keeps, if it can be read.
    pub(crate) fn program_of(&self, place: &RunPlace) -> Option<Program> {
        let limit = 8 * limits::BLUEPRINT_BYTES as u64;
        let bytes = self.disk.read(&place.blueprint_json(), limit).ok()?;
        Program::from_snapshot(&bytes).ok()
    }

    fn row(&self, place: &RunPlace, short: Option<&String>) -> Result<RunRow, HostError> {
        let mut row = RunRow {
            run_id: place.run.to_string(),
            short_id: short.cloned().unwrap_or_else(|| place.run.to_string()),
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
        let summary = match runstore::list::summary(&*self.disk, place) {
            Ok(summary) => summary,
            Err(fault) => return Ok(RunRow { fault: Some(open_fault(&fault).message), ..row }),
        };
        let closed = matches!(summary.status, RunStatus::Completed | RunStatus::Failed);
        row.ownerless = !closed && !summary.parked && !self.is_owned(place)?;
        row.status = Some(summary.status);
        row.reason = summary.failure.as_ref().map(|failure| failure.reason);
        row.failure = summary.failure.map(|failure| failure.message);
        row.unknown_effect = summary.unknown_effect;
        row.node_count = summary.node_count;
        row.started_at = summary.started_at;
        row.updated_at = summary.updated_at;
        Ok(row)
    }

    fn names_of(&self, place: &RunPlace) -> Result<RunNames, HostError> {
        let places = runstore::list::all(&*self.disk, &self.home).map_err(|fault| store(&fault))?;
        let short = short_ids(&places).remove(&place.run);
        Ok(RunNames {
            run_id: place.run.to_string(),
            short_id: short.unwrap_or_else(|| place.run.to_string()),
            blueprint_id: place.blueprint.to_string(),
            run_dir: place.folder(),
        })
    }

    fn report(
        &self,
        place: &RunPlace,
        opened: &Opened,
        state: &RunState,
        ownerless: bool,
        torn_bytes: u64,
    ) -> Result<RunReport, HostError> {
        let RunNames { run_id, short_id, blueprint_id, run_dir } = self.names_of(place)?;
        let retried = runstore::retries::list(&*self.disk, place).map_err(|fault| store(&fault))?;
        let invocation =
            opened.invocation.as_deref().and_then(|bytes| Invocation::decode(bytes).ok());
        Ok(RunReport {
            view: view(self.program_of(place).as_ref(), state),
            run_id,
            short_id,
            blueprint_id,
            run_dir,
            workspace: invocation.and_then(|invocation| invocation.workspace),
            ownerless,
            unverified: opened.trust == Trust::Unverified,
            torn_bytes,
            retried_as: retried.iter().map(ToString::to_string).collect(),
        })
    }
}

/// A run as people see it, also when its graph is lost.
pub(crate) fn view(program: Option<&Program>, state: &RunState) -> RunView {
    match program {
        Some(program) => RunView::of(program, state),
        None => RunView::without_program(state),
    }
}

pub(crate) fn open_fault(fault: &OpenError) -> HostError {
    let error = |code| HostError::from_fault(code, "the run cannot be read", fault);
    match fault {
        OpenError::NoRun { .. } => {
            error(Code::RunNotFound).hint("`wardian run list` shows the runs of this home")
        }
        OpenError::Line { .. }
        | OpenError::Damaged { .. }
        | OpenError::Illegal { .. }
        | OpenError::OtherRun { .. } => {
            error(Code::DamagedLog).hint("`wardian run verify ID` says how far the log is good")
        }
        OpenError::Changed { .. } | OpenError::Lost { .. } => error(Code::ChangedGraph)
            .hint("put the file back as it was; `wardian run verify ID` names what changed"),
        OpenError::Disk(_) => store(fault),
    }
}

/// For each run the shortest text, of at least four characters, that names
/// it: a beginning of what stands after the last `-` of its id.
fn short_ids(places: &[RunPlace]) -> BTreeMap<RunId, String> {
    const SHORTEST: usize = 4;
    let tail = |run: &RunId| run.as_str().rsplit('-').next().unwrap_or_default().to_owned();
    let mut all: Vec<(String, &RunId)> =
        places.iter().map(|place| (tail(&place.run), &place.run)).collect();
    all.sort();
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let heads =
        |text: &str| places.iter().filter(|place| place.run.as_str().starts_with(text)).count();
    let mut short = BTreeMap::new();
    for (at, (text, run)) in all.iter().enumerate() {
        let before = at
            .checked_sub(1)
            .and_then(|at| all.get(at))
            .map_or(0, |(other, _)| common(other, text));
        let after = all.get(at + 1).map_or(0, |(other, _)| common(other, text));
        let length = before.max(after).saturating_add(1).max(SHORTEST).min(text.len());
        let candidate = &text[..length];
        let unique = before.max(after) < length && heads(candidate) == 0;
        let name = if unique { candidate.to_owned() } else { run.to_string() };
        short.insert((*run).clone(), name);
    }
    short
}

/// `<node>.<attempt>.log`
fn output_name(name: &str) -> Option<(&str, u64)> {
    let (node, attempt) = name.strip_suffix(".log")?.rsplit_once('.')?;
    Some((node, attempt.parse().ok()?))
}

fn state_digest(state: &RunState) -> String {
    let stored = serde_json::to_value(checkpoint::to_stored(state));
    stored.map_or_else(|_| String::new(), |value| durable::canon::digest(&value).to_string())
}

fn describe(end: &End) -> String {
    match end {
        End::Clean => "clean".to_owned(),
        End::Torn { keep, dropped, why } => {
            format!("torn behind byte {keep}: {dropped} bytes ({why})")
        }
        End::Damaged { offset, line, expected, why } => {
            format!("damaged at line {line} (event {expected}, byte {offset}): {why}")
        }
    }
}

#[cfg(test)]
mod tests {
    use runstore::Home;

    use super::*;

    fn shorts(ids: &[&str]) -> Vec<String> {
        let home = Home::at("/h".into());
        let blueprint = BlueprintId::new("b").unwrap();
        let places: Vec<RunPlace> =
            ids.iter().map(|id| home.place(&blueprint, &RunId::new(id).unwrap())).collect();
        let map = short_ids(&places);
        places.iter().map(|place| map[&place.run].clone()).collect()
    }

    #[test]
    fn short_ids_are_as_short_as_they_can_be() {
        assert_eq!(shorts(&["1-abcdef01", "2-abcd9999", "3-00000000"]), ["abcde", "abcd9", "0000"]);
        assert_eq!(shorts(&["1-aaaa0000", "2-aaaa0000"]), ["1-aaaa0000", "2-aaaa0000"]);
        assert_eq!(shorts(&["1111-1111ffff"]), ["1111-1111ffff"]);
    }

    #[test]
    fn output_files_name_node_and_attempt() {
        assert_eq!(output_name("patch.2.log"), Some(("patch", 2)));
        assert_eq!(output_name("patch.log"), None);
    }
}
