//! Tries a closed run again as a new run: with the graph it had, what was
//! completed kept, the two linked both ways.

use std::collections::BTreeMap;

use engine::retry::{Kept, RetryError, Verdict, keep};
use engine::{Event, Site};
use runstore::{Invocation, RetryOf, RunPlace};
use serde_json::json;
use std::ops::ControlFlow;

use crate::Host;
use crate::api::{Code, HostError};
use crate::launch::Prepared;
use crate::reading::open_fault;
use crate::work::snapshots;
use crate::worktree::Ground;

impl Host {
    /// Prepares a run that tries this one again.
    pub fn prepare_retry(
        &self,
        query: &str,
        verdicts: Vec<(String, Verdict)>,
    ) -> Result<Prepared, HostError> {
        self.refuse_managed_caller("retry")?;
        let place = self.find(query)?;
        let opened = self.opened(&place)?;
        if opened.state.started.is_none() {
            return Err(retry_fault(&place, &RetryError::NeverStarted));
        }
        let (program, invocation) = snapshots(&place, &opened)?;
        let verdicts: BTreeMap<Site, Verdict> =
            verdicts.into_iter().map(|(node, verdict)| (Site::parse(&node), verdict)).collect();
        for node in verdicts.keys() {
            if program.node_ix(&node.node).is_none() {
                return Err(HostError::new(
                    Code::NodeNotFound,
                    format!("the run has no node `{node}`"),
                )
                .hint(format!("`wardian run show {}` lists its nodes", place.run)));
            }
        }
        keep(&program, &opened.state, &self.all_events(&place)?, &verdicts)
            .map_err(|fault| retry_fault(&place, &fault))?;
        let ground = Ground::again(&invocation);
        let invocation = Invocation { retry: Some(retry_of(&place, &verdicts)), ..invocation };
        let automations = self.automations_kept(&place, &invocation.automations)?;
        let prepared = self.prepared(program, invocation, ground);
        Ok(Prepared { automations, again: Some(place), ..prepared })
    }

    /// What a run that tries another again keeps of it. The other is closed,
    /// so its log says the same whenever it is read.
    pub(crate) fn kept_for(&self, invocation: &Invocation) -> Result<Option<Kept>, HostError> {
        let Some(retry) = &invocation.retry else { return Ok(None) };
        let place = self.find(&retry.run_id)?;
        let opened = self.opened(&place)?;
        let (program, _) = snapshots(&place, &opened)?;
        let mut verdicts = BTreeMap::new();
        let node = |name: &String| Site::parse(name);
        verdicts.extend(retry.did_not.iter().map(|name| (node(name), Verdict::DidNot)));
        verdicts.extend(retry.redo.iter().map(|name| (node(name), Verdict::Redo)));
        let happened = retry.happened.iter();
        verdicts
            .extend(happened.map(|(name, output)| (node(name), Verdict::Happened(output.clone()))));
        keep(&program, &opened.state, &self.all_events(&place)?, &verdicts)
            .map(Some)
            .map_err(|fault| retry_fault(&place, &fault))
    }

    pub(crate) fn all_events(&self, place: &RunPlace) -> Result<Vec<Event>, HostError> {
        let mut events = Vec::new();
        runstore::read::each(&*self.disk, place, |event| {
            events.push(event);
            ControlFlow::Continue(())
        })
        .map_err(|fault| open_fault(&fault))?;
        Ok(events)
    }
}

fn retry_of(place: &RunPlace, verdicts: &BTreeMap<Site, Verdict>) -> RetryOf {
    let mut retry = RetryOf { run_id: place.run.to_string(), ..RetryOf::default() };
    for (node, verdict) in verdicts {
        let node = node.to_string();
        match verdict {
            Verdict::Happened(output) => drop(retry.happened.insert(node, output.clone())),
            Verdict::DidNot => retry.did_not.push(node),
            Verdict::Redo => retry.redo.push(node),
        }
    }
    retry
}

fn retry_fault(place: &RunPlace, fault: &RetryError) -> HostError {
    let run = &place.run;
    let error = |code| HostError::new(code, format!("run {run} cannot be retried: {fault}"));
    match fault {
        RetryError::Open => {
            error(Code::RunOpen).hint(format!("`wardian run cancel {run}` ends it first"))
        }
        RetryError::Completed | RetryError::NeverStarted => {
            error(Code::Conflict).hint("`wardian automation exec FILE` starts a new run")
        }
        RetryError::Undecided(node) => error(Code::Undecided)
            .hint(format!(
                "look at what it left (`wardian run show {run}`, `wardian run logs {run}`), then \
                 `wardian run retry {run} --did-not {node}`, `--redo {node}` or `--happened {node}`"
            ))
            .details(json!({ "node": node.to_string() })),
        RetryError::NotUnknown(_) => error(Code::InvalidRequest)
            .hint("leave the word about this node out; only unknown outcomes need one"),
        RetryError::NoChoice { .. } => error(Code::InvalidRequest)
            .hint("say the output as JSON: --happened NODE='{\"chosen\": \"…\"}'"),
    }
}
