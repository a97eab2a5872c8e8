//! Findings that were there before: a list of their marks.
//!
//! A mark is made of the rule, the token's serial number, and class, id and label of the object. The same finding
//! on the same object has the same mark in every run; handles have no part in it, because they change.

use std::collections::BTreeSet;

use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use serde::{Deserialize, Serialize};

/// Findings that were accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    schema: String,
    version: u32,
    accepted: BTreeSet<String>,
}

/// Why a text is no baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a baseline of audit-keys of version 1")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct BaselineError;

const SCHEMA: &str = "keywright.audit-baseline";

impl Baseline {
    /// Of these marks.
    #[must_use]
    pub fn of(marks: impl IntoIterator<Item = String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: 1,
            accepted: marks.into_iter().collect(),
        }
    }

    /// What a reader of JSON or another form made of a file, if it is one.
    ///
    /// # Errors
    /// [`BaselineError`].
    pub fn checked(self) -> Result<Self, BaselineError> {
        let marks = self.accepted.iter();
        let fine = marks
            .into_iter()
            .all(|mark| mark.len() == 32 && hex::decode(mark).is_ok());
        match self.schema == SCHEMA && self.version == 1 && fine {
            true => Ok(self),
            false => Err(BaselineError),
        }
    }

    /// Whether a finding is among them.
    #[must_use]
    pub fn has(&self, mark: &str) -> bool {
        self.accepted.contains(mark)
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> usize {
        self.accepted.len()
    }
}

/// The mark of a finding.
pub(super) fn mark(parts: [&str; 5]) -> String {
    let mut bytes = b"keywright/audit-mark/v1".to_vec();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    let digest = sha256(&bytes);
    hex::encode(digest.get(..16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_where_any_part_does_and_do_not_run_into_each_other() {
        let one = mark(["R", "1", "private", "aa", "k"]);
        assert_eq!(one.len(), 32);
        assert_eq!(one, mark(["R", "1", "private", "aa", "k"]));
        assert_ne!(one, mark(["R", "1", "private", "aak", ""]));
        assert_ne!(one, mark(["R1", "", "private", "aa", "k"]));
    }

    #[test]
    fn only_a_list_of_marks_is_a_baseline() {
        let good = Baseline::of([mark(["", "", "", "", ""])]);
        assert_eq!(good.clone().checked().map(|good| good.count()), Ok(1));
        let mut later = good.clone();
        later.version = 2;
        assert_eq!(later.checked(), Err(BaselineError));
        assert_eq!(Baseline::of(["x".to_owned()]).checked(), Err(BaselineError));
    }
}
