//! What an agent is told beyond the author's prompt: the contract of its
//! answer. The same input gives the same bytes.

use blueprint::{PortName, Schema};

/// The author's prompt and what the answer must look like.
pub(super) fn with_contract(prompt: &str, choices: &[PortName], schema: Option<&Schema>) -> String {
    let mut text = prompt.trim_end().to_owned();
    if !choices.is_empty() {
        let words: Vec<&str> = choices.iter().map(PortName::as_str).collect();
        text.push_str(&format!(
            "\n\nDecide for exactly one of: {}. Answer with a JSON object \
             {{\"chosen\": \"<one of them>\", \"reason\": \"<why, in one sentence>\"}} and nothing else.",
            words.join(", ")
        ));
    }
    if let Some(schema) = schema {
        text.push_str(&format!(
            "\n\nAnswer with JSON alone, or end your answer with a fenced json block. \
             The JSON must satisfy this JSON Schema:\n{}",
            schema.json_schema()
        ));
    }
    text
}

/// The one corrective turn: of a decision, or of a task with a schema.
pub(super) fn correction(fault: &str, choices: &[PortName]) -> String {
    let words: Vec<&str> = choices.iter().map(PortName::as_str).collect();
    let wanted = if words.is_empty() {
        "Answer now with JSON alone that satisfies the JSON Schema which you were given.".to_owned()
    } else {
        format!("Answer now with exactly one of these words and nothing else: {}", words.join(", "))
    };
    format!("Your last answer could not be used ({fault}). {wanted}")
}
