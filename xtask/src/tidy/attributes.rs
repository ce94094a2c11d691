//! Attributes that silence a rule or a test. Pure.

use crate::finding::Finding;
use crate::source::{Source, words};

pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    let refused = |text: &str| {
        let names: Vec<&str> = words(text).map(|(_, name)| name).collect();
        // What `cfg_attr` brings in stands behind its first comma.
        let brought = text.split_once(',').and_then(|(_, tail)| words(tail).next());
        let brought = brought.filter(|_| names.first() == Some(&"cfg_attr")).map(|(_, name)| name);
        match names
            .first()
            .copied()
            .into_iter()
            .chain(brought)
            .find(|n| matches!(*n, "allow" | "ignore"))
        {
            Some("allow") => Some("allow: use `expect` with a reason, it ends when its cause ends"),
            Some(_) => Some("an ignored test tests nothing; assert what holds today"),
            None => None,
        }
    };
    source
        .attributes
        .iter()
        .filter_map(|attribute| {
            let line = source.line(attribute.range.start);
            refused(&attribute.text).map(|message| Finding::new(source.path, line, message))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Source::new("a.rs", text)).len()
    }

    #[test]
    fn silenced_rules_and_tests_are_found() {
        for bad in [
            "#[allow(dead_code)]\nfn a() {}",
            "#![allow(clippy::all)]",
            "#[cfg_attr(test, allow(dead_code))]\nfn a() {}",
            "#[test]\n#[ignore]\nfn a() {}",
            "#[ignore = \"slow\"]\nfn a() {}",
        ] {
            assert_eq!(found(bad), 1, "{bad}");
        }
    }

    #[test]
    fn reasons_and_other_attributes_pass() {
        for good in [
            "#[expect(dead_code, reason = \"the other target uses it\")]\nfn a() {}",
            "#[derive(Debug)]\nstruct A;",
            "#[serde(skip, allow)]\nstruct A;",
            "// #[allow(dead_code)]",
        ] {
            assert_eq!(found(good), 0, "{good}");
        }
    }
}
