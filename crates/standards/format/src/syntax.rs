//! The one-line form: its parser and its tree.
//!
//! ```text
//! format    = sequence { "|" sequence }
//! sequence  = term { term }
//! term      = text | name [ "@" revision ] [ "(" [ argument { "," argument } ] ")" ]
//! argument  = [ name "=" ] ( word | text | "[" [ (word | text) { "," (word | text) } ] "]" )
//! text      = '"' { character, \" or \\ } '"'
//! word      = one or more of A-Z a-z 0-9 _ . : + - / *
//! ```
//!
//! Space between parts means nothing. The tree holds texts; which of them mean what is the business of
//! [`crate::arguments`].

use crate::error::{Error, Problem};

/// The longest text of a format, in bytes.
pub(crate) const LONGEST: usize = 16_384;
/// The most terms, arguments or elements of a list.
pub(crate) const MOST: usize = 1_024;

/// Alternatives, each a sequence of terms.
pub(crate) type Expression = Vec<Vec<Term>>;

#[derive(Clone, Debug)]
pub(crate) enum Term {
    Call(Call),
    Literal { text: String, at: usize },
}

impl Term {
    /// Where it stands.
    pub(crate) const fn at(&self) -> usize {
        match self {
            Self::Call(call) => call.at,
            Self::Literal { at, .. } => *at,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) revision: Option<u32>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) at: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) key: Option<String>,
    pub(crate) value: Given,
    pub(crate) at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    List(Vec<String>),
    One(String),
}

/// Reads the one-line form. Positions in errors are columns from 1.
pub(crate) fn parse(text: &str) -> Result<Expression, Error> {
    if text.len() > LONGEST {
        return Err(Error::at(1, Problem::TooLong(LONGEST)));
    }
    let mut parser = Parser {
        rest: text,
        column: 1,
    };
    let expression = parser.expression()?;
    match parser.peek() {
        None => Ok(expression),
        Some(_) => Err(parser.expected("a name, a text in quotes, | or the end")),
    }
}

/// Whether a text can stand without quotes.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(in_word)
}

/// In quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('"');
    out
}

/// As it stands in canonical text.
pub(crate) fn spelled(text: &str) -> String {
    if is_word(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

const fn in_word(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || matches!(character, '_' | '.' | ':' | '+' | '-' | '/' | '*')
}

struct Parser<'t> {
    rest: &'t str,
    column: usize,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Expression, Error> {
        let mut alternatives = Vec::new();
        loop {
            bounded(self.column, alternatives.len())?;
            alternatives.push(self.sequence()?);
            if !self.take('|') {
                return Ok(alternatives);
            }
        }
    }

    fn sequence(&mut self) -> Result<Vec<Term>, Error> {
        let mut terms = Vec::new();
        while matches!(self.peek(), Some(c) if c == '"' || c.is_ascii_alphabetic()) {
            bounded(self.column, terms.len())?;
            terms.push(self.term()?);
        }
        if terms.is_empty() {
            return Err(self.expected("a name or a text in quotes"));
        }
        Ok(terms)
    }

    fn term(&mut self) -> Result<Term, Error> {
        let at = self.column;
        if self.peek() == Some('"') {
            let text = self.text()?;
            if text.is_empty() {
                return Err(Error::at(at, Problem::Expected("a text that is not empty")));
            }
            return Ok(Term::Literal { text, at });
        }
        let name = self.word("a name", |c| c.is_ascii_alphanumeric() || c == '_')?;
        let revision = if self.take('@') {
            let at = self.column;
            let digits = self.word("a revision", |c| c.is_ascii_digit())?;
            let number = digits.parse().ok().filter(|_| !digits.starts_with('0'));
            let problem = Problem::Expected("a revision");
            Some(number.ok_or_else(|| Error::at(at, problem))?)
        } else {
            None
        };
        let arguments = if self.take('(') {
            self.arguments()?
        } else {
            Vec::new()
        };
        Ok(Term::Call(Call {
            name,
            revision,
            arguments,
            at,
        }))
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Error> {
        let mut arguments = Vec::new();
        if self.take(')') {
            return Ok(arguments);
        }
        loop {
            bounded(self.column, arguments.len())?;
            arguments.push(self.argument()?);
            if self.take(')') {
                return Ok(arguments);
            }
            if !self.take(',') {
                return Err(self.expected(", or )"));
            }
        }
    }

    fn argument(&mut self) -> Result<Argument, Error> {
        self.space();
        let at = self.column;
        if self.take('[') {
            let value = Given::List(self.list()?);
            return Ok(Argument {
                key: None,
                value,
                at,
            });
        }
        let quoted = self.peek() == Some('"');
        let first = self.one()?;
        if quoted || !self.take('=') {
            return Ok(Argument {
                key: None,
                value: Given::One(first),
                at,
            });
        }
        self.space();
        let at = self.column;
        let value = if self.take('[') {
            Given::List(self.list()?)
        } else {
            Given::One(self.one()?)
        };
        Ok(Argument {
            key: Some(first),
            value,
            at,
        })
    }

    fn list(&mut self) -> Result<Vec<String>, Error> {
        let mut elements = Vec::new();
        if self.take(']') {
            return Ok(elements);
        }
        loop {
            bounded(self.column, elements.len())?;
            elements.push(self.one()?);
            if self.take(']') {
                return Ok(elements);
            }
            if !self.take(',') {
                return Err(self.expected(", or ]"));
            }
        }
    }

    fn one(&mut self) -> Result<String, Error> {
        if self.peek() == Some('"') {
            return self.text();
        }
        self.word("a word or a text in quotes", in_word)
    }

    fn word(&mut self, what: &'static str, member: fn(char) -> bool) -> Result<String, Error> {
        self.space();
        let end = self.rest.find(|c| !member(c)).unwrap_or(self.rest.len());
        let (word, _) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.expected(what));
        }
        let word = word.to_owned();
        word.chars().for_each(|_| self.skip());
        Ok(word)
    }

    fn text(&mut self) -> Result<String, Error> {
        self.skip();
        let mut text = String::new();
        loop {
            let character = self.rest.chars().next();
            self.skip();
            match character {
                Some('"') => return Ok(text),
                Some('\\') => {
                    let escaped = self.rest.chars().next();
                    match escaped {
                        Some(c @ ('"' | '\\')) => text.push(c),
                        _ => return Err(self.expected("\" or \\ after \\")),
                    }
                    self.skip();
                }
                Some(c) if !c.is_control() => text.push(c),
                Some(_) => return Err(self.expected("no control character")),
                None => return Err(self.expected("a closing \"")),
            }
        }
    }

    fn space(&mut self) {
        while self.rest.starts_with([' ', '\t', '\n', '\r']) {
            self.skip();
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.space();
        self.rest.chars().next()
    }

    fn take(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        if found {
            self.skip();
        }
        found
    }

    fn skip(&mut self) {
        let mut characters = self.rest.chars();
        if characters.next().is_some() {
            self.column += 1;
        }
        self.rest = characters.as_str();
    }

    const fn expected(&self, what: &'static str) -> Error {
        Error::at(self.column, Problem::Expected(what))
    }
}

const fn bounded(column: usize, parts: usize) -> Result<(), Error> {
    if parts < MOST {
        Ok(())
    } else {
        Err(Error::at(column, Problem::TooLong(MOST)))
    }
}
