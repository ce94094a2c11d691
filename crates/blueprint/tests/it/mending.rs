//! Laws of the changes that `lint --fix` makes.

use blueprint::{Severity, fix, lint};
use proptest::prelude::*;

use crate::support::{fixture, fixtures};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_mistyped_file_gets_no_worse_and_is_mended_once(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec((any::<prop::sample::Index>(), 0..2usize, "[a-z]{0,1}"), 1..4),
    ) {
        let good = fixtures("valid");
        let text = String::from_utf8_lossy(&which.get(&good).bytes).into_owned();
        let mut chars: Vec<char> = text.chars().collect();
        for (at, remove, insert) in slips {
            let at = at.index(chars.len());
            let end = (at + remove).min(chars.len());
            chars.splice(at..end, insert.chars());
        }
        let text: String = chars.into_iter().collect();
        let fixed = fix(text.as_bytes());
        for done in &fixed.done {
            let change = done.finding.fix.as_ref();
            prop_assert!(change.is_some_and(|change| change.safe), "{:?}", done.finding);
            prop_assert_ne!(&done.before, &done.after);
        }
        prop_assert_eq!(fixed.done.is_empty(), fixed.bytes == text.as_bytes());
        let again = fix(&fixed.bytes);
        prop_assert!(again.done.is_empty(), "{:?}", again.done);
        prop_assert_eq!(again.checked.findings.len(), fixed.checked.findings.len());
    }
}

#[test]
fn a_good_file_is_left_alone() {
    for file in fixtures("valid") {
        let errors = |f: &&blueprint::Finding| f.severity == Severity::Error;
        assert_eq!(lint(&file.bytes).findings.iter().filter(errors).count(), 0, "{}", file.name);
        assert!(fix(&file.bytes).done.iter().all(|done| done.before.is_empty()), "{}", file.name);
    }
}

#[test]
fn what_is_mended_in_a_file_with_twenty_faults_is_this() {
    let fixed = fix(&fixture("twenty-faults.md"));
    let mut shown = String::new();
    for done in &fixed.done {
        let (before, after) = (done.before.trim_end(), done.after.trim_end());
        shown.push_str(&format!("{}\n-{before}\n+{after}\n\n", done.finding));
    }
    insta::assert_snapshot!(shown);
}
