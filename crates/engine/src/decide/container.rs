//! What comes after a round of a loop, and after an item of a `for_each`.

use std::sync::Arc;

use blueprint::{Kind, NodeIx, Program};
use serde_json::{Map, Value};

use super::route::Over;
use super::{Step, View, node};
use crate::container::{Container, ForEach, Loop};
use crate::event::Fact;
use crate::failing::caught;
use crate::registry::Registry;
use crate::site::Site;
use crate::state::{NodeStatus, RunState};
use crate::work::NodeError;

/// The next step of a container in which nothing is left to do for now.
pub(super) fn advance(view: View<'_>, over: Over) -> Step {
    let id = &view.program.node(over.container).id;
    let site = Site::of(id);
    let own = view.state.containers.get(id).expect("only a container that has begun is over");
    if let (Some(error), None) = (own.failed(), over.item) {
        return failed(view, site, error.clone());
    }
    match (own, over.item) {
        (Container::Loop(own), _) => round(view, over.container, site, own),
        (Container::ForEach(own), Some(index)) => {
            Step::fact(item(view, over.container, site, own, index))
        }
        (Container::ForEach(_), None) => Step::fact(Fact::ForEachCompleted { node: site }),
    }
}

/// Asks whether the loop is over, and begins the next round when it is not.
fn round(view: View<'_>, container: NodeIx, site: Site, own: &Loop) -> Step {
    let Kind::Loop { until, .. } = &view.program.node(container).kind else {
        unreachable!("a loop of the state is a loop of its program")
    };
    let registry = Registry::inside(view.program, view.state, view.artifacts, container);
    let holds = match until.as_ref().map(|until| until.eval(&registry)) {
        Some(Ok(holds)) => holds,
        Some(Err(error)) => return failed(view, site.clone(), node::unresolved(&site, &error)),
        None => false,
    };
    let next = own.round.next();
    if holds || next.0 >= own.begin.most {
        return Step::fact(Fact::LoopCompleted { node: site });
    }
    Step::fact(Fact::LoopIteration { node: site, iteration: next, begin: None })
}

fn item(view: View<'_>, container: NodeIx, site: Site, own: &ForEach, index: u32) -> Fact {
    match own.failing.get(&index) {
        Some(error) => Fact::ItemFailed { node: site, index, error: error.clone() },
        None => {
            let output =
                Arc::new(result_of(view.program, view.state, Some(container), Some(index)));
            Fact::ItemCompleted { node: site, index, output }
        }
    }
}

fn failed(view: View<'_>, node: Site, error: NodeError) -> Step {
    let caught = caught(view.program, &node);
    Step::fact(Fact::NodeFailed { node, attempt: None, error, caught })
}

/// What a run gives: the output of its last node, or one of each of its last
/// nodes by their ids.
pub fn result(program: &Program, state: &RunState) -> Value {
    result_of(program, state, None, None)
}

fn result_of(
    program: &Program,
    state: &RunState,
    body: Option<NodeIx>,
    item: Option<u32>,
) -> Value {
    let output = |ix: &NodeIx| {
        let site = Site::at(&program.node(*ix).id, item);
        let node = state.node(&site).filter(|node| node.status == NodeStatus::Completed)?;
        node.output.as_deref().cloned()
    };
    let last = program.last(body);
    match last.as_slice() {
        [one] => output(one).unwrap_or_default(),
        many => {
            let named = many
                .iter()
                .filter_map(|ix| Some((program.node(*ix).id.as_str().to_owned(), output(ix)?)));
            Value::Object(named.collect::<Map<_, _>>())
        }
    }
}
