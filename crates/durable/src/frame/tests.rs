//! Lines of a log: round trips, and every way to spoil one.

use proptest::prelude::*;

use super::*;

fn sealed(body: &str, batch: u64, prev: Link) -> (Vec<u8>, Link) {
    let mut out = Vec::new();
    let h = seal(&mut out, body.as_bytes(), Seq(batch), prev);
    assert_eq!(out.pop(), Some(b'\n'));
    (out, h)
}

fn text(line: &[u8]) -> String {
    String::from_utf8(line.to_vec()).unwrap()
}

#[test]
fn a_log_of_three_lines_is_written_byte_for_byte_like_this() {
    let (first, h) = sealed(r#"{"seq":0,"kind":"run_started"}"#, 0, Link::START);
    let (second, h) = sealed(r#"{"seq":1,"kind":"node_started","node":"a"}"#, 1, h);
    let (third, _) = sealed(r#"{"seq":2,"kind":"node_completed","node":"a"}"#, 1, h);
    insta::assert_snapshot!([text(&first), text(&second), text(&third)].join("\n"));
}

#[test]
fn a_line_opens_to_what_was_sealed() {
    let body = r#"{"seq":7,"kind":"notification","message":"\"h\":\"x\"}"}"#;
    let prev = Link::of(b"the line before");
    let (line, h) = sealed(body, 5, prev);
    let framed = open(&line).unwrap();
    assert_eq!((framed.seq, framed.batch, framed.prev, framed.h), (Seq(7), Seq(5), prev, h));
    assert_eq!(framed.body(), body.as_bytes());
    assert!(is_sealed(&line));
    let json: serde_json::Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(json["h"], h.to_string());
    assert_eq!(json["prev"], prev.to_string());
    assert_eq!(json["batch"], 5);
}

#[test]
fn each_way_of_not_being_a_line_has_its_error() {
    let (line, _) = sealed(r#"{"seq":3,"kind":"x"}"#, 3, Link::START);
    let whole = text(&line);
    let again = |hashed: &str| format!("{hashed},\"h\":\"{}\"}}", Link::of(hashed.as_bytes()));
    let table = [
        (String::new(), FrameError::NoHash),
        (r#"{"seq":3,"kind":"x"}"#.to_owned(), FrameError::NoHash),
        (whole.to_uppercase(), FrameError::NoHash),
        (whole.replace("\"x\"", "\"y\""), FrameError::WrongHash),
        (again(r#"{"kind":"x""#), FrameError::NoSeq),
        (again(r#"{"seq":03,"kind":"x""#), FrameError::NoSeq),
        (again(r#"{"seq":18446744073709551616,"kind":"x""#), FrameError::NoSeq),
        (again(r#"{"seq":3,"kind":"x""#), FrameError::NoPlace),
        (again(&format!(r#"{{"seq":3,"batch":,"prev":"{}""#, Link::START)), FrameError::NoPlace),
        (again(&format!(r#"{{"seq":3,"batch":4,"prev":"{}""#, Link::START)), FrameError::LateBatch),
        (" ".repeat(limits::LINE_BYTES + 1), FrameError::TooLong),
    ];
    for (line, want) in table {
        assert_eq!(open(line.as_bytes()), Err(want), "{}", &line[..line.len().min(120)]);
    }
}

#[test]
fn the_longest_body_makes_a_line_within_the_limit() {
    let most = u64::MAX;
    let mut body = format!("{{\"seq\":{most},\"text\":\"").into_bytes();
    body.resize(BODY_BYTES - 2, b'x');
    body.extend_from_slice(b"\"}");
    assert_eq!(body.len(), BODY_BYTES);
    let mut out = Vec::new();
    seal(&mut out, &body, Seq(most), Link::START);
    assert_eq!(out.len() - 1, limits::LINE_BYTES);
    assert_eq!(open(&out[..out.len() - 1]).map(|line| line.seq), Ok(Seq(most)));
}

#[test]
fn a_body_that_could_not_be_read_again_is_never_written() {
    let bodies =
        ["", "{}", r#"{"seq":1}"#, r#"{"seq":1,"a":2"#, "{\"seq\":1,\"a\":\n2}", r#"{"a":1}"#];
    for body in bodies {
        let written = std::panic::catch_unwind(|| sealed(body, 0, Link::START));
        assert!(written.is_err(), "{body}");
    }
    let late = std::panic::catch_unwind(|| sealed(r#"{"seq":1,"a":2}"#, 2, Link::START));
    assert!(late.is_err());
}

#[test]
fn one_field_of_ours_is_a_trace_and_a_foreign_line_has_none() {
    let (line, _) = sealed(r#"{"seq":12,"kind":"x"}"#, 12, Link::START);
    assert!(has_trace(&line));
    for gone in [",\"batch\":", ",\"prev\":\"", ",\"h\":\""] {
        let changed = text(&line).replace(gone, &".".repeat(gone.len()));
        assert!(has_trace(changed.as_bytes()), "{changed}");
    }
    assert!(!has_trace(br#"{"seq":0,"ts":"2026-01-01T00:00:00Z","kind":"run_started"}"#));
    assert!(!has_trace(b""));
}

#[test]
fn a_line_is_found_behind_garbage() {
    let (line, _) = sealed(r#"{"seq":12,"kind":"x"}"#, 11, Link::START);
    let joined = [b"garbage {\"seq\":1, {\"seq\":".as_slice(), &line].concat();
    assert!(ends_in_line(&joined, |seq, batch| (seq, batch) == (Seq(12), Seq(11))));
    assert!(!ends_in_line(&joined, |seq, _| seq != Seq(12)));
    assert!(!ends_in_line(&joined[..joined.len() - 1], |_, _| true));
    let hidden = [b"{\"seq\":1,".repeat(TRIES).as_slice(), &line].concat();
    assert!(!ends_in_line(&hidden, |_, batch| batch == Seq(11)), "the search is bounded");
}

#[test]
fn a_link_is_text_in_json() {
    let link: Link = "000102030405060708090a0b0c0d0eff".parse().unwrap();
    assert_eq!(serde_json::to_string(&link).unwrap(), r#""000102030405060708090a0b0c0d0eff""#);
    assert_eq!(
        serde_json::from_str::<Link>(r#""000102030405060708090a0b0c0d0eff""#).unwrap(),
        link
    );
    for bad in ["", "00", "000102030405060708090A0B0C0D0EFF", "000102030405060708090a0b0c0d0eff0"] {
        assert_eq!(bad.parse::<Link>(), Err(LinkError(bad.to_owned())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_event_comes_back_as_it_went_in(
        seq in any::<u64>(),
        back in any::<u64>(),
        prev in any::<[u8; 16]>(),
        note in any::<String>(),
    ) {
        let note = serde_json::Value::from(note);
        let body = format!(r#"{{"seq":{seq},"note":{note}}}"#);
        let (line, h) = sealed(&body, seq - back.min(seq), Link(prev));
        let framed = open(&line).unwrap();
        prop_assert_eq!(framed.body(), body.as_bytes());
        prop_assert_eq!(framed.prev, Link(prev));
        prop_assert_eq!(framed.h, h);
        prop_assert_eq!(framed.batch, Seq(seq - back.min(seq)));
        let json = serde_json::from_slice::<serde_json::Value>(&line).unwrap();
        prop_assert_eq!(&json["note"], &note);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = open(&bytes).is_ok();
        let _ = is_sealed(&bytes) | has_trace(&bytes) | ends_in_line(&bytes, |_, _| true);
    }
}

#[test]
fn every_bit_of_a_line_is_under_its_hash() {
    let (line, _) = sealed(r#"{"seq":12,"kind":"x","text":"two words"}"#, 11, Link::START);
    for bit in 0..line.len() * 8 {
        let mut changed = line.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&changed).is_err(), "bit {bit}");
        assert!(has_trace(&changed), "bit {bit}");
    }
}
