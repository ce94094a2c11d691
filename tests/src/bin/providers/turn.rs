//! One case inside its own network: the turn, by the code that runs use, and
//! the verdict in one line that begins with `ok` when all is as it must be.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use durable::{Attempt, Clock, Round, Span, Timestamp};
use engine::{AttemptKey, Outcome, RunId};
use providers::agent::{
    Adapter, AgentEnd, AgentPlace, AgentRequest, Mode, Patience, perform_agent,
};
use providers::{HostEnv, Place, Stop, reap_run};
use serde_json::json;

use crate::cases::{CASES, Case, Expected, Kind};

/// Variables by which the programs are pointed at the server.
const PRESET: [&str; 3] = ["FAKE_KEY", "FAKE_MODELS_URL", "GEMINI_CLI_TRUST_WORKSPACE"];

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }
}

/// A place to work in and the name of the attempt.
struct Scene {
    adapter: Adapter,
    work: PathBuf,
    folder: PathBuf,
    program: String,
    key: AttemptKey,
}

pub(crate) fn judge(name: &str, case: &str, home: &Path, program: &str) -> String {
    let Some(case) = CASES.iter().find(|other| other.name == case) else {
        return format!("there is no case {case}");
    };
    let Some(scene) = Scene::new(name, home, program) else {
        return "the place cannot be made".to_owned();
    };
    // What loses its parent comes to this process, as it does to a worker.
    let own = rustix::process::getpid();
    if rustix::process::set_child_subreaper(Some(own)).is_err() {
        return "orphans cannot be taken in".to_owned();
    }
    let end = scene.perform(case);
    let verdict = scene.verdict(case, &end, &case.expected.for_provider(name));
    match (reap_run(scene.key.run.as_str()), verdict) {
        (Ok(left), _) if left.found > 0 => format!("{} processes were left", left.found),
        (Err(error), _) => format!("what is left cannot be seen: {error}"),
        (Ok(_), Ok(said)) => format!("ok {said}"),
        (Ok(_), Err(said)) => format!("WRONG {said}"),
    }
}

impl Scene {
    fn new(name: &str, home: &Path, program: &str) -> Option<Self> {
        let adapter = Adapter::BUILT_IN.into_iter().find(|a| a.name().word() == name)?;
        let (work, folder) = (home.join("work"), home.join("attempt"));
        fs::create_dir_all(&work).ok()?;
        let git =
            std::process::Command::new("git").args(["init", "-q"]).current_dir(&work).status();
        git.ok().filter(std::process::ExitStatus::success)?;
        let key = AttemptKey {
            run: RunId::new(&format!("{name}-{}", std::process::id())).ok()?,
            node: serde_json::from_value(json!("work")).ok()?,
            round: Round::FIRST,
            attempt: Attempt::FIRST,
            proof: None,
        };
        Some(Self { adapter, work, folder, program: program.to_owned(), key })
    }

    fn request(&self, case: &Case) -> AgentRequest {
        let tools: &[&str] = match (case.kind, &self.adapter) {
            (Kind::Custom, Adapter::Claude) => &["Bash(git status)"],
            (Kind::Custom, Adapter::Codex) => &["shell"],
            (Kind::Custom, Adapter::Gemini) => &["run_shell_command(git status)"],
            (Kind::Custom, Adapter::OpenCode) => &["bash(git status*)"],
            (
                Kind::Plain
                | Kind::Decision
                | Kind::Schema
                | Kind::Resume
                | Kind::NoSession
                | Kind::Stop
                | Kind::Impatient,
                _,
            )
            | (Kind::Custom, Adapter::Configured(_)) => &[],
        };
        let unknown = match self.adapter {
            Adapter::OpenCode => "ses_00000000ffffAAAAAAAAAAAAAA",
            Adapter::Claude | Adapter::Codex | Adapter::Gemini | Adapter::Configured(_) => {
                "00000000-0000-4000-8000-000000000000"
            }
        };
        let decides = case.kind == Kind::Decision;
        AgentRequest {
            prompt: case.prompt.to_owned(),
            mode: case.mode,
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            choices: if decides { vec!["approve".into(), "reject".into()] } else { Vec::new() },
            schema: (case.kind == Kind::Schema).then(|| {
                json!({
                    "type": "object",
                    "properties": { "chosen": {"type": "string"}, "reason": {"type": "string"} },
                    "required": ["chosen", "reason"],
                    "additionalProperties": false
                })
            }),
            resume: (case.kind == Kind::NoSession).then(|| unknown.to_owned()),
            instructions: (case.mode == Mode::Edit).then(|| "Be brief.".to_owned()),
            workspace: self.work.clone(),
            folder: self.folder.clone(),
            env_pass: PRESET.map(str::to_owned).into(),
            ..AgentRequest::default()
        }
    }

    fn perform(&self, case: &Case) -> AgentEnd {
        let request = self.request(case);
        let end = self.turn(case, &request);
        if case.kind != Kind::Resume {
            return end;
        }
        let again =
            AgentRequest { resume: end.session, used_before: end.session_tokens, ..request };
        let second = self.turn(case, &again);
        if second.session != again.resume || again.resume.is_none() {
            return Outcome::Lost { message: "the session did not go on".to_owned() }.into();
        }
        second
    }

    fn turn(&self, case: &Case, request: &AgentRequest) -> AgentEnd {
        let host_env = HostEnv::current();
        let impatient = Patience {
            total: Span::from_secs(60),
            start: Span::from_secs(30),
            idle: Span::from_secs(8),
            linger: Span::from_secs(8),
        };
        let patience = match case.kind {
            Kind::Impatient => impatient,
            Kind::Plain
            | Kind::Decision
            | Kind::Schema
            | Kind::Resume
            | Kind::NoSession
            | Kind::Stop
            | Kind::Custom => Patience { total: Span::from_secs(400), ..Patience::default() },
        };
        let place = AgentPlace {
            place: Place { workspace: &self.work, host_env: &host_env, key: &self.key },
            program: Some(&self.program),
            patience,
            clock: &Still,
        };
        let Ok(stop) = Stop::new() else {
            return Outcome::Lost { message: "no descriptors".to_owned() }.into();
        };
        if case.kind != Kind::Stop {
            return perform_agent(
                &self.adapter,
                request,
                &place,
                &stop,
                &mut |_, _| ControlFlow::Break(()),
                &mut |_| {},
            );
        }
        let (over, is_over) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let wish = stop.clone();
            scope.spawn(move || self.stop_in_the_middle(case, &wish, &is_over));
            let end = perform_agent(
                &self.adapter,
                request,
                &place,
                &stop,
                &mut |_, _| ControlFlow::Break(()),
                &mut |_| {},
            );
            drop(over);
            end
        })
    }

    /// Stops once the tool runs, or the model is asked.
    fn stop_in_the_middle(&self, case: &Case, stop: &Stop, is_over: &mpsc::Receiver<()>) {
        let is_begun = || match case.name {
            "stop in tool" => self.work.join("begun.txt").exists(),
            _ => fs::read_to_string(self.work.with_file_name("requests.jsonl"))
                .is_ok_and(|log| log.contains("\"slow-stream\"")),
        };
        // Five minutes at most.
        for _ in 0..3000 {
            let tick = is_over.recv_timeout(Duration::from_millis(100));
            if is_begun() || tick == Err(mpsc::RecvTimeoutError::Disconnected) {
                break;
            }
        }
        stop.request();
    }

    fn verdict(&self, case: &Case, end: &AgentEnd, expected: &Expected) -> Result<String, String> {
        let said = told(end);
        let good = match (expected, &end.outcome) {
            (Expected::Answer(part), Outcome::Replied { text, session, .. }) => {
                text.contains(part) && session.is_some() && end.usage.tokens.is_some()
            }
            (Expected::File { name, there }, Outcome::Replied { .. }) => {
                self.work.join(name).exists() == *there
            }
            (Expected::Failure(class, code, effect), Outcome::Failed(error)) => {
                *class == error.class.word()
                    && (*code == "*" || *code == error.code)
                    && *effect == error.effect.word()
            }
            (Expected::Stopped, Outcome::Stopped) => {
                case.name != "stop in tool" || self.work.join("begun.txt").exists()
            }
            _ => false,
        };
        if good { Ok(said) } else { Err(said) }
    }
}

fn told(end: &AgentEnd) -> String {
    let text = match &end.outcome {
        Outcome::Replied { text, .. } => format!("answer {text:?} {:?} tokens", end.usage.tokens),
        Outcome::Failed(error) => format!(
            "{} {} effect {}: {}",
            error.class.word(),
            error.code,
            error.effect.word(),
            error.message
        ),
        other @ (Outcome::Output(_)
        | Outcome::Ended { .. }
        | Outcome::Used { .. }
        | Outcome::Proved(_)
        | Outcome::Lost { .. }
        | Outcome::Stopped) => format!("{other:?}"),
    };
    text.replace('\n', " ").chars().take(160).collect()
}
