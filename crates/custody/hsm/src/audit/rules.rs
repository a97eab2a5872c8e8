//! Rules, and where they come from.
//!
//! ```toml
//! version = 1
//! builtin = true            # these rules as well; a rule here takes the place of those of its id
//!
//! [[rule]]
//! id = "PayrollKeysSign"
//! severity = "HIGH"
//! when = 'class == "private" and label == "payroll" and not sign'
//! says = "the payroll key cannot sign"
//! advice = "make it again with --usage sign"
//!
//! [[profile]]               # for tokens that say they are this
//! name = "test tokens"
//! manufacturer = "SoftHSM project"
//! off = ["ImportedKey"]
//! severity = { NoKeyId = "MEDIUM" }
//! ```
//!
//! An error names the line and the column, also of a mistake within a condition.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use keywright_pkcs11::TokenInfo;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::condition::Condition;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(clippy::exhaustive_enums, reason = "the four of every audit")]
pub enum Severity {
    /// Untidy.
    Low,
    /// To be changed when there is time.
    Medium,
    /// To be changed.
    High,
    /// Keys may be known to others.
    Critical,
}

/// No such severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("choose low, medium, high or critical")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct SeverityError;

impl Severity {
    /// All, the lightest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

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
        let mut fits = Self::ALL
            .into_iter()
            .filter(|one| one.name().eq_ignore_ascii_case(text));
        fits.next().ok_or(SeverityError)
    }
}

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

/// No day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a day is written as 2027-01-31")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct DayError;

impl Day {
    /// So many days after 1970-01-01.
    #[must_use]
    pub const fn from_days(days: i64) -> Self {
        Self(days)
    }

    /// Days after 1970-01-01.
    #[must_use]
    pub const fn days(self) -> i64 {
        self.0
    }

    /// `20270131`, as in `CK_DATE`.
    pub(super) fn compact(bytes: &[u8]) -> Option<Self> {
        let digits = |from: usize, to: usize| -> Option<i64> {
            let part = bytes.get(from..to)?;
            let plain = part.iter().all(u8::is_ascii_digit);
            plain.then(|| {
                part.iter()
                    .fold(0, |all, digit| all * 10 + i64::from(digit - b'0'))
            })
        };
        let (year, month, day) = (digits(0, 4)?, digits(4, 6)?, digits(6, 8)?);
        if bytes.len() != 8 || !(1..=12).contains(&month) || !(1..=31).contains(&day) || year == 0 {
            return None;
        }
        let shifted = if month <= 2 { year - 1 } else { year };
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let era = shifted.div_euclid(400);
        let of_era = shifted - era * 400;
        let day = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        Some(Self(day))
    }
}

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let form = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
        Self::compact(&digits).filter(|_| form).ok_or(DayError)
    }
}

/// A rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its name. Several rules may have one: a finding of several weights.
    pub id: String,
    /// How much it weighs.
    pub severity: Severity,
    /// When it fires.
    pub condition: Condition,
    /// The condition as it was written.
    pub when: String,
    /// What is wrong.
    pub says: String,
    /// What to do.
    pub advice: String,
}

/// Rules and profiles.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Rule>,
    profiles: Vec<Profile>,
}

/// Why a file of rules is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
#[non_exhaustive]
pub struct RuleError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: Spanned<u32>,
    #[serde(default)]
    builtin: bool,
    #[serde(default)]
    rule: Vec<Spanned<RuleText>>,
    #[serde(default)]
    profile: Vec<Profile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    id: Spanned<String>,
    severity: Severity,
    when: Spanned<String>,
    says: String,
    advice: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    name: String,
    manufacturer: Option<String>,
    model: Option<String>,
    serial: Option<String>,
    label: Option<String>,
    #[serde(default)]
    off: Vec<Spanned<String>>,
    #[serde(default)]
    severity: BTreeMap<Spanned<String>, Severity>,
}

/// The rules that are built in, as a file.
const BUILTIN: &str = include_str!("rules.toml");

impl RuleSet {
    /// Those that are built in.
    ///
    /// # Panics
    /// Never: a test reads them.
    #[must_use]
    pub fn builtin() -> Self {
        #[expect(
            clippy::expect_used,
            reason = "the file is part of the program, and a test reads it"
        )]
        Self::read(BUILTIN).expect("the rules that are built in")
    }

    /// The text of the rules that are built in.
    #[must_use]
    pub const fn builtin_text() -> &'static str {
        BUILTIN
    }

    /// Reads a file of rules.
    ///
    /// # Errors
    /// [`RuleError`] with the place.
    pub fn read(text: &str) -> Result<Self, RuleError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            RuleError::at(text, at, error.message().replace('\n', " "))
        })?;
        if *file.version.get_ref() != 1 {
            let at = file.version.span().start;
            return Err(RuleError::at(
                text,
                at,
                "only version 1 is known".to_owned(),
            ));
        }
        let mut rules = Vec::new();
        for rule in &file.rule {
            rules.push(rule.get_ref().read(text)?);
        }
        if file.builtin {
            let kept = Self::builtin().rules.into_iter();
            let own = |id: &str| rules.iter().any(|rule| rule.id == id);
            let kept: Vec<_> = kept.filter(|rule| !own(&rule.id)).collect();
            rules.splice(0..0, kept);
        }
        let set = Self {
            rules,
            profiles: file.profile,
        };
        set.check(text)?;
        Ok(set)
    }

    /// Profiles speak of rules that are there, and of tokens.
    fn check(&self, text: &str) -> Result<(), RuleError> {
        for profile in &self.profiles {
            let named = profile.off.iter().chain(profile.severity.keys());
            for id in named {
                if !self.rules.iter().any(|rule| rule.id == *id.get_ref()) {
                    let message = format!("there is no rule {}", id.get_ref());
                    return Err(RuleError::at(text, id.span().start, message));
                }
            }
            let parts = [
                &profile.manufacturer,
                &profile.model,
                &profile.serial,
                &profile.label,
            ];
            if parts.iter().all(|part| part.is_none()) {
                let message = format!(
                    "the profile {:?} names no token: add manufacturer, model, serial or label",
                    profile.name
                );
                return Err(RuleError::at(text, 0, message));
            }
        }
        Ok(())
    }

    /// The rules, in their order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// As the first profile that fits this token has them.
    pub(super) fn for_token(&self, info: &TokenInfo) -> Chosen<'_> {
        Chosen {
            set: self,
            profile: self.profiles.iter().find(|profile| profile.fits(info)),
        }
    }
}

impl RuleText {
    fn read(&self, text: &str) -> Result<Rule, RuleError> {
        let span = self.when.span();
        let when = self.when.get_ref();
        let condition = Condition::read(when).map_err(|error| {
            RuleError::at(text, within(text, &span, when, error.at), error.message)
        })?;
        let id = self.id.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || !id.chars().all(plain) {
            let message = "an id has letters, digits, -, _ and . only".to_owned();
            return Err(RuleError::at(text, self.id.span().start, message));
        }
        Ok(Rule {
            id: id.clone(),
            severity: self.severity,
            condition,
            when: when.clone(),
            says: self.says.clone(),
            advice: self.advice.clone(),
        })
    }
}

/// Where the character `at` of a text stands in the file, if it is written there as it is; else where it begins.
fn within(file: &str, span: &Range<usize>, text: &str, at: usize) -> usize {
    let written = file.get(span.clone()).unwrap_or_default();
    let Some(begins) = written.find(text) else {
        return span.start;
    };
    let before: usize = text.chars().take(at).map(char::len_utf8).sum();
    span.start + begins + before
}

impl RuleError {
    pub(super) fn at(text: &str, at: usize, message: String) -> Self {
        let before = text.get(..at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
            message,
        }
    }
}

impl Profile {
    fn fits(&self, info: &TokenInfo) -> bool {
        let parts = [
            (&self.manufacturer, &info.manufacturer),
            (&self.model, &info.model),
            (&self.serial, &info.serial),
            (&self.label, &info.label),
        ];
        parts
            .iter()
            .all(|(wanted, is)| wanted.as_ref().is_none_or(|wanted| wanted == *is))
    }
}

/// Rules for one token.
pub(super) struct Chosen<'r> {
    set: &'r RuleSet,
    profile: Option<&'r Profile>,
}

impl<'r> Chosen<'r> {
    pub(super) fn rules(&self) -> impl Iterator<Item = (&'r Rule, Severity)> {
        let profile = self.profile;
        let is_off = move |id: &str| {
            profile.is_some_and(|one| one.off.iter().any(|off| off.get_ref() == id))
        };
        let weight = move |rule: &Rule| {
            let own = profile
                .and_then(|one| one.severity.iter().find(|(id, _)| *id.get_ref() == rule.id));
            own.map_or(rule.severity, |(_, severity)| *severity)
        };
        let rules = self.set.rules.iter().filter(move |rule| !is_off(&rule.id));
        rules.map(move |rule| (rule, weight(rule)))
    }

    pub(super) fn profile(&self) -> Option<&'r str> {
        self.profile.map(|profile| profile.name.as_str())
    }

    pub(super) fn count(&self) -> usize {
        self.rules().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_that_are_built_in_can_be_read() {
        let rules = RuleSet::builtin();
        assert!(rules.rules().len() >= 30, "{}", rules.rules().len());
        for rule in rules.rules() {
            assert!(
                !rule.says.is_empty() && !rule.advice.is_empty(),
                "{}",
                rule.id
            );
        }
    }

    const HEAD: &str =
        "version = 1\n[[rule]]\nid = \"R\"\nseverity = \"HIGH\"\nsays = \"s\"\nadvice = \"a\"\n";

    fn place(text: &str) -> (usize, usize, String) {
        let error = RuleSet::read(text).unwrap_err();
        (error.line, error.column, error.message)
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_column() {
        for (when, column) in [
            ("'local and extractible'", 19),
            ("\"bits < 'x'\"", 16),
            ("''", 8),
            ("\"class == \\\"a\\\" and nope\"", 8),
        ] {
            let (line, found, message) = place(&format!("{HEAD}when = {when}\n"));
            assert_eq!((line, found), (7, column), "{when}: {message}");
        }
        let (line, _, message) = place("version = 1\n[[rule]]\nid = \"R\"\nseverty = \"HIGH\"\n");
        assert!(
            line >= 2 && message.contains("severty"),
            "{line}: {message}"
        );
        assert_eq!(place("version = 2\n").0, 1);
        let (line, column, message) = place(&format!(
            "{HEAD}when = 'local'\n[[profile]]\nname = \"p\"\nlabel = \"t\"\noff = [\"S\"]\n"
        ));
        assert_eq!((line, column), (11, 8), "{message}");
        assert!(
            place(&format!(
                "{HEAD}when = 'local'\n[[profile]]\nname = \"p\"\n"
            ))
            .2
            .contains("names no token")
        );
        assert!(
            place(
                &HEAD
                    .replace("\"R\"", "\"a b\"")
                    .replace("HIGH\"\n", "HIGH\"\nwhen = 'local'\n")
            )
            .2
            .contains("letters")
        );
    }

    #[test]
    fn a_rule_takes_the_place_of_those_of_its_id() {
        let text = format!("{HEAD}when = 'local'\n")
            .replace("version = 1", "version = 1\nbuiltin = true")
            .replace("\"R\"", "\"WeakRsa\"");
        let set = RuleSet::read(&text).unwrap();
        let weak: Vec<_> = set
            .rules()
            .iter()
            .filter(|rule| rule.id == "WeakRsa")
            .collect();
        assert_eq!((weak.len(), weak[0].when.as_str()), (1, "local"));
        assert!(set.rules().len() > 20);
    }

    #[test]
    fn days_are_counted_and_what_is_none_is_refused() {
        let day = |text: &str| text.parse::<Day>().map(Day::days);
        assert_eq!(day("1970-01-01"), Ok(0));
        assert_eq!(day("2000-03-01"), Ok(11_017));
        assert_eq!(day("2027-01-31"), Ok(20_849));
        for wrong in [
            "",
            "2027-1-31",
            "20270131",
            "2027-13-01",
            "2027-01-32",
            "0000-01-01",
            "2027-01-3x",
        ] {
            assert_eq!(day(wrong), Err(DayError), "{wrong}");
        }
    }
}
