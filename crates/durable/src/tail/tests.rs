//! What the end of a log means, for every way to spoil it.

use super::*;

mod foreign;
mod mutilated;
mod witnessed;

/// A log as a writer makes it: so many lines in each batch.
fn log(batches: &[u64]) -> Vec<u8> {
    let (mut out, mut seq, mut last) = (Vec::new(), 0, Link::START);
    for lines in batches {
        let batch = Seq(seq);
        for _ in 0..*lines {
            let body = format!(r#"{{"seq":{seq},"kind":"notification","message":"J* {seq} ä"}}"#);
            last = frame::seal(&mut out, body.as_bytes(), batch, last);
            seq += 1;
        }
    }
    out
}

/// The lines of a log, each with its line feed.
fn lines(log: &[u8]) -> Vec<Vec<u8>> {
    log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// What a scan tells.
#[derive(Debug, PartialEq)]
struct Told {
    lines: Vec<Vec<u8>>,
    position: Position,
    trust: Option<Trust>,
    end: End,
}

fn scan_from(position: Position, witnesses: &[Witness], log: &[u8], piece: usize) -> Told {
    let mut scanner = Scanner::new(position);
    for witness in witnesses {
        scanner.expect(*witness);
    }
    let mut lines = Vec::new();
    for piece in log.chunks(piece.max(1)) {
        scanner.feed(piece);
        while let Some(line) = scanner.next_line() {
            lines.push(line.text.to_vec());
        }
    }
    let end = scanner.finish();
    Told { lines, position: scanner.position(), trust: scanner.trust(), end }
}

fn scan(log: &[u8]) -> Told {
    scan_from(Position::START, &[], log, usize::MAX)
}

#[test]
fn an_empty_log_is_clean() {
    let told = scan(b"");
    assert_eq!((told.end, told.position, told.trust), (End::Clean, Position::START, None));
}

#[test]
fn a_whole_log_gives_all_its_lines_however_it_is_fed() {
    let log = log(&[1, 3, 2]);
    let whole = scan(&log);
    assert_eq!(whole.end, End::Clean);
    assert_eq!(whole.trust, Some(Trust::Verified));
    assert_eq!(whole.position.offset, log.len() as u64);
    assert_eq!(whole.position.next_seq, Seq(6));
    let want: Vec<Vec<u8>> =
        lines(&log).iter().map(|line| line[..line.len() - 1].to_vec()).collect();
    assert_eq!(whole.lines, want);
    for piece in [1, 2, 7, 64, 100, 1000] {
        assert_eq!(scan_from(Position::START, &[], &log, piece), whole, "pieces of {piece}");
    }
}

#[test]
fn a_line_tells_its_place_and_batch() {
    let log = log(&[1, 2]);
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&log);
    let mut places = Vec::new();
    while let Some(line) = scanner.next_line() {
        places.push((line.offset, line.seq.0, line.batch.0));
    }
    let length = |at: usize| lines(&log)[at].len() as u64;
    assert_eq!(places, [(0, 0, 0), (length(0), 1, 1), (length(0) + length(1), 2, 1)]);
}

#[test]
fn reading_goes_on_from_any_line() {
    let log = log(&[1, 3, 2]);
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&log);
    let mut positions = vec![scanner.position()];
    while scanner.next_line().is_some() {
        positions.push(scanner.position());
    }
    for (at, position) in positions.iter().enumerate() {
        let rest = &log[usize::try_from(position.offset).unwrap()..];
        let told = scan_from(*position, &[], rest, 50);
        assert_eq!(told.end, End::Clean);
        assert_eq!(told.lines, scan(&log).lines[at..]);
        assert_eq!(told.position, *positions.last().unwrap());
    }
}

#[test]
fn a_wrong_place_to_go_on_from_is_damage() {
    let log = log(&[1, 3, 2]);
    let offset = lines(&log)[0].len() as u64;
    let rest = &log[lines(&log)[0].len()..];
    let other = Position { offset, next_seq: Seq(1), last: "ab".repeat(16).parse().unwrap() };
    let told = scan_from(other, &[], rest, 50);
    let want = End::Damaged { offset, line: 2, expected: Seq(1), why: Why::OtherLink };
    assert_eq!(told.end, want);
}

#[test]
fn lines_that_nobody_took_are_checked_all_the_same() {
    let mut log = log(&[1, 3, 2]);
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&log);
    assert_eq!(scanner.finish(), End::Clean);
    log[20] ^= 1;
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&log);
    let frame = Why::Frame(FrameError::WrongHash);
    assert_eq!(scanner.finish(), End::Damaged { offset: 0, line: 1, expected: Seq(0), why: frame });
    assert_eq!(scanner.finish(), scanner.finish());
}

#[test]
fn a_line_over_the_limit_is_no_line_and_takes_bounded_memory() {
    let good = log(&[1, 1]);
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&good);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        scanner.feed(&piece);
        while scanner.next_line().is_some() {}
        assert!(scanner.buffer.len() <= limits::LINE_BYTES + 2 * piece.len());
    }
    let keep = good.len() as u64;
    let why = Why::Frame(FrameError::TooLong);
    assert_eq!(scanner.finish(), End::Torn { keep, dropped: 40 << 20, why });
}

#[test]
fn a_line_behind_one_over_the_limit_shows_that_it_was_acknowledged() {
    let good = log(&[1, 1, 1]);
    let parts = lines(&good);
    let long = vec![b'x'; limits::LINE_BYTES + 10];
    for feed in [b"".as_slice(), b"\n"] {
        let bytes = [&parts[0], long.as_slice(), feed, &parts[2]].concat();
        let told = scan_from(Position::START, &[], &bytes, 1 << 20);
        let offset = parts[0].len() as u64;
        let why = Why::Frame(FrameError::TooLong);
        assert_eq!(told.end, End::Damaged { offset, line: 2, expected: Seq(1), why });
    }
}
