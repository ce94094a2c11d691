//! Classes of agents: what their definitions say reaches whoever does the
//! work, and a definition that cannot be read stops a run before it begins.

use std::fs;

use crate::agents::{chain, with_parrot};
use crate::house::House;

/// Notes how it was asked, and answers.
const ANSWERS: &str = r#"
echo "$*" >> asked
cat >> prompts
printf '%s\n' '{"session":"s-1","text":"Aye."}' '{"type":"end"}'
"#;

fn with_class(definition: &str) -> House {
    let house = with_parrot(ANSWERS);
    let settings = house.home().join("settings/providers.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let more =
        "model_args = [\"--model\", \"{model}\"]\nmodes = { plan = [\"--read\"], edit = [] }\n";
    fs::write(&settings, text.replace("reply =", &format!("{more}reply ="))).unwrap();
    let folder = house.home().join("library/classes");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("reader.md"), definition).unwrap();
    house
}

const ASKS: &[(&str, &str)] =
    &[("ask", "type: task, fields: { agent: 'class:reader', prompt: What is there }")];

#[test]
fn an_agent_of_a_class_works_on_its_terms_and_is_told_who_it_is() {
    let house = with_class(
        "---\nprovider: parrot\nmodel: grey\nmode: plan\n---\nYou read and touch nothing.\n",
    );
    house.write("talk.md", chain("", ASKS));
    let said = house.run(&["automation", "exec", "talk.md", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let read = |name: &str| fs::read_to_string(house.work().join(name)).unwrap();
    assert_eq!(read("asked"), "--read --model grey\n");
    assert_eq!(read("prompts"), "You read and touch nothing.\n\nWhat is there");
}

#[test]
fn a_class_that_cannot_be_read_is_told_before_there_is_a_run() {
    let house = with_class("---\nprovider: parrot\nmodle: grey\n---\n");
    house.write("talk.md", chain("", ASKS));
    let said = house.run(&["automation", "exec", "talk.md", "--json"]);
    assert_eq!(said.code, 8, "{said:?}");
    let error = said.json()["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("node `ask`: "), "{message}");
    let told =
        "library/classes/reader.md: line 3: a class has no key `modle`; did you mean `model`?";
    assert!(message.ends_with(told), "{message}");
    assert!(house.json(&["run", "list"])["runs"].as_array().unwrap().is_empty());
}

#[test]
fn the_default_of_the_settings_does_the_work_where_nobody_is_named() {
    let house = with_class("---\n---\n");
    let settings = house.home().join("settings/providers.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("default = \"parrot\"\n{text}")).unwrap();
    house.write("talk.md", chain("", ASKS));
    let mut command = house.command(&["automation", "exec", "talk.md", "--json"]);
    // A second one that could do it.
    let other = house.work().join("claude");
    fs::copy(house.work().join("parrot"), other).unwrap();
    command.env("PATH", format!("{}:/usr/bin:/bin", house.work().display()));
    let said = crate::house::said(crate::house::finish(house.start(command)));
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn the_next_step_for_settings_that_cannot_be_read_is_one_that_can_be_taken() {
    let house = with_parrot(ANSWERS);
    let settings = house.home().join("settings/providers.toml");
    fs::write(&settings, "default = \"parot\"\n[provider.parrot]\nprogram = \"parrot\"\n").unwrap();
    let said = house.run(&["provider", "list", "--json"]);
    assert_eq!(said.code, 8, "{said:?}");
    let error = said.json()["error"].clone();
    assert!(error["message"].as_str().unwrap().ends_with("did you mean `parrot`?"), "{error}");
    assert_eq!(error["hint"], "correct it, then `wardian doctor` looks again");
    let looked = house.run(&["doctor", "--json"]);
    let text = looked.json().to_string();
    assert!(text.contains("there is no provider `parot`"), "{text}");
}
