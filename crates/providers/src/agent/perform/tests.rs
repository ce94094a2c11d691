//! Turns of small programs that behave as real ones do.

use std::path::PathBuf;

use durable::{Attempt, Round, Span};
use engine::{AttemptKey, RunId};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::agent::{Mode, Providers};
use crate::environment::HostEnv;
use crate::proc_table;

#[derive(Debug)]
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_000_000)
    }
}

struct Bench {
    folder: TempDir,
    key: AttemptKey,
    host_env: HostEnv,
    patience: Patience,
}

impl Bench {
    fn new(run: &str) -> Self {
        let key = AttemptKey {
            run: RunId::new(&format!("{run}-{}", std::process::id())).unwrap(),
            node: serde_json::from_value(json!("work")).unwrap(),
            round: Round::FIRST,
            attempt: Attempt::FIRST,
            proof: None,
        };
        Self {
            folder: TempDir::new().unwrap(),
            key,
            host_env: HostEnv::current(),
            patience: Patience::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A provider that is this shell text, with lines of JSON as its reply.
    fn adapter(text: &str) -> Adapter {
        let toml = format!(
            "[provider.sh]\nprogram = \"/bin/sh\"\nargs = [\"-c\", {text:?}]\nreply = \"json-lines\"\n\
             [provider.sh.read]\ntext = \"/text\"\nsession = \"/id\"\ndone = {{ at = \"/end\", is = true }}"
        );
        let (_, configured) =
            Providers::parse("providers.toml", &toml).unwrap().configured.pop_first().unwrap();
        Adapter::Configured(Box::new(configured))
    }

    fn request(&self) -> AgentRequest {
        AgentRequest {
            prompt: "the prompt".to_owned(),
            workspace: self.folder.path().to_owned(),
            folder: self.path("attempt"),
            ..AgentRequest::default()
        }
    }

    /// Performs the text; a line of notes that holds `stop me` stops it, and
    /// behind one that holds `enough` nothing more is noted.
    fn perform(&self, text: &str) -> (AgentEnd, String) {
        self.perform_as(&Self::adapter(text), &self.request(), None)
    }

    fn perform_as(
        &self,
        adapter: &Adapter,
        request: &AgentRequest,
        program: Option<&str>,
    ) -> (AgentEnd, String) {
        let place = AgentPlace {
            place: Place {
                workspace: self.folder.path(),
                host_env: &self.host_env,
                key: &self.key,
            },
            program,
            patience: self.patience,
            clock: &Fixed,
        };
        let stop = Stop::new().unwrap();
        let mut notes = String::new();
        let mut hear = |_, bytes: &[u8]| {
            notes.push_str(&String::from_utf8_lossy(bytes));
            if notes.contains("stop me") {
                stop.request();
            }
            if notes.contains("enough") {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let mut names = Vec::new();
        let mut named = |name: &str| names.push(name.to_owned());
        let end = perform_agent(adapter, request, &place, &stop, &mut hear, &mut named);
        assert_eq!(names, end.session.iter().cloned().collect::<Vec<_>>());
        (end, notes)
    }
}

fn code(end: &AgentEnd) -> (&str, Effect) {
    let Outcome::Failed(error) = &end.outcome else { panic!("{end:?}") };
    (&error.code, error.effect)
}

fn is_gone(pid: &str) -> bool {
    let pid = pid.trim().parse().unwrap();
    proc_table::process(pid).unwrap().is_none_or(|process| process.ended)
}

const DONE: &str = r#"echo '{"id":"s1","text":"yes"}'; echo '{"end":true}'"#;

#[test]
fn a_sink_that_has_heard_enough_hears_no_more_and_the_turn_is_read_to_its_end() {
    let bench = Bench::new("enough");
    let text = format!("echo '{{\"text\":\"enough\"}}'; echo oops >&2; {DONE}");
    let (end, notes) = bench.perform(&text);
    assert!(matches!(&end.outcome, Outcome::Replied { text, .. } if text == "yes"), "{end:?}");
    assert!(notes.ends_with("say: enough\n"), "{notes}");
}

#[test]
fn a_turn_reads_its_prompt_and_gives_its_answer() {
    let bench = Bench::new("turn");
    let text = format!("cat >prompt.txt; echo $TMPDIR >tmp.txt; echo oops >&2; {DONE}");
    let (end, notes) = bench.perform(&text);
    let replied =
        Outcome::Replied { text: "yes".to_owned(), session: Some("s1".to_owned()), usage: None };
    assert_eq!(end.outcome, replied);
    assert_eq!(std::fs::read_to_string(bench.path("prompt.txt")).unwrap(), "the prompt");
    let tmp = std::fs::read_to_string(bench.path("tmp.txt")).unwrap();
    assert_eq!(PathBuf::from(tmp.trim()), bench.path("attempt/tmp"));
    assert!(bench.path("attempt/tmp").is_dir());
    assert!(notes.contains("say: yes\n") && notes.contains("oops\n"), "{notes}");
}

#[test]
fn what_the_agent_left_in_sessions_of_its_own_is_gone_after_a_good_end() {
    let bench = Bench::new("left");
    let text =
        format!("setsid sleep 300 & echo $! >pid; (setsid sleep 301 & echo $! >pid2); {DONE}");
    let (end, _) = bench.perform(&text);
    assert!(matches!(end.outcome, Outcome::Replied { .. }), "{end:?}");
    for file in ["pid", "pid2"] {
        assert!(is_gone(&std::fs::read_to_string(bench.path(file)).unwrap()));
    }
}

#[test]
fn a_stop_ends_the_whole_tree() {
    let bench = Bench::new("stop");
    let text =
        "trap '' TERM; setsid sleep 300 & echo $! >pid; echo '{\"text\":\"stop me\"}'; sleep 300";
    let (end, _) = bench.perform(text);
    assert_eq!(end.outcome, Outcome::Stopped);
    assert!(is_gone(&std::fs::read_to_string(bench.path("pid")).unwrap()));
}

#[test]
fn each_limit_of_time_has_its_code_and_leaves_the_effect_open() {
    let mut bench = Bench::new("limits");
    let short = Span::from_millis(200);
    bench.patience = Patience { start: short, ..Patience::default() };
    assert_eq!(code(&bench.perform("sleep 300").0), ("no_start", Effect::Uncertain));
    bench.patience = Patience { idle: short, ..Patience::default() };
    let text = "echo '{\"id\":\"s1\"}'; sleep 300";
    let (end, _) = bench.perform(text);
    assert_eq!(code(&end), ("idle", Effect::Uncertain));
    assert_eq!(end.session.as_deref(), Some("s1"));
    bench.patience = Patience { total: short, ..Patience::default() };
    let text = "while :; do echo '{\"id\":\"s1\"}'; sleep 0.01; done";
    assert_eq!(code(&bench.perform(text).0), ("timeout", Effect::Uncertain));
}

#[test]
fn a_program_that_does_not_leave_after_its_answer_is_ended_and_believed() {
    let mut bench = Bench::new("linger");
    bench.patience = Patience { linger: Span::from_millis(200), ..Patience::default() };
    let claude = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}'; sleep 300"#;
    let fake = bench.path("claude");
    std::fs::write(&fake, format!("#!/bin/sh\n{claude}\n")).unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (end, _) = bench.perform_as(&Adapter::Claude, &bench.request(), fake.to_str());
    assert!(matches!(&end.outcome, Outcome::Replied { text, .. } if text == "done"), "{end:?}");
}

#[test]
fn only_its_own_credentials_reach_a_provider() {
    let mut bench = Bench::new("env");
    let names =
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "OWN"];
    let path = std::env::var_os("PATH").unwrap();
    let vars = names.iter().map(|name| ((*name).into(), "secret".into()));
    bench.host_env = HostEnv::new(vars.chain([("PATH".into(), path)]));
    let fake = bench.path("fake");
    std::fs::write(&fake, "#!/bin/sh\nenv >env.txt\n").unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let request = AgentRequest { env_pass: vec!["OWN".to_owned()], ..bench.request() };
    for (adapter, own) in [
        (Adapter::Claude, "ANTHROPIC_API_KEY OWN"),
        (Adapter::Codex, "OPENAI_API_KEY OWN"),
        (Adapter::Gemini, "GEMINI_API_KEY OWN"),
    ] {
        let (end, _) = bench.perform_as(&adapter, &request, fake.to_str());
        assert_eq!(code(&end).0, "no_completion");
        let env = std::fs::read_to_string(bench.path("env.txt")).unwrap();
        let got: Vec<&str> = names
            .into_iter()
            .filter(|name| env.lines().any(|l| l.starts_with(&format!("{name}="))))
            .collect();
        assert_eq!(got.join(" "), own);
        assert!(env.contains("WARDIAN_RUN_ID="));
    }
}

#[test]
fn a_program_that_is_not_there_is_not_installed() {
    let bench = Bench::new("missing");
    let (end, _) = bench.perform_as(&Adapter::Gemini, &bench.request(), Some("no-such-agent"));
    assert_eq!(code(&end), ("not_installed", Effect::None));
}

#[test]
fn files_of_the_attempt_are_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new("files");
    let request = AgentRequest {
        instructions: Some("Be brief.".to_owned()),
        mode: Mode::Plan,
        ..bench.request()
    };
    std::fs::create_dir(bench.path("attempt")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", bench.path("attempt/instructions.md")).unwrap();
    drop(bench.perform_as(&Adapter::Claude, &request, Some("/bin/true")));
    let file = bench.path("attempt/instructions.md");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Be brief.");
    let meta = std::fs::symlink_metadata(&file).unwrap();
    assert_eq!((meta.permissions().mode() & 0o777, meta.is_file()), (0o600, true));
}

#[test]
fn a_known_reset_is_a_wait_from_now() {
    let bench = Bench::new("reset");
    let fake = bench.path("claude");
    let lines = [
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1090},"session_id":"s"}"#,
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"no","terminal_reason":"api_error","session_id":"s"}"#,
    ];
    std::fs::write(&fake, format!("#!/bin/sh\necho '{}'\necho '{}'\nexit 1\n", lines[0], lines[1]))
        .unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (end, _) = bench.perform_as(&Adapter::Claude, &bench.request(), fake.to_str());
    let Outcome::Failed(error) = end.outcome else { panic!("{end:?}") };
    assert_eq!((error.code.as_str(), error.effect), ("limit_reached", Effect::None));
    assert_eq!(error.retry_after, Some(Span::from_secs(90)));
}
