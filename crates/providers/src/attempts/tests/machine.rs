//! Two owners and two generations speak about a few attempts in any order,
//! truly or not. The book says and keeps what a small model of it does.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::attempts::word::State;

#[derive(Debug, Clone, Copy)]
enum Word {
    Register,
    Running { names: bool },
    Identified,
    Finish(u8),
    Reconcile,
    Settle,
    Prune,
}

/// A word about an attempt, and as whom it is said.
type Said = (Word, u64, bool, u64);

#[derive(Debug, Clone, PartialEq)]
struct Row {
    owner: bool,
    generation: u64,
    state: State,
    session: bool,
    ended: Option<Timestamp>,
    detail: bool,
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        3 => Just(Word::Register),
        3 => any::<bool>().prop_map(|names| Word::Running { names }),
        2 => Just(Word::Identified),
        3 => (0..5u8).prop_map(Word::Finish),
        1 => Just(Word::Reconcile),
        1 => Just(Word::Settle),
        1 => Just(Word::Prune),
    ]
}

fn end(n: u8) -> (End<'static>, State) {
    match n {
        0 => (End::Completed, State::Succeeded),
        1 => (End::Failed { error: "no" }, State::Failed),
        2 => (End::Cancelled, State::Cancelled),
        3 => (End::Waiting { why: "limit" }, State::Waiting),
        _ => (End::Uncertain { error: "gone" }, State::Unknown),
    }
}

fn name(owner: bool) -> OwnerId {
    OwnerId::named(if owner { "one" } else { "two" })
}

/// What the model says, beside what it does.
fn model(
    rows: &mut BTreeMap<u64, Row>,
    (word, at, owner, generation): Said,
    now: Timestamp,
) -> u64 {
    let held = rows
        .get_mut(&at)
        .filter(|row| (row.owner, row.generation) == (owner, generation) && row.state.is_active());
    match (word, held) {
        (Word::Register, _) => {
            if at > 1 && !rows.contains_key(&at) {
                settle(rows, now);
            }
            let fresh = Row {
                owner,
                generation,
                state: State::Requested,
                session: false,
                ended: None,
                detail: true,
            };
            let row = rows.entry(at).or_insert(fresh);
            u64::from((row.owner, row.generation) == (owner, generation))
        }
        (Word::Running { names }, Some(row)) if row.state == State::Requested => {
            (row.state, row.session) = (State::Running, row.session || names);
            1
        }
        (Word::Identified, Some(row)) => {
            row.session = true;
            1
        }
        (Word::Finish(n), Some(row)) => {
            row.state = end(n).1;
            let is_open = [State::Unknown, State::Waiting].contains(&row.state);
            row.ended = (!is_open).then_some(now);
            1
        }
        (Word::Running { .. } | Word::Identified | Word::Finish(_), _) => 0,
        (Word::Reconcile, _) => {
            let at_work = [State::Requested, State::Running];
            let lost =
                rows.values_mut().filter(|row| at_work.contains(&row.state) && row.owner != owner);
            lost.map(|row| row.state = State::Unknown).count() as u64
        }
        (Word::Settle, _) => settle(rows, now),
        (Word::Prune, _) => {
            let over = |row: &Row| row.ended.is_some_and(|ended| ended.after(DETAIL_FOR) < now);
            let gone = rows.values_mut().filter(|row| row.detail && over(row));
            gone.map(|row| (row.detail, row.session) = (false, false)).count() as u64
        }
    }
}

/// Whatever waits has failed.
fn settle(rows: &mut BTreeMap<u64, Row>, now: Timestamp) -> u64 {
    let waiting = rows.values_mut().filter(|row| row.state == State::Waiting);
    waiting.map(|row| (row.state, row.ended) = (State::Failed, Some(now))).count() as u64
}

fn book(book: &Registry, (word, at, owner, generation): Said, now: Timestamp) -> u64 {
    let key = key("a", at);
    let id = super::super::write::id_of("triage", &key);
    let claim = Claim::forged(&id, &name(owner), Generation(generation));
    match word {
        Word::Register => u64::from(book.ask_at(&key, &name(owner), generation, now).is_some()),
        Word::Running { names } => {
            u64::from(book.running(&claim, None, names.then_some("native"), now).unwrap())
        }
        Word::Identified => u64::from(book.identified(&claim, "native", now).unwrap()),
        Word::Finish(n) => u64::from(book.finish(&claim, end(n).0, None, now).unwrap()),
        Word::Reconcile => book.reconcile("triage", "run-1", &name(owner), now).unwrap() as u64,
        Word::Settle => book.settle("triage", "run-1", None, now).unwrap() as u64,
        Word::Prune => book.prune(now).unwrap() as u64,
    }
}

fn shown(worker: Worker) -> (u64, Row) {
    let row = Row {
        owner: worker.owner == name(true).as_str(),
        generation: worker.generation.0,
        state: worker.state,
        session: worker.provider_session.is_some(),
        ended: worker.terminal_at,
        detail: worker.coverage != Coverage::DetailExpired,
    };
    (worker.attempt.0, row)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_book_says_and_keeps_what_the_model_does(
        said in proptest::collection::vec((word(), 1..4u64, any::<bool>(), 1..3u64, 0..9u64), 1..40)
    ) {
        let desk = desk();
        let (mut rows, mut day) = (BTreeMap::new(), 0);
        for (word, at_attempt, owner, generation, days) in said {
            day += days;
            let (said, now) = ((word, at_attempt, owner, generation), at(day, 0));
            let told = book(&desk.registry, said, now);
            prop_assert_eq!(told, model(&mut rows, said, now), "{:?}", said);
            let kept: BTreeMap<u64, Row> = desk.registry.all().into_iter().map(shown).collect();
            prop_assert_eq!(&kept, &rows, "after {:?}", said);
        }
    }
}
