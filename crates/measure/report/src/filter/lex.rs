//! The signs and words of a condition, each with its place.

use super::{FilterError, FilterFault};

/// One sign or word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Relation(Relation),
    /// Letters, digits and the marks of names, numbers and globs.
    Bare(String),
    /// What stood in quotes.
    Quoted(String),
}

/// A relation, before it is known what it compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Like,
    Unequal,
}

/// A token and the character it begins at, counted from 1.
pub(super) type Placed = (usize, Token);

const RELATIONS: [(&str, Relation); 7] = [
    ("<=", Relation::LessOrEqual),
    (">=", Relation::GreaterOrEqual),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    ("<", Relation::Less),
    (">", Relation::Greater),
    ("~", Relation::Like),
];

impl Relation {
    pub(super) fn text(self) -> &'static str {
        let mut all = RELATIONS.iter();
        all.find(|(_, relation)| *relation == self)
            .map_or("", |(text, _)| text)
    }
}

impl Token {
    /// As an error message shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
            Self::Relation(relation) => relation.text().to_owned(),
            Self::Bare(text) | Self::Quoted(text) => format!("{text:?}"),
        }
    }
}

/// All tokens of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, FilterError> {
    let mut found = Vec::new();
    let (mut rest, mut position) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (token, bytes) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '(' => (Some(Token::Open), 1),
            ')' => (Some(Token::Close), 1),
            '"' | '\'' => quoted(rest, first).map_or_else(
                || Err(FilterError::at(position, FilterFault::OpenQuote)),
                |(token, bytes)| Ok((Some(token), bytes)),
            )?,
            _ if in_word(first) => word(rest),
            _ => relation(rest)
                .ok_or_else(|| FilterError::at(position, FilterFault::Stray(first)))?,
        };
        found.extend(token.map(|token| (position, token)));
        let (taken, left) = rest.split_at(bytes);
        position += taken.chars().count();
        rest = left;
    }
    Ok(found)
}

fn quoted(text: &str, quote: char) -> Option<(Token, usize)> {
    let inner = text.strip_prefix(quote)?;
    let end = inner.find(quote)?;
    let token = Token::Quoted(inner.get(..end)?.to_owned());
    Some((token, end + 2 * quote.len_utf8()))
}

fn word(text: &str) -> (Option<Token>, usize) {
    let end = text.find(|c| !in_word(c)).unwrap_or(text.len());
    let word = text.get(..end).unwrap_or_default();
    (Some(Token::Bare(word.to_owned())), end)
}

fn relation(text: &str) -> Option<(Option<Token>, usize)> {
    let mut all = RELATIONS.iter();
    let (sign, relation) = all.find(|(sign, _)| text.starts_with(sign))?;
    Some((Some(Token::Relation(*relation)), sign.len()))
}

pub(super) fn in_word(c: char) -> bool {
    c.is_alphanumeric() || "_.-+*?/:@%".contains(c)
}
