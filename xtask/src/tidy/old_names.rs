//! The names of the system that came before are refused in code, comments and
//! strings, so that nothing new is built on it. Pure.

use crate::finding::Finding;
use crate::source::{Source, is_word_char};

const OLD: [&str; 6] = [
    "automation_engine",
    "AutomationDefinition",
    "run_automation",
    "list_automations",
    "ScheduledRun",
    "scheduled_automations.json",
];

/// Where the names may stand: this table, and the command that reports files
/// of the old system and leaves them. An entry ending in `/` is a folder.
const MAY_NAME_THEM: [&str; 5] = [
    "xtask/src/tidy/old_names.rs",
    "crates/host/src/doctor.rs",
    "crates/host/src/doctor/",
    "crates/cli/src/command/doctor.rs",
    "crates/cli/tests/it/doctor.rs",
];

pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    if MAY_NAME_THEM.iter().any(|entry| covers(entry, source.path)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for name in OLD {
        for (offset, _) in source.text.match_indices(name) {
            if stands_alone(source.text, offset, name) {
                let message =
                    format!("{name} is a name of the old system; only `doctor` may tell of it");
                findings.push(Finding::new(source.path, source.line(offset), message));
            }
        }
    }
    findings
}

fn covers(entry: &str, path: &str) -> bool {
    path == entry || entry.ends_with('/') && path.starts_with(entry)
}

fn stands_alone(text: &str, offset: usize, name: &str) -> bool {
    !text[..offset].ends_with(is_word_char)
        && !text[offset + name.len()..].starts_with(is_word_char)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Source::new(path, text)).len()
    }

    #[test]
    fn old_names_are_found_in_code_comments_and_strings() {
        for bad in [
            "use automation_engine::a;",
            "fn run_automation() {}",
            "// see AutomationDefinition",
            "const A: &str = \"library/scheduled_automations.json\";",
        ] {
            assert_eq!(found("crates/a/src/b.rs", bad), 1, "{bad}");
        }
    }

    #[test]
    fn other_names_and_the_doctor_pass() {
        assert_eq!(
            found("crates/a/src/b.rs", "fn rerun_automation_now() {} struct ScheduledRuns;"),
            0
        );
        assert_eq!(found("crates/host/src/doctor.rs", "// run_automation"), 0);
        assert_eq!(found("crates/host/src/doctor/old.rs", "// run_automation"), 0);
        assert_eq!(found("crates/host/src/doctors.rs", "// run_automation"), 1);
    }
}
