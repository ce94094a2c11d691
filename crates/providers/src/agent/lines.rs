//! Lines out of pieces, in bounded memory: a line over the limit is skipped
//! to its end and counted, and what follows it is read as before.

use memchr::memchr;

use super::limits::LINE_BYTES;

#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    /// Empty lines count too.
    pub(super) blank: bool,
    /// The beginning of a line that is not all there.
    begun: Vec<u8>,
    /// Inside a line that is too long.
    skipping: bool,
    pub(super) skipped: u64,
}

impl Default for Lines {
    fn default() -> Self {
        Self { limit: LINE_BYTES, blank: false, begun: Vec::new(), skipping: false, skipped: 0 }
    }
}

impl Lines {
    /// Hands on every line that is complete now, without its end.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(&[u8])) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (whole, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.begun.is_empty() && !self.skipping && whole.len() <= self.limit {
                self.emit(whole, &mut line);
                continue;
            }
            self.part(whole);
            if !self.skipping {
                self.emit(&self.begun, &mut line);
            }
            self.clear();
        }
        self.part(bytes);
    }

    /// What was left when the stream ended.
    pub(super) fn finish(&mut self, mut line: impl FnMut(&[u8])) {
        if !self.skipping && !self.begun.is_empty() {
            self.emit(&self.begun, &mut line);
        }
        self.clear();
    }

    fn part(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.begun.len() + bytes.len() > self.limit {
            self.skipping = true;
            self.skipped += 1;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn clear(&mut self) {
        self.skipping = false;
        self.begun.clear();
    }

    fn emit(&self, text: &[u8], line: &mut impl FnMut(&[u8])) {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if self.blank || !text.iter().all(u8::is_ascii_whitespace) {
            line(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(limit: usize, bytes: &[u8], chunk: usize) -> (Vec<String>, u64) {
        let mut lines = Lines { limit, ..Lines::default() };
        let mut found = Vec::new();
        let mut keep = |line: &[u8]| found.push(String::from_utf8_lossy(line).into_owned());
        for part in bytes.chunks(chunk) {
            lines.push(part, &mut keep);
        }
        lines.finish(&mut keep);
        (found, lines.skipped)
    }

    #[test]
    fn the_pieces_in_which_lines_come_make_no_difference() {
        let text = "one\r\n\n  \ntwo ─ naïve\nthree".as_bytes();
        for chunk in [1, 2, 3, 7, 100] {
            assert_eq!(read(100, text, chunk).0, ["one", "two ─ naïve", "three"], "{chunk}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let text = format!("a\n{}\nb\n{}", "x".repeat(50), "y".repeat(11));
        for chunk in [1, 10, 1000] {
            assert_eq!(read(10, text.as_bytes(), chunk), (vec!["a".to_owned(), "b".to_owned()], 2));
        }
    }
}
