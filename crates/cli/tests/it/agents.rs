//! Agents that are programs of their own, as the settings describe them: what
//! they are given, what is made of what they say, and what is left of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::house::{House, assert_gone, finish, line_of, until};

const SETTINGS: &str = r#"
resume_args = ["--session", "{session}"]
reply = "json-lines"
env_pass = ["PARROT_API_KEY"]

[provider.parrot.read]
text = "/text"
session = "/session"
tokens = ["/tokens"]
error = "/error"
done = { at = "/type", is = "end" }
"#;

/// A house with a provider `parrot`, which is this shell script.
pub(crate) fn with_parrot(script: &str) -> House {
    let house = House::new();
    let program = house.work().join("parrot");
    house.write("parrot", format!("#!/bin/sh\n{script}"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = house.home().join("settings");
    fs::create_dir_all(&settings).unwrap();
    let head = format!("[provider.parrot]\nprogram = \"{}\"", program.display());
    fs::write(settings.join("providers.toml"), format!("{head}{SETTINGS}")).unwrap();
    house
}

/// A blueprint of these nodes, one after the other.
pub(crate) fn chain(settings: &str, nodes: &[(&str, &str)]) -> String {
    let mut text = format!(
        "---\nschema: 2\nid: talk\nname: Talk\n{settings}nodes:\n  \
         - {{ id: start, type: manual_trigger }}\n"
    );
    let mut edges = String::from("edges:\n");
    let mut last = ("start", "out");
    for (id, rest) in nodes {
        text += &format!("  - {{ id: {id}, {rest} }}\n");
        edges += &format!("  - {{ from: {}, from_port: {}, to: {id} }}\n", last.0, last.1);
        let port = if rest.contains("type: decision") { "ship" } else { "out" };
        last = (id, port);
    }
    format!("{text}{edges}---\n")
}

fn exec(house: &House, blueprint: String) -> (i32, String) {
    house.write("talk.md", blueprint);
    let args = ["automation", "exec", "talk.md", "--provider", "parrot", "--json"];
    let mut command = house.command(&args);
    command.env("PARROT_API_KEY", CANARY).env("OTHER_API_KEY", "not-for-you-0123456789");
    let said = crate::house::said(finish(house.start(command)));
    let run = said.json()["run_id"].as_str().unwrap_or_else(|| panic!("{said:?}")).to_owned();
    (said.code, run)
}

/// Notes how it was asked, and answers.
const ANSWERS: &str = r#"
echo "$*" >> asked
cat >> prompts; echo >> prompts
env | grep API_KEY | cut -d= -f1 >> keys
say() { printf '%s\n' "$1"; }
say '{"type":"begin","session":"s-1"}'
case "$(tail -n 2 prompts)" in
  *ship*) say '{"text":"Well.\n\nship"}' ;;
  *) say '{"text":"Aye.","tokens":7}' ;;
esac
say '{"type":"end"}'
"#;

/// A secret of which every form has something that others write differently.
const CANARY: &str = "c4nary/\"0123456789+é~";

#[test]
fn a_program_that_only_the_settings_describe_does_tasks_decisions_and_goes_on() {
    let house = with_parrot(ANSWERS);
    let nodes = [
        ("first", "type: task, fields: { agent: bird, prompt: Say aye }"),
        ("again", "type: task, fields: { agent: bird, prompt: Again, session: continue:first }"),
        (
            "judge",
            "type: decision, fields: { agent: bird, mode: edit, prompt: X, choices: [ship] }",
        ),
        ("tell", "type: notify, fields: { message: '{{nodes.again.output.text}}' }"),
    ];
    let (code, run) = exec(&house, chain("", &nodes));
    let shown = house.json(&["run", "show", &run]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown["run"]["nodes"]["judge"]["output"]["chosen"], "ship", "{shown}");
    assert_eq!(shown["run"]["proof"], "claimed");
    let read = |name: &str| fs::read_to_string(house.work().join(name)).unwrap();
    assert_eq!(read("asked").lines().collect::<Vec<_>>(), ["", "--session s-1", ""]);
    assert!(read("prompts").starts_with("Say aye"), "{}", read("prompts"));
    assert_eq!(read("keys").lines().collect::<Vec<_>>(), ["PARROT_API_KEY"; 3]);
    assert!(files(&house.home().join("tmp")).is_empty(), "no folder of an attempt is left");
}

#[test]
fn what_an_agent_says_is_noted_up_to_a_mark_and_its_answer_counts_that_comes_behind_it() {
    let words = "word after word ".repeat(12);
    let house = with_parrot(&format!(
        "cat > /dev/null\nyes '{{\"text\":\"{words}\"}}' | head -n 9000\n\
         echo '{{\"type\":\"end\",\"text\":\"Enough.\"}}'\n"
    ));
    let nodes = [("ask", "type: task, fields: { agent: bird, prompt: Talk }")];
    let (code, run) = exec(&house, chain("", &nodes));
    let shown = house.json(&["run", "show", &run]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown["run"]["nodes"]["ask"]["output"]["text"], "Enough.", "{shown}");
    let log = house.home().join("logs/automations/talk").join(run).join("output/ask.1.log");
    let log = fs::read_to_string(log).unwrap();
    let noted = log.strip_suffix("\n[... the rest is not kept here ...]\n").unwrap();
    assert_eq!(noted.len(), 1 << 20);
}

#[test]
fn a_secret_of_the_provider_stands_in_no_file_of_ours_whatever_form_it_has() {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let url: String = CANARY
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    let escaped = serde_json::Value::from(CANARY).to_string();
    let forms = [
        CANARY.to_owned(),
        escaped.trim_matches('"').to_owned(),
        base64(CANARY.as_bytes()),
        base64(&[b"x", CANARY.as_bytes()].concat()),
        base64(&[b"xy", CANARY.as_bytes()].concat()),
        hex.clone(),
        hex.to_uppercase(),
        url,
    ];
    let shapes = [
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "AKIAIOSFODNN7EXAMPLQ",
        "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    ];
    let said: Vec<&str> = forms.iter().map(String::as_str).chain(shapes).collect();
    let line = serde_json::json!({ "text": format!("I say: {}", said.join(" ; ")) });
    let twice = serde_json::json!({ "text": line.to_string() });
    let house =
        with_parrot("cat > /dev/null; cat secrets >&2; cat answer; echo '{\"type\":\"end\"}'");
    house.write("secrets", said.join("\n"));
    house.write("answer", format!("{line}\n{twice}\n"));
    let node = ("leak", "type: task, fields: { agent: bird, prompt: Say it }");
    let (code, run) = exec(&house, chain("", &[node]));
    assert_eq!(code, 0, "{}", house.json(&["run", "show", &run]));
    let logs = house.run(&["run", "logs", &run]).out;
    assert!(logs.contains("[redacted:PARROT_API_KEY]"), "{logs}");
    // The letters at the borders of base64 tell of what stands around it.
    let inside = |text: &str| text.get(4..text.len() - 4).unwrap_or(text).to_owned();
    let wanted: Vec<String> =
        forms.iter().map(|form| inside(form)).chain(shapes.map(str::to_owned)).collect();
    for file in files(&house.home()) {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for form in &wanted {
            assert!(!text.contains(form.as_str()), "{form} in {}", file.display());
        }
    }
}

#[test]
fn a_budget_of_three_calls_stops_the_fourth() {
    let house = with_parrot(ANSWERS);
    let task = "type: task, fields: { agent: bird, prompt: Say aye }";
    let nodes = ["one", "two", "three", "four"].map(|id| (id, task));
    let (code, run) = exec(&house, chain("budget: { agent_calls: 3 }\n", &nodes));
    let shown = house.json(&["run", "show", &run]);
    assert_eq!((code, &shown["run"]["status"]), (11, &"waiting".into()), "{shown}");
    let asked = || fs::read_to_string(house.work().join("asked")).unwrap().lines().count();
    assert_eq!(asked(), 3);
    assert_eq!(house.run(&["run", "resume", &run]).code, 0);
    until("the fourth call", || asked() == 4);
}

#[test]
fn what_a_turn_has_used_counts_though_it_failed() {
    let fails = r#"cat > /dev/null
        echo '{"tokens":700,"session":"s"}'
        echo '{"error":"no luck","type":"end"}'"#;
    let house = with_parrot(fails);
    let node = ("ask", "type: task, fields: { agent: bird, prompt: Say aye }");
    let (code, run) = exec(&house, chain("", &[node]));
    let shown = house.json(&["run", "show", &run])["run"].clone();
    assert_eq!(shown["spent"]["tokens"], 700, "{shown}");
    assert_ne!(code, 0);
    let text = house.run(&["run", "show", &run]).out;
    assert!(text.contains("700 tokens, cost unknown"), "{text}");
}

#[test]
fn a_cancelled_agent_leaves_nothing_that_it_started_not_even_in_sessions_of_its_own() {
    let script = "echo $$ > own; setsid sleep 300 & echo $! > other; cat > /dev/null; sleep 301";
    let house = with_parrot(script);
    let node = ("slow", "type: task, fields: { agent: bird, prompt: Take your time }");
    house.write("talk.md", chain("", &[node]));
    let args = ["automation", "exec", "talk.md", "--provider", "parrot", "--detach", "--json"];
    let run = house.run(&args).json()["run_id"].as_str().unwrap().to_owned();
    let other = house.work().join("other");
    until("the agent works", || fs::read_to_string(&other).is_ok_and(|text| text.ends_with('\n')));
    assert_eq!(house.run(&["run", "cancel", &run]).code, 0);
    assert_eq!(house.json(&["run", "show", &run])["run"]["reason"], "cancelled");
    assert_gone(&line_of(&house.work().join("own")));
    assert_gone(&line_of(&other));
}

#[test]
fn a_provider_that_is_not_here_is_told_before_anything_is_started() {
    let house = with_parrot(ANSWERS);
    let node = ("ask", "type: task, fields: { agent: bird, prompt: Say aye }");
    house.write("talk.md", chain("", &[node]));
    for (name, why) in [("claude", "is not installed"), ("parot", "did you mean `parrot`?")] {
        let said = house.run(&["automation", "exec", "talk.md", "--provider", name, "--json"]);
        assert_eq!(said.error_code(), "provider_unavailable", "{said:?}");
        assert!(said.json()["error"]["message"].as_str().unwrap().contains(why), "{said:?}");
    }
    assert!(!house.home().join("logs").exists());
}

#[test]
fn settings_that_are_wrong_are_told_by_their_place_and_nothing_runs() {
    let house = with_parrot(ANSWERS);
    let file = house.home().join("settings/providers.toml");
    fs::write(&file, "[provider.parrot]\nprogram = \"x\"\nreplies = \"text\"\n").unwrap();
    let said = house.run(&["provider", "list", "--json"]);
    assert_eq!(said.error_code(), "invalid_request");
    let message = said.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("providers.toml") && message.contains("replies"), "{message}");
    let lines = house.run(&["doctor"]).out;
    assert!(lines.contains("providers.toml"), "{lines}");
}

#[test]
fn providers_are_listed_shown_and_asked_for_their_versions() {
    let house = with_parrot(ANSWERS);
    let listed = house.json(&["provider", "list"]);
    let names: Vec<&str> = listed["providers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["claude", "codex", "gemini", "opencode", "parrot"]);
    let shown = house.json(&["provider", "show", "codex"]);
    let plan = &shown["modes"][0];
    assert_eq!(plan["mode"], "plan");
    let args: Vec<&str> =
        plan["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    assert!(args.windows(2).any(|pair| pair == ["-s", "read-only"]), "{args:?}");
    let probed = house.json(&["provider", "probe", "parrot"]);
    assert_eq!(probed["probes"][0]["trouble"], serde_json::Value::Null, "{probed}");
    let said = house.run(&["provider", "show", "parot", "--json"]);
    assert_eq!(said.error_code(), "provider_unavailable");
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().chain([&0; 2]).take(3).fold(0, |word, byte| word << 8 | u32::from(*byte));
        for place in 0..=chunk.len() {
            let at = word >> (18 - 6 * place) & 63;
            text.push(char::from(LETTERS[usize::try_from(at).unwrap()]));
        }
    }
    text
}
