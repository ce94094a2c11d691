//! The grammar of expressions, read by descent. What it accepts is what CEL
//! accepts, without bytes, messages and optional values; what it refuses is
//! told with its exact place.
//!
//! From loosest to tightest: `? :`, `||`, `&&`, comparisons and `in`, `+ -`,
//! `* / %`, `! -`, then `.name`, `[index]` and calls.

use std::ops::Range;

use serde_json::{Number, Value};

use super::lexer::{self, Token, Word};
use super::tree::{Arithmetic, Form, Part};
use super::{Operator, faults, limits};
use crate::template::{Expr, SyntaxError};

/// A path of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) expr: Expr,
    /// `has(path)`: asked is only whether it leads to a value.
    pub(super) has: bool,
    /// The first of the paths that means the same, which may be itself.
    pub(super) first: usize,
}

/// Reads one source from left to right. The next word is always known.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) token: Token,
    /// Where the word before ended.
    pub(super) end: usize,
    pub(super) paths: Vec<Asked>,
    /// The names that loops gave, the innermost last.
    pub(super) locals: Vec<String>,
    pub(super) parts: usize,
    nesting: usize,
}

type Read<T> = Result<T, SyntaxError>;

/// The whole source as one expression, and the paths in it.
pub(super) fn parse(source: &str) -> Read<(Part, Vec<Asked>)> {
    let token = lexer::next(source, 0);
    let mut parser = Parser {
        source,
        token,
        end: 0,
        paths: Vec::new(),
        locals: Vec::new(),
        parts: 0,
        nesting: 0,
    };
    if parser.token.word == Word::End {
        return Err(faults::empty(source));
    }
    let part = parser.expression()?;
    if parser.token.word != Word::End {
        return Err(faults::after_operand(&parser));
    }
    Ok((part, parser.paths))
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Read<Part> {
        self.deeper(Self::choice)
    }

    fn choice(&mut self) -> Read<Part> {
        let question = self.any()?;
        if !self.eat("?") {
            return Ok(question);
        }
        let yes = self.any()?;
        if !self.eat(":") {
            return Err(faults::expected(self, "`:` and what stands for no"));
        }
        let no = self.expression()?;
        self.choose(question, yes, no)
    }

    fn any(&mut self) -> Read<Part> {
        let mut terms = vec![self.all()?];
        while self.eat("||") {
            terms.push(self.all()?);
        }
        self.join("||", terms, Form::Any)
    }

    fn all(&mut self) -> Read<Part> {
        let mut terms = vec![self.relation()?];
        while self.eat("&&") {
            terms.push(self.relation()?);
        }
        self.join("&&", terms, Form::All)
    }

    fn relation(&mut self) -> Read<Part> {
        const SIGNS: [(&str, Operator); 6] = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let mut left = self.sum()?;
        loop {
            let sign = self.token.range.clone();
            if let Some((_, operator)) = SIGNS.iter().find(|(sign, _)| self.is(sign)) {
                self.advance();
                let right = self.sum()?;
                left = self.compare(left, *operator, sign, right)?;
            } else if self.is_name("in") {
                self.advance();
                let right = self.sum()?;
                left = self.within(left, right)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn sum(&mut self) -> Read<Part> {
        const SIGNS: [Arithmetic; 2] = [Arithmetic::Add, Arithmetic::Subtract];
        self.chain(&SIGNS, Self::product)
    }

    fn product(&mut self) -> Read<Part> {
        const SIGNS: [Arithmetic; 3] =
            [Arithmetic::Multiply, Arithmetic::Divide, Arithmetic::Remainder];
        self.chain(&SIGNS, Self::unary)
    }

    fn chain(&mut self, signs: &[Arithmetic], operand: fn(&mut Self) -> Read<Part>) -> Read<Part> {
        let mut left = operand(self)?;
        while let Some(sign) = signs.iter().copied().find(|sign| self.is(sign.sign())) {
            let range = self.token.range.clone();
            self.advance();
            let right = operand(self)?;
            left = self.arithmetic(left, sign, range, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read<Part> {
        let sign = self.token.range.clone();
        if self.eat("!") {
            let inner = self.deeper(Self::unary)?;
            return self.not(sign, inner);
        }
        if self.eat("-") {
            if self.token.word == Word::Number && self.token.range.start == sign.end {
                let number = self.number(sign.start)?;
                return self.behind(number);
            }
            let inner = self.deeper(Self::unary)?;
            return self.negative(sign, inner);
        }
        let start = self.primary()?;
        self.behind(start)
    }

    fn primary(&mut self) -> Read<Part> {
        let range = self.token.range.clone();
        match self.token.word.clone() {
            Word::Number => self.number(range.start),
            Word::Unsigned => self.unsigned(),
            Word::Text(text) => {
                self.advance();
                self.literal(Value::String(text), range)
            }
            Word::Name => self.named(),
            Word::Mark("(") => {
                self.advance();
                let mut inner = self.expression()?;
                self.close(")", &range)?;
                inner.range = range.start..self.end;
                Ok(inner)
            }
            Word::Mark("[") => {
                self.advance();
                let items = self.items("]", &range)?;
                self.list(range.start..self.end, items)
            }
            Word::Mark("{") => self.map(),
            Word::Bad(error) => Err(error),
            Word::Mark(_) | Word::End => Err(faults::operand(self)),
        }
    }

    fn map(&mut self) -> Read<Part> {
        let open = self.token.range.clone();
        self.advance();
        let mut entries = Vec::new();
        while !self.is("}") {
            let key = self.expression()?;
            if !self.eat(":") {
                return Err(faults::expected(self, "`:` and the value of the key"));
            }
            entries.push((key, self.expression()?));
            if !self.eat(",") {
                break;
            }
        }
        self.close("}", &open)?;
        self.object(open.start..self.end, entries)
    }

    /// Expressions with commas between, and the bracket that ends them.
    pub(super) fn items(&mut self, close: &'static str, open: &Range<usize>) -> Read<Vec<Part>> {
        let mut items = Vec::new();
        while !self.is(close) {
            items.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        self.close(close, open)?;
        Ok(items)
    }

    fn number(&mut self, start: usize) -> Read<Part> {
        let range = start..self.token.range.end;
        let text = &self.source[range.clone()];
        let number: Number =
            serde_json::from_str(text).map_err(|_| faults::number(text, &range))?;
        let whole = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        if whole && text.parse::<i64>().is_err() {
            return Err(faults::too_large(text, &range));
        }
        self.advance();
        self.literal(Value::Number(number), range)
    }

    fn unsigned(&mut self) -> Read<Part> {
        let range = self.token.range.clone();
        let digits = &self.source[range.start..range.end - 1];
        let number = digits.parse().map_err(|_| faults::too_large(digits, &range))?;
        self.advance();
        self.part(Form::Unsigned(number), range, Some(super::tree::Kind::Number), 0)
    }

    /// Goes down one level of the reading.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.nesting == limits::NESTING {
            return Err(faults::too_deep(&self.token.range));
        }
        self.nesting += 1;
        let read = read(self)?;
        self.nesting -= 1;
        Ok(read)
    }

    // Words.

    pub(super) fn advance(&mut self) {
        self.end = self.token.range.end;
        self.token = lexer::next(self.source, self.end);
    }

    /// Goes on reading at a byte.
    pub(super) fn go_to(&mut self, at: usize) {
        self.end = at;
        self.token = lexer::next(self.source, at);
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(&self.token.word, Word::Mark(found) if *found == mark)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        self.token.word == Word::Name && self.text() == name
    }

    pub(super) fn text(&self) -> &str {
        &self.source[self.token.range.clone()]
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn close(&mut self, close: &'static str, open: &Range<usize>) -> Read<()> {
        if self.eat(close) {
            return Ok(());
        }
        if self.token.word == Word::End {
            return Err(faults::unclosed(&self.source[open.clone()], close, open));
        }
        if [")", "]", "}"].iter().any(|other| self.is(other)) {
            return Err(faults::wrong_bracket(self, &self.source[open.clone()], close));
        }
        Err(faults::after_operand(self))
    }
}
