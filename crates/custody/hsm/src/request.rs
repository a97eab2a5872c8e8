//! `gen-csr`: certification requests (PKCS#10, RFC 2986), signed in the token.
//!
//! RSA: sha256WithRSAEncryption and its siblings, NULL parameters (RFC 4055). ECDSA: ecdsa-with-SHA2 without
//! parameters (RFC 5758 3.2). Ed25519, Ed448 (RFC 8410) and ML-DSA (RFC 9881): without parameters. The finished
//! request is verified in the token with the public key that it names before it is given out.
//!
//! Not here: RSA-PSS signatures, and extensions other than alternative names.

use keywright_pkcs11::{Curve, Hash, Session, Template};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::Error;
use crate::name::{alternatives, distinguished};
use crate::pairs::type_name;
use crate::public_key::PublicKey;
use crate::selection::KeyChoice;
use crate::signing::{How, SignatureForm, sign_with, verify_with};
use keywright_encoding::der;

/// `gen-csr`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct RequestReport {
    pub operation: &'static str,
    pub key_label: String,
    pub subject: String,
    pub alternative_names: Vec<String>,
    pub key_type: &'static str,
    pub hash: Option<&'static str>,
    pub fingerprint: String,
    /// Whether the token verified the signature itself; a pair without a public half in it cannot.
    pub self_verified: bool,
}

/// The request in DER.
///
/// # Errors
/// [`Error::Name`]; [`Error::NoKey`]; [`Error::Unusable`] for a key that cannot sign requests; what the token
/// refuses.
pub fn request(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    (subject, names): (&str, &[String]),
    hash: Option<Hash>,
) -> Result<(Vec<u8>, RequestReport), Error> {
    let name = distinguished(subject)?;
    let attributes = attributes(names)?;
    let key = desk.find(choice, ObjectClass::PRIVATE_KEY)?;
    let public = PublicKey::of_private(&desk.session, key)?;
    let (hash, key_type) = settle(&public, hash)?;
    let algorithm = algorithm(&public, hash)?;
    let version = der::integer(&[0]);
    let info = der::sequence(&[&version, &name, &public.spki(), &attributes]);
    let how = How {
        hash,
        form: SignatureForm::Der,
        ..How::default()
    };
    let (signature, _) = sign_with(desk, key, how, &mut info.as_slice())?;
    let half = public_half(&desk.session, key)?;
    if let Some(half) = half {
        verify_with(desk, half, how, &mut info.as_slice(), &signature)?;
    }
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    let report = RequestReport {
        operation: "gen-csr",
        key_label: label.text().unwrap_or_default(),
        subject: subject.to_owned(),
        alternative_names: names.to_vec(),
        key_type,
        hash: hash.map(hash_name),
        fingerprint: public.fingerprint(),
        self_verified: half.is_some(),
    };
    let signature = der::bit_string(&signature);
    Ok((der::sequence(&[&info, &algorithm, &signature]), report))
}

/// The same between lines of PEM.
#[must_use]
pub fn pem(request: &[u8]) -> String {
    der::pem("CERTIFICATE REQUEST", request)
}

/// `[0]` with the extension request of RFC 2985 5.4.2, or empty.
fn attributes(names: &[String]) -> Result<Vec<u8>, Error> {
    if names.is_empty() {
        return Ok(der::tlv(0xA0, &[]));
    }
    // 2.5.29.17
    let san = [6, 3, 0x55, 0x1D, 0x11];
    let extension = der::sequence(&[&san, &der::octet_string(&alternatives(names)?)]);
    // 1.2.840.113549.1.9.14
    let wanted = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 14];
    let extensions = der::sequence(&[&extension]);
    let attribute = der::sequence(&[&wanted, &der::set_of(&extensions)]);
    Ok(der::tlv(0xA0, &attribute))
}

/// The hash and the name of the key's type.
fn settle(public: &PublicKey, hash: Option<Hash>) -> Result<(Option<Hash>, &'static str), Error> {
    match public {
        PublicKey::Rsa { .. } => Ok((Some(hash.unwrap_or(Hash::Sha256)), type_name(None))),
        PublicKey::Curve { curve, .. } if curve.is_weierstrass() => {
            let own = match curve.bits() {
                0..=256 => Hash::Sha256,
                257..=384 => Hash::Sha384,
                _ => Hash::Sha512,
            };
            Ok((Some(hash.unwrap_or(own)), type_name(Some(*curve))))
        }
        PublicKey::Curve { curve, .. } => with_its_own(hash, type_name(Some(*curve))),
        PublicKey::MlDsa { set, .. } => with_its_own(hash, set.name()),
    }
}

/// Of a scheme with its own hash, for which none can be chosen.
fn with_its_own(
    hash: Option<Hash>,
    name: &'static str,
) -> Result<(Option<Hash>, &'static str), Error> {
    match hash {
        None => Ok((None, name)),
        Some(_) => Err(Error::Unusable(format!("{name} has its own hash"))),
    }
}

fn algorithm(public: &PublicKey, hash: Option<Hash>) -> Result<Vec<u8>, Error> {
    let none = || Error::Unusable("requests are signed with sha256, sha384 or sha512".to_owned());
    match public {
        PublicKey::Rsa { .. } => {
            let last = match hash {
                Some(Hash::Sha256) => 11,
                Some(Hash::Sha384) => 12,
                Some(Hash::Sha512) => 13,
                _ => return Err(none()),
            };
            let oid = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, last];
            Ok(der::sequence(&[&oid, der::NULL]))
        }
        PublicKey::Curve {
            curve: curve @ (Curve::Ed25519 | Curve::Ed448),
            ..
        } => Ok(der::sequence(&[curve.parameters()])),
        PublicKey::Curve { curve, .. } if curve.is_weierstrass() => {
            let last = match hash {
                Some(Hash::Sha256) => 2,
                Some(Hash::Sha384) => 3,
                Some(Hash::Sha512) => 4,
                _ => return Err(none()),
            };
            Ok(der::sequence(&[&[
                6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, last,
            ]]))
        }
        PublicKey::Curve { .. } => Err(Error::Unusable(
            "keys for agreement sign no requests".to_owned(),
        )),
        PublicKey::MlDsa { set, .. } => Ok(der::sequence(&[set.algorithm()])),
    }
}

/// The public key object of a pair, if the token has exactly one with its id.
fn public_half(
    session: &Session,
    private: keywright_pkcs11::ObjectHandle,
) -> Result<Option<keywright_pkcs11::ObjectHandle>, Error> {
    let id = session.attribute(private, AttributeType::ID)?;
    let Some(id) = id.bytes().filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let template = Template::new().class(ObjectClass::PUBLIC_KEY).id(id);
    match session.find_one(&template) {
        Ok(found) => Ok(Some(found)),
        Err(keywright_pkcs11::Error::NoObject | keywright_pkcs11::Error::ManyObjects { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
