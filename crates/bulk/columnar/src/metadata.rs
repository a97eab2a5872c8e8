//! What a file says besides its rows: which of it an output keeps.
//!
//! Metadata is a place for values: Polars lists those of an Enum in the schema, pandas keeps what a user attached, others
//! keep statistics, samples and schemas of their own. The rules, for both forms of file:
//!
//! 1. Metadata of a field that changes, and of those it is within, goes, but for the field's number.
//! 2. What is known is parsed and rewritten: the Arrow schema within Parquet ([`schema`]), the names and types that
//!    pandas notes ([`pandas`]).
//! 3. What cannot be left out, such as the time zone of a type, is searched for the values of the columns that are
//!    protected; a file in which it holds one is refused.
//! 4. Everything else goes if it is not readable, that is if it looks encoded ([`expand`]). The rest is searched for the
//!    values of the columns that are protected ([`search`]), also where they are escaped, before anything is written. An
//!    entry that holds one goes. The summary names each entry that went.
//!
//! Most files have nothing for the last two rules; only then their columns are not gone through before.

mod expand;
mod pandas;
mod schema;
mod search;
mod zones;

use std::collections::HashSet;

use arrow_schema::{Schema, SchemaRef};
use keywright_protect::{Direction, Plan};
use keywright_tabular::looks_like_data;

pub(crate) use self::schema::zones_of;
use self::search::Search;
pub(crate) use self::search::is_left_out;
pub(crate) use self::zones::is_zone;
use crate::error::{Error, Trouble};
use crate::table::Batch;

/// Gives each batch of the columns that change.
type LookThrough<'l> = &'l mut dyn FnMut(&mut dyn FnMut(&Batch)) -> Result<(), Trouble>;

/// Gives each value of the columns that change.
type Look<'l> = &'l mut dyn FnMut(&mut dyn FnMut(&[u8])) -> Result<(), Trouble>;

/// The metadata of an output.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    /// The schema of an Arrow file.
    pub(crate) schema: Option<SchemaRef>,
    /// The pairs in the footer. In Parquet a key may have no value.
    pub(crate) pairs: Vec<(String, Option<String>)>,
    /// The name of the program that has written a Parquet file.
    pub(crate) created_by: Option<String>,
    /// Entries that are left out, as a person would name them.
    pub(crate) left_out: Vec<String>,
}

/// The metadata of an input, and the paths of the columns that change.
#[derive(Debug)]
pub(crate) struct Source<'m> {
    pub(crate) schema: Option<&'m Schema>,
    pub(crate) pairs: Vec<(&'m str, Option<&'m str>)>,
    pub(crate) created_by: Option<&'m str>,
    /// What cannot be left out, and is searched: what it is, and the text.
    pub(crate) texts: Vec<(String, &'m str)>,
    /// The names of all columns, and of those that they are within.
    pub(crate) names: HashSet<&'m str>,
    pub(crate) changed: Vec<Vec<String>>,
}

/// Entries, asked for one after the other whether they stay.
pub(crate) struct Judge<'s> {
    /// What was found in those that were asked for before; nothing where all are kept and taken.
    found: Option<&'s Search>,
    texts: Vec<String>,
    asked: usize,
    left_out: Vec<String>,
}

impl<'s> Judge<'s> {
    const fn new(found: Option<&'s Search>) -> Self {
        Self {
            found,
            texts: Vec::new(),
            asked: 0,
            left_out: Vec::new(),
        }
    }

    /// Whether an entry stays: its place, its key and what it holds.
    fn keeps(&mut self, place: &str, key: &str, value: &str) -> bool {
        let Some(found) = self.found else {
            self.texts.extend([key.to_owned(), value.to_owned()]);
            return true;
        };
        let (in_key, in_value) = (found.is_hit(self.asked), found.is_hit(self.asked + 1));
        self.asked += 2;
        if in_key {
            self.left_out
                .push(format!("{place}: an entry whose name may hold a value"));
        } else if in_value {
            self.left_out.push(format!("{place}: {key:?}"));
        }
        !in_key && !in_value
    }

    /// Whether a text that cannot be left out holds a value.
    fn has_value(&mut self, text: &str) -> bool {
        let Some(found) = self.found else {
            self.texts.push(text.to_owned());
            return false;
        };
        self.asked += 1;
        found.is_hit(self.asked - 1)
    }

    fn leaves_out(&mut self, place: &str, key: &str) {
        if self.found.is_some() {
            self.left_out.push(format!("{place}: {key:?}"));
        }
    }
}

impl<'m> Source<'m> {
    /// Searches also the names of columns and of fields within them, each with the index of the column, that have the
    /// shape of data: they are written as they are. The rules of masks have no format by which a name could be told.
    pub(crate) fn with_names(mut self, names: &'m [(usize, String)]) -> Self {
        for (column, name) in names {
            let is_own = self.changed.iter().flatten().any(|own| own == name);
            if !is_own && looks_like_data(name) {
                self.names.remove(name.as_str());
                let what = format!(
                    "the name of column number {}, or of a field in it,",
                    column + 1
                );
                self.texts.insert(0, (what, name));
            }
        }
        self
    }

    /// What stays of the metadata. Where values are to be protected, `look` gives each of them to the function.
    fn clean(&self, look: Option<Look<'_>>) -> Result<Metadata, Trouble> {
        let mut judge = Judge::new(None);
        self.judge_texts(&mut judge)?;
        self.made(&mut judge);
        let texts = match look {
            Some(_) => judge.texts,
            None => Vec::new(),
        };
        let mut search = Search::new(&texts, &self.names);
        if let Some(look) = look
            && search.has_texts()
        {
            look(&mut |value| search.look(value))?;
        }
        let mut judge = Judge::new(Some(&search));
        self.judge_texts(&mut judge)?;
        let mut made = self.made(&mut judge);
        // An entry may be there twice.
        let mut told = HashSet::new();
        made.left_out = judge.left_out;
        made.left_out.retain(|entry| told.insert(entry.clone()));
        Ok(made)
    }

    fn judge_texts(&self, judge: &mut Judge<'_>) -> Result<(), Error> {
        for (what, text) in &self.texts {
            if judge.has_value(text) {
                return Err(Error::Text { what: what.clone() });
            }
        }
        Ok(())
    }

    /// As [`Source::clean`]; `look` gives the batches of the columns that change.
    pub(crate) fn clean_for(
        &self,
        plan: &Plan,
        look: LookThrough<'_>,
    ) -> Result<Metadata, Trouble> {
        // What is revealed or migrated holds no values yet.
        if plan.direction() != Direction::Protect {
            return self.clean(None);
        }
        let columns = self.changed.len();
        self.clean(Some(&mut |take| {
            look(&mut |batch| {
                for column in 0..columns {
                    let cells = (0..batch.rows()).filter_map(|row| batch.cell(column, row));
                    cells.for_each(&mut *take);
                }
            })
        }))
    }

    fn made(&self, judge: &mut Judge<'_>) -> Metadata {
        let place = "footer";
        let mut pairs = Vec::with_capacity(self.pairs.len());
        for (key, value) in &self.pairs {
            let Some(text) = value else {
                if judge.keeps(place, key, "") {
                    pairs.push(((*key).to_owned(), None));
                }
                continue;
            };
            let value = self.pair(place, (key, text), judge);
            pairs.extend(value.map(|value| ((*key).to_owned(), Some(value))));
        }
        let schema = self.schema.map(|schema| {
            let own = schema::clean(schema, self, judge);
            SchemaRef::new(own)
        });
        let created_by = self
            .created_by
            .filter(|name| is_writer(name) || judge.keeps(place, "created_by", name));
        Metadata {
            schema,
            pairs,
            created_by: created_by.map(str::to_owned),
            left_out: Vec::new(),
        }
    }

    /// What stays of a pair: its value, unchanged or rewritten.
    fn pair(
        &self,
        place: &str,
        (key, value): (&str, &str),
        judge: &mut Judge<'_>,
    ) -> Option<String> {
        match key {
            schema::KEY => {
                let made = schema::rewritten(value, self, judge);
                if made.is_none() {
                    judge.leaves_out(place, key);
                }
                made
            }
            pandas::KEY => match pandas::rewritten(value, self) {
                Some((made, unknown)) => {
                    (unknown.is_empty() || judge.keeps(place, key, &unknown)).then_some(made)
                }
                None => judge.keeps(place, key, value).then(|| value.to_owned()),
            },
            _ => judge.keeps(place, key, value).then(|| value.to_owned()),
        }
    }
}

/// Whether a name is that of a program that is known, with its version: it need not be searched.
fn is_writer(name: &str) -> bool {
    const KNOWN: [&str; 8] = [
        "Polars",
        "DuckDB",
        "parquet-cpp-arrow",
        "parquet-cpp",
        "parquet-mr",
        "parquet-rs",
        "fastparquet-python",
        "impala",
    ];
    let (program, rest) = name.split_once(' ').unwrap_or((name, ""));
    let rest = rest.strip_prefix("(python) ").unwrap_or(rest);
    let is_short = |part: &str| part.len() <= 48;
    KNOWN.contains(&program)
        && (rest.is_empty() || rest.starts_with("version "))
        && rest.split(' ').count() <= 4
        && rest.split(' ').all(is_short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_writers_are_not_searched_for() {
        for name in [
            "Polars",
            "Polars (python) version 2.1.0 (build 7f902bd3ffd27ff82d14278a09a295ff2f7aed92)",
            "parquet-cpp-arrow version 26.0.0",
            "DuckDB version v2.0.0 (build 0123456789)",
            "parquet-mr version 1.13.1 (build db4183109d5b734ec5930d870cdae161e408ddba)",
            "fastparquet-python version 2026.9.0 (build 0)",
        ] {
            assert!(is_writer(name), "{name}");
        }
        for name in [
            "",
            "4111111111111111",
            "Polars 4111111111111111",
            "Smith version 1",
        ] {
            assert!(!is_writer(name), "{name}");
        }
    }
}
