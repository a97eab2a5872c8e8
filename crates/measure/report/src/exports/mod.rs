//! The document in the forms of other tools.
//!
//! Trackers ([`Profile::Bencher`], [`Profile::Bmf`], [`Profile::Github`]) keep a number and nothing beside
//! it. They are given only cases whose figures can be quoted ([`crate::quotable`]) and only quantiles that
//! are figures, not bounds. The other forms have a place for the verdict, or are read by people.

mod hgrm;
mod hlog;
mod markdown;
mod moment;
mod ndjson;
mod openmetrics;
pub mod seed;
mod trackers;

use std::fmt;
use std::str::FromStr;

use keywright_measure::document::Document;

pub use hgrm::hgrm;
pub use hlog::hlog;
pub use markdown::markdown;
pub use ndjson::ndjson;
pub use openmetrics::openmetrics;
pub use trackers::{bencher, bmf, github};

use crate::Error;

/// A form of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// Lines as the benchmarks of Rust's own test program print them.
    Bencher,
    /// Bencher metric format, JSON.
    Bmf,
    /// What `github-action-benchmark` reads as `customSmallerIsBetter`, JSON.
    Github,
    /// Percentile distributions as HdrHistogram plotters read them.
    Hgrm,
    /// Distributions second by second, as the log tools of HdrHistogram read them.
    Hlog,
    /// This engine's CSV, a figure a line; what it prints where nothing else is its default.
    KeywrightCsv,
    /// This engine's JSON without members of other forms.
    KeywrightJson,
    /// A table for pull requests and wikis.
    Markdown,
    /// A line of JSON per case.
    Ndjson,
    /// OpenMetrics text.
    OpenMetrics,
    /// The CSV of the token benchmark that is this engine's first model.
    SeedCsv,
    /// The JSON of the same.
    SeedJson,
}

impl Profile {
    /// Every profile, sorted by name.
    pub const ALL: [Self; 12] = [
        Self::Bencher,
        Self::Bmf,
        Self::Github,
        Self::Hgrm,
        Self::Hlog,
        Self::KeywrightCsv,
        Self::KeywrightJson,
        Self::Markdown,
        Self::Ndjson,
        Self::OpenMetrics,
        Self::SeedCsv,
        Self::SeedJson,
    ];

    /// What it is called on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bencher => "bencher",
            Self::Bmf => "bmf",
            Self::Github => "github",
            Self::Hgrm => "hgrm",
            Self::Hlog => "hlog",
            Self::KeywrightCsv => "keywright-csv",
            Self::KeywrightJson => "keywright-json",
            Self::Markdown => "markdown",
            Self::Ndjson => "ndjson",
            Self::OpenMetrics => "openmetrics",
            Self::SeedCsv => "seed-csv",
            Self::SeedJson => "seed-json",
        }
    }

    /// The document in this form.
    ///
    /// # Errors
    /// [`Error::Unwritable`], which would be a bug.
    pub fn render(self, document: &Document) -> Result<String, Error> {
        Ok(match self {
            Self::Bencher => bencher(document),
            Self::Bmf => bmf(document)?,
            Self::Github => github(document)?,
            Self::Hgrm => hgrm(document),
            Self::Hlog => hlog(document),
            Self::KeywrightCsv => crate::csv::long(document),
            Self::KeywrightJson => crate::json::render(document, crate::json::Layout::Pretty)?,
            Self::Markdown => markdown(document),
            Self::Ndjson => ndjson(document)?,
            Self::OpenMetrics => openmetrics(document),
            Self::SeedCsv => seed::csv(document),
            Self::SeedJson => seed::json(document)?,
        })
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// No profile has this name; [`Profile::ALL`] lists those there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no such profile; there are bencher, bmf, github, hgrm, hlog, keywright-csv, keywright-json, markdown, ndjson, openmetrics, seed-csv and seed-json"
)]
#[non_exhaustive]
pub struct UnknownProfile;

impl FromStr for Profile {
    type Err = UnknownProfile;

    /// Takes the names, and `seed-a-json` and `seed-a-csv` as other spellings.
    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        match name {
            "seed-a-csv" => Ok(Self::SeedCsv),
            "seed-a-json" => Ok(Self::SeedJson),
            _ => Self::ALL
                .into_iter()
                .find(|one| one.name() == name)
                .ok_or(UnknownProfile),
        }
    }
}
