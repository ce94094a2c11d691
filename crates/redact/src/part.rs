//! The parts of a known value that are secrets by themselves: the lines of a
//! key, and the fields of a JSON document that are named like secrets. Programs
//! print them apart. Pure.

use serde_json::Value;

use crate::pattern;

/// The shortest line that is worth masking alone.
const LINE_BYTES_MIN: usize = 16;
/// The shortest field of a document that is.
const FIELD_BYTES_MIN: usize = 8;

/// Parts of one value, at most: more lines than the longest key has.
const PARTS_MAX: usize = 256;

/// The parts of a value; none where it is one piece.
pub(crate) fn parts(value: &str) -> Vec<String> {
    let document = value.trim_start().starts_with(['{', '[']);
    let mut parts = Vec::new();
    match serde_json::from_str(value) {
        Ok(json) if document => collect(&json, None, &mut parts),
        Ok(_) | Err(_) => parts = lines(value),
    }
    parts.truncate(PARTS_MAX);
    parts
}

fn collect(json: &Value, name: Option<&str>, fields: &mut Vec<String>) {
    match json {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            let secret = name.is_some_and(|name| pattern::is_secret_field(name, text));
            if secret && text.len() >= FIELD_BYTES_MIN {
                fields.push(text.clone());
            }
            // A key in a field has lines of its own.
            fields.extend(lines(text));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, fields)),
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| collect(value, Some(name), fields));
        }
    }
}

/// The lines of a text in several lines that are one long word each.
fn lines(text: &str) -> Vec<String> {
    if !text.trim().contains('\n') {
        return Vec::new();
    }
    let is_word = |line: &&str| line.len() >= LINE_BYTES_MIN && !line.contains([' ', '\t', '-']);
    text.lines().map(str::trim).filter(is_word).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_gives_its_secret_fields_and_no_others() {
        let value = r#"{"type":"service_account","user":"deployment","password":"hunter22",
            "n":[{"client_secret":"a1b2c3d4e5f6g7h8"}],"token_uri":"https://a.example/token"}"#;
        assert_eq!(parts(value), ["a1b2c3d4e5f6g7h8", "hunter22"]);
    }

    #[test]
    fn a_key_gives_its_lines() {
        let key =
            "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n\nhkiG9w0BAQMIIEvQ\nAb=\n-----END KEY-----";
        assert_eq!(parts(key), ["MIIEvQIBADANBgkq", "hkiG9w0BAQMIIEvQ"]);
        let document = serde_json::json!({ "private_key": key }).to_string();
        assert_eq!(parts(&document), ["MIIEvQIBADANBgkq", "hkiG9w0BAQMIIEvQ"]);
    }

    #[test]
    fn a_value_of_one_piece_has_no_parts() {
        for value in ["hunter22", "correct horse battery staple\n", "\"quoted\"", "12345678"] {
            assert!(parts(value).is_empty(), "{value}");
        }
    }
}
