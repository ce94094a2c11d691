//! The two forms that most conditions have: a path, or `operand operator
//! operand`. In them a `-` belongs to the name that it stands in, as in
//! templates.

use serde_json::{Number, Value};

use super::lexer::{self, Word};
use super::{Operand, Operator, Test};
use crate::template::Expr;
use crate::template::syntax::{Cursor, plain_name_length};

/// The condition, when it has one of the two forms and nothing is wrong with
/// it. Everything else is for the grammar of expressions to read or refuse.
pub(super) fn parse(source: &str) -> Option<Test> {
    let mut cursor = Cursor { source, at: 0 };
    cursor.skip_blanks();
    let left = operand(&mut cursor)?;
    cursor.skip_blanks();
    if cursor.rest().is_empty() {
        return match left {
            Operand::Path(path) => Some(Test::Truth(path)),
            Operand::Literal(_) => None,
        };
    }
    let operator = operator(&mut cursor)?;
    cursor.skip_blanks();
    let right = operand(&mut cursor)?;
    cursor.skip_blanks();
    let is_all = cursor.rest().is_empty();
    (is_all && may_hold(&left, operator, &right)).then_some(Test::Compare(left, operator, right))
}

fn operand(cursor: &mut Cursor<'_>) -> Option<Operand> {
    let word = &cursor.rest()[..plain_name_length(cursor.rest())];
    let value = match word {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" => Some(Value::Null),
        _ => None,
    };
    if let Some(value) = value {
        cursor.at += word.len();
        return Some(Operand::Literal(value));
    }
    let start = cursor.at;
    if !word.is_empty() {
        let (root, path) = cursor.path().ok()?;
        let range = start..cursor.at;
        return Some(Operand::Path(Expr { root, path, filters: Vec::new(), range }));
    }
    let negative = cursor.eat("-");
    let token = lexer::next(cursor.source, cursor.at);
    if token.range.start != cursor.at {
        return None;
    }
    cursor.at = token.range.end;
    if token.word == Word::Number {
        let text = &cursor.source[start..cursor.at];
        let whole = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        if whole && text.parse::<i64>().is_err() {
            return None;
        }
        return serde_json::from_str::<Number>(text).ok().map(Value::Number).map(Operand::Literal);
    }
    let Word::Text(text) = token.word else { return None };
    (!negative).then_some(Operand::Literal(Value::String(text)))
}

fn operator(cursor: &mut Cursor<'_>) -> Option<Operator> {
    let known = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    known.into_iter().find(|(text, _)| cursor.eat(text)).map(|(_, operator)| operator)
}

/// False for an order that no run could decide.
fn may_hold(left: &Operand, operator: Operator, right: &Operand) -> bool {
    let kind = |operand: &Operand| match operand {
        Operand::Path(_) => None,
        Operand::Literal(value) => Some(super::tree::Kind::of(value)),
    };
    let (left, right) = (kind(left), kind(right));
    let ordered = left.into_iter().chain(right).all(super::tree::Kind::has_order);
    let alike = left.is_none() || right.is_none() || left == right;
    !operator.orders() || (ordered && alike)
}
