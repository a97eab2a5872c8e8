//! Findings that somebody answers for.
//!
//! ```toml
//! version = 1
//!
//! [[waiver]]
//! rule = "ImportedKey"
//! label = "partner-2024"        # or id = "0a1b"; serial = "..." for one token alone
//! reason = "made by the partner's token, ticket 4711"
//! until = "2027-06-30"          # the last day
//! ```

use serde::Deserialize;
use toml::Spanned;

use super::rules::{Day, RuleError};

/// Waivers.
#[derive(Clone, Debug, Default)]
pub struct Waivers(Vec<Waiver>);

/// Why a file of waivers is none.
pub type WaiverError = RuleError;

/// A waiver.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Waiver {
    /// The rule that is waived.
    pub rule: String,
    /// The label of the object.
    pub label: Option<String>,
    /// The id of the object, in hexadecimal digits.
    pub id: Option<String>,
    /// The serial number of the token; any without one.
    pub serial: Option<String>,
    /// Why.
    pub reason: String,
    /// The last day.
    pub until: Day,
    /// The last day as it was written.
    pub until_text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: Spanned<u32>,
    #[serde(default)]
    waiver: Vec<Spanned<WaiverText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverText {
    rule: String,
    label: Option<String>,
    id: Option<String>,
    serial: Option<String>,
    reason: String,
    until: Spanned<String>,
}

impl Waivers {
    /// Reads a file of waivers.
    ///
    /// # Errors
    /// [`WaiverError`] with the place: no reason, no day, or no object that is meant.
    pub fn read(text: &str) -> Result<Self, WaiverError> {
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
        let waivers = file.waiver.into_iter().map(|waiver| {
            let at = waiver.span().start;
            waiver.into_inner().read(text, at)
        });
        Ok(Self(waivers.collect::<Result<_, _>>()?))
    }

    /// The waiver of a finding: of a rule, label, id and token.
    pub(super) fn of(
        &self,
        rule: &str,
        (label, id): (&str, &str),
        serial: &str,
        today: Day,
    ) -> Option<&Waiver> {
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == value)
        };
        self.0.iter().find(|one| {
            one.rule == rule
                && is(&one.label, label)
                && one
                    .id
                    .as_ref()
                    .is_none_or(|wanted| wanted.eq_ignore_ascii_case(id))
                && is(&one.serial, serial)
                && today <= one.until
        })
    }

    /// Those whose day is over, in words.
    pub(super) fn expired(&self, today: Day) -> Vec<String> {
        let over = self.0.iter().filter(|one| one.until < today);
        over.map(|one| {
            let object = one
                .label
                .as_deref()
                .or(one.id.as_deref())
                .unwrap_or_default();
            format!(
                "the waiver of {} for {object} ended on {}",
                one.rule, one.until_text
            )
        })
        .collect()
    }
}

impl WaiverText {
    fn read(self, text: &str, at: usize) -> Result<Waiver, WaiverError> {
        let until = self.until.get_ref().parse().map_err(|_| {
            let message = "`until` is a day as 2027-01-31".to_owned();
            RuleError::at(text, self.until.span().start, message)
        })?;
        if self.reason.trim().is_empty() {
            return Err(RuleError::at(text, at, "a waiver has a reason".to_owned()));
        }
        if self.label.is_none() && self.id.is_none() {
            let message = "a waiver is for one object: add label or id".to_owned();
            return Err(RuleError::at(text, at, message));
        }
        Ok(Waiver {
            rule: self.rule,
            label: self.label,
            id: self.id,
            serial: self.serial,
            reason: self.reason,
            until,
            until_text: self.until.into_inner(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "version = 1\n[[waiver]]\nrule = \"R\"\nlabel = \"k\"\nreason = \"because\"\nuntil = \"2027-06-30\"\n";

    #[test]
    fn a_waiver_holds_to_its_last_day_for_its_own_object_alone() {
        let waivers = Waivers::read(ONE).unwrap();
        let day = |text: &str| text.parse::<Day>().unwrap();
        let of = |rule: &str, label: &str, today: &str| {
            waivers.of(rule, (label, ""), "1", day(today)).is_some()
        };
        assert!(of("R", "k", "2027-06-30"));
        assert!(
            !of("R", "k", "2027-07-01")
                && !of("S", "k", "2027-06-30")
                && !of("R", "kk", "2027-06-30")
        );
        assert!(waivers.expired(day("2027-06-30")).is_empty());
        assert!(waivers.expired(day("2027-07-01"))[0].contains("2027-06-30"));
    }

    #[test]
    fn a_waiver_without_reason_day_or_object_is_refused_with_its_line() {
        for (old, new, line) in [
            ("\"because\"", "\" \"", 2),
            ("\"2027-06-30\"", "\"soon\"", 6),
            ("label = \"k\"\n", "", 2),
            ("version = 1", "version = 7", 1),
            ("rule =", "rulle =", 2),
        ] {
            let error = Waivers::read(&ONE.replace(old, new)).unwrap_err();
            assert!(error.line >= line, "{error}");
        }
    }
}
