//! Logs without hashes.

use super::*;

fn reference(lines: u64) -> Vec<u8> {
    let line = |seq| format!("{{\"ts\":\"2026-01-01T00:00:00Z\",\"seq\":{seq},\"kind\":\"x\"}}\n");
    (0..lines).map(line).collect::<String>().into_bytes()
}

#[test]
fn they_are_read_and_marked_unverified() {
    let told = scan(&reference(3));
    assert_eq!((told.end, told.trust), (End::Clean, Some(Trust::Unverified)));
    assert_eq!(told.lines.len(), 3);
    assert_eq!(told.position.next_seq, Seq(3));
    assert_eq!(told.position.last, Link::START);
}

#[test]
fn reading_goes_on_from_a_line_of_theirs() {
    let log = reference(4);
    let offset = lines(&log)[0].len() * 2;
    let position = Position { offset: offset as u64, next_seq: Seq(2), last: Link::START };
    let told = scan_from(position, &[], &log[offset..], 9);
    assert_eq!((told.end, told.trust), (End::Clean, Some(Trust::Unverified)));
    assert_eq!(told.lines.len(), 2);
}

#[test]
fn an_end_without_line_feed_is_torn_at_every_byte() {
    let log = reference(3);
    for cut in 0..log.len() {
        let told = scan(&log[..cut]);
        let keep = log[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (dropped, keep) = ((cut - keep) as u64, keep as u64);
        let torn = End::Torn { keep, dropped, why: Why::Unfinished };
        assert_eq!(told.end, if dropped == 0 { End::Clean } else { torn }, "cut at {cut}");
    }
}

#[test]
fn anything_else_that_is_wrong_is_damage() {
    let parts = lines(&reference(4));
    let sealed = lines(&log(&[3]));
    let whole = |picked: &[&[u8]]| scan(&picked.concat()).end;
    let dropped = whole(&[&parts[0], &parts[2]]);
    let doubled = whole(&[&parts[0], &parts[0]]);
    let blank = whole(&[&parts[0], b"\n", &parts[1]]);
    let no_object = whole(&[&parts[0], b"[1]\n"]);
    let no_json = whole(&[&parts[0], b"{\"seq\":1,\n"]);
    let ours = whole(&[&parts[0], &sealed[1]]);
    let nothing_first = whole(&[b"x\n", &parts[1]]);
    let no_first = whole(&[&parts[1], &parts[2]]);
    let damaged = [dropped, doubled, blank, no_object, no_json, ours, nothing_first, no_first];
    for (at, end) in damaged.into_iter().enumerate() {
        assert!(matches!(end, End::Damaged { .. }), "case {at}: {end:?}");
    }
}

#[test]
fn a_changed_line_of_ours_is_never_taken_for_one_of_theirs() {
    let log = log(&[1]);
    for bit in 0..log.len() * 8 {
        let mut changed = log.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let told = scan(&changed);
        assert!(told.lines.is_empty(), "bit {bit}");
        assert_ne!(told.trust, Some(Trust::Unverified), "bit {bit}");
        assert_ne!(told.end, End::Clean, "bit {bit}");
    }
}
