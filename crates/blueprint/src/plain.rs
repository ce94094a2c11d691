//! A YAML file that is no blueprint, as JSON: the same strict reading.

use serde_json::Value;

use crate::{Finding, Rule, Severity, yaml};

/// Reads a whole file of YAML or JSON.
pub fn read_yaml(bytes: &[u8]) -> Result<Value, Vec<Finding>> {
    let wrong = |message: &str| Finding::new(Rule::Syntax, Severity::Error, 0..0, message);
    let text = std::str::from_utf8(bytes).map_err(|_| vec![wrong("the file is not UTF-8")])?;
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let reading = yaml::read(text, start..text.len());
    if !reading.findings.is_empty() {
        return Err(reading.findings);
    }
    let value = reading.root.as_ref().and_then(yaml::Yaml::to_json);
    value.ok_or_else(|| vec![wrong("the file holds no value")])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_and_json_read_alike() {
        let value = json!({"a": [{"text": "NO", "delay": "2s", "n": 1}]});
        assert_eq!(read_yaml(b"a:\n  - { text: NO, delay: 2s, n: 1 }\n"), Ok(value.clone()));
        assert_eq!(read_yaml(value.to_string().as_bytes()), Ok(value));
    }

    #[test]
    fn a_file_without_a_value_and_a_broken_one_are_findings() {
        assert!(read_yaml(b"").is_err());
        assert!(read_yaml(b"a: [1").is_err());
        assert!(read_yaml(b"\xff").is_err());
    }
}
