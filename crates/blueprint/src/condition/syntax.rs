//! The grammar of conditions: a path, or `operand operator operand`.

use std::ops::Range;

use serde_json::{Number, Value};

use super::{Operand, Operator, Test, compare};
use crate::template::syntax::Cursor;
use crate::template::{Expr, SyntaxError};

const ALLOWED: &str = "a condition is one path, as in `nodes.a.output.ok`, or one comparison, as \
     in `nodes.a.output.count >= 3`, with `==`, `!=`, `<`, `<=`, `>` or `>=` between paths, \
     numbers, quoted strings, `true`, `false` and `null`";

pub(super) fn parse(source: &str) -> Result<Test, SyntaxError> {
    let mut cursor = Cursor { source, at: 0 };
    cursor.skip_blanks();
    let start = cursor.at;
    if cursor.rest().is_empty() {
        return Err(error("the condition is empty", Some(ALLOWED.to_owned()), 0..source.len()));
    }
    if cursor.rest().starts_with("{{") {
        return Err(error(
            "a condition is a path itself, without braces",
            Some("write `nodes.a.output.ok`, not `{{nodes.a.output.ok}}`".to_owned()),
            start..start + 2,
        ));
    }
    let left = operand(&mut cursor)?;
    let left_end = cursor.at;
    cursor.skip_blanks();
    if cursor.rest().is_empty() {
        return match left {
            Operand::Path(path) => Ok(Test::Truth(path)),
            Operand::Literal(_) => Err(error(
                "this condition always has the same answer",
                Some(ALLOWED.to_owned()),
                start..left_end,
            )),
        };
    }
    let operator_start = cursor.at;
    let operator = operator(&mut cursor)?;
    let operator_range = operator_start..cursor.at;
    cursor.skip_blanks();
    let right = operand(&mut cursor)?;
    cursor.skip_blanks();
    if !cursor.rest().is_empty() {
        return Err(error(
            "more follows after the comparison",
            Some(format!("{ALLOWED}; for several questions use several branch nodes")),
            cursor.at..source.len(),
        ));
    }
    never_in_order(&left, operator, &right, operator_range)?;
    Ok(Test::Compare(left, operator, right))
}

fn operand(cursor: &mut Cursor<'_>) -> Result<Operand, SyntaxError> {
    let start = cursor.at;
    match cursor.rest().bytes().next() {
        Some(b'\'' | b'"') => string(cursor).map(|text| Operand::Literal(Value::String(text))),
        Some(b'-' | b'0'..=b'9' | b'.') => number(cursor).map(Operand::Literal),
        Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
            for (word, value) in
                [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
            {
                let length = crate::template::syntax::plain_name_length(cursor.rest());
                if &cursor.rest()[..length] == word {
                    cursor.at += length;
                    return Ok(Operand::Literal(value));
                }
            }
            let (root, path) = cursor.path()?;
            let range = start..cursor.at;
            Ok(Operand::Path(Expr { root, path, filters: Vec::new(), range }))
        }
        Some(_) | None => {
            Err(cursor.unexpected("here a path or a value is expected", Some(ALLOWED.to_owned())))
        }
    }
}

fn operator(cursor: &mut Cursor<'_>) -> Result<Operator, SyntaxError> {
    let start = cursor.at;
    let known = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    for (text, operator) in known {
        if cursor.eat(text) {
            return Ok(operator);
        }
    }
    if cursor.eat("=") {
        return Err(error("`=` compares nothing", Some("write `==`".to_owned()), start..cursor.at));
    }
    if cursor.rest().starts_with('|') && !cursor.rest().starts_with("||") {
        return Err(cursor.unexpected(
            "a path in a condition has no filters",
            Some("a missing value counts as false; compare with `== null` to ask for null".into()),
        ));
    }
    Err(cursor.unexpected("here a comparison is expected", Some(ALLOWED.to_owned())))
}

fn number(cursor: &mut Cursor<'_>) -> Result<Value, SyntaxError> {
    let start = cursor.at;
    let in_number =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_');
    let text = &cursor.rest()[..cursor.rest().bytes().take_while(in_number).count()];
    let range = start..start + text.len();
    let Ok(number) = serde_json::from_str::<Number>(text) else {
        return Err(error(
            &format!("`{text}` is not a number"),
            Some("write it as in `3`, `-3`, `0.5` or `1e6`".to_owned()),
            range,
        ));
    };
    let whole = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if whole && text.parse::<i64>().is_err() {
        return Err(error(
            &format!("`{text}` is beyond the whole numbers of 64 bits"),
            Some("compare with a string, or with a rounded value such as `1.8e19`".to_owned()),
            range,
        ));
    }
    cursor.at = range.end;
    Ok(Value::Number(number))
}

/// A string in either kind of quotes, with the escapes that CEL and JSON
/// share.
fn string(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    let start = cursor.at;
    let mut rest = cursor.rest().chars();
    let quote = rest.next();
    let mut text = String::new();
    let fail = |message: &str, at: usize| {
        let line = cursor.source[at..].find('\n').map_or(cursor.source.len(), |end| at + end);
        error(message, Some("quote it as in `'done'` or `\"done\"`".to_owned()), start..line)
    };
    loop {
        match rest.next() {
            None | Some('\n' | '\r') => {
                return Err(fail("this quoted string is never closed", start));
            }
            Some('\\') => match escape(&mut rest) {
                Some(character) => text.push(character),
                None => {
                    let message = "a backslash here is followed by none of `\\ ' \" n r t u0000`";
                    return Err(fail(message, start));
                }
            },
            character if character == quote => break,
            Some(character) => text.push(character),
        }
    }
    cursor.at = cursor.source.len() - rest.as_str().len();
    Ok(text)
}

fn escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        same @ ('\\' | '\'' | '"') => Some(same),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let digits = rest.as_str().get(..4)?;
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            *rest = rest.as_str()[4..].chars();
            u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
        }
        _ => None,
    }
}

/// An order that no run could decide is told when the condition is read.
fn never_in_order(
    left: &Operand,
    operator: Operator,
    right: &Operand,
    range: Range<usize>,
) -> Result<(), SyntaxError> {
    if !operator.orders() {
        return Ok(());
    }
    let why = match (left, right) {
        (Operand::Literal(left), Operand::Literal(right)) => compare::order(left, right).err(),
        (Operand::Literal(literal), Operand::Path(_))
        | (Operand::Path(_), Operand::Literal(literal)) => compare::order(literal, literal).err(),
        (Operand::Path(_), Operand::Path(_)) => None,
    };
    match why {
        Some(why) => Err(error(&why, Some("compare with `==` or `!=`".to_owned()), range)),
        None => Ok(()),
    }
}

fn error(message: &str, suggestion: Option<String>, range: Range<usize>) -> SyntaxError {
    SyntaxError { message: message.to_owned(), suggestion, range }
}
