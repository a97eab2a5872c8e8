//! What a message may say of the names of columns.
//!
//! A file without a header has data in its first line, and nothing tells a word of data from a name for certain:
//! `jones,hunter2,card` may be either. So a message has the names that the caller gave himself, and of all others
//! only their number and positions. A table of columns shows a name besides if all of its words are known ones.

use std::fmt;

use crate::detect;

/// Names that a message lists: a file of ten thousand columns must not fill a screen.
const SHOWN: usize = 40;

/// Positions that a message lists.
const COUNTED: usize = 5;

/// Bytes of the longest name that is not taken for data.
const LONGEST: usize = 40;

/// Words of which names of columns are made, besides those by which sensitive data are found.
const WORDS: [&str; 66] = [
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
    "first",
    "last",
    "full",
    "middle",
    "customer",
    "user",
    "client",
    "order",
    "product",
    "item",
    "company",
    "department",
    "start",
    "end",
    "valid",
    "until",
    "from",
    "to",
    "other",
    "text",
    "row",
    "line",
    "group",
    "category",
    "quantity",
    "name",
];

/// What a message says of the columns of a table: how many there are, which of them the caller has named, and
/// which look like data. No cell of the first line is in it that the caller has not written himself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderNames {
    columns: usize,
    /// Names that were asked for, and that the table has.
    present: Vec<String>,
    /// Columns with a name that was asked for in another spelling, from 0.
    similar: Vec<usize>,
    /// Columns whose names look like data, from 0.
    data: Vec<usize>,
    has_request: bool,
}

impl HeaderNames {
    /// Of a table in which columns `asked` were looked for; `is_value` tells names that are values for the caller.
    pub(crate) fn new(
        names: &[String],
        asked: &[&str],
        mut is_value: impl FnMut(&str) -> bool,
    ) -> Self {
        let is_asked = |name: &str| asked.contains(&name);
        let others = || {
            let columns = names.iter().map(String::as_str).enumerate();
            columns.filter(|(_, name)| !is_asked(name))
        };
        let is_similar = |name: &str| {
            let folded = folded_name(name);
            !folded.is_empty() && asked.iter().any(|asked| folded_name(asked) == folded)
        };
        let similar = others().filter(|(_, name)| is_similar(name));
        let data = others().filter(|(_, name)| looks_like_data(name) || is_value(name));
        Self {
            columns: names.len(),
            present: names
                .iter()
                .filter(|name| is_asked(name))
                .cloned()
                .collect(),
            similar: similar.map(|(column, _)| column).collect(),
            data: data.map(|(column, _)| column).collect(),
            has_request: !asked.is_empty(),
        }
    }

    /// How many columns the table has.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The names that were asked for and are there.
    #[must_use]
    pub fn present(&self) -> &[String] {
        &self.present
    }
}

impl fmt::Display for HeaderNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns;
        let ending = if columns == 1 { "" } else { "s" };
        write!(f, "the first line has {columns} column{ending}")?;
        if !self.present.is_empty() {
            let shown = self.present.iter().take(SHOWN);
            let shown: Vec<String> = shown.map(|name| format!("{name:?}")).collect();
            write!(f, ", {} among them", shown.join(", "))?;
            if let Some(more @ 1..) = self.present.len().checked_sub(SHOWN) {
                write!(f, " and {more} more")?;
            }
        }
        if !self.similar.is_empty() {
            let places = numbers(&self.similar);
            write!(
                f,
                ", and such a name in another spelling in number {places}"
            )?;
        }
        if !self.data.is_empty() {
            return write!(
                f,
                ", and data in number {}: no header?",
                numbers(&self.data)
            );
        }
        if self.has_request && self.present.is_empty() && self.similar.is_empty() {
            return f.write_str(", none of a name that was asked for: no header?");
        }
        Ok(())
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

/// Whether a name is made only of words that this module or the search for sensitive data knows, with two digits at
/// most. Such a name may be shown where it was not asked for: it tells nothing that a reader could not guess, also if it
/// is a cell.
#[must_use]
pub fn is_known_name(name: &str) -> bool {
    let words = detect::words_of(name);
    let is_known = |word: &String| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.is_empty() || WORDS.contains(&word) || detect::knows(word)
    };
    !words.is_empty() && !looks_like_data(name) && words.iter().all(is_known)
}

/// A name without case and without what is neither letter nor digit.
fn folded_name(name: &str) -> String {
    detect::words_of(name).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(names: &[&str], asked: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        HeaderNames::new(&names, asked, |_| false).to_string()
    }

    #[test]
    fn only_names_that_were_asked_for_are_listed() {
        assert_eq!(
            text(&["jones", "hunter2", "card"], &["card", "note"]),
            "the first line has 3 columns, \"card\" among them"
        );
        assert_eq!(
            text(&["id", "name", "note"], &["card"]),
            "the first line has 3 columns, none of a name that was asked for: no header?"
        );
        assert_eq!(
            text(&["Karte", "x"], &["karte"]),
            "the first line has 2 columns, and such a name in another spelling in number 1"
        );
        assert_eq!(
            text(&["id", "na\u{1b}me"], &["id"]),
            "the first line has 2 columns, \"id\" among them, and data in number 2: no header?"
        );
        assert_eq!(text(&["id"], &[]), "the first line has 1 column");
        assert_eq!(
            text(&["-", "id"], &["", "+"]).matches("spelling").count(),
            0
        );
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<String> = (0..100).map(|n| format!("id{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(text(&names, &names).ends_with("\"id39\" among them and 60 more"));
        let data: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let data: Vec<&str> = data.iter().map(String::as_str).collect();
        assert_eq!(
            text(&data, &["id"]),
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
            let text = text(&["id", cell], &["id"]);
            assert!(!text.contains(cell), "{text}");
            assert!(
                text.contains("number 2") && text.contains("no header?"),
                "{text}"
            );
            assert!(!is_known_name(cell), "{cell}");
        }
    }

    #[test]
    fn names_of_known_words_alone_may_be_shown_unasked() {
        for name in ["id", "Card", "first_name", "birthDate", "Phone 2"] {
            assert!(is_known_name(name), "{name}");
        }
        for name in [
            "jones",
            "hunter2",
            "card jones",
            "jones_card",
            "Ada",
            "",
            "-",
            "id\u{1b}",
        ] {
            assert!(!is_known_name(name), "{name}");
        }
    }

    #[test]
    fn what_is_a_value_for_the_caller_is_data() {
        let names = ["id".to_owned(), "ABCDEF".to_owned()];
        let header = HeaderNames::new(&names, &["id"], |name| name == "ABCDEF");
        assert_eq!(
            header.to_string(),
            "the first line has 2 columns, \"id\" among them, and data in number 2: no header?"
        );
        assert!(!format!("{header:?}").contains("ABCDEF"));
    }
}
