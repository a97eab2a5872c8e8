//! Numbers of the header as names.

use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};

pub(crate) const fn attribute(number: u64) -> AttributeType {
    AttributeType::new(number)
}

pub(crate) const fn class(number: u64) -> ObjectClass {
    ObjectClass::new(number)
}

pub(crate) const fn key_type(number: u64) -> KeyType {
    KeyType::new(number)
}
