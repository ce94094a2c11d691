//! Chains of steps: against the floor, against the bare start, and against
//! shorter chains of the same kind.

use serde_json::json;
use world::Draft;

use crate::Failure;
use crate::house::{House, at_once, once};
use crate::measure::{Samples, in_turn};
use crate::row::Row;

/// Runs at once, and steps of each.
const AT_ONCE: usize = 50;
const STEPS_EACH: usize = 20;

/// A step of a long chain may take so much more than one of a short chain.
const LINEAR: f64 = 1.5;

/// A chain of commands and what it is measured by: no slower than a program
/// that does nothing else.
pub(crate) fn against_the_floor(house: &House) -> Result<Vec<Row>, Failure> {
    let place = house.homestead("floor-home");
    let file = house.file("chain-100", &commands("chain-100", 100))?;
    let [floor, chain] = in_turn([
        Box::new(|| once(&mut house.floor("floor.log", 100)?)),
        Box::new(|| once(&mut place.exec(&file))),
    ])?;
    let short = house.file("chain-20", &commands("chain-20", STEPS_EACH))?;
    let [floors, chains] = in_turn([
        Box::new(|| {
            let floor = |at| house.floor(&format!("floor-{at}.log"), STEPS_EACH);
            at_once(&mut (0..AT_ONCE).map(floor).collect::<Result<Vec<_>, _>>()?)
        }),
        Box::new(|| at_once(&mut (0..AT_ONCE).map(|_| place.exec(&short)).collect::<Vec<_>>())),
    ])?;
    Ok(vec![
        Row::compared("chain_100_sh", &chain, 1.0, ("floor", &floor)),
        Row::compared("chain_20_sh_50_at_once", &chains, 1.1, ("floor", &floors)),
    ])
}

/// Nodes that need nothing from outside, the whole command.
pub(crate) fn against_the_start(house: &House) -> Result<Vec<Row>, Failure> {
    let place = house.homestead("internal-home");
    let hundred = house.file("internal-100", &internal("internal-100", 100))?;
    let thousand = house.file("internal-1000", &internal("internal-1000", 1000))?;
    let [start, hundred, thousand] = in_turn([
        Box::new(|| house.version()),
        Box::new(|| once(&mut place.exec(&hundred))),
        Box::new(|| once(&mut place.exec(&thousand))),
    ])?;
    Ok(vec![
        Row::compared("internal_100", &hundred, 4.0, ("--version", &start)),
        Row::compared("internal_1000", &thousand, 10.0, ("--version", &start)),
    ])
}

/// What a step costs in a short chain and in a long one, after the cost of
/// a run without steps is taken away.
pub(crate) fn against_the_length(house: &House) -> Result<Vec<Row>, Failure> {
    let internal = lengths(house, "linear_internal", [100, 500, 2000 - 1], internal)?;
    let shell = lengths(house, "linear_sh", [10, 100, 1000], commands)?;
    let rounds = lengths(house, "linear_loop", [100, 1000, 10_000], looped)
        .unwrap_or_else(|error| Row::failed("linear_loop", &error.to_string()));
    Ok(vec![internal, rounds, shell])
}

fn lengths(
    house: &House,
    name: &'static str,
    steps: [usize; 3],
    draft: fn(&str, usize) -> Draft,
) -> Result<Row, Failure> {
    let place = house.homestead(&format!("{name}-home"));
    let file = |steps: usize| {
        let id = format!("{name}-{steps}");
        house.file(&id, &draft(&id, steps))
    };
    let (none, few, some, many) = (file(0)?, file(steps[0])?, file(steps[1])?, file(steps[2])?);
    let [none, few, some, many] = in_turn([
        Box::new(|| once(&mut place.exec(&none))),
        Box::new(|| once(&mut place.exec(&few))),
        Box::new(|| once(&mut place.exec(&some))),
        Box::new(|| once(&mut place.exec(&many))),
    ])?;
    let a_step = |samples: &Samples, steps: usize| Step {
        steps,
        cost: (samples.median() - none.median()) / f64::from(u32::try_from(steps).unwrap_or(1)),
        seen: samples.median() - none.median() > 2.0 * none.spread() * none.median(),
        spread: samples.spread(),
    };
    let all = [a_step(&few, steps[0]), a_step(&some, steps[1]), a_step(&many, steps[2])];
    let [.., largest] = &all;
    // The smallest that is more than the uneven cost of a run itself.
    let Some(smallest) = all[..2].iter().find(|step| step.seen) else {
        return Ok(Row::skipped(name, "the bare run was too unsteady"));
    };
    let told = all.each_ref().map(|step| format!("{:.4} of {}", step.cost, step.steps));
    let note = format!("a step: {}; the bare run {:.2} ms", told.join(", "), none.median());
    let base = (&*format!("a step of {}", smallest.steps), smallest.cost);
    Ok(Row::times(name, largest.cost, LINEAR, base, smallest.spread).noted(&note))
}

/// What a step costs in a chain of so many.
struct Step {
    steps: usize,
    cost: f64,
    /// It stands out of what the bare run takes, now more, now less.
    seen: bool,
    spread: f64,
}

/// A chain of `sh -c true`.
pub(crate) fn commands(id: &str, steps: usize) -> Draft {
    let ids: Vec<String> = (0..steps).map(|at| format!("step-{at}")).collect();
    let draft = ids.iter().fold(Draft::new(id), |draft, id| draft.shell(id, "true"));
    chained(draft, &ids)
}

/// A chain of the node types that need nothing from outside.
pub(crate) fn internal(id: &str, steps: usize) -> Draft {
    let ids: Vec<String> = (0..steps).map(|at| format!("step-{at}")).collect();
    let mut draft = Draft::new(id);
    let mut from: Option<(&str, &str)> = Some(("start", "out"));
    for (at, id) in ids.iter().enumerate() {
        let out;
        (draft, out) = match at % 4 {
            0 => (draft.state(id, "count", id), "out"),
            1 => (draft.notify(id, "{{storage.count}}"), "out"),
            2 => (draft.node(id, "branch", json!({ "condition": "storage.count" })), "on_true"),
            _ => (draft.node(id, "join", json!({})), "out"),
        };
        if let Some((node, port)) = from {
            draft = draft.port(node, port, id);
        }
        from = Some((id, out));
    }
    draft
}

/// A loop of so many rounds, with one step in each.
fn looped(id: &str, rounds: usize) -> Draft {
    let draft = Draft::new(id);
    if rounds == 0 {
        return draft;
    }
    let entries = json!({ "op": "set", "entries": { "count": "again" } });
    draft
        .node("again", "loop", json!({ "max_iterations": rounds, "until": "storage.never" }))
        .node_with("step", "state", json!({ "parent": "again" }), entries)
        .edge("start", "again")
        .port("again", "body", "step")
}

fn chained(draft: Draft, ids: &[String]) -> Draft {
    let path: Vec<&str> = ["start"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    draft.path(&path)
}
