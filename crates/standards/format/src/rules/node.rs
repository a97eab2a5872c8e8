//! Tables and values of a rules file, with the place where they stand.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{OnBad, SmallDomain};
use crate::error::{Error, Place, Problem};
use crate::format::Format;
use crate::mask::Mask;
use crate::syntax::{self, Argument, Call, Expression, Given, Term};
use crate::tweak::TweakPolicy;

/// Line and column of a byte.
pub(super) fn place(text: &str, byte: usize) -> Place {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(start..).map_or(0, |rest| rest.chars().count()) + 1;
    Place { line, column }
}

#[derive(Debug)]
pub(super) struct Table<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
    start: usize,
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    text: &'a str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Table<'a> {
    pub(super) const fn new(text: &'a str, table: &'a DeTable<'a>, start: usize) -> Self {
        Self { text, table, start }
    }

    fn error(&self, byte: usize, problem: Problem) -> Error {
        Error::Text {
            place: place(self.text, byte),
            problem,
        }
    }

    pub(super) fn knows(&self, keys: &[&str]) -> Result<(), Error> {
        let unknown = self
            .table
            .iter()
            .find(|(key, _)| !keys.contains(&key.get_ref().as_ref()));
        match unknown {
            Some((key, _)) => {
                let problem = Problem::Unknown("this table has no such key");
                Err(self.error(key.span().start, problem))
            }
            None => Ok(()),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(Node {
            text: self.text,
            value,
        })
    }

    pub(super) fn need(&self, key: &'static str) -> Result<Node<'a>, Error> {
        let missing = match key {
            "version" => "version = 1",
            "column" => "a [[column]]",
            _ => "a name",
        };
        self.get(key)
            .ok_or_else(|| self.error(self.start, Problem::Expected(missing)))
    }
}

impl<'a> Node<'a> {
    pub(super) fn place(&self) -> Place {
        place(self.text, self.value.span().start)
    }

    pub(super) fn error(&self, problem: Problem) -> Error {
        Error::Text {
            place: self.place(),
            problem,
        }
    }

    pub(super) fn integer(&self) -> Result<i64, Error> {
        let number = self.value.get_ref().as_integer().and_then(|number| {
            let plain = number.radix() == 10;
            number.as_str().parse().ok().filter(|_| plain)
        });
        number.ok_or_else(|| self.error(Problem::Expected("a whole number")))
    }

    fn string(&self) -> Result<&'a str, Error> {
        let text = self.value.get_ref().as_str();
        text.ok_or_else(|| self.error(Problem::Expected("a text")))
    }

    /// A text that is not empty and has no control characters.
    pub(super) fn name(&self) -> Result<String, Error> {
        let text = self.string()?;
        if text.is_empty() || text.len() > 1_024 || text.chars().any(char::is_control) {
            return Err(self.error(Problem::Expected("a name of 1 to 1024 bytes")));
        }
        Ok(text.to_owned())
    }

    pub(super) fn tables(&self) -> Result<Vec<Table<'a>>, Error> {
        let expected = || self.error(Problem::Expected("[[column]] tables"));
        let array = self.value.get_ref().as_array().ok_or_else(expected)?;
        let table = |value: &'a Spanned<DeValue<'a>>| {
            let table = value.get_ref().as_table().ok_or_else(expected)?;
            Ok(Table::new(self.text, table, value.span().start))
        };
        array.iter().map(table).collect()
    }

    pub(super) fn on_bad(&self) -> Result<OnBad, Error> {
        match self.string()? {
            "fail" => Ok(OnBad::Fail),
            "null" => Ok(OnBad::Null),
            "reject" => Ok(OnBad::Reject),
            _ => Err(self.error(Problem::Expected("fail, null or reject"))),
        }
    }

    pub(super) fn small_domain(&self) -> Result<SmallDomain, Error> {
        let text = self.string()?;
        let reason = text
            .strip_prefix("accept(")
            .and_then(|rest| rest.strip_suffix(')'));
        match (text, reason) {
            ("acknowledge", _) => Ok(SmallDomain::Acknowledge),
            ("refuse", _) => Ok(SmallDomain::Refuse),
            (_, Some(reason)) if !reason.trim().is_empty() => {
                Ok(SmallDomain::Accept(reason.to_owned()))
            }
            _ => Err(self.error(Problem::Expected("refuse, acknowledge or accept(REASON)"))),
        }
    }

    pub(super) fn mask(&self) -> Result<Mask, Error> {
        Mask::parse(self.string()?).map_err(|error| self.inside(error))
    }

    /// A text with parts, or an array of them.
    pub(super) fn tweak(&self) -> Result<TweakPolicy, Error> {
        let text = match self.value.get_ref() {
            DeValue::Array(parts) => {
                let part = |part: &'a Spanned<DeValue<'a>>| self.at(part).string();
                parts
                    .iter()
                    .map(part)
                    .collect::<Result<Vec<_>, _>>()?
                    .join(" ")
            }
            _ => self.string()?.to_owned(),
        };
        TweakPolicy::parse(&text).map_err(|error| self.inside(error))
    }

    const fn at(&self, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self {
            text: self.text,
            value,
        }
    }

    /// An error of a text within the file: its column is counted on where the text stands as it is written.
    fn inside(&self, error: Error) -> Error {
        let Error::Text { place, problem } = error else {
            return error;
        };
        let span = self.value.span();
        let raw = self.text.get(span.clone()).unwrap_or_default();
        let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        let mut at = self.place();
        if self.value.get_ref().as_str() == Some(inner) && place.line == 1 {
            at.column += place.column;
        }
        Error::Text { place: at, problem }
    }

    /// A format in any of its forms; `keep` is one more parameter of it.
    pub(super) fn format(&self, keep: Option<&Node<'_>>) -> Result<Format, Error> {
        let mut expression = self.expression()?;
        if let Some(keep) = keep {
            let [terms] = expression.as_mut_slice() else {
                return Err(keep.error(Problem::Expected("one format, not alternatives")));
            };
            let [Term::Call(call)] = terms.as_mut_slice() else {
                return Err(keep.error(Problem::Expected("one format, not a sequence")));
            };
            call.arguments.push(Argument {
                key: Some("keep".to_owned()),
                value: Given::One(keep.string()?.to_owned()),
                at: call.at,
            });
        }
        Format::compile(&expression).map_err(|error| self.inside(error))
    }

    fn expression(&self) -> Result<Expression, Error> {
        match self.value.get_ref() {
            DeValue::String(text) => syntax::parse(text).map_err(|error| self.inside(error)),
            DeValue::Array(_) => Ok(vec![self.sequence()?]),
            DeValue::Table(table) => {
                let own = Table::new(self.text, table, self.value.span().start);
                let Some(alternatives) = own.get("one_of") else {
                    return Ok(vec![vec![Term::Call(call(&own)?)]]);
                };
                own.knows(&["one_of"])?;
                let array = alternatives.value.get_ref().as_array();
                let expected = Problem::Expected("an array of formats");
                let array = array.ok_or_else(|| alternatives.error(expected))?;
                if array.is_empty() || array.len() > syntax::MOST {
                    return Err(alternatives.error(expected));
                }
                array
                    .iter()
                    .map(|value| self.at(value).sequence())
                    .collect()
            }
            _ => Err(self.error(Problem::Expected("a text, a table or an array"))),
        }
    }

    /// One sequence: of an array, of a text without alternatives, or of one call.
    fn sequence(&self) -> Result<Vec<Term>, Error> {
        let DeValue::Array(items) = self.value.get_ref() else {
            let mut expression = match self.value.get_ref() {
                DeValue::Table(table) if table.iter().any(|(key, _)| key.get_ref() == "one_of") => {
                    return Err(self.error(Problem::Expected("alternatives at the top only")));
                }
                _ => self.expression()?,
            };
            return match (expression.pop(), expression.is_empty()) {
                (Some(terms), true) => Ok(terms),
                _ => Err(self.error(Problem::Expected("alternatives at the top only"))),
            };
        };
        let mut terms = Vec::new();
        for item in items.iter() {
            let item = self.at(item);
            if item.value.get_ref().is_array() {
                return Err(item.error(Problem::Expected("no array in an array")));
            }
            terms.append(&mut item.sequence()?);
        }
        if terms.is_empty() || terms.len() > syntax::MOST {
            return Err(self.error(Problem::Expected("an item")));
        }
        Ok(terms)
    }
}

/// A call as a table: `name`, `revision`, and every other key a parameter.
fn call(table: &Table<'_>) -> Result<Call, Error> {
    let mut arguments = Vec::new();
    for (key, value) in table.table {
        let node = Node {
            text: table.text,
            value,
        };
        let key: &str = key.get_ref();
        if matches!(key, "name" | "revision") {
            continue;
        }
        let value = match value.get_ref() {
            DeValue::Array(elements) => {
                let one = |element| node.at(element).scalar();
                Given::List(elements.iter().map(one).collect::<Result<_, _>>()?)
            }
            _ => Given::One(node.scalar()?),
        };
        arguments.push(Argument {
            key: Some(key.to_owned()),
            value,
            at: 1,
        });
    }
    let revision = match table.get("revision") {
        Some(node) => Some(
            u32::try_from(node.integer()?)
                .map_err(|_| node.error(Problem::Expected("a revision")))?,
        ),
        None => None,
    };
    Ok(Call {
        name: table.need("name")?.name()?,
        revision,
        arguments,
        at: 1,
    })
}

impl Node<'_> {
    /// The text of a parameter, which may stand without quotes where TOML has a type for it.
    fn scalar(&self) -> Result<String, Error> {
        Ok(match self.value.get_ref() {
            DeValue::String(text) => text.clone().into_owned(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Datetime(moment) => moment.to_string(),
            _ => {
                return Err(self.error(Problem::Expected(
                    "a text, a number, a date or a list of them",
                )));
            }
        })
    }
}
