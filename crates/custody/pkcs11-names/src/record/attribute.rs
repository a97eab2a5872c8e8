//! The key of a call, and the attributes of a template without what they must not tell.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ParameterValue, is_false, owned};
use crate::{AttributeType, KeyType, Named, ObjectClass, ValueType};

/// The key of a call, as far as the recorder knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeySummary<'a> {
    /// Its handle in this process.
    pub handle: u64,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ObjectClass>,
    /// Its type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<KeyType>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<u64>,
    /// Stands for its label or id: equal for equal ones within a log.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Cow<'a, str>>,
}

impl KeySummary<'_> {
    /// Of a handle of which nothing is known.
    #[must_use]
    pub fn new(handle: u64) -> Self {
        Self {
            handle,
            ..Self::default()
        }
    }

    pub(super) fn into_owned(self) -> KeySummary<'static> {
        KeySummary {
            handle: self.handle,
            class: self.class,
            kind: self.kind,
            bits: self.bits,
            tag: self.tag.map(owned),
        }
    }
}

/// What of an attribute's value may stand in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a recorder that forgot one would show it"
)]
pub enum Disclosure {
    /// Its length alone: secrets, and whatever is not known.
    Length,
    /// A keyed tag, by which equal values are recognised.
    Tag,
    /// The value.
    Value,
}

impl AttributeType {
    /// What of the value of such an attribute may stand in a record. What is not listed is a secret.
    #[must_use]
    pub fn disclosure(self) -> Disclosure {
        match self {
            Self::ALWAYS_AUTHENTICATE
            | Self::ALWAYS_SENSITIVE
            | Self::CERTIFICATE_TYPE
            | Self::CLASS
            | Self::COPYABLE
            | Self::DECAPSULATE
            | Self::DECRYPT
            | Self::DERIVE
            | Self::DESTROYABLE
            | Self::EC_PARAMS
            | Self::ENCAPSULATE
            | Self::ENCRYPT
            | Self::EXTRACTABLE
            | Self::KEY_GEN_MECHANISM
            | Self::KEY_TYPE
            | Self::LOCAL
            | Self::MODIFIABLE
            | Self::MODULUS_BITS
            | Self::NEVER_EXTRACTABLE
            | Self::PARAMETER_SET
            | Self::PRIVATE
            | Self::SENSITIVE
            | Self::SIGN
            | Self::SIGN_RECOVER
            | Self::TOKEN
            | Self::TRUSTED
            | Self::UNWRAP
            | Self::VALUE_LEN
            | Self::VERIFY
            | Self::VERIFY_RECOVER
            | Self::WRAP
            | Self::WRAP_WITH_TRUSTED => Disclosure::Value,
            Self::ID | Self::LABEL => Disclosure::Tag,
            _ => Disclosure::Length,
        }
    }
}

/// An attribute of a template, without what it must not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttributeSummary<'a> {
    /// Its name, or its number in hexadecimal.
    #[serde(borrow)]
    pub attr: Cow<'a, str>,
    /// The length of its value, in bytes.
    pub len: u64,
    /// The value, where it may be seen, or its tag.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub value: Option<ParameterValue<'a>>,
    /// Whether a value was there and is not shown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub redacted: bool,
}

impl AttributeSummary<'_> {
    /// Of an attribute as it lies in memory. `tag` makes the tag of a value; it is called only where a tag is what
    /// may be shown.
    pub fn of(attribute: AttributeType, value: &[u8], tag: impl FnOnce(&[u8]) -> String) -> Self {
        let shown = match attribute.disclosure() {
            Disclosure::Length => None,
            Disclosure::Tag => Some(ParameterValue::Text(Cow::Owned(tag(value)))),
            Disclosure::Value => plain(attribute, value),
        };
        Self {
            attr: attribute
                .name()
                .map_or_else(|| Cow::Owned(attribute.to_string()), Cow::Borrowed),
            len: u64::try_from(value.len()).unwrap_or(u64::MAX),
            redacted: !value.is_empty() && !matches!(attribute.disclosure(), Disclosure::Value),
            value: shown,
        }
    }

    pub(super) fn into_owned(self) -> AttributeSummary<'static> {
        AttributeSummary {
            attr: owned(self.attr),
            len: self.len,
            value: self.value.map(ParameterValue::into_owned),
            redacted: self.redacted,
        }
    }
}

/// The longest curve or parameter that is shown, in bytes; whatever is longer is not what it says it is.
const LONGEST_SHOWN: usize = 64;

/// A value by its type: a `CK_BBOOL`, a `CK_ULONG` of this or of a smaller machine, an encoded object identifier.
fn plain(attribute: AttributeType, value: &[u8]) -> Option<ParameterValue<'static>> {
    if attribute == AttributeType::EC_PARAMS {
        let hexadecimal = || value.iter().map(|byte| format!("{byte:02x}")).collect();
        return (value.len() <= LONGEST_SHOWN)
            .then(|| ParameterValue::Text(Cow::Owned(hexadecimal())));
    }
    if attribute.value_type() == Some(ValueType::Flag) {
        let [flag] = value else { return None };
        return Some(ParameterValue::Flag(*flag != 0));
    }
    let number = match value.len() {
        4 => u64::from(u32::from_ne_bytes(value.try_into().ok()?)),
        8 => u64::from_ne_bytes(value.try_into().ok()?),
        _ => return None,
    };
    Some(ParameterValue::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(attribute: AttributeType, value: &[u8]) -> AttributeSummary<'static> {
        AttributeSummary::of(attribute, value, |_| "tag".to_owned())
    }

    #[test]
    fn secrets_and_unknown_attributes_leave_their_length_only() {
        let canary = b"canary-canary-32-bytes-long-....";
        for attribute in [
            AttributeType::VALUE,
            AttributeType::PRIVATE_EXPONENT,
            AttributeType::PRIME_1,
            AttributeType::PRIME_2,
            AttributeType::EXPONENT_1,
            AttributeType::EXPONENT_2,
            AttributeType::COEFFICIENT,
            AttributeType::SEED,
            AttributeType::new(0x8000_0001),
            AttributeType::new(0x7777),
        ] {
            let summary = summary(attribute, canary);
            assert_eq!(
                (summary.len, summary.value, summary.redacted),
                (32, None, true),
                "{attribute}"
            );
        }
    }

    #[test]
    fn no_attribute_shows_bytes_that_are_long_enough_to_be_a_key() {
        let canary = [0xca; 200];
        for attribute in AttributeType::all() {
            let text = format!("{:?}", summary(attribute, &canary));
            assert!(!text.contains("caca"), "{text}");
        }
    }

    #[test]
    fn labels_and_ids_leave_a_tag() {
        for attribute in [AttributeType::LABEL, AttributeType::ID] {
            let summary = summary(attribute, b"payroll");
            assert_eq!(summary.value, Some(ParameterValue::Text("tag".into())));
            assert!(summary.redacted);
        }
        let unused = |_: &[u8]| unreachable!("a tag of a secret");
        drop(AttributeSummary::of(AttributeType::VALUE, b"x", unused));
    }

    #[test]
    fn flags_numbers_and_curves_are_shown() {
        let class = 3_u64.to_ne_bytes();
        assert_eq!(
            summary(AttributeType::CLASS, &class).value,
            Some(ParameterValue::Number(3))
        );
        assert_eq!(summary(AttributeType::CLASS, &class[..5]).value, None);
        assert_eq!(
            summary(AttributeType::SIGN, &[1]).value,
            Some(ParameterValue::Flag(true))
        );
        let curve = summary(AttributeType::EC_PARAMS, &[6, 1, 0x2a]);
        assert_eq!(curve.value, Some(ParameterValue::Text("06012a".into())));
        assert!(!curve.redacted);
    }
}
