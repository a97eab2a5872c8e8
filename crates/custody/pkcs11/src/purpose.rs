//! What a key in a token is made for, and the narrow template that follows from it.
//!
//! Every attribute on which security depends is written out: a default differs from token to token. One
//! purpose makes one set of usage flags. A key that wraps must not decrypt, because wrapping a key and
//! decrypting the result would give it away; [`Purpose::EncryptAndWrap`] asks for that by name.

use cryptoki_sys as ck;

use crate::names::{attribute, class, key_type};
use crate::template::Template;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// To encrypt and decrypt data.
    Encrypt,
    /// To wrap and unwrap keys.
    Wrap,
    /// To make and verify MACs.
    Mac,
    /// To sign and verify.
    Sign,
    /// To derive keys or agree on them.
    Derive,
    /// To encapsulate and decapsulate (ML-KEM).
    Encapsulate,
    /// Both to encrypt and to wrap: whoever may use the key can read every key that it wraps.
    EncryptAndWrap,
}

/// Usage flags of public (or secret) and private halves.
const ENCRYPT: [u64; 2] = [ck::CKA_ENCRYPT, ck::CKA_DECRYPT];
const WRAP: [u64; 2] = [ck::CKA_WRAP, ck::CKA_UNWRAP];
const SIGN: [u64; 2] = [ck::CKA_VERIFY, ck::CKA_SIGN];
const ENCAPSULATE: [u64; 2] = [ck::CKA_ENCAPSULATE, ck::CKA_DECAPSULATE];

impl Purpose {
    /// Flags for operations that whoever has the public half can do, and for the others.
    const fn flags(self) -> (&'static [u64], &'static [u64]) {
        match self {
            Self::Encrypt => (&[ENCRYPT[0]], &[ENCRYPT[1]]),
            Self::Wrap => (&[WRAP[0]], &[WRAP[1]]),
            Self::Mac | Self::Sign => (&[SIGN[0]], &[SIGN[1]]),
            Self::Derive => (&[], &[ck::CKA_DERIVE]),
            Self::Encapsulate => (&[ENCAPSULATE[0]], &[ENCAPSULATE[1]]),
            Self::EncryptAndWrap => (&[ENCRYPT[0], WRAP[0]], &[ENCRYPT[1], WRAP[1]]),
        }
    }
}

/// Where a key lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these two")]
pub enum Storage {
    /// In the token, until it is destroyed.
    Token,
    /// In the session that made it, until that is closed.
    Session,
}

/// A key to be made or brought in: what for, where, under which name. Not extractable and not modifiable
/// unless that is asked for.
#[derive(Clone, Debug)]
#[must_use]
pub struct KeyPlan {
    purpose: Purpose,
    storage: Storage,
    label: Option<String>,
    id: Vec<u8>,
    extractable: u8,
    modifiable: u8,
}

impl KeyPlan {
    /// A key in the token for `purpose`.
    pub const fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            storage: Storage::Token,
            label: None,
            id: Vec::new(),
            extractable: ck::CK_FALSE,
            modifiable: ck::CK_FALSE,
        }
    }

    /// With a label.
    pub fn label(mut self, label: &str) -> Self {
        self.label = Some(label.to_owned());
        self
    }

    /// With an id, the same on both halves of a pair.
    pub fn id(mut self, id: &[u8]) -> Self {
        self.id = id.to_vec();
        self
    }

    /// In the session alone.
    pub const fn in_session(mut self) -> Self {
        self.storage = Storage::Session;
        self
    }

    /// Such that another key can wrap it. It stays sensitive: nothing shows it in plain.
    pub const fn extractable(mut self) -> Self {
        self.extractable = ck::CK_TRUE;
        self
    }

    /// Such that its attributes can be changed later.
    pub const fn modifiable(mut self) -> Self {
        self.modifiable = ck::CK_TRUE;
        self
    }

    /// What it is for.
    #[must_use]
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// What every object of this plan has.
    fn common(&self, private: u8) -> Template {
        let stored = match self.storage {
            Storage::Token => ck::CK_TRUE,
            Storage::Session => ck::CK_FALSE,
        };
        let mut template = Template::new()
            .flag(ck::CKA_TOKEN, stored)
            .flag(ck::CKA_PRIVATE, private);
        if let Some(label) = &self.label {
            template = template.label(label);
        }
        if !self.id.is_empty() {
            template = template.id(&self.id);
        }
        template
    }

    fn guarded(&self, template: Template) -> Template {
        template
            .flag(ck::CKA_SENSITIVE, ck::CK_TRUE)
            .flag(ck::CKA_EXTRACTABLE, self.extractable)
    }

    /// With the flag that closes the object, which stands last: SoftHSM takes attributes one by one and
    /// refuses what follows it when it unwraps.
    fn closed(&self, template: Template) -> Template {
        template.flag(ck::CKA_MODIFIABLE, self.modifiable)
    }

    /// The template of a secret key.
    #[must_use]
    pub fn secret(&self, kind: u64) -> Template {
        let (public, private) = self.purpose.flags();
        let template = self
            .guarded(self.common(ck::CK_TRUE))
            .class(class(ck::CKO_SECRET_KEY))
            .key_type(key_type(kind));
        let on = [public, private].concat();
        self.closed(usage(template, &on, &SECRET_USAGE))
    }

    /// The template of a public key.
    #[must_use]
    pub fn public(&self, kind: u64) -> Template {
        let template = self
            .common(ck::CK_FALSE)
            .class(class(ck::CKO_PUBLIC_KEY))
            .key_type(key_type(kind));
        self.closed(usage(template, self.purpose.flags().0, &PUBLIC_USAGE))
    }

    /// The template of a private key.
    #[must_use]
    pub fn private(&self, kind: u64) -> Template {
        let template = self
            .guarded(self.common(ck::CK_TRUE))
            .class(class(ck::CKO_PRIVATE_KEY))
            .key_type(key_type(kind));
        self.closed(usage(template, self.purpose.flags().1, &PRIVATE_USAGE))
    }
}

/// The flags that each class of key has; those of version 3.2 are written only where they are wanted, since
/// older tokens do not know them.
const SECRET_USAGE: [u64; 7] = [
    ck::CKA_ENCRYPT,
    ck::CKA_DECRYPT,
    ck::CKA_SIGN,
    ck::CKA_VERIFY,
    ck::CKA_WRAP,
    ck::CKA_UNWRAP,
    ck::CKA_DERIVE,
];
const PUBLIC_USAGE: [u64; 3] = [ck::CKA_ENCRYPT, ck::CKA_VERIFY, ck::CKA_WRAP];
const PRIVATE_USAGE: [u64; 4] = [
    ck::CKA_DECRYPT,
    ck::CKA_SIGN,
    ck::CKA_UNWRAP,
    ck::CKA_DERIVE,
];

/// Writes the flags of a class, and those that are on whatever the class.
fn usage(mut template: Template, on: &[u64], all: &[u64]) -> Template {
    for kind in all {
        template = template.flag(*kind, ck::CK_FALSE);
    }
    for kind in on {
        template = template.flag(*kind, ck::CK_TRUE);
    }
    template
}

/// Whether a template asks for a key that both wraps and decrypts (or unwraps and encrypts).
pub(crate) fn mixes(template: &Template) -> bool {
    let on = |kind| template.says_yes(attribute(kind));
    (on(ck::CKA_WRAP) && on(ck::CKA_DECRYPT)) || (on(ck::CKA_UNWRAP) && on(ck::CKA_ENCRYPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AES: u64 = ck::CKK_AES;

    fn on(template: &Template) -> Vec<u64> {
        let usage = template.kinds().map(|kind| kind.value());
        usage
            .filter(|kind| SECRET_USAGE.contains(kind) && template.says_yes(attribute(*kind)))
            .collect()
    }

    #[test]
    fn one_purpose_is_one_set_of_flags() {
        let of = |purpose| on(&KeyPlan::new(purpose).secret(AES));
        assert_eq!(of(Purpose::Encrypt), [ck::CKA_ENCRYPT, ck::CKA_DECRYPT]);
        assert_eq!(of(Purpose::Wrap), [ck::CKA_WRAP, ck::CKA_UNWRAP]);
        assert_eq!(of(Purpose::Mac), [ck::CKA_SIGN, ck::CKA_VERIFY]);
        assert_eq!(of(Purpose::Derive), [ck::CKA_DERIVE]);
    }

    #[test]
    fn only_the_purpose_that_says_so_wraps_and_decrypts() {
        let purposes = [
            Purpose::Encrypt,
            Purpose::Wrap,
            Purpose::Mac,
            Purpose::Sign,
            Purpose::Derive,
            Purpose::Encapsulate,
        ];
        for purpose in purposes {
            let plan = KeyPlan::new(purpose);
            assert!(!mixes(&plan.secret(AES)), "{purpose:?}");
            assert!(!mixes(&plan.private(ck::CKK_RSA)), "{purpose:?}");
        }
        assert!(mixes(&KeyPlan::new(Purpose::EncryptAndWrap).secret(AES)));
    }

    #[test]
    fn whatever_is_asked_for_a_key_stays_sensitive_and_private() {
        let plans = [
            KeyPlan::new(Purpose::Encrypt),
            KeyPlan::new(Purpose::Wrap).extractable().modifiable(),
            KeyPlan::new(Purpose::Mac).in_session(),
        ];
        for plan in plans {
            for template in [plan.secret(AES), plan.private(ck::CKK_RSA)] {
                assert!(template.says_yes(attribute(ck::CKA_SENSITIVE)));
                assert!(template.says_yes(attribute(ck::CKA_PRIVATE)));
            }
        }
        let plain = KeyPlan::new(Purpose::Encrypt).secret(AES);
        assert_eq!(
            plain.value(attribute(ck::CKA_EXTRACTABLE)),
            Some(&[ck::CK_FALSE][..])
        );
    }
}
