//! `gen-csr`: certification requests (PKCS#10, RFC 2986), signed in the token.
//!
//! RSA: sha256WithRSAEncryption and its siblings, NULL parameters (RFC 4055); or id-RSASSA-PSS, the salt as long as the hash
//! and the mask of the same hash, all three written out. ECDSA: ecdsa-with-SHA2 without parameters (RFC 5758 3.2). Ed25519,
//! Ed448 (RFC 8410), ML-DSA (RFC 9881) and SLH-DSA (RFC 9909): without parameters. The finished request is verified in the
//! token with the public key that it names before it is given out.
//!
//! Not here: extensions other than alternative names and usages.

use keywright_pkcs11::{Curve, Hash};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::Error;
use crate::name::{alternatives, distinguished};
use crate::pairs::type_name;
use crate::public_key::PublicKey;
use crate::scheme::{Scheme, hash_oid};
use crate::selection::KeyChoice;
use crate::signing::{How, SignatureForm, public_half, sign_with, verify_with};
use crate::usages;
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
    pub key_usage: Vec<String>,
    pub extended_key_usage: Vec<String>,
    pub key_type: &'static str,
    pub scheme: &'static str,
    pub hash: Option<&'static str>,
    pub fingerprint: String,
    /// Whether the token verified the signature itself; a pair without a public half in it cannot.
    pub self_verified: bool,
}

/// What a request says, and how it is signed.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "what a request is made from")]
pub struct Wanted<'a> {
    /// The subject (RFC 4514).
    pub subject: &'a str,
    /// Alternative names, such as `dns:example.org`.
    pub names: &'a [String],
    /// Key usages by the names of RFC 5280 4.2.1.3, commas between.
    pub key_usage: Option<&'a str>,
    /// Extended key usages by the names of RFC 5280 4.2.1.12 or as numbers with dots, commas between.
    pub extended_key_usage: Option<&'a str>,
    /// The scheme; that of the key's type if there is none.
    pub scheme: Option<Scheme>,
    /// The hash; that of the key's size if there is none.
    pub hash: Option<Hash>,
}

/// The request in DER.
///
/// # Errors
/// [`Error::Name`]; [`Error::NoKey`]; [`Error::Unusable`] for a key that cannot sign requests; [`Error::Faulty`] if its
/// signature does not verify; what the token refuses.
pub fn request(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    wanted: Wanted<'_>,
) -> Result<(Vec<u8>, RequestReport), Error> {
    let name = distinguished(wanted.subject)?;
    let attributes = attributes(&wanted)?;
    let key = desk.find(choice, ObjectClass::PRIVATE_KEY)?;
    let public = PublicKey::of_private(&desk.session, key)?;
    let (own, hash, key_type) = settle(&public, wanted.hash)?;
    let scheme = own.chosen(wanted.scheme, key_type)?;
    let algorithm = algorithm(&public, scheme, hash)?;
    let version = der::integer(&[0]);
    let info = der::sequence(&[&version, &name, &public.spki(), &attributes]);
    let how = How {
        scheme: Some(scheme),
        hash,
        form: SignatureForm::Der,
        ..How::default()
    };
    let (signature, _) = sign_with(desk, key, how, &mut info.as_slice())?;
    let half = public_half(&desk.session, key)?;
    if let Some(half) = half {
        let verified = verify_with(desk, half, how, &mut info.as_slice(), &signature);
        verified.map_err(|error| match error.kind() {
            crate::error::Kind::Negative => Error::Faulty,
            _ => error,
        })?;
    }
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    let report = RequestReport {
        operation: "gen-csr",
        key_label: label.text().unwrap_or_default(),
        subject: wanted.subject.to_owned(),
        alternative_names: wanted.names.to_vec(),
        key_usage: usages::named(wanted.key_usage),
        extended_key_usage: usages::named(wanted.extended_key_usage),
        key_type,
        scheme: scheme.name(),
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
fn attributes(wanted: &Wanted<'_>) -> Result<Vec<u8>, Error> {
    let mut extensions = Vec::new();
    if let Some(text) = wanted.key_usage {
        extensions.extend(usages::key_usage(text)?);
    }
    if let Some(text) = wanted.extended_key_usage {
        extensions.extend(usages::extended(text)?);
    }
    if !wanted.names.is_empty() {
        // 2.5.29.17
        let san = [6, 3, 0x55, 0x1D, 0x11];
        let names = der::octet_string(&alternatives(wanted.names)?);
        extensions.extend(der::sequence(&[&san, &names]));
    }
    if extensions.is_empty() {
        return Ok(der::tlv(0xA0, &[]));
    }
    // 1.2.840.113549.1.9.14
    let asked = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 14];
    let extensions = der::sequence(&[&extensions]);
    let attribute = der::sequence(&[&asked, &der::set_of(&extensions)]);
    Ok(der::tlv(0xA0, &attribute))
}

/// The scheme of the key's type, the hash, and the name of the type.
fn settle(
    public: &PublicKey,
    hash: Option<Hash>,
) -> Result<(Scheme, Option<Hash>, &'static str), Error> {
    let unhashed = |scheme, name| with_its_own(hash, name).map(|(hash, name)| (scheme, hash, name));
    match public {
        PublicKey::Rsa { .. } => {
            let hash = hash.unwrap_or(Hash::Sha256);
            Ok((Scheme::Pkcs1, Some(hash), type_name(None)))
        }
        PublicKey::Curve { curve, .. } if curve.is_weierstrass() => {
            let own = match curve.bits() {
                0..=256 => Hash::Sha256,
                257..=384 => Hash::Sha384,
                _ => Hash::Sha512,
            };
            let hash = hash.unwrap_or(own);
            Ok((Scheme::Ecdsa, Some(hash), type_name(Some(*curve))))
        }
        PublicKey::Curve { curve, .. } => unhashed(Scheme::Eddsa, type_name(Some(*curve))),
        PublicKey::MlDsa { set, .. } => unhashed(Scheme::MlDsa, set.name()),
        PublicKey::SlhDsa { set, .. } => unhashed(Scheme::SlhDsa, set.name()),
        PublicKey::MlKem { .. } => Err(signs_none()),
    }
}

fn signs_none() -> Error {
    Error::Unusable("keys for agreement or encapsulation sign no requests".to_owned())
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

/// The last arc of 1.2.840.113549.1.1 and 1.2.840.10045.4.3 for a hash.
fn last_arcs(hash: Option<Hash>) -> Result<(u8, u8), Error> {
    match hash {
        Some(Hash::Sha256) => Ok((11, 2)),
        Some(Hash::Sha384) => Ok((12, 3)),
        Some(Hash::Sha512) => Ok((13, 4)),
        _ => Err(Error::Unusable(
            "requests are signed with sha256, sha384 or sha512".to_owned(),
        )),
    }
}

fn algorithm(public: &PublicKey, scheme: Scheme, hash: Option<Hash>) -> Result<Vec<u8>, Error> {
    let of_rsa = |last| [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, last];
    match (public, scheme) {
        (PublicKey::Rsa { .. }, Scheme::Pss) => {
            last_arcs(hash)?;
            let parameters = pss_parameters(hash.unwrap_or(Hash::Sha256));
            Ok(der::sequence(&[&of_rsa(10), &parameters]))
        }
        (PublicKey::Rsa { .. }, _) => {
            let (last, _) = last_arcs(hash)?;
            Ok(der::sequence(&[&of_rsa(last), der::NULL]))
        }
        (_, Scheme::EddsaPh) => Err(Error::Unusable(
            "requests are not signed with the pre-hashed variant (RFC 8410, 6)".to_owned(),
        )),
        (
            PublicKey::Curve {
                curve: curve @ (Curve::Ed25519 | Curve::Ed448),
                ..
            },
            _,
        ) => Ok(der::sequence(&[curve.parameters()])),
        (PublicKey::Curve { curve, .. }, _) if curve.is_weierstrass() => {
            let (_, last) = last_arcs(hash)?;
            Ok(der::sequence(&[&[
                6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, last,
            ]]))
        }
        (PublicKey::MlDsa { set, .. }, _) => Ok(der::sequence(&[set.algorithm()])),
        (PublicKey::SlhDsa { set, .. }, _) => Ok(der::sequence(&[set.algorithm()])),
        (PublicKey::Curve { .. } | PublicKey::MlKem { .. }, _) => Err(signs_none()),
    }
}

/// RSASSA-PSS-params (RFC 4055 3.1): the hash, MGF1 with the same hash, a salt of its length, the usual trailer.
fn pss_parameters(hash: Hash) -> Vec<u8> {
    let hashed = der::sequence(&[&hash_oid(hash), der::NULL]);
    // 1.2.840.113549.1.1.8
    let mgf1 = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 8];
    let mask = der::sequence(&[&mgf1, &hashed]);
    let salt = der::integer(&[u8::try_from(hash.len()).unwrap_or_default()]);
    der::sequence(&[
        &der::tlv(0xA0, &hashed),
        &der::tlv(0xA1, &mask),
        &der::tlv(0xA2, &salt),
    ])
}
