//! Performs the commands of one script and writes down what came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::Program;
use durable::{Attempt, Generation, Round, Seq, Span, Timestamp};
use engine::fork::fork;
use engine::proof::Finding;
use engine::retry::{Kept, Verdict, keep};
use engine::work::Class;
use engine::{
    Action, AttemptKey, Effect, Event, Input, Launch, NodeError, Outcome, Signal, SignalId, Site,
    Usage, Verb,
};
use serde_json::Value;

use super::print;
use crate::blueprints::{Draft, words};
use crate::rig::{Rig, late};

pub(super) struct Player {
    pub(super) output: String,
    /// The runs of the script, each as it was left.
    pub(super) logs: Vec<(Launch, Arc<Program>, Vec<Event>)>,
    draft: Draft,
    rig: Rig,
    signals: usize,
}

impl Player {
    pub(super) fn new(draft: Draft) -> Self {
        let rig = Rig::new(&draft.program());
        Self { output: String::new(), logs: Vec::new(), draft, rig, signals: 0 }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.say(&format!("> {line}"));
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if self.asks(&words) || self.prepares(line, &words) {
            return;
        }
        let actions = match words.as_slice() {
            ["start", input] => self.rig.start(json(input)),
            ["finish" | "reply" | "ended" | "fail" | "lost" | "stopped" | "proved", node, ..] => {
                let outcome = outcome(&words);
                self.end(node, outcome)
            }
            ["late", node, attempt, generation] => self.late(node, attempt, generation, "0"),
            ["late", node, attempt, generation, round] => {
                self.late(node, attempt, generation, round)
            }
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
            ["fork", seq] => self.fork(Seq(seq.parse().expect("a number"))),
            [verb, rest @ ..] => self.signal(verb, rest),
            [] => Vec::new(),
        };
        self.write(&actions);
    }

    /// Prints what is asked for, if something is.
    fn asks(&mut self, words: &[&str]) -> bool {
        let text = match words {
            ["show"] => print::nodes(&self.rig),
            ["view"] => print::view(&self.rig),
            ["events"] => print::events(&self.rig.log),
            ["spent"] => print::spent(&self.rig),
            ["wake"] => print::wake(&self.rig),
            _ => return false,
        };
        self.output.push_str(&text);
        true
    }

    /// What happens around the run and not to it.
    fn prepares(&mut self, line: &str, words: &[&str]) -> bool {
        match words {
            ["given", pairs @ ..] => self.given(pairs),
            ["clock", span] => {
                let (sign, span) = span.split_at(1);
                let span: Span = span.parse().expect("a length of time");
                let now = self.rig.now;
                let before = |span: Span| {
                    let millis = i64::try_from(span.millis()).expect("no such age");
                    Timestamp::from_millis(now.millis() - millis)
                };
                self.rig.set_clock(if sign == "-" { before(span) } else { now.after(span) });
            }
            ["change", "without", node] => self.draft.remove(node),
            ["change", ..] => {
                let change = line.strip_prefix("change ").expect("it begins so");
                assert!(self.draft.change(change), "no line of a blueprint: {change}");
            }
            _ => return false,
        }
        true
    }

    fn given(&mut self, pairs: &[&str]) {
        let mut launch = self.rig.launch_of().clone();
        for pair in pairs {
            let (key, value) = pair.split_once('=').expect("KEY=JSON");
            let value = || serde_json::from_str(value).expect("it is what the key wants");
            match key {
                "deadline" => {
                    launch.deadline = Some(serde_json::from_value(value()).expect("RFC 3339"));
                }
                "parent" => {
                    launch.parent = Some(serde_json::from_value(value()).expect("a parent"));
                }
                "budget" => launch.budget = serde_json::from_value(value()).expect("a budget"),
                _ => panic!("a run is given no {key}"),
            }
        }
        self.rig = Rig::launched(&Arc::clone(&self.rig.program), launch);
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
        let site = Site::parse(node);
        let key = self.rig.working.keys().find(|key| key.node == site).cloned();
        let key = key.unwrap_or_else(|| panic!("no attempt of {node} is being performed"));
        self.rig.finish(&key, outcome)
    }

    fn late(&mut self, node: &str, attempt: &str, generation: &str, round: &str) -> Vec<Action> {
        let key = AttemptKey {
            run: self.rig.launch_of().run_id.clone(),
            node: Site::parse(node),
            round: Round(round.parse().expect("a number")),
            attempt: Attempt(attempt.parse().expect("a number")),
            proof: None,
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
        let verdicts: BTreeMap<Site, Verdict> = verdicts
            .as_object()
            .into_iter()
            .flatten()
            .map(|(node, value)| (Site::parse(node), verdict(value)))
            .collect();
        let program = Arc::clone(&self.rig.program);
        match keep(&program, self.rig.state(), &self.rig.log, &verdicts) {
            Err(error) => {
                self.say(&format!("  refused: {error}"));
                Vec::new()
            }
            Ok(kept) => self.follow(&program, kept),
        }
    }

    fn fork(&mut self, at: Seq) -> Vec<Action> {
        let program = self.draft.program();
        match fork(&self.rig.program, &program, &self.rig.log, at) {
            Err(error) => {
                self.say(&format!("  refused: {error}"));
                Vec::new()
            }
            Ok((kept, report)) => {
                let list = |name: &str, ids: Vec<String>| format!("  {name}: {}", ids.join(" "));
                self.say(&list("kept", report.kept.iter().map(ToString::to_string).collect()));
                self.say(&list("again", report.again.iter().map(ToString::to_string).collect()));
                let under_way = report.under_way.iter().map(ToString::to_string).collect();
                self.say(&list("under way", under_way));
                self.follow(&program, kept)
            }
        }
    }

    /// Goes on with a run that keeps something of this one.
    fn follow(&mut self, program: &Arc<Program>, kept: Kept) -> Vec<Action> {
        self.leave();
        let (now, held) = (self.rig.now, self.rig.held);
        let run = format!("run-{}", self.logs.len() + 1);
        self.rig = Rig::named(program, &run, Value::Null, Some(kept));
        (self.rig.now, self.rig.held) = (now, held);
        self.rig.start(Value::Null)
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
        let node = named.map(Site::parse);
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

/// The end of an attempt, as the words of a command say it.
fn outcome(words: &[&str]) -> Outcome {
    let is_extra = |word: &&&str| {
        ["usage=", "effect=", "retry_after="].iter().any(|name| word.starts_with(name))
    };
    let extras: BTreeSet<&str> = words.iter().filter(is_extra).copied().collect();
    let extra = |name: &str| extras.iter().find_map(|word| word.strip_prefix(name));
    let usage: Option<Box<Usage>> =
        extra("usage=").map(|usage| serde_json::from_value(json(usage)).expect("a usage"));
    let failure = |class: &str, code: &str, message: &str| NodeError {
        class: Class::from_word(class).expect("a class of failure"),
        code: code.to_owned(),
        message: text(message),
        effect: extra("effect=")
            .map_or(Effect::Done, |word| Effect::from_word(word).expect("an effect")),
        output: None,
        retry_after: extra("retry_after=").map(|span| span.parse().expect("a length of time")),
    };
    let plain: Vec<&str> = words.iter().filter(|word| !extras.contains(**word)).copied().collect();
    let used = |end: Outcome| end.having_used(usage.as_deref().copied().unwrap_or_default());
    match plain.as_slice() {
        ["finish", _, "ok", output] => Outcome::Output(json(output)),
        ["reply", _, said] => Outcome::Replied { text: text(said), session: None, usage },
        ["reply", _, said, session] => {
            Outcome::Replied { text: text(said), session: Some(text(session)), usage }
        }
        ["ended", _, "ok", output] => Outcome::Ended { end: Ok(json(output)), usage },
        ["ended", _, class, code, message] => {
            Outcome::Ended { end: Err(failure(class, code, message)), usage }
        }
        ["fail", _, class, code, message] => used(Outcome::Failed(failure(class, code, message))),
        ["lost", _, message] => used(Outcome::Lost { message: text(message) }),
        ["stopped", _] => used(Outcome::Stopped),
        ["proved", _, ends @ ..] => Outcome::Proved(ends.iter().map(|end| finding(end)).collect()),
        other => panic!("no end of an attempt: {other:?}"),
    }
}

/// What one probe found: `held`, or `broken=WHY` and `unknown=WHY`.
fn finding(word: &str) -> Finding {
    match word.split_once('=') {
        None if word == "held" => Finding::held(),
        Some(("broken", why)) => Finding::broken(text(why)),
        Some(("unknown", why)) => Finding::unknown(text(why)),
        Some(_) | None => panic!("{word} is no end of a check"),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A JSON string, or the word as it stands.
fn text(word: &str) -> String {
    serde_json::from_str(word).unwrap_or_else(|_| word.to_owned())
}
