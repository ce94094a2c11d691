//! The live view on a screen, and output as it comes.

use std::fs::File;
use std::io::{BufReader, Read};
use std::process::Child;

use rustix::process::Signal;
use serde_json::Value;

use crate::house::{self, House, chain, finish, gated, on_screen, read_until, resize, send};
use crate::screen::Screen;

const SIZE: (u16, u16) = (80, 24);

/// Says something, then works until a file `go` appears.
fn talking() -> String {
    let command = "command: |\n  printf 'made\\033[2J of\\n'; echo clay; # and some more words\n  \
                   while [ ! -e go ]; do sleep 0.02; done\n  echo gone";
    chain("talking", &[("talk", "shell", command), ("last", "shell", "command: echo last")])
}

fn drawn(house: &House, args: &[&str]) -> (Child, BufReader<File>) {
    on_screen(house.command(args), Some(SIZE))
}

/// Everything that the command still writes, until it ends.
fn rest(screen: &mut BufReader<File>) -> String {
    let mut bytes = Vec::new();
    // A terminal that the last one has left is an error to read from.
    drop(screen.read_to_end(&mut bytes));
    String::from_utf8(bytes).unwrap()
}

fn only_run(house: &House) -> String {
    house.json(&["run", "list"])["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

/// How long something has taken until now is told in whole seconds.
fn without_seconds(word: &str) -> String {
    let core = word.trim_end();
    let is_length = core.strip_suffix('s').is_some_and(|number| number.parse::<u32>().is_ok());
    if is_length { word.replace(core, "0s") } else { word.to_owned() }
}

#[test]
fn a_run_is_drawn_in_place_and_its_end_stays() {
    let house = House::new();
    house.write("talking.md", talking());
    let (child, mut screen) = drawn(&house, &["automation", "exec", "talking.md"]);
    let mut bytes = read_until(&mut screen, "↳ talk: ");
    let seen = Screen::of(&bytes, SIZE).text();
    assert!(seen.contains("running ") && seen.contains("· last "), "{seen}");
    house.write("go", "");
    bytes.push_str(&rest(&mut screen));
    assert_eq!(finish(child).status.code(), Some(0));
    let end = Screen::of(&bytes, SIZE);
    let text = end.text();
    for once in ["run ", "start ", "✓ talk ", "✓ last ", "made\\x1b[2J of", " completed in "] {
        let count = text.matches(once).count();
        assert_eq!(count, if once == "run " { 2 } else { 1 }, "{once:?} in\n{text}");
    }
    assert!(!text.contains("▶") && !text.contains("Ctrl-C"), "{text}");
    assert!(end.cursor_is_at_the_beginning_of_an_empty_last_line(), "{text}");
}

#[test]
fn a_gate_is_left_with_its_question_and_the_commands() {
    let house = House::new();
    house.write("gated.md", gated());
    let (child, mut screen) = drawn(&house, &["automation", "exec", "gated.md"]);
    let text = Screen::of(&rest(&mut screen), SIZE).text();
    assert_eq!(finish(child).status.code(), Some(11));
    let text: String = text.split_inclusive([' ', '\n']).map(without_seconds).collect();
    insta::assert_snapshot!(house.normal(&text));
}

#[test]
fn ctrl_c_leaves_a_clean_terminal_and_the_run() {
    let house = House::new();
    house.write("talking.md", talking());
    let (child, mut screen) = drawn(&house, &["automation", "exec", "talking.md"]);
    let mut bytes = read_until(&mut screen, "↳ talk: ");
    send(&child, Signal::INT);
    bytes.push_str(&rest(&mut screen));
    assert_eq!(finish(child).status.code(), Some(130));
    let end = Screen::of(&bytes, SIZE);
    let text = end.text();
    assert!(end.cursor_is_at_the_beginning_of_an_empty_last_line(), "{text}");
    assert_eq!(text.matches("▶ talk").count(), 1, "{text}");
    let (_, said) = text.split_once("\ndetached; the run goes on").unwrap();
    assert!(said.contains(" run watch ") && said.contains(" run cancel "), "{text}");
    let run = only_run(&house);
    assert_eq!(house.status(&run), "running");
    house.write("go", "");
    assert_eq!(house.run(&["run", "watch", &run]).code, 0);
}

#[test]
fn a_second_ctrl_c_cancels_on_a_screen_too() {
    let house = House::new();
    house.write("talking.md", talking());
    let (child, mut screen) = drawn(&house, &["automation", "exec", "talking.md"]);
    read_until(&mut screen, "↳ talk: ");
    send(&child, Signal::INT);
    read_until(&mut screen, " run cancel ");
    send(&child, Signal::INT);
    assert!(rest(&mut screen).contains("the run is cancelled"));
    assert_eq!(finish(child).status.code(), Some(130));
    assert_eq!(house.json(&["run", "show", &only_run(&house)])["run"]["reason"], "cancelled");
}

#[test]
fn in_the_foreground_the_view_makes_way_for_what_is_said() {
    let house = House::new();
    house.write("talking.md", talking());
    let args = ["automation", "exec", "talking.md", "--foreground"];
    let (child, mut screen) = drawn(&house, &args);
    let mut bytes = read_until(&mut screen, "Ctrl-C cancels the run");
    bytes.push_str(&read_until(&mut screen, "↳ talk: "));
    send(&child, Signal::INT);
    bytes.push_str(&rest(&mut screen));
    assert_eq!(finish(child).status.code(), Some(130));
    let text = Screen::of(&bytes, SIZE).text();
    assert_eq!(text.matches("cancelling the run (SIGINT)").count(), 1, "{text}");
    assert_eq!(text.matches("talk ").count(), 1, "{text}");
    assert!(text.contains("failed (cancelled)"), "{text}");
}

#[test]
fn a_narrower_screen_gets_shorter_lines() {
    let house = House::new();
    house.write("talking.md", talking());
    let (child, mut screen) = drawn(&house, &["automation", "exec", "talking.md"]);
    read_until(&mut screen, "the run goes on");
    resize(screen.get_ref(), (30, 24));
    read_until(&mut screen, "the run go…");
    house.write("go", "");
    rest(&mut screen);
    assert_eq!(finish(child).status.code(), Some(0));
}

#[test]
fn after_a_stop_the_run_is_drawn_anew_below() {
    let house = House::new();
    house.write("talking.md", talking());
    let (child, mut screen) = drawn(&house, &["automation", "exec", "talking.md"]);
    let mut bytes = read_until(&mut screen, "the run goes on");
    send(&child, Signal::STOP);
    send(&child, Signal::CONT);
    bytes.push_str(&read_until(&mut screen, "\u{1b}[?2026h\r\u{1b}[2K"));
    house.write("go", "");
    bytes.push_str(&rest(&mut screen));
    assert_eq!(finish(child).status.code(), Some(0));
    let text = Screen::of(&bytes, SIZE).text();
    assert_eq!(text.matches(" · talking · ").count(), 2, "{text}");
}

#[test]
fn an_onlooker_sees_the_run_as_it_is() {
    let house = House::new();
    house.write("talking.md", talking());
    let document = house.json(&["automation", "exec", "talking.md", "--detach"]);
    let run = document["run_id"].as_str().unwrap();
    let (child, mut screen) = drawn(&house, &["run", "watch", run]);
    let mut bytes = read_until(&mut screen, "↳ talk: \u{1b}[2mclay");
    house.write("go", "");
    bytes.push_str(&rest(&mut screen));
    let text = Screen::of(&bytes, SIZE).text();
    assert!(text.contains("✓ last "), "{text}");
    assert_eq!(finish(child).status.code(), Some(0));
}

#[test]
fn events_are_told_one_by_one_where_nothing_can_be_drawn_or_they_are_asked_for() {
    let house = House::new();
    house.write("gated.md", gated());
    let run = house.exec("gated.md");
    let plain = house.run(&["run", "watch", &run]).out;
    assert!(plain.contains("started") && !plain.contains('\u{1b}'), "{plain}");
    let mut dumb = house.command(&["run", "watch", &run]);
    dumb.env("TERM", "dumb");
    let asked = house.command(&["run", "watch", &run, "--from", "0", "--color", "never"]);
    let small = house.command(&["run", "watch", &run, "--color", "never"]);
    for (command, size) in [(dumb, SIZE), (asked, SIZE), (small, (80, 2))] {
        let (child, mut screen) = on_screen(command, Some(size));
        let seen = rest(&mut screen).replace("\r\n", "\n");
        assert_eq!(finish(child).status.code(), Some(11));
        assert_eq!(seen, plain);
    }
}

#[test]
fn no_color_is_drawn_without_colors() {
    let house = House::new();
    house.write("gated.md", gated());
    let run = house.exec("gated.md");
    let mut command = house.command(&["run", "watch", &run]);
    command.env("NO_COLOR", "1");
    let (child, mut screen) = on_screen(command, Some(SIZE));
    let seen = rest(&mut screen);
    assert_eq!(finish(child).status.code(), Some(11));
    assert!(seen.contains("\u{1b}[?2026h"), "{seen:?}");
    let is_color =
        |part: &str| part.trim_start_matches(|c| "[;0123456789".contains(c)).starts_with('m');
    assert!(!seen.split('\u{1b}').skip(1).any(is_color), "{seen:?}");
}

#[test]
fn output_is_told_as_it_comes() {
    let house = House::new();
    house.write("talking.md", talking());
    let document = house.json(&["automation", "exec", "talking.md", "--detach"]);
    let run = document["run_id"].as_str().unwrap();
    let mut child = house.start(house.command(&["run", "logs", run, "--follow"]));
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let seen = read_until(&mut out, "clay");
    assert_eq!(seen, "== talk attempt 1 ==\nmade\\x1b[2J of\nclay\n");
    house.write("go", "");
    let mut seen = String::new();
    out.read_to_string(&mut seen).unwrap();
    assert_eq!(seen, "gone\n== last attempt 1 ==\nlast\n");
    assert_eq!(finish(child).status.code(), Some(0));
    let whole = house.run(&["run", "logs", run, "--follow", "--node", "last"]);
    assert_eq!((whole.code, &whole.out[..]), (0, "== last attempt 1 ==\nlast\n"));
}

#[test]
fn programs_get_output_a_json_object_a_line() {
    let house = House::new();
    house.write("talking.md", talking());
    house.write("go", "");
    let run = house.exec("talking.md");
    let said = house.run(&["run", "logs", &run, "--follow", "--json"]);
    assert_eq!((said.code, &said.talk[..]), (0, ""));
    let lines: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |node: &str| -> String {
        let of = lines.iter().filter(|line| line["node"] == node);
        of.map(|line| line["text"].as_str().unwrap()).collect()
    };
    assert_eq!(text("talk"), "made\u{1b}[2J of\nclay\ngone\n");
    assert_eq!(text("last"), "last\n");
    assert_eq!((&lines[0]["offset"], &lines[0]["schema"]), (&0.into(), &1.into()));
    let said = house.run(&["run", "logs", &run, "--follow", "--node", "nobody", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (2, "node_not_found"));
}

#[test]
fn a_signal_ends_the_listening_and_not_the_run() {
    let house = House::new();
    house.write("talking.md", talking());
    let document = house.json(&["automation", "exec", "talking.md", "--detach"]);
    let run = document["run_id"].as_str().unwrap();
    let mut child = house.start(house.command(&["run", "logs", run, "--follow"]));
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "clay");
    send(&child, Signal::INT);
    assert_eq!(house::said(finish(child)).code, 130);
    assert_eq!(house.status(run), "running");
    house.write("go", "");
    assert_eq!(house.run(&["run", "watch", run]).code, 0);
}
