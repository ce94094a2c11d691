//! What plays that were cut say of a blueprint, in its author's words.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::{NodeId, Program};
use engine::{Event, NodeStatus, RunStatus, Site};

use super::play::{Played, Stop, goes_on};
use super::shown;
use crate::api::{CrashFinding, CrashKind};

pub(super) struct Judge<'a> {
    program: &'a Program,
    calm: &'a Played,
    /// Files that differ between two undisturbed plays, and say nothing.
    unsteady: Vec<String>,
    /// One finding of a kind for each node, whatever its item.
    found: BTreeMap<(CrashKind, NodeId), CrashFinding>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(program: &'a Program, calm: &'a Played, unsteady: Vec<String>) -> Self {
        Self { program, calm, unsteady, found: BTreeMap::new() }
    }

    /// Hears one play that was cut behind `event`.
    pub(super) fn hear(&mut self, event: &Event, stop: Stop, played: &Played) {
        let mut files = self.calm.tree.differences(&played.tree);
        files.retain(|file| !self.unsteady.contains(file));
        let ends_alike = played.state.status() == self.calm.state.status();
        let blamed = || played.in_flight.first().or(event.fact.node()).cloned();
        let Some(site) = blamed() else { return };
        if !ends_alike {
            let why = played.state.failure.as_ref().map_or("", |failure| failure.message.as_str());
            let message = format!("the run then ends as {}: {why}", end(played));
            self.note(CrashKind::EndsOtherwise, site, event, stop, message, files);
            return;
        }
        for (lost, _) in self.calm.acts.iter().filter(|(site, _)| !played.acts.contains_key(*site))
        {
            let message = format!("`{lost}` is never done, and the run ends all the same");
            self.note(CrashKind::Lost, lost.clone(), event, stop, message, Vec::new());
        }
        let again = |site: &&Site| played.acts.get(*site) > self.calm.acts.get(*site);
        let twice: Vec<&Site> = played.acts.keys().filter(again).collect();
        let by_hand = played.redone.contains(&site);
        if files.is_empty() {
            if by_hand {
                let message = format!(
                    "what `{site}` did is unknown then, and the run stops for a person; done \
                     again it leaves the same"
                );
                self.note(CrashKind::Undeclared, site, event, stop, message, files);
            }
            return;
        }
        let site = twice.first().map_or(site, |site| (*site).clone());
        let message = if by_hand {
            format!(
                "what `{site}` did is unknown then; when it is done again its effect is there \
                 twice"
            )
        } else if twice.is_empty() {
            "what is left differs from an undisturbed run".to_owned()
        } else {
            format!("`{site}` is done again, and its effect is there twice")
        };
        self.note(CrashKind::Twice, site, event, stop, message, files);
    }

    /// What was found, the faults first, and the files that say nothing.
    pub(super) fn end(self) -> (Vec<CrashFinding>, Vec<String>) {
        let faulty: BTreeSet<NodeId> = self
            .found
            .iter()
            .filter(|((kind, _), _)| kind.is_fault())
            .map(|((_, node), _)| node.clone())
            .collect();
        // Advice on what is not safe comes first, and is enough.
        let told = |(kind, node): &(CrashKind, NodeId)| kind.is_fault() || !faulty.contains(node);
        let found = self.found.into_iter().filter(|(key, _)| told(key));
        (found.map(|(_, finding)| finding).collect(), self.unsteady)
    }

    fn note(
        &mut self,
        kind: CrashKind,
        site: Site,
        event: &Event,
        stop: Stop,
        message: String,
        files: Vec<String>,
    ) {
        let advice = self.advice(kind, &site);
        let boundary = match stop {
            Stop::Before => format!("behind {}, before what it starts has acted", shown(event)),
            Stop::After => format!("behind {}, after what it starts has acted", shown(event)),
        };
        let finding = self.found.entry((kind, site.node.clone())).or_insert(CrashFinding {
            kind,
            node: site.to_string(),
            seq: event.seq.0,
            boundary,
            message,
            files,
            advice,
            times: 0,
        });
        finding.times += 1;
    }

    fn advice(&self, kind: CrashKind, site: &Site) -> String {
        let resumes = goes_on(self.program);
        match kind {
            CrashKind::Twice | CrashKind::EndsOtherwise => format!(
                "let `{site}` look first whether its work is done (a guard), then declare \
                 `repeat: safe`"
            ),
            CrashKind::Lost => "this is a fault of the engine; please report it".to_owned(),
            CrashKind::Undeclared if resumes => {
                format!("declare `repeat: safe` on `{site}`, so that the run goes on by itself")
            }
            CrashKind::Undeclared => format!(
                "declare `repeat: safe` on `{site}` and `on_interrupt: resume`, so that the run \
                 goes on by itself"
            ),
        }
    }
}

fn end(played: &Played) -> &'static str {
    let unknown = played.state.nodes.values().any(|node| node.status == NodeStatus::Unknown);
    let status = played.state.status();
    if status == RunStatus::Failed && unknown {
        return "failed, with an unknown outcome";
    }
    status.word()
}
