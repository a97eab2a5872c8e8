//! Conditions over attributes.
//!
//! ```text
//! class in ["private", "secret"] and extractable and not (bits >= 3072 or curve == "p256")
//! ```
//!
//! | form | what it is |
//! |---|---|
//! | `and`, `or`, `not`, `(` `)` | as in English; `and` binds closer than `or`, `not` closest |
//! | a flag | true if it is set: `extractable` |
//! | `==` `!=` | for numbers, texts in double quotes, and flags (`true`, `false`) |
//! | `<` `<=` `>` `>=` | for numbers |
//! | `in [...]` | a text or number that is one of these |
//! | `any [...]` | a list that has one of these |
//! | `starts` | a text that begins with another: `label starts "test-"` |
//! | `has(...)` | whether the object has such an attribute at all |
//!
//! A comparison with an attribute that the object does not have is false, `!=` as well: `has` asks for it. What
//! every key must have, as `extractable`, is unknown where it is absent, and so is what cannot be read; unknown
//! goes through `and`, `or` and `not` as in three-valued logic: it stays unless the rest decides alone.
//!
//! Names and kinds are checked when a condition is read, so that a misspelt one is an error and not a pass.

use super::field::{FIELDS, Field, Kind};
use super::lex::{Token, Word, words};
use crate::likeness::distance;

/// A condition that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(pub(super) Node);

/// Why a condition is none: where, in characters from 0, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ConditionError {
    /// Where.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
}

impl ConditionError {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Constant(bool),
    Flag(&'static Field),
    Has(&'static Field),
    Compare(&'static Field, Order, Literal),
    In(&'static Field, Vec<Literal>),
    Any(&'static Field, Vec<Literal>),
    Starts(&'static Field, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Flag(bool),
    Number(i64),
    Text(String),
}

impl Literal {
    const fn kind(&self) -> Kind {
        match self {
            Self::Flag(_) => Kind::Flag,
            Self::Number(_) => Kind::Number,
            Self::Text(_) => Kind::Text,
        }
    }
}

/// Deeper ones are not meant by anybody.
const DEPTH: usize = 64;

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// [`ConditionError`] with the place.
    pub fn read(text: &str) -> Result<Self, ConditionError> {
        let words = words(text)?;
        let mut parser = Parser {
            words: &words,
            end: text.chars().count(),
        };
        let node = parser.either(0)?;
        match parser.words.first() {
            None => Ok(Self(node)),
            Some(word) => Err(ConditionError::new(
                word.at,
                "the condition has ended here: `and` or `or` is missing",
            )),
        }
    }
}

struct Parser<'w, 't> {
    words: &'w [Word<'t>],
    end: usize,
}

impl<'t> Parser<'_, 't> {
    fn next(&mut self) -> Option<Word<'t>> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first.clone())
    }

    fn at(&self) -> usize {
        self.words.first().map_or(self.end, |word| word.at)
    }

    /// Takes the next word if it is this one.
    fn takes(&mut self, token: &Token<'_>) -> bool {
        let fits = self.words.first().is_some_and(|word| word.token == *token);
        if fits {
            self.next();
        }
        fits
    }

    fn either(&mut self, depth: usize) -> Result<Node, ConditionError> {
        let mut parts = vec![self.both(depth)?];
        while self.takes(&Token::Name("or")) {
            parts.push(self.both(depth)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Node::Or(parts),
        })
    }

    fn both(&mut self, depth: usize) -> Result<Node, ConditionError> {
        let mut parts = vec![self.one(depth)?];
        while self.takes(&Token::Name("and")) {
            parts.push(self.one(depth)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Node::And(parts),
        })
    }

    fn one(&mut self, depth: usize) -> Result<Node, ConditionError> {
        let at = self.at();
        if depth > DEPTH {
            return Err(ConditionError::new(at, "too many parentheses"));
        }
        let Some(word) = self.next() else {
            return Err(ConditionError::new(at, "something is missing here"));
        };
        match word.token {
            Token::Name("not") => Ok(Node::Not(Box::new(self.one(depth + 1)?))),
            Token::Name("true") => Ok(Node::Constant(true)),
            Token::Name("false") => Ok(Node::Constant(false)),
            Token::Mark("(") => {
                let inner = self.either(depth + 1)?;
                self.closes(")")?;
                Ok(inner)
            }
            Token::Name("has") => {
                self.opens("(")?;
                let field = self.field()?;
                self.closes(")")?;
                Ok(Node::Has(field))
            }
            Token::Name(name) => self.about(known(word.at, name)?, word.at),
            _ => Err(ConditionError::new(at, "a name, `not` or `(` belongs here")),
        }
    }

    fn opens(&mut self, mark: &'static str) -> Result<(), ConditionError> {
        let at = self.at();
        match self.takes(&Token::Mark(mark)) {
            true => Ok(()),
            false => Err(ConditionError::new(at, format!("`{mark}` is missing"))),
        }
    }

    fn closes(&mut self, mark: &'static str) -> Result<(), ConditionError> {
        self.opens(mark)
    }

    fn field(&mut self) -> Result<&'static Field, ConditionError> {
        let at = self.at();
        match self.next().map(|word| word.token) {
            Some(Token::Name(name)) => known(at, name),
            _ => Err(ConditionError::new(
                at,
                "the name of an attribute belongs here",
            )),
        }
    }

    /// What is asked about a field.
    fn about(&mut self, field: &'static Field, at: usize) -> Result<Node, ConditionError> {
        if self.takes(&Token::Name("in")) {
            let list = self.list(field.kind)?;
            return match field.kind {
                Kind::Number | Kind::Text => Ok(Node::In(field, list)),
                _ => Err(ConditionError::new(
                    at,
                    "`in` asks about a number or a text",
                )),
            };
        }
        if self.takes(&Token::Name("any")) {
            let list = self.list(Kind::Text)?;
            return match field.kind {
                Kind::List => Ok(Node::Any(field, list)),
                _ => Err(ConditionError::new(at, "`any` asks about a list")),
            };
        }
        if self.takes(&Token::Name("starts")) {
            let begin = self.literal(Kind::Text)?;
            return match (field.kind, begin) {
                (Kind::Text, Literal::Text(begin)) => Ok(Node::Starts(field, begin)),
                _ => Err(ConditionError::new(at, "`starts` asks about a text")),
            };
        }
        let Some(order) = self.order() else {
            return match field.kind {
                Kind::Flag => Ok(Node::Flag(field)),
                kind => Err(ConditionError::new(
                    at,
                    format!("{} is a {kind} and no flag: compare it", field.name),
                )),
            };
        };
        if field.kind == Kind::List {
            return Err(ConditionError::new(at, "a list is asked with `any [...]`"));
        }
        let ordered = !matches!(order, Order::Equal | Order::Unequal);
        if ordered && field.kind != Kind::Number {
            return Err(ConditionError::new(at, "only numbers are more or less"));
        }
        Ok(Node::Compare(field, order, self.literal(field.kind)?))
    }

    fn order(&mut self) -> Option<Order> {
        let orders = [
            ("==", Order::Equal),
            ("!=", Order::Unequal),
            ("<", Order::Less),
            ("<=", Order::AtMost),
            (">", Order::More),
            (">=", Order::AtLeast),
        ];
        let mut orders = orders.into_iter();
        orders
            .find(|(mark, _)| self.takes(&Token::Mark(mark)))
            .map(|(_, order)| order)
    }

    fn list(&mut self, kind: Kind) -> Result<Vec<Literal>, ConditionError> {
        self.opens("[")?;
        let mut list = vec![self.literal(kind)?];
        while self.takes(&Token::Mark(",")) {
            list.push(self.literal(kind)?);
        }
        self.closes("]")?;
        Ok(list)
    }

    fn literal(&mut self, kind: Kind) -> Result<Literal, ConditionError> {
        let at = self.at();
        let literal = match self.next().map(|word| word.token) {
            Some(Token::Name("true")) => Some(Literal::Flag(true)),
            Some(Token::Name("false")) => Some(Literal::Flag(false)),
            Some(Token::Number(number)) => Some(Literal::Number(number)),
            Some(Token::Text(text)) => Some(Literal::Text(text.to_owned())),
            _ => None,
        };
        literal
            .filter(|literal| literal.kind() == kind)
            .ok_or_else(|| ConditionError::new(at, format!("a {kind} belongs here")))
    }
}

fn known(at: usize, name: &str) -> Result<&'static Field, ConditionError> {
    if let Some(field) = FIELDS.iter().find(|field| field.name == name) {
        return Ok(field);
    }
    let near = FIELDS
        .iter()
        .map(|field| (distance(field.name, name), field.name));
    let nearest = near.min().filter(|(distance, _)| *distance <= 3);
    Err(ConditionError::new(
        at,
        match nearest {
            Some((_, nearest)) => format!("{name} is not known; {nearest} is"),
            None => format!("{name} is not known"),
        },
    ))
}
