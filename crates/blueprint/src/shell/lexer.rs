//! Words and operators of POSIX sh, with the places in them. It knows less
//! than a shell does, and says so: what two shells read differently, or what
//! it does not know, ends the reading.

use super::grammar::Reader;
use super::refusal::{Fatal, Why};

/// A character of the command, or a whole place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Char(char),
    Place(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) symbol: Symbol,
    /// Byte of the source.
    pub(super) at: usize,
}

/// How a place stands in its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seat {
    Bare,
    /// Inside double quotes.
    Quoted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    Operator(Operator),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// A redirection to a file.
    Redirect,
    /// A redirection to a file descriptor, `>&` or `<&`.
    Duplicate,
    /// A here-document.
    Here,
    /// A here-document; tabs before its lines do not count.
    HereStripped,
    Semicolon,
    DoubleSemicolon,
    Ampersand,
    And,
    Or,
    Pipe,
    Open,
    Close,
    Newline,
    End,
}

impl Token {
    pub(super) fn is(&self, operator: Operator) -> bool {
        *self == Self::Operator(operator)
    }

    pub(super) fn is_one_of(&self, operators: &[Operator]) -> bool {
        operators.iter().any(|operator| self.is(*operator))
    }

    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        self.plain() == keyword
    }

    /// The text of a word without any quotes; empty for all else.
    pub(super) fn plain(&self) -> &str {
        match self {
            Self::Word(word) => word.plain().unwrap_or_default(),
            Self::Operator(_) => "",
        }
    }

    pub(super) fn word(self) -> Option<Word> {
        match self {
            Self::Word(word) => Some(word),
            Self::Operator(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) pieces: Vec<WordPiece>,
    /// Indexes of symbols.
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordPiece {
    Text {
        text: String,
        quoted: bool,
    },
    Place(usize),
    /// `single` when it makes one word, whatever it expands to.
    Expansion {
        single: bool,
    },
}

impl Word {
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            WordPiece::Place(place) => Some(*place),
            WordPiece::Text { .. } | WordPiece::Expansion { .. } => None,
        })
    }

    pub(super) fn has_place(&self) -> bool {
        self.places().next().is_some()
    }

    pub(super) fn has_expansion(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Expansion { .. }))
    }

    /// Whether the shell makes exactly one word of it, whatever it holds.
    pub(super) fn is_one_word(&self) -> bool {
        let single = |piece: &WordPiece| match piece {
            WordPiece::Expansion { single } => *single,
            WordPiece::Text { .. } | WordPiece::Place(_) => true,
        };
        self.is_steady() && self.pieces.iter().all(single)
    }

    /// The word after quotes are taken off, when the shell would change
    /// nothing else in it.
    pub(super) fn literal(&self) -> Option<String> {
        let is_test = self.plain() == Some("[");
        if self.head().starts_with('~') || (!is_test && !self.is_steady()) {
            return None;
        }
        self.pieces
            .iter()
            .map(|piece| match piece {
                WordPiece::Text { text, .. } => Some(text.as_str()),
                WordPiece::Place(_) | WordPiece::Expansion { .. } => None,
            })
            .collect()
    }

    /// Whether its text without quotes names no files and lists no words.
    fn is_steady(&self) -> bool {
        let bare: String = self
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                WordPiece::Text { text, quoted: false } => Some(text.as_str()),
                WordPiece::Text { .. } | WordPiece::Place(_) | WordPiece::Expansion { .. } => None,
            })
            .collect();
        let lists = bare.contains('{') && (bare.contains(',') || bare.contains(".."));
        !lists && !bare.contains(['*', '?', '['])
    }

    /// The text of a word without any quotes, as a keyword must be.
    pub(super) fn plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [WordPiece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    /// The text without quotes with which the word begins.
    pub(super) fn head(&self) -> &str {
        match self.pieces.first() {
            Some(WordPiece::Text { text, quoted: false }) => text,
            _ => "",
        }
    }

    /// The text with which the word begins, quoted or not.
    pub(super) fn prefix(&self) -> String {
        self.pieces
            .iter()
            .map_while(|piece| match piece {
                WordPiece::Text { text, .. } => Some(text.as_str()),
                WordPiece::Place(_) | WordPiece::Expansion { .. } => None,
            })
            .collect()
    }

    fn push(&mut self, character: char, is_quoted: bool) {
        if let Some(WordPiece::Text { text, quoted }) = self.pieces.last_mut()
            && *quoted == is_quoted
        {
            text.push(character);
        } else {
            self.pieces.push(WordPiece::Text { text: character.into(), quoted: is_quoted });
        }
    }

    /// Quotes around nothing still make a word, and one that is no keyword.
    fn push_empty(&mut self) {
        self.pieces.push(WordPiece::Text { text: String::new(), quoted: true });
    }
}

impl Reader<'_> {
    pub(super) fn lex(&mut self) -> Result<Token, Fatal> {
        loop {
            self.token_start = self.at;
            match self.look(0) {
                None => return Ok(Token::Operator(Operator::End)),
                Some(Symbol::Char(' ' | '\t')) => self.at += 1,
                Some(Symbol::Char('\\')) if self.sees(1, '\n') => self.at += 2,
                Some(Symbol::Char('#')) => self.comment(),
                Some(Symbol::Char('\n')) => {
                    self.at += 1;
                    self.here_documents()?;
                    return Ok(Token::Operator(Operator::Newline));
                }
                Some(Symbol::Char(character)) if is_operator(character) => return self.operator(),
                Some(Symbol::Char(_) | Symbol::Place(_)) => return self.word(),
            }
        }
    }

    pub(super) fn look(&self, ahead: usize) -> Option<Symbol> {
        self.spots.get(self.at + ahead).map(|spot| spot.symbol)
    }

    pub(super) fn sees(&self, ahead: usize, character: char) -> bool {
        self.look(ahead) == Some(Symbol::Char(character))
    }

    fn comment(&mut self) {
        while let Some(symbol) = self.look(0) {
            match symbol {
                Symbol::Char('\n') => return,
                Symbol::Char(_) => {}
                Symbol::Place(place) => self.refuse(place, Why::Comment),
            }
            self.at += 1;
        }
    }

    fn operator(&mut self) -> Result<Token, Fatal> {
        const OPERATORS: [(&str, Option<Operator>); 24] = [
            ("<<<", None),
            ("<<-", Some(Operator::HereStripped)),
            ("<<", Some(Operator::Here)),
            ("<&", Some(Operator::Duplicate)),
            ("<>", Some(Operator::Redirect)),
            ("<(", None),
            ("<", Some(Operator::Redirect)),
            (">>", Some(Operator::Redirect)),
            (">&", Some(Operator::Duplicate)),
            (">|", Some(Operator::Redirect)),
            (">(", None),
            (">", Some(Operator::Redirect)),
            (";;&", None),
            (";;", Some(Operator::DoubleSemicolon)),
            (";&", None),
            (";", Some(Operator::Semicolon)),
            ("&&", Some(Operator::And)),
            ("&>", None),
            ("&", Some(Operator::Ampersand)),
            ("||", Some(Operator::Or)),
            ("|&", None),
            ("|", Some(Operator::Pipe)),
            ("(", Some(Operator::Open)),
            (")", Some(Operator::Close)),
        ];
        let start = self.at;
        for (text, operator) in OPERATORS {
            if !text.chars().enumerate().all(|(ahead, character)| self.sees(ahead, character)) {
                continue;
            }
            let Some(operator) = operator else { return Err(foreign_operator(text, start)) };
            self.at += text.len();
            self.refuse_split_operator(start)?;
            return Ok(Token::Operator(operator));
        }
        Err(self.lost("this operator", start))
    }

    /// A line continuation can join two characters to one operator.
    fn refuse_split_operator(&self, start: usize) -> Result<(), Fatal> {
        let mut ahead = 0;
        while self.sees(ahead, '\\') && self.sees(ahead + 1, '\n') {
            ahead += 2;
        }
        match self.look(ahead) {
            Some(Symbol::Char(next)) if ahead > 0 && (is_operator(next) || next == '-') => {
                Err(self.lost("an operator that goes on in the next line", start))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn word(&mut self) -> Result<Token, Fatal> {
        let start = self.at;
        let mut word = Word { pieces: Vec::new(), start, end: start };
        while let Some(symbol) = self.look(0) {
            match symbol {
                Symbol::Char(' ' | '\t' | '\n') => break,
                Symbol::Char(character) if is_operator(character) => break,
                Symbol::Char('\\') => self.backslash(&mut word)?,
                Symbol::Char('\'') => self.single_quotes(&mut word)?,
                Symbol::Char('"') => self.double_quotes(&mut word)?,
                Symbol::Char('`') => self.back_ticks(&mut word, false)?,
                Symbol::Char('$') => self.dollar(&mut word, false)?,
                Symbol::Char(odd) if odd.is_whitespace() || odd.is_control() => {
                    return Err(self.lost("an unusual blank or control character", self.at));
                }
                Symbol::Char(character) => {
                    word.push(character, false);
                    self.at += 1;
                }
                Symbol::Place(place) => {
                    self.seat(place, Seat::Bare);
                    word.pieces.push(WordPiece::Place(place));
                    self.at += 1;
                }
            }
        }
        word.end = self.at;
        self.after_word(word)
    }

    fn after_word(&mut self, word: Word) -> Result<Token, Fatal> {
        let lines = self.spots[word.start..word.end].iter().any(|s| s.symbol == Symbol::Char('\n'));
        if lines && !self.here.is_empty() {
            return Err(self.lost("a here-document before a word of several lines", word.start));
        }
        let has_brace = |piece: &WordPiece| match piece {
            WordPiece::Text { text, quoted } => !quoted && text.contains(['{', '}']),
            WordPiece::Place(_) | WordPiece::Expansion { .. } => false,
        };
        if word.pieces.iter().any(has_brace) {
            self.refuse_word(&word, &Why::Braces);
        }
        if !self.sees(0, '<') && !self.sees(0, '>') {
            return Ok(Token::Word(word));
        }
        // A digit directly before a redirection belongs to it.
        let plain = word.plain().unwrap_or_default();
        let digits = !plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_digit());
        if digits && plain.len() == 1 {
            return self.operator();
        }
        if digits || plain.ends_with('}') {
            return Err(self.lost("this file descriptor", word.start));
        }
        Ok(Token::Word(word))
    }

    fn backslash(&mut self, word: &mut Word) -> Result<(), Fatal> {
        match self.look(1) {
            None => return Err(self.lost("a backslash at the end", self.at)),
            Some(Symbol::Char('\n')) => {}
            Some(Symbol::Char(character)) => word.push(character, true),
            Some(Symbol::Place(place)) => {
                word.pieces.push(WordPiece::Place(place));
                self.refuse(place, Why::Backslash);
            }
        }
        self.at += 2;
        Ok(())
    }

    fn single_quotes(&mut self, word: &mut Word) -> Result<(), Fatal> {
        let start = self.at;
        self.at += 1;
        word.push_empty();
        loop {
            match self.look(0) {
                None => return Err(self.unclosed("a single quote", start)),
                Some(Symbol::Char('\'')) => break,
                Some(Symbol::Char(character)) => word.push(character, true),
                Some(Symbol::Place(place)) => {
                    word.pieces.push(WordPiece::Place(place));
                    self.refuse(place, Why::SingleQuotes);
                }
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }

    fn double_quotes(&mut self, word: &mut Word) -> Result<(), Fatal> {
        let start = self.at;
        self.at += 1;
        word.push_empty();
        loop {
            match self.look(0) {
                None => return Err(self.unclosed("a double quote", start)),
                Some(Symbol::Char('"')) => break,
                Some(Symbol::Char('\\')) => self.quoted_backslash(word)?,
                Some(Symbol::Char('`')) => self.back_ticks(word, true)?,
                Some(Symbol::Char('$')) => self.dollar(word, true)?,
                Some(Symbol::Char(character)) => {
                    word.push(character, true);
                    self.at += 1;
                }
                Some(Symbol::Place(place)) => {
                    self.seat(place, Seat::Quoted);
                    word.pieces.push(WordPiece::Place(place));
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Ok(())
    }

    fn quoted_backslash(&mut self, word: &mut Word) -> Result<(), Fatal> {
        match self.look(1) {
            None => return Err(self.lost("a backslash at the end", self.at)),
            Some(Symbol::Char('\n')) => {}
            Some(Symbol::Char(special @ ('$' | '`' | '"' | '\\'))) => word.push(special, true),
            Some(Symbol::Char(other)) => {
                word.push('\\', true);
                word.push(other, true);
            }
            Some(Symbol::Place(place)) => {
                word.pieces.push(WordPiece::Place(place));
                self.refuse(place, Why::Backslash);
            }
        }
        self.at += 2;
        Ok(())
    }
}

fn is_operator(character: char) -> bool {
    matches!(character, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

fn foreign_operator(text: &str, at: usize) -> Fatal {
    let suggestion = match text {
        "<<<" => "pipe it in: `printf '%s\\n' {{…}} | command`",
        "&>" => "write `> file 2>&1`",
        "|&" => "write `2>&1 |`",
        "<(" | ">(" => "use a pipe or a temporary file",
        _ => "end the branch with `;;`",
    };
    Fatal {
        message: format!("`{text}` is not part of POSIX sh, and shells read it differently"),
        suggestion: suggestion.to_owned(),
        at,
    }
}
