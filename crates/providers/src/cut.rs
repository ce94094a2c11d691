//! Where a text may be cut. What is cut is masked later, and half of a secret
//! is no longer known as one; so a cut never goes through a word.

/// A longer word than any secret: where there is no border within it, a cut
/// has to go through.
const LONGEST: usize = 4096;

/// How many bytes at the end of a cut text belong to a word that the cut may
/// have gone through.
pub(crate) fn word_at_end(bytes: &[u8]) -> usize {
    let word = bytes.iter().rev().take(LONGEST + 1).take_while(|byte| is_of_word(**byte)).count();
    within(without_foreign_start(bytes, word), bytes)
}

/// The same at the start of what follows a cut.
pub(crate) fn word_at_start(bytes: &[u8]) -> usize {
    let word = bytes.iter().take(LONGEST + 1).take_while(|byte| is_of_word(**byte));
    within(word.count(), bytes)
}

/// Cuts a line for people, with a mark. Of a line that is one word nothing is
/// left.
pub(crate) fn line(mut text: String) -> String {
    let word = text.bytes().rev().take_while(|byte| is_of_word(*byte)).count();
    text.truncate(text.len() - without_foreign_start(text.as_bytes(), word));
    text.truncate(text.trim_end().len());
    text.push('…');
    text
}

/// Signs of ASCII, and letters of two bytes: those of alphabets whose words
/// have spaces between them. What is written without spaces has no words here,
/// or a cut would take whole sentences.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_graphic() || (0x80..0xe0).contains(&byte)
}

/// A word found from its end, without the last bytes of a longer character
/// that stands before it.
fn without_foreign_start(bytes: &[u8], word: usize) -> usize {
    let rest = bytes[bytes.len() - word..].iter();
    word - rest.take_while(|byte| (0x80..0xc0).contains(*byte)).count()
}

fn within(word: usize, bytes: &[u8]) -> usize {
    if word > LONGEST || word == bytes.len() { 0 } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_goes_before_or_behind_a_word_and_through_one_only_where_there_is_no_border() {
        assert_eq!((word_at_end(b"the key is ab"), word_at_start(b"cd and")), (2, 2));
        assert_eq!((word_at_end(b"the key is "), word_at_start(b" and")), (0, 0));
        let (end, start) = ("be naïv".as_bytes(), "ïve or".as_bytes());
        assert_eq!((word_at_end(end), word_at_start(start)), (5, 4));
        let (end, start) = ("鍵はkey".as_bytes(), "鍵key".as_bytes());
        assert_eq!((word_at_end(end), word_at_start(start)), (3, 0));
        assert_eq!(word_at_end("鍵です".as_bytes()), 0);
        assert_eq!((word_at_end(b"abc"), word_at_start(b"abc"), word_at_end(b"")), (0, 0, 0));
        let long = [b" ".to_vec(), vec![b'x'; LONGEST + 1]].concat();
        assert_eq!((word_at_end(&long), word_at_end(&long[..=LONGEST])), (0, LONGEST));
    }

    #[test]
    fn a_line_loses_the_word_that_it_was_cut_in() {
        let cut = |text: &str| line(text.to_owned());
        assert_eq!(cut("the key is ghp_01"), "the key is…");
        assert_eq!(cut("the key is gh+é"), "the key is…");
        assert_eq!(cut("ghp_01"), "…");
        assert_eq!(cut("鍵は鍵です"), "鍵は鍵です…");
    }
}
