//! A CEL expression that is ready to be asked. The same values give the same
//! answer: no function knows time or chance, and no order is left to either.

use cel::common::types::CelBool;
use cel::common::value::{CowVal, Val};
use cel::{Context, ExecutionError, IdedExpr, Value as CelValue};

use super::parser::Asked;
use super::tree::{Form, Kind, Part};
use super::{faults, limits, lower, values, work};
use crate::template::{SyntaxError, TemplateError};
use crate::{Root, Scope};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    asked: Vec<Asked>,
    program: IdedExpr,
}

impl Expression {
    /// Refuses what has no answer, or always the same one for a reason that
    /// can be told now.
    pub(super) fn new(part: &Part, asked: Vec<Asked>) -> Result<Self, SyntaxError> {
        if matches!(part.form, Form::Literal(_)) {
            return Err(faults::constant(&part.range));
        }
        match part.kind {
            Some(Kind::Boolean) | None => {}
            Some(kind) => return Err(faults::no_answer(kind, &part.range)),
        }
        let expression = Self { asked, program: lower::lower(part) };
        if expression.asked.is_empty() {
            let range = part.range.clone();
            expression.answer(&Nothing).map_err(|why| faults::fails_always(&why.text(), range))?;
        }
        Ok(expression)
    }

    pub(super) fn asked(&self) -> &[Asked] {
        &self.asked
    }

    pub(super) fn eval(&self, source: &str, scope: &dyn Scope) -> Result<bool, TemplateError> {
        self.answer(scope).map_err(|why| match why {
            Why::Missing(error) => error,
            // A key that data chose is data.
            Why::NoKey(key) if !source.contains(&key) => no_answer(source, "there is no such key"),
            Why::NoKey(_) | Why::Told(_) => no_answer(source, &why.text()),
        })
    }

    fn answer(&self, scope: &dyn Scope) -> Result<bool, Why> {
        let mut context = Context::with_env(work::ENVIRONMENT.clone());
        for asked in &self.asked {
            let value = asked.expr.look_up(scope);
            let name = lower::variable(asked.first);
            if asked.has {
                let present: Box<dyn Val> = Box::new(CelBool::from(value.is_some()));
                context.add_variable_as_val(lower::presence(asked.first), present);
            } else if let (Some(value), None) = (value, context.get_variable(&name)) {
                context.add_variable_as_val(name, values::to_cel(value));
            }
        }
        let meter = work::Meter::new();
        context.add_variable_as_val(work::METER, Box::new(meter.clone()));
        let answer = CelValue::resolve_val(&self.program, &context);
        if meter.is_exceeded() {
            let most = limits::WORK;
            return Err(Why::Told(format!(
                "it takes more than {most} steps; let a node work it out, and ask for its output"
            )));
        }
        match answer {
            Ok(value) => truth_of(&value).map_err(Why::Told),
            Err(ExecutionError::NoSuchKey(key)) => Err(Why::NoKey(key.to_string())),
            Err(error) => Err(self.why(&error, scope)),
        }
    }

    fn why(&self, error: &ExecutionError, scope: &dyn Scope) -> Why {
        let ExecutionError::UndeclaredReference(name) = error else {
            return Why::Told(told(error));
        };
        let mut asked = self.asked.iter().enumerate();
        let missing = asked.find(|(at, _)| lower::variable(*at) == **name);
        match missing.map(|(_, asked)| asked.expr.strict(scope)) {
            Some(Err(missing)) => Why::Missing(missing),
            Some(Ok(_)) | None => Why::Told(told(error)),
        }
    }
}

enum Why {
    Missing(TemplateError),
    NoKey(String),
    Told(String),
}

impl Why {
    fn text(&self) -> String {
        match self {
            Self::Missing(error) => error.to_string(),
            Self::NoKey(key) => format!("there is no `{}`", shortened(key)),
            Self::Told(why) => why.clone(),
        }
    }
}

/// A scope for expressions that ask for no values.
struct Nothing;

impl Scope for Nothing {
    fn value(&self, _: &Root) -> Option<&serde_json::Value> {
        None
    }

    fn file(&self, _: &str) -> String {
        String::new()
    }
}

/// Whether a path must lead to a value, or may be missing because the
/// expression asks first.
pub(super) fn must_be_there(asked: &[Asked], one: &Asked) -> bool {
    let guards = |other: &Asked| other.has && other.expr.root == one.expr.root;
    !one.has && !asked.iter().any(guards)
}

fn no_answer(source: &str, why: &str) -> TemplateError {
    TemplateError::NoAnswer { condition: shortened(source), why: why.to_owned() }
}

fn truth_of(value: &CowVal<'_, '_>) -> Result<bool, String> {
    let answer = value.downcast_ref::<CelBool>().map(|is| *is.inner());
    answer.ok_or_else(|| {
        format!(
            "it gives {}, and a condition is true or false; compare it with something",
            values::name(value.as_ref())
        )
    })
}

/// An error of the evaluation. Names are told, values never.
#[expect(clippy::wildcard_enum_match_arm, reason = "cel's list of errors is open")]
fn told(error: &ExecutionError) -> String {
    match error {
        ExecutionError::FunctionError { function, message } if function == work::METER => {
            message.clone()
        }
        ExecutionError::FunctionError { function, .. } => {
            format!("`{function}` can make nothing of this value")
        }
        ExecutionError::IndexOutOfBounds(_) => "the array has no item of that number".to_owned(),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "a number in it is beyond 64 bits".to_owned(),
        ExecutionError::DuplicateKey(_) => "an object in it has one key twice".to_owned(),
        ExecutionError::UnsupportedBinaryOperator(operator, left, right) => {
            let name = |value: &CelValue| values::name_of_type(&type_of(value));
            values::do_not_go(sign(operator), &[name(left), name(right)])
        }
        ExecutionError::NoSuchOverload(call) => {
            let types: Vec<&str> =
                call.argument_types().iter().map(|name| values::name_of_type(name)).collect();
            match call.function() {
                "_._" | "_[_]" => format!("{} has no such part", types.first().unwrap_or(&"it")),
                function => values::do_not_go(sign(function), &types),
            }
        }
        ExecutionError::UnexpectedType { got, want } if want == "bool" => {
            let got = values::name_of_type(got);
            format!("something true or false is needed where {got} stands")
        }
        ExecutionError::UnexpectedType { got, .. } => {
            format!("{} cannot be used like this", values::name_of_type(got))
        }
        _ => "its values do not go together".to_owned(),
    }
}

/// CEL's names of operators, as they are written.
fn sign(name: &str) -> &str {
    match name {
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        "div" => "/",
        "rem" => "%",
        _ => name.trim_matches('_'),
    }
}

fn type_of(value: &CelValue) -> String {
    value.type_of().to_string()
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(limits::TOLD_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
