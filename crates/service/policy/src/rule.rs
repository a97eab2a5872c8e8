//! Rules that recognise a principal's certificates (design 7.25).

use std::fmt;

use keywright_encoding::hex;
use serde::{Deserialize, Serialize};

/// SHA-256 of a SubjectPublicKeyInfo, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Takes the 32 bytes of the hash.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        hex::decode_array(&text).map(Self).map_err(|_| {
            serde::de::Error::custom("a SHA-256 fingerprint is 64 lower-case hexadecimal digits")
        })
    }
}

/// A certificate that ends in one of the anchors and shows the fact is this principal's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenRule", into = "WrittenRule")]
#[expect(
    clippy::exhaustive_structs,
    reason = "a rule is these two parts (design 7.25)"
)]
pub struct Rule {
    /// Trust anchors, by their keys. At least one.
    pub anchors: Vec<Fingerprint>,
    /// The one fact.
    pub fact: Fact,
}

/// The one fact of a certificate that a rule compares, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the four facts of design 7.25; a fifth must be faced everywhere"
)]
pub enum Fact {
    /// The key of the leaf itself.
    LeafKey(Fingerprint),
    /// A subject alternative name that is a DNS name.
    SanDns(String),
    /// A subject alternative name that is a URI.
    SanUri(String),
    /// The common name together with the first organisational unit.
    Subject {
        /// The common name.
        common_name: String,
        /// The first organisational unit in DER order.
        organizational_unit: String,
    },
}

impl Fact {
    /// Each text of the fact with the key it is written under.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let (first, second) = match self {
            Self::LeafKey(_) => (None, None),
            Self::SanDns(text) => (Some(("san_dns", text.as_str())), None),
            Self::SanUri(text) => (Some(("san_uri", text.as_str())), None),
            Self::Subject {
                common_name,
                organizational_unit,
            } => (
                Some(("common_name", common_name.as_str())),
                Some(("organizational_unit", organizational_unit.as_str())),
            ),
        };
        first.into_iter().chain(second)
    }

    /// The key the fact is written under, the first where there are two.
    pub(crate) fn key(&self) -> &'static str {
        self.texts().next().map_or("leaf_key", |(key, _)| key)
    }
}

/// The keys of a rule as they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    anchors: Vec<Fingerprint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    san_uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    san_dns: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    common_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    organizational_unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leaf_key: Option<Fingerprint>,
}

impl TryFrom<WrittenRule> for Rule {
    type Error = &'static str;

    fn try_from(written: WrittenRule) -> Result<Self, &'static str> {
        let subject = match (written.common_name, written.organizational_unit) {
            (Some(common_name), Some(organizational_unit)) => Some(Fact::Subject {
                common_name,
                organizational_unit,
            }),
            (None, None) => None,
            _ => return Err("`common_name` and `organizational_unit` are one fact: give both"),
        };
        let given = [
            written.san_uri.map(Fact::SanUri),
            written.san_dns.map(Fact::SanDns),
            subject,
            written.leaf_key.map(Fact::LeafKey),
        ];
        let mut facts = given.into_iter().flatten();
        match (facts.next(), facts.next()) {
            (Some(fact), None) => Ok(Self {
                anchors: written.anchors,
                fact,
            }),
            _ => Err(
                "a rule has exactly one of `san_uri`, `san_dns`, `leaf_key`, or `common_name` with \
                 `organizational_unit`",
            ),
        }
    }
}

impl From<Rule> for WrittenRule {
    fn from(rule: Rule) -> Self {
        let mut written = Self {
            anchors: rule.anchors,
            san_uri: None,
            san_dns: None,
            common_name: None,
            organizational_unit: None,
            leaf_key: None,
        };
        match rule.fact {
            Fact::LeafKey(key) => written.leaf_key = Some(key),
            Fact::SanDns(name) => written.san_dns = Some(name),
            Fact::SanUri(uri) => written.san_uri = Some(uri),
            Fact::Subject {
                common_name,
                organizational_unit,
            } => {
                written.common_name = Some(common_name);
                written.organizational_unit = Some(organizational_unit);
            }
        }
        written
    }
}
