//! What begins with a name: paths into the run's data, the items of loops,
//! and calls.

use std::ops::Range;

use serde_json::Value;

use super::functions::{self, Called, Function, Loop};
use super::lexer::Word;
use super::parser::{Asked, Parser};
use super::tree::{Form, Kind, Part};
use super::{faults, limits};
use crate::template::syntax::{Cursor, ROOTS};
use crate::template::{Expr, Step, SyntaxError};
use crate::{NodeId, Root};

type Read<T> = Result<T, SyntaxError>;

impl Parser<'_> {
    pub(super) fn named(&mut self) -> Read<Part> {
        let range = self.token.range.clone();
        let name = self.text().to_owned();
        let value = match name.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = value {
            self.advance();
            return self.literal(value, range);
        }
        if self.source[range.end..].trim_start().starts_with('(') && name != "in" && name != "not" {
            return self.global_call(&name, &range);
        }
        if self.locals.contains(&name) {
            self.advance();
            return self.part(Form::Local(name), range, None, 0);
        }
        if ROOTS.contains(&name.as_str()) {
            return self.path(&range);
        }
        Err(faults::unknown_name(self, &name))
    }

    // Paths.

    fn path(&mut self, start: &Range<usize>) -> Read<Part> {
        self.no_dash(start)?;
        let root = match self.quoted_node(start)? {
            Some(root) => root,
            None => {
                let mut cursor = Cursor { source: self.source, at: start.start };
                let root = cursor.root()?;
                self.go_to(cursor.at);
                root
            }
        };
        let mut path = Vec::new();
        while let Some(step) = self.step()? {
            path.push(step);
        }
        let range = start.start..self.end;
        if matches!(root, Root::RunId | Root::ItemIndex) && !path.is_empty() {
            return Err(faults::no_parts(&self.source[range.clone()], &range));
        }
        let expr = Expr { root, path, filters: Vec::new(), range: range.clone() };
        let at = self.paths.len();
        let same = self.paths.iter().position(|other| other.expr.means_the_same(&expr));
        let first = same.unwrap_or(at);
        self.paths.push(Asked { expr, has: false, first });
        self.part(Form::Path { at, first }, range, None, 0)
    }

    /// `nodes["an-id"].output`
    fn quoted_node(&mut self, start: &Range<usize>) -> Read<Option<Root>> {
        if self.text() != "nodes" {
            return Ok(None);
        }
        self.advance();
        if !self.is("[") {
            return Ok(None);
        }
        self.advance();
        let Word::Text(id) = self.token.word.clone() else {
            return Err(faults::node_id(self));
        };
        self.advance();
        if !self.eat("]") {
            return Err(faults::expected(self, "`]`"));
        }
        let part_start = self.token.range.end;
        let part = if self.eat(".") { self.text().to_owned() } else { String::new() };
        let id = NodeId::new(&id);
        let root = match part.as_str() {
            "output" => Root::Output(id),
            "prev" => Root::Prev(id),
            "error" => Root::Error(id),
            _ => {
                let end = self.token.range.end.max(part_start);
                return Err(faults::node_part(
                    start.start..end.min(self.source.len()),
                    id.as_str(),
                ));
            }
        };
        self.advance();
        Ok(Some(root))
    }

    /// One more step of a path, when what follows is one: a call, or an index
    /// that data decides, belongs to the expression.
    fn step(&mut self) -> Read<Option<Step>> {
        let (token, end) = (self.token.clone(), self.end);
        let step = if self.eat(".") {
            let Word::Name = self.token.word else { return Err(faults::key(self)) };
            let name = self.token.range.clone();
            let step = Step::Key(self.text().to_owned());
            self.advance();
            if self.is("(") { None } else { self.no_dash(&name).map(|()| Some(step))? }
        } else if self.eat("[") {
            let step = if let Word::Text(key) = &self.token.word {
                Some(Step::Key(key.clone()))
            } else if self.token.word == Word::Number {
                self.text().parse().ok().map(Step::Index)
            } else {
                None
            };
            self.advance();
            step.filter(|_| self.eat("]"))
        } else {
            None
        };
        if step.is_none() {
            (self.token, self.end) = (token, end);
        }
        Ok(step)
    }

    /// `a.b-c` may be a name or a subtraction: a person has to say which.
    fn no_dash(&self, name: &Range<usize>) -> Read<()> {
        let behind = &self.source[name.end..];
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !behind.starts_with('-') || !behind[1..].starts_with(inner) {
            return Ok(());
        }
        let in_name = |c: &char| inner(*c) || *c == '-';
        let length = behind.chars().take_while(in_name).count();
        Err(faults::dash(self.source, name.start..name.end + length))
    }

    // What follows a value.

    /// `.name`, `[index]` and calls, as many as there are.
    pub(super) fn behind(&mut self, mut part: Part) -> Read<Part> {
        loop {
            if self.eat(".") {
                let Word::Name = self.token.word else { return Err(faults::key(self)) };
                let (name, range) = (self.text().to_owned(), self.token.range.clone());
                self.advance();
                if self.is("(") {
                    part = self.method(part, &name, &range)?;
                } else {
                    part = self.field(part, name, &range)?;
                }
            } else if self.is("[") {
                let open = self.token.range.clone();
                self.advance();
                let index = self.expression()?;
                self.close("]", &open)?;
                part = self.index(part, index, self.end)?;
            } else {
                return Ok(part);
            }
        }
    }

    fn global_call(&mut self, name: &str, range: &Range<usize>) -> Read<Part> {
        let called = functions::find(name).ok_or_else(|| faults::no_function(name, range))?;
        self.advance();
        let open = self.token.range.clone();
        self.advance();
        match called {
            Called::Has => {
                let asked = self.expression()?;
                self.close(")", &open)?;
                self.has(asked, range.start..self.end)
            }
            Called::Function(function) => {
                let arguments = self.items(")", &open)?;
                self.call(function, false, arguments, range)
            }
            Called::Loop(what) => Err(faults::loop_usage(what, range)),
        }
    }

    fn method(&mut self, target: Part, name: &str, range: &Range<usize>) -> Read<Part> {
        let called = functions::find(name).ok_or_else(|| faults::no_function(name, range))?;
        let open = self.token.range.clone();
        self.advance();
        match called {
            Called::Has => Err(faults::has_usage(range)),
            Called::Function(function) => {
                let mut arguments = vec![target];
                arguments.extend(self.items(")", &open)?);
                self.call(function, true, arguments, range)
            }
            Called::Loop(what) => self.loop_over(target, what, range, &open),
        }
    }

    /// `(name, question)` behind `list.exists` and its like.
    fn loop_over(
        &mut self,
        over: Part,
        what: Loop,
        range: &Range<usize>,
        open: &Range<usize>,
    ) -> Read<Part> {
        if self.locals.len() == limits::LOOPS {
            return Err(faults::loop_in_loop(range));
        }
        let (local, place) = (self.text().to_owned(), self.token.range.clone());
        if self.token.word != Word::Name {
            return Err(faults::loop_usage(what, range));
        }
        if faults::is_taken(&local) || self.locals.contains(&local) {
            return Err(faults::taken(&local, &place));
        }
        self.advance();
        if !self.eat(",") {
            return Err(faults::loop_usage(what, range));
        }
        self.locals.push(local.clone());
        let mut bodies = self.items(")", open)?;
        self.locals.pop();
        let most = if what == Loop::Map { 2 } else { 1 };
        let fits = bodies.len() <= most;
        let (Some(body), true) = (bodies.pop(), fits) else {
            return Err(faults::loop_usage(what, range));
        };
        self.repeat(over, what, local, bodies.pop(), body, range.start..self.end)
    }

    fn call(
        &mut self,
        function: Function,
        behind_a_dot: bool,
        arguments: Vec<Part>,
        name: &Range<usize>,
    ) -> Read<Part> {
        if !function.fits(behind_a_dot, arguments.len()) {
            return Err(faults::usage(function, name));
        }
        let first = &arguments[0];
        if let Some(kind) = first.kind.filter(|kind| !function.takes(*kind)) {
            return Err(faults::wrong_argument(function, kind, &first.range));
        }
        if let [_, second] = arguments.as_slice() {
            if let Some(kind) = second.kind.filter(|kind| *kind != Kind::Text) {
                return Err(faults::wrong_argument(function, kind, &second.range));
            }
            if function == Function::Matches {
                super::pattern::check(second)?;
            }
        }
        let levels = arguments.iter().map(|part| part.levels).max().unwrap_or(0);
        let start = arguments[0].range.start.min(name.start);
        let form = Form::Call(function, arguments);
        self.part(form, start..self.end, Some(function.gives()), levels)
    }
}
