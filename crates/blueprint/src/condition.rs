//! Conditions: a bare path, whose value is true or false by the rules of the
//! reference, or a CEL expression without functions of time.
//!
//! One comparison is decided here, with numbers of any size; `cel` evaluates
//! everything else. Reading is ours throughout, since a mistake must be told
//! with its exact place, and no input may do harm.

mod build;
mod compare;
mod expression;
mod faults;
mod functions;
mod lexer;
mod limits;
mod lower;
mod names;
mod parser;
mod pattern;
mod simple;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod work;

use std::cmp::Ordering;

use serde_json::Value;

use crate::Scope;
use crate::template::{Expr, SyntaxError, TemplateError};

use expression::Expression;
use tree::{Form, Part};

/// A question about the registry with the answer yes or no.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    source: String,
    /// Aside, since few nodes have one and every node has room for it.
    test: Box<Test>,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// Is there a value, and is it one that counts as true?
    Truth(Expr),
    Compare(Operand, Operator, Operand),
    Cel(Box<Expression>),
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(Expr),
    Literal(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Condition {
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        if source.len() > limits::SOURCE_BYTES {
            return Err(faults::too_long(source));
        }
        let test = match simple::parse(source) {
            Some(test) => test,
            None => Test::read(source)?,
        };
        Ok(Self { source: source.to_owned(), test: test.into() })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// The path of a condition that is nothing else. It asks for truth, so a
    /// value that is the string `"false"` says yes.
    pub fn bare_path(&self) -> Option<&Expr> {
        match &*self.test {
            Test::Truth(path) => Some(path),
            Test::Compare(..) | Test::Cel(_) => None,
        }
    }

    /// The paths, without filters, each with its range in the source.
    pub fn paths(&self) -> impl Iterator<Item = &Expr> {
        self.needs().map(|(path, _)| path)
    }

    /// The paths, and whether each must lead to a value: a bare path need
    /// not, nor one that a `has(…)` asks about.
    pub fn needs(&self) -> impl Iterator<Item = (&Expr, bool)> {
        let (first, second, asked) = match &*self.test {
            Test::Truth(path) => (Some((path, false)), None, [].as_slice()),
            Test::Compare(left, _, right) => {
                let need = |operand| Operand::path(operand).map(|path| (path, true));
                (need(left), need(right), [].as_slice())
            }
            Test::Cel(expression) => (None, None, expression.asked()),
        };
        let asked = asked.iter().map(|one| (&one.expr, expression::must_be_there(asked, one)));
        first.into_iter().chain(second).chain(asked)
    }

    pub fn eval(&self, scope: &dyn Scope) -> Result<bool, TemplateError> {
        match &*self.test {
            Test::Truth(path) => Ok(path.look_up(scope).is_some_and(is_true)),
            Test::Compare(left, operator, right) => {
                let (left, right) = (left.value(scope)?, right.value(scope)?);
                operator.holds(left, right).map_err(|why| TemplateError::Incomparable {
                    condition: self.source.trim().to_owned(),
                    why,
                })
            }
            Test::Cel(expression) => expression.eval(&self.source, scope),
        }
    }
}

impl Test {
    /// Reads the source as an expression.
    fn read(source: &str) -> Result<Self, SyntaxError> {
        let (part, asked) = parser::parse(source)?;
        if let Form::Path { at, .. } = part.form {
            return Ok(Self::Truth(asked[at].expr.clone()));
        }
        if let Form::Compare(left, operator, right) = &part.form
            && let Some(left) = Operand::of(left, &asked)
            && let Some(right) = Operand::of(right, &asked)
        {
            return Ok(Self::Compare(left, *operator, right));
        }
        Expression::new(&part, asked).map(|expression| Self::Cel(expression.into()))
    }
}

impl Operand {
    fn of(part: &Part, asked: &[parser::Asked]) -> Option<Self> {
        if let Form::Path { at, .. } = part.form {
            return Some(Self::Path(asked[at].expr.clone()));
        }
        if let Form::Literal(value) = &part.form {
            return Some(Self::Literal(value.clone()));
        }
        None
    }

    fn path(&self) -> Option<&Expr> {
        match self {
            Self::Path(path) => Some(path),
            Self::Literal(_) => None,
        }
    }

    fn value<'a>(&'a self, scope: &'a dyn Scope) -> Result<&'a Value, TemplateError> {
        match self {
            Self::Path(path) => path.strict(scope),
            Self::Literal(value) => Ok(value),
        }
    }
}

impl Operator {
    fn holds(self, left: &Value, right: &Value) -> Result<bool, String> {
        let order = || compare::order(left, right);
        Ok(match self {
            Self::Equal => compare::equal(left, right),
            Self::NotEqual => !compare::equal(left, right),
            Self::Less => order()? == Ordering::Less,
            Self::LessOrEqual => order()? != Ordering::Greater,
            Self::Greater => order()? == Ordering::Greater,
            Self::GreaterOrEqual => order()? != Ordering::Less,
        })
    }

    fn orders(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => !compare::is_zero(number),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
