//! What a database is after every way of opening it.

use std::error::Error as _;
use std::os::unix::fs::PermissionsExt;

use super::*;

const BIRDS: Migrations = Migrations {
    set: "birds",
    steps: &[
        "create table birds (name text primary key) strict",
        "alter table birds add column wings integer not null default 2;
         create index by_wings on birds (wings)",
    ],
};
const FISH: Migrations =
    Migrations { set: "fish", steps: &["create table fish (name text) strict"] };

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("state.db");
    (folder, path)
}

fn open(path: &Path, set: &Migrations) -> Database {
    Database::open(path, set).unwrap()
}

fn count(database: &Database, table: &str) -> u32 {
    let query = format!("select count(*) from {table}");
    database.connection().query_row(&query, [], |row| row.get(0)).unwrap()
}

fn pragma(database: &Database, name: &str) -> String {
    let value = database.connection().pragma_query_value(None, name, |row| {
        row.get::<_, rusqlite::types::Value>(0).map(|value| format!("{value:?}"))
    });
    value.unwrap()
}

#[test]
fn a_new_database_is_private_synced_and_strict() {
    let (_folder, path) = place();
    let database = open(&path, &BIRDS);
    let shown: Vec<String> =
        ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "busy_timeout"]
            .iter()
            .map(|name| format!("{name} {}", pragma(&database, name)))
            .collect();
    assert_eq!(
        shown,
        [
            "journal_mode Text(\"wal\")",
            "synchronous Integer(2)",
            "foreign_keys Integer(1)",
            "trusted_schema Integer(0)",
            "busy_timeout Integer(5000)",
        ]
    );
    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        let mode = fs::metadata(path.with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_database_that_others_may_read_is_made_private() {
    let (_folder, path) = place();
    drop(open(&path, &BIRDS));
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    drop(open(&path, &BIRDS));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn sets_share_a_database_and_go_on_from_where_each_stands() {
    let (_folder, path) = place();
    let first = Migrations { steps: &BIRDS.steps[..1], ..BIRDS };
    let database = open(&path, &first);
    database.connection().execute("insert into birds values ('wren')", []).unwrap();
    drop(database);
    drop(open(&path, &FISH));
    let database = open(&path, &BIRDS);
    let wings = "select wings from birds where name = 'wren'";
    assert_eq!(database.connection().query_row(wings, [], |row| row.get(0)), Ok(2));
    assert_eq!(count(&database, "fish"), 0);
    assert_eq!(count(&database, "migrations"), 2);
}

#[test]
fn a_step_that_fails_leaves_nothing_of_itself() {
    let (_folder, path) = place();
    const BAD: Migrations = Migrations {
        set: "birds",
        steps: &[BIRDS.steps[0], "create table nests (n integer) strict; create nonsense"],
    };
    assert!(matches!(Database::open(&path, &BAD), Err(DatabaseError::Query { .. })));
    let database = open(&path, &Migrations { steps: &BIRDS.steps[..1], ..BIRDS });
    let nests = "select 1 from sqlite_schema where name = 'nests'";
    assert!(!database.connection().prepare(nests).unwrap().exists([]).unwrap());
}

#[test]
fn what_was_committed_is_there_after_a_kill() {
    let (_folder, path) = place();
    let database = open(&path, &BIRDS);
    database.connection().execute("insert into birds (name) values ('wren')", []).unwrap();
    database.connection().execute_batch("begin; insert into birds (name) values ('owl')").unwrap();
    // A killed process closes nothing: what it leaves is a copy of its files.
    let (_other, copy) = place();
    for end in ["", "-wal"] {
        let name = format!("state.db{end}");
        fs::copy(path.with_file_name(&name), copy.with_file_name(&name)).unwrap();
    }
    assert_eq!(count(&open(&copy, &BIRDS), "birds"), 1);
}

#[test]
fn many_that_open_a_new_database_at_once_all_succeed() {
    for _ in 0..10 {
        let (_folder, path) = place();
        std::thread::scope(|scope| {
            for n in 0..6 {
                let path = &path;
                scope.spawn(move || {
                    let database = open(path, &BIRDS);
                    let insert = "insert into birds (name) values (?1)";
                    database.connection().execute(insert, [n.to_string()]).unwrap();
                });
            }
        });
        assert_eq!(count(&open(&path, &BIRDS), "birds"), 6);
    }
}

#[test]
fn a_newer_database_is_refused_with_the_version_it_needs() {
    let (_folder, path) = place();
    drop(open(&path, &BIRDS));
    let old = Migrations { steps: &BIRDS.steps[..1], ..BIRDS };
    let said = |fault: DatabaseError| fault.to_string().replace(path.to_str().unwrap(), "[DB]");
    insta::assert_snapshot!(
        said(Database::open(&path, &old).unwrap_err()),
        @"[DB] was written by a newer wardian: its `birds` tables are of version 2 and this wardian knows version 1; use one that knows version 2"
    );
    assert!(matches!(Database::read(&path, &old), Err(DatabaseError::Newer { .. })));
    assert_eq!(count(&open(&path, &BIRDS), "birds"), 0);
}

#[test]
fn a_damaged_file_is_refused_by_name_and_left_alone() {
    let (_folder, path) = place();
    let text = b"no database at all, but long enough to look like one ".repeat(40);
    fs::write(&path, &text).unwrap();
    let fault = Database::open(&path, &BIRDS).unwrap_err();
    insta::assert_snapshot!(
        fault.to_string().replace(path.to_str().unwrap(), "[DB]"),
        @"[DB] is damaged and is left as it is; put back a copy, or move it away together with state.db-wal and state.db-shm and let a new one be made"
    );
    assert_eq!(fault.source().unwrap().to_string(), "file is not a database");
    assert!(matches!(Database::read(&path, &BIRDS), Err(DatabaseError::Damaged { .. })));
    assert_eq!(fs::read(&path).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let (_folder, path) = place();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("create table theirs (n)").unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    assert!(matches!(Database::read(&path, &BIRDS), Err(DatabaseError::Foreign { .. })));
    assert!(matches!(Database::open(&path, &BIRDS), Err(DatabaseError::Foreign { .. })));
    let other = Connection::open(&path).unwrap();
    let tables = "select count(*) from sqlite_schema";
    assert_eq!(other.query_row(tables, [], |row| row.get(0)), Ok(1));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn reading_makes_no_file_and_brings_nothing_further() {
    let (folder, path) = place();
    assert!(Database::read(&path, &BIRDS).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(open(&path, &Migrations { steps: &BIRDS.steps[..1], ..BIRDS }));
    assert!(matches!(Database::read(&path, &BIRDS), Err(DatabaseError::Older { .. })));
    assert!(Database::read(&path, &FISH).unwrap().is_none());
    drop(open(&path, &BIRDS));
    let database = Database::read(&path, &BIRDS).unwrap().unwrap();
    assert_eq!(count(&database, "birds"), 0);
    assert!(database.connection().execute("insert into birds (name) values ('x')", []).is_err());
}

#[test]
fn a_database_that_somebody_holds_is_busy_and_not_damaged() {
    let (_folder, path) = place();
    let (first, second) = (open(&path, &BIRDS), open(&path, &BIRDS));
    second.connection().busy_timeout(Duration::ZERO).unwrap();
    first.connection().execute_batch("begin immediate").unwrap();
    let refused = second.connection().execute("insert into birds (name) values ('x')", []);
    assert!(matches!(second.fault(refused.unwrap_err()), DatabaseError::Busy { .. }));
}
