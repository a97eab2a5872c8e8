//! Words of conditions.

use super::condition::ConditionError;

/// A word, and at which character it begins, from 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word<'a> {
    pub(super) at: usize,
    pub(super) token: Token<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Number(i64),
    Text(&'a str),
    /// `(`, `)`, `[`, `]`, `,`, `==`, `!=`, `<`, `<=`, `>`, `>=`.
    Mark(&'static str),
}

/// Longer marks stand before those that they begin with.
const MARKS: [&str; 11] = ["==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ","];

/// Cuts a condition into words.
pub(super) fn words(text: &str) -> Result<Vec<Word<'_>>, ConditionError> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            return Ok(found);
        };
        let at = text
            .get(..text.len() - rest.len())
            .unwrap_or_default()
            .chars()
            .count();
        let (token, length) = match first {
            '"' => quoted(rest, at)?,
            '-' | '0'..='9' => number(rest, at)?,
            'a'..='z' | 'A'..='Z' | '_' => name(rest),
            _ => mark(rest, first, at)?,
        };
        found.push(Word { at, token });
        rest = rest.get(length..).unwrap_or_default();
    }
}

fn quoted(rest: &str, at: usize) -> Result<(Token<'_>, usize), ConditionError> {
    let inner = rest.get(1..).unwrap_or_default();
    let end = inner
        .find('"')
        .ok_or_else(|| ConditionError::new(at, "this text has no end"))?;
    Ok((Token::Text(inner.get(..end).unwrap_or_default()), end + 2))
}

fn number(rest: &str, at: usize) -> Result<(Token<'_>, usize), ConditionError> {
    let digits = rest
        .char_indices()
        .skip(1)
        .find(|(_, c)| !c.is_ascii_alphanumeric());
    let length = digits.map_or(rest.len(), |(index, _)| index);
    let number = rest.get(..length).unwrap_or_default().parse();
    let number = number.map_err(|_| ConditionError::new(at, "this is not a whole number"))?;
    Ok((Token::Number(number), length))
}

fn name(rest: &str) -> (Token<'_>, usize) {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = rest.find(|c| !letters(c)).unwrap_or(rest.len());
    (Token::Name(rest.get(..length).unwrap_or_default()), length)
}

fn mark(rest: &str, first: char, at: usize) -> Result<(Token<'_>, usize), ConditionError> {
    let known = MARKS.into_iter().find(|mark| rest.starts_with(mark));
    known
        .map(|mark| (Token::Mark(mark), mark.len()))
        .ok_or_else(|| {
            let hint = match first {
                '=' => "write == to compare",
                '&' => "write `and`",
                '|' => "write `or`",
                '!' => "write `not`",
                _ => "nothing begins with this character",
            };
            ConditionError::new(at, hint)
        })
}
