//! `sign`, `verify`: RSA, ECDSA, `EdDSA` and ML-DSA, over inputs of any size.
//!
//! The token hashes where it has the mechanism for that. Where it only signs a hash, the hash is made here:
//! SHA-256, SHA-384, SHA-512 and no others. ECDSA signatures are r and s side by side, or DER.
//!
//! Not here: Ed25519ctx and Ed25519ph, contexts and the pre-hashed variant of ML-DSA, SLH-DSA.

use std::io::Read;

use keywright_pkcs11::{Ability, Mechanism, ObjectHandle, Session};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_secret::SecretBytes;
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::Error;
use crate::piece::{Pieces, WHOLE, whole};
use crate::scheme::Settled;
pub use crate::scheme::{Given, How, Scheme, SignatureForm};
use crate::selection::KeyChoice;
use keywright_encoding::der;

/// `sign`, `verify`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct SignReport {
    pub operation: &'static str,
    pub key_label: String,
    pub key_type: &'static str,
    pub mechanism: String,
    pub scheme: &'static str,
    pub hash: Option<&'static str>,
    pub input_bytes: u64,
    pub signature_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<&'static str>,
}

impl SignReport {
    fn new(settled: &Settled, operation: &'static str, mechanism: &Mechanism<'_>) -> Self {
        Self {
            operation,
            key_label: String::new(),
            key_type: settled.key_type,
            mechanism: mechanism.kind().to_string(),
            scheme: settled.scheme.name(),
            hash: settled
                .scheme
                .hashes_first()
                .then(|| hash_name(settled.hash)),
            input_bytes: 0,
            signature_bytes: 0,
            verification: None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Sign,
    Verify,
}

/// What goes into the token in one piece, or that it takes the pieces itself.
enum Fed {
    Stream,
    Whole(SecretBytes, u64),
}

/// Decides how the input reaches the token, and reads it where it must be whole.
fn feed<'m>(
    session: &Session,
    settled: &Settled,
    input: &mut dyn Read,
    (given, way): (Given, Way),
) -> Result<(Mechanism<'m>, Fed), Error> {
    let ability = match way {
        Way::Sign => Ability::Sign,
        Way::Verify => Ability::Verify,
    };
    let token = session.token();
    if given == Given::Hash {
        let mechanism = settled.over_hash();
        token.require(&mechanism, ability)?;
        let digest = whole(input, 1024)?;
        let length = digest.len() as u64;
        let prepared = settled.prepared(digest.expose())?;
        return Ok((
            mechanism,
            Fed::Whole(SecretBytes::from_vec(prepared), length),
        ));
    }
    let direct = settled.over_data();
    if !settled.scheme.hashes_first() {
        token.require(&direct, ability)?;
        let data = whole(input, WHOLE)?;
        let length = data.len() as u64;
        return Ok((direct, Fed::Whole(data, length)));
    }
    if token.can(&direct, ability) {
        return Ok((direct, Fed::Stream));
    }
    let mechanism = settled.over_hash();
    if !token.can(&mechanism, ability) {
        token.require(&direct, ability)?;
    }
    let Some((digest, length)) = crate::here::hash(settled.hash, input)? else {
        token.require(&direct, ability)?;
        return Err(Error::Unusable("this hash is not made here".to_owned()));
    };
    let prepared = settled.prepared(&digest)?;
    Ok((
        mechanism,
        Fed::Whole(SecretBytes::from_vec(prepared), length),
    ))
}

/// Signs an input with a private key.
///
/// # Errors
/// [`Error::NoKey`], [`Error::Unusable`]; what the token refuses.
pub fn sign(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    how: How,
    input: &mut dyn Read,
) -> Result<(Vec<u8>, SignReport), Error> {
    let key = desk.find(choice, ObjectClass::PRIVATE_KEY)?;
    sign_with(desk, key, how, input)
}

pub(crate) fn sign_with(
    desk: &mut Desk,
    key: ObjectHandle,
    how: How,
    input: &mut dyn Read,
) -> Result<(Vec<u8>, SignReport), Error> {
    let settled = Settled::new(&desk.session, key, how)?;
    let asks = desk.always_asks(key)?;
    let (mechanism, fed) = feed(&desk.session, &settled, input, (how.input, Way::Sign))?;
    let mut report = SignReport::new(&settled, "sign", &mechanism);
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    let (session, login) = desk.split();
    let access = Desk::key_access(login, key, asks);
    let mut signature = Vec::new();
    report.input_bytes = match fed {
        Fed::Whole(data, length) => {
            session.sign(&mechanism, access, data.expose(), &mut signature)?;
            length
        }
        Fed::Stream => {
            let mut running = session.sign_stream(&mechanism, access)?;
            let length = each(input, |piece| running.update(piece))?;
            running.finish(&mut signature)?;
            length
        }
    };
    if settled.scheme == Scheme::Ecdsa && settled.form == SignatureForm::Der {
        let der = der::signature_to_der(&signature);
        signature = der.ok_or(Error::Unfit("signature that the token made"))?;
    }
    report.signature_bytes = signature.len();
    report.key_label = label.text().unwrap_or_default();
    Ok((signature, report))
}

/// Gives every piece to `take`; an empty input is one empty piece.
pub(crate) fn each(
    input: &mut dyn Read,
    mut take: impl FnMut(&[u8]) -> Result<(), keywright_pkcs11::Error>,
) -> Result<u64, Error> {
    let mut pieces = Pieces::new(input);
    let mut length = 0;
    while let Some(piece) = pieces.next()? {
        take(piece)?;
        length += piece.len() as u64;
    }
    if length == 0 {
        take(&[])?;
    }
    Ok(length)
}

/// Verifies a signature with a public key of the token.
///
/// # Errors
/// [`Error::Unfit`] if it does not fit, and only then; [`Error::NoKey`]; what the token refuses.
pub fn verify(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    how: How,
    input: &mut dyn Read,
    signature: &[u8],
) -> Result<SignReport, Error> {
    let key = desk.find(choice, ObjectClass::PUBLIC_KEY)?;
    verify_with(desk, key, how, input, signature)
}

pub(crate) fn verify_with(
    desk: &mut Desk,
    key: ObjectHandle,
    how: How,
    input: &mut dyn Read,
    signature: &[u8],
) -> Result<SignReport, Error> {
    let settled = Settled::new(&desk.session, key, how)?;
    let (mechanism, fed) = feed(&desk.session, &settled, input, (how.input, Way::Verify))?;
    let mut report = SignReport::new(&settled, "verify", &mechanism);
    report.key_label = desk
        .session
        .attribute(key, AttributeType::LABEL)?
        .text()
        .unwrap_or_default();
    report.signature_bytes = signature.len();
    let unfit = || Error::Unfit("signature");
    let raw = match (settled.scheme, settled.form) {
        (Scheme::Ecdsa, SignatureForm::Der) => {
            der::signature_from_der(signature, settled.half).ok_or_else(unfit)?
        }
        _ => signature.to_vec(),
    };
    let session = &mut desk.session;
    let done = match fed {
        Fed::Whole(data, length) => {
            report.input_bytes = length;
            session.verify(&mechanism, key, data.expose(), &raw)
        }
        Fed::Stream => {
            let mut running = session.verify_stream(&mechanism, key)?;
            report.input_bytes = each(input, |piece| running.update(piece))?;
            running.finish(&raw)
        }
    };
    done?;
    report.verification = Some("valid");
    Ok(report)
}
