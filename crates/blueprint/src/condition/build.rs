//! Puts the parts of an expression together, and refuses what no data could
//! decide: a word that is not a question where one is needed, an order that
//! does not exist, more than the limits.

use std::ops::Range;

use serde_json::Value;

use super::functions::Loop;
use super::parser::Parser;
use super::tree::{Arithmetic, Form, Kind, Part};
use super::{Operator, faults, limits};
use crate::template::SyntaxError;

type Read<T> = Result<T, SyntaxError>;

impl Parser<'_> {
    /// One more part; `levels` are those below it.
    pub(super) fn part(
        &mut self,
        form: Form,
        range: Range<usize>,
        kind: Option<Kind>,
        levels: usize,
    ) -> Read<Part> {
        self.parts += 1;
        if self.parts > limits::PARTS {
            return Err(faults::too_many(&range));
        }
        if levels >= limits::LEVELS {
            return Err(faults::too_deep(&range));
        }
        Ok(Part { form, range, kind, levels: levels + 1 })
    }

    pub(super) fn literal(&mut self, value: Value, range: Range<usize>) -> Read<Part> {
        let kind = Kind::of(&value);
        self.part(Form::Literal(value), range, Some(kind), 0)
    }

    /// Questions joined by one sign; a single one is itself.
    pub(super) fn join(
        &mut self,
        sign: &str,
        terms: Vec<Part>,
        form: fn(Vec<Part>) -> Form,
    ) -> Read<Part> {
        let terms = match <[Part; 1]>::try_from(terms) {
            Ok([only]) => return Ok(only),
            Err(terms) => terms,
        };
        for term in &terms {
            question(term, &format!("on both sides of `{sign}`"))?;
        }
        let range = around(&terms);
        // They are evaluated two by two.
        let halvings = usize::BITS - (terms.len() - 1).leading_zeros();
        let levels = deepest(&terms) + halvings as usize - 1;
        self.part(form(terms), range, Some(Kind::Boolean), levels)
    }

    pub(super) fn choose(&mut self, asked: Part, yes: Part, no: Part) -> Read<Part> {
        question(&asked, "before `?`")?;
        let range = asked.range.start..no.range.end;
        let kind = yes.kind.filter(|kind| no.kind == Some(*kind));
        let levels = asked.levels.max(yes.levels).max(no.levels);
        self.part(Form::Choice(asked.into(), yes.into(), no.into()), range, kind, levels)
    }

    pub(super) fn not(&mut self, sign: Range<usize>, inner: Part) -> Read<Part> {
        question(&inner, "behind `!`")?;
        let (range, levels) = (sign.start..inner.range.end, inner.levels);
        self.part(Form::Not(inner.into()), range, Some(Kind::Boolean), levels)
    }

    pub(super) fn negative(&mut self, sign: Range<usize>, inner: Part) -> Read<Part> {
        if let Some(kind) = inner.kind.filter(|kind| *kind != Kind::Number) {
            return Err(faults::negative(kind, &inner.range));
        }
        let (range, levels) = (sign.start..inner.range.end, inner.levels);
        self.part(Form::Negative(inner.into()), range, Some(Kind::Number), levels)
    }

    pub(super) fn arithmetic(
        &mut self,
        left: Part,
        what: Arithmetic,
        sign: Range<usize>,
        right: Part,
    ) -> Read<Part> {
        let odd = |part: &Part| part.kind.is_some_and(|kind| !what.takes(kind));
        let differ = left.kind.zip(right.kind).is_some_and(|(left, right)| left != right);
        if odd(&left) || odd(&right) || differ {
            return Err(faults::arithmetic(what, left.kind, right.kind, sign));
        }
        let kind =
            if what == Arithmetic::Add { left.kind.or(right.kind) } else { Some(Kind::Number) };
        let (range, levels) = span(&left, &right);
        self.part(Form::Arithmetic(left.into(), what, right.into()), range, kind, levels)
    }

    pub(super) fn compare(
        &mut self,
        left: Part,
        operator: Operator,
        sign: Range<usize>,
        right: Part,
    ) -> Read<Part> {
        if operator.orders() {
            no_order(&left, &right, sign)?;
        }
        let (range, levels) = span(&left, &right);
        let form = Form::Compare(left.into(), operator, right.into());
        self.part(form, range, Some(Kind::Boolean), levels)
    }

    pub(super) fn within(&mut self, left: Part, right: Part) -> Read<Part> {
        let holds = |kind: &Kind| !matches!(kind, Kind::List | Kind::Map);
        if let Some(kind) = right.kind.filter(holds) {
            return Err(faults::within(kind, &right.range));
        }
        let (range, levels) = span(&left, &right);
        self.part(Form::In(left.into(), right.into()), range, Some(Kind::Boolean), levels)
    }

    pub(super) fn list(&mut self, range: Range<usize>, items: Vec<Part>) -> Read<Part> {
        let levels = deepest(&items);
        self.part(Form::List(items), range, Some(Kind::List), levels)
    }

    pub(super) fn object(&mut self, range: Range<usize>, entries: Vec<(Part, Part)>) -> Read<Part> {
        for (key, _) in &entries {
            if let Some(kind) = key.kind.filter(|kind| *kind != Kind::Text) {
                return Err(faults::map_key(kind, &key.range));
            }
        }
        let levels = entries.iter().map(|(key, value)| key.levels.max(value.levels)).max();
        self.part(Form::Map(entries), range, Some(Kind::Map), levels.unwrap_or(0))
    }

    pub(super) fn field(&mut self, of: Part, name: String, place: &Range<usize>) -> Read<Part> {
        if let Some(kind) = of.kind.filter(|kind| *kind != Kind::Map) {
            return Err(faults::no_fields(kind, place));
        }
        let (range, levels) = (of.range.start..place.end, of.levels);
        self.part(Form::Field(of.into(), name), range, None, levels)
    }

    pub(super) fn index(&mut self, of: Part, index: Part, end: usize) -> Read<Part> {
        let holds = |kind: &Kind| !matches!(kind, Kind::List | Kind::Map);
        if let Some(kind) = of.kind.filter(holds) {
            return Err(faults::no_fields(kind, &index.range));
        }
        let (range, levels) = (of.range.start..end, of.levels.max(index.levels));
        self.part(Form::Index(of.into(), index.into()), range, None, levels)
    }

    pub(super) fn has(&mut self, asked: Part, range: Range<usize>) -> Read<Part> {
        let levels = asked.levels;
        let form = if let Form::Path { at, first } = asked.form {
            self.paths[at].has = true;
            Form::HasPath(first)
        } else if let Form::Field(of, name) = asked.form {
            Form::HasField(of, name)
        } else {
            return Err(faults::has_usage(&asked.range));
        };
        self.part(form, range, Some(Kind::Boolean), levels)
    }

    pub(super) fn repeat(
        &mut self,
        over: Part,
        what: Loop,
        local: String,
        only: Option<Part>,
        body: Part,
        place: Range<usize>,
    ) -> Read<Part> {
        let holds = |kind: &Kind| !matches!(kind, Kind::List | Kind::Map);
        if let Some(kind) = over.kind.filter(holds) {
            return Err(faults::no_items(what, kind, &over.range));
        }
        let place_told = format!("in `{}`", what.name());
        if let Some(only) = &only {
            question(only, &place_told)?;
        }
        if what != Loop::Map {
            question(&body, &place_told)?;
        }
        let range = over.range.start..place.end;
        let below = only.as_ref().map_or(0, |only| only.levels).max(body.levels);
        // The evaluation has a few levels of its own for each loop.
        let levels = over.levels.max(below + 3);
        let (over, body, only) = (over.into(), body.into(), only.map(Box::new));
        let form = Form::Loop { over, what, local, only, body };
        self.part(form, range, Some(what.gives()), levels)
    }
}

/// Refuses a part that is never true or false.
pub(super) fn question(part: &Part, place: &str) -> Read<()> {
    match part.kind {
        Some(Kind::Boolean) | None => Ok(()),
        Some(kind) => Err(faults::not_a_question(kind, place, &part.range)),
    }
}

fn no_order(left: &Part, right: &Part, sign: Range<usize>) -> Read<()> {
    let without = |part: &Part| part.kind.filter(|kind| !kind.has_order());
    if let Some(kind) = without(left).or(without(right)) {
        return Err(faults::never_in_order(kind, sign));
    }
    match (left.kind, right.kind) {
        (Some(one), Some(other)) if one != other => {
            let chained = matches!(left.form, Form::Compare(..));
            Err(faults::unlike_in_order(one, other, chained, sign))
        }
        _ => Ok(()),
    }
}

fn span(left: &Part, right: &Part) -> (Range<usize>, usize) {
    (left.range.start..right.range.end, left.levels.max(right.levels))
}

fn around(parts: &[Part]) -> Range<usize> {
    let start = parts.first().map_or(0, |part| part.range.start);
    start..parts.last().map_or(start, |part| part.range.end)
}

fn deepest(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.levels).max().unwrap_or(0)
}
