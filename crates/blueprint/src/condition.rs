//! Conditions: a bare path, whose value is true or false by the rules of the
//! reference, or one comparison, which means what it means in CEL.

mod compare;
mod syntax;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use serde_json::Value;

use crate::Scope;
use crate::template::{Expr, SyntaxError, TemplateError};

/// A question about the registry with the answer yes or no.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    source: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// Is there a value, and is it one that counts as true?
    Truth(Expr),
    Compare(Operand, Operator, Operand),
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
        let test = syntax::parse(source)?;
        Ok(Self { source: source.to_owned(), test })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// The path of a condition that is nothing else. It asks for truth, so a
    /// value that is the string `"false"` says yes.
    pub fn bare_path(&self) -> Option<&Expr> {
        match &self.test {
            Test::Truth(path) => Some(path),
            Test::Compare(..) => None,
        }
    }

    /// The paths, without filters, each with its range in the source.
    pub fn paths(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match &self.test {
            Test::Truth(path) => (Some(path), None),
            Test::Compare(left, _, right) => (left.path(), right.path()),
        };
        first.into_iter().chain(second)
    }

    pub fn eval(&self, scope: &dyn Scope) -> Result<bool, TemplateError> {
        match &self.test {
            Test::Truth(path) => Ok(path.look_up(scope).is_some_and(is_true)),
            Test::Compare(left, operator, right) => {
                let (left, right) = (left.value(scope)?, right.value(scope)?);
                operator.holds(left, right).map_err(|why| TemplateError::Incomparable {
                    condition: self.source.trim().to_owned(),
                    why,
                })
            }
        }
    }
}

impl Operand {
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
