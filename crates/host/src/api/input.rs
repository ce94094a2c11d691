//! The input of a run, from text to value. Pure.

use durable::limits;
use engine::reply::{Json, read_json};
use serde_json::Value;

use super::{Code, HostError};

/// Reads an input: its value, or its text when it is JSON but for lone
/// surrogates, which no string of ours can hold. A leading byte order mark
/// is not part of the text.
pub fn read_input(text: &str) -> Result<(Option<Value>, Option<String>), HostError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > limits::INPUT_BYTES {
        let message =
            format!("the input has {} bytes, the most is {}", text.len(), limits::INPUT_BYTES);
        return Err(HostError::new(Code::InvalidInput, message)
            .hint("put large data into a file of the workspace and pass its path"));
    }
    match read_json(text) {
        Json::Value(value) => Ok((Some(value), None)),
        Json::LoneSurrogate => Ok((None, Some(text.to_owned()))),
        Json::Invalid(error) => {
            let message = format!("the input is not JSON: {error}");
            Err(HostError::new(Code::InvalidInput, message).hint(
                "quote it for your shell: --input '{\"name\": \"value\"}', or use --input @file",
            ))
        }
    }
}
