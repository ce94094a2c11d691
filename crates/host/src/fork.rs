//! A new run from a moment of another one: what was over by then is kept,
//! with the graph that it had or with a changed one.

use engine::fork::{ForkError, Report, fork};
use engine::retry::Kept;
use engine::{Event, RunId};
use runstore::{ForkOf, Invocation, RunPlace};

use crate::Host;
use crate::api::{Code, ForkRequest, Forked, HostError};
use crate::launch::{Prepared, invalid_blueprint};
use crate::work::snapshots;
use durable::Seq;

impl Host {
    /// Prepares a run that goes on from an event of another one.
    pub fn prepare_fork(&self, request: ForkRequest) -> Result<Forked, HostError> {
        self.refuse_managed_caller("fork")?;
        let place = self.find(&request.run)?;
        let opened = self.opened(&place)?;
        let (old, invocation) = snapshots(&place, &opened)?;
        let at = Seq(request.from);
        let events = self.all_events(&place)?;
        let fork_of = ForkOf { run_id: place.run.to_string(), at };
        let ground = self.ground_anew(&invocation)?;
        let base = Invocation { retry: None, works_for: None, fork: Some(fork_of), ..invocation };
        let Some(automation) = &request.automation else {
            let (_, report) = cut(&place, &old, &old, &events, at)?;
            let automations = self.automations_kept(&place, &base.automations)?;
            let prepared = Prepared { automations, ..self.prepared(old, base, ground) };
            return Ok(Forked { prepared, report });
        };
        let (checked, new) = self.checked(automation)?;
        let Some(new) = new else { return Err(invalid_blueprint(checked)) };
        let (_, report) = cut(&place, &old, &new, &events, at)?;
        // The worktree of the other run may be gone, and is not this one's.
        let origin = base.worktree.as_ref().map(|worktree| worktree.original_cwd.clone());
        let workspace = origin.or_else(|| base.workspace.clone()).unwrap_or_else(|| "/".to_owned());
        let path = &checked.source.path;
        let kept = self.automations_of(&new, path, workspace.as_ref())?;
        let scripts = crate::launch::script_files(&new, workspace.as_ref(), path)?;
        let base = Invocation { scripts, automations: kept.named, ..base };
        let automations = kept.snapshots;
        let prepared = Prepared { automations, ..self.prepared(new, base, ground) };
        Ok(Forked { prepared, report })
    }

    /// What a forked run keeps of the other, as its worker begins it.
    pub(crate) fn kept_for_fork(
        &self,
        fork_of: &ForkOf,
        new: &blueprint::Program,
    ) -> Result<Kept, HostError> {
        let place = self.find(&fork_of.run_id)?;
        let opened = self.opened(&place)?;
        let (old, _) = snapshots(&place, &opened)?;
        let events = self.all_events(&place)?;
        cut(&place, &old, new, &events, fork_of.at).map(|(kept, _)| kept)
    }
}

fn cut(
    place: &RunPlace,
    old: &blueprint::Program,
    new: &blueprint::Program,
    events: &[Event],
    at: Seq,
) -> Result<(Kept, Report), HostError> {
    fork(old, new, events, at).map_err(|fault| fork_fault(&place.run, &fault))
}

fn fork_fault(run: &RunId, fault: &ForkError) -> HostError {
    let code = match fault {
        ForkError::NoSuchEvent { .. } => Code::InvalidRequest,
        ForkError::NeverStarted => Code::Conflict,
        ForkError::Log(_) => Code::DamagedLog,
    };
    HostError::new(code, format!("run {run} cannot be forked: {fault}"))
        .hint(format!("`wardian run events {run}` lists its events with their numbers"))
}
