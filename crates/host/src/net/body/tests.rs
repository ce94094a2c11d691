//! Caps on what is read and on what it unpacks to.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

pub(in crate::net) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Bytes that do not pack well.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn a_body_is_read_up_to_the_cap_and_not_a_byte_beyond() {
    let full = vec![b'x'; limits::RECEIVED_BYTES];
    assert_eq!(read(&full[..]).unwrap().len(), full.len());
    assert!(matches!(read(io::repeat(0)), Err(BodyError::TooLarge)));
}

#[test]
fn what_was_packed_is_unpacked_once() {
    assert_eq!(unpack(&packed(b"hello")).unwrap(), b"hello");
    assert_eq!(unpack(&packed(&packed(b"hello"))).unwrap(), packed(b"hello"));
    assert_eq!(unpack(&[packed(b"two "), packed(b"members")].concat()).unwrap(), b"two members");
    assert_eq!(unpack(&packed(b"")).unwrap(), b"");
    assert_eq!(unpack(b"").unwrap(), b"");
}

#[test]
fn bombs_end_early() {
    let bomb = packed(&vec![0; 16 << 20]);
    assert!(matches!(unpack(&bomb), Err(BodyError::Bomb)));
    let dull = packed(&vec![0; limits::RATIO_COUNTS_FROM]);
    assert_eq!(unpack(&dull).unwrap().len(), limits::RATIO_COUNTS_FROM);
    let mut large = noise(limits::RECEIVED_BYTES / 20);
    large.resize(limits::RECEIVED_BYTES + 1, 0);
    assert!(matches!(unpack(&packed(&large)), Err(BodyError::TooLarge)));
    large.pop();
    assert_eq!(unpack(&packed(&large)).unwrap().len(), limits::RECEIVED_BYTES);
}

#[test]
fn damaged_and_cut_packings_are_no_body() {
    let whole = packed(&noise(5000));
    for cut in [1, 9, 10, 100, whole.len() - 8, whole.len() - 1] {
        assert!(matches!(unpack(&whole[..cut]), Err(BodyError::Damaged(_))), "{cut}");
    }
    let mut wrong = whole;
    let last = wrong.len() - 5;
    wrong[last] ^= 1;
    assert!(matches!(unpack(&wrong), Err(BodyError::Damaged(_))));
    assert!(matches!(unpack(b"plain text"), Err(BodyError::Damaged(_))));
}

#[test]
fn one_layer_of_gzip_is_read_and_nothing_else() {
    let kind = |values: &[&str]| is_packed(values.iter().copied());
    assert!(matches!(kind(&[]), Ok(false)));
    assert!(matches!(kind(&["identity", ""]), Ok(false)));
    assert!(matches!(kind(&[" GZIP "]), Ok(true)));
    assert!(matches!(kind(&["x-gzip, identity"]), Ok(true)));
    for values in [&["br"][..], &["zstd"], &["deflate"], &["gzip, gzip"], &["gzip", "gzip"]] {
        assert!(matches!(kind(values), Err(BodyError::Encoding(_))), "{values:?}");
    }
}
