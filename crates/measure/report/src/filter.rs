//! Conditions on cases, as in `report --where 'ops_per_s < 50 and not (verdict == VALID)'`.
//!
//! ```text
//! condition = all { "or" all }          all  = one { "and" one }
//! one       = "not" one | "(" condition ")" | field relation value
//! relation  = "<" | "<=" | ">" | ">=" | "==" | "!=" | "~"
//! ```
//!
//! Numbers are compared with the first six relations, texts with the last three; `~` matches a glob in
//! which `*` stands for any characters and `?` for one. A text is bare or in either kind of quotes.
//!
//! A figure that a case does not have is unknown, and so is every comparison with it: neither
//! `p99_ms < 5` nor `not (p99_ms < 5)` selects a case without a p99.

mod lex;
mod parse;

use std::fmt;

use keywright_measure::document::Case;
use keywright_measure::verdict::Word;

/// The longest condition, in bytes.
pub const LONGEST: usize = 4096;
/// How deep parentheses and `not` may be nested.
pub const DEEPEST: usize = 64;

/// A condition that was read and understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter(Expression);

/// The tree of a condition.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Expression {
    /// All of them; at least two.
    And(Vec<Self>),
    /// The contrary.
    Not(Box<Self>),
    /// A figure against a number.
    Number(NumberField, Order, f64),
    /// Any of them; at least two.
    Or(Vec<Self>),
    /// A text against another or a glob.
    Text(TextField, Likeness, String),
    /// The word that decides the case.
    Verdict(Equality, Word),
}

/// A field that holds a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberField {
    /// Failed, wrong and timed-out operations.
    Errors,
    /// Units achieved in a second.
    OpsPerS,
    /// A quantile in milliseconds, of response time where there is one, else of service time.
    P50Ms,
    /// The same.
    P95Ms,
    /// The same.
    P99Ms,
    /// Operations whose output was checked and right.
    Verified,
}

/// A field that holds a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextField {
    /// The case's id.
    Case,
    /// The operation.
    Op,
    /// The target.
    Target,
    /// The word that decides the case, against a glob.
    Verdict,
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there are six ways to compare numbers"
)]
pub enum Order {
    /// `==`
    Equal,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `!=`
    Unequal,
}

/// How a text is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a text is this, is not this, or is like this"
)]
pub enum Likeness {
    /// `~`
    Glob,
    /// `==`
    Is,
    /// `!=`
    IsNot,
}

/// How a word is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "equal or not")]
pub enum Equality {
    /// `==`
    Is,
    /// `!=`
    IsNot,
}

/// Why a text is no condition, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {position}: {fault}")]
#[non_exhaustive]
pub struct FilterError {
    /// The character it begins at, counted from 1.
    pub position: usize,
    /// What is wrong there.
    pub fault: FilterFault,
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterFault {
    /// More than [`LONGEST`] bytes.
    #[error("a condition has at most {LONGEST} bytes")]
    TooLong,
    /// More than [`DEEPEST`] levels.
    #[error("parentheses and `not` nest at most {DEEPEST} deep")]
    TooDeep,
    /// A quote without its end.
    #[error("the quote is not closed")]
    OpenQuote,
    /// A character that begins nothing.
    #[error("{0:?} means nothing here")]
    Stray(char),
    /// Something else stands there.
    #[error("expected {wanted}, found {found}")]
    Unexpected {
        /// What could stand there.
        wanted: &'static str,
        /// What stands there.
        found: String,
    },
    /// No field of this name.
    #[error("no field {0:?}; there are {FIELDS}")]
    UnknownField(String),
    /// A relation that the field does not have.
    #[error("a number is compared with < <= > >= == !=, a text with == != ~")]
    WrongRelation,
    /// A value that is no number.
    #[error("{0:?} is not a number")]
    NotANumber(String),
    /// No verdict of this name.
    #[error("no verdict {0:?}")]
    UnknownVerdict(String),
}

const FIELDS: &str =
    "case, errors, op, ops_per_s, p50_ms, p95_ms, p99_ms, target, verdict, verified";

impl Filter {
    /// Reads a condition.
    ///
    /// # Errors
    /// [`FilterError`] with the first place at which the text cannot be understood.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        parse::condition(text).map(Self)
    }

    /// The tree.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.0
    }

    /// Whether a case fulfils the condition. What cannot be decided for want of a figure is not fulfilled.
    #[must_use]
    pub fn matches(&self, case: &Case) -> bool {
        self.0.holds(case) == Some(true)
    }
}

impl Expression {
    /// Whether it holds; `None` where a figure that decides it is absent.
    #[must_use]
    pub fn holds(&self, case: &Case) -> Option<bool> {
        match self {
            // All hold unless any of the contraries does.
            Self::And(parts) => any(parts
                .iter()
                .map(|part| part.holds(case).map(|holds| !holds)))
            .map(|any| !any),
            Self::Not(inner) => inner.holds(case).map(|holds| !holds),
            Self::Number(field, order, value) => Some(order.holds(field.of(case)?, *value)),
            Self::Or(parts) => any(parts.iter().map(|part| part.holds(case))),
            Self::Text(field, likeness, value) => Some(likeness.holds(field.of(case), value)),
            Self::Verdict(equality, word) => {
                Some((case.verdict() == *word) == (*equality == Equality::Is))
            }
        }
    }
}

/// One part that holds decides; otherwise one unknown part leaves all unknown.
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(false);
    for part in parts {
        match part {
            Some(true) => return part,
            Some(false) => {}
            None => all = None,
        }
    }
    all
}

impl NumberField {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts are compared with typed-in numbers"
    )]
    fn of(self, case: &Case) -> Option<f64> {
        let counts = &case.counts;
        match self {
            Self::Errors => {
                let failed = counts.error.saturating_add(counts.wrong);
                Some(failed.saturating_add(counts.timeout) as f64)
            }
            Self::OpsPerS => Some(case.achieved_per_s),
            Self::P50Ms => quantile(case, "p50"),
            Self::P95Ms => quantile(case, "p95"),
            Self::P99Ms => quantile(case, "p99"),
            Self::Verified => Some(counts.verified as f64),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a time of 2^53 ns is a hundred days"
)]
fn quantile(case: &Case, name: &str) -> Option<f64> {
    let quantile = case.headline()?.quantile(name)?;
    let fine = quantile.value_ps.map(|value| value as f64 / 1e9);
    fine.or_else(|| quantile.value.map(|value| value as f64 / 1e6))
}

impl TextField {
    fn of(self, case: &Case) -> &str {
        match self {
            Self::Case => &case.id,
            Self::Op => &case.op,
            Self::Target => &case.target,
            Self::Verdict => case.verdict().text(),
        }
    }
}

impl Order {
    #[expect(clippy::float_cmp, reason = "the user wrote == or !=")]
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Unequal => left != right,
        }
    }
}

impl Likeness {
    fn holds(self, text: &str, value: &str) -> bool {
        match self {
            Self::Glob => glob(value, text),
            Self::Is => text == value,
            Self::IsNot => text != value,
        }
    }
}

/// Whether a text is like a pattern of `*` and `?`. Takes time in proportion to the product of both
/// lengths at worst: only the last star is ever tried again.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    let mut again = None;
    loop {
        let mut rest = pattern.clone();
        match (rest.next(), text.clone().next()) {
            (Some('*'), _) => {
                again = Some((rest.clone(), text.clone()));
                pattern = rest;
                continue;
            }
            (Some('?'), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            (None, None) => return true,
            _ => {
                // The last star takes one character more, if there is one.
                let Some((after_star, mut from)) = again.take() else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                (pattern, text) = (after_star.clone(), from.clone());
                again = Some((after_star, from));
                continue;
            }
        }
        pattern = rest;
        text.next();
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
