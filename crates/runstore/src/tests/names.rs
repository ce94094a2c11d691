//! Names that are no names: refused before anything is asked of the disk.

use blueprint::BlueprintId;
use durable::sim::{Crash, SimDisk};
use engine::{RunId, SignalId};

use super::samples::place;
use crate::list::{FindError, find};

fn hostile() -> Vec<String> {
    let long = "a".repeat(300);
    let texts = [
        "../../x", "a/b", ".", "..", "", ".locks", &long, "a\0b", "a\\b", "CON", "con.json", "~",
        "-rf", "a b", "ü", "/etc", "a:b", "*", "\n",
    ];
    texts.map(str::to_owned).into()
}

#[test]
fn a_hostile_id_is_no_id() {
    for text in hostile() {
        assert!(RunId::new(&text).is_err(), "{text:?}");
        assert!(BlueprintId::new(&text).is_err(), "{text:?}");
        assert!(SignalId::new(&text).is_err(), "{text:?}");
        assert!(serde_json::from_value::<RunId>(text.as_str().into()).is_err(), "{text:?}");
    }
}

#[test]
fn a_hostile_query_reaches_no_disk() {
    // On this disk every call fails, so an error of another kind proves that
    // there was none.
    let disk = SimDisk::new();
    disk.crash_at(0, Crash::Before);
    let home = place().home;
    assert!(crate::list::all(&disk, &home).unwrap().is_empty());
    assert!(durable::disk::Disk::create_dir(&disk, home.path()).is_err());
    for text in hostile() {
        let found = find(&disk, &home, &text);
        assert!(matches!(found, Err(FindError::Query { .. })), "{text:?}: {found:?}");
    }
    assert!(matches!(find(&disk, &home, "good"), Err(FindError::Disk(_))));
}

#[test]
fn every_name_of_a_run_stays_in_its_folder() {
    let place = place();
    let folder = place.folder();
    let id = SignalId::new("s-1").unwrap();
    let digest = durable::Digest::of(b"x");
    let names = [
        place.events(),
        place.state(),
        place.blueprint_json(),
        place.invocation_json(),
        place.cancel_marker(),
        place.driver_lock(),
        place.signal(&id),
        place.artifact(digest),
        place.output(),
        place.worker_log(),
        place.retried_as(),
        place.torn(durable::Seq(3), 1),
    ];
    let inside = |path: &std::path::PathBuf| {
        path.strip_prefix(&folder).unwrap().to_str().unwrap().replace(&digest.hex(), "<hex>")
    };
    insta::assert_snapshot!(names.iter().map(inside).collect::<Vec<_>>().join("\n"), @r"
    events.jsonl
    state.json
    blueprint.json
    invocation.json
    cancel.marker
    driver.lock
    inbox/s-1.json
    artifacts/<hex>
    output
    worker.log
    retried_as
    torn-3-1.bin
    ");
    assert!(place.aside("5a").file_name().unwrap().to_str().unwrap().starts_with('.'));
}
