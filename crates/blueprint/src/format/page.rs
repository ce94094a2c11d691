//! What is written so far, and where the reading stands: the one place that
//! carries blanks, line breaks and comments over.

use super::Odd;

/// Blanks for each level of nesting.
pub(super) const STEP: usize = 2;

#[derive(Debug)]
pub(super) struct Page<'t> {
    pub(super) text: &'t str,
    /// Everything before this byte has been carried over.
    pub(super) at: usize,
    out: String,
    comments: Vec<String>,
}

impl<'t> Page<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, out: String::with_capacity(text.len()), comments: Vec::new() }
    }

    /// Carries over what stands between two tokens: comments, each on its
    /// line; one that begins a line goes where `indent` puts its column. Gives
    /// the line breaks just before the next token.
    pub(super) fn between(&mut self, indent: impl Fn(usize) -> usize) -> usize {
        let mut breaks = 0;
        loop {
            let rest = &self.text[self.at..];
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let start = self.at + blanks;
            match self.text[start..].chars().next() {
                Some('\n') => breaks += 1,
                Some('#') => {
                    if breaks > 0 || self.out.is_empty() {
                        self.line(breaks, indent(self.column(start)));
                    } else {
                        self.push(spaces_before_comment(&rest[..blanks]));
                    }
                    let end = self.line_end(start);
                    self.comment(start, end);
                    (self.at, breaks) = (end, 0);
                    continue;
                }
                Some(_) | None => {
                    self.at = start;
                    return breaks;
                }
            }
            self.at = start + 1;
        }
    }

    /// The byte of the next token.
    pub(super) fn next(&self) -> usize {
        let mut at = self.at;
        loop {
            let rest = &self.text[at..];
            at += rest.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
            if !self.text[at..].starts_with('#') {
                return at;
            }
            at = self.line_end(at);
        }
    }

    /// Carries over one sign, which must be the next token on this line.
    pub(super) fn sign(&mut self, sign: char, what: &'static str) -> Result<(), Odd> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if !self.text[start..].starts_with(sign) {
            return Err(Odd { at: start, what });
        }
        self.out.push(sign);
        self.at = start + sign.len_utf8();
        Ok(())
    }

    /// Begins a line; two breaks or more leave one line blank.
    pub(super) fn line(&mut self, breaks: usize, indent: usize) {
        if !self.out.is_empty() {
            self.out.push_str(if breaks > 1 { "\n\n" } else { "\n" });
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Carries over a comment as it is, up to the blanks at its end.
    pub(super) fn comment(&mut self, start: usize, end: usize) {
        let comment = self.text[start..end].trim_end();
        self.out.push_str(comment);
        self.comments.push(comment.to_owned());
    }

    pub(super) fn note_comment(&mut self, comment: &str) {
        self.comments.push(comment.to_owned());
    }

    /// How far a byte is from the beginning of its line.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.text[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    /// Where the line of a byte ends, without its break.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |end| at + end)
    }

    pub(super) fn finish(mut self) -> (String, Vec<String>) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        (self.out, self.comments)
    }
}

/// People line comments up, so the blanks before one stay.
fn spaces_before_comment(blanks: &str) -> &str {
    if blanks.contains('\t') { "  " } else { blanks }
}
