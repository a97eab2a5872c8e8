//! What a message may say of the names of columns.
//!
//! A file without a header has data in its first line, and a message that lists the names of its columns would
//! show it. Names are listed only if none of them looks like data, and one looks like a name.

use std::fmt;

use crate::detect;

/// Names that a message lists: a file of ten thousand columns must not fill a screen.
const SHOWN: usize = 40;

/// Positions that a message lists.
const COUNTED: usize = 5;

/// Bytes of the longest name that is shown.
const LONGEST: usize = 40;

/// Words of which names of columns are made, besides those that tell of sensitive data.
const WORDS: [&str; 40] = [
    "id",
    "key",
    "no",
    "nr",
    "num",
    "number",
    "count",
    "total",
    "amount",
    "price",
    "balance",
    "currency",
    "date",
    "day",
    "month",
    "year",
    "time",
    "when",
    "created",
    "updated",
    "born",
    "note",
    "notes",
    "comment",
    "comments",
    "description",
    "title",
    "type",
    "kind",
    "status",
    "state",
    "code",
    "value",
    "city",
    "country",
    "region",
    "gender",
    "age",
    "url",
    "label",
];

/// The names of the columns of a table, as far as a message may say them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderNames {
    columns: usize,
    /// Nothing if they may be data.
    names: Option<Vec<String>>,
    /// Which of them look like data, from 0.
    data: Vec<usize>,
}

impl HeaderNames {
    /// Of a table in which columns `asked` were looked for. That it has one of them, in any spelling, shows that
    /// it has names.
    pub(crate) fn new(names: &[String], asked: &[&str]) -> Self {
        let looks = names.iter().enumerate();
        let data: Vec<usize> = looks
            .filter(|(_, name)| looks_like_data(name))
            .map(|(column, _)| column)
            .collect();
        let is_asked = |name: &String| asked.iter().any(|asked| folded(asked) == folded(name));
        let are_names = names
            .iter()
            .any(|name| has_word_of_names(name) || is_asked(name));
        Self {
            columns: names.len(),
            names: (data.is_empty() && are_names).then(|| names.to_vec()),
            data,
        }
    }

    /// Without the names, if one of them is a value for the caller.
    #[must_use]
    pub fn without_values(mut self, mut is_value: impl FnMut(&str) -> bool) -> Self {
        if let Some(names) = &self.names {
            let found = names.iter().enumerate();
            let found = found.filter(|(_, name)| is_value(name));
            self.data = found.map(|(column, _)| column).collect();
        }
        if !self.data.is_empty() {
            self.names = None;
        }
        self
    }

    /// The names, if none of them looks like data.
    #[must_use]
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }
}

impl fmt::Display for HeaderNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns;
        let Some(names) = &self.names else {
            write!(f, "the first line has {columns} columns")?;
            return match self.data.as_slice() {
                [] => f.write_str(", none with a known word in its name: no header?"),
                data => write!(f, ", and data in number {}: no header?", numbers(data)),
            };
        };
        let shown = names.iter().take(SHOWN).map(|name| format!("{name:?}"));
        let shown: Vec<String> = shown.collect();
        write!(f, "the file has {}", shown.join(", "))?;
        match columns.checked_sub(SHOWN) {
            Some(more @ 1..) => write!(f, " and {more} more"),
            _ => Ok(()),
        }
    }
}

/// Positions from 1, the first of them.
fn numbers(columns: &[usize]) -> String {
    let shown = columns.iter().take(COUNTED);
    let shown: Vec<String> = shown.map(|column| (column + 1).to_string()).collect();
    let more = columns.len().saturating_sub(COUNTED);
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Whether a name is more likely a value: it has the shape of one, an `@`, more than two digits, begins with a digit or
/// a sign, is long, has many words, or bytes that no name has.
#[must_use]
pub fn looks_like_data(name: &str) -> bool {
    let digits = name.chars().filter(|c| c.is_numeric()).count();
    let begins = name
        .trim_start()
        .starts_with(|c: char| c.is_numeric() || "+-.".contains(c));
    name.len() > LONGEST
        || digits > 2
        || begins
        || name.contains('@')
        || name.chars().any(char::is_control)
        || name.split_whitespace().count() > 4
        || detect::has_shape(name.trim().as_bytes())
}

fn has_word_of_names(name: &str) -> bool {
    let words = detect::words_of(name);
    let mut words = words
        .iter()
        .map(|word| word.trim_end_matches(char::is_numeric));
    words.any(|word| WORDS.contains(&word)) || detect::tells(name)
}

/// A name without case and without what is neither letter nor digit.
fn folded(name: &str) -> String {
    detect::words_of(name).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(names: &[&str], asked: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        HeaderNames::new(&names, asked).to_string()
    }

    #[test]
    fn names_are_listed_and_control_characters_are_not() {
        assert_eq!(told(&["id", "name"], &[]), "the file has \"id\", \"name\"");
        assert_eq!(
            told(&["Karte", "x"], &["karte"]),
            "the file has \"Karte\", \"x\""
        );
        assert_eq!(
            told(&["id", "na\u{1b}me"], &[]),
            "the first line has 2 columns, and data in number 2: no header?"
        );
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<String> = (0..100).map(|n| format!("id{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(told(&names, &[]).ends_with("\"id39\" and 60 more"));
        let data: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let data: Vec<&str> = data.iter().map(String::as_str).collect();
        assert_eq!(
            told(&data, &[]),
            "the first line has 100 columns, and data in number 1, 2, 3, 4, 5 and 95 more: no header?"
        );
    }

    #[test]
    fn a_line_of_data_is_not_shown() {
        for cell in [
            "4000000000000135",
            "1",
            "-1.5",
            "+49 30 1234567",
            "ada@example.org",
            "DE89370400440532013000",
            "1990-01-30",
            "card 4111",
            "a name of more than four words",
            "one\rline",
            "averyveryveryverylongnamethatnocolumneverhad",
            "٤١١١",
        ] {
            let told = told(&["id", cell], &[]);
            assert!(!told.contains(cell), "{told}");
            assert!(
                told.contains("number 2") && told.contains("no header?"),
                "{told}"
            );
        }
    }

    #[test]
    fn plain_words_are_shown_only_if_one_is_a_word_of_names() {
        let told = told(&["Ada", "Lovelace", "London"], &["card"]);
        assert_eq!(
            told,
            "the first line has 3 columns, none with a known word in its name: no header?"
        );
    }

    #[test]
    fn what_is_a_value_for_the_caller_is_not_shown() {
        let names = ["id".to_owned(), "ABCDEF".to_owned()];
        let header = HeaderNames::new(&names, &[]);
        assert!(header.names().is_some());
        let told = header.without_values(|name| name == "ABCDEF").to_string();
        assert_eq!(
            told,
            "the first line has 2 columns, and data in number 2: no header?"
        );
    }
}
