//! What CEL's own operators would do wrongly here: compare a large whole
//! number with a double only roughly, go through an object in an order that
//! chance decides, and grow without a bound. Each counts its steps.

use std::any::Any;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering as Memory};
use std::sync::{Arc, LazyLock};

use cel::common::functions::Function;
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelString, CelUInt, DYN_TYPE, Type,
};
use cel::common::value::{CowVal, StaticVal, Val};
use cel::{Env, ExecutionError};
use serde_json::Number;

use super::values::{Large, do_not_go, name};
use super::{compare, limits};

pub(super) const METER: &str = "@meter";
pub(super) const EQUAL: &str = "@equal";
pub(super) const NOT_EQUAL: &str = "@not_equal";
pub(super) const LESS: &str = "@less";
pub(super) const LESS_OR_EQUAL: &str = "@less_or_equal";
pub(super) const GREATER: &str = "@greater";
pub(super) const GREATER_OR_EQUAL: &str = "@greater_or_equal";
pub(super) const IN: &str = "@within";
pub(super) const ADD: &str = "@add";
pub(super) const ITEMS: &str = "@items";
pub(super) const KEEP: &str = "@keep";

/// CEL's standard functions and those of this file.
pub(super) static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut environment = Env::stdlib();
    let ours: [(&str, usize, Function); 10] = [
        (EQUAL, 3, |arguments| truth(is_equal(&arguments))),
        (NOT_EQUAL, 3, |arguments| truth(is_equal(&arguments).map(|equal| !equal))),
        (LESS, 3, |arguments| truth(order(&arguments).map(Ordering::is_lt))),
        (LESS_OR_EQUAL, 3, |arguments| truth(order(&arguments).map(Ordering::is_le))),
        (GREATER, 3, |arguments| truth(order(&arguments).map(Ordering::is_gt))),
        (GREATER_OR_EQUAL, 3, |arguments| truth(order(&arguments).map(Ordering::is_ge))),
        (IN, 3, |arguments| truth(is_within(&arguments))),
        (ADD, 3, add),
        (ITEMS, 3, items),
        (KEEP, 2, keep),
    ];
    for (name, arguments, function) in ours {
        environment
            .add_overload(name, name, (0..arguments).map(|_| DYN_TYPE).collect(), function)
            .expect("no name of ours is CEL's, and each is there once");
    }
    Arc::new(environment)
});

type Answer<T> = Result<T, ExecutionError>;

/// Counts the steps of one evaluation.
#[derive(Debug, Clone)]
pub(super) struct Meter(Arc<AtomicU64>);

impl Meter {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(0)))
    }

    /// True when more was asked than [`limits::WORK`], whatever the
    /// evaluation made of the error.
    pub(super) fn is_exceeded(&self) -> bool {
        self.0.load(Memory::Relaxed) > limits::WORK
    }

    fn spend(&self, steps: u64) -> Answer<()> {
        let before = self.0.fetch_add(steps.min(limits::WORK + 1), Memory::Relaxed);
        if before.saturating_add(steps) > limits::WORK {
            return Err(say("it takes too many steps".to_owned()));
        }
        Ok(())
    }
}

/// An error in words of ours.
fn say(message: String) -> ExecutionError {
    ExecutionError::FunctionError { function: METER.to_owned(), message }
}

fn truth<'b, 'v>(answer: Answer<bool>) -> Answer<CowVal<'b, 'v>> {
    answer.map(|is| CowVal::owned(CelBool::from(is)))
}

/// The last argument of each function of ours.
fn meter(arguments: &[CowVal<'_, '_>]) -> Answer<Meter> {
    let last = arguments.last().and_then(|last| last.downcast_ref::<Meter>());
    last.cloned().ok_or_else(|| say("nothing counts its steps".to_owned()))
}

fn is_equal(arguments: &[CowVal<'_, '_>]) -> Answer<bool> {
    equal(arguments[0].as_ref(), arguments[1].as_ref(), &meter(arguments)?)
}

fn equal<'v>(left: &(dyn Val + 'v), right: &(dyn Val + 'v), meter: &Meter) -> Answer<bool> {
    meter.spend(1)?;
    if let Some(order) = order_of_numbers(left, right) {
        return Ok(order == Some(Ordering::Equal));
    }
    if let (Some(left), Some(right)) =
        (left.downcast_ref::<CelList<'v>>(), right.downcast_ref::<CelList<'v>>())
    {
        if left.inner().len() != right.inner().len() {
            return Ok(false);
        }
        for (left, right) in left.inner().iter().zip(right.inner()) {
            if !equal(left.as_ref(), right.as_ref(), meter)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let (Some(left), Some(right)) =
        (left.downcast_ref::<CelMap<'v>>(), right.downcast_ref::<CelMap<'v>>())
    {
        if left.inner().len() != right.inner().len() {
            return Ok(false);
        }
        let mut keys: Vec<_> = left.inner().iter().collect();
        keys.sort_by_key(|(key, _)| *key);
        for (key, left) in keys {
            let Some(right) = right.inner().get(key) else { return Ok(false) };
            if !equal(left.as_ref(), right.as_ref(), meter)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let (Some(left), Some(right)) = (text(left), text(right)) {
        meter.spend(steps(left.len().min(right.len())))?;
    }
    Ok(left.equals(right))
}

fn order(arguments: &[CowVal<'_, '_>]) -> Answer<Ordering> {
    let (left, right) = (arguments[0].as_ref(), arguments[1].as_ref());
    meter(arguments)?.spend(1)?;
    let order = match order_of_numbers(left, right) {
        Some(order) => order,
        None => left.as_comparer().and_then(|left| left.compare(right).ok()),
    };
    order.ok_or_else(|| {
        say(format!(
            "{} and {} have no order; only two numbers, two strings or two booleans have one",
            name(left),
            name(right)
        ))
    })
}

/// The order of two numbers, exactly; `None` unless both are numbers, and no
/// order beside what is not a number.
fn order_of_numbers(left: &dyn Val, right: &dyn Val) -> Option<Option<Ordering>> {
    let double = |value: &dyn Val| value.downcast_ref::<CelDouble>().map(|d| *d.inner());
    if let (Some(left), Some(right)) = (double(left), double(right)) {
        return Some(left.partial_cmp(&right));
    }
    let (left_number, right_number) = (number(left)?, number(right)?);
    let endless = |value: &dyn Val| double(value).filter(|double| !double.is_finite());
    // Only one of the two is a double here.
    if let Some(left) = endless(left) {
        return Some(left.partial_cmp(&0.0));
    }
    if let Some(right) = endless(right) {
        return Some(0.0.partial_cmp(&right));
    }
    Some(Some(compare::order_of_numbers(&left_number, &right_number)))
}

fn number(value: &dyn Val) -> Option<Number> {
    if let Some(int) = value.downcast_ref::<CelInt>() {
        return Some(Number::from(*int.inner()));
    }
    if let Some(uint) = value.downcast_ref::<CelUInt>() {
        return Some(Number::from(*uint.inner()));
    }
    if let Some(double) = value.downcast_ref::<CelDouble>() {
        return Some(Number::from_f64(*double.inner()).unwrap_or_else(|| Number::from(0)));
    }
    value.downcast_ref::<Large>().map(|large| large.0.clone())
}

fn is_within(arguments: &[CowVal<'_, '_>]) -> Answer<bool> {
    let (item, whole) = (arguments[0].as_ref(), arguments[1].as_ref());
    let meter = meter(arguments)?;
    if let Some(list) = whole.downcast_ref::<CelList<'_>>() {
        for one in list.inner() {
            if equal(item, one.as_ref(), &meter)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let map = whole.downcast_ref::<CelMap<'_>>().and_then(Val::as_container);
    let within = map.map(|map| map.contains(item).unwrap_or(false));
    within.ok_or_else(|| {
        say(format!("`in` looks into an array or an object, not into {}", name(whole)))
    })
}

fn add<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Answer<CowVal<'b, 'v>> {
    let (left, right) = (arguments[0].as_ref(), arguments[1].as_ref());
    let meter = meter(&arguments)?;
    weigh(left, &meter)?;
    weigh(right, &meter)?;
    // CEL would join a list with the keys of an object.
    let sum = left.as_adder().filter(|_| left.get_type() == right.get_type());
    let sum = sum.map(|left| left.add(right));
    match sum {
        Some(Ok(sum)) => Ok(CowVal::Owned(sum.into_owned())),
        Some(Err(ExecutionError::Overflow(..))) => Err(say("the sum is beyond 64 bits".to_owned())),
        Some(Err(_)) | None => Err(say(do_not_go("+", &[name(left), name(right)]))),
    }
}

/// What a loop goes through: the items of a list, or the keys of an object
/// in order.
fn items<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Answer<CowVal<'b, 'v>> {
    let meter = meter(&arguments)?;
    let mut arguments = arguments.into_iter();
    let (Some(over), Some(cost)) = (arguments.next(), arguments.next()) else {
        return Err(say("a loop has nothing to go through".to_owned()));
    };
    let cost = cost.downcast_ref::<CelInt>().map_or(1, |cost| cost.inner().unsigned_abs());
    let rounds = |count: usize| cost.saturating_mul(count as u64);
    if let Some(list) = over.downcast_ref::<CelList<'v>>() {
        meter.spend(rounds(list.inner().len()))?;
        weigh(over.as_ref(), &meter)?;
        return Ok(over);
    }
    let Some(map) = over.downcast_ref::<CelMap<'v>>() else {
        let what = name(over.as_ref());
        return Err(say(format!("a loop goes through an array or an object, not {what}")));
    };
    meter.spend(rounds(map.inner().len()))?;
    let mut keys: Vec<_> = map.inner().keys().cloned().collect();
    keys.sort();
    let keys: Vec<Box<dyn Val + 'v>> =
        keys.iter().map(|key| key.inner().clone_as_boxed()).collect();
    Ok(CowVal::owned(CelList::from(keys)))
}

/// An item of a list in the making.
fn keep<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Answer<CowVal<'b, 'v>> {
    let meter = meter(&arguments)?;
    let item = arguments.into_iter().next();
    let item = item.ok_or_else(|| say("nothing is kept".to_owned()))?;
    weigh(item.as_ref(), &meter)?;
    Ok(item)
}

/// Spends what a copy of the value costs.
fn weigh<'v>(value: &(dyn Val + 'v), meter: &Meter) -> Answer<()> {
    meter.spend(1)?;
    if let Some(list) = value.downcast_ref::<CelList<'v>>() {
        return list.inner().iter().try_for_each(|item| weigh(item.as_ref(), meter));
    }
    if let Some(map) = value.downcast_ref::<CelMap<'v>>() {
        // Which of them is the last to be paid for makes no difference.
        return map.inner().values().try_for_each(|item| weigh(item.as_ref(), meter));
    }
    match text(value) {
        Some(text) => meter.spend(steps(text.len())),
        None => Ok(()),
    }
}

fn text<'b, 'v>(value: &'b (dyn Val + 'v)) -> Option<&'b CelString<'v>> {
    value.downcast_ref::<CelString<'v>>()
}

/// Bytes go by the cache line.
fn steps(bytes: usize) -> u64 {
    bytes as u64 / 64
}

impl Val for Meter {
    fn get_type(&self) -> &Type {
        <Self as Val>::cel_type()
    }

    fn cel_type() -> &'static Type {
        static METER_TYPE: Type = DYN_TYPE;
        &METER_TYPE
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Meter {}
