//! Rules files: which column is protected how.
//!
//! ```toml
//! version = 1
//!
//! [[column]]
//! name = "card_number"
//! format = "card"
//! keep = "last4"
//!
//! [[column]]
//! name = "opened"
//! format = { name = "date", from = 1900-01-01, to = 2099-12-31 }
//! small_domain = "accept(73,049 days; the file stays in the house)"
//! tweak = ["column", "row(id)"]
//! on_bad = "reject"
//! ```
//!
//! A format is the one-line form, a table with `name` and parameters, an array of items (a sequence), or a
//! table with `one_of` (alternatives). All forms of one description compile to one value.

mod node;

use std::fmt;

use toml::de::DeTable;

use crate::error::{Error, Place, Problem};
use crate::format::Format;
use crate::key::Settings;
use crate::mask::Mask;
use crate::tweak::TweakPolicy;
use node::Table;

/// The longest rules file, in bytes.
pub const LONGEST_RULES: usize = 1 << 20;

/// The most columns of a file.
const COLUMNS: usize = 4_096;

/// What a rules file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    columns: Vec<ColumnRule>,
}

/// What to do with a value that does not fit. Letting it through as it is does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every user has to say what it does with each"
)]
pub enum OnBad {
    /// Stop.
    #[default]
    Fail,
    /// Write an empty cell.
    Null,
    /// Write the row to a second file.
    Reject,
}

/// What to do about sets that are small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every user has to say what it does with each"
)]
pub enum SmallDomain {
    /// Sets below the floor are accepted, down to 100 values, for this reason.
    Accept(String),
    /// Sets below 2^32 need no warning. Those below the floor are refused.
    Acknowledge,
    /// Sets below the floor are refused; those below 2^32 deserve a warning.
    #[default]
    Refuse,
}

/// The rule of one column. It has a format, a mask, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRule {
    name: String,
    format: Option<Format>,
    tweak: TweakPolicy,
    mask: Option<Mask>,
    on_bad: OnBad,
    small_domain: SmallDomain,
    key: Option<String>,
    place: Place,
}

impl Rules {
    /// Reads a rules file.
    ///
    /// # Errors
    /// [`Error::Text`] with the line and what is wrong there.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > LONGEST_RULES {
            return Err(Error::at(1, Problem::TooLong(LONGEST_RULES)));
        }
        let document = DeTable::parse(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            Error::Text {
                place: node::place(text, start),
                problem: Problem::Toml,
            }
        })?;
        let root = Table::new(text, document.get_ref(), 0);
        root.knows(&["version", "column"])?;
        match root.need("version")?.integer()? {
            1 => {}
            _ => {
                return Err(root
                    .need("version")?
                    .error(Problem::Expected("version = 1")));
            }
        }
        let mut columns: Vec<ColumnRule> = Vec::new();
        for table in root.need("column")?.tables()? {
            let rule = ColumnRule::parse(&table)?;
            let twice = columns.iter().any(|other| other.name == rule.name);
            if twice || columns.len() >= COLUMNS {
                let problem = if twice {
                    Problem::Duplicate
                } else {
                    Problem::TooLong(COLUMNS)
                };
                return Err(table.need("name")?.error(problem));
            }
            columns.push(rule);
        }
        if columns.is_empty() {
            return Err(root.need("column")?.error(Problem::Expected("a column")));
        }
        Ok(Self { columns })
    }

    /// The rules, in the order of the file.
    #[must_use]
    pub fn columns(&self) -> &[ColumnRule] {
        &self.columns
    }
}

impl ColumnRule {
    fn parse(table: &Table<'_>) -> Result<Self, Error> {
        table.knows(&[
            "name",
            "format",
            "keep",
            "tweak",
            "mask",
            "on_bad",
            "small_domain",
            "key",
        ])?;
        let name = table.need("name")?;
        let keep = table.get("keep");
        let format = match table.get("format") {
            Some(format) => Some(format.format(keep.as_ref())?),
            None => None,
        };
        if let (Some(keep), None) = (&keep, &format) {
            return Err(keep.error(Problem::Expected("a format whose parameter this is")));
        }
        let tweak = table.get("tweak");
        if let (Some(tweak), None) = (&tweak, &format) {
            return Err(tweak.error(Problem::Expected("a format that the tweak is for")));
        }
        let mask = table.get("mask").map(|mask| mask.mask()).transpose()?;
        if format.is_none() && mask.is_none() {
            return Err(name.error(Problem::Expected("a format or a mask beside the name")));
        }
        Ok(Self {
            name: name.name()?,
            format,
            tweak: tweak
                .map(|tweak| tweak.tweak())
                .transpose()?
                .unwrap_or_default(),
            mask,
            on_bad: table
                .get("on_bad")
                .map(|word| word.on_bad())
                .transpose()?
                .unwrap_or_default(),
            small_domain: table
                .get("small_domain")
                .map(|word| word.small_domain())
                .transpose()?
                .unwrap_or_default(),
            key: table.get("key").map(|key| key.name()).transpose()?,
            place: name.place(),
        })
    }

    /// The column's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format, unless the column is only masked.
    #[must_use]
    pub const fn format(&self) -> Option<&Format> {
        self.format.as_ref()
    }

    /// The tweak policy, with what the format keeps.
    #[must_use]
    pub fn tweak(&self) -> TweakPolicy {
        match &self.format {
            Some(format) if format.keeps() => self.tweak.clone().with_kept(),
            _ => self.tweak.clone(),
        }
    }

    /// The mask: for those who may not reveal if there is a format, else what the column becomes.
    #[must_use]
    pub const fn mask(&self) -> Option<&Mask> {
        self.mask.as_ref()
    }

    /// What happens to values that do not fit.
    #[must_use]
    pub const fn on_bad(&self) -> OnBad {
        self.on_bad
    }

    /// What is said about small sets.
    #[must_use]
    pub const fn small_domain(&self) -> &SmallDomain {
        &self.small_domain
    }

    /// The name of the key, if the rule names one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Where the rule stands.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.place
    }

    /// Settings with the tweak policy and the acceptance of small sets.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let settings = Settings::new(self.tweak());
        match self.small_domain {
            SmallDomain::Accept(_) => settings.accept_small_domain(),
            _ => settings,
        }
    }
}

impl fmt::Display for OnBad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fail => "fail",
            Self::Null => "null",
            Self::Reject => "reject",
        })
    }
}
