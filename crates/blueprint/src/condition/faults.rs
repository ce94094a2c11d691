//! What is wrong with an expression, in words of ours, with the place and
//! what to write instead.

use std::ops::Range;

use super::functions::{self, Function, Loop};
use super::lexer::Word;
use super::limits;
use super::parser::Parser;
use super::tree::{Arithmetic, Kind};
use crate::suggest::did_you_mean;
use crate::template::SyntaxError;
use crate::template::syntax::{ROOTS, ROOTS_TOLD};

const ALLOWED: &str = "a condition is a path, as in `nodes.a.output.ok`, or an expression that is \
     true or false, as in `nodes.a.output.count >= 3 && trigger.output.kind == 'bug'`";

/// Operators of other languages, and ours.
const OPERATORS: [(&str, &str); 16] = [
    ("and", "&&"),
    ("or", "||"),
    ("is", "=="),
    ("eq", "=="),
    ("equals", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("mod", "%"),
    ("div", "/"),
    ("plus", "+"),
    ("minus", "-"),
    ("then", "?"),
    ("else", ":"),
];

/// Values of other languages, and ours.
const VALUES: [(&str, &str); 10] = [
    ("True", "true"),
    ("TRUE", "true"),
    ("yes", "true"),
    ("False", "false"),
    ("FALSE", "false"),
    ("no", "false"),
    ("None", "null"),
    ("nil", "null"),
    ("NULL", "null"),
    ("undefined", "null"),
];

// Words that stand where they cannot.

pub(super) fn empty(source: &str) -> SyntaxError {
    error("the condition is empty", ALLOWED, 0..source.len())
}

pub(super) fn too_long(source: &str) -> SyntaxError {
    let message =
        format!("the condition has {} bytes, the most is {}", source.len(), limits::SOURCE_BYTES);
    error(&message, "let a node work it out, and ask for its output", 0..source.len())
}

/// A value is expected here.
pub(super) fn operand(parser: &Parser<'_>) -> SyntaxError {
    let behind = &parser.source[parser.token.range.end..];
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && parser.is(".") {
        let start = parser.token.range.start;
        let range = start..start + 1 + digits;
        return number(&parser.source[range.clone()], &range);
    }
    let found = found(parser);
    error(
        &format!("here a path or a value is expected, not {found}"),
        ALLOWED,
        parser.token.range.clone(),
    )
}

/// A value has just ended; what follows neither joins it nor ends it.
pub(super) fn after_operand(parser: &Parser<'_>) -> SyntaxError {
    let (text, range) = (parser.text(), parser.token.range.clone());
    match &parser.token.word {
        Word::Bad(error) => error.clone(),
        Word::Name => after_operand_name(text, range),
        Word::Text(_) | Word::Number | Word::Unsigned => error(
            &format!("between the value before and {} an operator is missing", quoted(text)),
            "write `&&`, `||`, `==` or another operator between the two",
            range,
        ),
        Word::Mark(")" | "]" | "}") => {
            error(&format!("nothing opens this `{text}`"), "remove it, or open it before", range)
        }
        Word::Mark("," | ":" | "?" | ".") => {
            error(&format!("`{text}` cannot stand here"), "join questions with `&&` or `||`", range)
        }
        Word::Mark(_) | Word::End => error(
            &format!("here an operator is expected, not {}", found(parser)),
            "write `&&`, `||`, `==` or another operator",
            range,
        ),
    }
}

fn after_operand_name(name: &str, range: Range<usize>) -> SyntaxError {
    if let Some((_, ours)) = OPERATORS.iter().find(|(word, _)| word.eq_ignore_ascii_case(name)) {
        let message = format!("`{name}` is no operator of conditions");
        return error(&message, &format!("write `{ours}`"), range);
    }
    if name == "not" {
        let help = "write `!(a in b)`, with the `!` before the whole question";
        return error("`not` is no operator of conditions", help, range);
    }
    if let Some(functions::Called::Function(function)) = functions::find(name) {
        let message = format!("`{name}` is a function, not an operator");
        return error(&message, &format!("write `{}`", function.usage()), range);
    }
    error(
        &format!("between the value before and `{name}` an operator is missing"),
        "write `&&`, `||`, `==` or another operator between the two",
        range,
    )
}

pub(super) fn unknown_name(parser: &Parser<'_>, name: &str) -> SyntaxError {
    let range = parser.token.range.clone();
    if name == "not" {
        return error("`not` is no operator of conditions", "write `!`", range);
    }
    if name == "in" || OPERATORS.iter().any(|(word, _)| word.eq_ignore_ascii_case(name)) {
        let message = format!("here a path or a value is expected, not `{name}`");
        return error(&message, ALLOWED, range);
    }
    if let Some((_, ours)) = VALUES.iter().find(|(word, _)| *word == name) {
        return error(&format!("there is no value `{name}`"), &format!("write `{ours}`"), range);
    }
    let known = ROOTS.into_iter().chain(parser.locals.iter().map(String::as_str));
    let help = did_you_mean(name, known)
        .unwrap_or_else(|| format!("{ROOTS_TOLD}; a text is written in quotes, as in `'{name}'`"));
    error(&format!("no path begins with `{name}`"), &help, range)
}

pub(super) fn expected(parser: &Parser<'_>, what: &str) -> SyntaxError {
    if let Word::Bad(error) = &parser.token.word {
        return error.clone();
    }
    let message = format!("here {what} is expected, not {}", found(parser));
    error(&message, ALLOWED, parser.token.range.clone())
}

pub(super) fn unclosed(open: &str, close: &str, range: &Range<usize>) -> SyntaxError {
    let message = format!("this `{open}` is never closed");
    error(&message, &format!("write `{close}` behind what belongs to it"), range.clone())
}

pub(super) fn wrong_bracket(parser: &Parser<'_>, open: &str, close: &str) -> SyntaxError {
    let message = format!("this {} does not close the `{open}` before it", found(parser));
    error(&message, &format!("write `{close}`"), parser.token.range.clone())
}

pub(super) fn number(text: &str, range: &Range<usize>) -> SyntaxError {
    let message = format!("`{text}` is not a number");
    error(&message, "write it as in `3`, `-3`, `0.5` or `1e6`", range.clone())
}

pub(super) fn too_large(text: &str, range: &Range<usize>) -> SyntaxError {
    let message = format!("`{text}` is beyond the whole numbers of 64 bits");
    let help = "compare with a string, or with a rounded value such as `1.8e19`";
    error(&message, help, range.clone())
}

pub(super) fn too_deep(range: &Range<usize>) -> SyntaxError {
    let help = "let a node work it out, and ask for its output";
    error("the condition is nested too deeply", help, range.clone())
}

pub(super) fn too_many(range: &Range<usize>) -> SyntaxError {
    let message = format!("the condition has more than {} parts", limits::PARTS);
    error(&message, "let a node work it out, and ask for its output", range.clone())
}

// Paths.

pub(super) fn key(parser: &Parser<'_>) -> SyntaxError {
    let range = parser.token.range.clone();
    match &parser.token.word {
        Word::Bad(error) => error.clone(),
        Word::Number => {
            let text = parser.text();
            let message = format!("behind a dot comes a name, not `{text}`");
            error(&message, &format!("write the number of an item as `[{text}]`"), range)
        }
        Word::End | Word::Name | Word::Text(_) | Word::Unsigned | Word::Mark(_) => error(
            &format!("behind a dot comes a name, not {}", found(parser)),
            "write any other key as `[\"…\"]`",
            range,
        ),
    }
}

pub(super) fn dash(source: &str, range: Range<usize>) -> SyntaxError {
    let text = &source[range.clone()];
    let (before, behind) = text.split_once('-').unwrap_or((text, ""));
    let message = format!("`{text}` may be a name or a subtraction");
    let help = format!("write `[\"{text}\"]` for the name, or `{before} - {behind}` to subtract");
    error(&message, &help, range)
}

pub(super) fn no_parts(path: &str, range: &Range<usize>) -> SyntaxError {
    let message = format!("`{path}` leads into a value that has no parts");
    error(&message, "write `run.id` and `item_index` alone", range.clone())
}

pub(super) fn node_id(parser: &Parser<'_>) -> SyntaxError {
    let message = format!("here the id of a node in quotes is expected, not {}", found(parser));
    error(&message, "write for example `nodes[\"my-id\"].output`", parser.token.range.clone())
}

pub(super) fn node_part(range: Range<usize>, id: &str) -> SyntaxError {
    let message = format!("behind `nodes[\"{id}\"]` comes `.output`, `.prev` or `.error`");
    error(&message, &format!("write for example `nodes[\"{id}\"].output`"), range)
}

// Calls and loops.

pub(super) fn no_function(name: &str, range: &Range<usize>) -> SyntaxError {
    if name == "and" || name == "or" {
        return after_operand_name(name, range.clone());
    }
    let (message, help) = functions::unknown(name);
    error(&message, &help, range.clone())
}

pub(super) fn usage(function: Function, range: &Range<usize>) -> SyntaxError {
    let message = format!("`{}` is not called like this", function.name());
    error(&message, &format!("write `{}`", function.usage()), range.clone())
}

pub(super) fn has_usage(range: &Range<usize>) -> SyntaxError {
    let help = "write for example `has(nodes.a.output.title)`";
    error("`has` asks whether a path leads to a value, and takes nothing else", help, range.clone())
}

pub(super) fn loop_usage(what: Loop, range: &Range<usize>) -> SyntaxError {
    let name = what.name();
    let body = if what == Loop::Map { "x.size" } else { "x.size > 3" };
    let message = format!("`{name}` is not called like this");
    let help = format!("write for example `trigger.output.files.{name}(x, {body})`");
    error(&message, &help, range.clone())
}

pub(super) fn loop_in_loop(range: &Range<usize>) -> SyntaxError {
    let message = format!("more than {} loops stand inside each other", limits::LOOPS);
    error(&message, "let a node work it out, and ask for its output", range.clone())
}

pub(super) fn is_taken(name: &str) -> bool {
    ROOTS.contains(&name) || matches!(name, "true" | "false" | "null" | "in")
}

pub(super) fn taken(name: &str, range: &Range<usize>) -> SyntaxError {
    let message = format!("`{name}` has a meaning already");
    error(&message, "give the items another name, such as `x`", range.clone())
}

pub(super) fn wrong_argument(function: Function, kind: Kind, range: &Range<usize>) -> SyntaxError {
    let message = format!("`{}` does not take {}", function.name(), kind.name());
    error(&message, &format!("write `{}`", function.usage()), range.clone())
}

pub(super) fn pattern(message: &str, help: &str, range: &Range<usize>) -> SyntaxError {
    error(message, help, range.clone())
}

// Kinds of values.

pub(super) fn not_a_question(kind: Kind, place: &str, range: &Range<usize>) -> SyntaxError {
    let message = format!("{place} something true or false is needed, this is {}", kind.name());
    error(&message, compare_it(kind), range.clone())
}

pub(super) fn no_answer(kind: Kind, range: &Range<usize>) -> SyntaxError {
    let message = format!("a condition is true or false, this is {}", kind.name());
    error(&message, compare_it(kind), range.clone())
}

pub(super) fn constant(range: &Range<usize>) -> SyntaxError {
    error("this condition always has the same answer", ALLOWED, range.clone())
}

pub(super) fn fails_always(why: &str, range: Range<usize>) -> SyntaxError {
    let help = "nothing in it comes from the run; ask about a path, or correct its values";
    error(&format!("this can never be decided: {why}"), help, range)
}

pub(super) fn negative(kind: Kind, range: &Range<usize>) -> SyntaxError {
    let help = if kind == Kind::Boolean { "write `!`" } else { "write `-` before numbers only" };
    error(&format!("`-` does not go with {}", kind.name()), help, range.clone())
}

pub(super) fn arithmetic(
    what: Arithmetic,
    left: Option<Kind>,
    right: Option<Kind>,
    sign: Range<usize>,
) -> SyntaxError {
    let name = |kind: Option<Kind>| kind.map_or("a value", Kind::name);
    let message = format!("`{}` does not go with {} and {}", what.sign(), name(left), name(right));
    let text = left == Some(Kind::Text) || right == Some(Kind::Text);
    let help = if text && what == Arithmetic::Add {
        "write `string(x)` around the value that is no string"
    } else if what == Arithmetic::Add {
        "`+` adds two numbers, or joins two strings or two arrays"
    } else {
        "reckon with numbers only; `double(x)` makes a number of a string"
    };
    error(&message, help, sign)
}

pub(super) fn within(kind: Kind, range: &Range<usize>) -> SyntaxError {
    let help = if kind == Kind::Text {
        "for a part of a string write `x.contains('…')`"
    } else {
        "write an array, as in `x in ['a', 'b']`"
    };
    error(
        &format!("`in` looks into an array or an object, not into {}", kind.name()),
        help,
        range.clone(),
    )
}

pub(super) fn map_key(kind: Kind, range: &Range<usize>) -> SyntaxError {
    let message = format!("the key of an object is a string, not {}", kind.name());
    error(&message, "put it in quotes", range.clone())
}

pub(super) fn no_fields(kind: Kind, range: &Range<usize>) -> SyntaxError {
    let message = format!("{} has no parts", kind.name());
    error(&message, "only arrays and objects have parts", range.clone())
}

pub(super) fn no_items(what: Loop, kind: Kind, range: &Range<usize>) -> SyntaxError {
    let message =
        format!("`{}` goes through an array or an object, not {}", what.name(), kind.name());
    error(&message, "write it behind a path that leads to an array", range.clone())
}

pub(super) fn never_in_order(kind: Kind, sign: Range<usize>) -> SyntaxError {
    let message = format!(
        "{} has no order; only two numbers, two strings or two booleans have one",
        kind.name()
    );
    error(&message, "compare with `==` or `!=`", sign)
}

pub(super) fn unlike_in_order(
    left: Kind,
    right: Kind,
    chained: bool,
    sign: Range<usize>,
) -> SyntaxError {
    let message = format!(
        "{} and {} have no order; only two numbers, two strings or two booleans have one",
        left.name(),
        right.name()
    );
    let help = if chained {
        "compare twice, as in `1 < x && x < 3`"
    } else {
        "compare with `==` or `!=`, or make one kind of them with `int(x)` or `string(x)`"
    };
    error(&message, help, sign)
}

fn compare_it(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "compare with it, as in `… == null`",
        Kind::Boolean => "write it as a question",
        Kind::Number => "compare it, as in `… > 0`",
        Kind::Text => "compare it, as in `… == 'done'`",
        Kind::List | Kind::Map => "ask about it, as in `size(…) > 0`",
    }
}

fn found(parser: &Parser<'_>) -> String {
    match &parser.token.word {
        Word::End => "the end of the text".to_owned(),
        Word::Name
        | Word::Text(_)
        | Word::Number
        | Word::Unsigned
        | Word::Mark(_)
        | Word::Bad(_) => quoted(parser.text()),
    }
}

/// A word of the source, not too long for a sentence.
fn quoted(word: &str) -> String {
    let mut short: String = word.chars().take(40).collect();
    if short.len() < word.len() {
        short.push('…');
    }
    format!("`{short}`")
}

fn error(message: &str, suggestion: &str, range: Range<usize>) -> SyntaxError {
    SyntaxError { message: message.to_owned(), suggestion: Some(suggestion.to_owned()), range }
}
