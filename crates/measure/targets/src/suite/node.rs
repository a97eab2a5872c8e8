//! Tables and values of a suite file with the line they stand in.
//!
//! Values are taken out by what they must be; what they are not is an error that names field and line.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use keywright_measure::plan::{parse_count, parse_size, parse_time};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Error, Place, Problem, cut};
use super::nearest::nearest;

/// A file: its name, and where its lines begin.
#[derive(Clone, Debug)]
pub(super) struct Source {
    name: Arc<str>,
    starts: Vec<usize>,
}

impl Source {
    pub(super) fn new(name: &str, text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            name: name.into(),
            starts: breaks.map(|(at, _)| at + 1).collect(),
        }
    }

    /// The line in which a byte stands.
    pub(super) fn place(&self, byte: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= byte) + 1;
        Place::new(self.name.clone(), u32::try_from(line).ok())
    }

    /// The file as a whole.
    pub(super) fn whole(&self) -> Place {
        Place::new(self.name.clone(), None)
    }

    pub(super) fn error(&self, byte: usize, problem: Problem) -> Error {
        Error::new(self.place(byte), problem)
    }
}

/// Something, and where it was said.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) place: Place,
}

impl<T> Located<T> {
    pub(super) fn error(&self, problem: Problem) -> Error {
        Error::new(self.place.clone(), problem)
    }
}

/// A table with known keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'a> {
    source: &'a Source,
    table: &'a DeTable<'a>,
    name: &'static str,
    start: usize,
}

impl<'a> Section<'a> {
    /// The file's outermost table.
    pub(super) fn root(
        source: &'a Source,
        table: &'a Spanned<DeTable<'a>>,
        keys: &[&'static str],
    ) -> Result<Self, Error> {
        let section = Self {
            source,
            table: table.get_ref(),
            name: "a suite",
            start: 0,
        };
        section.knows(keys).map(|()| section)
    }

    fn knows(&self, keys: &[&'static str]) -> Result<(), Error> {
        for (key, _) in self.table {
            let word: &str = key.get_ref();
            if !keys.contains(&word) {
                let near = nearest(word, keys.iter().copied(), 1);
                let problem = Problem::UnknownKey {
                    table: self.name,
                    key: cut(word),
                    nearest: near.first().map(|name| (*name).to_owned()),
                };
                return Err(self.source.error(key.span().start, problem));
            }
        }
        Ok(())
    }

    pub(super) fn error(&self, problem: Problem) -> Error {
        self.source.error(self.start, problem)
    }

    /// A key's value. The field is how errors call it.
    pub(super) fn get(&self, key: &str, field: &'static str) -> Option<Item<'a>> {
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(Item {
            source: self.source,
            value,
            field,
        })
    }

    pub(super) fn need(&self, key: &'static str, field: &'static str) -> Result<Item<'a>, Error> {
        let missing = || Problem::Missing {
            table: self.name,
            key,
        };
        self.get(key, field).ok_or_else(|| self.error(missing()))
    }
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    source: &'a Source,
    value: &'a Spanned<DeValue<'a>>,
    field: &'static str,
}

impl<'a> Item<'a> {
    pub(super) fn place(&self) -> Place {
        self.source.place(self.value.span().start)
    }

    pub(super) fn error(&self, problem: Problem) -> Error {
        Error::new(self.place(), problem)
    }

    pub(super) fn located<T>(&self, value: T) -> Located<T> {
        Located {
            value,
            place: self.place(),
        }
    }

    fn wrong_type(&self, expected: &'static str) -> Error {
        self.error(Problem::WrongType {
            field: self.field,
            expected,
            found: type_name(self.value.get_ref()),
        })
    }

    pub(super) fn form(&self, text: &str, form: &'static str) -> Error {
        self.error(Problem::Form {
            field: self.field,
            text: cut(text),
            form,
        })
    }

    fn range(&self, least: impl ToString, most: impl ToString) -> Error {
        self.error(Problem::Range {
            field: self.field,
            least: least.to_string().into(),
            most: most.to_string().into(),
        })
    }

    pub(super) fn is_text(&self) -> bool {
        self.value.get_ref().is_str()
    }

    pub(super) fn text(&self) -> Result<&'a str, Error> {
        let text = self.value.get_ref().as_str();
        text.ok_or_else(|| self.wrong_type("a text"))
    }

    /// A text that is not empty and has no control characters.
    pub(super) fn name(&self) -> Result<&'a str, Error> {
        let text = self.text()?;
        if text.is_empty() || text.chars().count() > 200 || text.chars().any(char::is_control) {
            return Err(self.form(text, "a name of 1 to 200 printable characters"));
        }
        Ok(text)
    }

    /// One of a few words; its place among them.
    pub(super) fn word(&self, allowed: &'static [&'static str]) -> Result<usize, Error> {
        let word = self.text()?;
        let found = allowed.iter().position(|name| *name == word);
        found.ok_or_else(|| {
            let near = nearest(word, allowed.iter().copied(), 1);
            self.error(Problem::UnknownWord {
                field: self.field,
                word: cut(word),
                allowed,
                nearest: near.first().map(|name| (*name).to_owned()),
            })
        })
    }

    /// A whole number, also as text with a suffix: 10000 or "10k".
    pub(super) fn whole(&self, range: RangeInclusive<u64>) -> Result<u64, Error> {
        let found = match self.value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            DeValue::String(text) => {
                let form = "a count such as 500 or 10k";
                Some(parse_count(text).ok_or_else(|| self.form(text, form))?)
            }
            _ => return Err(self.wrong_type("a whole number")),
        };
        found
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.range(range.start(), range.end()))
    }

    pub(super) fn whole32(&self, range: RangeInclusive<u32>) -> Result<u32, Error> {
        let wide = u64::from(*range.start())..=u64::from(*range.end());
        let number = self.whole(wide)?;
        u32::try_from(number).map_err(|_| self.range(range.start(), range.end()))
    }

    /// A number, also as text with a suffix: 2000, 0.5 or "10k".
    pub(super) fn number(&self, range: RangeInclusive<f64>) -> Result<f64, Error> {
        let found = match self.value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::String(text) => {
                let form = "a number such as 500 or 10k";
                let count = parse_count(text).ok_or_else(|| self.form(text, form))?;
                Some(count as f64)
            }
            _ => return Err(self.wrong_type("a number")),
        };
        found
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.range(range.start(), range.end()))
    }

    /// A time with its unit: "500ms".
    pub(super) fn time(&self, range: RangeInclusive<Duration>) -> Result<Duration, Error> {
        let text = self.value.get_ref().as_str();
        let text = text.ok_or_else(|| self.wrong_type(TIME))?;
        let time = parse_time(text).ok_or_else(|| self.form(text, TIME))?;
        if !range.contains(&time) {
            let show = |time: &Duration| format!("{time:?}");
            return Err(self.range(show(range.start()), show(range.end())));
        }
        Ok(time)
    }

    /// A size in bytes: 1024 or "1KiB".
    pub(super) fn size(&self, range: RangeInclusive<u64>) -> Result<u64, Error> {
        let Some(text) = self.value.get_ref().as_str() else {
            return self.whole(range);
        };
        let bytes =
            parse_size(text).ok_or_else(|| self.form(text, "a size such as 32B or 4KiB"))?;
        if !range.contains(&bytes) {
            return Err(self.range(range.start(), range.end()));
        }
        Ok(bytes)
    }

    /// The values of a list.
    pub(super) fn list(&self) -> Result<Vec<Self>, Error> {
        let DeValue::Array(values) = self.value.get_ref() else {
            return Err(self.wrong_type("a list"));
        };
        if values.is_empty() || values.len() > MOST_VALUES {
            return Err(self.error(Problem::Range {
                field: self.field,
                least: "1".into(),
                most: format!("{MOST_VALUES} values").into(),
            }));
        }
        Ok(values.iter().map(|value| Self { value, ..*self }).collect())
    }

    /// The values of a list, or the one value that is none.
    pub(super) fn one_or_many(&self) -> Result<Vec<Self>, Error> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.list(),
            _ => Ok(vec![*self]),
        }
    }

    /// A table with these keys.
    pub(super) fn section(
        &self,
        name: &'static str,
        keys: &[&'static str],
    ) -> Result<Section<'a>, Error> {
        let section = self.any_section(name)?;
        section.knows(keys).map(|()| section)
    }

    fn any_section(&self, name: &'static str) -> Result<Section<'a>, Error> {
        let DeValue::Table(table) = self.value.get_ref() else {
            return Err(self.wrong_type("a table"));
        };
        Ok(Section {
            source: self.source,
            table,
            name,
            start: self.value.span().start,
        })
    }

    /// The entries of a table whose keys are names of the author's choice.
    pub(super) fn entries(&self, name: &'static str) -> Result<Vec<(&'a str, Self)>, Error> {
        let section = self.any_section(name)?;
        if section.table.len() > MOST_VALUES {
            return Err(self.error(Problem::TooMany {
                what: "entries in a table",
                most: MOST_VALUES,
            }));
        }
        let entries = section.table.iter();
        Ok(entries
            .map(|(key, value)| {
                let name: &'a str = key.get_ref();
                (name, Self { value, ..*self })
            })
            .collect())
    }
}

const TIME: &str = "a time with its unit, such as 500ms or 30s";
/// The most values of a list.
const MOST_VALUES: usize = 1000;

const fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
