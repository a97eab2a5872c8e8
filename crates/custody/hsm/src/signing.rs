//! `sign`, `verify`: RSA, ECDSA, `EdDSA`, ML-DSA and SLH-DSA, over inputs of any size.
//!
//! The token hashes where it has the mechanism for that. Where it only signs a hash, the hash is made here:
//! SHA-256, SHA-384, SHA-512 and no others. ECDSA signatures are r and s side by side, or DER.
//!
//! A signature can be verified before it is given out ([`Check::Verify`]): in the token with the public half of the pair,
//! in a session of its own that takes the same pieces; without a public half there, in this process.
//!
//! Not here: the pre-hashed variants of ML-DSA and SLH-DSA.

use std::io::Read;

use keywright_pkcs11::{
    Ability, Access, Error as Layer, KeyAccess, Mechanism, ObjectHandle, Session, Template,
};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_secret::SecretBytes;
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::Error;
use crate::piece::{Pieces, WHOLE, whole};
use crate::public_key::PublicKey;
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
    /// Who verified a new signature: the token, or this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_verified: Option<&'static str>,
}

impl SignReport {
    fn new(settled: &Settled<'_>, operation: &'static str, mechanism: &Mechanism<'_>) -> Self {
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
            self_verified: None,
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
    settled: &Settled<'m>,
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

/// Whether a new signature is verified before it is given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Check {
    /// No.
    #[default]
    None,
    /// Yes; one that does not verify is an error of the token.
    Verify,
}

/// Signs an input with a private key.
///
/// # Errors
/// [`Error::NoKey`], [`Error::Unusable`]; [`Error::Faulty`] if the signature is checked and does not verify;
/// [`Error::NoParameter`]; what the token refuses.
pub fn sign(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    (how, check): (How<'_>, Check),
    input: &mut dyn Read,
) -> Result<(Vec<u8>, SignReport), Error> {
    let key = desk.find(choice, ObjectClass::PRIVATE_KEY)?;
    if check == Check::None {
        return sign_with(desk, key, how, input);
    }
    match public_half(&desk.session, key)? {
        Some(public) => {
            let session = desk.session.token().open_for(Access::Read)?;
            let mut witness = Witness { session, public };
            let (signature, mut report) = signed(desk, key, how, (input, Some(&mut witness)))?;
            report.self_verified = Some("token");
            Ok((signature, report))
        }
        None => sign_checked_here(desk, key, how, input),
    }
}

/// Signs what is then verified in this process, which holds it as a whole for that.
fn sign_checked_here(
    desk: &mut Desk,
    key: ObjectHandle,
    how: How<'_>,
    input: &mut dyn Read,
) -> Result<(Vec<u8>, SignReport), Error> {
    let public = PublicKey::of_private(&desk.session, key).map_err(|_| {
        Error::Unusable("the token has no public half to verify its signature with".to_owned())
    })?;
    let spki = public.spki();
    // What is not verified here is refused before anything is signed.
    crate::here::able(&spki, how)?;
    let data = whole(input, WHOLE)?;
    let (signature, mut report) = sign_with(desk, key, how, &mut data.expose())?;
    match crate::here::verify(&spki, how, &mut data.expose(), &signature) {
        Ok(_) => {
            report.self_verified = Some("process");
            Ok((signature, report))
        }
        Err(Error::Unfit(_)) => Err(Error::Faulty),
        Err(error) => Err(error),
    }
}

/// A second session, in which the token verifies while it signs in the first.
struct Witness {
    session: Session,
    public: ObjectHandle,
}

pub(crate) fn sign_with(
    desk: &mut Desk,
    key: ObjectHandle,
    how: How<'_>,
    input: &mut dyn Read,
) -> Result<(Vec<u8>, SignReport), Error> {
    signed(desk, key, how, (input, None))
}

fn signed(
    desk: &mut Desk,
    key: ObjectHandle,
    how: How<'_>,
    (input, witness): (&mut dyn Read, Option<&mut Witness>),
) -> Result<(Vec<u8>, SignReport), Error> {
    let settled = Settled::new(&desk.session, key, how)?;
    let asks = desk.always_asks(key)?;
    let (mechanism, fed) = feed(&desk.session, &settled, input, (how.input, Way::Sign))?;
    if witness.is_some() {
        desk.session.token().require(&mechanism, Ability::Verify)?;
    }
    let mut report = SignReport::new(&settled, "sign", &mechanism);
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    let (session, login) = desk.split();
    let access = Desk::key_access(login, key, asks);
    let begin = |error| settled.refused(error);
    let (mut signature, length) = match fed {
        Fed::Whole(data, length) => {
            let mut signature = Vec::new();
            let done = session.sign(&mechanism, access, data.expose(), &mut signature);
            done.map_err(begin)?;
            if let Some(Witness { session, public }) = witness {
                let verified = session.verify(&mechanism, *public, data.expose(), &signature);
                verified.map_err(faulty)?;
            }
            (signature, length)
        }
        Fed::Stream => streamed(session, (&mechanism, access), (input, witness), begin)?,
    };
    report.input_bytes = length;
    if settled.scheme == Scheme::Ecdsa && settled.form == SignatureForm::Der {
        let der = der::signature_to_der(&signature);
        signature = der.ok_or(Error::Unfit("signature that the token made"))?;
    }
    report.signature_bytes = signature.len();
    report.key_label = label.text().unwrap_or_default();
    Ok((signature, report))
}

/// Signs pieces, which a witness gets as well.
fn streamed(
    session: &mut Session,
    (mechanism, access): (&Mechanism<'_>, KeyAccess<'_>),
    (input, witness): (&mut dyn Read, Option<&mut Witness>),
    begin: impl Fn(Layer) -> Error,
) -> Result<(Vec<u8>, u64), Error> {
    let mut running = session.sign_stream(mechanism, access).map_err(&begin)?;
    let verified = witness.map(|Witness { session, public }| {
        let begun = session.verify_stream(mechanism, *public);
        begun.map_err(begin)
    });
    let mut verified = verified.transpose()?;
    let length = each(input, |piece| {
        running.update(piece)?;
        match &mut verified {
            Some(verified) => verified.update(piece),
            None => Ok(()),
        }
    })?;
    let mut signature = Vec::new();
    running.finish(&mut signature)?;
    if let Some(verified) = verified {
        verified.finish(&signature).map_err(faulty)?;
    }
    Ok((signature, length))
}

/// A new signature that does not fit is the fault of the token.
pub(crate) fn faulty(error: Layer) -> Error {
    match error {
        Layer::SignatureInvalid(_) => Error::Faulty,
        other => other.into(),
    }
}

/// The public key object of a pair, if the token has exactly one with its id.
pub(crate) fn public_half(
    session: &Session,
    private: ObjectHandle,
) -> Result<Option<ObjectHandle>, Error> {
    let id = session.attribute(private, AttributeType::ID)?;
    let Some(id) = id.bytes().filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let template = Template::new().class(ObjectClass::PUBLIC_KEY).id(id);
    match session.find_one(&template) {
        Ok(found) => Ok(Some(found)),
        Err(Layer::NoObject | Layer::ManyObjects { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
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
/// [`Error::Unfit`] if it does not fit, and only then; [`Error::NoKey`]; [`Error::NoParameter`]; what the token refuses.
pub fn verify(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    how: How<'_>,
    input: &mut dyn Read,
    signature: &[u8],
) -> Result<SignReport, Error> {
    let key = desk.find(choice, ObjectClass::PUBLIC_KEY)?;
    verify_with(desk, key, how, input, signature)
}

pub(crate) fn verify_with(
    desk: &mut Desk,
    key: ObjectHandle,
    how: How<'_>,
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
            let begun = session.verify_stream(&mechanism, key);
            let mut running = begun.map_err(|error| settled.refused(error))?;
            report.input_bytes = each(input, |piece| running.update(piece))?;
            running.finish(&raw)
        }
    };
    done.map_err(|error| settled.refused(error))?;
    report.verification = Some("valid");
    Ok(report)
}
