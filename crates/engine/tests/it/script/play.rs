//! Performs the commands of one script and writes down what came of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::{NodeId, Program};
use durable::{Attempt, Generation, Round};
use engine::retry::{Verdict, keep};
use engine::work::Class;
use engine::{
    Action, AttemptKey, Effect, Event, Input, Launch, NodeError, Outcome, Signal, SignalId, Verb,
};
use serde_json::Value;

use super::print;
use crate::blueprints::words;
use crate::rig::{Rig, late};

pub(super) struct Player {
    pub(super) output: String,
    /// The runs of the script, each as it was left.
    pub(super) logs: Vec<(Launch, Arc<Program>, Vec<Event>)>,
    rig: Rig,
    signals: usize,
}

impl Player {
    pub(super) fn new(program: Arc<Program>) -> Self {
        let rig = Rig::new(&program);
        Self { output: String::new(), logs: Vec::new(), rig, signals: 0 }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.say(&format!("> {line}"));
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let actions = match words.as_slice() {
            ["start", input] => self.rig.start(json(input)),
            ["finish", node, "ok", output] => self.end(node, Outcome::Output(json(output))),
            ["reply", node, said] => {
                self.end(node, Outcome::Replied { text: text(said), session: None })
            }
            ["reply", node, said, session] => {
                let session = Some(text(session));
                self.end(node, Outcome::Replied { text: text(said), session })
            }
            ["fail", node, class, code, message] => {
                self.end(node, Outcome::Failed(failure(class, code, message)))
            }
            ["lost", node, message] => self.end(node, Outcome::Lost { message: text(message) }),
            ["stopped", node] => self.end(node, Outcome::Stopped),
            ["late", node, attempt, generation] => self.late(node, attempt, generation),
            ["tick", span] => self.rig.tick(span.parse().expect("a length of time")),
            ["hold"] => {
                self.rig.held = true;
                Vec::new()
            }
            ["release"] => self.rig.release(),
            ["crash"] => {
                assert!(!self.rig.is_appending(), "say what becomes of the batch under way");
                self.rig.crash(0)
            }
            ["crash", how] => self.crash(how),
            ["retry", verdicts] => self.retry(&json(verdicts)),
            ["show"] => return self.output.push_str(&print::nodes(&self.rig)),
            ["view"] => return self.output.push_str(&print::view(&self.rig)),
            ["events"] => return self.output.push_str(&print::events(&self.rig.log)),
            [verb, rest @ ..] => self.signal(verb, rest),
            [] => Vec::new(),
        };
        self.write(&actions);
    }

    /// Puts the log of the run aside.
    pub(super) fn leave(&mut self) {
        let program = Arc::clone(&self.rig.program);
        self.logs.push((self.rig.launch_of().clone(), program, self.rig.log.clone()));
    }

    fn say(&mut self, line: &str) {
        writeln!(self.output, "{line}").expect("a text takes all");
    }

    fn write(&mut self, actions: &[Action]) {
        if actions.is_empty() {
            self.say("  nothing");
        }
        self.output.push_str(&print::actions(actions));
    }

    fn end(&mut self, node: &str, outcome: Outcome) -> Vec<Action> {
        let key = self.rig.working.keys().find(|key| key.node.as_str() == node).cloned();
        let key = key.unwrap_or_else(|| panic!("no attempt of {node} is being performed"));
        self.rig.finish(&key, outcome)
    }

    fn late(&mut self, node: &str, attempt: &str, generation: &str) -> Vec<Action> {
        let key = AttemptKey {
            run: self.rig.launch_of().run_id.clone(),
            node: NodeId::new(node),
            round: Round::FIRST,
            attempt: Attempt(attempt.parse().expect("a number")),
        };
        let generation = Generation(generation.parse().expect("a number"));
        self.rig.give_stale(late(&key, generation));
        Vec::new()
    }

    fn crash(&mut self, how: &str) -> Vec<Action> {
        assert!(self.rig.is_appending(), "hold the append first");
        let kept = match how.strip_prefix("torn=") {
            Some(count) => count.parse().expect("a number"),
            None => {
                assert_eq!(how, "before-append");
                0
            }
        };
        self.rig.crash(kept)
    }

    fn retry(&mut self, verdicts: &Value) -> Vec<Action> {
        let verdict = |value: &Value| match value.as_str() {
            Some("did_not") => Verdict::DidNot,
            Some("redo") => Verdict::Redo,
            Some(other) => panic!("{other} is no verdict"),
            None => Verdict::Happened(value["happened"].clone()),
        };
        let verdicts: BTreeMap<NodeId, Verdict> = verdicts
            .as_object()
            .into_iter()
            .flatten()
            .map(|(node, value)| (NodeId::new(node), verdict(value)))
            .collect();
        let program = Arc::clone(&self.rig.program);
        match keep(&program, self.rig.state(), &self.rig.log, &verdicts) {
            Err(error) => {
                self.say(&format!("  refused: {error}"));
                Vec::new()
            }
            Ok(kept) => {
                self.leave();
                let (now, held) = (self.rig.now, self.rig.held);
                let run = format!("run-{}", self.logs.len() + 1);
                self.rig = Rig::named(&program, &run, Value::Null, Some(kept));
                (self.rig.now, self.rig.held) = (now, held);
                self.rig.start(Value::Null)
            }
        }
    }

    fn signal(&mut self, verb: &str, words: &[&str]) -> Vec<Action> {
        self.signals += 1;
        let mut signal = Signal {
            id: SignalId::new(&format!("s{}", self.signals)).expect("a name for a file"),
            verb: Verb::Cancel,
            actor: "ann".to_owned(),
            note: None,
        };
        let mut named = None;
        for word in words {
            match word.split_once('=') {
                Some(("note", note)) => signal.note = Some(text(note)),
                Some(("id", id)) => signal.id = SignalId::new(id).expect("a name for a file"),
                Some(("as", actor)) => signal.actor = text(actor),
                Some(_) => panic!("{word} means nothing to {verb}"),
                None => named = Some(*word),
            }
        }
        let node = named.map(NodeId::new);
        signal.verb = match verb {
            "approve" => Verb::Approve { node },
            "reject" => Verb::Reject { node },
            "cancel" => Verb::Cancel,
            "resume" => Verb::Resume,
            "deny" => Verb::Denied { verb: named.expect("deny VERB").to_owned() },
            other => panic!("no command: {other}"),
        };
        self.rig.give(Input::Signal(signal))
    }
}

fn failure(class: &str, code: &str, message: &str) -> NodeError {
    NodeError {
        class: Class::from_word(class).expect("a class of failure"),
        code: code.to_owned(),
        message: text(message),
        effect: Effect::Done,
        output: None,
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A JSON string, or the word as it stands.
fn text(word: &str) -> String {
    serde_json::from_str(word).unwrap_or_else(|_| word.to_owned())
}
