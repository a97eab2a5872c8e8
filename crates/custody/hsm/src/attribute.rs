//! Attributes as they are shown and compared: by the type of their value, never by its length.
//!
//! The secret of a key that a token gives away is told by its length alone, unless it is asked for.

use keywright_encoding::{hex, terminal};
use keywright_pkcs11::{Curve, Reading};
use keywright_pkcs11_names::{
    AttributeType, CertificateType, HardwareFeature, KeyType, MechanismType, Named, ObjectClass,
    Profile, ValueType,
};

use crate::objects::curve_name;

/// Whether the secret of a key is shown, where the token gives it away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Secrets {
    /// Its length alone.
    #[default]
    Hide,
    /// All of it.
    Reveal,
}

/// An attribute of an object, with what came of reading it.
#[derive(Clone, Copy)]
pub(crate) struct Attribute<'r> {
    pub(crate) kind: AttributeType,
    pub(crate) reading: &'r Reading,
    /// The class of the object, where it is known.
    pub(crate) class: Option<ObjectClass>,
}

impl Attribute<'_> {
    /// Whether the value is the secret of a key.
    pub(crate) fn is_secret(&self) -> bool {
        self.kind.is_secret_in(self.class)
    }

    /// As documents and texts show it.
    pub(crate) fn shown(&self, secrets: Secrets) -> String {
        match self.reading {
            Reading::Value(value) if self.is_secret() && secrets == Secrets::Hide => {
                format!("readable ({} bytes)", value.len())
            }
            Reading::Value(value) => written(self.kind, value),
            Reading::Sensitive => "sensitive".to_owned(),
            Reading::Absent => "absent".to_owned(),
            Reading::Failed(code) => format!("error {code}"),
            _ => "unknown".to_owned(),
        }
    }
}

/// A value by its type; one that has not the form of its type, and those of vendors, in hexadecimal with the length.
fn written(kind: AttributeType, value: &[u8]) -> String {
    let known = kind.value_type().and_then(|kind| by_type(kind, value));
    let curve = || Curve::from_parameters(value).map(curve_name);
    match known {
        Some(_) if kind == AttributeType::EC_PARAMS && curve().is_some() => {
            curve().unwrap_or_default().to_owned()
        }
        Some(text) => text,
        None => format!("{} ({} bytes)", hex::encode(value), value.len()),
    }
}

fn by_type(kind: ValueType, value: &[u8]) -> Option<String> {
    Some(match kind {
        // CK_UNAVAILABLE_INFORMATION
        ValueType::Number | ValueType::Mechanism if number(value) == Some(u64::MAX) => {
            "unavailable".to_owned()
        }
        ValueType::Flag => flag(value)?.to_string(),
        ValueType::Number => number(value)?.to_string(),
        ValueType::Numbers => joined(numbers(value)?.iter().map(u64::to_string)),
        ValueType::BigInteger | ValueType::Bytes => hex::encode(value),
        ValueType::Text => match std::str::from_utf8(value) {
            Ok(text) => text.to_owned(),
            Err(_) => terminal::escaped_bytes(value),
        },
        ValueType::Date if value.is_empty() => String::new(),
        ValueType::Date => date(value)?,
        ValueType::Template => template(value)?,
        ValueType::Mechanisms => mechanisms(value)?,
        ValueType::Mechanism => named::<MechanismType>(value)?,
        ValueType::CertificateType => named::<CertificateType>(value)?,
        ValueType::HardwareFeature => named::<HardwareFeature>(value)?,
        ValueType::KeyType => named::<KeyType>(value)?,
        ValueType::ObjectClass => named::<ObjectClass>(value)?,
        ValueType::Profile => named::<Profile>(value)?,
        _ => return None,
    })
}

/// A flag is true if it is not zero.
pub(crate) const fn flag(value: &[u8]) -> Option<bool> {
    match value {
        [value] => Some(*value != 0),
        _ => None,
    }
}

pub(crate) fn number(value: &[u8]) -> Option<u64> {
    Some(u64::from_ne_bytes(value.try_into().ok()?))
}

pub(crate) fn numbers(value: &[u8]) -> Option<Vec<u64>> {
    let (numbers, rest) = value.as_chunks::<8>();
    let all = numbers.iter().map(|number| u64::from_ne_bytes(*number));
    rest.is_empty().then(|| all.collect())
}

fn named<N: Named>(value: &[u8]) -> Option<String> {
    Some(N::from_number(number(value)?).to_string())
}

/// How many attributes a template has. What they are is memory of the module, which nothing reads.
fn template(value: &[u8]) -> Option<String> {
    let (attributes, rest) = value.as_chunks::<24>();
    match (attributes.len(), rest.is_empty()) {
        (1, true) => Some("1 attribute".to_owned()),
        (count, true) => Some(format!("{count} attributes")),
        _ => None,
    }
}

/// A date as it is written, where it is one.
fn date(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_one = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let (year, rest) = text.split_at_checked(4).filter(|_| is_one)?;
    let (month, day) = rest.split_at_checked(2)?;
    Some(format!("{year}-{month}-{day}"))
}

/// The names of mechanisms in a list of their numbers, in the order of names: the list has none.
fn mechanisms(bytes: &[u8]) -> Option<String> {
    let mut names: Vec<_> = numbers(bytes)?
        .into_iter()
        .map(|number| MechanismType::new(number).to_string())
        .collect();
    names.sort_unstable();
    Some(names.join(", "))
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// A big-endian number without the zeros before it, which some tokens write and others do not.
pub(crate) fn digits(value: &[u8]) -> &[u8] {
    let zeros = value.iter().take_while(|byte| **byte == 0).count();
    value.get(zeros..).unwrap_or_default()
}

/// Whether two readings of an attribute say the same.
pub(crate) fn is_same(kind: AttributeType, one: &Reading, other: &Reading) -> bool {
    let (Some(left), Some(right)) = (one.bytes(), other.bytes()) else {
        return one == other;
    };
    let sorted = |value: &[u8]| {
        numbers(value).map(|mut all| {
            all.sort_unstable();
            all
        })
    };
    left == right
        || match kind.value_type() {
            Some(ValueType::Flag) => flag(left).is_some() && flag(left) == flag(right),
            Some(ValueType::BigInteger) => digits(left) == digits(right),
            // A list of mechanisms has no order.
            Some(ValueType::Mechanisms) => sorted(left).is_some() && sorted(left) == sorted(right),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: AttributeType, bytes: &[u8]) -> String {
        let reading = Reading::Value(bytes.to_vec());
        let class = Some(ObjectClass::SECRET_KEY);
        let attribute = Attribute {
            kind,
            reading: &reading,
            class,
        };
        attribute.shown(Secrets::Hide)
    }

    #[test]
    fn values_are_shown_by_type_whatever_their_length() {
        let number = |number: u64| number.to_ne_bytes();
        for (kind, bytes, text) in [
            (AttributeType::ID, &[1][..], "01"),
            (AttributeType::ID, &[0], "00"),
            (AttributeType::ID, &number(1), "0100000000000000"),
            (AttributeType::PUBLIC_EXPONENT, &[3], "03"),
            (AttributeType::PUBLIC_EXPONENT, &[17], "11"),
            (AttributeType::PUBLIC_EXPONENT, &[1, 0, 1], "010001"),
            (AttributeType::CHECK_VALUE, &[1], "01"),
            (AttributeType::SIGN, &[1], "true"),
            (AttributeType::SIGN, &[0], "false"),
            (AttributeType::SIGN, &[], " (0 bytes)"),
            (AttributeType::VALUE_LEN, &number(32), "32"),
            (AttributeType::VALUE_LEN, &[32], "20 (1 bytes)"),
            (AttributeType::CERTIFICATE_TYPE, &number(0), "CKC_X_509"),
            (
                AttributeType::NAME_HASH_ALGORITHM,
                &number(0x250),
                "CKM_SHA256",
            ),
            (AttributeType::CLASS, &number(4), "CKO_SECRET_KEY"),
            (AttributeType::CLASS, &number(0x8000_0007), "0x80000007"),
            (AttributeType::CERTIFICATE_CATEGORY, &number(2), "2"),
            (AttributeType::KEY_GEN_MECHANISM, &[0xff; 8], "unavailable"),
            (AttributeType::HSS_LMS_TYPES, &number(5), "5"),
            (AttributeType::WRAP_TEMPLATE, &[0; 48], "2 attributes"),
            (AttributeType::LABEL, &[1], "\u{1}"),
            (AttributeType::LABEL, b"a\xff", "a\\xff"),
            (AttributeType::new(0x8000_0001), &[1], "01 (1 bytes)"),
            (
                AttributeType::EC_PARAMS,
                &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
                "p256",
            ),
            (AttributeType::EC_PARAMS, &[6], "06"),
        ] {
            assert_eq!(shown(kind, bytes), text, "{kind}");
        }
    }

    #[test]
    fn dates_and_mechanisms_are_written_where_they_are_such() {
        assert_eq!(shown(AttributeType::END_DATE, b"20301231"), "2030-12-31");
        assert_eq!(shown(AttributeType::END_DATE, b""), "");
        assert_eq!(
            shown(AttributeType::END_DATE, b"2030123"),
            "32303330313233 (7 bytes)"
        );
        let list = [0x1087_u64, 0x1_u64].map(u64::to_ne_bytes).concat();
        let names = shown(AttributeType::ALLOWED_MECHANISMS, &list);
        assert_eq!(names, "CKM_AES_GCM, CKM_RSA_PKCS");
        assert_eq!(shown(AttributeType::ALLOWED_MECHANISMS, b""), "");
        assert_eq!(
            shown(AttributeType::ALLOWED_MECHANISMS, &list[..9]).len(),
            18 + " (9 bytes)".len()
        );
    }

    #[test]
    fn the_secret_of_a_key_is_shown_where_it_is_asked_for() {
        let reading = Reading::Value(vec![0xca; 16]);
        let secret = |kind, class| Attribute {
            kind,
            reading: &reading,
            class,
        };
        for (kind, class) in [
            (AttributeType::VALUE, Some(ObjectClass::SECRET_KEY)),
            (AttributeType::VALUE, Some(ObjectClass::PRIVATE_KEY)),
            (AttributeType::VALUE, None),
            (AttributeType::PRIME_2, Some(ObjectClass::PRIVATE_KEY)),
            (AttributeType::SEED, Some(ObjectClass::PRIVATE_KEY)),
        ] {
            let attribute = secret(kind, class);
            assert_eq!(attribute.shown(Secrets::Hide), "readable (16 bytes)");
            assert_eq!(attribute.shown(Secrets::Reveal), "ca".repeat(16));
        }
        let public = secret(AttributeType::VALUE, Some(ObjectClass::CERTIFICATE));
        assert_eq!(public.shown(Secrets::Hide), "ca".repeat(16));
    }

    #[test]
    fn what_says_the_same_is_the_same() {
        let same = |kind, one: &[u8], other: &[u8]| {
            let reading = |bytes: &[u8]| Reading::Value(bytes.to_vec());
            is_same(kind, &reading(one), &reading(other))
        };
        assert!(same(AttributeType::SIGN, &[1], &[0xff]));
        assert!(!same(AttributeType::SIGN, &[1], &[0]));
        assert!(!same(AttributeType::SIGN, &[1, 1], &[2, 2]));
        assert!(same(AttributeType::MODULUS, &[0, 7], &[7]));
        assert!(!same(AttributeType::ID, &[0, 7], &[7]));
        assert!(!same(AttributeType::PUBLIC_EXPONENT, &[3], &[17]));
        let (one, other) = (
            [1_u64, 2].map(u64::to_ne_bytes),
            [2_u64, 1].map(u64::to_ne_bytes),
        );
        let lists = (one.concat(), other.concat());
        assert!(same(AttributeType::ALLOWED_MECHANISMS, &lists.0, &lists.1));
        assert!(is_same(
            AttributeType::ID,
            &Reading::Absent,
            &Reading::Absent
        ));
        assert!(!is_same(
            AttributeType::ID,
            &Reading::Absent,
            &Reading::Sensitive
        ));
    }
}
