//! The tables, all of one shape.

use std::fmt;

/// A table. Names are stored and covered by MACs: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Table {
    /// Self-authenticating envelopes and the store's own rows; under no row MAC.
    Meta,
    /// Tenants.
    Tenants,
    /// Keys, which are contexts.
    Keys,
    /// Versions of keys.
    KeyVersions,
    /// Names that were given out, in lower case; never given out again.
    Names,
    /// Usage counters.
    Counters,
    /// Principals.
    Principals,
    /// Policies.
    Policies,
    /// Orders that wait for another principal's word.
    Approvals,
    /// Signed audit heads.
    Heads,
    /// Changes that were begun and are not yet settled.
    Intents,
}

impl Table {
    /// Every table.
    pub const ALL: [Self; 11] = [
        Self::Meta,
        Self::Tenants,
        Self::Keys,
        Self::KeyVersions,
        Self::Names,
        Self::Counters,
        Self::Principals,
        Self::Policies,
        Self::Approvals,
        Self::Heads,
        Self::Intents,
    ];

    /// The tables under row MACs: all but [`Table::Meta`], in the order of the summary row.
    pub const PROTECTED: [Self; 10] = [
        Self::Tenants,
        Self::Keys,
        Self::KeyVersions,
        Self::Names,
        Self::Counters,
        Self::Principals,
        Self::Policies,
        Self::Approvals,
        Self::Heads,
        Self::Intents,
    ];

    /// The name in the database and under the MAC.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Tenants => "tenants",
            Self::Keys => "keys",
            Self::KeyVersions => "key_versions",
            Self::Names => "names",
            Self::Counters => "counters",
            Self::Principals => "principals",
            Self::Policies => "policies",
            Self::Approvals => "approvals",
            Self::Heads => "heads",
            Self::Intents => "intents",
        }
    }

    /// Whether rows are never deleted: what was destroyed stays destroyed (design 7.16, 7.17).
    #[must_use]
    pub const fn is_permanent(self) -> bool {
        matches!(
            self,
            Self::Tenants | Self::Keys | Self::KeyVersions | Self::Names
        )
    }

    /// The place in [`Table::PROTECTED`]; `None` for [`Table::Meta`].
    pub(crate) fn protected_index(self) -> Option<usize> {
        Self::PROTECTED.iter().position(|table| *table == self)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_differ_and_only_meta_is_unprotected() {
        let names: BTreeSet<_> = Table::ALL.iter().map(|table| table.name()).collect();
        assert_eq!(names.len(), Table::ALL.len());
        let unprotected: Vec<_> = Table::ALL
            .into_iter()
            .filter(|table| table.protected_index().is_none())
            .collect();
        assert_eq!(unprotected, [Table::Meta]);
        assert_eq!(Table::PROTECTED.len() + 1, Table::ALL.len());
    }
}
