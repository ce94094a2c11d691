//! JSON values as CEL has them. Texts are borrowed; numbers are never
//! rounded: a whole number beyond 64 bits that is no double stays what it is,
//! can be compared, and refuses to be reckoned with.

use std::any::Any;

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelNull, CelString, CelUInt, DYN_TYPE, Type,
};
use cel::common::value::{StaticVal, Val};
use serde_json::{Number, Value};

/// A whole number that no type of CEL holds.
#[derive(Debug, Clone)]
pub(super) struct Large(pub(super) Number);

static LARGE: Type = DYN_TYPE;

pub(super) fn to_cel(value: &Value) -> Box<dyn Val + '_> {
    match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(is) => Box::new(CelBool::from(*is)),
        Value::Number(number) => to_number(number),
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => {
            Box::new(CelList::from(items.iter().map(to_cel).collect::<Vec<_>>()))
        }
        Value::Object(map) => {
            // The order inside is chance; loops go through sorted keys instead.
            let mut entries = CelMap::default().into_inner();
            entries.extend(map.iter().map(|(key, value)| (key.as_str().into(), to_cel(value))));
            Box::new(CelMap::from(entries))
        }
    }
}

fn to_number<'v>(number: &Number) -> Box<dyn Val + 'v> {
    let text = number.as_str();
    let whole = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let double: f64 = text.parse().unwrap_or(f64::NAN);
    if !whole {
        return Box::new(CelDouble::from(double));
    }
    if let Ok(int) = text.parse::<i64>() {
        return Box::new(CelInt::from(int));
    }
    if let Ok(uint) = text.parse::<u64>() {
        return Box::new(CelUInt::from(uint));
    }
    let exact = double.is_finite() && format!("{double:.0}") == text;
    if exact { Box::new(CelDouble::from(double)) } else { Box::new(Large(number.clone())) }
}

/// A CEL value in a sentence.
pub(super) fn name(value: &dyn Val) -> &'static str {
    if value.downcast_ref::<Large>().is_some() {
        return "a whole number beyond 64 bits";
    }
    name_of_type(value.get_type().name())
}

/// One of CEL's own names of types in a sentence.
pub(super) fn name_of_type(name: &str) -> &'static str {
    match name {
        "null_type" => "null",
        // What `cel` makes of a value that it has no name for.
        "null" => "null or a number beyond 64 bits",
        "bool" => "a boolean",
        "int" => "an int",
        "uint" => "a uint",
        "double" | "float" => "a double",
        "string" => "a string",
        "list" => "an array",
        "map" => "an object",
        _ => "a number beyond 64 bits",
    }
}

/// That an operator or a function does not take such values.
pub(super) fn do_not_go(function: &str, kinds: &[&str]) -> String {
    let mixed = kinds.contains(&"a double") && kinds.iter().any(|kind| kind.ends_with("int"));
    let help = if mixed { "; write `double(x)` around the whole number" } else { "" };
    format!("`{function}` does not go with {}{help}", kinds.join(" and "))
}

impl Val for Large {
    fn get_type(&self) -> &Type {
        &LARGE
    }

    fn cel_type() -> &'static Type {
        &LARGE
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Large {}
