//! The arguments, as they are given.

use super::*;
use crate::agent::Adapter;

fn request(mode: Mode, tools: &[&str]) -> AgentRequest {
    AgentRequest {
        prompt: "Do it.".to_owned(),
        mode,
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        workspace: "/work".into(),
        folder: "/attempt".into(),
        ..AgentRequest::default()
    }
}

const TOOLS: &[&str] = &["read_file", "run_shell_command(git status)"];

#[test]
fn each_mode_is_asked_for_by_these_words() {
    let mut told = String::new();
    for (mode, tools) in [
        (Mode::Plan, &[][..]),
        (Mode::Edit, &[]),
        (Mode::Full, &[]),
        (Mode::Custom, TOOLS),
        (Mode::Custom, &[]),
    ] {
        let launch = Adapter::Gemini.launch(&request(mode, tools)).unwrap();
        told.push_str(&format!(
            "{} {tools:?}\n  {:?}\n  {:?}\n  {:?}\n",
            mode.word(),
            launch.args,
            launch.env,
            launch.files
        ));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn everything_that_can_be_asked_is_asked_by_these_words() {
    let request = AgentRequest {
        model: Some("m1".to_owned()),
        resume: Some("01a22e4c-a23b-7290-9428-82022e555816".to_owned()),
        choices: vec!["yes".to_owned(), "no".to_owned()],
        instructions: Some("Be brief.".to_owned()),
        env_pass: vec!["OWN".to_owned()],
        ..request(Mode::Edit, &[])
    };
    insta::assert_debug_snapshot!(Adapter::Gemini.launch(&request).unwrap());
}

#[test]
fn a_prompt_is_in_no_argument_variable_or_file() {
    let prompt = "a prompt that nobody else reads".to_owned();
    for mode in Mode::ALL {
        let launch =
            Adapter::Gemini.launch(&AgentRequest { prompt: prompt.clone(), ..request(mode, &[]) });
        let AgentLaunch { args, env, files, stdin, .. } = launch.unwrap();
        assert!(stdin.ends_with(&prompt));
        assert!(!format!("{args:?}{env:?}{files:?}").contains(&prompt));
    }
}

#[test]
fn a_tool_that_it_cannot_be_held_to_is_refused() {
    for tool in ["a b", "read_file(x)", "run_shell_command(a\"b)", "run_shell_command(x"] {
        let refused = Adapter::Gemini.launch(&request(Mode::Custom, &[tool])).unwrap_err();
        assert_eq!(refused.code, "tool_unknown", "{tool}");
    }
}

#[test]
fn what_is_no_session_of_its_own_is_refused() {
    for session in ["latest", "3", "01a22e4c-a23b-7290-9428-82022e555816x"] {
        let resume = Some(session.to_owned());
        let asked = AgentRequest { resume, ..request(Mode::Edit, &[]) };
        let refused = Adapter::Gemini.launch(&asked).unwrap_err();
        assert_eq!(refused.code, "session_not_found", "{session}");
    }
}
