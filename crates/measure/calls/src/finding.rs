//! Findings: what was seen, how much it weighs, and what to change.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(clippy::exhaustive_enums, reason = "the four of every audit")]
pub enum Severity {
    /// Costs time or hides something.
    Low,
    /// Costs much, or fails sooner or later.
    Medium,
    /// Something is wrong.
    High,
    /// Secrets are at stake.
    Critical,
}

/// No such severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("choose low, medium, high or critical")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct SeverityError;

impl Severity {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::Critical => "CRITICAL",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Severity {
    type Err = SeverityError;

    fn from_str(text: &str) -> Result<Self, SeverityError> {
        let all = [Self::Low, Self::Medium, Self::High, Self::Critical];
        let known = all.into_iter();
        let mut fits = known.filter(|one| one.name().eq_ignore_ascii_case(text));
        fits.next().ok_or(SeverityError)
    }
}

/// Something to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Its name, for gates and filters.
    pub code: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// What was seen.
    pub happened: String,
    /// What to change.
    pub advice: &'static str,
    /// How often.
    pub count: u64,
    /// The line of the log where it was seen first, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl Finding {
    pub(crate) fn new(
        code: &'static str,
        severity: Severity,
        (happened, advice): (String, &'static str),
        spot: Spot,
    ) -> Self {
        Self {
            code,
            severity,
            happened,
            advice,
            count: spot.count,
            line: spot.line,
        }
    }
}

/// How often something was seen, and where first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    pub(crate) count: u64,
    pub(crate) line: Option<u64>,
}

impl Spot {
    pub(crate) fn mark(&mut self, line: u64) {
        self.count += 1;
        self.line.get_or_insert(line);
    }

    pub(crate) const fn times(count: u64) -> Self {
        Self { count, line: None }
    }
}
