//! From tokens to a tree, and back to text.

use std::fmt;
use std::vec::IntoIter;

use keywright_measure::verdict::Word;

use super::lex::{self, Placed, Relation, Token};
use super::{
    DEEPEST, Equality, Expression, FilterError, FilterFault, LONGEST, Likeness, NumberField, Order,
    TextField,
};

impl FilterError {
    pub(super) const fn at(position: usize, fault: FilterFault) -> Self {
        Self { position, fault }
    }
}

pub(super) fn condition(text: &str) -> Result<Expression, FilterError> {
    if text.len() > LONGEST {
        return Err(FilterError::at(1, FilterFault::TooLong));
    }
    let mut reader = Reader {
        tokens: lex::tokens(text)?.into_iter(),
        end: text.chars().count() + 1,
    };
    let expression = reader.any(0)?;
    match reader.next() {
        None => Ok(expression),
        Some(found) => Err(reader.unexpected("`and`, `or` or the end", Some(found))),
    }
}

struct Reader {
    tokens: IntoIter<Placed>,
    end: usize,
}

impl Reader {
    fn next(&mut self) -> Option<Placed> {
        self.tokens.next()
    }

    /// Takes a keyword if it is the next token.
    fn take(&mut self, keyword: &str) -> bool {
        let next = self.tokens.as_slice().first();
        let there = matches!(next, Some((_, Token::Bare(word))) if word == keyword);
        if there {
            self.tokens.next();
        }
        there
    }

    fn place(&self) -> usize {
        let next = self.tokens.as_slice().first();
        next.map_or(self.end, |(position, _)| *position)
    }

    fn unexpected(&self, wanted: &'static str, found: Option<Placed>) -> FilterError {
        let (position, found) = found.map_or_else(
            || (self.end, "the end".to_owned()),
            |(position, token)| (position, token.shown()),
        );
        FilterError::at(position, FilterFault::Unexpected { wanted, found })
    }

    fn any(&mut self, depth: usize) -> Result<Expression, FilterError> {
        let first = self.all(depth)?;
        let mut parts = vec![first];
        while self.take("or") {
            parts.push(self.all(depth)?);
        }
        Ok(joined(parts, Expression::Or))
    }

    fn all(&mut self, depth: usize) -> Result<Expression, FilterError> {
        let first = self.one(depth)?;
        let mut parts = vec![first];
        while self.take("and") {
            parts.push(self.one(depth)?);
        }
        Ok(joined(parts, Expression::And))
    }

    fn one(&mut self, depth: usize) -> Result<Expression, FilterError> {
        let position = self.place();
        if depth > DEEPEST {
            return Err(FilterError::at(position, FilterFault::TooDeep));
        }
        if self.take("not") {
            return Ok(Expression::Not(Box::new(self.one(depth + 1)?)));
        }
        match self.next() {
            Some((_, Token::Open)) => {
                let inner = self.any(depth + 1)?;
                match self.next() {
                    Some((_, Token::Close)) => Ok(inner),
                    found => Err(self.unexpected("`)`, `and` or `or`", found)),
                }
            }
            Some((position, Token::Bare(field))) => self.comparison(position, &field),
            found => Err(self.unexpected("a field, `not` or `(`", found)),
        }
    }

    fn comparison(&mut self, position: usize, name: &str) -> Result<Expression, FilterError> {
        let field = Field::named(name)
            .ok_or_else(|| FilterError::at(position, FilterFault::UnknownField(name.to_owned())))?;
        let (place, relation) = match self.next() {
            Some((place, Token::Relation(relation))) => (place, relation),
            found => return Err(self.unexpected("a relation such as < or ==", found)),
        };
        let (value_place, value) = match self.next() {
            Some((place, Token::Bare(value) | Token::Quoted(value))) => (place, value),
            found => return Err(self.unexpected("a number or a text", found)),
        };
        let wrong = || FilterError::at(place, FilterFault::WrongRelation);
        match field {
            Field::Number(field) => {
                let order = order(relation).ok_or_else(wrong)?;
                let number = number(value).map_err(|fault| FilterError::at(value_place, fault))?;
                Ok(Expression::Number(field, order, number))
            }
            Field::Text(field) => {
                let likeness = likeness(relation).ok_or_else(wrong)?;
                text(field, likeness, value).map_err(|fault| FilterError::at(value_place, fault))
            }
        }
    }
}

/// One part stands for itself.
fn joined(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}

enum Field {
    Number(NumberField),
    Text(TextField),
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        let number = NUMBERS.iter().find(|(text, _)| *text == name);
        let text = TEXTS.iter().find(|(text, _)| *text == name);
        number
            .map(|(_, field)| Self::Number(*field))
            .or_else(|| text.map(|(_, field)| Self::Text(*field)))
    }
}

const NUMBERS: [(&str, NumberField); 6] = [
    ("errors", NumberField::Errors),
    ("ops_per_s", NumberField::OpsPerS),
    ("p50_ms", NumberField::P50Ms),
    ("p95_ms", NumberField::P95Ms),
    ("p99_ms", NumberField::P99Ms),
    ("verified", NumberField::Verified),
];
const TEXTS: [(&str, TextField); 4] = [
    ("case", TextField::Case),
    ("op", TextField::Op),
    ("target", TextField::Target),
    ("verdict", TextField::Verdict),
];
const ORDERS: [(Relation, Order); 6] = [
    (Relation::Equal, Order::Equal),
    (Relation::Greater, Order::Greater),
    (Relation::GreaterOrEqual, Order::GreaterOrEqual),
    (Relation::Less, Order::Less),
    (Relation::LessOrEqual, Order::LessOrEqual),
    (Relation::Unequal, Order::Unequal),
];

fn order(relation: Relation) -> Option<Order> {
    let mut all = ORDERS.iter();
    all.find(|(from, _)| *from == relation).map(|(_, to)| *to)
}

const fn likeness(relation: Relation) -> Option<Likeness> {
    match relation {
        Relation::Equal => Some(Likeness::Is),
        Relation::Like => Some(Likeness::Glob),
        Relation::Unequal => Some(Likeness::IsNot),
        _ => None,
    }
}

fn number(text: String) -> Result<f64, FilterFault> {
    // Rust also reads "inf" and "nan", which no figure can be compared with to any use.
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(FilterFault::NotANumber(text)),
    }
}

/// Of a verdict only words that exist can be asked for; a misspelt one would select nothing in silence.
fn text(field: TextField, likeness: Likeness, value: String) -> Result<Expression, FilterFault> {
    let equality = match (field, likeness) {
        (TextField::Verdict, Likeness::Is) => Equality::Is,
        (TextField::Verdict, Likeness::IsNot) => Equality::IsNot,
        _ => return Ok(Expression::Text(field, likeness, value)),
    };
    let word = Word::ALL.into_iter().find(|word| word.text() == value);
    word.map(|word| Expression::Verdict(equality, word))
        .ok_or(FilterFault::UnknownVerdict(value))
}

// === Back to text ===

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::And(parts) => list(out, parts, " and "),
            Self::Not(inner) => {
                out.write_str("not ")?;
                part(out, inner)
            }
            Self::Number(field, order, value) => {
                let name = name_of(&NUMBERS, *field);
                let relation = ORDERS.iter().find(|(_, to)| to == order);
                let sign = relation.map_or("", |(from, _)| from.text());
                write!(out, "{name} {sign} {value}")
            }
            Self::Or(parts) => list(out, parts, " or "),
            Self::Text(field, likeness, value) => {
                let sign = match likeness {
                    Likeness::Glob => "~",
                    Likeness::Is => "==",
                    Likeness::IsNot => "!=",
                };
                let quote = if value.contains('"') { '\'' } else { '"' };
                write!(
                    out,
                    "{} {sign} {quote}{value}{quote}",
                    name_of(&TEXTS, *field)
                )
            }
            Self::Verdict(Equality::Is, word) => write!(out, "verdict == {word}"),
            Self::Verdict(Equality::IsNot, word) => write!(out, "verdict != {word}"),
        }
    }
}

fn list(out: &mut fmt::Formatter<'_>, parts: &[Expression], between: &str) -> fmt::Result {
    for (place, one) in parts.iter().enumerate() {
        if place > 0 {
            out.write_str(between)?;
        }
        part(out, one)?;
    }
    Ok(())
}

fn part(out: &mut fmt::Formatter<'_>, part: &Expression) -> fmt::Result {
    match part {
        Expression::And(_) | Expression::Or(_) => write!(out, "({part})"),
        _ => write!(out, "{part}"),
    }
}

fn name_of<T: Copy + PartialEq>(names: &[(&'static str, T)], field: T) -> &'static str {
    let mut all = names.iter();
    all.find(|(_, one)| *one == field)
        .map_or("", |(name, _)| name)
}
