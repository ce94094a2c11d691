//! From our tree to the one that `cel` evaluates. Each path becomes a
//! variable of its own, so a node's id may hold anything; what could cost
//! more than it looks goes to functions of ours that count (`work`).

use cel::IdedExpr;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, ListExpr, LiteralValue,
    MapEntryExpr, MapExpr, SelectExpr, operators,
};
use serde_json::Value;

use super::Operator;
use super::functions::{Function, Loop};
use super::limits;
use super::tree::{Arithmetic, Form, Part};
use super::work;

/// What the evaluation knows the value of a path by. No name that a person
/// can write has an `@`.
pub(super) fn variable(at: usize) -> String {
    format!("@{at}")
}

/// Whether the path leads to a value.
pub(super) fn presence(at: usize) -> String {
    format!("@has{at}")
}

/// What a loop has so far.
const SO_FAR: &str = "@result";

pub(super) fn lower(part: &Part) -> IdedExpr {
    let call = |name: &str, parts: &[&Part]| call(name, parts.iter().map(|part| lower(part)));
    match &part.form {
        Form::Literal(value) => literal(value),
        Form::Unsigned(number) => ided(Expr::Literal(LiteralValue::UInt((*number).into()))),
        Form::Path { first, .. } => ident(&variable(*first)),
        Form::HasPath(first) => ident(&presence(*first)),
        Form::Local(name) => ident(name),
        Form::Field(of, name) => select(of, name, false),
        Form::HasField(of, name) => select(of, name, true),
        Form::Index(of, index) => call(operators::INDEX, &[of, index]),
        Form::Not(inner) => call(operators::LOGICAL_NOT, &[inner]),
        Form::Negative(inner) => call(operators::NEGATE, &[inner]),
        Form::Arithmetic(left, what, right) => arithmetic(left, *what, right),
        Form::Compare(left, operator, right) => {
            counted(comparison(*operator), vec![lower(left), lower(right)])
        }
        Form::In(left, right) => counted(work::IN, vec![lower(left), lower(right)]),
        Form::All(parts) => balanced(operators::LOGICAL_AND, parts),
        Form::Any(parts) => balanced(operators::LOGICAL_OR, parts),
        Form::Choice(asked, yes, no) => call(operators::CONDITIONAL, &[asked, yes, no]),
        Form::List(items) => list(items.iter().map(lower).collect()),
        Form::Map(entries) => map(entries),
        Form::Call(function, arguments) => called(*function, arguments),
        Form::Loop { over, what, local, only, body } => {
            repeat(over, *what, local, only.as_deref(), body)
        }
    }
}

fn literal(value: &Value) -> IdedExpr {
    let literal = match value {
        Value::Null => LiteralValue::Null,
        Value::Bool(is) => LiteralValue::Boolean((*is).into()),
        Value::String(text) => LiteralValue::String(text.clone().into()),
        Value::Number(number) => match number.as_str().parse::<i64>() {
            Ok(whole) => LiteralValue::Int(whole.into()),
            // Whole numbers beyond 64 bits are refused when they are read.
            Err(_) => LiteralValue::Double(number.as_str().parse().unwrap_or(f64::NAN).into()),
        },
        // A list that is written is no literal; its items are parts.
        Value::Array(_) | Value::Object(_) => LiteralValue::Null,
    };
    ided(Expr::Literal(literal))
}

fn comparison(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => work::EQUAL,
        Operator::NotEqual => work::NOT_EQUAL,
        Operator::Less => work::LESS,
        Operator::LessOrEqual => work::LESS_OR_EQUAL,
        Operator::Greater => work::GREATER,
        Operator::GreaterOrEqual => work::GREATER_OR_EQUAL,
    }
}

fn arithmetic(left: &Part, what: Arithmetic, right: &Part) -> IdedExpr {
    let sides = vec![lower(left), lower(right)];
    match what {
        Arithmetic::Add => counted(work::ADD, sides),
        Arithmetic::Subtract => call(operators::SUBSTRACT, sides),
        Arithmetic::Multiply => call(operators::MULTIPLY, sides),
        Arithmetic::Divide => call(operators::DIVIDE, sides),
        Arithmetic::Remainder => call(operators::MODULO, sides),
    }
}

fn called(function: Function, arguments: &[Part]) -> IdedExpr {
    let mut arguments: Vec<IdedExpr> = arguments.iter().map(lower).collect();
    let behind_a_dot = match function {
        Function::Contains | Function::StartsWith | Function::EndsWith | Function::Matches => true,
        Function::Size
        | Function::Int
        | Function::Uint
        | Function::Double
        | Function::Text
        | Function::Boolean => false,
    };
    let target = behind_a_dot.then(|| Box::new(arguments.remove(0)));
    ided(Expr::Call(CallExpr { func_name: function.name().to_owned(), target, args: arguments }))
}

fn map(entries: &[(Part, Part)]) -> IdedExpr {
    let entry = |(key, value): &(Part, Part)| IdedEntryExpr {
        id: 0,
        expr: EntryExpr::MapEntry(MapEntryExpr {
            key: lower(key),
            value: lower(value),
            optional: false,
        }),
    };
    ided(Expr::Map(MapExpr { entries: entries.iter().map(entry).collect() }))
}

/// A loop in the form that CEL's macros give it.
fn repeat(over: &Part, what: Loop, local: &str, only: Option<&Part>, body: &Part) -> IdedExpr {
    let so_far = || ident(SO_FAR);
    let number = |number: i64| ided(Expr::Literal(LiteralValue::Int(number.into())));
    let truth = |is: bool| ided(Expr::Literal(LiteralValue::Boolean(is.into())));
    let append = |item: IdedExpr| {
        let kept = counted(work::KEEP, vec![item]);
        call(operators::ADD, [so_far(), list(vec![kept])])
    };
    let only_if =
        |asked: &Part, step: IdedExpr| call(operators::CONDITIONAL, [lower(asked), step, so_far()]);
    let go_on = |asked: IdedExpr| call(operators::NOT_STRICTLY_FALSE, [asked]);
    let (start, condition, step, result) = match what {
        Loop::All => (
            truth(true),
            go_on(so_far()),
            call(operators::LOGICAL_AND, [so_far(), lower(body)]),
            so_far(),
        ),
        Loop::Exists => (
            truth(false),
            go_on(call(operators::LOGICAL_NOT, [so_far()])),
            call(operators::LOGICAL_OR, [so_far(), lower(body)]),
            so_far(),
        ),
        Loop::ExistsOne => (
            number(0),
            truth(true),
            only_if(body, call(operators::ADD, [so_far(), number(1)])),
            call(operators::EQUALS, [so_far(), number(1)]),
        ),
        Loop::Filter => (list(vec![]), truth(true), only_if(body, append(ident(local))), so_far()),
        Loop::Map => {
            let step = append(lower(body));
            let step = match only {
                Some(only) => only_if(only, step),
                None => step,
            };
            (list(vec![]), truth(true), step, so_far())
        }
    };
    let cost = cost(body) + only.map_or(0, cost);
    let iter_range = counted(work::ITEMS, vec![lower(over), number(cost)]);
    ided(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range,
        iter_var: local.to_owned(),
        iter_var2: None,
        accu_var: SO_FAR.to_owned(),
        accu_init: start,
        loop_cond: condition,
        loop_step: step,
        result,
    })))
}

/// The steps of one round of a loop, those of inner loops and of values
/// without end aside, which are counted when they are made.
fn cost(part: &Part) -> i64 {
    let patterns = count(part, &|form| matches!(form, Form::Call(Function::Matches, _)));
    let parts = count(part, &|_| true);
    let patterns = patterns.saturating_mul(limits::PATTERN_WORK);
    i64::try_from(parts.saturating_add(patterns)).unwrap_or(i64::MAX)
}

fn count(part: &Part, which: &dyn Fn(&Form) -> bool) -> u64 {
    let below: u64 = part.form.below().iter().map(|part| count(part, which)).sum();
    below + u64::from(which(&part.form))
}

/// Two by two, so that a long chain is not deep.
fn balanced(name: &str, parts: &[Part]) -> IdedExpr {
    match parts {
        [only] => lower(only),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            call(name, [balanced(name, left), balanced(name, right)])
        }
    }
}

fn select(of: &Part, name: &str, test: bool) -> IdedExpr {
    let operand = Box::new(lower(of));
    ided(Expr::Select(SelectExpr { operand, field: name.to_owned(), test }))
}

/// A call of a function of ours, which is given the meter.
fn counted(name: &str, mut arguments: Vec<IdedExpr>) -> IdedExpr {
    arguments.push(ident(work::METER));
    call(name, arguments)
}

fn call(name: &str, arguments: impl IntoIterator<Item = IdedExpr>) -> IdedExpr {
    let args = arguments.into_iter().collect();
    ided(Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }))
}

fn list(elements: Vec<IdedExpr>) -> IdedExpr {
    ided(Expr::List(ListExpr { elements, optional_indices: Vec::new() }))
}

fn ident(name: &str) -> IdedExpr {
    ided(Expr::Ident(name.to_owned()))
}

/// Places are ours to keep, so the parts need no numbers.
fn ided(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}
