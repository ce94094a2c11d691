//! The functions of conditions: a closed list, without time and chance, and
//! what to write instead of those that people look for here.

use super::tree::Kind;
use crate::suggest::did_you_mean;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Int,
    Uint,
    Double,
    Text,
    Boolean,
}

/// What a loop over the items of a list, or the keys of an object, asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loop {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

/// What a name stands for when it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Called {
    Has,
    Function(Function),
    Loop(Loop),
}

const NAMES: [(&str, Called); 16] = [
    ("has", Called::Has),
    ("size", Called::Function(Function::Size)),
    ("contains", Called::Function(Function::Contains)),
    ("startsWith", Called::Function(Function::StartsWith)),
    ("endsWith", Called::Function(Function::EndsWith)),
    ("matches", Called::Function(Function::Matches)),
    ("int", Called::Function(Function::Int)),
    ("uint", Called::Function(Function::Uint)),
    ("double", Called::Function(Function::Double)),
    ("string", Called::Function(Function::Text)),
    ("bool", Called::Function(Function::Boolean)),
    ("all", Called::Loop(Loop::All)),
    ("exists", Called::Loop(Loop::Exists)),
    ("exists_one", Called::Loop(Loop::ExistsOne)),
    ("filter", Called::Loop(Loop::Filter)),
    ("map", Called::Loop(Loop::Map)),
];

const TOLD: &str = "the functions are `has`, `size`, `contains`, `startsWith`, `endsWith`, \
     `matches`, `all`, `exists`, `exists_one`, `filter`, `map`, `int`, `uint`, `double`, \
     `string` and `bool`";

/// Names that other languages have, and what does the same here.
const ELSEWHERE: [(&str, &str); 19] = [
    ("len", "size(x)"),
    ("length", "size(x)"),
    ("count", "size(x)"),
    ("empty", "size(x) == 0"),
    ("isEmpty", "size(x) == 0"),
    ("includes", "x.contains('…')` or `'…' in x"),
    ("indexOf", "x.contains('…')` or `'…' in x"),
    ("any", "x.exists(one, …)"),
    ("some", "x.exists(one, …)"),
    ("every", "x.all(one, …)"),
    ("find", "x.exists(one, …)"),
    ("regex", "x.matches('…')"),
    ("match", "x.matches('…')"),
    ("test", "x.matches('…')"),
    ("str", "string(x)"),
    ("toString", "string(x)"),
    ("float", "double(x)"),
    ("number", "double(x)"),
    ("defined", "has(x)"),
];

const TIME: [&str; 17] = [
    "now",
    "today",
    "time",
    "date",
    "timestamp",
    "duration",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "sleep",
];

pub(super) fn find(name: &str) -> Option<Called> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, called)| *called)
}

/// The message and the suggestion for a name that is no function.
pub(super) fn unknown(name: &str) -> (String, String) {
    if TIME.contains(&name) {
        return (
            format!("conditions have no function `{name}`, since they know no time"),
            "let a node put the time into its output, and compare that".to_owned(),
        );
    }
    let elsewhere = ELSEWHERE.iter().find(|(word, _)| word.eq_ignore_ascii_case(name));
    let help = match elsewhere {
        Some((_, here)) => format!("write `{here}`"),
        None => did_you_mean(name, NAMES.iter().map(|(known, _)| *known))
            .unwrap_or_else(|| TOLD.to_owned()),
    };
    (format!("there is no function `{name}`"), help)
}

impl Function {
    /// As CEL calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Contains => "contains",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Matches => "matches",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::Boolean => "bool",
        }
    }

    /// The kind of its value.
    pub(super) fn gives(self) -> Kind {
        match self {
            Self::Size | Self::Int | Self::Uint | Self::Double => Kind::Number,
            Self::Contains | Self::StartsWith | Self::EndsWith | Self::Matches | Self::Boolean => {
                Kind::Boolean
            }
            Self::Text => Kind::Text,
        }
    }

    /// How it is written.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Size => "size(x)",
            Self::Contains => "x.contains('…')",
            Self::StartsWith => "x.startsWith('…')",
            Self::EndsWith => "x.endsWith('…')",
            Self::Matches => "x.matches('…')",
            Self::Int => "int(x)",
            Self::Uint => "uint(x)",
            Self::Double => "double(x)",
            Self::Text => "string(x)",
            Self::Boolean => "bool(x)",
        }
    }

    /// Whether a call of `arguments` values fits, the one before the dot
    /// counted.
    pub(super) fn fits(self, behind_a_dot: bool, arguments: usize) -> bool {
        match self {
            Self::Size => arguments == 1,
            Self::Matches => arguments == 2,
            Self::Contains | Self::StartsWith | Self::EndsWith => behind_a_dot && arguments == 2,
            Self::Int | Self::Uint | Self::Double | Self::Text | Self::Boolean => {
                !behind_a_dot && arguments == 1
            }
        }
    }

    /// Whether its first argument may be of this kind.
    pub(super) fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Size => matches!(kind, Kind::Text | Kind::List | Kind::Map),
            Self::Contains | Self::StartsWith | Self::EndsWith | Self::Matches => {
                kind == Kind::Text
            }
            Self::Int | Self::Uint | Self::Double => matches!(kind, Kind::Number | Kind::Text),
            Self::Text => matches!(kind, Kind::Boolean | Kind::Number | Kind::Text),
            Self::Boolean => matches!(kind, Kind::Boolean | Kind::Text),
        }
    }
}

impl Loop {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Exists => "exists",
            Self::ExistsOne => "exists_one",
            Self::Filter => "filter",
            Self::Map => "map",
        }
    }

    pub(super) fn gives(self) -> Kind {
        match self {
            Self::All | Self::Exists | Self::ExistsOne => Kind::Boolean,
            Self::Filter | Self::Map => Kind::List,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found_by_the_name_that_it_has() {
        for (name, called) in NAMES {
            match called {
                Called::Has => assert_eq!(name, "has"),
                Called::Function(function) => assert_eq!(function.name(), name),
                Called::Loop(what) => assert_eq!(what.name(), name),
            }
            assert_eq!(find(name), Some(called));
            assert!(TOLD.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn nobody_is_sent_to_a_function_that_is_not_there() {
        for (word, _) in ELSEWHERE {
            assert_eq!(find(word), None, "{word}");
        }
        for word in TIME {
            assert_eq!(find(word), None, "{word}");
            assert!(unknown(word).0.contains("no time"), "{word}");
        }
        assert_eq!(unknown("startWith").1, "did you mean `startsWith`?");
        assert_eq!(unknown("len").1, "write `size(x)`");
    }
}
