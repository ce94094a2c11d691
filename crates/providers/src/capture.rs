//! What is kept of a child's output: the beginning and the end, in bounded
//! memory however much comes. Text that is UTF-8 stays exactly so, however
//! the reads cut it; bytes that are not are kept beside the text.

use std::collections::VecDeque;

use crate::{base64, cut};

/// Collects one stream as it comes.
#[derive(Debug)]
pub struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// One stream after its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// What was kept, as text; where bytes were dropped it says so.
    pub text: String,
    /// The kept bytes with the same mark, when they are not UTF-8 and the
    /// text had to replace some.
    pub base64: Option<String>,
    /// How many bytes were dropped.
    pub dropped: u64,
}

impl Capture {
    /// Keeps at most `limit` bytes, half of them from either end.
    pub fn with_limit(limit: usize) -> Self {
        Self { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.half - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    pub fn finish(self) -> Captured {
        let mut head = self.head;
        let tail: Vec<u8> = self.tail.into();
        let kept = (head.len() + tail.len()) as u64;
        if kept == self.total {
            head.extend(tail);
            return Captured::of(head, 0);
        }
        // Only at the cut may a character be in pieces: drop its pieces.
        head.truncate(head.len() - broken_end(&head));
        head.truncate(head.len() - cut::word_at_end(&head));
        let tail = &tail[broken_start(&tail)..];
        let tail = &tail[cut::word_at_start(tail)..];
        let dropped = self.total - (head.len() + tail.len()) as u64;
        head.extend(format!("\n[… {dropped} bytes dropped …]\n").bytes());
        head.extend(tail);
        Captured::of(head, dropped)
    }
}

impl Captured {
    fn of(bytes: Vec<u8>, dropped: u64) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, base64: None, dropped },
            Err(error) => {
                let bytes = error.as_bytes();
                let text = String::from_utf8_lossy(bytes).into_owned();
                Self { text, base64: Some(base64::encode(bytes)), dropped }
            }
        }
    }
}

/// How many bytes at the end begin a character that is not all there.
fn broken_end(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        if is_continuation(byte) {
            continue;
        }
        let wants = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if wants > back { back } else { 0 };
    }
    0
}

/// How many bytes at the start belong to a character that began before.
fn broken_start(bytes: &[u8]) -> usize {
    let lead = bytes.iter().take(4).take_while(|b| is_continuation(**b)).count();
    // Four in a row are no character's rest: not UTF-8, so nothing to mend.
    if lead < 4 { lead } else { 0 }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, bytes: &[u8], chunk: usize) -> Captured {
        let mut capture = Capture::with_limit(limit);
        bytes.chunks(chunk).for_each(|part| capture.push(part));
        capture.finish()
    }

    #[test]
    fn output_within_the_limit_is_kept_whole_whatever_the_chunks() {
        let text = "─ naïve 🦀 text\n".repeat(50);
        for chunk in [1, 2, 3, 5, 7, 4096] {
            let got = captured(text.len() + 1, text.as_bytes(), chunk);
            assert_eq!(got, Captured { text: text.clone(), base64: None, dropped: 0 });
        }
    }

    #[test]
    fn output_over_the_limit_keeps_both_ends_and_names_exactly_what_is_missing() {
        let got = captured(10, b"0123456789abcdef", 3);
        assert_eq!(got.text, "01234\n[… 6 bytes dropped …]\nbcdef");
        assert_eq!((got.dropped, got.base64), (6, None));
    }

    #[test]
    fn no_character_is_broken_at_a_cut_for_any_limit_and_chunk() {
        for unit in ["─", "é", "🦀", "a─🦀é"] {
            let text = unit.repeat(100);
            for limit in 2..60 {
                for chunk in [1, 3, 8, 1000] {
                    let got = captured(limit, text.as_bytes(), chunk);
                    assert_eq!(got.base64, None, "{unit} {limit} {chunk}");
                    let (head, rest) = got.text.split_once("\n[… ").unwrap();
                    let (_, tail) = rest.split_once(" bytes dropped …]\n").unwrap();
                    assert!(text.starts_with(head) && text.ends_with(tail));
                    assert_eq!(got.dropped as usize, text.len() - head.len() - tail.len());
                    // At either end a character, and the word of which it was.
                    let lost = 2 * (4 + if unit.starts_with('a') { "éa".len() } else { 0 });
                    assert!(head.len() + tail.len() + lost > limit, "no more is lost than needed");
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_can_be_had_back() {
        let got = captured(100, b"ok\xff\xfe\n", 1);
        assert_eq!(got.text, "ok\u{fffd}\u{fffd}\n");
        assert_eq!(got.base64.as_deref(), Some("b2v//go="));
        let cut = captured(8, &[0x80; 40], 7);
        assert_eq!(cut.dropped, 32);
        assert!(cut.base64.is_some());
    }

    #[test]
    fn memory_stays_within_the_limit_however_much_comes() {
        let mut capture = Capture::with_limit(1 << 16);
        let block = vec![b'x'; 1 << 20];
        (0..64).for_each(|_| capture.push(&block));
        assert!(capture.head.capacity() + capture.tail.capacity() <= 3 << 16);
        assert_eq!(capture.finish().dropped, (64 << 20) - (1 << 16));
    }

    #[test]
    fn nothing_at_all_is_empty_text() {
        let empty = Captured { text: String::new(), base64: None, dropped: 0 };
        assert_eq!(Capture::with_limit(100).finish(), empty);
        assert_eq!(Capture::with_limit(0).finish(), empty);
    }
}
