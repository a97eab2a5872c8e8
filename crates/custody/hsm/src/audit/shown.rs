//! The report of an audit.

use keywright_pkcs11::TokenInfo;
use serde::Serialize;

use super::baseline::mark;
use super::facts::Facts;
use super::rules::{Day, Rule, Severity};
use super::{Accepted, UNREADABLE};

/// `audit-keys`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct AuditReport {
    pub token: String,
    pub profile: Option<String>,
    pub rules_applied: usize,
    pub total_objects: usize,
    pub private_keys: usize,
    pub public_keys: usize,
    pub secret_keys: usize,
    pub issues: Vec<Issue>,
    pub summary: Summary,
    /// Waivers that have ended, and what was not looked at.
    pub notes: Vec<String>,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Issue {
    pub key_label: String,
    pub handle: u64,
    pub key_class: String,
    pub key_type: Option<String>,
    pub id: String,
    pub severity: Severity,
    pub issue_type: String,
    pub description: String,
    pub recommendation: String,
    pub uri: String,
    /// The condition that holds, or the attribute that cannot be read.
    pub condition: String,
    /// Stands for this finding on this object in a baseline.
    pub mark: String,
    pub state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waived: Option<Waived>,
}

/// Whether a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth")]
pub enum State {
    /// It does.
    New,
    /// It is in the baseline.
    Known,
    /// Somebody answers for it.
    Waived,
}

/// Who answers for a finding.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Waived {
    pub reason: String,
    pub until: String,
}

/// Findings that count, by severity; and those that do not.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Summary {
    pub total_issues: usize,
    pub critical_count: usize,
    pub high_count: usize,
    pub medium_count: usize,
    pub low_count: usize,
    pub unique_keys_affected: usize,
    pub known_count: usize,
    pub waived_count: usize,
}

impl AuditReport {
    pub(super) fn new(
        info: &TokenInfo,
        objects: &[Facts],
        issues: Vec<Issue>,
        (profile, rules): (Option<&str>, usize),
        notes: Vec<String>,
    ) -> Self {
        let count = |class: &str| {
            objects
                .iter()
                .filter(|facts| facts.class() == class)
                .count()
        };
        Self {
            token: info.label.clone(),
            profile: profile.map(str::to_owned),
            rules_applied: rules,
            total_objects: objects.len().saturating_sub(1),
            private_keys: count("private"),
            public_keys: count("public"),
            secret_keys: count("secret"),
            summary: Summary::of(&issues),
            issues,
            notes,
        }
    }

    /// The heaviest finding that counts.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        let counts = self.issues.iter().filter(|issue| issue.state == State::New);
        counts.map(|issue| issue.severity).max()
    }

    /// The marks of all findings, for a baseline.
    pub fn marks(&self) -> impl Iterator<Item = String> {
        self.issues.iter().map(|issue| issue.mark.clone())
    }
}

impl Summary {
    fn of(issues: &[Issue]) -> Self {
        let of = |state: State| issues.iter().filter(move |issue| issue.state == state);
        let weigh = |severity| {
            of(State::New)
                .filter(|issue| issue.severity == severity)
                .count()
        };
        let mut keys: Vec<_> = of(State::New)
            .map(|issue| issue.handle)
            .filter(|handle| *handle != 0)
            .collect();
        keys.sort_unstable();
        keys.dedup();
        Self {
            total_issues: of(State::New).count(),
            critical_count: weigh(Severity::Critical),
            high_count: weigh(Severity::High),
            medium_count: weigh(Severity::Medium),
            low_count: weigh(Severity::Low),
            unique_keys_affected: keys.len(),
            known_count: of(State::Known).count(),
            waived_count: of(State::Waived).count(),
        }
    }
}

impl Issue {
    fn about(facts: &Facts, severity: Severity) -> Self {
        let text = |name: &str| facts.text(name).unwrap_or_default().to_owned();
        Self {
            key_label: text("label"),
            handle: facts.handle,
            key_class: facts.class().to_owned(),
            key_type: facts.text("key_type").map(str::to_owned),
            id: text("id"),
            severity,
            issue_type: String::new(),
            description: String::new(),
            recommendation: String::new(),
            uri: facts.uri.clone(),
            condition: String::new(),
            mark: String::new(),
            state: State::New,
            waived: None,
        }
    }

    pub(super) fn of(facts: &Facts, rule: &Rule, severity: Severity) -> Self {
        Self {
            issue_type: rule.id.clone(),
            description: rule.says.clone(),
            recommendation: rule.advice.clone(),
            condition: rule.when.clone(),
            ..Self::about(facts, severity)
        }
    }

    pub(super) fn unreadable(facts: &Facts, what: &str, reason: &str, severity: Severity) -> Self {
        Self {
            issue_type: UNREADABLE.to_owned(),
            description: format!("{what} cannot be read ({reason}), so that a rule has no answer"),
            recommendation: "log in as a user who may read it, or ask the token's maker; what cannot be checked is not known to be well".to_owned(),
            condition: what.to_owned(),
            ..Self::about(facts, severity)
        }
    }

    /// Says whether the finding counts.
    pub(super) fn settle(&mut self, serial: &str, accepted: &Accepted, today: Day) {
        let rule = match self.issue_type.as_str() {
            UNREADABLE => format!("{UNREADABLE} {}", self.condition),
            rule => rule.to_owned(),
        };
        self.mark = mark([&rule, serial, &self.key_class, &self.id, &self.key_label]);
        let waiver =
            accepted
                .waivers
                .of(&self.issue_type, (&self.key_label, &self.id), serial, today);
        if let Some(waiver) = waiver {
            self.state = State::Waived;
            self.waived = Some(Waived {
                reason: waiver.reason.clone(),
                until: waiver.until_text.clone(),
            });
        } else if accepted
            .baseline
            .as_ref()
            .is_some_and(|base| base.has(&self.mark))
        {
            self.state = State::Known;
        }
    }

    pub(super) fn weight(&self) -> Severity {
        self.severity
    }

    /// By which findings of one weight are in order.
    pub(super) fn place(&self) -> (&str, &str, &str, u64, &str) {
        (
            &self.issue_type,
            &self.key_class,
            &self.key_label,
            self.handle,
            &self.condition,
        )
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.handle == other.handle
            && self.issue_type == other.issue_type
            && self.condition == other.condition
            && self.severity == other.severity
    }
}
