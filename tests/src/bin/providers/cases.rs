//! The cases and what must come of each, provider by provider where they
//! differ.

use providers::agent::Mode;

pub(crate) const NAMES: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// One case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What the agent is told; a part in brackets tells the server how to act.
    pub(crate) prompt: &'static str,
    pub(crate) mode: Mode,
    pub(crate) kind: Kind,
    pub(crate) expected: Expected,
    /// Providers that try again for a minute or more here.
    pub(crate) slow_for: &'static [&'static str],
}

/// What is done besides one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// With the choices approve and reject.
    Decision,
    /// With a schema.
    Schema,
    /// A second turn in the same session.
    Resume,
    /// In a session that does not exist.
    NoSession,
    /// Stopped at the first line that holds this.
    Stop,
    /// With little patience.
    Impatient,
    /// With `git status` as the only command.
    Custom,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Expected {
    /// An answer that holds this.
    Answer(&'static str),
    /// An answer, and this file of the workspace is there, or is not.
    File {
        name: &'static str,
        there: bool,
    },
    /// A failure: class, code, effect. An effect of `*` is not looked at.
    Failure(&'static str, &'static str, &'static str),
    /// The same, with another end for some.
    Differs(&'static [(&'static str, Self)], &'static Self),
    Stopped,
}

use Expected::{Answer, Differs, Failure, File, Stopped};

const fn case(
    name: &'static str,
    prompt: &'static str,
    mode: Mode,
    kind: Kind,
    expected: Expected,
) -> Case {
    Case { name, prompt, mode, kind, expected, slow_for: &[] }
}

const fn plain(name: &'static str, prompt: &'static str, expected: Expected) -> Case {
    case(name, prompt, Mode::Plan, Kind::Plain, expected)
}

const HELLO: Expected = Answer("Hello from the fake model.");
const YES: &str =
    r#"[[fake json text="{\"chosen\":\"approve\",\"reason\":\"it builds\"}"]] Decide."#;

pub(crate) const CASES: &[Case] = &[
    plain("answer", "Say hi.", HELLO),
    case("decision", YES, Mode::Plan, Kind::Decision, Answer("approve")),
    case("schema", YES, Mode::Edit, Kind::Schema, Answer("it builds")),
    case("resume", "Say hi.", Mode::Plan, Kind::Resume, HELLO),
    case(
        "no session",
        "Say hi.",
        Mode::Plan,
        Kind::NoSession,
        Failure("preflight", "session_not_found", "none"),
    ),
    case(
        "full writes",
        "[[fake tool-call command=\"touch made.txt\"]]",
        Mode::Full,
        Kind::Plain,
        File { name: "made.txt", there: true },
    ),
    case(
        "plan keeps",
        "[[fake tool-call command=\"touch kept.txt\"]]",
        Mode::Plan,
        Kind::Plain,
        File { name: "kept.txt", there: false },
    ),
    case(
        "custom keeps",
        "[[fake tool-call command=\"touch kept.txt\"]]",
        Mode::Custom,
        Kind::Custom,
        File { name: "kept.txt", there: false },
    ),
    case(
        "custom joins",
        "[[fake tool-call command=\"git status; touch kept.txt\"]]",
        Mode::Custom,
        Kind::Custom,
        File { name: "kept.txt", there: false },
    ),
    case(
        "custom allows",
        "[[fake tool-call command=\"git status\"]]",
        Mode::Custom,
        Kind::Custom,
        Answer("No commits yet"),
    ),
    plain("401", "[[fake auth-error]]", Failure("auth", "not_logged_in", "none")),
    plain("403", "[[fake forbidden]]", Failure("auth", "forbidden", "none")),
    plain("400", "[[fake bad-request]]", Failure("bug", "bad_request", "none")),
    plain("too long", "[[fake too-long]]", Failure("bug", "prompt_too_long", "none")),
    slow(plain("429", "[[fake rate-limit]]", Failure("transient", "rate_limited", "none"))),
    slow(plain("500", "[[fake server-error]]", Failure("transient", "server_error", "none"))),
    slow(plain("overloaded", "[[fake overloaded]]", Failure("transient", "overloaded", "none"))),
    plain(
        "refusal",
        "[[fake refusal]]",
        // Nothing that it says tells a refusal from an answer.
        Differs(&[("gemini", HELLO)], &Failure("policy", "refused", "done")),
    ),
    plain(
        "output limit",
        "[[fake truncated]]",
        Differs(&[("gemini", HELLO)], &Failure("bug", "output_limit", "done")),
    ),
    plain(
        "empty",
        "[[fake empty]]",
        // It asks the model once more by itself, and the server then answers.
        Differs(&[("gemini", HELLO)], &Failure("transient", "empty_answer", "done")),
    ),
    plain(
        "cut stream",
        "[[fake disconnect]]",
        Differs(
            &[
                ("claude", HELLO),
                // It tries again without end, and has to be ended.
                ("opencode", Failure("transient", "connection_lost", "uncertain")),
            ],
            &Failure("transient", "connection_lost", "done"),
        ),
    ),
    case(
        "hang",
        "[[fake hang]]",
        Mode::Plan,
        Kind::Impatient,
        Failure("unknown", "*", "uncertain"),
    ),
    case(
        "hang half way",
        "[[fake hang-mid]]",
        Mode::Plan,
        Kind::Impatient,
        Failure("unknown", "*", "uncertain"),
    ),
    case(
        "stop in stream",
        "[[fake slow-stream delay=2 text=\"one two three four five six seven\"]]",
        Mode::Full,
        Kind::Stop,
        Stopped,
    ),
    case(
        "stop in tool",
        "[[fake tool-call command=\"touch begun.txt; tail -f /dev/null\"]]",
        Mode::Full,
        Kind::Stop,
        Stopped,
    ),
];

/// Gemini tries for four minutes and OpenCode up to one and a half.
const fn slow(case: Case) -> Case {
    Case { slow_for: &["gemini", "opencode"], ..case }
}

impl Expected {
    pub(crate) fn for_provider(&self, name: &str) -> Self {
        match self {
            Differs(some, others) => {
                some.iter().find(|(other, _)| *other == name).map_or(**others, |(_, own)| *own)
            }
            Answer(_) | File { .. } | Failure(..) | Stopped => *self,
        }
    }
}
