//! What the value of an attribute is, and which values are the secret of a key (PKCS#11 3.2, sections 4 to 6).

use crate::tables::attribute_values;
use crate::{AttributeType, ObjectClass};

/// What the value of an attribute is. Of numbers with names, of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueType {
    /// `CK_BBOOL`.
    Flag,
    /// `CK_ULONG` that counts or measures.
    Number,
    /// An array of `CK_ULONG`.
    Numbers,
    /// A big-endian number of any length.
    BigInteger,
    /// Bytes without further meaning, or an encoding such as DER.
    Bytes,
    /// UTF-8.
    Text,
    /// `CK_DATE`.
    Date,
    /// An array of `CK_ATTRIBUTE`.
    Template,
    /// An array of [`MechanismType`](crate::MechanismType).
    Mechanisms,
    /// A [`MechanismType`](crate::MechanismType).
    Mechanism,
    /// A [`CertificateType`](crate::CertificateType).
    CertificateType,
    /// A [`HardwareFeature`](crate::HardwareFeature).
    HardwareFeature,
    /// A [`KeyType`](crate::KeyType).
    KeyType,
    /// An [`ObjectClass`].
    ObjectClass,
    /// A [`Profile`](crate::Profile).
    Profile,
}

/// Secrets in objects of any class: parts of private keys, seeds, the keys of a ratchet.
const SECRETS: [AttributeType; 15] = [
    AttributeType::PRIVATE_EXPONENT,
    AttributeType::PRIME_1,
    AttributeType::PRIME_2,
    AttributeType::EXPONENT_1,
    AttributeType::EXPONENT_2,
    AttributeType::COEFFICIENT,
    AttributeType::SEED,
    AttributeType::X2RATCHET_CKR,
    AttributeType::X2RATCHET_CKS,
    AttributeType::X2RATCHET_DHS,
    AttributeType::X2RATCHET_HKR,
    AttributeType::X2RATCHET_HKS,
    AttributeType::X2RATCHET_NHKR,
    AttributeType::X2RATCHET_NHKS,
    AttributeType::X2RATCHET_RK,
];

/// Classes whose `CKA_VALUE` is public. In every other one, a vendor's included, it is the key.
const PUBLIC: [ObjectClass; 3] = [
    ObjectClass::CERTIFICATE,
    ObjectClass::DATA,
    ObjectClass::PUBLIC_KEY,
];

impl AttributeType {
    /// What its value is; `None` for attributes of vendors.
    #[must_use]
    pub fn value_type(self) -> Option<ValueType> {
        let table = &attribute_values::TABLE;
        let at = table.binary_search_by_key(&self, |(kind, _)| *kind).ok()?;
        table.get(at).map(|(_, value)| *value)
    }

    /// Whether its value is the secret of a key, in an object of this class. Where the class is not known, it may be.
    #[must_use]
    pub fn is_secret_in(self, class: Option<ObjectClass>) -> bool {
        let is_value = self == Self::VALUE && !class.is_some_and(|class| PUBLIC.contains(&class));
        is_value || SECRETS.contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Named as _;

    #[test]
    fn each_attribute_of_the_header_has_a_type() {
        for kind in AttributeType::all() {
            let is_known = kind != AttributeType::VENDOR_DEFINED;
            assert_eq!(kind.value_type().is_some(), is_known, "{kind}");
        }
        assert_eq!(AttributeType::new(0x8000_0001).value_type(), None);
        assert_eq!(AttributeType::ID.value_type(), Some(ValueType::Bytes));
        assert_eq!(
            AttributeType::PUBLIC_EXPONENT.value_type(),
            Some(ValueType::BigInteger)
        );
    }

    #[test]
    fn the_secret_of_a_key_depends_on_its_class() {
        let secret = AttributeType::VALUE;
        for class in [
            ObjectClass::CERTIFICATE,
            ObjectClass::PUBLIC_KEY,
            ObjectClass::DATA,
        ] {
            assert!(!secret.is_secret_in(Some(class)));
            assert!(AttributeType::PRIME_1.is_secret_in(Some(class)));
        }
        for class in [
            ObjectClass::SECRET_KEY,
            ObjectClass::PRIVATE_KEY,
            ObjectClass::OTP_KEY,
        ] {
            assert!(secret.is_secret_in(Some(class)));
        }
        assert!(secret.is_secret_in(None));
        assert!(!AttributeType::MODULUS.is_secret_in(None));
    }
}
