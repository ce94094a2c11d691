//! Definitions good and bad, and what is said of the bad ones.

use super::*;

fn said(text: &str) -> String {
    AgentClass::read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_class_has_terms_and_is_told_who_it_is() {
    let text = "---\ndescription: Reads code\nprovider: claude\nmodel: opus\nmode: custom\n\
                tools: [Read, \"Bash(git log:*)\"]\n---\n\nYou review.\n\n- Be brief.\n";
    let class = AgentClass {
        description: Some("Reads code".to_owned()),
        provider: Some("claude".to_owned()),
        model: Some("opus".to_owned()),
        mode: Some(Mode::Custom),
        tools: vec!["Read".to_owned(), "Bash(git log:*)".to_owned()],
        instructions: Some("You review.\n\n- Be brief.".to_owned()),
    };
    assert_eq!(AgentClass::read(text.as_bytes()), Ok(class));
}

#[test]
fn every_key_may_be_absent_and_so_may_the_prose() {
    for text in ["---\n---\n", "---\n# nothing yet\n---\n\n  \n"] {
        assert_eq!(AgentClass::read(text.as_bytes()), Ok(AgentClass::default()), "{text:?}");
    }
}

#[test]
fn a_fault_says_its_line_its_cause_and_what_to_write() {
    let cases = [
        (
            "You review.\n",
            "line 1: the file has no front matter; begin with a line `---`, then keys such as \
             `provider: claude`, then `---`",
        ),
        (
            "---\nmode: plan\n",
            "line 1: the front matter that begins here has no end; \
             write a line that is exactly `---` after the last key",
        ),
        (
            "---\nmodel: a\nmodle: b\n---\n",
            "line 3: a class has no key `modle`; did you mean `model`?",
        ),
        (
            "---\nprompt: x\n---\n",
            "line 2: a class has no key `prompt`; \
             the keys are description, provider, model, mode, tools",
        ),
        (
            "---\n- a\n---\n",
            "line 2: the front matter is a list, not keys; \
             the keys are description, provider, model, mode, tools",
        ),
        ("---\nmode: edits\n---\n", "line 2: `edits` is no mode; did you mean `edit`?"),
        (
            "---\nmode: root\n---\n",
            "line 2: `root` is no mode; there are: plan, edit, full, custom",
        ),
        (
            "---\nmodel: 4\n---\n",
            "line 2: `model` is the number 4, not a text; write a text, or leave the key out",
        ),
        (
            "---\nprovider:\n---\n",
            "line 2: `provider` is nothing, not a text; write a text, or leave the key out",
        ),
        (
            "---\nmodel: \"{{run.id}}\"\n---\n",
            "line 2: `model` takes no value of a run; write the name itself",
        ),
        (
            "---\nmode: custom\ntools: Read\n---\n",
            "line 3: `tools` is the text `Read`, not a list; \
             write `tools: [Read, Grep]`, with the provider's own names",
        ),
        (
            "---\nmode: custom\ntools:\n  - Read\n  - 7\n---\n",
            "line 5: `tools` is the number 7, not a text; write a text, or leave the key out",
        ),
        (
            "---\nmode: custom\n---\n",
            "line 2: `mode: custom` is there without `tools`; list what the agents may use",
        ),
        (
            "---\ntools: [Read]\n---\n",
            "line 2: `tools` are listed, and only `mode: custom` keeps to them; \
             write `mode: custom`, or remove `tools`",
        ),
    ];
    for (text, error) in cases {
        assert_eq!(said(text), error);
    }
    assert!(said("---\nmode: {\n---\n").starts_with("line "));
}

#[test]
fn a_class_has_its_limits() {
    let long = format!("---\n---\n{}", "x".repeat(CLASS_BYTES));
    assert_eq!(
        said(&long),
        format!(
            "line 1: the file has {} bytes, a class has at most {CLASS_BYTES}; make it shorter",
            long.len()
        )
    );
    let tools = format!("---\nmode: custom\ntools: [{}]\n---\n", "a, ".repeat(TOOLS + 1));
    assert_eq!(
        said(&tools),
        "line 3: 101 tools are listed, the most is 100; list what the agents need"
    );
    let model = format!("---\nmodel: {}\n---\n", "m".repeat(WORD_BYTES + 1));
    assert_eq!(
        said(&model),
        "line 2: `model` has 501 bytes, the most is 500; write the name itself"
    );
}
