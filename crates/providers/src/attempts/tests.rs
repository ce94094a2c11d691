//! The book against its laws: who may write, what stays, and for how long.

mod accounts_kept;
mod machine;

use durable::{Attempt, Round, Span, Timestamp};
use engine::{AttemptKey, RunId, Site};
use serde_json::json;

use super::write::Claim;
use super::*;
use durable::Generation;

struct Desk {
    folder: tempfile::TempDir,
    registry: Registry,
}

fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(&folder.path().join("state.db")).unwrap();
    Desk { folder, registry }
}

fn at(day: u64, millis: u64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000)
        .after(Span::from_secs(day * 86_400))
        .after(Span::from_millis(millis))
}

fn key(node: &str, attempt: u64) -> AttemptKey {
    AttemptKey {
        run: RunId::new("run-1").unwrap(),
        node: Site::parse(node),
        round: Round::FIRST,
        attempt: Attempt(attempt),
        proof: None,
    }
}

fn owner(name: &str) -> OwnerId {
    OwnerId::named(name)
}

impl Registry {
    fn ask(&self, key: &AttemptKey, owner: &OwnerId, generation: u64) -> Option<Claim> {
        self.ask_at(key, owner, generation, at(0, 0))
    }

    fn ask_at(
        &self,
        key: &AttemptKey,
        owner: &OwnerId,
        generation: u64,
        now: Timestamp,
    ) -> Option<Claim> {
        let new = Registration {
            kind: Kind::Automation,
            provider: "scripted",
            workspace: "/work",
            blueprint: "triage",
            key,
            owner,
            generation: Generation(generation),
            capabilities: &json!({ "resume": true }),
            source_key: None,
        };
        match self.register(&new, now) {
            Ok(claim) => Some(claim),
            Err(RegistryError::Taken { .. }) => None,
            Err(fault @ RegistryError::Database(_)) => panic!("{fault}"),
        }
    }

    fn all(&self) -> Vec<Worker> {
        self.list(&Filter::default(), &Page { limit: 1000, after: None }).unwrap()
    }

    fn only(&self) -> Worker {
        let mut all = self.all();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }
}

#[test]
fn every_query_stands_against_the_tables() {
    let desk = desk();
    for query in schema::ALL.iter().chain(&accounts::ALL) {
        desk.registry.database.connection().prepare(query).unwrap();
    }
}

#[test]
fn an_attempt_is_written_down_from_its_request_to_its_end() {
    let desk = desk();
    let book = &desk.registry;
    let claim = book.ask(&key("fix[3]", 2), &owner("a"), 2).unwrap();
    let worker = book.only();
    assert_eq!((worker.state, worker.coverage), (State::Requested, Coverage::Pending));
    assert_eq!((&*worker.node, worker.attempt, worker.generation.0), ("fix[3]", Attempt(2), 2));
    assert_eq!(worker.runtime_session, format!("automation-temp-{}", worker.id));
    assert_eq!(worker.runtime_session, claim.runtime_session());
    assert_eq!(worker.capabilities, json!({ "resume": true }));

    let process = Process { pid: 7, started: 99 };
    assert!(book.running(&claim, Some(process), None, at(0, 1)).unwrap());
    assert!(book.identified(&claim, "native-1", at(0, 2)).unwrap());
    let worker = book.only();
    assert_eq!((worker.state, worker.process), (State::Running, Some(process)));
    assert_eq!(worker.coverage, Coverage::SessionIdentified);
    assert_eq!(worker.provider_session.as_deref(), Some("native-1"));

    assert!(book.finish(&claim, End::Completed, None, at(0, 3)).unwrap());
    let worker = book.only();
    assert_eq!((worker.state, worker.outcome), (State::Succeeded, Some(Ending::Completed)));
    assert_eq!(worker.provider_session.as_deref(), Some("native-1"));
    assert_eq!(worker.terminal_at, Some(at(0, 3)));
    assert_eq!(worker.resumable_until, Some(at(7, 3)));
    assert_eq!(worker.detail_retained_until, Some(at(30, 3)));
}

#[test]
fn each_end_has_its_words() {
    let ends = [
        (End::Completed, "succeeded completed provider_session_unavailable -"),
        (End::Failed { error: "no" }, "failed provider_failed provider_session_unavailable no"),
        (End::Waiting { why: "limit" }, "waiting - pending limit"),
        (End::Cancelled, "cancelled cancelled_by_run run_cancellation_acknowledged -"),
        (End::Uncertain { error: "gone" }, "unknown - provider_outcome_uncertain gone"),
    ];
    for (end, words) in ends {
        let desk = desk();
        let claim = desk.registry.ask(&key("a", 1), &owner("a"), 1).unwrap();
        assert!(desk.registry.finish(&claim, end, None, at(0, 0)).unwrap());
        let worker = desk.registry.only();
        let said = [
            worker.state.word(),
            worker.outcome.map_or("-", Ending::word),
            worker.coverage.word(),
            worker.error.as_deref().unwrap_or("-"),
        ];
        assert_eq!(said.join(" "), words);
    }
}

#[test]
fn an_attempt_has_one_row_and_one_owner() {
    let desk = desk();
    let first = desk.registry.ask(&key("a", 1), &owner("a"), 1);
    assert!(first.is_some());
    assert_eq!(desk.registry.ask(&key("a", 1), &owner("a"), 1), first);
    assert_eq!(desk.registry.ask(&key("a", 1), &owner("b"), 1), None);
    assert_eq!(desk.registry.ask(&key("a", 1), &owner("a"), 2), None);
    assert!(desk.registry.ask(&key("a", 2), &owner("b"), 1).is_some());
    assert!(desk.registry.ask(&key("a[0]", 1), &owner("b"), 1).is_some());
    let ids: std::collections::BTreeSet<String> =
        desk.registry.all().into_iter().map(|worker| worker.runtime_session).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn a_late_end_does_not_cover_what_a_restart_concluded() {
    let desk = desk();
    let book = &desk.registry;
    let claim = book.ask(&key("a", 1), &owner("old"), 1).unwrap();
    assert!(book.running(&claim, None, None, at(0, 0)).unwrap());
    assert_eq!(book.reconcile("triage", "run-1", &owner("old"), at(0, 1)).unwrap(), 0);
    assert_eq!(book.reconcile("triage", "run-2", &owner("new"), at(0, 1)).unwrap(), 0);
    assert_eq!(book.reconcile("triage", "run-1", &owner("new"), at(0, 1)).unwrap(), 1);
    let concluded = book.only();
    assert_eq!((concluded.state, concluded.coverage), (State::Unknown, Coverage::OwnerLost));
    assert!(!book.finish(&claim, End::Completed, Some("late"), at(0, 2)).unwrap());
    assert!(!book.identified(&claim, "late", at(0, 2)).unwrap());
    assert_eq!(book.only(), concluded);
}

#[test]
fn long_texts_are_kept_by_their_beginning_and_in_whole_characters() {
    let desk = desk();
    let claim = desk.registry.ask(&key("a", 1), &owner("a"), 1).unwrap();
    let long = "é".repeat(5000);
    desk.registry.finish(&claim, End::Failed { error: &long }, Some(&long), at(0, 0)).unwrap();
    let worker = desk.registry.only();
    assert_eq!(worker.error.map(|text| text.len()), Some(2048));
    assert_eq!(worker.provider_session.map(|text| text.len()), Some(512));
}

#[test]
fn details_go_just_after_their_window_and_never_from_what_is_open() {
    let desk = desk();
    let book = &desk.registry;
    let ask = |node: &str| book.ask(&key(node, 1), &owner("a"), 1).unwrap();
    let (done, lost) = (ask("done"), ask("lost"));
    let _open = ask("open");
    book.finish(&done, End::Failed { error: "no" }, Some("native"), at(0, 0)).unwrap();
    book.finish(&lost, End::Uncertain { error: "gone" }, None, at(0, 0)).unwrap();
    assert_eq!(book.prune(at(30, 0)).unwrap(), 0);
    assert_eq!(book.prune(at(30, 1)).unwrap(), 1);
    assert_eq!(book.prune(at(9000, 0)).unwrap(), 0);
    let by_node = |node: &str| book.all().into_iter().find(|worker| worker.node == node).unwrap();
    let worker = by_node("done");
    assert_eq!((worker.state, worker.coverage), (State::Failed, Coverage::DetailExpired));
    assert_eq!((worker.provider_session, worker.error, worker.workspace), (None, None, None));
    assert_eq!(worker.terminal_at, Some(at(0, 0)));
    assert_eq!(by_node("lost").error.as_deref(), Some("gone"));
    assert_eq!(by_node("open").workspace.as_deref(), Some("/work"));
}

#[test]
fn an_accepted_word_opens_both_windows_anew_until_the_first_has_closed() {
    let desk = desk();
    let book = &desk.registry;
    let claim = book.ask(&key("a", 1), &owner("a"), 1).unwrap();
    assert!(!book.followed_up(claim.id(), at(0, 0)).unwrap());
    book.finish(&claim, End::Completed, Some("native"), at(0, 0)).unwrap();
    assert!(book.followed_up(claim.id(), at(7, 0)).unwrap());
    let worker = book.only();
    assert_eq!(worker.last_follow_up_accepted_at, Some(at(7, 0)));
    assert_eq!(worker.resumable_until, Some(at(14, 0)));
    assert_eq!(worker.detail_retained_until, Some(at(37, 0)));
    assert!(!book.followed_up(claim.id(), at(14, 1)).unwrap());
    assert_eq!(book.only(), worker);
}

#[test]
fn what_was_written_is_there_after_a_kill() {
    let desk = desk();
    let claim = desk.registry.ask(&key("a", 1), &owner("a"), 1).unwrap();
    desk.registry.running(&claim, None, Some("native"), at(0, 0)).unwrap();
    let before = desk.registry.only();
    // A killed process closes nothing: what it leaves is a copy of its files.
    let copy = tempfile::tempdir().unwrap();
    for name in ["state.db", "state.db-wal"] {
        std::fs::copy(desk.folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let again = Registry::open(&copy.path().join("state.db")).unwrap();
    assert_eq!(again.only(), before);
    assert!(again.finish(&claim, End::Completed, None, at(0, 1)).unwrap());
}

#[test]
fn a_reader_needs_nobody_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    assert!(Registry::read(&path).unwrap().is_none());
    assert!(!path.exists());
    drop(Registry::open(&path).unwrap().ask(&key("a", 1), &owner("a"), 1));
    let reader = Registry::read(&path).unwrap().unwrap();
    assert_eq!(reader.only().node, "a");
    assert!(reader.prune(at(99, 0)).is_err());
}

#[test]
fn pages_follow_each_other_and_filters_hold() {
    let desk = desk();
    let book = &desk.registry;
    let claims: Vec<Claim> =
        (1..=5).filter_map(|n| book.ask(&key("a", n), &owner("a"), n)).collect();
    book.finish(&claims[1], End::Completed, None, at(0, 0)).unwrap();
    book.finish(&claims[3], End::Cancelled, None, at(0, 0)).unwrap();
    let all = book.all();
    let (mut paged, mut after) = (Vec::new(), None);
    loop {
        let page = book.list(&Filter::default(), &Page { limit: 2, after }).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(Mark::of(last));
        paged.extend(page);
    }
    assert_eq!(paged, all);
    let count = |run: Option<&str>, states: &[State]| {
        let filter = Filter { run: run.map(str::to_owned), states: states.to_vec() };
        book.list(&filter, &Page { limit: 9, after: None }).unwrap().len()
    };
    assert_eq!(count(Some("run-1"), &[]), 5);
    assert_eq!(count(Some("run"), &[]), 0);
    assert_eq!(count(None, &[State::Succeeded, State::Cancelled]), 2);
    assert_eq!(count(None, &[State::Requested]), 3);
}

#[test]
fn a_beginning_leads_to_one_to_none_or_names_the_choices() {
    let desk = desk();
    let ids: Vec<String> = (1..=40)
        .filter_map(|n| Some(desk.registry.ask(&key("a", n), &owner("a"), 1)?.id().to_owned()))
        .collect();
    let found = desk.registry.show(&ids[0]).unwrap();
    assert!(matches!(found, Found::One(worker) if worker.id == ids[0]));
    let shared = ids.iter().find(|id| ids.iter().filter(|o| o[..1] == id[..1]).count() > 1);
    let Found::Many(choices) = desk.registry.show(&shared.unwrap()[..1]).unwrap() else {
        panic!("forty ids begin with sixteen digits");
    };
    assert!(choices.len() > 1 && choices.iter().all(|id| ids.contains(id)));
    for none in ["", "x", "%", "f'--", "ffffffffffffffff0"] {
        assert_eq!(desk.registry.show(none).unwrap(), Found::None, "{none}");
    }
}
