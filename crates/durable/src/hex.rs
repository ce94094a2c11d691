//! Bytes as lower-case hexadecimal digits, and back. Every line of a log
//! holds two such texts or three, so neither way has a branch for each digit.

/// Writes the digits of `bytes` into `text`, two for each byte.
pub(crate) fn write(bytes: &[u8], text: &mut [u8]) {
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = digit(byte >> 4);
        pair[1] = digit(byte & 15);
    }
}

/// Reads `text`, which must be two lower-case digits for each byte and
/// nothing more. Says whether it was.
#[must_use]
pub(crate) fn read(text: &[u8], bytes: &mut [u8]) -> bool {
    if text.len() != 2 * bytes.len() {
        return false;
    }
    // The digits are judged together.
    let mut seen = 0;
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let (high, low) = (VALUE[usize::from(pair[0])], VALUE[usize::from(pair[1])]);
        seen |= high | low;
        *byte = high << 4 | low & 15;
    }
    seen < 16
}

const fn digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

/// What each byte is worth as a digit; of no digit, 16.
const VALUE: [u8; 256] = {
    let mut table = [16; 256];
    let mut worth = 0;
    while worth < 16 {
        table[digit(worth) as usize] = worth;
        worth += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_two_digits_and_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let (mut text, mut back) = ([0; 512], [0; 256]);
        write(&bytes, &mut text);
        assert_eq!(&text[..8], b"00010203");
        assert_eq!(&text[506..], b"fdfeff");
        assert!(read(&text, &mut back));
        assert_eq!(back[..], bytes[..]);
    }

    #[test]
    fn other_characters_and_other_lengths_are_refused() {
        let mut bytes = [0; 2];
        for bad in ["", "0a0", "0a0b0", "0a0B", "0a0g", "0a :", "0a0/", "0a0`", "\u{e4}\u{e4}"] {
            assert!(!read(bad.as_bytes(), &mut bytes), "{bad}");
        }
        assert!(read(b"0a0b", &mut bytes));
        assert_eq!(bytes, [10, 11]);
    }
}
