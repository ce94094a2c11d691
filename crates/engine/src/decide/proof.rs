//! A claim that is to be proven: the checks that need somebody to look.

use blueprint::{Check, Node};
use durable::Span;

use super::node::unresolved;
use super::start::key;
use super::{Step, View};
use crate::ending::End;
use crate::event::Fact;
use crate::proof::{Finding, needs_work};
use crate::receive::must_stop;
use crate::registry::Registry;
use crate::site::Site;
use crate::work::{AttemptKey, Effect, NodeError, Probe, ProveTask, ShellTask, Task, Work};

/// What files and differences may take beyond the time of the commands.
const LOOKING: Span = Span::from_secs(60);

/// Asks for the checks of a claim, or says how it ends without them.
pub(super) fn prove(view: View<'_>, site: &Site) -> Step {
    let View { program, state, artifacts, now } = view;
    let ix = program.node_ix(&site.node).expect("only a node of the program claims anything");
    let node = program.node(ix);
    let own = state.node(site).expect("a claim is one of the state");
    let attempt = own.attempt;
    if must_stop(program, state, site) {
        return Step::fact(Fact::NodeCancelled { node: site.clone(), attempt });
    }
    let end = End { program, state, site, attempt, now };
    let registry = Registry::at(program, state, artifacts, site);
    let looks = node.prove.iter().filter(|check| needs_work(check));
    let probes = match looks.map(|check| probe(check, site, &registry)).collect() {
        Ok(probes) => ProveTask { probes },
        Err(error) => {
            let error = NodeError { effect: Effect::Done, ..error };
            return Step::fact(end.failed(node, error));
        }
    };
    if probes.probes.is_empty() {
        return Step::facts(end.weighed(node, &[] as &[Finding]));
    }
    let proof = own.claim.as_ref().map_or(durable::Attempt::FIRST, |claim| claim.asked.next());
    let timeout = time_for(node);
    let work = Work {
        key: AttemptKey { proof: Some(proof), ..key(state, site, attempt) },
        generation: state.generation,
        timeout: Some(timeout),
        task: Task::Prove(probes),
        files: registry.into_files(),
        baseline: false,
    };
    let fact = Fact::ProofStarted {
        node: site.clone(),
        attempt,
        proof,
        generation: state.generation,
        work: work.digest(),
        deadline: Some(now.after(timeout)),
    };
    Step { facts: vec![fact], work: Some(work) }
}

fn time_for(node: &Node) -> Span {
    let time = |check: &Check| match check {
        Check::Command { timeout, .. } => timeout.millis(),
        Check::Changed { .. } | Check::File { .. } | Check::Output { .. } => 0,
    };
    let commands = node.prove.iter().map(time).fold(0, u64::saturating_add);
    Span::from_millis(commands.saturating_add(LOOKING.millis()))
}

fn probe(check: &Check, site: &Site, registry: &Registry<'_>) -> Result<Probe, NodeError> {
    let fault = |error| unresolved(site, &error);
    Ok(match check {
        Check::Command { command, timeout } => {
            let shell = command.render(registry).map_err(fault)?;
            let (cwd, env, env_pass) = (None, Vec::new(), Vec::new());
            let shell = ShellTask { text: shell.text, values: shell.values, cwd, env, env_pass };
            Probe::Command { shell, timeout: *timeout }
        }
        Check::Changed { paths } => Probe::Changed { paths: paths.clone() },
        Check::File { path, contains } => {
            let render = |template: &blueprint::Template| {
                template.render_for_process(registry).map_err(fault)
            };
            let contains = contains.as_ref().map(render).transpose()?;
            Probe::File { path: render(path)?, contains }
        }
        Check::Output { .. } => unreachable!("an output is judged without looking"),
    })
}
