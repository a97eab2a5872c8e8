//! The two sides of a service: those who use keys, and those who rule over them.

use serde::{Deserialize, Serialize};

/// Where a principal is served, if a node has a listener for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third side would need a listener of its own"
)]
pub enum Plane {
    /// Orders that change the state of keys.
    Admin,
    /// Work with keys.
    #[default]
    Data,
}

impl Plane {
    /// Whether it is the one that is meant where nothing is said.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        matches!(self, Self::Data)
    }

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Data => "data",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_what_a_document_says() {
        assert_eq!(Plane::Admin.name(), "admin");
        assert_eq!(Plane::default().name(), "data");
        assert!(Plane::Data.is_default() && !Plane::Admin.is_default());
    }
}
