//! What is fixed about a key, and how its versions are counted (design 7.2, 7.13).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Custody, Export, KeyId, MalformedId, Origin, Purpose};

/// The number of a key version: from 1, rising by 1. Zero stands for a data key's only version.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct KeyVersion(u32);

impl KeyVersion {
    /// The version of a data key, which never has another.
    pub const NONE: Self = Self(0);
    /// The first version of a key.
    pub const FIRST: Self = Self(1);

    /// The version with this number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The next version; `None` after 2^32 - 1 of them.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl fmt::Display for KeyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is fixed when a key is created and never changes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new attribute must be faced wherever a key is made"
)]
pub struct KeySpec {
    /// What the key is for.
    pub purpose: Purpose,
    /// The algorithm of its versions.
    pub algorithm: Algorithm,
    /// Where it is used.
    pub custody: Custody,
    /// Where it came from.
    pub origin: Origin,
    /// Whether it may leave.
    pub export: Export,
}

impl KeySpec {
    /// The specification of a context that seals: suite 1, wrapped, made here, never exported.
    #[must_use]
    pub const fn seal() -> Self {
        Self {
            purpose: Purpose::Seal,
            algorithm: Algorithm::Xaes256Gcm,
            custody: Custody::Wrapped,
            origin: Origin::Generated,
            export: Export::Never,
        }
    }

    /// The specification of a key that wraps others: a tenant's key.
    #[must_use]
    pub const fn wrap() -> Self {
        Self {
            purpose: Purpose::Wrap,
            ..Self::seal()
        }
    }
}

/// `kw1.<key id>.<version>`: one version of one key, in text (design 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the label is these two parts for ever"
)]
pub struct VersionLabel {
    /// The key.
    pub key: KeyId,
    /// Its version.
    pub version: KeyVersion,
}

impl VersionLabel {
    /// Whether a text begins like a label: no key of somebody else is brought in under one that does (design 7.2).
    #[must_use]
    pub fn is_reserved(text: &str) -> bool {
        text.starts_with("kw1.")
    }
}

impl fmt::Display for VersionLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kw1.{}.{}", self.key, self.version)
    }
}

impl FromStr for VersionLabel {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        let (key, version) = text
            .strip_prefix("kw1.")
            .and_then(|rest| rest.split_once('.'))
            .ok_or(MalformedId)?;
        let number: u32 = version.parse().map_err(|_| MalformedId)?;
        let label = Self {
            key: key.parse()?,
            version: KeyVersion(number),
        };
        // "+1" and "01" parse as numbers but are not how a label is written.
        (label.to_string() == text)
            .then_some(label)
            .ok_or(MalformedId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_rise_by_one_and_end() {
        assert_eq!(KeyVersion::FIRST.next(), Some(KeyVersion(2)));
        assert_eq!(KeyVersion(u32::MAX).next(), None);
    }

    #[test]
    fn a_label_has_one_spelling() {
        let label = VersionLabel {
            key: KeyId::from_bytes([1; 16]),
            version: KeyVersion(7),
        };
        let text = format!("kw1.{}.7", "01".repeat(16));
        assert_eq!(label.to_string(), text);
        assert_eq!(text.parse(), Ok(label));
        let key = "01".repeat(16);
        for bad in ["kw1.", "kw2.x.1", "kw1..1"] {
            assert!(bad.parse::<VersionLabel>().is_err(), "{bad}");
        }
        for version in ["", "+7", "07", "-1", "4294967296", "7.", "x"] {
            assert!(
                format!("kw1.{key}.{version}")
                    .parse::<VersionLabel>()
                    .is_err(),
                "{version}"
            );
        }
    }
}
