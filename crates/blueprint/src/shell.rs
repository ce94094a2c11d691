//! Shell commands with places for values. The law: a value never becomes
//! shell text. Each place becomes a variable in double quotes, found by
//! reading the command as a shell would; where a variable would not be safe,
//! or the reading is not sure, the command is refused with the fix.

mod commands;
mod compound;
mod expand;
mod grammar;
mod judge;
mod lexer;
mod refusal;
mod taint;
#[cfg(test)]
mod tests;

use crate::Scope;
use crate::template::syntax::{self, Piece};
use crate::template::{Expr, Part, SyntaxError, TemplateError};

use lexer::{Seat, Spot, Symbol};

/// A command for `sh` whose values come in through its environment.
#[derive(Debug, Clone)]
pub struct ShellCommand(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    source: String,
    text: String,
    exprs: Vec<Expr>,
    /// For each variable the place that gives it its value: `WARDIAN_V1` is
    /// the first.
    variables: Vec<usize>,
}

/// A command ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellText {
    pub text: String,
    /// Names and values of the variables that `text` mentions. A value may
    /// be larger than an environment can hold; see [`preamble`].
    pub values: Vec<(String, String)>,
}

impl ShellCommand {
    pub fn parse(source: &str) -> Result<Self, Vec<SyntaxError>> {
        let pieces = syntax::scan(source)?;
        let exprs: Vec<Expr> = pieces
            .iter()
            .filter_map(|piece| match &piece.part {
                Part::Value(expr) => Some(expr.clone()),
                Part::Text(_) => None,
            })
            .collect();
        let spots = spots(&pieces);
        // Without places the text is the author's alone and is not judged.
        let seats = if exprs.is_empty() {
            Vec::new()
        } else {
            grammar::seats(&spots, &exprs, source.len())?
        };
        let (names, variables) = name_values(&exprs);
        let mut text = String::new();
        for spot in &spots {
            match spot.symbol {
                Symbol::Char(character) => text.push(character),
                Symbol::Place(place) => text.push_str(&match seats[place] {
                    Seat::Bare => format!("\"${{{}}}\"", variable(names[place])),
                    Seat::Quoted => format!("${{{}}}", variable(names[place])),
                }),
            }
        }
        Ok(Self(Box::new(Parts { source: source.to_owned(), text, exprs, variables })))
    }

    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The command with a variable in each place. It never changes with the
    /// values.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.0.exprs.iter()
    }

    pub fn render(&self, scope: &dyn Scope) -> Result<ShellText, TemplateError> {
        let values = self.0.variables.iter().enumerate().map(|(number, place)| {
            Ok((variable(number), self.0.exprs[*place].text_for_process(scope)?))
        });
        Ok(ShellText { text: self.0.text.clone(), values: values.collect::<Result<_, _>>()? })
    }
}

/// What to write before a command's text so that its large values come from
/// files: one line without its end, so that the numbers of the lines stay.
/// Each pair is the name of a variable and the path of a file with its value.
/// The variables are the shell's own and reach no child's environment.
pub fn preamble(large: &[(String, String)]) -> String {
    large.iter().fold(String::new(), |text, (name, path)| {
        let path = path.replace('\'', r"'\''");
        // A substitution drops the line ends at its end; the `x` keeps them.
        text + &format!("{name}=$(cat < '{path}'; printf x); {name}=${{{name}%x}}; ")
    })
}

/// For each place the number of its variable, and for each variable its
/// place. What is written twice has one variable.
fn name_values(exprs: &[Expr]) -> (Vec<usize>, Vec<usize>) {
    let mut names: Vec<usize> = Vec::new();
    let mut variables: Vec<usize> = Vec::new();
    for (place, expr) in exprs.iter().enumerate() {
        let known = variables.iter().position(|other| exprs[*other].means_the_same(expr));
        names.push(known.unwrap_or(variables.len()));
        if known.is_none() {
            variables.push(place);
        }
    }
    (names, variables)
}

fn variable(number: usize) -> String {
    format!("WARDIAN_V{}", number + 1)
}

fn spots(pieces: &[Piece]) -> Vec<Spot> {
    let mut spots = Vec::new();
    let mut places = 0;
    for Piece { part, range } in pieces {
        match part {
            Part::Text(text) => {
                // An escaped text is shorter than its source; its letters
                // all stand where the escape begins.
                let escaped = text.len() != range.len();
                spots.extend(text.char_indices().map(|(offset, character)| Spot {
                    symbol: Symbol::Char(character),
                    at: range.start + if escaped { 0 } else { offset },
                }));
            }
            Part::Value(_) => {
                spots.push(Spot { symbol: Symbol::Place(places), at: range.start });
                places += 1;
            }
        }
    }
    spots
}
