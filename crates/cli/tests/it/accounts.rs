//! The limit of an account: one run meets it, and the others of the account
//! wait as well, until it is over or somebody says so.

use std::fs;

use serde_json::Value;

use crate::agents::{chain, with_parrot};
use crate::house::{House, until};

/// Notes that it was asked, and is over its limit until there is a file
/// `open`.
const LIMITED: &str = r#"
cat > /dev/null
echo . >> asked
if [ -e open ]; then echo '{"text":"Aye.","session":"s","type":"end"}'
else echo '{"error":"429 usage limit reached","type":"end"}'; fi
"#;

const TASK: &str = "type: task, retry: 2, fields: { agent: bird, prompt: Say aye }";

/// Starts a run and waits until its agent waits, or the run is over.
fn exec(house: &House, blueprint: &str) -> String {
    house.write("talk.md", blueprint);
    let args = ["automation", "exec", "talk.md", "--provider", "parrot", "--detach", "--json"];
    let mut command = house.command(&args);
    command.env("PARROT_API_KEY", "a-key-0123456789");
    let said = crate::house::said(crate::house::finish(house.start(command)));
    let run = said.json()["run_id"].as_str().unwrap_or_else(|| panic!("{said:?}")).to_owned();
    until("the run waits or is over", || {
        ["waiting", "completed", "failed"].contains(&house.status(&run).as_str())
    });
    run
}

fn asked(house: &House) -> usize {
    fs::read_to_string(house.work().join("asked")).map_or(0, |text| text.lines().count())
}

fn blocked(house: &House) -> Vec<Value> {
    let listed = house.json(&["provider", "list"]);
    let all = listed["providers"].as_array().unwrap().iter();
    all.flat_map(|provider| provider["blocked"].as_array().unwrap().clone()).collect()
}

/// What the book has of the attempts of a run, the latest first.
fn attempts(house: &House, run: &str) -> Vec<String> {
    let listed = house.json(&["workers", "list", "--run", run]);
    let all = listed["workers"].as_array().unwrap().iter();
    all.map(|worker| worker["state"].as_str().unwrap().to_owned()).collect()
}

fn node(house: &House, run: &str) -> Value {
    house.json(&["run", "show", run])["run"]["nodes"]["ask"].clone()
}

#[test]
fn the_second_run_of_an_account_at_its_limit_parks_without_asking() {
    let house = with_parrot(LIMITED);
    let first = exec(&house, &chain("", &[("ask", TASK)]));
    assert_eq!(asked(&house), 1);
    let second = exec(&house, &chain("", &[("ask", TASK)]));
    let shown = node(&house, &second);
    assert_eq!((asked(&house), house.status(&second).as_str()), (1, "waiting"), "{shown}");
    assert_eq!((&shown["again"], &shown["error"]["effect"]), (&"limit".into(), &"none".into()));
    let when = blocked(&house)[0]["until"].as_str().unwrap().to_owned();
    for run in [&first, &second] {
        // As texts of one form instants compare as they are.
        assert!(node(&house, run)["wake_at"].as_str().unwrap() >= when.as_str(), "{shown}");
    }
    let spent = |run: &str| house.json(&["run", "show", run])["run"]["spent"].clone();
    assert_eq!((&spent(&first)["agent_calls"], spent(&second)), (&1.into(), Value::Null));
    assert_ne!(node(&house, &first)["wake_at"], shown["wake_at"], "they do not all come at once");
}

#[test]
fn an_account_at_its_limit_is_told_until_it_has_answered_again() {
    let house = with_parrot(LIMITED);
    assert_eq!(blocked(&house), Vec::<Value>::new());
    let run = exec(&house, &chain("", &[("ask", TASK)]));
    let told = blocked(&house);
    assert_eq!((told.len(), &told[0]["reset_known"]), (1, &false.into()), "{told:?}");
    assert_eq!(told[0]["label"], "~, PARROT_API_KEY");
    for command in [&["provider", "list"][..], &["doctor"]] {
        let said = house.run(command).out;
        assert!(said.contains("parrot (~, PARROT_API_KEY) met its limit"), "{said}");
    }
    house.write("open", "");
    assert_eq!(house.run(&["run", "resume", &run]).code, 0);
    until("the end of the run", || house.status(&run) == "completed");
    assert_eq!((asked(&house), blocked(&house).len()), (2, 0));
}

#[test]
fn who_does_not_wait_for_limits_asks_all_the_same() {
    let house = with_parrot(LIMITED);
    exec(&house, &chain("", &[("ask", TASK)]));
    let once = TASK.replace("retry: 2, ", "");
    let run = exec(&house, &chain("on_limit: fail\n", &[("ask", &once)]));
    assert_eq!((asked(&house), house.status(&run).as_str()), (2, "failed"));
    house.write("open", "");
    let run = exec(&house, &chain("on_limit: fail\n", &[("ask", &once)]));
    assert_eq!((asked(&house), house.status(&run).as_str()), (3, "completed"));
    assert_eq!(blocked(&house).len(), 0);
}

#[test]
fn an_attempt_at_a_limit_waits_in_the_book_until_the_next_one_or_the_end() {
    let house = with_parrot(LIMITED);
    exec(&house, &chain("", &[("ask", TASK)]));
    let [run, other] = [0, 1].map(|_| exec(&house, &chain("", &[("ask", TASK)])));
    assert_eq!(attempts(&house, &run), ["waiting"]);
    let listed = house.run(&["workers", "list", "--state", "waiting", "--run", &run]).out;
    assert!(listed.contains("the limit of parrot"), "{listed}");
    house.write("open", "");
    assert_eq!(house.run(&["run", "resume", &run]).code, 0);
    until("the end of the run", || house.status(&run) == "completed");
    assert_eq!(attempts(&house, &run), ["succeeded", "failed"]);
    assert_eq!(house.run(&["run", "cancel", &other]).code, 0);
    until("the book says so", || attempts(&house, &other) == ["failed"]);
}
