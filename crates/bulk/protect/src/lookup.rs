//! Columns by their names, and what is said of a file that has no such column.

use keywright_format::{Format, Rules};
use keywright_tabular::Error;
use keywright_tabular::csv::Layout;

use crate::protection::Entry;

/// The columns of a file, for those who look for some of them. No name is shown but those asked for: a file without a
/// header has data there.
#[derive(Debug)]
pub struct Lookup<'l> {
    layout: &'l Layout,
    /// The names that are looked for.
    asked: Vec<String>,
    formats: Vec<Format>,
}

impl<'l> Lookup<'l> {
    /// For the columns of rules.
    #[must_use]
    pub fn of_rules(layout: &'l Layout, rules: &Rules) -> Self {
        let rules = rules.columns().iter();
        Self {
            layout,
            asked: rules.clone().map(|rule| rule.name().to_owned()).collect(),
            formats: rules.filter_map(|rule| rule.format().cloned()).collect(),
        }
    }

    pub(crate) fn of_entries(layout: &'l Layout, entries: &[Entry]) -> Self {
        let formats = entries.iter().filter_map(|entry| entry.described().ok()?);
        Self {
            layout,
            asked: entries.iter().map(|entry| entry.name.clone()).collect(),
            formats: formats.map(|(format, _)| format).collect(),
        }
    }

    pub(crate) const fn layout(&self) -> &'l Layout {
        self.layout
    }

    /// The index of a column.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`], with what may be said of the columns there are.
    pub fn column(&self, name: &str) -> Result<usize, Error> {
        self.layout.column(name).map_err(|error| match error {
            Error::UnknownColumn { column, .. } => {
                let asked: Vec<&str> = self.asked.iter().map(String::as_str).collect();
                let header = self.layout.header_names(&asked, |name| self.is_value(name));
                Error::UnknownColumn { column, header }
            }
            other => other,
        })
    }

    fn is_value(&self, name: &str) -> bool {
        let mut formats = self.formats.iter();
        formats.any(|format| format.finder().fits(name.as_bytes()))
    }
}
