//! What real programs said, and what is read from it. The transcripts were
//! recorded against a local model server, each in the case that it is named
//! after; names of sessions and folders are made up.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::agent::{Adapter, AgentRequest, Mode, Reader, Reading};
use crate::process::{Exit, Stream};

struct Transcript {
    name: String,
    exit: Exit,
    stdout: String,
    stderr: String,
}

fn folder(provider: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(provider)
}

fn transcript(provider: &str, name: &str) -> Transcript {
    let text = fs::read_to_string(folder(provider).join(format!("{name}.txt"))).unwrap();
    let (exit, rest) = text.split_once("\n--- stdout\n").unwrap();
    let (stdout, stderr) = rest.split_once("\n--- stderr").unwrap();
    let exit = match exit.split_once(' ').unwrap().1.split_once(' ').unwrap() {
        ("code", code) => Exit::Code(code.parse().unwrap()),
        (_, signal) => Exit::Signal(signal.parse().unwrap()),
    };
    Transcript {
        name: name.to_owned(),
        exit,
        stdout: format!("{stdout}\n"),
        stderr: stderr.to_owned(),
    }
}

fn all(provider: &str) -> Vec<Transcript> {
    let mut names: Vec<String> = fs::read_dir(folder(provider))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.strip_suffix(".txt").unwrap().to_owned())
        .collect();
    names.sort();
    names.iter().map(|name| transcript(provider, name)).collect()
}

/// The request that the transcript answers, as far as a reader knows it.
fn request(transcript: &Transcript) -> AgentRequest {
    let mode = match transcript.name.rsplit('-').next() {
        Some("plan") => Mode::Plan,
        Some("edit") => Mode::Edit,
        Some(_) | None => Mode::Full,
    };
    AgentRequest { prompt: "p".to_owned(), mode, ..AgentRequest::default() }
}

fn read(mut reader: Reader, transcript: &Transcript, chunk: usize) -> (Reading, Vec<String>) {
    let mut notes = Vec::new();
    let mut say = |line: &dyn std::fmt::Display| notes.push(line.to_string());
    for part in transcript.stdout.as_bytes().chunks(chunk) {
        reader.feed(Stream::Stdout, part, &mut say);
    }
    for part in transcript.stderr.as_bytes().chunks(chunk) {
        reader.feed(Stream::Stderr, part, &mut say);
    }
    (reader.end(transcript.exit), notes)
}

/// One paragraph for each transcript: how it ended, what was read, what
/// people saw.
fn told(adapter: &Adapter, provider: &str) -> String {
    let mut text = String::new();
    for transcript in all(provider) {
        let reader = adapter.reader(&request(&transcript));
        let (reading, notes) = read(reader, &transcript, 4096);
        writeln!(text, "{} ({:?})", transcript.name, transcript.exit).unwrap();
        match &reading.result {
            Ok(answer) => writeln!(text, "  answer: {answer}").unwrap(),
            Err(error) => {
                let (class, effect) = (error.class.word(), error.effect.word());
                writeln!(text, "  {class} {} effect {effect}", error.code).unwrap();
                writeln!(text, "  {}", error.message).unwrap();
                if let Some(wait) = error.retry_after {
                    writeln!(text, "  retry after {wait}").unwrap();
                }
            }
        }
        if let Some(reset) = reading.resets {
            writeln!(text, "  resets {reset:?}").unwrap();
        }
        let usage = reading.usage;
        writeln!(
            text,
            "  session {} tokens {:?} cost {:?} denied {:?} unread {}",
            reading.session.as_deref().unwrap_or("none"),
            usage.tokens,
            usage.cost_micros,
            reading.denied,
            reading.unread_lines
        )
        .unwrap();
        for note in notes {
            writeln!(text, "  | {note}").unwrap();
        }
    }
    text
}

#[test]
fn what_claude_said_is_read() {
    insta::assert_snapshot!(told(&Adapter::Claude, "claude"));
}

#[test]
fn what_codex_said_is_read() {
    insta::assert_snapshot!(told(&Adapter::Codex, "codex"));
}

#[test]
fn what_gemini_said_is_read() {
    insta::assert_snapshot!(told(&Adapter::Gemini, "gemini"));
}

#[test]
fn what_opencode_said_is_read() {
    insta::assert_snapshot!(told(&Adapter::OpenCode, "opencode"));
}

const PROVIDERS: [(Adapter, &str); 4] = [
    (Adapter::Claude, "claude"),
    (Adapter::Codex, "codex"),
    (Adapter::Gemini, "gemini"),
    (Adapter::OpenCode, "opencode"),
];

#[test]
fn the_pieces_in_which_output_comes_make_no_difference() {
    for (adapter, provider) in PROVIDERS {
        for name in ["ok", "tool", "rate-limit"] {
            let transcript = transcript(provider, name);
            let whole = read(adapter.reader(&request(&transcript)), &transcript, usize::MAX);
            for chunk in [1, 7, 1000] {
                let pieces = read(adapter.reader(&request(&transcript)), &transcript, chunk);
                assert_eq!(pieces, whole, "{provider} {name} {chunk}");
            }
        }
    }
}

/// The law: without the program's own word that the turn ended there is no
/// success, wherever its output breaks off and however it exits.
#[test]
fn an_output_cut_before_its_end_is_never_a_success() {
    for (adapter, provider) in PROVIDERS {
        for name in ["ok", "tool", "decision"] {
            let transcript = transcript(provider, name);
            let lines: Vec<&str> = transcript.stdout.lines().collect();
            for kept in 0..lines.len() {
                let stdout = lines[..kept].join("\n");
                for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal(9)] {
                    let cut =
                        Transcript { stdout: stdout.clone(), exit, ..transcript_of(&transcript) };
                    let (reading, _) = read(adapter.reader(&request(&cut)), &cut, 4096);
                    assert!(reading.result.is_err(), "{provider} {name} {kept} {exit:?}");
                }
            }
        }
    }
}

fn transcript_of(other: &Transcript) -> Transcript {
    Transcript {
        name: other.name.clone(),
        exit: other.exit,
        stdout: other.stdout.clone(),
        stderr: other.stderr.clone(),
    }
}

#[test]
fn an_agent_that_is_cut_short_again_and_again_is_given_up() {
    let cut = transcript("opencode", "disconnect");
    let mut reader = Adapter::OpenCode.reader(&request(&cut));
    let mut rounds = 0;
    while !reader.is_complete() {
        rounds += 1;
        assert!(rounds < 10, "it goes on for ever");
        reader.feed(Stream::Stdout, cut.stdout.as_bytes(), &mut |_| {});
    }
    let error = reader.end(Exit::Signal(15)).result.unwrap_err();
    assert_eq!((error.code.as_str(), error.effect), ("connection_lost", engine::Effect::Uncertain));
}

#[test]
fn noise_between_the_lines_is_counted_and_changes_nothing() {
    for (adapter, provider) in PROVIDERS {
        let plain = transcript(provider, "ok");
        let noisy: Vec<String> = plain
            .stdout
            .lines()
            .map(|line| format!("warning: {{ not json\n[1,2]\n{line}\nnull"))
            .collect();
        let noisy = Transcript { stdout: noisy.join("\n"), ..transcript(provider, "ok") };
        let (before, _) = read(adapter.reader(&request(&plain)), &plain, 4096);
        let (after, _) = read(adapter.reader(&request(&noisy)), &noisy, 4096);
        assert_eq!(after.result, before.result, "{provider}");
        assert_eq!(after.unread_lines, 3 * plain.stdout.lines().count() as u64, "{provider}");
    }
}

#[test]
fn a_turn_in_another_session_is_no_success() {
    for (adapter, provider) in PROVIDERS {
        let transcript = transcript(provider, "ok");
        let resume = Some("00000000-0000-7000-8000-00000000ffff".to_owned());
        let asked = AgentRequest { resume, ..request(&transcript) };
        let (reading, _) = read(adapter.reader(&asked), &transcript, 4096);
        assert_eq!(reading.result.unwrap_err().code, "session_changed", "{provider}");
        let own = AgentRequest { resume: reading.session, ..request(&transcript) };
        assert!(read(adapter.reader(&own), &transcript, 4096).0.result.is_ok(), "{provider}");
    }
}

#[test]
fn a_thread_total_is_what_this_turn_used_only_when_the_rest_is_known() {
    let turn = transcript("codex", "resume");
    let session = Some("00000000-0000-7000-8000-000000000001".to_owned());
    let tokens = |resume: &Option<String>, used_before| {
        let asked = AgentRequest { resume: resume.clone(), used_before, ..request(&turn) };
        let (reading, _) = read(Adapter::Codex.reader(&asked), &turn, 4096);
        (reading.usage.tokens, reading.session_tokens)
    };
    assert_eq!(tokens(&None, None), (Some(20_759), Some(20_759)));
    assert_eq!(tokens(&session, None), (None, Some(20_759)));
    assert_eq!(tokens(&session, Some(10_335)), (Some(10_424), Some(20_759)));
    assert_eq!(tokens(&session, Some(99_999)), (None, Some(20_759)));
}

#[test]
fn a_codex_command_that_may_have_acted_unseen_leaves_no_certainty() {
    let limit = transcript("codex", "rate-limit");
    let effect = |mode, tools: &[&str]| {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let asked = AgentRequest { mode, tools, ..request(&limit) };
        read(Adapter::Codex.reader(&asked), &limit, 4096).0.result.unwrap_err().effect
    };
    assert_eq!(effect(Mode::Plan, &[]), engine::Effect::None);
    assert_eq!(effect(Mode::Full, &[]), engine::Effect::None);
    assert_eq!(effect(Mode::Edit, &[]), engine::Effect::Done);
    assert_eq!(effect(Mode::Custom, &["shell", "write"]), engine::Effect::Done);
    assert_eq!(effect(Mode::Custom, &["shell"]), engine::Effect::None);
}

#[test]
fn a_tool_that_was_called_before_the_service_failed_has_acted() {
    let tool = transcript("claude", "tool");
    let failed = transcript("claude", "rate-limit");
    let mut lines: Vec<&str> = tool.stdout.lines().collect();
    lines.pop();
    lines.extend(failed.stdout.lines().skip(1));
    let both =
        Transcript { stdout: lines.join("\n"), exit: Exit::Code(1), ..transcript_of(&failed) };
    let (reading, _) = read(Adapter::Claude.reader(&request(&both)), &both, 4096);
    let error = reading.result.unwrap_err();
    assert_eq!((error.code.as_str(), error.effect), ("rate_limited", engine::Effect::Done));
}

#[test]
fn an_agent_that_writes_of_errors_in_a_good_answer_is_believed() {
    let answer = "HTTP status 429, rate limit reached, invalid api key, prompt is too long";
    let line = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": answer,
        "terminal_reason": "completed", "session_id": "s"
    });
    let turn = Transcript {
        name: "x".to_owned(),
        exit: Exit::Code(0),
        stdout: line.to_string(),
        stderr: "status 401 Unauthorized".to_owned(),
    };
    let (reading, _) = read(Adapter::Claude.reader(&request(&turn)), &turn, 4096);
    assert_eq!(reading.result.as_deref(), Ok(answer));
}

#[test]
fn endless_output_is_read_in_bounded_memory() {
    let mut reader = Adapter::Claude.reader(&AgentRequest::default());
    let block = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        reader.feed(Stream::Stdout, &block, &mut |_| {});
        reader.feed(Stream::Stderr, &block, &mut |_| {});
    }
    reader.feed(Stream::Stdout, b"\n", &mut |_| {});
    assert!(reader.stderr.len() <= 8 << 10);
    let reading = reader.end(Exit::Code(0));
    assert_eq!(
        (reading.unread_lines, reading.result.unwrap_err().code.as_str()),
        (1, "malformed_output")
    );
}
