//! `audit-keys`: what is on a token held against rules.
//!
//! A rule is an id, a severity and a condition over what can be read of an object ([`Condition`] has the language,
//! [`FIELDS`] the names). Rules come from TOML ([`RuleSet`]); those that are built in are a file of the same form.
//! A condition that hangs on something that the token does not tell is neither true nor false: it becomes the
//! finding [`UNREADABLE`], never a pass.
//!
//! Findings may be waived for a reason and until a day ([`Waivers`]), or be accepted all at once ([`Baseline`]);
//! both are shown and do not count.
//!
//! Everything is read: the functions that are called are those that list objects and read attributes.
//!
//! Not here: files, the day that it is (the caller says both), SARIF, and what only use would show.

mod baseline;
mod condition;
mod evaluate;
#[cfg(test)]
mod every_rule;
mod facts;
mod field;
mod lex;
mod modulus;
mod relations;
mod rules;
mod shown;
mod waiver;

use std::collections::BTreeSet;

use keywright_pkcs11::{Session, Template};

use crate::desk::Desk;
use crate::error::Error;

pub use baseline::{Baseline, BaselineError};
pub use condition::{Condition, ConditionError};
pub use field::{FIELDS, Field, Kind};
pub use modulus::{WEAK_LIMIT, share_factor};
pub use rules::{Day, DayError, Rule, RuleError, RuleSet, Severity, SeverityError};
pub use shown::{AuditReport, Issue, State, Summary, Waived};
pub use waiver::{Waiver, WaiverError, Waivers};

use evaluate::Truth;
use facts::Facts;

/// The finding for what cannot be read.
pub const UNREADABLE: &str = "AttributeUnreadable";

/// What an audit is held against besides its rules.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Accepted {
    /// Findings that somebody answers for.
    pub waivers: Waivers,
    /// Findings that were there before.
    pub baseline: Option<Baseline>,
}

impl Accepted {
    /// These.
    #[must_use]
    pub const fn new(waivers: Waivers, baseline: Option<Baseline>) -> Self {
        Self { waivers, baseline }
    }
}

/// Holds everything that is seen on the token against the rules, as of `today`.
///
/// # Errors
/// What the token fails with, where an object cannot be found at all.
pub fn audit(
    desk: &Desk,
    rules: &RuleSet,
    accepted: &Accepted,
    today: Day,
) -> Result<AuditReport, Error> {
    let session = desk.session();
    let mut objects = vec![Facts::of_token(desk.info())];
    for object in handles(session)? {
        objects.push(Facts::read(desk, object, today)?);
    }
    let unchecked = relations::fill(&mut objects);
    let chosen = rules.for_token(desk.info());
    let mut issues = Vec::new();
    for facts in &objects {
        for (rule, severity) in chosen.rules() {
            judge(facts, rule, severity, &mut issues);
        }
    }
    let serial = &desk.info().serial;
    for issue in &mut issues {
        issue.settle(serial, accepted, today);
    }
    issues.sort_by(|a, b| {
        b.weight()
            .cmp(&a.weight())
            .then_with(|| a.place().cmp(&b.place()))
    });
    // The same attribute may keep several rules from an answer; each object says so once for each.
    issues.dedup_by(|a, b| a.is_same(b));
    Ok(AuditReport::new(
        desk.info(),
        &objects,
        issues,
        (chosen.profile(), chosen.count()),
        {
            let expired = accepted.waivers.expired(today);
            let wide = (unchecked > 0).then(|| {
            format!("{unchecked} RSA moduli were not searched for common factors: only {WEAK_LIMIT} are")
        });
            expired.into_iter().chain(wide).collect()
        },
    ))
}

fn handles(session: &Session) -> Result<Vec<keywright_pkcs11::ObjectHandle>, Error> {
    let mut seen = BTreeSet::new();
    for handle in session.search(&Template::new())? {
        seen.insert(handle?);
    }
    Ok(seen.into_iter().collect())
}

fn judge(facts: &Facts, rule: &Rule, severity: Severity, issues: &mut Vec<Issue>) {
    match rule.condition.holds(facts) {
        Truth::No => {}
        Truth::Yes => issues.push(Issue::of(facts, rule, severity)),
        Truth::Unknown(what) => {
            let code = facts.reason(what).unwrap_or("unreadable");
            issues.push(Issue::unreadable(facts, what, code, severity));
        }
    }
}

/// Reads a text as rules, as waivers and as a condition; an error has a place within the text. The body of the fuzz
/// target.
///
/// # Panics
/// If the place is outside, which is what a fuzzer looks for.
#[doc(hidden)]
pub fn fuzz(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines = text.matches('\n').count() + 1;
    let errors = [RuleSet::read(&text).err(), Waivers::read(&text).err()];
    for error in errors.into_iter().flatten() {
        assert!(
            (1..=lines).contains(&error.line) && error.column > 0,
            "{error}"
        );
    }
    if let Err(error) = Condition::read(&text) {
        assert!(error.at <= text.chars().count(), "{error}");
    }
}
