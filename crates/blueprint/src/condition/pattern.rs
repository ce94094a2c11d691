//! The patterns of `matches`: written in the condition, never data, so that
//! each is known to be readable and small before a run.

use cel::common::ast::{CallExpr, Expr, LiteralValue};
use cel::{Context, IdedExpr, Value as CelValue};
use serde_json::Value;

use super::tree::{Form, Part};
use super::{faults, limits, work};
use crate::template::SyntaxError;

pub(super) fn check(part: &Part) -> Result<(), SyntaxError> {
    let Form::Literal(Value::String(pattern)) = &part.form else {
        let message = "the pattern of `matches` must be written here, in quotes";
        let help = "for a text from the run write `x.contains(…)`, or `x == …`";
        return Err(faults::pattern(message, help, &part.range));
    };
    if pattern.len() > limits::PATTERN_BYTES {
        let message = format!(
            "the pattern has {} bytes, the most is {}",
            pattern.len(),
            limits::PATTERN_BYTES
        );
        return Err(faults::pattern(&message, "ask several shorter ones", &part.range));
    }
    if !is_readable(pattern) {
        let help = "write for example `r'^v[0-9]+$'`; look-around and back-references do not exist";
        return Err(faults::pattern("this pattern cannot be read", help, &part.range));
    }
    Ok(())
}

/// `cel` reads patterns when it uses them, so this uses it.
fn is_readable(pattern: &str) -> bool {
    let text = |text: &str| IdedExpr {
        id: 0,
        expr: Expr::Literal(LiteralValue::String(text.to_owned().into())),
    };
    let call = CallExpr {
        func_name: "matches".to_owned(),
        target: Some(Box::new(text(""))),
        args: vec![text(pattern)],
    };
    let call = IdedExpr { id: 0, expr: Expr::Call(call) };
    CelValue::resolve_val(&call, &Context::with_env(work::ENVIRONMENT.clone())).is_ok()
}
