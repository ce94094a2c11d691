//! Which variables of a command hold values, and whether one of them comes
//! to a place where some shell evaluates the text of a variable as code
//! (arithmetic in bash runs the `$(…)` of a subscript in a variable's text).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::lexer::{Spot, Symbol, Word};
use super::refusal::Fatal;

/// The name that stands for all positional parameters.
const POSITIONAL: &str = "@";

#[derive(Debug, Default)]
pub(super) struct Taint {
    /// For each variable the names that its text is made of.
    flows: BTreeMap<String, BTreeSet<String>>,
    tainted: BTreeSet<String>,
    evaluated: Vec<(BTreeSet<String>, usize)>,
    functions: BTreeSet<String>,
    /// Commands that have a value or an expansion among their arguments.
    called: Vec<(String, bool, BTreeSet<String>)>,
}

impl Taint {
    /// `name=word`, `for name in word`, `read name`.
    pub(super) fn assigned(&mut self, spots: &[Spot], name: &str, word: &Word) {
        if word.has_place() {
            self.tainted.insert(name.to_owned());
        }
        let names = names(&spots[word.start..word.end]);
        self.flows.entry(name.to_owned()).or_default().extend(names);
    }

    /// A name whose text comes from outside.
    pub(super) fn comes_from_outside(&mut self, name: &str) {
        self.tainted.insert(name.to_owned());
    }

    /// `name` takes the arguments in turn.
    pub(super) fn takes_arguments(&mut self, name: &str) {
        self.flows.entry(name.to_owned()).or_default().insert(POSITIONAL.to_owned());
    }

    pub(super) fn positional(&mut self, spots: &[Spot], word: &Word) {
        self.assigned(spots, POSITIONAL, word);
    }

    pub(super) fn defined(&mut self, function: &str) {
        self.functions.insert(function.to_owned());
    }

    pub(super) fn called(&mut self, spots: &[Spot], command: &str, args: &[Word]) {
        let mut all = BTreeSet::new();
        for word in args {
            all.extend(names(&spots[word.start..word.end]));
        }
        let places = args.iter().any(Word::has_place);
        self.called.push((command.to_owned(), places, all));
    }

    pub(super) fn evaluated(&mut self, spots: &[Spot], range: Range<usize>) {
        let start = range.start;
        self.evaluated.push((names(&spots[range]), start));
    }

    /// The first place where a variable with a value would be evaluated.
    pub(super) fn verdict(mut self) -> Result<(), Fatal> {
        for (command, places, names) in std::mem::take(&mut self.called) {
            if self.functions.contains(&command) {
                if places {
                    self.tainted.insert(POSITIONAL.to_owned());
                }
                self.flows.entry(POSITIONAL.to_owned()).or_default().extend(names);
            }
        }
        loop {
            let before = self.tainted.len();
            for (name, sources) in &self.flows {
                if sources.iter().any(|source| self.tainted.contains(source)) {
                    self.tainted.insert(name.clone());
                }
            }
            if self.tainted.len() == before {
                break;
            }
        }
        for (names, at) in &self.evaluated {
            if let Some(name) = names.iter().find(|name| self.tainted.contains(*name)) {
                let shown = if name == POSITIONAL { "an argument" } else { name };
                return Err(Fatal {
                    message: format!(
                        "`{shown}` holds a value and stands where some shells evaluate it as code"
                    ),
                    suggestion: "compute in a script file that checks first that it is a number"
                        .to_owned(),
                    at: *at,
                });
            }
        }
        Ok(())
    }
}

/// Everything in the text that could be the name of a variable.
fn names(spots: &[Spot]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut word = String::new();
    let mut before = ' ';
    for spot in spots.iter().map(|spot| spot.symbol).chain([Symbol::Char(' ')]) {
        let character = match spot {
            Symbol::Char(character) => character,
            Symbol::Place(_) => ' ',
        };
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
        } else {
            let dollar = matches!(before, '$' | '{' | '!' | '#');
            if word.bytes().all(|byte| byte.is_ascii_digit()) {
                if dollar && !word.is_empty() && word != "0" {
                    names.insert(POSITIONAL.to_owned());
                }
            } else {
                names.insert(std::mem::take(&mut word));
            }
            word.clear();
            if matches!(character, '@' | '*') && matches!(before, '$' | '{') {
                names.insert(POSITIONAL.to_owned());
            }
        }
        if word.is_empty() {
            before = character;
        }
    }
    names
}
