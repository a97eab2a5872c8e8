//! `sign`, `verify`: RSA, ECDSA and `EdDSA`, over inputs of any size.
//!
//! The token hashes where it has the mechanism for that. Where it only signs a hash, the hash is made here:
//! SHA-256, SHA-384, SHA-512 and no others. ECDSA signatures are r and s side by side, or DER.
//!
//! Not here: Ed25519ctx and Ed25519ph, ML-DSA, SLH-DSA.

use std::io::Read;

use keywright_pkcs11::{Ability, Hash, Mechanism, ObjectHandle, Over, Session};
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};
use keywright_primitives::hash::{Sha256, Sha384, Sha512};
use keywright_secret::SecretBytes;
use serde::Serialize;

use crate::der;
use crate::desk::{Desk, hash_name};
use crate::error::Error;
use crate::pairs::type_name;
use crate::piece::{Pieces, WHOLE, whole};
use crate::public_key::{curve, is_weierstrass};
use crate::selection::KeyChoice;

/// How to sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what a signature depends on")]
pub struct How {
    /// The scheme; that of the key's type if there is none.
    pub scheme: Option<Scheme>,
    /// The hash; that of the key's size if there is none.
    pub hash: Option<Hash>,
    /// What the input is.
    pub input: Given,
    /// How an ECDSA signature is written.
    pub form: SignatureForm,
}

/// A signature scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Scheme {
    /// ECDSA.
    Ecdsa,
    /// Ed25519 or Ed448, as the key is.
    Eddsa,
    /// RSASSA-PKCS1-v1_5.
    Pkcs1,
    /// RSASSA-PSS, salt as long as the hash.
    Pss,
}

impl Scheme {
    /// On the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecdsa => "ecdsa",
            Self::Eddsa => "eddsa",
            Self::Pkcs1 => "pkcs1v15",
            Self::Pss => "pss",
        }
    }
}

/// What is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Given {
    /// Data.
    #[default]
    Data,
    /// The hash of the data.
    Hash,
}

/// How an ECDSA signature is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum SignatureForm {
    /// A SEQUENCE of r and s, as X.509 and OpenSSL have it.
    Der,
    /// r and s side by side, as PKCS#11 and JOSE have it.
    #[default]
    Raw,
}

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

/// What a key and the wishes for it come to.
struct Settled {
    scheme: Scheme,
    hash: Hash,
    /// Bytes of r and of s.
    half: usize,
    key_type: &'static str,
    form: SignatureForm,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Sign,
    Verify,
}

impl Settled {
    fn new(session: &Session, key: ObjectHandle, how: How) -> Result<Self, Error> {
        let kind = session.attribute(key, AttributeType::KEY_TYPE)?.number();
        let (scheme, hash, half, key_type) = match kind.map(KeyType::new) {
            Some(KeyType::RSA) => (Scheme::Pkcs1, Hash::Sha256, 0, type_name(None)),
            Some(KeyType::EC | KeyType::EC_EDWARDS) => {
                let curve = curve(session, key)?;
                let half = usize::try_from(curve.bits().div_ceil(8)).unwrap_or(0);
                // FIPS 186-5 6.1.1: a hash as strong as the curve.
                let hash = match half {
                    0..=32 => Hash::Sha256,
                    33..=48 => Hash::Sha384,
                    _ => Hash::Sha512,
                };
                let scheme = match is_weierstrass(curve) {
                    true => Scheme::Ecdsa,
                    false => Scheme::Eddsa,
                };
                (scheme, hash, half, type_name(Some(curve)))
            }
            Some(other) => {
                return Err(Error::Unusable(format!("keys of type {other} do not sign")));
            }
            None => return Err(Error::Unreadable(AttributeType::KEY_TYPE)),
        };
        let chosen = match (how.scheme, scheme) {
            (None, own) => own,
            (Some(Scheme::Pss), Scheme::Pkcs1) => Scheme::Pss,
            (Some(wanted), own) if wanted == own => own,
            (Some(wanted), _) => {
                let name = wanted.name();
                return Err(Error::Unusable(format!(
                    "{key_type} keys do not make {name} signatures"
                )));
            }
        };
        if chosen == Scheme::Eddsa && (how.hash.is_some() || how.input == Given::Hash) {
            return Err(Error::Unusable(
                "EdDSA has its own hash and signs data".to_owned(),
            ));
        }
        Ok(Self {
            scheme: chosen,
            hash: how.hash.unwrap_or(hash),
            half,
            key_type,
            form: how.form,
        })
    }

    /// Over data, hashed by the token.
    const fn over_data(&self) -> Mechanism<'static> {
        match self.scheme {
            Scheme::Ecdsa => Mechanism::EcdsaHash(self.hash),
            Scheme::Eddsa => Mechanism::Eddsa,
            Scheme::Pkcs1 => Mechanism::RsaPkcs1Hash(self.hash),
            Scheme::Pss => Mechanism::RsaPss {
                hash: self.hash,
                salt_len: self.hash.len(),
                over: Over::Data,
            },
        }
    }

    /// Over a hash.
    const fn over_hash(&self) -> Mechanism<'static> {
        match self.scheme {
            Scheme::Ecdsa => Mechanism::Ecdsa,
            Scheme::Eddsa => Mechanism::Eddsa,
            Scheme::Pkcs1 => Mechanism::RsaPkcs1,
            Scheme::Pss => Mechanism::RsaPss {
                hash: self.hash,
                salt_len: self.hash.len(),
                over: Over::Hash,
            },
        }
    }

    /// What is signed in place of the data: the hash, in a DigestInfo for PKCS#1 v1.5 (RFC 8017 9.2).
    fn prepared(&self, digest: &[u8]) -> Result<Vec<u8>, Error> {
        if digest.len() != self.hash.len() {
            return Err(Error::Value(format!(
                "the input has {} bytes, a {} hash has {}",
                digest.len(),
                hash_name(self.hash),
                self.hash.len()
            )));
        }
        if self.scheme != Scheme::Pkcs1 {
            return Ok(digest.to_vec());
        }
        let algorithm = der::sequence(&[&hash_oid(self.hash), der::NULL]);
        Ok(der::sequence(&[&algorithm, &der::octet_string(digest)]))
    }

    fn report(&self, operation: &'static str, mechanism: &Mechanism<'_>) -> SignReport {
        SignReport {
            operation,
            key_label: String::new(),
            key_type: self.key_type,
            mechanism: mechanism.kind().to_string(),
            scheme: self.scheme.name(),
            hash: (self.scheme != Scheme::Eddsa).then(|| hash_name(self.hash)),
            input_bytes: 0,
            signature_bytes: 0,
            verification: None,
        }
    }
}

/// The object identifier of a hash.
fn hash_oid(hash: Hash) -> Vec<u8> {
    // 2.16.840.1.101.3.4.2.n
    let nist = |n: u8| vec![6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, n];
    match hash {
        // 1.3.14.3.2.26
        Hash::Sha1 => vec![6, 5, 0x2B, 0x0E, 3, 2, 0x1A],
        Hash::Sha224 => nist(4),
        Hash::Sha256 => nist(1),
        Hash::Sha384 => nist(2),
        Hash::Sha512 => nist(3),
        Hash::Sha3_224 => nist(7),
        Hash::Sha3_256 => nist(8),
        Hash::Sha3_384 => nist(9),
        _ => nist(10),
    }
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
    if settled.scheme == Scheme::Eddsa {
        token.require(&Mechanism::Eddsa, ability)?;
        let data = whole(input, WHOLE)?;
        let length = data.len() as u64;
        return Ok((Mechanism::Eddsa, Fed::Whole(data, length)));
    }
    let direct = settled.over_data();
    if token.can(&direct, ability) {
        return Ok((direct, Fed::Stream));
    }
    let mechanism = settled.over_hash();
    if !token.can(&mechanism, ability) {
        token.require(&direct, ability)?;
    }
    let Some((digest, length)) = hash_here(settled.hash, input)? else {
        token.require(&direct, ability)?;
        return Err(Error::Unusable("this hash is not made here".to_owned()));
    };
    let prepared = settled.prepared(&digest)?;
    Ok((
        mechanism,
        Fed::Whole(SecretBytes::from_vec(prepared), length),
    ))
}

/// How a hash takes bytes, and how it ends.
type Steps<H> = (fn(&mut H, &[u8]), fn(H) -> Vec<u8>);

/// A hash, and the bytes of what was hashed.
type Hashed = (Vec<u8>, u64);

fn hash_here(hash: Hash, input: &mut dyn Read) -> Result<Option<Hashed>, Error> {
    fn run<H>(
        mut hash: H,
        input: &mut dyn Read,
        (update, finish): Steps<H>,
    ) -> Result<Option<Hashed>, Error> {
        let mut pieces = Pieces::new(input);
        let mut length = 0;
        while let Some(piece) = pieces.next()? {
            update(&mut hash, piece);
            length += piece.len() as u64;
        }
        Ok(Some((finish(hash), length)))
    }
    match hash {
        Hash::Sha256 => run(
            Sha256::new(),
            input,
            (Sha256::update, |h| h.finish().to_vec()),
        ),
        Hash::Sha384 => run(
            Sha384::new(),
            input,
            (Sha384::update, |h| h.finish().to_vec()),
        ),
        Hash::Sha512 => run(
            Sha512::new(),
            input,
            (Sha512::update, |h| h.finish().to_vec()),
        ),
        _ => Ok(None),
    }
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
    let mut report = settled.report("sign", &mechanism);
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
    let mut report = settled.report("verify", &mechanism);
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
