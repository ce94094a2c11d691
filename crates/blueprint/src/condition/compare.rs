//! Equality and order of JSON values as CEL has them: numbers by value
//! whatever their form, strings by code point, unlike kinds never equal and
//! never in order.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::tree::Kind;

pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            order_of_numbers(left, right) == Ordering::Equal
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, l)| right.get(key).is_some_and(|r| equal(l, r)))
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => left == right,
    }
}

/// The order, or why there is none.
pub(super) fn order(left: &Value, right: &Value) -> Result<Ordering, String> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Ok(order_of_numbers(left, right)),
        (Value::String(left), Value::String(right)) => Ok(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Ok(left.cmp(right)),
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => Err(format!(
            "{} and {} have no order; only two numbers, two strings or two booleans have one",
            Kind::of(left).name(),
            Kind::of(right).name()
        )),
    }
}

pub(super) fn is_zero(number: &Number) -> bool {
    match Real::of(number) {
        Real::Whole(whole) => whole.digits == "0",
        Real::Double(double) => double == 0.0,
    }
}

/// A number as it is written decides its form: digits alone are a whole
/// number of any size, a point or an exponent makes a double.
enum Real<'a> {
    Whole(Whole<'a>),
    Double(f64),
}

struct Whole<'a> {
    negative: bool,
    /// Without leading zeros.
    digits: &'a str,
}

impl<'a> Real<'a> {
    fn of(number: &'a Number) -> Self {
        let text = number.as_str();
        match Whole::of(text) {
            Some(whole) => Self::Whole(whole),
            // JSON numbers are all readable; what is too large is infinite.
            None => Self::Double(text.parse().unwrap_or(f64::NAN)),
        }
    }
}

impl<'a> Whole<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        let digits = if digits.is_empty() { "0" } else { digits };
        Some(Self { negative: negative && digits != "0", digits })
    }

    fn order(&self, other: &Whole<'_>) -> Ordering {
        let size = || {
            self.digits.len().cmp(&other.digits.len()).then_with(|| self.digits.cmp(other.digits))
        };
        match (self.negative, other.negative) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => size(),
            (true, true) => size().reverse(),
        }
    }

    fn order_to(&self, double: f64) -> Ordering {
        if double.is_infinite() {
            return if double > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        // Printed without a fraction a double shows all of its digits.
        let text = format!("{:.0}", double.trunc());
        let whole = Whole::of(&text).map_or(Ordering::Equal, |whole| self.order(&whole));
        whole.then_with(|| 0.0_f64.partial_cmp(&double.fract()).unwrap_or(Ordering::Equal))
    }
}

pub(super) fn order_of_numbers(left: &Number, right: &Number) -> Ordering {
    match (Real::of(left), Real::of(right)) {
        (Real::Whole(left), Real::Whole(right)) => left.order(&right),
        (Real::Whole(left), Real::Double(right)) => left.order_to(right),
        (Real::Double(left), Real::Whole(right)) => right.order_to(left).reverse(),
        (Real::Double(left), Real::Double(right)) => {
            left.partial_cmp(&right).unwrap_or(Ordering::Equal)
        }
    }
}
