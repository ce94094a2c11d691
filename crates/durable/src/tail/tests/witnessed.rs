//! Logs held to what a checkpoint saw.

use super::*;

fn witness(log: &[u8]) -> Witness {
    scan(log).position.witness()
}

#[test]
fn a_log_that_goes_on_from_what_was_seen_is_clean() {
    let log = log(&[1, 2, 1]);
    let parts = lines(&log);
    let seen: Vec<Witness> = (0..=4).map(|count| witness(&parts[..count].concat())).collect();
    for piece in [3, 5000] {
        let told = scan_from(Position::START, &seen, &log, piece);
        assert_eq!(told.end, End::Clean);
        assert_eq!(told.lines.len(), 4);
    }
}

#[test]
fn a_shorter_log_is_damaged_wherever_it_was_cut() {
    let log = log(&[1, 2, 1]);
    let seen = witness(&log);
    for cut in 0..log.len() {
        let told = scan_from(Position::START, &[seen], &log[..cut], 64);
        let End::Damaged { offset, expected, why, .. } = told.end else {
            panic!("cut at {cut}: {:?}", told.end);
        };
        assert_eq!(why, Why::ShorterThanWitnessed(Seq(4)));
        assert_eq!((offset, expected), (told.position.offset, told.position.next_seq));
    }
}

#[test]
fn another_hash_at_the_place_is_damage_and_the_line_is_not_given() {
    let log = log(&[1, 2, 1]);
    let seen = Witness { next_seq: Seq(2), h: "12".repeat(16).parse().unwrap() };
    let told = scan_from(Position::START, &[seen], &log, 64);
    let offset = lines(&log)[0].len() as u64;
    let why = Why::OtherThanWitnessed;
    assert_eq!(told.end, End::Damaged { offset, line: 2, expected: Seq(1), why });
    assert_eq!(told.lines.len(), 1);
    let first = Witness { next_seq: Seq(0), h: seen.h };
    let told = scan_from(Position::START, &[first], &log, 64);
    assert!(matches!(told.end, End::Damaged { offset: 0, why: Why::OtherThanWitnessed, .. }));
}

#[test]
fn a_longer_tail_may_still_be_torn() {
    let log = log(&[1, 2, 1]);
    let parts = lines(&log);
    let seen = witness(&parts[..3].concat());
    let told = scan_from(Position::START, &[seen], &log[..log.len() - 3], 64);
    assert!(matches!(told.end, End::Torn { why: Why::Unfinished, .. }));
    let unfinished = witness(&log);
    let told = scan_from(Position::START, &[unfinished], &log[..log.len() - 1], 64);
    assert!(matches!(told.end, End::Damaged { .. }), "only the line feed is missing");
}

#[test]
fn a_witness_from_before_the_start_says_nothing() {
    let log = log(&[1, 2, 1]);
    let parts = lines(&log);
    let start = scan(&parts[..2].concat()).position;
    let early = Witness { next_seq: Seq(1), h: "12".repeat(16).parse().unwrap() };
    let rest = parts[2..].concat();
    assert_eq!(scan_from(start, &[early, start.witness()], &rest, 64).end, End::Clean);
}

#[test]
fn positions_and_witnesses_are_json() {
    let position = scan(&log(&[1])).position;
    insta::assert_json_snapshot!((position, position.witness()));
}
