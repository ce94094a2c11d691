//! Expansions and here-documents: where a shell puts in text of its own. No
//! value may stand in any of them, so only their ends have to be found.

use std::mem;
use std::ops::Range;

use super::grammar::{Reader, Stop};
use super::lexer::{Symbol, Word, WordPiece};
use super::refusal::{Fatal, Why};

/// A here-document whose lines have not come yet.
#[derive(Debug)]
pub(super) struct Here {
    end_mark: String,
    /// The shell puts nothing into its lines.
    verbatim: bool,
    strip: bool,
    at: usize,
}

impl Reader<'_> {
    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Fatal> {
        let start = self.at;
        match self.look(1) {
            Some(Symbol::Place(place)) => {
                self.refuse(place, Why::Dollar);
                word.pieces.push(WordPiece::Place(place));
                self.at += 2;
                return Ok(());
            }
            Some(Symbol::Char('(')) if self.sees(2, '(') => self.arithmetic()?,
            Some(Symbol::Char('(')) => self.substitution()?,
            Some(Symbol::Char('{')) => self.parameter()?,
            Some(Symbol::Char('\'' | '"')) if !quoted => return Err(self.dollar_quote()),
            Some(Symbol::Char('[')) => return Err(self.lost("`$[`", start)),
            Some(Symbol::Char('\\')) if self.sees(2, '\n') => {
                return Err(self.lost("a `$` at the end of a line that goes on", start));
            }
            Some(Symbol::Char(first)) if first.is_ascii_alphabetic() || first == '_' => {
                self.at += 2;
                while let Some(Symbol::Char(c)) = self.look(0)
                    && (c.is_ascii_alphanumeric() || c == '_')
                {
                    self.at += 1;
                }
                if self.sees(0, '\\') && self.sees(1, '\n') {
                    return Err(self.lost("a name that goes on in the next line", start));
                }
            }
            Some(Symbol::Char('0'..='9' | '@' | '*' | '#' | '?' | '-' | '$' | '!')) => self.at += 2,
            Some(Symbol::Char(_)) | None => {
                word.pieces.push(WordPiece::Text { text: "$".to_owned(), quoted: true });
                self.at += 1;
                return Ok(());
            }
        }
        self.push_expansion(word, quoted, start);
        Ok(())
    }

    /// In quotes all make one word, but `"$@"` and its kin make several.
    fn push_expansion(&self, word: &mut Word, quoted: bool, start: usize) {
        let single = quoted && !self.text(start..self.at).contains('@');
        word.pieces.push(WordPiece::Expansion { single });
    }

    /// `$'…'` and `$"…"`: a value inside is told, then the reading ends.
    fn dollar_quote(&mut self) -> Fatal {
        let start = self.at;
        let quote = self.look(1);
        self.at += 2;
        while let Some(symbol) = self.look(0)
            && Some(symbol) != quote
        {
            match symbol {
                Symbol::Place(place) => self.refuse(place, Why::SingleQuotes),
                Symbol::Char(_) => {}
            }
            self.at += 1;
        }
        Fatal {
            message: "`$` before a quote is not part of POSIX sh".to_owned(),
            suggestion: "use plain quotes, and `printf` for special characters".to_owned(),
            at: start,
        }
    }

    /// `$((…))` of digits, names and operators.
    fn arithmetic(&mut self) -> Result<(), Fatal> {
        let start = self.at;
        self.at += 3;
        let mut open = 2_usize;
        while open > 0 {
            match self.look(0) {
                None => return Err(self.unclosed("arithmetic", start)),
                Some(Symbol::Place(place)) => self.refuse(place, Why::Arithmetic),
                Some(Symbol::Char('(')) => open += 1,
                Some(Symbol::Char(')')) => {
                    if open == 2 && !self.sees(1, ')') {
                        return Err(self.lost("`$((` that does not end with `))`", start));
                    }
                    open -= 1;
                }
                Some(Symbol::Char('\'' | '"' | '`' | '\\' | '#' | ';' | '\n')) => {
                    return Err(self.lost("this character in arithmetic", self.at));
                }
                Some(Symbol::Char('$')) if self.sees(1, '(') || self.sees(1, '[') => {
                    return Err(self.lost("an expansion in arithmetic", self.at));
                }
                Some(Symbol::Char(_)) => {}
            }
            self.at += 1;
        }
        self.taint.evaluated(self.spots, start..self.at);
        Ok(())
    }

    /// `$(…)` is read as commands, so that its end is known.
    fn substitution(&mut self) -> Result<(), Fatal> {
        let start = self.at;
        self.at += 2;
        let outer = mem::take(&mut self.here);
        self.substitutions += 1;
        self.list(Stop::Close)?;
        self.take()?;
        self.substitutions -= 1;
        if !self.here.is_empty() {
            return Err(self.lost("a here-document that `$(…)` cuts off", start));
        }
        self.here = outer;
        Ok(())
    }

    /// `${…}` without quotes in it.
    fn parameter(&mut self) -> Result<(), Fatal> {
        let start = self.at;
        self.at += 2;
        let mut open = 1_usize;
        while open > 0 {
            match self.look(0) {
                None => return Err(self.unclosed("`${`", start)),
                Some(Symbol::Place(place)) => self.refuse(place, Why::Parameter),
                Some(Symbol::Char('}')) => open -= 1,
                Some(Symbol::Char('$')) if self.sees(1, '{') => {
                    open += 1;
                    self.at += 1;
                }
                Some(Symbol::Char('$')) if self.sees(1, '(') || self.sees(1, '[') => {
                    return Err(self.lost("an expansion inside `${…}`", self.at));
                }
                Some(Symbol::Char('\'' | '"' | '`' | '\\' | '{' | '(' | ')' | '\n')) => {
                    return Err(self.lost("this character inside `${…}`", self.at));
                }
                Some(Symbol::Char(_)) => {}
            }
            self.at += 1;
        }
        let inside = start + 2..self.at - 1;
        if self.is_foreign_parameter(inside) {
            self.taint.evaluated(self.spots, start..self.at);
        }
        Ok(())
    }

    /// Indirection, subscripts, cut-outs and transformations evaluate text;
    /// the forms that POSIX has do not.
    fn is_foreign_parameter(&self, inside: Range<usize>) -> bool {
        let text = self.text(inside);
        let tail = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let posix = ["", "-", "=", "?", "+", ":-", ":=", ":?", ":+", "#", "%", "@", "*", "$", "!"];
        let is_posix = |known: &str| {
            if known.is_empty() || matches!(known, "@" | "*" | "$" | "!") {
                tail == known
            } else {
                tail.starts_with(known)
            }
        };
        // What stands behind the operator can hold another `${…}`.
        !posix.iter().any(|known| is_posix(known)) || tail.contains(['[', '@']) && tail != "@"
    }

    pub(super) fn back_ticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), Fatal> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.look(0) {
                None => return Err(self.unclosed("a back-tick", start)),
                Some(Symbol::Char('`')) => break,
                Some(Symbol::Char('\\')) => {
                    self.at += 1;
                    if let Some(Symbol::Place(place)) = self.look(0) {
                        self.refuse(place, Why::BackTicks);
                    }
                }
                Some(Symbol::Place(place)) => self.refuse(place, Why::BackTicks),
                Some(Symbol::Char(_)) => {}
            }
            self.at += 1;
        }
        self.at += 1;
        // What stands inside is not read, so what evaluates must not be there.
        let text = self.text(start..self.at);
        if ["eval", "$((", "-c", "[[", "let "].iter().any(|risky| text.contains(risky)) {
            return Err(Fatal {
                message: "the command inside these back-ticks is not read".to_owned(),
                suggestion: "write `$(…)`, which is".to_owned(),
                at: start,
            });
        }
        self.push_expansion(word, quoted, start);
        Ok(())
    }

    /// The word after `<<`.
    pub(super) fn here_document(&mut self, strip: bool) -> Result<(), Fatal> {
        let at = self.start()?;
        let Some(word) = self.take()?.word() else {
            return Err(self.lost("a here-document without an end mark", at));
        };
        self.refuse_word(&word, &Why::HereDelimiter);
        let mut end_mark = String::new();
        let mut verbatim = false;
        for piece in &word.pieces {
            match piece {
                WordPiece::Text { text, quoted } => {
                    end_mark.push_str(text);
                    verbatim |= quoted;
                }
                WordPiece::Place(_) => {}
                WordPiece::Expansion { .. } => {
                    return Err(self.lost("an expansion in the end mark of a here-document", at));
                }
            }
        }
        if end_mark.is_empty() || end_mark.contains('\n') {
            return Err(self.lost("the end mark of this here-document", at));
        }
        self.here.push(Here { end_mark, verbatim, strip, at });
        Ok(())
    }

    /// The lines of all here-documents that the line before began.
    pub(super) fn here_documents(&mut self) -> Result<(), Fatal> {
        for here in mem::take(&mut self.here) {
            while !self.here_line(&here)? {}
        }
        Ok(())
    }

    /// Reads one line; true when it is the end mark.
    fn here_line(&mut self, here: &Here) -> Result<bool, Fatal> {
        let start = self.at;
        if self.look(0).is_none() {
            return Err(self.unclosed("this here-document", here.at));
        }
        let mut places = false;
        while let Some(symbol) = self.look(0)
            && symbol != Symbol::Char('\n')
        {
            if let Symbol::Place(place) = symbol {
                self.refuse(place, Why::HereDocument);
                places = true;
            }
            self.at += 1;
        }
        let text = self.text(start..self.at);
        self.at = (self.at + 1).min(self.spots.len());
        let bare = if here.strip { text.trim_start_matches('\t') } else { &text };
        if !places && bare == here.end_mark {
            return Ok(true);
        }
        let risky = ["`", "$(", "$[", "${"].iter().any(|risky| text.contains(risky));
        if !here.verbatim && (risky || text.ends_with('\\')) {
            return Err(Fatal {
                message: "this here-document holds more than plain variables".to_owned(),
                suggestion: "quote its end mark, as in `<<'END'`, or use `printf`".to_owned(),
                at: start,
            });
        }
        Ok(false)
    }
}
