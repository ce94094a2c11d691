//! The definition of a class of agents, a Markdown file: on which terms they
//! work, as its front matter, and what each of them is told about itself
//! before its prompt, as its prose. Pure.

use std::ops::Range;

use thiserror::Error;

use crate::document::{Document, Lines};
use crate::suggest::did_you_mean;
use crate::yaml::{self, Data, Entry, Yaml};
use crate::{Finding, Mode, Rule};

/// Bytes of a definition. What an agent is told goes with every prompt.
pub const CLASS_BYTES: usize = 64 << 10;

/// Tools in one definition.
const TOOLS: usize = 100;

/// Bytes of a provider's, a model's or a tool's name.
const WORD_BYTES: usize = 500;

/// What may stand in the front matter.
const KEYS: [&str; 5] = ["description", "provider", "model", "mode", "tools"];

/// What is said of a class; what is absent is left to node, run and provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentClass {
    /// One line for people.
    pub description: Option<String>,
    pub provider: Option<String>,
    /// In the provider's own words.
    pub model: Option<String>,
    /// Of tasks; who decides only reads, unless its node says otherwise.
    pub mode: Option<Mode>,
    /// In the provider's own words; with [`Mode::Custom`] and only with it.
    pub tools: Vec<String>,
    /// What each is told about itself.
    pub instructions: Option<String>,
}

/// What is wrong with a definition: the first fault of the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {cause}; {next}")]
pub struct ClassError {
    /// From 1.
    pub line: usize,
    pub cause: String,
    pub next: String,
}

impl AgentClass {
    /// Reads the bytes of the file.
    pub fn read(bytes: &[u8]) -> Result<Self, ClassError> {
        if bytes.len() > CLASS_BYTES {
            let cause =
                format!("the file has {} bytes, a class has at most {CLASS_BYTES}", bytes.len());
            return Err(ClassError { line: 1, cause, next: "make it shorter".to_owned() });
        }
        let document = Document::read(bytes).map_err(of_document)?;
        let lines = document.lines();
        let reading = yaml::read(document.text(), document.front());
        if let Some(finding) = reading.findings.into_iter().next() {
            let next = finding.suggestion.unwrap_or_else(|| "correct the YAML".to_owned());
            return Err(at(&lines, &finding.span, finding.message, next));
        }
        let mut class = Self::default();
        if let Some(root) = &reading.root {
            let entries = match &root.data {
                Data::Map(map) => &map.entries[..],
                Data::Null => &[],
                Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) | Data::Refused => {
                    let cause = format!("the front matter is {}, not keys", root.describe());
                    return Err(at(&lines, &root.span, cause, known()));
                }
            };
            for entry in entries {
                class.take(entry).map_err(|wrong| {
                    at(
                        &lines,
                        &wrong.span.unwrap_or(entry.key_span.clone()),
                        wrong.cause,
                        wrong.next,
                    )
                })?;
            }
            class.check_tools().map_err(|(cause, next)| at(&lines, &root.span, cause, next))?;
        }
        let prose = document.body().trim();
        class.instructions = (!prose.is_empty()).then(|| prose.to_owned());
        Ok(class)
    }

    fn take(&mut self, entry: &Entry<'_>) -> Result<(), Wrong> {
        let value = &entry.value;
        match &*entry.key {
            "description" => self.description = Some(text(entry, value)?),
            "provider" => self.provider = Some(word(entry, value)?),
            "model" => self.model = Some(word(entry, value)?),
            "mode" => self.mode = Some(mode(entry, value)?),
            "tools" => self.tools = tools(entry, value)?,
            key => {
                let next = did_you_mean(key, KEYS).unwrap_or_else(known);
                let cause = format!("a class has no key `{}`", yaml::shorten(key));
                return Err(Wrong { span: None, cause, next });
            }
        }
        Ok(())
    }

    fn check_tools(&self) -> Result<(), (String, String)> {
        match (self.mode, self.tools.is_empty()) {
            (Some(Mode::Custom), true) => Err((
                "`mode: custom` is there without `tools`".to_owned(),
                "list what the agents may use".to_owned(),
            )),
            (Some(Mode::Plan | Mode::Edit | Mode::Full) | None, false) => Err((
                "`tools` are listed, and only `mode: custom` keeps to them".to_owned(),
                "write `mode: custom`, or remove `tools`".to_owned(),
            )),
            (Some(Mode::Custom), false)
            | (Some(Mode::Plan | Mode::Edit | Mode::Full) | None, true) => Ok(()),
        }
    }
}

/// A fault of an entry; at its key where there is no better place.
struct Wrong {
    span: Option<Range<usize>>,
    cause: String,
    next: String,
}

fn text(entry: &Entry<'_>, value: &Yaml<'_>) -> Result<String, Wrong> {
    match &value.data {
        Data::Text(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::Text(_)
        | Data::List(_)
        | Data::Map(_)
        | Data::Refused => Err(Wrong {
            span: Some(value.span.clone()),
            cause: format!("`{}` is {}, not a text", entry.key, value.describe()),
            next: "write a text, or leave the key out".to_owned(),
        }),
    }
}

/// A name that goes into an argument of a program.
fn word(entry: &Entry<'_>, value: &Yaml<'_>) -> Result<String, Wrong> {
    let text = text(entry, value)?;
    let fault = if text.len() > WORD_BYTES {
        format!("has {} bytes, the most is {WORD_BYTES}", text.len())
    } else if text.contains(char::is_control) {
        "has a character that no name has".to_owned()
    } else if text.contains("{{") {
        "takes no value of a run".to_owned()
    } else {
        return Ok(text);
    };
    let cause = format!("`{}` {fault}", entry.key);
    Err(Wrong { span: Some(value.span.clone()), cause, next: "write the name itself".to_owned() })
}

fn mode(entry: &Entry<'_>, value: &Yaml<'_>) -> Result<Mode, Wrong> {
    let text = text(entry, value)?;
    let words = || Mode::ALL.iter().map(|mode| mode.word());
    Mode::ALL.iter().copied().find(|mode| mode.word() == text).ok_or_else(|| Wrong {
        span: Some(value.span.clone()),
        cause: format!("`{}` is no mode", yaml::shorten(&text)),
        next: did_you_mean(&text, words())
            .unwrap_or_else(|| format!("there are: {}", words().collect::<Vec<_>>().join(", "))),
    })
}

fn tools(entry: &Entry<'_>, value: &Yaml<'_>) -> Result<Vec<String>, Wrong> {
    let Data::List(list) = &value.data else {
        return Err(Wrong {
            span: Some(value.span.clone()),
            cause: format!("`tools` is {}, not a list", value.describe()),
            next: "write `tools: [Read, Grep]`, with the provider's own names".to_owned(),
        });
    };
    if list.items.len() > TOOLS {
        let cause = format!("{} tools are listed, the most is {TOOLS}", list.items.len());
        let next = "list what the agents need".to_owned();
        return Err(Wrong { span: Some(value.span.clone()), cause, next });
    }
    list.items.iter().map(|item| word(entry, item)).collect()
}

fn known() -> String {
    format!("the keys are {}", KEYS.join(", "))
}

fn at(lines: &Lines<'_>, span: &Range<usize>, cause: String, next: String) -> ClassError {
    ClassError { line: lines.place(span.start).0, cause, next }
}

fn of_document(finding: Finding) -> ClassError {
    let Finding { rule, line, message, suggestion, .. } = finding;
    let next = if rule == Rule::UnclosedFrontMatter {
        "write a line that is exactly `---` after the last key".to_owned()
    } else if rule == Rule::MissingFrontMatter && message.ends_with("no front matter") {
        "begin with a line `---`, then keys such as `provider: claude`, then `---`".to_owned()
    } else {
        suggestion.unwrap_or_else(|| "correct the file".to_owned())
    };
    ClassError { line: line.max(1), cause: message, next }
}

#[cfg(test)]
mod tests;
