//! The one table of what a run looks like and what a command exits with.

use std::fmt::Write as _;

use engine::view::{look, node_icon};
use engine::{FailReason, NodeStatus, RunStatus};

#[test]
fn every_status_and_reason_has_its_exit_code_and_icon() {
    let mut table = String::new();
    for status in RunStatus::ALL {
        let reasons = FailReason::ALL.iter().copied().map(Some);
        let failed = *status == RunStatus::Failed;
        for reason in reasons.filter(|_| failed).chain([None]) {
            for unknown in [false, true] {
                let look = look(*status, reason, unknown);
                let reason = reason.map_or("-", FailReason::word);
                let effect = if unknown { "unknown" } else { "known" };
                let status = status.word();
                let (exit, icon, ascii) = (look.exit, look.icon, look.ascii);
                writeln!(table, "{status:17} {reason:12} {effect:8} {exit:2} {icon} {ascii}")
                    .expect("a text takes all");
            }
        }
    }
    for status in NodeStatus::ALL {
        let (icon, ascii) = node_icon(*status);
        writeln!(table, "node {:12} {icon} {ascii}", status.word()).expect("a text takes all");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn no_run_that_failed_exits_as_if_it_had_not() {
    for reason in FailReason::ALL.iter().copied().map(Some).chain([None]) {
        for unknown in [false, true] {
            assert_ne!(look(RunStatus::Failed, reason, unknown).exit, 0);
        }
        assert_eq!(look(RunStatus::Failed, reason, true).exit, 12);
    }
}

#[test]
fn every_word_is_read_as_what_it_was_written_for() {
    for status in NodeStatus::ALL {
        assert_eq!(NodeStatus::from_word(status.word()), Some(*status));
    }
    for status in RunStatus::ALL {
        assert_eq!(RunStatus::from_word(status.word()), Some(*status));
    }
    for reason in FailReason::ALL {
        assert_eq!(FailReason::from_word(reason.word()), Some(*reason));
    }
    assert_eq!(RunStatus::from_word("Running"), None);
}
