//! Blueprints to begin with. Each is a file that runs, under an id and a name
//! that the author's take the place of.

use crate::api::{Code, HostError};

#[derive(Debug)]
pub(super) struct Template {
    pub(super) word: &'static str,
    text: &'static str,
    /// An input that it can be tried with.
    pub(super) input: Option<&'static str>,
    /// Somebody must act as its role.
    pub(super) agent: bool,
}

const ALL: &[Template] = &[
    Template { word: "blank", text: include_str!("templates/blank.md"), input: None, agent: false },
    Template {
        word: "review",
        text: include_str!("templates/review.md"),
        input: Some(r#"{"topic":"What changed this week"}"#),
        agent: true,
    },
    Template {
        word: "nightly",
        text: include_str!("templates/nightly.md"),
        input: None,
        agent: false,
    },
    Template {
        word: "triage",
        text: include_str!("templates/triage.md"),
        input: Some(r#"{"issue":"It greets the wrong name"}"#),
        agent: true,
    },
];

/// The first automation of a repository, with what is found there still to be
/// filled in.
pub(super) const FIRST: Template = Template {
    word: "first",
    text: include_str!("templates/first.md"),
    input: Some(r#"{"task":"Correct the spelling in README.md"}"#),
    agent: true,
};

pub(super) fn find(word: &str) -> Result<&'static Template, HostError> {
    ALL.iter().find(|template| template.word == word).ok_or_else(|| {
        let words: Vec<&str> = ALL.iter().map(|template| template.word).collect();
        let message = format!("there is no template `{word}`");
        HostError::new(Code::InvalidRequest, message)
            .hint(format!("the templates are {}", words.join(", ")))
    })
}

impl Template {
    /// The file with another id and name.
    pub(super) fn fill(&self, id: &str, name: &str) -> String {
        let quoted = serde_json::Value::from(name).to_string();
        let plain = name.chars().all(|c| c.is_alphanumeric() || c == ' ');
        let plain = plain && name.starts_with(char::is_alphabetic) && !name.ends_with(' ');
        let word = matches!(name, "null" | "true" | "false");
        let (mut named, mut titled) = (false, false);
        let line = |line: &str| {
            if line.starts_with("id: ") {
                // Words such as `1.0` and `true` are ids too.
                let text = id.starts_with(|c: char| c.is_ascii_alphabetic())
                    && !matches!(id, "null" | "true" | "false");
                return if text { format!("id: {id}\n") } else { format!("id: \"{id}\"\n") };
            }
            if line.starts_with("name: ") && !named {
                named = true;
                return format!("name: {}\n", if plain && !word { name } else { &quoted });
            }
            if line.starts_with("# TITLE") && !titled {
                titled = true;
                let title: String =
                    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                return format!("# {title}\n");
            }
            format!("{line}\n")
        };
        self.text.lines().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use blueprint::{format, lint};

    use super::*;
    use crate::api::authoring::TEMPLATES;

    #[test]
    fn every_template_is_listed() {
        let words: Vec<&str> = ALL.iter().map(|template| template.word).collect();
        let listed: Vec<&str> = TEMPLATES.iter().map(|(word, _)| *word).collect();
        assert_eq!(words, listed);
    }

    #[test]
    fn every_template_is_valid_and_laid_out() {
        for template in ALL {
            let text = template.fill("my-own", "My own");
            let checked = lint(text.as_bytes());
            assert!(checked.findings.is_empty(), "{}: {:?}", template.word, checked.findings);
            assert_eq!(checked.id.as_deref(), Some("my-own"));
            assert_eq!(checked.name.as_deref(), Some("My own"));
            let laid = String::from_utf8(format(text.as_bytes()).unwrap()).unwrap();
            assert_eq!(laid, text, "{}", template.word);
            assert!(!text.contains("TITLE"), "{}", template.word);
        }
    }

    #[test]
    fn any_id_and_name_are_the_ones_that_are_read() {
        for (id, name) in [
            ("true", "yes: no"),
            ("1.0", "# not a comment"),
            ("2026", "\"quoted\"\n---\nid: other"),
            ("null", "null"),
            ("a", " x "),
            ("b", "\u{1}é→"),
        ] {
            let checked = lint(ALL[0].fill(id, name).as_bytes());
            assert!(checked.findings.is_empty(), "{id} {name:?}: {:?}", checked.findings);
            assert_eq!((checked.id.as_deref(), checked.name.as_deref()), (Some(id), Some(name)));
        }
    }
}
