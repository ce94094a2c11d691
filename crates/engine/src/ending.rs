//! How an attempt ended, as facts: what it says of itself, whether that can
//! be used, and what follows from it. A claim that is to be proven is no end
//! yet.

use std::sync::Arc;

use blueprint::{Kind, Node, PortName, Program, Schema};
use durable::{Attempt, Timestamp};
use serde_json::{Value, json};

use crate::decide::asked_session;
use crate::event::{AgainCause, Fact, UnknownCause};
use crate::failing::{caught, limit_over, next_attempt, next_attempt_after_unknown};
use crate::input::Outcome;
use crate::proof::{self, CONTRADICTED, CheckEnd, Finding, Proof};
use crate::receive::must_stop;
use crate::reply;
use crate::site::Site;
use crate::state::RunState;
use crate::work::{Class, Effect, NodeError};

/// An attempt, and the run at its end.
pub(crate) struct End<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: &'a RunState,
    pub(crate) site: &'a Site,
    pub(crate) attempt: Attempt,
    pub(crate) now: Timestamp,
}

impl End<'_> {
    /// The facts of an outcome: of the attempt, or of an asking for the
    /// checks of its claim.
    pub(crate) fn facts(&self, proof: Option<Attempt>, outcome: &Outcome) -> Vec<Fact> {
        let Some(ix) = self.program.node_ix(&self.site.node) else { return Vec::new() };
        let node = self.program.node(ix);
        if proof.is_some() {
            return self.proved(node, outcome);
        }
        let (site, attempt) = (|| self.site.clone(), self.attempt);
        let (usage, session) = match outcome {
            Outcome::Replied { usage, session, .. } => (usage.as_deref(), session.clone()),
            Outcome::Ended { usage, .. } => (usage.as_deref(), None),
            Outcome::Used { usage, .. } => (Some(&**usage), None),
            Outcome::Output(_)
            | Outcome::Proved(_)
            | Outcome::Failed(_)
            | Outcome::Lost { .. }
            | Outcome::Stopped => (None, None),
        };
        let usage = usage.map(|usage| Fact::UsageReported { node: site(), attempt, usage: *usage });
        let session =
            session.map(|session| Fact::SessionReported { node: site(), attempt, session });
        usage.into_iter().chain(session).chain(self.end(node, outcome)).collect()
    }

    fn end(&self, node: &Node, outcome: &Outcome) -> Vec<Fact> {
        match outcome {
            Outcome::Output(output) => match &node.kind {
                // A choice is never taken unread.
                Kind::Decision { choices, .. } => {
                    self.decided(node, choices, &output.to_string(), None)
                }
                Kind::Task { output_schema, .. } => {
                    let text = output.to_string();
                    self.fitting(node, output_schema.as_ref(), output.clone(), &text, None)
                }
                Kind::Shell { .. }
                | Kind::Script { .. }
                | Kind::Http(_)
                | Kind::SubAutomation { .. }
                | Kind::ManualTrigger { .. }
                | Kind::Branch { .. }
                | Kind::Loop { .. }
                | Kind::ForEach { .. }
                | Kind::Join
                | Kind::Approval { .. }
                | Kind::Wait(_)
                | Kind::State { .. }
                | Kind::Notify { .. } => self.succeeded(node, output.clone(), None),
            },
            Outcome::Replied { text, session, .. } => self.replied(node, text, session.as_ref()),
            Outcome::Ended { end, .. } => match end {
                Ok(output) => self.succeeded(node, output.clone(), None),
                Err(error) => vec![self.failed(node, error.clone())],
            },
            Outcome::Failed(error) => vec![self.failed(node, error.clone())],
            Outcome::Lost { message } => {
                vec![self.lost(node, UnknownCause::Lost, message.clone())]
            }
            Outcome::Proved(_) => {
                let message =
                    format!("{}: it ended with checks, and none was asked for", self.site);
                vec![self.lost(node, UnknownCause::Lost, message)]
            }
            Outcome::Stopped => vec![self.stopped(node)],
            Outcome::Used { end, .. } => self.end(node, end),
        }
    }

    /// It says that it has done its work. Without checks that is the end;
    /// with some it is a claim, and they are made next.
    fn succeeded(&self, node: &Node, output: Value, port: Option<PortName>) -> Vec<Fact> {
        let (site, attempt, output) = (self.site.clone(), self.attempt, Arc::new(output));
        if node.prove.is_empty() {
            return vec![self.completed(output, port)];
        }
        let way = port.clone().unwrap_or_else(|| PortName::new("out"));
        let output_kept = Arc::clone(&output);
        let mut facts = vec![Fact::NodeClaimed { node: site, attempt, output, port: way }];
        if must_stop(self.program, self.state, self.site) {
            facts.push(Fact::NodeCancelled { node: self.site.clone(), attempt });
        } else if !node.prove.iter().any(proof::needs_work) {
            facts.extend(self.judged(node, &output_kept, port, &[]));
        }
        facts
    }

    fn completed(&self, output: Arc<Value>, port: Option<PortName>) -> Fact {
        let (node, attempt) = (self.site.clone(), self.attempt);
        match port {
            Some(port) => Fact::DecisionCompleted { node, attempt, output, port },
            None => Fact::NodeCompleted { node, attempt: Some(attempt), output },
        }
    }

    /// The end of an asking for the checks of a claim.
    fn proved(&self, node: &Node, outcome: &Outcome) -> Vec<Fact> {
        let unknown = |why: &str| {
            let looks = node.prove.iter().filter(|check| proof::needs_work(check));
            looks.map(|_| Finding::unknown(why.to_owned())).collect()
        };
        let findings: Vec<Finding> = match outcome {
            Outcome::Proved(findings) => findings.clone(),
            Outcome::Stopped if must_stop(self.program, self.state, self.site) => {
                let (node, attempt) = (self.site.clone(), self.attempt);
                return vec![Fact::NodeCancelled { node, attempt }];
            }
            Outcome::Stopped => unknown("it ran past its time and was ended"),
            Outcome::Failed(error) => unknown(&error.message),
            Outcome::Lost { message } => unknown(message),
            Outcome::Used { end, .. } => return self.proved(node, end),
            Outcome::Output(_) | Outcome::Replied { .. } | Outcome::Ended { .. } => {
                unknown("nobody says what came of it")
            }
        };
        self.weighed(node, &findings)
    }

    /// What the findings say of the claim that the state holds.
    pub(crate) fn weighed(&self, node: &Node, findings: &[Finding]) -> Vec<Fact> {
        let own = self.state.node(self.site);
        let Some((claim, output)) = own.and_then(|own| own.claim.as_ref().zip(own.output.as_ref()))
        else {
            return Vec::new();
        };
        let decides = matches!(node.kind, Kind::Decision { .. });
        self.judged(node, output, decides.then(|| claim.port.clone()), findings)
    }

    fn judged(
        &self,
        node: &Node,
        output: &Arc<Value>,
        port: Option<PortName>,
        findings: &[Finding],
    ) -> Vec<Fact> {
        let (site, attempt) = (self.site.clone(), self.attempt);
        let checks = proof::results(&node.prove, output, findings);
        let verdict = proof::verdict(&checks);
        let told = |end| proof::told(&checks, end);
        let end = match verdict {
            Proof::Proven | Proof::Claimed => self.completed(Arc::clone(output), port),
            Proof::Contradicted => {
                let message = format!(
                    "{site}: it claims success, and that is not so: {}",
                    told(CheckEnd::Broken)
                );
                let (class, effect) = (Class::Bug, Effect::Done);
                let (code, output) = (CONTRADICTED.to_owned(), Some((**output).clone()));
                let retry_after = None;
                self.failed(node, NodeError { class, code, message, effect, output, retry_after })
            }
            Proof::Unknown => {
                let message = format!(
                    "{site}: it claims success, and whether that is so is unknown: {}",
                    told(CheckEnd::Unknown)
                );
                self.lost(node, UnknownCause::Lost, message)
            }
        };
        vec![Fact::ProofReported { node: site, attempt, proof: verdict, checks }, end]
    }

    /// A failure: a wait for the limit of a provider, another attempt, or the
    /// end of the node. Where the outside may have changed all the same, that
    /// end is unknown.
    pub(crate) fn failed(&self, node: &Node, error: NodeError) -> Fact {
        let (site, attempt) = (self.site.clone(), self.attempt);
        let (limit, retry) = (AgainCause::Limit, AgainCause::Retry);
        let wake = limit_over(node, self.state, &site, &error, self.now).map(|at| (at, limit));
        let again =
            || next_attempt(node, self.state, &site, &error, self.now).map(|at| (at, retry));
        if let Some((wake, cause)) = wake.or_else(again) {
            let wake = Some(wake);
            return Fact::AttemptFailed { node: site, attempt, error, cause, wake, session: None };
        }
        let caught = caught(self.program, &site);
        if error.effect == Effect::Uncertain {
            let NodeError { code, message, .. } = error;
            let (cause, code) = (UnknownCause::Lost, Some(code));
            return Fact::AttemptUnknown { node: site, attempt, cause, code, message, caught };
        }
        Fact::NodeFailed { node: site, attempt: Some(attempt), error, caught }
    }

    /// An outcome that nobody knows.
    fn lost(&self, node: &Node, cause: UnknownCause, message: String) -> Fact {
        let (site, attempt) = (self.site.clone(), self.attempt);
        if let Some(wake) = next_attempt_after_unknown(node, self.state, &site, self.now) {
            let error = NodeError {
                class: Class::Unknown,
                code: cause.word().to_owned(),
                message,
                effect: Effect::Uncertain,
                output: None,
                retry_after: None,
            };
            let (cause, wake) = (AgainCause::Retry, Some(wake));
            return Fact::AttemptFailed { node: site, attempt, error, cause, wake, session: None };
        }
        let caught = caught(self.program, &site);
        Fact::AttemptUnknown { node: site, attempt, cause, code: None, message, caught }
    }

    /// A stop was asked for by a person, because the run is out of time, or
    /// because the attempt is; which of them does not hang on a clock that
    /// may have gone back since. One that nobody asked for leaves an attempt
    /// of which nothing is known.
    fn stopped(&self, node: &Node) -> Fact {
        let (site, attempt) = (self.site.clone(), self.attempt);
        if must_stop(self.program, self.state, &site) {
            return Fact::NodeCancelled { node: site, attempt };
        }
        let flight = self.state.node(&site).and_then(|node| node.in_flight);
        let timed = flight.is_some_and(|flight| flight.deadline.is_some());
        let (cause, why) = match node.timeout {
            Some(limit) if timed => {
                (UnknownCause::Timeout, format!("ran past its timeout of {limit} and was ended"))
            }
            Some(_) | None => (UnknownCause::Lost, "was ended, and not by this run".to_owned()),
        };
        let message = format!("{site}: attempt {attempt} {why}; what it did until then is unknown");
        self.lost(node, cause, message)
    }

    fn replied(&self, node: &Node, text: &str, session: Option<&String>) -> Vec<Fact> {
        let site = self.site;
        if let Some(fault) = self.other_session(node, session) {
            return vec![self.misread(node, text, "session_changed", fault)];
        }
        if text.trim().is_empty() {
            let message = format!("{site}: the agent ended without an answer");
            return vec![self.misread(node, text, "empty_reply", message)];
        }
        match &node.kind {
            Kind::Decision { choices, .. } => self.decided(node, choices, text, session),
            Kind::Task { output_schema, .. } => {
                let output = reply::output(text);
                self.fitting(node, output_schema.as_ref(), output, text, session)
            }
            Kind::ManualTrigger { .. }
            | Kind::Branch { .. }
            | Kind::Loop { .. }
            | Kind::ForEach { .. }
            | Kind::Join
            | Kind::Approval { .. }
            | Kind::Wait(_)
            | Kind::Shell { .. }
            | Kind::Script { .. }
            | Kind::Http(_)
            | Kind::SubAutomation { .. }
            | Kind::State { .. }
            | Kind::Notify { .. } => {
                let message = format!("{site}: this node asks no agent");
                vec![self.misread(node, text, "unexpected_reply", message)]
            }
        }
    }

    /// What is wrong when the agent was to continue a session and answers in
    /// another: it has not seen what it was to go on from.
    fn other_session(&self, node: &Node, session: Option<&String>) -> Option<String> {
        let asked = asked_session(self.program, self.state, self.site, node).ok().flatten();
        let (asked, found) = asked.as_ref().zip(session)?;
        (asked != found).then(|| {
            let site = self.site;
            format!("{site}: it was to continue the session {asked} and answers in {found}")
        })
    }

    /// The output of a task, if it is as its schema wants it; else one
    /// corrective turn.
    fn fitting(
        &self,
        node: &Node,
        schema: Option<&Schema>,
        output: Value,
        text: &str,
        session: Option<&String>,
    ) -> Vec<Fact> {
        match schema.map_or(Ok(()), |schema| schema.check(&output)) {
            Ok(()) => self.succeeded(node, output, None),
            Err(faults) => {
                let (site, faults) = (self.site, faults.join("; "));
                let message = format!("{site}: the reply breaks the output schema: {faults}");
                vec![self.corrected(node, text, "output_schema", message, session)]
            }
        }
    }

    /// The choice of a decision, or one corrective turn.
    fn decided(
        &self,
        node: &Node,
        choices: &[PortName],
        text: &str,
        session: Option<&String>,
    ) -> Vec<Fact> {
        if let Some((port, reason)) = reply::choice(text, choices) {
            let output = json!({ "chosen": port.as_str(), "reason": reason });
            return self.succeeded(node, output, Some(port));
        }
        let words: Vec<&str> = choices.iter().map(PortName::as_str).collect();
        let site = self.site;
        let message = format!("{site}: the reply names none of the choices {}", words.join(", "));
        vec![self.corrected(node, text, "invalid_choice", message, session)]
    }

    /// One corrective turn in the session of the answer. Without one nobody
    /// would know what is to be corrected; and a run that is ending starts no
    /// such turn, so there the first answer is the last.
    fn corrected(
        &self,
        node: &Node,
        text: &str,
        code: &str,
        message: String,
        session: Option<&String>,
    ) -> Fact {
        let was_corrected =
            self.state.node(self.site).is_some_and(|node| node.correction.is_some());
        match session.filter(|_| !was_corrected && self.state.failure.is_none()) {
            None => self.misread(node, text, code, message),
            Some(session) => Fact::AttemptFailed {
                node: self.site.clone(),
                attempt: self.attempt,
                error: misread_error(text, code, message),
                cause: AgainCause::Correction,
                wake: None,
                session: Some(session.clone()),
            },
        }
    }

    fn misread(&self, node: &Node, text: &str, code: &str, message: String) -> Fact {
        self.failed(node, misread_error(text, code, message))
    }
}

/// An answer came, and it is no use.
fn misread_error(text: &str, code: &str, message: String) -> NodeError {
    let output = Some(json!({ "text": text }));
    let (class, effect) = (Class::Bug, Effect::Done);
    NodeError { class, code: code.to_owned(), message, effect, output, retry_after: None }
}
