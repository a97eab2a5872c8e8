//! `encrypt`, `decrypt` with RSA: OAEP with SHA-256, and with SHA-1 on a token that has no other. PKCS#1 v1.5 is taken
//! where it is asked for by name and nowhere else.
//!
//! Not here: inputs longer than the modulus takes ([`crate::hybrid`]).

use std::io::Read;

use keywright_pkcs11::{
    Ability, Error as Layer, Failure, Hash, Mechanism, ObjectHandle, Remedy, Session,
};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_secret::SecretBytes;
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::{Error, rejected};
use crate::piece::{WHOLE, whole};
use crate::scheme::refuses_parameter;
use crate::selection::KeyChoice;

/// How an input is padded to the length of the modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Padding {
    /// OAEP with this hash, else with the first that the token takes.
    Oaep(Option<Hash>),
    /// PKCS#1 v1.5 (RFC 8017, 7.2), for what knows no other: whoever can have many ciphertexts decrypted and is told which of
    /// them fail can read one.
    Pkcs1,
}

/// `encrypt`, `decrypt` with RSA.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct OaepReport {
    pub operation: &'static str,
    pub key_label: String,
    pub mechanism: &'static str,
    /// Of OAEP.
    pub hash: Option<&'static str>,
    pub input_bytes: usize,
    pub output_bytes: usize,
}

/// The hashes that are tried in turn where none is asked for.
const OAEP_HASHES: [Hash; 2] = [Hash::Sha256, Hash::Sha1];

/// Encrypts a short input with an RSA public key.
///
/// # Errors
/// [`Layer::InputTooLong`] with the limit of the key; [`Error::NoKey`]; what the token refuses.
pub fn encrypt(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    padding: Padding,
    input: &mut dyn Read,
) -> Result<(Vec<u8>, OaepReport), Error> {
    let key = desk.find(choice, ObjectClass::PUBLIC_KEY)?;
    let plain = whole(input, WHOLE)?;
    let (out, hash) = match padding {
        Padding::Oaep(hash) => {
            let (out, hash) = sealed(desk, key, hash, &plain)?;
            (out, Some(hash))
        }
        Padding::Pkcs1 => (sealed_pkcs1(desk, key, &plain)?, None),
    };
    let report = report(desk, ("encrypt", key, hash), plain.len(), out.len())?;
    Ok((out, report))
}

/// Bytes of an input that PKCS#1 v1.5 needs for itself (RFC 8017, 7.2.1).
const PKCS1_OVERHEAD: usize = 11;

fn sealed_pkcs1(desk: &Desk, key: ObjectHandle, plain: &SecretBytes) -> Result<Vec<u8>, Error> {
    let session = &desk.session;
    session
        .token()
        .require(&Mechanism::RsaPkcs1, Ability::Encrypt)?;
    let limit = session.modulus_len(key)?.saturating_sub(PKCS1_OVERHEAD);
    let length = plain.len();
    if length > limit {
        return Err(Layer::InputTooLong { length, limit }.into());
    }
    let mut out = Vec::new();
    session.encrypt(&Mechanism::RsaPkcs1, key, plain.expose(), &mut out)?;
    Ok(out)
}

fn sealed(
    desk: &Desk,
    key: ObjectHandle,
    hash: Option<Hash>,
    plain: &SecretBytes,
) -> Result<(Vec<u8>, Hash), Layer> {
    let run = |hash: Hash| -> Result<Vec<u8>, Layer> {
        let mut out = Vec::new();
        let mechanism = Mechanism::RsaOaep { hash, label: &[] };
        desk.session
            .encrypt(&mechanism, key, plain.expose(), &mut out)?;
        Ok(out)
    };
    negotiated(hash, run)
}

/// A key of our own under an RSA public key, with the hash that was taken and the label of the public key.
pub(crate) fn wrap(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    hash: Option<Hash>,
    own: &SecretBytes,
) -> Result<(Vec<u8>, Hash, String), Error> {
    let key = desk.find(choice, ObjectClass::PUBLIC_KEY)?;
    let (out, hash) = sealed(desk, key, hash, own)?;
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    Ok((out, hash, label.text().unwrap_or_default()))
}

/// The key that [`wrap`] put there, with the label of the private key.
pub(crate) fn unwrap(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    hash: Hash,
    wrapped: &[u8],
) -> Result<(SecretBytes, String), Error> {
    let key = desk.find(choice, ObjectClass::PRIVATE_KEY)?;
    let access = desk.access(key, desk.always_asks(key)?);
    let mechanism = Mechanism::RsaOaep { hash, label: &[] };
    let mut out = Vec::with_capacity(64);
    let opened = desk.session.decrypt(&mechanism, access, wrapped, &mut out);
    let key_bytes = SecretBytes::from_vec(out);
    opened.map_err(|error| rejected(error, &desk.session))?;
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    Ok((key_bytes, label.text().unwrap_or_default()))
}

/// Decrypts what an RSA public key encrypted.
///
/// # Errors
/// [`Error::Rejected`] if it does not open, whatever the reason; what the token refuses before it looks at it.
pub fn decrypt(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    padding: Padding,
    input: &mut dyn Read,
) -> Result<(SecretBytes, OaepReport), Error> {
    let key = desk.find(choice, ObjectClass::PRIVATE_KEY)?;
    let asks = desk.always_asks(key)?;
    let sealed = whole(input, 1 << 20)?;
    let run = |mechanism: &Mechanism<'_>| -> Result<Vec<u8>, Layer> {
        let mut out = Vec::new();
        let access = desk.access(key, asks);
        desk.session
            .decrypt(mechanism, access, sealed.expose(), &mut out)?;
        Ok(out)
    };
    let (out, hash) = match padding {
        Padding::Oaep(hash) => {
            let run = |hash| run(&Mechanism::RsaOaep { hash, label: &[] });
            let opened = negotiated(hash, run);
            let (out, hash) = opened.map_err(|error| rejected(error, &desk.session))?;
            (out, Some(hash))
        }
        Padding::Pkcs1 => {
            let token = desk.session.token();
            token.require(&Mechanism::RsaPkcs1, Ability::Decrypt)?;
            // RFC 8017, 7.2.2: a length is no secret, and tokens answer a wrong one in ways of their own.
            if sealed.len() != desk.session.modulus_len(key)? {
                return Err(Error::Rejected { failure: None });
            }
            (
                run(&Mechanism::RsaPkcs1).map_err(|error| uniform(error, &desk.session))?,
                None,
            )
        }
    };
    let report = report(desk, ("decrypt", key, hash), sealed.len(), out.len())?;
    Ok((SecretBytes::from_vec(out), report))
}

/// One answer for everything that a decryption itself can fail with: which code it was would tell of the padding.
fn uniform(error: Layer, session: &Session) -> Error {
    let about_data = |failure: &Failure| {
        failure.function() == "C_Decrypt"
            && (failure.remedy() == Remedy::GiveUp || failure.is_ambiguous())
    };
    match error.failure() {
        Some(failure) if about_data(failure) && session.check().is_ok() => {
            Error::Rejected { failure: None }
        }
        _ => error.into(),
    }
}

/// Runs with the hash that is asked for; else with the first that the token takes as a parameter.
fn negotiated(
    hash: Option<Hash>,
    run: impl Fn(Hash) -> Result<Vec<u8>, Layer>,
) -> Result<(Vec<u8>, Hash), Layer> {
    if let Some(hash) = hash {
        return Ok((run(hash)?, hash));
    }
    let [first, second] = OAEP_HASHES;
    match run(first) {
        Err(error) if refuses_parameter(&error) => Ok((run(second)?, second)),
        done => Ok((done?, first)),
    }
}

fn report(
    desk: &Desk,
    (operation, key, hash): (&'static str, ObjectHandle, Option<Hash>),
    input_bytes: usize,
    output_bytes: usize,
) -> Result<OaepReport, Error> {
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    Ok(OaepReport {
        operation,
        key_label: label.text().unwrap_or_default(),
        mechanism: match hash {
            Some(_) => "CKM_RSA_PKCS_OAEP",
            None => "CKM_RSA_PKCS",
        },
        hash: hash.map(hash_name),
        input_bytes,
        output_bytes,
    })
}
