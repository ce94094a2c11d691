//! What the book keeps of accounts, and when that goes.

use super::*;
use crate::agent::Account;

fn account(id: &str) -> Account {
    Account { id: id.to_owned(), provider: "scripted".to_owned(), label: "~/.x".to_owned() }
}

#[test]
fn two_books_of_one_file_share_what_an_account_met() {
    let desk = desk();
    let other = Registry::open(&desk.folder.path().join("state.db")).unwrap();
    let one = account("one");
    assert_eq!(other.block(&one).unwrap(), None);
    let block =
        desk.registry.limit_met(&one, at(0, 0), Some(Span::from_secs(60)), at(0, 5)).unwrap();
    assert_eq!(other.block(&one).unwrap(), Some(block.clone()));
    assert_eq!(other.block(&account("two")).unwrap(), None);
    assert_eq!(other.accounts().unwrap(), [(one, block)]);
}

#[test]
fn only_an_answer_to_a_later_question_clears_the_record() {
    let book = desk().registry;
    let one = account("one");
    book.limit_met(&one, at(0, 0), None, at(0, 5)).unwrap();
    assert!(!book.answered(&one, at(0, 4)).unwrap());
    assert!(book.block(&one).unwrap().is_some());
    assert!(book.answered(&one, at(1, 0)).unwrap());
    assert_eq!(book.block(&one).unwrap(), None);
    assert!(!book.answered(&one, at(1, 0)).unwrap());
}

#[test]
fn a_person_lifts_the_block_of_the_providers_that_the_run_has_asked() {
    let book = desk().registry;
    book.ask(&key("a", 1), &owner("a"), 1).unwrap();
    let (one, other) =
        (account("one"), Account { provider: "other".to_owned(), ..account("other") });
    for account in [&one, &other] {
        book.limit_met(account, at(0, 0), None, at(0, 0)).unwrap();
    }
    assert!(!book.lift("triage", "run-2", at(0, 1)).unwrap());
    assert!(book.lift("triage", "run-1", at(0, 1)).unwrap());
    let rest = |account| book.block(account).unwrap().unwrap().rest(at(0, 1));
    assert_eq!((rest(&one), rest(&other).is_some()), (None, true));
    // It is the same account: the next limit is one more.
    assert_eq!(book.limit_met(&one, at(0, 2), None, at(0, 3)).unwrap().backoffs, 1);
}

#[test]
fn a_book_of_before_accounts_were_kept_has_none_and_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    drop(Database::open(&path, &schema::WORKERS).unwrap());
    assert_eq!(Registry::read(&path).unwrap().unwrap().accounts().unwrap(), []);
}
