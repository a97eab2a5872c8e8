//! Signature schemes: what a key can make, what was asked for, and which mechanism that is.

use keywright_pkcs11::{
    Curve, Error as Layer, Hash, Mechanism, MlDsa, ObjectHandle, Over, Session, SlhDsa,
};
use keywright_pkcs11_names::{AttributeType, KeyType, ReturnCode};

use crate::desk::hash_name;
use crate::error::Error;
use crate::objects::bits;
use crate::pairs::type_name;
use crate::public_key::curve;
use keywright_encoding::der;

/// How to sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what a signature depends on")]
pub struct How<'a> {
    /// The scheme; that of the key's type if there is none.
    pub scheme: Option<Scheme>,
    /// The hash; that of the key's size if there is none.
    pub hash: Option<Hash>,
    /// What the input is.
    pub input: Given,
    /// How an ECDSA signature is written.
    pub form: SignatureForm,
    /// Bytes of the salt of PSS; as many as the hash has if there is none.
    pub salt_len: Option<usize>,
    /// The hash of the mask of PSS; that of the data if there is none.
    pub mask: Option<Hash>,
    /// The context of `EdDSA`, ML-DSA or SLH-DSA; empty for none.
    pub context: &'a [u8],
}

/// A signature scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Scheme {
    /// ECDSA.
    Ecdsa,
    /// Ed25519 or Ed448, as the key is; with a context Ed25519ctx.
    Eddsa,
    /// Ed25519ph or Ed448ph, as the key is. The input is data: its hash is a part of the scheme (RFC 8032, 5.1).
    EddsaPh,
    /// ML-DSA, pure (FIPS 204, algorithm 2), in the parameter set of the key.
    MlDsa,
    /// RSASSA-PKCS1-v1_5.
    Pkcs1,
    /// RSASSA-PSS.
    Pss,
    /// SLH-DSA, pure (FIPS 205, algorithm 22), in the parameter set of the key.
    SlhDsa,
}

impl Scheme {
    /// On the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecdsa => "ecdsa",
            Self::Eddsa => "eddsa",
            Self::EddsaPh => "eddsa-ph",
            Self::MlDsa => "ml-dsa",
            Self::Pkcs1 => "pkcs1v15",
            Self::Pss => "pss",
            Self::SlhDsa => "slh-dsa",
        }
    }

    /// Whether it signs the hash of data, which may then be made elsewhere.
    pub(crate) const fn hashes_first(self) -> bool {
        !self.takes_context()
    }

    /// Whether a context can be signed with the data.
    const fn takes_context(self) -> bool {
        matches!(
            self,
            Self::Eddsa | Self::EddsaPh | Self::MlDsa | Self::SlhDsa
        )
    }

    /// The scheme that is asked for, if keys whose own scheme this is make it.
    pub(crate) fn chosen(
        self,
        wanted: Option<Self>,
        key_type: &'static str,
    ) -> Result<Self, Error> {
        match (wanted, self) {
            (None, own) => Ok(own),
            (Some(Self::Pss), Self::Pkcs1) => Ok(Self::Pss),
            (Some(Self::EddsaPh), Self::Eddsa) => Ok(Self::EddsaPh),
            (Some(wanted), own) if wanted == own => Ok(own),
            (Some(wanted), _) => Err(Error::Unusable(format!(
                "{key_type} keys do not make {} signatures",
                wanted.name()
            ))),
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

/// The salt and the mask of PSS.
#[derive(Clone, Copy)]
struct Salted {
    len: usize,
    mask: Hash,
}

/// What a key and the wishes for it come to.
pub(crate) struct Settled<'a> {
    pub(crate) scheme: Scheme,
    pub(crate) hash: Hash,
    /// Bytes of r and of s.
    pub(crate) half: usize,
    pub(crate) key_type: &'static str,
    pub(crate) form: SignatureForm,
    salted: Salted,
    context: &'a [u8],
    curve: Option<Curve>,
    /// What is asked for beyond what every token takes, to be named where one refuses it.
    asked: Option<&'static str>,
    /// Whether the module knows the parameters of `EdDSA`, which came with version 3.0 of PKCS#11.
    knows_contexts: Known,
}

/// Whether something is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    No,
    Yes,
}

/// What a key makes by itself.
struct Own {
    scheme: Scheme,
    hash: Hash,
    half: usize,
    key_type: &'static str,
    curve: Option<Curve>,
}

impl Own {
    fn of(session: &Session, key: ObjectHandle) -> Result<Self, Error> {
        let kind = session.attribute(key, AttributeType::KEY_TYPE)?.number();
        let set = || -> Result<u64, Error> {
            let set = session.attribute(key, AttributeType::PARAMETER_SET)?;
            set.number().ok_or_else(unreadable)
        };
        let unhashed = |scheme, key_type| Self {
            scheme,
            hash: Hash::Sha512,
            half: 0,
            key_type,
            curve: None,
        };
        Ok(match kind.map(KeyType::new) {
            Some(KeyType::RSA) => Self {
                hash: Hash::Sha256,
                ..unhashed(Scheme::Pkcs1, type_name(None))
            },
            Some(KeyType::EC | KeyType::EC_EDWARDS) => Self::on(curve(session, key)?),
            Some(KeyType::ML_DSA) => {
                let set = MlDsa::from_number(set()?).ok_or_else(unreadable)?;
                unhashed(Scheme::MlDsa, set.name())
            }
            Some(KeyType::SLH_DSA) => {
                let set = SlhDsa::from_number(set()?).ok_or_else(unreadable)?;
                unhashed(Scheme::SlhDsa, set.name())
            }
            Some(other) => {
                return Err(Error::Unusable(format!("keys of type {other} do not sign")));
            }
            None => return Err(Error::Unreadable(AttributeType::KEY_TYPE)),
        })
    }

    fn on(curve: Curve) -> Self {
        let half = usize::try_from(curve.bits().div_ceil(8)).unwrap_or(0);
        Self {
            scheme: match curve.is_weierstrass() {
                true => Scheme::Ecdsa,
                false => Scheme::Eddsa,
            },
            // FIPS 186-5 6.1.1: a hash as strong as the curve.
            hash: match half {
                0..=32 => Hash::Sha256,
                33..=48 => Hash::Sha384,
                _ => Hash::Sha512,
            },
            half,
            key_type: type_name(Some(curve)),
            curve: Some(curve),
        }
    }
}

const fn unreadable() -> Error {
    Error::Unreadable(AttributeType::PARAMETER_SET)
}

/// No context is longer, in each scheme that has one (RFC 8032, 2; FIPS 204, 3.6.1; FIPS 205, 9.2).
const LONGEST_CONTEXT: usize = 255;

impl<'a> Settled<'a> {
    pub(crate) fn new(session: &Session, key: ObjectHandle, how: How<'a>) -> Result<Self, Error> {
        let own = Own::of(session, key)?;
        let scheme = own.scheme.chosen(how.scheme, own.key_type)?;
        if !scheme.hashes_first() && (how.hash.is_some() || how.input == Given::Hash) {
            let key_type = own.key_type;
            return Err(Error::Unusable(format!(
                "{key_type} has its own hash and signs data"
            )));
        }
        let hash = how.hash.unwrap_or(own.hash);
        let salted = salted(scheme, hash, &how, || bits(session, key, None))?;
        check_context(scheme, how.context)?;
        let (major, _) = session.token().module().interface_version();
        let settled = Self {
            scheme,
            hash,
            half: own.half,
            key_type: own.key_type,
            form: how.form,
            salted,
            context: how.context,
            curve: own.curve,
            asked: asked(scheme, &how),
            knows_contexts: if major < 3 { Known::No } else { Known::Yes },
        };
        settled.known_to_the_module()?;
        Ok(settled)
    }

    /// A module that came before the parameters of `EdDSA` may pass over them without a word and sign something else.
    fn known_to_the_module(&self) -> Result<(), Error> {
        let edwards = matches!(self.scheme, Scheme::Eddsa | Scheme::EddsaPh);
        match self.asked {
            Some(what) if edwards && self.knows_contexts == Known::No => Err(Error::NoParameter {
                what,
                failure: None,
            }),
            _ => Ok(()),
        }
    }

    /// A failure at the beginning, as that of the parameter that not every token takes, where one was asked for.
    pub(crate) fn refused(&self, error: Layer) -> Error {
        match (self.asked, error.failure()) {
            (Some(what), Some(failure)) if refuses_parameter(&error) => Error::NoParameter {
                what,
                failure: Some(*failure),
            },
            _ => error.into(),
        }
    }

    /// Over data, hashed by the token.
    pub(crate) const fn over_data(&self) -> Mechanism<'a> {
        match self.scheme {
            Scheme::Ecdsa => Mechanism::EcdsaHash(self.hash),
            Scheme::Pkcs1 => Mechanism::RsaPkcs1Hash(self.hash),
            Scheme::Pss => self.pss(Over::Data),
            _ => self.unhashed(),
        }
    }

    /// Over a hash.
    pub(crate) const fn over_hash(&self) -> Mechanism<'a> {
        match self.scheme {
            Scheme::Ecdsa => Mechanism::Ecdsa,
            Scheme::Pkcs1 => Mechanism::RsaPkcs1,
            Scheme::Pss => self.pss(Over::Hash),
            _ => self.unhashed(),
        }
    }

    const fn pss(&self, over: Over) -> Mechanism<'a> {
        Mechanism::RsaPssMask {
            hash: self.hash,
            mask: self.salted.mask,
            salt_len: self.salted.len,
            over,
        }
    }

    /// Of a scheme with its own hash.
    const fn unhashed(&self) -> Mechanism<'a> {
        let context = self.context;
        let known = matches!(self.knows_contexts, Known::Yes);
        match self.scheme {
            Scheme::MlDsa => Mechanism::MlDsa { context },
            Scheme::SlhDsa => Mechanism::SlhDsa { context },
            Scheme::EddsaPh => Mechanism::EddsaContext {
                over: Over::Hash,
                context,
            },
            // Without a parameter the mechanism is Ed25519, with one Ed25519ctx; Ed448 always has one (PKCS#11 3.0, 2.3.14).
            _ if context.is_empty() && !(known && matches!(self.curve, Some(Curve::Ed448))) => {
                Mechanism::Eddsa
            }
            _ => Mechanism::EddsaContext {
                over: Over::Data,
                context,
            },
        }
    }

    /// What is signed in place of the data: the hash, in a DigestInfo for PKCS#1 v1.5 (RFC 8017 9.2).
    pub(crate) fn prepared(&self, digest: &[u8]) -> Result<Vec<u8>, Error> {
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
}

/// What is asked for that not every token takes.
fn asked(scheme: Scheme, how: &How<'_>) -> Option<&'static str> {
    match scheme {
        Scheme::Pss if how.mask.is_some() || how.salt_len.is_some() => {
            Some("this salt or mask of PSS")
        }
        Scheme::EddsaPh => Some("the pre-hashed variant of EdDSA"),
        _ if !how.context.is_empty() => Some("a context"),
        _ => None,
    }
}

/// The salt and the mask, which no other scheme has.
fn salted(
    scheme: Scheme,
    hash: Hash,
    how: &How<'_>,
    bits: impl FnOnce() -> Result<Option<u64>, Error>,
) -> Result<Salted, Error> {
    if scheme != Scheme::Pss && (how.salt_len.is_some() || how.mask.is_some()) {
        let name = scheme.name();
        return Err(Error::Unusable(format!(
            "{name} signatures have no salt and no mask"
        )));
    }
    let len = how.salt_len.unwrap_or(hash.len());
    if scheme == Scheme::Pss {
        let bits = bits()?.ok_or(Error::Unreadable(AttributeType::MODULUS))?;
        check_salt(bits, hash, len)?;
    }
    let mask = how.mask.unwrap_or(hash);
    Ok(Salted { len, mask })
}

/// RFC 8017, 9.1.1: the hash, the salt and two bytes more must fit one bit less than the modulus has.
fn check_salt(bits: u64, hash: Hash, len: usize) -> Result<(), Error> {
    let room = usize::try_from(bits.saturating_sub(1).div_ceil(8)).unwrap_or(0);
    let name = hash_name(hash);
    match room.checked_sub(hash.len() + 2) {
        None => Err(Error::Unusable(format!(
            "a modulus of {bits} bits is too short for PSS with {name}"
        ))),
        Some(limit) if len > limit => Err(Error::Value(format!(
            "a salt of {len} bytes is too long: with {bits} bits and {name} it has at most {limit}"
        ))),
        Some(_) => Ok(()),
    }
}

fn check_context(scheme: Scheme, context: &[u8]) -> Result<(), Error> {
    if context.is_empty() {
        return Ok(());
    }
    if !scheme.takes_context() {
        let name = scheme.name();
        return Err(Error::Unusable(format!(
            "{name} signatures have no context"
        )));
    }
    if context.len() > LONGEST_CONTEXT {
        let length = context.len();
        return Err(Error::Value(format!(
            "a context has at most {LONGEST_CONTEXT} bytes, this one has {length}"
        )));
    }
    Ok(())
}

/// Whether a token refused a parameter before it looked at the data.
pub(crate) fn refuses_parameter(error: &Layer) -> bool {
    let codes = [
        ReturnCode::ARGUMENTS_BAD,
        ReturnCode::MECHANISM_PARAM_INVALID,
        ReturnCode::MECHANISM_INVALID,
    ];
    error.failure().is_some_and(|failure| {
        failure.function().ends_with("Init") && codes.contains(&failure.code())
    })
}

/// The object identifier of a hash.
pub(crate) fn hash_oid(hash: Hash) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_salt_fits_what_the_hash_leaves_of_the_modulus() {
        // RFC 8017, 9.1.1: emLen is the bytes of one bit less than the modulus, so 2049 bits have as many as 2048.
        for (bits, hash, limit) in [
            (2048, Hash::Sha256, 222),
            (2048, Hash::Sha512, 190),
            (2049, Hash::Sha256, 222),
            (2050, Hash::Sha256, 223),
            (1024, Hash::Sha512, 62),
        ] {
            assert!(check_salt(bits, hash, limit).is_ok(), "{bits}");
            let long = check_salt(bits, hash, limit + 1).unwrap_err().to_string();
            assert!(long.ends_with(&format!("at most {limit}")), "{long}");
        }
        for bits in [0, 1, 512] {
            let none = check_salt(bits, Hash::Sha512, 0);
            assert!(matches!(none, Err(Error::Unusable(_))), "{bits}");
        }
        assert!(check_salt(2048, Hash::Sha256, usize::MAX).is_err());
    }

    #[test]
    fn a_context_belongs_to_schemes_that_have_one_and_is_no_longer_than_they_say() {
        let long = [7; 256];
        for scheme in [
            Scheme::Eddsa,
            Scheme::EddsaPh,
            Scheme::MlDsa,
            Scheme::SlhDsa,
        ] {
            assert!(check_context(scheme, &long[1..]).is_ok());
            let refused = check_context(scheme, &long);
            assert!(matches!(refused, Err(Error::Value(_))), "{}", scheme.name());
        }
        for scheme in [Scheme::Ecdsa, Scheme::Pkcs1, Scheme::Pss] {
            let refused = check_context(scheme, b"c");
            assert!(
                matches!(refused, Err(Error::Unusable(_))),
                "{}",
                scheme.name()
            );
            assert!(check_context(scheme, b"").is_ok());
        }
    }
}
