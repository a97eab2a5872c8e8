//! Names people give to things (design 7.3).

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

/// A name: `[A-Za-z0-9][A-Za-z0-9._-]{0,62}`, compared as bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Box<str>);

/// Text outside the alphabet or length of a [`Name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a name has 1 to 63 characters, letters, digits, '.', '_' or '-', and starts with a letter or digit"
)]
#[non_exhaustive]
pub struct MalformedName;

impl Name {
    /// The tenant that exists from the first start.
    #[must_use]
    pub fn default_tenant() -> Self {
        Self("default".into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `text` is a name, without allocating.
    #[must_use]
    pub fn is_valid(text: &str) -> bool {
        let bytes = text.as_bytes();
        bytes.len() <= 63
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
    }

    /// The form under which two names that differ only in case collide.
    #[must_use]
    pub fn case_folded(&self) -> Self {
        Self(self.0.to_ascii_lowercase().into())
    }
}

impl FromStr for Name {
    type Err = MalformedName;

    fn from_str(text: &str) -> Result<Self, MalformedName> {
        Self::is_valid(text)
            .then(|| Self(text.into()))
            .ok_or(MalformedName)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.0)
    }
}

impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alphabet_and_the_length_are_exact() {
        for good in ["a", "2fa", "exchange-key", "A.b_c-9", &"x".repeat(63)] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in [
            "",
            ".a",
            "-a",
            "_a",
            "a b",
            "a/b",
            "..",
            "ä",
            "a\0",
            "a\n",
            "*",
            &"x".repeat(64),
        ] {
            assert_eq!(bad.parse::<Name>(), Err(MalformedName), "{bad:?}");
        }
    }

    #[test]
    fn names_that_differ_in_case_are_different_but_collide() {
        let (a, b): (Name, Name) = ("Key".parse().unwrap(), "kEY".parse().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.case_folded(), b.case_folded());
    }
}
