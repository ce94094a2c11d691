//! Descriptions good and bad, what is asked by them, and what is read.

use super::*;
use crate::agent::{Adapter, AgentRequest, Reading};
use crate::process::{Exit, Stream};

const FULL: &str = r#"
[provider.mine]
program = "mine"
args = ["--batch", "--in={workspace}", "{prompt_file}"]
model_args = ["--model", "{model}"]
resume_args = ["--session={session}"]
schema_args = ["--schema", "{schema_file}"]
tool_args = ["--tool", "{tool}"]
modes = { plan = ["--read-only"], edit = [], custom = ["--only"] }
prompt = "file"
reply = "json-lines"
limits = ["quota used up"]
env = { MINE_QUIET = "1" }
env_pass = ["MINE_KEY"]

[provider.mine.read]
text = "/message/text"
session = "/id"
tokens = ["/usage/in", "/usage/out"]
cost_usd = "/usage/usd"
error = "/error"
done = { at = "/type", is = "end" }

[provider.claude]
program = "/opt/claude"
env_pass = ["OWN_TOKEN"]
"#;

fn parse(text: &str) -> Providers {
    Providers::parse("settings/providers.toml", text).unwrap()
}

fn adapter(text: &str) -> Adapter {
    let (_, configured) = parse(text).configured.pop_first().unwrap();
    Adapter::Configured(Box::new(configured))
}

fn request() -> AgentRequest {
    AgentRequest {
        prompt: "Do {model} and {prompt_file}.".to_owned(),
        workspace: "/work".into(),
        folder: "/attempt".into(),
        ..AgentRequest::default()
    }
}

fn read(adapter: &Adapter, stdout: &str, stderr: &str, exit: Exit) -> Reading {
    let mut reader = adapter.reader(&request());
    for chunk in stdout.as_bytes().chunks(3) {
        reader.feed(Stream::Stdout, chunk, &mut |_| {});
    }
    reader.feed(Stream::Stderr, stderr.as_bytes(), &mut |_| {});
    reader.end(exit)
}

fn code(reading: Reading) -> String {
    let error = reading.result.unwrap_err();
    format!("{} {} {}", error.class.word(), error.code, error.effect.word())
}

#[test]
fn everything_that_is_described_is_asked_for() {
    let asked = AgentRequest {
        model: Some("m{prompt_file}".to_owned()),
        resume: Some("s1".to_owned()),
        mode: Mode::Custom,
        tools: vec!["read".to_owned(), "{model}".to_owned()],
        choices: vec!["yes".to_owned()],
        ..request()
    };
    insta::assert_debug_snapshot!(adapter(FULL).launch(&asked).unwrap());
    assert_eq!(
        parse(FULL).changed["claude"],
        Changed { program: Some("/opt/claude".to_owned()), env_pass: vec!["OWN_TOKEN".to_owned()] }
    );
}

#[test]
fn what_nothing_says_how_to_ask_for_is_refused() {
    let small = adapter("[provider.small]\nprogram = \"small\"");
    let refused = |request: &AgentRequest| small.launch(request).unwrap_err().code;
    assert_eq!(small.launch(&request()).unwrap().stdin, request().prompt);
    let word = Some("x".to_owned());
    assert_eq!(refused(&AgentRequest { model: word.clone(), ..request() }), "not_supported");
    assert_eq!(refused(&AgentRequest { resume: word, ..request() }), "not_supported");
    for mode in [Mode::Plan, Mode::Custom] {
        assert_eq!(refused(&AgentRequest { mode, ..request() }), "mode_not_supported");
    }
    let full = AgentRequest { mode: Mode::Full, ..request() };
    assert_eq!(adapter(FULL).launch(&full).unwrap_err().code, "mode_not_supported");
}

#[test]
fn a_prompt_in_an_argument_is_bounded_and_told() {
    let text = "[provider.arg]\nprogram = \"arg\"\nargs = [\"-p\", \"{prompt}\"]\nprompt = \"arg\"";
    let launch = adapter(text).launch(&request()).unwrap();
    assert_eq!(launch.args, ["-p", &request().prompt]);
    assert!(launch.warnings[0].contains("everybody on this machine can read"), "{launch:?}");
    let long = AgentRequest { prompt: "x".repeat((96 << 10) + 1), ..request() };
    assert_eq!(adapter(text).launch(&long).unwrap_err().code, "prompt_too_large");
}

#[test]
fn plain_text_is_an_answer_when_it_is_there_and_the_program_ended_well() {
    let text = adapter("[provider.t]\nprogram = \"t\"\nlimits = [\"Quota Used\"]");
    let good = read(&text, "{\"a\": 1}\n\n  two\n", "noise", Exit::Code(0));
    assert_eq!(good.result.as_deref(), Ok("{\"a\": 1}\n\n  two"));
    assert_eq!(code(read(&text, " \n", "", Exit::Code(0))), "transient empty_answer done");
    assert_eq!(code(read(&text, "half", "oh no", Exit::Code(3))), "unknown exit uncertain");
    assert_eq!(code(read(&text, "half", "", Exit::Signal(9))), "unknown exit uncertain");
    let limit = read(&text, "", "error: quota used up, try again in 5m", Exit::Code(1));
    assert_eq!(limit.result.as_ref().unwrap_err().retry_after, Some(durable::Span::from_secs(300)));
    assert_eq!(code(limit), "transient limit_reached uncertain");
}

#[test]
fn a_document_is_read_by_its_pointers() {
    let json = adapter(
        "[provider.j]\nprogram = \"j\"\nreply = \"json\"\n\
         read = { text = \"/a/0\", error = \"/error\", session = \"/id\" }",
    );
    let good = read(
        &json,
        "{\n \"a\": [\"yes\"],\n \"error\": null,\n\"id\": \"s\"}\n",
        "",
        Exit::Code(0),
    );
    assert_eq!((good.result.as_deref(), good.session.as_deref()), (Ok("yes"), Some("s")));
    assert_eq!(
        code(read(&json, "{\"a\": [\"y", "", Exit::Code(0))),
        "unknown malformed_output uncertain"
    );
    assert_eq!(code(read(&json, "{}", "", Exit::Code(0))), "transient empty_answer done");
    let failed = "{\"a\": [\"yes\"], \"error\": \"no\"}";
    assert_eq!(code(read(&json, failed, "", Exit::Code(0))), "unknown error_event done");
}

#[test]
fn lines_need_the_one_that_ends_the_turn() {
    let lines = adapter(FULL);
    let said =
        "{\"id\":\"s\",\"message\":{\"text\":\"first\"}}\n{\"message\":{\"text\":\"last\"}}\n";
    let end = "{\"type\":\"end\",\"usage\":{\"in\":3,\"out\":4,\"usd\":0.5}}\n";
    let good = read(&lines, &format!("{said}noise\n{end}"), "", Exit::Code(0));
    assert_eq!((good.result.as_deref(), good.session.as_deref()), (Ok("last"), Some("s")));
    assert_eq!((good.usage.tokens, good.usage.cost_micros), (Some(7), Some(500_000)));
    assert_eq!(good.unread_lines, 1);
    assert_eq!(code(read(&lines, said, "", Exit::Code(0))), "unknown no_completion uncertain");
    let limit = format!("{said}{{\"error\":{{\"m\":\"Quota used up\"}}}}\n{end}");
    assert_eq!(code(read(&lines, &limit, "", Exit::Code(0))), "transient limit_reached done");
}

#[test]
fn a_mistake_names_its_place_the_cause_and_the_next_step() {
    let with = |keys: &str| format!("[provider.x]\nprogram = \"x\"\n{keys}");
    let mut told = String::new();
    for text in [
        "provider = 3".to_owned(),
        "[provider.x]\nprogram = \"x".to_owned(),
        "[provider.X]\nprogram = \"x\"".to_owned(),
        "[provider.x]\nargs = []".to_owned(),
        "[provider.x]\nprogram = \"bin/x\"".to_owned(),
        "[provider.codex]\nargs = []".to_owned(),
        with("arg = []"),
        with("prompt = \"argv\""),
        with("prompt = \"file\""),
        with("args = [\"{prompt}\"]"),
        with("model_args = [\"-m\"]"),
        with("modes = { yolo = [] }"),
        with("modes = { custom = [] }"),
        with("reply = \"xml\""),
        with("reply = \"json\""),
        with("read = { text = \"/a\" }"),
        with("reply = \"json\"\nread = { text = \"a\" }"),
        with("reply = \"json-lines\"\nread = { text = \"/a\" }"),
        with("limits = [\"no\"]"),
        with("env_pass = [\"WARDIAN_RUN_ID\"]"),
        format!("# {}", "x".repeat(300_000)),
    ] {
        let error = Providers::parse("settings/providers.toml", &text).unwrap_err();
        told.push_str(&format!("{error}\n"));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn an_empty_file_describes_nobody() {
    assert_eq!(parse(""), Providers::default());
}

/// The example of the page, on what the real program said.
#[test]
fn the_program_of_the_page_is_read_as_the_page_says() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/providers/command.md")).unwrap();
    let toml = page.split("```toml").find(|block| block.contains("[provider.pi]")).unwrap();
    let pi = adapter(toml.split("```").next().unwrap());
    let mut told = String::new();
    for case in ["ok", "tool", "rate-limit", "auth-error", "empty", "resume"] {
        let file = root.join(format!("tests/transcripts/pi/{case}.txt"));
        let text = std::fs::read_to_string(file).unwrap();
        let (_, rest) = text.split_once("--- stdout\n").unwrap();
        let (stdout, _) = rest.split_once("\n--- stderr").unwrap();
        let Reading { result, session, usage, .. } = read(&pi, stdout, "", Exit::Code(0));
        let result = result.map_err(|error| {
            format!("{} {} {}", error.class.word(), error.code, error.effect.word())
        });
        told.push_str(&format!("{case}: {result:?} {session:?} {:?}\n", usage.tokens));
    }
    insta::assert_snapshot!(told);
    for mode in [Mode::Plan, Mode::Edit, Mode::Full] {
        assert!(pi.launch(&AgentRequest { mode, ..request() }).is_ok());
    }
}

#[test]
fn a_default_is_one_that_there_is() {
    let with = |name: &str| {
        let text = format!("default = \"{name}\"\n[provider.mine]\nprogram = \"mine\"\n");
        Providers::parse("f", &text).map(|read| read.default).map_err(|error| error.to_string())
    };
    assert_eq!(with("mine"), Ok(Some("mine".to_owned())));
    assert_eq!(with("codex"), Ok(Some("codex".to_owned())));
    assert_eq!(parse("").default, None);
    assert_eq!(
        with("codx"),
        Err("f: default: there is no provider `codx`; did you mean `codex`?".to_owned())
    );
    assert_eq!(
        with("scripted"),
        Err("f: default: there is no provider `scripted`; \
             there are: claude, codex, gemini, opencode, mine"
            .to_owned())
    );
}
