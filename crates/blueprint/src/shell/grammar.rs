//! Commands of POSIX sh: enough of the grammar to know of every word whether
//! it names a command, and of every place where it stands.

use std::ops::Range;

use durable::limits;

use super::lexer::{Operator, Seat, Spot, Symbol, Token, Word, WordPiece};
use super::refusal::{Fatal, Why};
use super::taint::Taint;
use super::{commands, expand};
use crate::template::{Expr, SyntaxError};

/// The seat of every place, or every reason why there is none.
pub(super) fn seats(
    spots: &[Spot],
    exprs: &[Expr],
    source_length: usize,
) -> Result<Vec<Seat>, Vec<SyntaxError>> {
    let mut reader = Reader {
        spots,
        at: 0,
        here: Vec::new(),
        substitutions: 0,
        taint: Taint::default(),
        token_start: 0,
        next: None,
        depth: 0,
        seats: vec![None; exprs.len()],
        refused: vec![None; exprs.len()],
    };
    let mut fatal = reader.script().err();
    if fatal.is_none() {
        fatal = std::mem::take(&mut reader.taint).verdict().err();
    }
    let mut errors: Vec<SyntaxError> = Vec::new();
    for (why, expr) in reader.refused.iter().zip(exprs) {
        errors.extend(why.as_ref().map(|why| why.error(expr.range.clone())));
    }
    if let Some(fatal) = fatal {
        let at = |index: usize| spots.get(index).map_or(source_length, |spot| spot.at);
        let range = at(fatal.at)..at(fatal.at + 1);
        errors.push(SyntaxError {
            message: fatal.message,
            suggestion: Some(fatal.suggestion),
            range,
        });
    }
    match (errors.is_empty(), reader.seats.into_iter().collect::<Option<Vec<Seat>>>()) {
        (true, Some(seats)) => Ok(seats),
        (true, None) => Err(vec![SyntaxError {
            message: "a place in this command was not found by reading it".to_owned(),
            suggestion: Some(SCRIPT_NODE.to_owned()),
            range: 0..source_length,
        }]),
        (false, _) => Err(errors),
    }
}

const SCRIPT_NODE: &str = "put this part into a script file, and give it the value as an argument";

const REDIRECTIONS: [Operator; 4] =
    [Operator::Redirect, Operator::Duplicate, Operator::Here, Operator::HereStripped];

pub(super) struct Reader<'a> {
    pub(super) spots: &'a [Spot],
    pub(super) at: usize,
    /// Here-documents whose lines begin after this line.
    pub(super) here: Vec<expand::Here>,
    /// How many `$(` are open.
    pub(super) substitutions: usize,
    pub(super) taint: Taint,
    /// Where the token read last begins; a word knows that itself.
    pub(super) token_start: usize,
    next: Option<(Token, usize)>,
    depth: usize,
    seats: Vec<Option<Seat>>,
    refused: Vec<Option<Why>>,
}

/// Where a list of commands ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    End,
    Close,
    /// `;;` or `esac`.
    Branch,
    Words(&'static [&'static str]),
}

impl Reader<'_> {
    pub(super) fn seat(&mut self, place: usize, seat: Seat) {
        if self.substitutions > 0 {
            self.refuse(place, Why::Substitution);
        }
        self.seats[place] = Some(seat);
    }

    /// The first reason is the one told; inside `$(…)` that is reason enough.
    pub(super) fn refuse(&mut self, place: usize, why: Why) {
        let why = if self.substitutions > 0 { Why::Substitution } else { why };
        self.refused[place].get_or_insert(why);
    }

    pub(super) fn refuse_word(&mut self, word: &Word, why: &Why) {
        for place in word.places() {
            self.refuse(place, why.clone());
        }
    }

    pub(super) fn lost(&self, what: &str, at: usize) -> Fatal {
        Fatal {
            message: format!("no value can be placed here safely: {what} is not understood"),
            suggestion: SCRIPT_NODE.to_owned(),
            at,
        }
    }

    pub(super) fn unclosed(&self, what: &str, at: usize) -> Fatal {
        Fatal { message: format!("{what} is never closed"), suggestion: "close it".to_owned(), at }
    }

    pub(super) fn text(&self, range: Range<usize>) -> String {
        self.spots[range]
            .iter()
            .map(|spot| match spot.symbol {
                Symbol::Char(character) => character,
                Symbol::Place(_) => ' ',
            })
            .collect()
    }

    pub(super) fn take(&mut self) -> Result<Token, Fatal> {
        match self.next.take() {
            Some((token, _)) => Ok(token),
            None => self.lex(),
        }
    }

    pub(super) fn peek(&mut self) -> Result<&Token, Fatal> {
        if self.next.is_none() {
            let token = self.lex()?;
            let start = match &token {
                Token::Word(word) => word.start,
                Token::Operator(_) => self.token_start,
            };
            self.next = Some((token, start));
        }
        Ok(self.next.as_ref().map_or(&Token::Operator(Operator::End), |(token, _)| token))
    }

    fn script(&mut self) -> Result<(), Fatal> {
        if let Some(at) = self.spots.iter().position(|spot| spot.symbol == Symbol::Char('\0')) {
            return Err(self.lost("a NUL character", at));
        }
        if let Some(found) = self.text(0..self.spots.len()).find("WARDIAN_V") {
            let at = self.text(0..self.spots.len())[..found].chars().count();
            return Err(Fatal {
                message: "names that begin with `WARDIAN_V` are taken by the values".to_owned(),
                suggestion: "write the value's path in braces where it is needed".to_owned(),
                at,
            });
        }
        self.list(Stop::End)?;
        if self.here.is_empty() {
            return Ok(());
        }
        Err(self.lost("a here-document without lines", self.spots.len()))
    }

    /// Commands up to the stop, which is left for the caller.
    pub(super) fn list(&mut self, stop: Stop) -> Result<(), Fatal> {
        loop {
            self.newlines()?;
            if self.at_stop(stop)? {
                return Ok(());
            }
            self.pipeline()?;
            let ended = [Operator::Semicolon, Operator::Ampersand, Operator::Newline];
            if self.peek()?.is_one_of(&ended) {
                self.take()?;
                continue;
            }
            // No keyword ends a command, only an operator does.
            let operator = matches!(self.peek()?, Token::Operator(_));
            if !operator || !self.at_stop(stop)? {
                let start = self.start()?;
                return Err(self.lost("what follows this command", start));
            }
        }
    }

    fn at_stop(&mut self, stop: Stop) -> Result<bool, Fatal> {
        let token = self.peek()?;
        Ok(match stop {
            Stop::End => token.is(Operator::End),
            Stop::Close => token.is(Operator::Close),
            Stop::Branch => token.is(Operator::DoubleSemicolon) || token.is_keyword("esac"),
            Stop::Words(words) => words.iter().any(|word| token.is_keyword(word)),
        })
    }

    pub(super) fn newlines(&mut self) -> Result<(), Fatal> {
        while self.peek()?.is(Operator::Newline) {
            self.take()?;
        }
        Ok(())
    }

    /// Commands joined by `|`, `&&` and `||`.
    fn pipeline(&mut self) -> Result<(), Fatal> {
        loop {
            self.command()?;
            if !self.peek()?.is_one_of(&[Operator::Pipe, Operator::And, Operator::Or]) {
                return Ok(());
            }
            self.take()?;
            self.newlines()?;
        }
    }

    fn command(&mut self) -> Result<(), Fatal> {
        self.depth += 1;
        if self.depth > limits::DEPTH {
            return Err(self.lost("nesting this deep", self.at));
        }
        let token = self.peek()?;
        let keyword = if token.is(Operator::Open) { "(" } else { token.plain() }.to_owned();
        if keyword == "!" {
            self.take()?;
            self.command()?;
        } else if self.compound(&keyword)? {
            self.redirections()?;
        } else if commands::RESERVED.contains(&keyword.as_str()) {
            let start = self.start()?;
            return Err(self.lost(&format!("`{keyword}` here"), start));
        } else {
            self.simple()?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// True when the keyword began a compound command, which is then read.
    fn compound(&mut self, keyword: &str) -> Result<bool, Fatal> {
        match keyword {
            "(" => {
                let start = self.start()?;
                if self.sees(0, '(') {
                    return Err(self.lost("`((`", start));
                }
                self.take()?;
                self.list(Stop::Close)?;
            }
            "{" => {
                self.section(&["}"])?;
            }
            "if" => self.if_else()?,
            "while" | "until" => {
                self.section(&["do"])?;
                self.section(&["done"])?;
            }
            "for" => self.for_loop()?,
            "case" => self.case()?,
            "[[" => self.double_brackets()?,
            _ => return Ok(false),
        }
        self.take()?;
        Ok(true)
    }

    /// Takes the word that opens the section and reads up to one of `ends`.
    pub(super) fn section(&mut self, ends: &'static [&'static str]) -> Result<String, Fatal> {
        self.take()?;
        self.list(Stop::Words(ends))?;
        Ok(self.peek()?.plain().to_owned())
    }

    fn redirections(&mut self) -> Result<(), Fatal> {
        while self.peek()?.is_one_of(&REDIRECTIONS) {
            self.redirection()?;
        }
        Ok(())
    }

    fn redirection(&mut self) -> Result<(), Fatal> {
        let start = self.start()?;
        let operator = self.take()?;
        if operator.is(Operator::Here) || operator.is(Operator::HereStripped) {
            return self.here_document(operator.is(Operator::HereStripped));
        }
        let Some(target) = self.take()?.word() else {
            return Err(self.lost("a redirection without a file", start));
        };
        if operator.is(Operator::Duplicate) {
            self.refuse_word(&target, &Why::Descriptor);
        }
        Ok(())
    }

    fn simple(&mut self) -> Result<(), Fatal> {
        let start = self.start()?;
        let mut words: Vec<Word> = Vec::new();
        let mut other = false;
        loop {
            if self.peek()?.is_one_of(&REDIRECTIONS) {
                self.redirection()?;
                other = true;
            } else if self.peek()?.is(Operator::Open) {
                return match words.as_slice() {
                    [name] if !other => self.function(name),
                    _ => {
                        let start = self.start()?;
                        Err(self.lost("`(` here", start))
                    }
                };
            } else if matches!(self.peek()?, Token::Word(_)) {
                let Some(word) = self.take()?.word() else { continue };
                if words.is_empty() && self.assignment(&word)? {
                    other = true;
                } else {
                    words.push(word);
                }
            } else {
                break;
            }
        }
        if words.is_empty() && !other {
            return Err(self.lost("a missing command", start));
        }
        self.judge(&words)
    }

    /// True for an assignment before a command.
    fn assignment(&mut self, word: &Word) -> Result<bool, Fatal> {
        let head = word.head();
        let length = name_length(head);
        let (name, rest) = head.split_at(length);
        if length > 0 && rest.starts_with('=') {
            self.assign(name, word);
            return Ok(true);
        }
        if length > 0 && (rest.starts_with("+=") || rest.starts_with('[')) {
            if word.has_place() && rest.starts_with('[') {
                self.refuse_word(word, &Why::Subscript);
                return Ok(true);
            }
            return Err(self.lost("an assignment that POSIX sh does not have", word.start));
        }
        let mut before = head.is_empty() || length == head.len();
        for piece in &word.pieces {
            if let WordPiece::Text { text, quoted: false } = piece
                && before
                && text.contains('=')
                && word.has_place()
            {
                self.refuse_word(word, &Why::AssignmentName);
                return Ok(true);
            }
            before &= !matches!(piece, WordPiece::Text { quoted: true, .. });
        }
        Ok(false)
    }

    pub(super) fn assign(&mut self, name: &str, word: &Word) {
        if commands::is_code_variable(name) {
            self.refuse_word(word, &Why::CodeVariable(name.to_owned()));
        }
        self.taint.assigned(self.spots, name, word);
    }

    fn function(&mut self, name: &Word) -> Result<(), Fatal> {
        self.refuse_word(name, &Why::FunctionName);
        self.take()?;
        let start = self.start()?;
        if !self.take()?.is(Operator::Close) {
            return Err(self.lost("`(` behind a word", start));
        }
        if let Some(name) = name.literal() {
            self.taint.defined(&name);
        }
        self.newlines()?;
        self.command()
    }

    /// Where the next token begins.
    pub(super) fn start(&mut self) -> Result<usize, Fatal> {
        self.peek()?;
        Ok(self.next.as_ref().map_or(self.at, |(_, start)| *start))
    }
}

/// How many bytes of `text`, from its start, are the name of a variable.
pub(super) fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_') {
        return 0;
    }
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}
