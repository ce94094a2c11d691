//! Compound commands: branches, loops, `case` and `[[`.

use super::commands;
use super::grammar::{Reader, Stop, name_length};
use super::lexer::{Operator, Token};
use super::refusal::{Fatal, Why};

impl Reader<'_> {
    /// Up to `fi`, which is left.
    pub(super) fn if_else(&mut self) -> Result<(), Fatal> {
        self.section(&["then"])?;
        loop {
            match self.section(&["elif", "else", "fi"])?.as_str() {
                "elif" => self.section(&["then"])?,
                "else" => return self.section(&["fi"]).map(drop),
                _ => return Ok(()),
            };
        }
    }

    /// Up to `done`, which is left.
    pub(super) fn for_loop(&mut self) -> Result<(), Fatal> {
        self.take()?;
        let start = self.start()?;
        let Some(variable) = self.take()?.word() else {
            return Err(self.lost("this loop", start));
        };
        self.refuse_word(&variable, &Why::LoopName);
        let name = variable.plain().unwrap_or_default().to_owned();
        if name_length(&name) != name.len() || (name.is_empty() && !variable.has_place()) {
            return Err(self.lost("the name of this loop's variable", start));
        }
        self.newlines()?;
        if self.peek()?.is_keyword("in") {
            self.take()?;
            self.loop_words(&name)?;
        } else {
            self.taint.takes_arguments(&name);
            if self.peek()?.is(Operator::Semicolon) {
                self.take()?;
            }
        }
        self.newlines()?;
        if !self.peek()?.is_keyword("do") {
            let start = self.start()?;
            return Err(self.lost("a loop without `do`", start));
        }
        self.section(&["done"]).map(drop)
    }

    fn loop_words(&mut self, name: &str) -> Result<(), Fatal> {
        loop {
            let start = self.start()?;
            match self.take()? {
                Token::Word(word) => self.assign(name, &word),
                Token::Operator(Operator::Semicolon | Operator::Newline) => return Ok(()),
                Token::Operator(_) => {
                    return Err(self.lost("the end of this list of words", start));
                }
            }
        }
    }

    /// Up to `esac`, which is left.
    pub(super) fn case(&mut self) -> Result<(), Fatal> {
        self.take()?;
        let start = self.start()?;
        if self.take()?.word().is_none() {
            return Err(self.lost("this `case`", start));
        }
        self.newlines()?;
        let start = self.start()?;
        if !self.take()?.is_keyword("in") {
            return Err(self.lost("a `case` without `in`", start));
        }
        loop {
            self.newlines()?;
            if self.peek()?.is_keyword("esac") {
                return Ok(());
            }
            self.case_patterns()?;
            self.list(Stop::Branch)?;
            if self.peek()?.is(Operator::DoubleSemicolon) {
                self.take()?;
            }
        }
    }

    fn case_patterns(&mut self) -> Result<(), Fatal> {
        if self.peek()?.is(Operator::Open) {
            self.take()?;
        }
        loop {
            let start = self.start()?;
            let Some(pattern) = self.take()?.word() else {
                return Err(self.lost("this pattern of `case`", start));
            };
            self.refuse_word(&pattern, &Why::CasePattern);
            let start = self.start()?;
            match self.take()? {
                Token::Operator(Operator::Pipe) => {}
                Token::Operator(Operator::Close) => return Ok(()),
                Token::Operator(_) | Token::Word(_) => {
                    return Err(self.lost("this pattern of `case`", start));
                }
            }
        }
    }

    /// Up to `]]`, which is left. Bash reads what is between by rules of its
    /// own, other shells as commands: both end at the same word.
    pub(super) fn double_brackets(&mut self) -> Result<(), Fatal> {
        const INSIDE: [Operator; 6] = [
            Operator::Redirect,
            Operator::And,
            Operator::Or,
            Operator::Pipe,
            Operator::Open,
            Operator::Close,
        ];
        let start = self.start()?;
        let mut evaluates = false;
        loop {
            self.take()?;
            let token = self.peek()?.clone();
            if token.is_keyword("]]") {
                break;
            }
            evaluates |= commands::is_evaluating_test(token.plain());
            if !matches!(token, Token::Word(_)) && !token.is_one_of(&INSIDE) {
                return Err(self.lost("`[[` without `]]` in the same line", start));
            }
            if let Token::Word(word) = token {
                self.refuse_word(&word, &Why::DoubleBrackets);
            }
        }
        if evaluates {
            self.taint.evaluated(self.spots, start..self.at);
        }
        Ok(())
    }
}
