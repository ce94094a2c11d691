//! Scenarios grown from a seed: small graphs of every kind of node, with
//! outcomes, words and orders by chance.

use std::collections::BTreeSet;

use durable::sim::SeededEntropy;
use engine::Verb;
use serde_json::json;

use crate::draft::Draft;
use crate::scenario::{Act, Play, Scenario, Word};

/// The name of the scenario of a seed.
pub fn name(seed: u64) -> String {
    format!("seed-{seed}")
}

/// The seed that a name is of.
pub fn seed(name: &str) -> Option<u64> {
    name.strip_prefix("seed-")?.parse().ok()
}

/// The scenario of a seed.
pub fn scenario(seed: u64) -> Scenario {
    let mut grower = Grower {
        chance: SeededEntropy::new(seed),
        draft: Draft::new("grown"),
        ways: vec![("start".to_owned(), None)],
        plays: Vec::new(),
        links: BTreeSet::new(),
    };
    if grower.one_in(2) {
        grower.draft = grower.draft.clone().setting("on_interrupt: resume");
    }
    let parallel = grower.below(3) + 1;
    grower.draft = grower.draft.clone().setting(&format!("max_parallel: {parallel}"));
    let nodes = grower.below(6) + 1;
    for at in 0..nodes {
        grower.grow(&format!("n{at}"));
    }
    grower.close_ports();
    grower.scenario(&name(seed))
}

struct Grower {
    chance: SeededEntropy,
    draft: Draft,
    /// Ways out that a node may be put behind, and their ports.
    ways: Vec<(String, Option<&'static str>)>,
    plays: Vec<(String, Vec<Play>)>,
    /// No edge is there twice.
    links: BTreeSet<(String, Option<&'static str>, String)>,
}

/// The ports of a decision.
const CHOICES: [&str; 2] = ["ship", "wait"];
/// The ports of a branch.
const SIDES: [&str; 2] = ["on_true", "on_false"];

impl Grower {
    fn below(&self, bound: u64) -> u64 {
        self.chance.below(bound)
    }

    fn one_in(&self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn pick<T: Clone>(&self, list: &[T]) -> T {
        let at = usize::try_from(self.below(list.len() as u64)).unwrap_or_default();
        list.get(at).cloned().expect("there is always a way out")
    }

    fn grow(&mut self, id: &str) {
        let draft = self.draft.clone();
        let kind = self.below(11);
        let (draft, ports): (Draft, &'static [&'static str]) = match kind {
            0 => (draft.state(id, id, "{{trigger.output.who}}"), &[]),
            1 => (draft.notify(id, "{{run.id}}"), &[]),
            2 => (draft.gate(id), &[]),
            3 => (draft.node(id, "join", json!({})), &[]),
            4 => {
                let name = self.pick(&["Ada", "Bob"]);
                let condition = format!("trigger.output.who == \"{name}\"");
                (draft.node(id, "branch", json!({ "condition": condition })), &SIDES)
            }
            5 => {
                let fields =
                    json!({ "agent": "scripted", "prompt": "Which way?", "choices": CHOICES });
                self.plays.push((id.to_owned(), self.replies()));
                (draft.node(id, "decision", fields), &CHOICES)
            }
            6 => {
                let reply = self.pick(&["{\"a\": 1}", "Done.", ""]);
                self.plays.push((id.to_owned(), vec![Play::Reply(reply.to_owned())]));
                (draft.node(id, "task", json!({ "agent": "scripted", "prompt": "Go." })), &[])
            }
            _ => (self.shell(id), &[]),
        };
        self.draft = draft;
        self.hang_in(id);
        if kind == 3 {
            self.hang_in(id);
        }
        match ports {
            [] => self.ways.push((id.to_owned(), None)),
            ports => self.ways.extend(ports.iter().map(|port| (id.to_owned(), Some(*port)))),
        }
    }

    fn replies(&self) -> Vec<Play> {
        let good = |port| format!("{{\"chosen\": \"{port}\", \"reason\": \"because\"}}");
        let first = self.pick(&[good("ship"), good("wait"), "Hm.".to_owned()]);
        let second = self.pick(&[good("ship"), "Hm again.".to_owned()]);
        vec![Play::Reply(first), Play::Reply(second)]
    }

    fn shell(&mut self, id: &str) -> Draft {
        let mut keys = serde_json::Map::new();
        if self.one_in(2) {
            keys.insert("repeat".to_owned(), json!("safe"));
        }
        if self.one_in(3) {
            keys.insert("timeout".to_owned(), json!("5s"));
        }
        let bad = [Play::Fail, Play::Lost, Play::Hang];
        if self.one_in(6) {
            self.plays.push((id.to_owned(), vec![self.pick(&bad)]));
        }
        let fields = json!({ "command": "echo {{trigger.output.who}}" });
        self.draft.clone().node_with(id, "shell", keys.into(), fields)
    }

    fn hang_in(&mut self, id: &str) {
        let (from, port) = self.pick(&self.ways);
        if self.links.insert((from.clone(), port, id.to_owned())) {
            self.draft = self.link(&from, port, id);
        }
    }

    fn link(&self, from: &str, port: Option<&str>, to: &str) -> Draft {
        match port {
            Some(port) => self.draft.clone().port(from, port, to),
            None => self.draft.clone().edge(from, to),
        }
    }

    /// Every port leads somewhere.
    fn close_ports(&mut self) {
        for (from, port) in self.ways.clone() {
            let Some(port) = port else { continue };
            let id = format!("end-{from}-{port}").replace('_', "-");
            self.draft = self.draft.clone().notify(&id, "here it ends");
            self.draft = self.link(&from, Some(port), &id);
        }
    }

    fn scenario(mut self, name: &str) -> Scenario {
        let mut scenario = Scenario::new(name, self.draft.program());
        scenario.plays.extend(std::mem::take(&mut self.plays));
        scenario.last_first = self.one_in(2);
        scenario.settled = usize::from(!self.one_in(8));
        let words = [
            Word::approve(None),
            Word::Verb(Verb::Resume),
            Word::Verb(Verb::Denied { verb: "approve".to_owned() }),
            Word::reject(None),
            Word::Verb(Verb::Cancel),
        ];
        if self.one_in(3) {
            let at = usize::try_from(self.below(4)).unwrap_or_default();
            scenario.words.push((at, self.pick(&words)));
        }
        for _ in 0..self.below(3) {
            let word = if self.one_in(4) { self.pick(&words) } else { Word::approve(None) };
            scenario.acts.extend([Act::Say(word), Act::Drive]);
        }
        if self.one_in(6) {
            scenario.acts.extend([Act::Say(Word::Verb(Verb::Cancel)), Act::Drive]);
        }
        scenario
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_grows_a_scenario_and_always_the_same() {
        for seed in 0..200 {
            let (one, other) = (scenario(seed), scenario(seed));
            assert_eq!(one.program.hash(), other.program.hash(), "{seed}");
            assert_eq!(one.acts, other.acts);
            assert_eq!(super::seed(&one.name), Some(seed));
        }
    }
}
