//! `encrypt`, `decrypt` with RSA: OAEP with SHA-256, and with SHA-1 on a token that has no other.
//!
//! Not here: PKCS#1 v1.5 padding, and inputs longer than the modulus takes ([`crate::hybrid`]).

use std::io::Read;

use keywright_pkcs11::{Error as Layer, Hash, Mechanism, ObjectHandle};
use keywright_pkcs11_names::{AttributeType, ObjectClass, ReturnCode};
use keywright_secret::SecretBytes;
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::{Error, rejected};
use crate::piece::{WHOLE, whole};
use crate::selection::KeyChoice;

/// `encrypt`, `decrypt` with RSA.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct OaepReport {
    pub operation: &'static str,
    pub key_label: String,
    pub mechanism: &'static str,
    pub hash: &'static str,
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
    hash: Option<Hash>,
    input: &mut dyn Read,
) -> Result<(Vec<u8>, OaepReport), Error> {
    let key = desk.find(choice, ObjectClass::PUBLIC_KEY)?;
    let plain = whole(input, WHOLE)?;
    let (out, hash) = sealed(desk, key, hash, &plain)?;
    let report = report(desk, ("encrypt", key, hash), plain.len(), out.len())?;
    Ok((out, report))
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
    hash: Option<Hash>,
    input: &mut dyn Read,
) -> Result<(SecretBytes, OaepReport), Error> {
    let key = desk.find(choice, ObjectClass::PRIVATE_KEY)?;
    let asks = desk.always_asks(key)?;
    let sealed = whole(input, 1 << 20)?;
    let run = |hash: Hash| -> Result<Vec<u8>, Layer> {
        let mut out = Vec::new();
        let mechanism = Mechanism::RsaOaep { hash, label: &[] };
        let access = desk.access(key, asks);
        desk.session
            .decrypt(&mechanism, access, sealed.expose(), &mut out)?;
        Ok(out)
    };
    let (out, hash) = negotiated(hash, run).map_err(|error| rejected(error, &desk.session))?;
    let report = report(desk, ("decrypt", key, hash), sealed.len(), out.len())?;
    Ok((SecretBytes::from_vec(out), report))
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

fn refuses_parameter(error: &Layer) -> bool {
    let codes = [
        ReturnCode::ARGUMENTS_BAD,
        ReturnCode::MECHANISM_PARAM_INVALID,
        ReturnCode::MECHANISM_INVALID,
    ];
    error.failure().is_some_and(|failure| {
        failure.function().ends_with("Init") && codes.contains(&failure.code())
    })
}

fn report(
    desk: &Desk,
    (operation, key, hash): (&'static str, ObjectHandle, Hash),
    input_bytes: usize,
    output_bytes: usize,
) -> Result<OaepReport, Error> {
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    Ok(OaepReport {
        operation,
        key_label: label.text().unwrap_or_default(),
        mechanism: "CKM_RSA_PKCS_OAEP",
        hash: hash_name(hash),
        input_bytes,
        output_bytes,
    })
}
