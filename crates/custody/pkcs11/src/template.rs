//! Templates: the attributes an object is made with, looked for by, or changed to.

use std::fmt;

use cryptoki_sys as ck;
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};
use keywright_secret::{SecretBytes, wipe_vec};

/// Attributes with their values. Values are wiped when the template is dropped, since one may be a key.
#[derive(Default)]
pub struct Template {
    entries: Vec<(u64, Vec<u8>)>,
}

impl Template {
    /// No attribute: as a search, every object.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// With an attribute that is true.
    #[must_use]
    pub fn yes(self, kind: AttributeType) -> Self {
        self.raw(kind.value(), vec![ck::CK_TRUE])
    }

    /// With an attribute that is false.
    #[must_use]
    pub fn no(self, kind: AttributeType) -> Self {
        self.raw(kind.value(), vec![ck::CK_FALSE])
    }

    /// With a number.
    #[must_use]
    pub fn number(self, kind: AttributeType, value: u64) -> Self {
        self.raw(kind.value(), value.to_ne_bytes().to_vec())
    }

    /// With bytes.
    #[must_use]
    pub fn bytes(self, kind: AttributeType, value: &[u8]) -> Self {
        self.raw(kind.value(), value.to_vec())
    }

    /// With bytes that are secret: an imported key.
    #[must_use]
    pub fn secret(self, kind: AttributeType, value: &SecretBytes) -> Self {
        self.raw(kind.value(), value.expose().to_vec())
    }

    /// With a class.
    #[must_use]
    pub fn class(self, class: ObjectClass) -> Self {
        self.raw(ck::CKA_CLASS, class.value().to_ne_bytes().to_vec())
    }

    /// With a key type.
    #[must_use]
    pub fn key_type(self, kind: KeyType) -> Self {
        self.raw(ck::CKA_KEY_TYPE, kind.value().to_ne_bytes().to_vec())
    }

    /// With a label.
    #[must_use]
    pub fn label(self, label: &str) -> Self {
        self.raw(ck::CKA_LABEL, label.as_bytes().to_vec())
    }

    /// With an id.
    #[must_use]
    pub fn id(self, id: &[u8]) -> Self {
        self.raw(ck::CKA_ID, id.to_vec())
    }

    /// With everything in `other`, which wins where both have an attribute.
    #[must_use]
    pub fn and(mut self, mut other: Self) -> Self {
        for (kind, value) in std::mem::take(&mut other.entries) {
            self = self.raw(kind, value);
        }
        self
    }

    /// Whether the attribute is here and true.
    #[must_use]
    pub fn says_yes(&self, kind: AttributeType) -> bool {
        self.find(kind.value()) == Some(&[ck::CK_TRUE])
    }

    /// The value of an attribute as it stands in memory.
    #[must_use]
    pub fn value(&self, kind: AttributeType) -> Option<&[u8]> {
        self.find(kind.value())
    }

    /// The attributes in order.
    pub fn kinds(&self) -> impl Iterator<Item = AttributeType> + '_ {
        self.entries
            .iter()
            .map(|(kind, _)| AttributeType::new(*kind))
    }

    /// Whether there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sets a flag by the header's number.
    pub(crate) fn flag(self, kind: u64, value: u8) -> Self {
        self.raw(kind, vec![value])
    }

    pub(crate) fn raw(mut self, kind: u64, value: Vec<u8>) -> Self {
        match self.entries.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, place)) => {
                wipe_vec(place);
                *place = value;
            }
            None => self.entries.push((kind, value)),
        }
        self
    }

    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = (u64, &[u8])> {
        self.entries
            .iter()
            .map(|(kind, value)| (*kind, value.as_slice()))
    }

    pub(crate) fn find(&self, kind: u64) -> Option<&[u8]> {
        let found = self.entries.iter().find(|(other, _)| *other == kind);
        found.map(|(_, value)| value.as_slice())
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        for (_, value) in &mut self.entries {
            wipe_vec(value);
        }
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: AttributeType = AttributeType::new(ck::CKA_LABEL);
    const WRAP: AttributeType = AttributeType::new(ck::CKA_WRAP);

    #[test]
    fn an_attribute_stands_once_and_the_last_word_counts() {
        let template = Template::new().label("a").yes(WRAP).label("b").no(WRAP);
        assert_eq!(template.kinds().count(), 2);
        assert_eq!(template.value(LABEL), Some(&b"b"[..]));
        assert!(!template.says_yes(WRAP));
        assert!(template.and(Template::new().yes(WRAP)).says_yes(WRAP));
    }

    #[test]
    fn a_template_shows_what_it_sets_and_not_to_what() {
        let secret = SecretBytes::from_vec(b"hunter2".to_vec());
        let template = Template::new().secret(AttributeType::new(ck::CKA_VALUE), &secret);
        let shown = format!("{template:?}");
        assert!(
            !shown.contains("hunter2") && !shown.contains("104"),
            "{shown}"
        );
    }
}
