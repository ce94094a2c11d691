//! Reading runs: showing, time travel, replay, verification. Reads
//! come from the files alone, work with nobody running, and never write.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use blueprint::{BlueprintId, Program};
use durable::tail::{End, Trust};
use durable::{Round, Seq, limits};
use engine::view::RunView;
use engine::{RunId, RunState, Site, checkpoint};
use runstore::list::FindError;
use runstore::verify::FileCheck;
use runstore::{CheckpointUse, Found, Invocation, OpenError, Opened, RunPlace};
use serde_json::json;

use crate::Host;
use crate::api::{Code, HostError, OutputLog, ReplayReport, RunNames, RunReport, VerifyReport};
use crate::library::store;
use crate::listing::short_id;

impl Host {
    /// What a run is called. It is not opened.
    pub fn names(&self, query: &str) -> Result<RunNames, HostError> {
        let place = self.find(query)?;
        Ok(RunNames {
            run_id: place.run.to_string(),
            short_id: short_id(&place.run).to_owned(),
            blueprint_id: place.blueprint.to_string(),
            run_dir: place.folder(),
        })
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
        self.known_node(&place, node)?;
        let folder = place.output();
        if self.disk.stat(&folder).map_err(|fault| store(&fault))?.is_none() {
            return Ok(Vec::new());
        }
        let mut logs = Vec::new();
        for name in self.disk.list(&folder).map_err(|fault| store(&fault))? {
            let Some((of, attempt)) = output_name(&name) else { continue };
            if node.is_some_and(|node| node != of && node != Site::parse(of).node.as_str()) {
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

    /// Refuses the name of a node that the run does not have.
    pub(crate) fn known_node(&self, place: &RunPlace, node: Option<&str>) -> Result<(), HostError> {
        if let (Some(node), Some(program)) = (node, self.program_of(place))
            && program.node_ix(&Site::parse(node).node).is_none()
        {
            return Err(HostError::new(
                Code::NodeNotFound,
                format!("the run has no node `{node}`"),
            )
            .hint(format!("`wardian run show {}` lists its nodes", place.run)));
        }
        Ok(())
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
            view: view(program.as_deref(), &state),
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
        if let Some(place) = self.latest.find(&*self.disk, query) {
            return Ok(place);
        }
        let list = "`wardian run list` shows the runs of this home";
        match runstore::index::find(&*self.disk, &self.home, self.era().as_deref(), query) {
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
    pub(crate) fn program_of(&self, place: &RunPlace) -> Option<Arc<Program>> {
        let limit = 8 * limits::BLUEPRINT_BYTES as u64;
        let bytes = self.disk.read(&place.blueprint_json(), limit).ok()?;
        self.foresight.program(&bytes).ok()
    }

    fn report(
        &self,
        place: &RunPlace,
        opened: &Opened,
        state: &RunState,
        ownerless: bool,
        torn_bytes: u64,
    ) -> Result<RunReport, HostError> {
        let retried = runstore::retries::list(&*self.disk, place).map_err(|fault| store(&fault))?;
        let invocation =
            opened.invocation.as_deref().and_then(|bytes| Invocation::decode(bytes).ok());
        let (workspace, worktree) = invocation
            .map(|invocation| (invocation.workspace, invocation.worktree))
            .unwrap_or_default();
        Ok(RunReport {
            view: view(self.program_of(place).as_deref(), state),
            run_id: place.run.to_string(),
            short_id: short_id(&place.run).to_owned(),
            blueprint_id: place.blueprint.to_string(),
            run_dir: place.folder(),
            workspace,
            has_worktree: worktree.as_ref().is_some_and(|tree| Path::new(&tree.path).is_dir()),
            worktree: worktree.map(|worktree| *worktree),
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

fn output_name(name: &str) -> Option<(&str, u64)> {
    let (node, _, attempt) = output_parts(name)?;
    Some((node, attempt))
}

/// `<node>.<attempt>.log`, in later rounds of a loop
/// `<node>.<round>.<attempt>.log`.
pub(crate) fn output_parts(name: &str) -> Option<(&str, Round, u64)> {
    let (node, attempt) = name.strip_suffix(".log")?.rsplit_once('.')?;
    let attempt = attempt.parse().ok()?;
    let rounded = node.rsplit_once('.');
    let rounded = rounded.and_then(|(node, round)| Some((node, Round(round.parse().ok()?))));
    let (node, round) = rounded.unwrap_or((node, Round::FIRST));
    Some((node, round, attempt))
}

pub(crate) fn state_digest(state: &RunState) -> String {
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
    use super::*;

    #[test]
    fn output_files_name_node_and_attempt() {
        assert_eq!(output_name("patch.2.log"), Some(("patch", 2)));
        assert_eq!(output_parts("patch[3].2.1.log"), Some(("patch[3]", Round(2), 1)));
        assert_eq!(output_name("patch.log"), None);
    }
}
