//! Secret keys: made, wrapped, unwrapped, and told apart by a check value.
//!
//! Wrapping: AES key wrap (RFC 3394), the same with padding (RFC 5649), RSA-OAEP, and the last two together
//! (`CKM_RSA_AES_KEY_WRAP`) where a token has that. What comes out is the bare wrapped key, as other tools read it; a
//! private key is wrapped as PKCS#8, which wants the padding.

use keywright_encoding::hex;
use keywright_pkcs11::{Ability, Hash, Mechanism, ObjectHandle, SecretKind, Session};
use keywright_pkcs11_names::{AttributeType, KeyType, MechanismType, ObjectClass};
use serde::Serialize;

use crate::desk::Desk;
use crate::error::Error;
use crate::objects::ObjectReport;
use crate::pairs::{Leaving, NewKey};
use crate::selection::KeyChoice;

/// A secret key that was made or brought in.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct SecretReport {
    pub operation: &'static str,
    pub key_label: String,
    pub key_type: String,
    pub bits: Option<u64>,
    pub id: String,
    pub handle: u64,
    pub extractable: bool,
    /// Whether the token itself made it.
    pub local: Option<bool>,
    /// The first bytes of a block of zeros encrypted with it, for keys that have such a value.
    pub check_value: Option<String>,
    pub uri: String,
}

/// Makes a secret key.
///
/// # Errors
/// A token that cannot; [`keywright_pkcs11::Error::Duplicate`]; what the token refuses.
pub fn generate(desk: &Desk, kind: SecretKind, new: &NewKey<'_>) -> Result<SecretReport, Error> {
    let operation = match (kind, new.purpose) {
        (SecretKind::Generic { .. }, _) => "gen-hmac-key",
        (_, keywright_pkcs11::Purpose::Mac) => "gen-cmac-key",
        _ => "gen-symmetric-key",
    };
    desk.session
        .token()
        .require(&kind.mechanism(), Ability::Generate)?;
    let (plan, id) = new.plan(desk)?;
    let key = desk.session.generate_secret(kind, &plan)?;
    report(desk, operation, key, (new, &id))
}

fn report(
    desk: &Desk,
    operation: &'static str,
    key: ObjectHandle,
    (new, id): (&NewKey<'_>, &[u8]),
) -> Result<SecretReport, Error> {
    let object = ObjectReport::read(desk, key)?;
    Ok(SecretReport {
        operation,
        key_label: new.label.to_owned(),
        key_type: object.key_type.unwrap_or_default(),
        bits: object.key_size_bits,
        id: hex::encode(id),
        handle: key.number(),
        extractable: new.leaving == Leaving::Allow,
        local: object.flags.local,
        check_value: check_value(&desk.session, key)?,
        uri: object.uri,
    })
}

/// The check value of a key: what the token keeps, else made with a block of zeros where the key encrypts.
fn check_value(session: &Session, key: ObjectHandle) -> Result<Option<String>, Error> {
    let kept = session.attribute(key, AttributeType::CHECK_VALUE)?;
    if let Some(value) = kept.bytes().filter(|value| !value.is_empty()) {
        return Ok(Some(hex::encode(value)));
    }
    let encrypts = session.attribute(key, AttributeType::ENCRYPT)?.flag();
    let kind = session.attribute(key, AttributeType::KEY_TYPE)?.number();
    if encrypts != Some(true) || kind.map(KeyType::new) != Some(KeyType::AES) {
        return Ok(None);
    }
    let mechanism = Mechanism::Other {
        mechanism: MechanismType::AES_ECB,
        parameter: &[],
    };
    let mut block = Vec::new();
    if session
        .encrypt(&mechanism, key, &[0; 16], &mut block)
        .is_err()
    {
        // A key that may do no more than GCM has no check value that others know.
        return Ok(None);
    }
    Ok(block.get(..3).map(hex::encode))
}

/// How a key is wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Method {
    /// AES key wrap: keys of a multiple of 8 bytes.
    Kw,
    /// AES key wrap with padding: keys of any length.
    Kwp,
    /// An AES key of its own under RSA-OAEP with this hash, and the key under that with padding: keys of any length.
    RsaAes(Hash),
    /// RSA-OAEP with this hash.
    RsaOaep(Hash),
}

impl Method {
    /// On the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kw => "aes-kw",
            Self::Kwp => "aes-kwp",
            Self::RsaAes(_) => "rsa-aes-kw",
            Self::RsaOaep(_) => "rsa-oaep",
        }
    }

    fn mechanism(self, session: &Session, ability: Ability) -> Result<Mechanism<'static>, Error> {
        let token = session.token();
        let mechanism = match self {
            Self::Kw => Mechanism::AesKeyWrap,
            Self::RsaAes(hash) => Mechanism::RsaAesKeyWrap {
                hash,
                aes_bits: 256,
            },
            Self::RsaOaep(hash) => Mechanism::RsaOaep { hash, label: &[] },
            Self::Kwp if token.can(&Mechanism::AesKeyWrapPad, ability) => Mechanism::AesKeyWrapPad,
            Self::Kwp => {
                // The number that RFC 5649 had before version 3.0 of the standard.
                let old = Mechanism::Other {
                    mechanism: MechanismType::AES_KEY_WRAP_PAD,
                    parameter: &[],
                };
                if token.can(&old, ability) {
                    old
                } else {
                    Mechanism::AesKeyWrapPad
                }
            }
        };
        token.require(&mechanism, ability)?;
        Ok(mechanism)
    }

    const fn class(self, ability: Ability) -> ObjectClass {
        match (self, ability) {
            (Self::RsaOaep(_) | Self::RsaAes(_), Ability::Wrap) => ObjectClass::PUBLIC_KEY,
            (Self::RsaOaep(_) | Self::RsaAes(_), _) => ObjectClass::PRIVATE_KEY,
            _ => ObjectClass::SECRET_KEY,
        }
    }
}

/// `wrap-key`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct WrapReport {
    pub operation: &'static str,
    pub key_label: String,
    pub wrapping_key_label: String,
    pub method: &'static str,
    pub mechanism: String,
    pub key_type: Option<String>,
    pub bits: Option<u64>,
    pub wrapped_bytes: usize,
    pub check_value: Option<String>,
}

/// The key to wrap: the secret key that is named, else the private key.
fn leaving(desk: &Desk, choice: &KeyChoice<'_>) -> Result<ObjectHandle, Error> {
    match desk.find(choice, ObjectClass::SECRET_KEY) {
        Err(missing @ Error::NoKey { .. }) => {
            let private = desk.find(choice, ObjectClass::PRIVATE_KEY);
            private.map_err(|error| match error {
                Error::NoKey { .. } => missing,
                other => other,
            })
        }
        found => found,
    }
}

/// Wraps a secret or private key under another key.
///
/// # Errors
/// [`Error::Stays`]; [`Error::Refused`] for a wrapping key that may not wrap, or one that can also decrypt
/// what it wrapped; what the token refuses.
pub fn wrap(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    wrapping: &KeyChoice<'_>,
    method: Method,
) -> Result<(Vec<u8>, WrapReport), Error> {
    let session = &desk.session;
    let key = leaving(desk, choice)?;
    let under = desk
        .find(wrapping, method.class(Ability::Wrap))
        .map_err(Error::named_by_one_word)?;
    let flag = |object, kind| -> Result<Option<bool>, Error> {
        Ok(session.attribute(object, kind)?.flag())
    };
    let refuse = |text: &str| Err(Error::Refused(text.to_owned()));
    if flag(key, AttributeType::EXTRACTABLE)? == Some(false) {
        return Err(Error::Stays);
    }
    if flag(under, AttributeType::WRAP)? == Some(false) {
        return refuse("the wrapping key may not wrap; make one with --usage wrap");
    }
    if flag(under, AttributeType::DECRYPT)? == Some(true) {
        return refuse(
            "the wrapping key can also decrypt, so it would give the key away; make one with --usage wrap",
        );
    }
    let mechanism = method.mechanism(session, Ability::Wrap)?;
    let mut out = Vec::new();
    session.wrap_key(&mechanism, under, key, &mut out)?;
    let object = ObjectReport::read(desk, key)?;
    let report = WrapReport {
        operation: "wrap-key",
        key_label: object.label.unwrap_or_default(),
        wrapping_key_label: session.candidate(under)?.label.unwrap_or_default(),
        method: method.name(),
        mechanism: mechanism.kind().to_string(),
        key_type: object.key_type,
        bits: object.key_size_bits,
        wrapped_bytes: out.len(),
        check_value: check_value(session, key)?,
    };
    Ok((out, report))
}

/// A kind of key that comes in wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Entering {
    /// A private key on a Weierstrass curve, as PKCS#8.
    Ec,
    /// A private key of RSA, as PKCS#8.
    Rsa,
    /// A secret key.
    Secret(SecretKind),
}

/// What is unwrapped.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what an unwrapped key is made with"
)]
pub struct Unwrapped<'a> {
    /// How it was wrapped.
    pub method: Method,
    /// Its kind; the length comes out of the wrapping.
    pub kind: Entering,
    /// What it is to be.
    pub new: NewKey<'a>,
    /// What its check value must be, in hexadecimal.
    pub check_value: Option<&'a str>,
}

/// Unwraps a secret or private key into the token. A private key comes alone: its public half is not made.
///
/// # Errors
/// [`Error::Rejected`] if it does not open; [`Error::Unfit`] if its check value is another (the key is gone
/// again); what the token refuses.
pub fn unwrap(
    desk: &Desk,
    unwrapping: &KeyChoice<'_>,
    wrapped: &[u8],
    what: &Unwrapped<'_>,
) -> Result<SecretReport, Error> {
    let session = &desk.session;
    let under = desk
        .find(unwrapping, what.method.class(Ability::Unwrap))
        .map_err(Error::named_by_one_word)?;
    let mechanism = what.method.mechanism(session, Ability::Unwrap)?;
    let (plan, id) = what.new.plan(desk)?;
    let made = match what.kind {
        Entering::Secret(kind) => session.unwrap_secret(&mechanism, under, wrapped, (kind, &plan)),
        private => {
            let kind = match private {
                Entering::Rsa => KeyType::RSA,
                _ => KeyType::EC,
            };
            let template = plan.private(kind.value());
            let wanted = (&template, plan.purpose());
            session.unwrap_key(&mechanism, under, wrapped, wanted)
        }
    };
    let key = made.map_err(|error| crate::error::rejected(error, session))?;
    let report = report(desk, "unwrap-key", key, (&what.new, &id))?;
    let wanted = what.check_value.map(str::to_ascii_lowercase);
    if wanted.is_some() && wanted != report.check_value {
        session.destroy_object(key)?;
        return Err(Error::Unfit("check value of the unwrapped key"));
    }
    Ok(report)
}
