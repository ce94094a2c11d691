//! Logs with something cut, flipped, moved or overwritten. The law of all of
//! them: what is accepted is a prefix of what was written, byte for byte,
//! and unless the damage is in the last batch it is called damage.

use proptest::prelude::*;

use super::*;

const BATCHES: [u64; 5] = [1, 3, 1, 2, 3];

/// The number of the first line of the last batch.
const LAST_BATCH: usize = 7;

/// Scans `changed`, which differs from `whole`, and checks the law.
fn check(whole: &[u8], changed: &[u8], what: &str) -> Told {
    let told = scan(changed);
    let written = lines(whole);
    let accepted: Vec<Vec<u8>> =
        told.lines.iter().map(|line| [line.as_slice(), b"\n"].concat()).collect();
    assert!(written.starts_with(&accepted), "{what}: a line was accepted that nobody wrote");
    assert_eq!(told.position.offset as usize, accepted.concat().len(), "{what}");
    match told.end {
        End::Clean => assert_eq!(accepted.concat(), changed, "{what}"),
        End::Torn { keep, dropped, .. } => {
            assert_eq!(keep, told.position.offset, "{what}");
            assert_eq!(keep + dropped, changed.len() as u64, "{what}");
        }
        End::Damaged { offset, line, expected, .. } => {
            assert_eq!(offset, told.position.offset, "{what}");
            assert_eq!((line, expected.0), (accepted.len() as u64 + 1, accepted.len() as u64));
        }
    }
    told
}

#[test]
fn a_cut_at_any_byte_is_torn_or_a_shorter_log() {
    let whole = log(&BATCHES);
    for cut in 0..whole.len() {
        let told = check(&whole, &whole[..cut], &format!("cut at {cut}"));
        let at_line = cut == 0 || whole[cut - 1] == b'\n';
        let torn = matches!(told.end, End::Torn { why: Why::Unfinished, .. });
        assert!(if at_line { told.end == End::Clean } else { torn }, "cut at {cut}");
    }
}

#[test]
fn a_flip_of_any_bit_is_noticed_and_called_damage_before_the_last_batch() {
    let whole = log(&BATCHES);
    let acknowledged = lines(&whole)[..LAST_BATCH].concat().len();
    for bit in 0..whole.len() * 8 {
        let mut changed = whole.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let told = check(&whole, &changed, &format!("bit {bit}"));
        assert_ne!(told.end, End::Clean, "bit {bit}");
        if bit / 8 < acknowledged {
            assert!(matches!(told.end, End::Damaged { .. }), "bit {bit}: {:?}", told.end);
        }
    }
}

#[test]
fn a_line_dropped_doubled_or_swapped_is_damage_in_the_last_batch_too() {
    let whole = log(&BATCHES);
    let parts = lines(&whole);
    let count = parts.len();
    for at in 0..count {
        let mut dropped = parts.clone();
        dropped.remove(at);
        let told = check(&whole, &dropped.concat(), &format!("line {at} dropped"));
        let damaged = matches!(told.end, End::Damaged { .. });
        assert!(if at + 1 == count { told.end == End::Clean } else { damaged }, "{at}");

        for to in 0..=count {
            let mut doubled = parts.clone();
            doubled.insert(to, parts[at].clone());
            let told = check(&whole, &doubled.concat(), &format!("line {at} doubled at {to}"));
            assert!(matches!(told.end, End::Damaged { .. }), "line {at} doubled at {to}");
        }
        for other in at + 1..count {
            let mut swapped = parts.clone();
            swapped.swap(at, other);
            let told = check(&whole, &swapped.concat(), &format!("lines {at} {other} swapped"));
            assert!(matches!(told.end, End::Damaged { .. }), "lines {at} {other} swapped");
        }
    }
}

#[test]
fn a_line_of_another_log_is_damage() {
    let whole = log(&BATCHES);
    let parts = lines(&whole);
    let other = lines(&log(&[2, 2, 1, 2, 3]));
    // The first line is the same in both, so the second of either may follow.
    for at in 2..parts.len() {
        let mut mixed = parts.clone();
        mixed[at].clone_from(&other[at]);
        let told = check(&whole, &mixed.concat(), &format!("line {at} of another log"));
        assert!(matches!(told.end, End::Damaged { .. }), "line {at}: {:?}", told.end);
    }
}

#[test]
fn what_a_cut_short_write_can_leave_is_torn() {
    let whole = log(&BATCHES);
    let acknowledged = lines(&whole)[..LAST_BATCH].concat().len();
    for from in acknowledged..whole.len() {
        for fill in [0u8, b'\n', b'J', 0xff] {
            let mut zeros = whole.clone();
            zeros[from..].fill(fill);
            let mut block = whole.clone();
            let end = (from + 100).min(block.len());
            block[from..end].fill(fill);
            for changed in [zeros, block].iter().filter(|changed| **changed != whole) {
                let told = check(&whole, changed, &format!("{fill} from {from}"));
                assert!(matches!(told.end, End::Torn { .. }), "{fill} from {from}: {:?}", told.end);
                assert!(told.lines.len() >= LAST_BATCH);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stretch_overwritten_before_the_last_batch_is_damage(
        batches in prop::collection::vec(1u64..4, 2..6),
        from in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 1..400),
    ) {
        let whole = log(&batches);
        let parts = lines(&whole);
        let last = parts[..parts.len() - *batches.last().unwrap() as usize].concat().len();
        let from = from.index(last);
        let to = (from + garbage.len()).min(last);
        let mut changed = whole.clone();
        changed[from..to].copy_from_slice(&garbage[..to - from]);
        prop_assume!(changed != whole);
        let told = check(&whole, &changed, "overwritten");
        prop_assert!(matches!(told.end, End::Damaged { .. }), "{:?}", told.end);
    }

    #[test]
    fn any_bytes_in_any_pieces_are_judged_alike_and_never_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        batches in prop::collection::vec(1u64..4, 0..3),
        at in any::<prop::sample::Index>(),
        piece in 1usize..80,
    ) {
        let whole = log(&batches);
        let at = at.index(whole.len() + 1);
        bytes.splice(0..0, whole[..at].iter().copied());
        bytes.extend_from_slice(&whole[at..]);
        prop_assert_eq!(scan_from(Position::START, &[], &bytes, piece), scan(&bytes));
    }
}
