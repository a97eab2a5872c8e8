//! What keys of each algorithm are in a token: which object is made, and by which mechanism it works.

use std::borrow::Cow;

use cryptoki_sys as ck;
use keywright_custody::{Form, HolderOperation, Input, Usage};
use keywright_encoding::der;
use keywright_primitives::hash::{sha256, sha384, sha512};
use keywright_types::{Algorithm, Code, KeySpec, Purpose};

use crate::kinds::{Curve, MlDsa, PairKind, SecretKind};
use crate::mechanism::{Hash, Mechanism, Over};
use crate::purpose;
use crate::token::{Ability, Token};

/// What a key is in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// X25519, or ECDH over P-256.
    Agrees(Curve),
    /// HMAC, or AES-CMAC where there is no hash.
    Macs(Option<Hash>),
    /// AES-256-GCM, suites 3 and 4.
    Seals,
    Signs(Signature),
}

/// A kind of signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    Ecdsa(Curve),
    Ed25519,
    MlDsa(MlDsa),
    RsaPkcs1 { bits: u32 },
    RsaPss { bits: u32 },
}

/// The object of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Object {
    Pair(PairKind),
    Secret(SecretKind),
}

impl Shape {
    /// The shape of keys of a purpose and algorithm; `None` for those that stay in no token.
    pub(crate) const fn of(spec: &KeySpec) -> Option<Self> {
        use Algorithm as A;
        match (spec.purpose, spec.algorithm) {
            (Purpose::Seal, A::TokenGcm12 | A::TokenGcm16) => Some(Self::Seals),
            (Purpose::Mac, A::Aes256Cmac) => Some(Self::Macs(None)),
            (Purpose::Mac, A::HmacSha256) => Some(Self::Macs(Some(Hash::Sha256))),
            (Purpose::Mac, A::HmacSha384) => Some(Self::Macs(Some(Hash::Sha384))),
            (Purpose::Mac, A::HmacSha512) => Some(Self::Macs(Some(Hash::Sha512))),
            (Purpose::Sign, algorithm) => match Signature::of(algorithm) {
                Some(signature) => Some(Self::Signs(signature)),
                None => None,
            },
            (Purpose::Agree, A::X25519) => Some(Self::Agrees(Curve::X25519)),
            (Purpose::Agree, A::EcdhP256) => Some(Self::Agrees(Curve::P256)),
            _ => None,
        }
    }

    /// What is made for it. An HMAC key is as long as the hash: some tokens refuse shorter ones.
    pub(crate) const fn object(self) -> Object {
        match self {
            Self::Seals | Self::Macs(None) => Object::Secret(SecretKind::Aes { len: 32 }),
            Self::Macs(Some(Hash::Sha384)) => Object::Secret(SecretKind::Generic { len: 48 }),
            Self::Macs(Some(Hash::Sha512)) => Object::Secret(SecretKind::Generic { len: 64 }),
            Self::Macs(Some(_)) => Object::Secret(SecretKind::Generic { len: 32 }),
            Self::Agrees(curve) => Object::Pair(PairKind::Curve(curve)),
            Self::Signs(signature) => Object::Pair(signature.pair()),
        }
    }

    /// What the object is made for.
    pub(crate) const fn purpose(self) -> purpose::Purpose {
        match self {
            Self::Agrees(_) => purpose::Purpose::Derive,
            Self::Macs(_) => purpose::Purpose::Mac,
            Self::Seals => purpose::Purpose::Encrypt,
            Self::Signs(_) => purpose::Purpose::Sign,
        }
    }

    /// Class and key type of the secret or private object.
    pub(crate) const fn class(self) -> (u64, u64) {
        match self.object() {
            Object::Pair(kind) => (ck::CKO_PRIVATE_KEY, kind.key_type()),
            Object::Secret(kind) => (ck::CKO_SECRET_KEY, kind.key_type()),
        }
    }

    /// Whether such keys do this.
    pub(crate) const fn does(self, operation: HolderOperation) -> bool {
        use HolderOperation as H;
        match self {
            Self::Agrees(_) => matches!(operation, H::Agree | H::PublicKey),
            Self::Macs(_) => matches!(operation, H::Mac | H::VerifyMac),
            Self::Seals => matches!(
                operation,
                H::Seal | H::Open | H::Reseal | H::MakeDataKey | H::OpenDataKey
            ),
            Self::Signs(_) => matches!(operation, H::Sign | H::Verify | H::PublicKey),
        }
    }

    /// Whether a token says that it makes and uses such keys.
    pub(crate) fn is_of(self, token: &Token) -> bool {
        let makes = match self.object() {
            Object::Pair(kind) => token.can(&kind.mechanism(), Ability::GeneratePair),
            Object::Secret(kind) => token.can(&kind.mechanism(), Ability::Generate),
        };
        makes
            && match self {
                Self::Agrees(_) => token.can(&Mechanism::Ecdh { public: &[] }, Ability::Derive),
                Self::Macs(hash) => token.can(&mac(hash), Ability::Sign),
                Self::Seals => true,
                Self::Signs(signature) => signature.is_of(token),
            }
    }
}

/// The mechanism of a MAC.
pub(crate) const fn mac(hash: Option<Hash>) -> Mechanism<'static> {
    match hash {
        Some(hash) => Mechanism::Hmac(hash),
        None => Mechanism::AesCmac,
    }
}

impl Signature {
    const fn of(algorithm: Algorithm) -> Option<Self> {
        use Algorithm as A;
        Some(match algorithm {
            A::EcdsaP256 => Self::Ecdsa(Curve::P256),
            A::EcdsaP384 => Self::Ecdsa(Curve::P384),
            A::EcdsaP521 => Self::Ecdsa(Curve::P521),
            A::Ed25519 => Self::Ed25519,
            A::MlDsa65 => Self::MlDsa(MlDsa::MlDsa65),
            A::Rsa2048Pkcs1 => Self::RsaPkcs1 { bits: 2048 },
            A::Rsa2048Pss => Self::RsaPss { bits: 2048 },
            A::Rsa3072Pkcs1 => Self::RsaPkcs1 { bits: 3072 },
            A::Rsa3072Pss => Self::RsaPss { bits: 3072 },
            _ => return None,
        })
    }

    const fn pair(self) -> PairKind {
        match self {
            Self::Ecdsa(curve) => PairKind::Curve(curve),
            Self::Ed25519 => PairKind::Curve(Curve::Ed25519),
            Self::MlDsa(set) => PairKind::MlDsa(set),
            Self::RsaPkcs1 { bits } | Self::RsaPss { bits } => PairKind::Rsa { bits },
        }
    }

    fn is_of(self, token: &Token) -> bool {
        let size = match self {
            Self::Ecdsa(curve) => u64::from(curve.bits()),
            // Tokens give no sizes for these, or each in units of its own.
            Self::Ed25519 | Self::MlDsa(_) => {
                return token.can(&self.mechanism(Input::Message), Ability::Sign);
            }
            Self::RsaPkcs1 { bits } | Self::RsaPss { bits } => u64::from(bits),
        };
        [Input::Message, Input::Digest].into_iter().all(|input| {
            let mechanism = self.mechanism(input);
            token.can(&mechanism, Ability::Sign) && token.require_size(&mechanism, size).is_ok()
        })
    }

    /// Bytes of a signature.
    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Ecdsa(curve) => 2 * (curve.bits() as usize).div_ceil(8),
            Self::Ed25519 => 64,
            Self::MlDsa(set) => set.signature_len(),
            Self::RsaPkcs1 { bits } | Self::RsaPss { bits } => bits as usize / 8,
        }
    }

    /// Whether a signature of this form is one of these.
    pub(crate) const fn takes(self, form: Form) -> bool {
        match form {
            Form::Usual => true,
            Form::Ecdsa => matches!(self, Self::Ecdsa(_)),
            Form::Ed25519 => matches!(self, Self::Ed25519),
            _ => false,
        }
    }

    /// The mechanism: RSA leaves messages for the token to hash, tokens that hash for ECDSA are few.
    pub(crate) const fn mechanism(self, input: Input) -> Mechanism<'static> {
        let hash = Hash::Sha256;
        match (self, input) {
            (Self::Ecdsa(_), _) => Mechanism::Ecdsa,
            (Self::Ed25519, _) => Mechanism::Eddsa,
            (Self::MlDsa(_), _) => Mechanism::MlDsa { context: &[] },
            (Self::RsaPkcs1 { .. }, Input::Message) => Mechanism::RsaPkcs1Hash(hash),
            (Self::RsaPkcs1 { .. }, Input::Digest) => Mechanism::RsaPkcs1,
            (Self::RsaPss { .. }, Input::Message) => pss(Over::Data),
            (Self::RsaPss { .. }, Input::Digest) => pss(Over::Hash),
        }
    }

    /// What the mechanism is given for a payload.
    pub(crate) fn prepare<'p>(
        self,
        usage: &Usage<'_>,
        payload: &'p [u8],
    ) -> Result<Cow<'p, [u8]>, Code> {
        let whole = Cow::Borrowed(payload);
        match (self, usage.input) {
            (Self::Ecdsa(curve), Input::Message) => Ok(Cow::Owned(match curve {
                Curve::P384 => sha384(payload).to_vec(),
                Curve::P521 => sha512(payload).to_vec(),
                _ => sha256(payload).to_vec(),
            })),
            (Self::Ecdsa(curve), Input::Digest) => {
                let length = match curve {
                    Curve::P384 => 48,
                    Curve::P521 => 64,
                    _ => 32,
                };
                whole_digest(payload, length).map(|()| whole)
            }
            (Self::Ed25519 | Self::MlDsa(_), Input::Digest) => Err(Code::DigestInvalid),
            (Self::RsaPkcs1 { .. }, Input::Digest) => {
                whole_digest(payload, 32)?;
                let algorithm = der::sequence(&[&SHA256, der::NULL]);
                let info = der::sequence(&[&algorithm, &der::octet_string(payload)]);
                Ok(Cow::Owned(info))
            }
            (Self::RsaPss { .. }, Input::Digest) => whole_digest(payload, 32).map(|()| whole),
            (_, Input::Message) => Ok(whole),
        }
    }
}

const fn pss(over: Over) -> Mechanism<'static> {
    Mechanism::RsaPss {
        hash: Hash::Sha256,
        salt_len: 32,
        over,
    }
}

fn whole_digest(payload: &[u8], length: usize) -> Result<(), Code> {
    match payload.len() == length {
        true => Ok(()),
        false => Err(Code::DigestInvalid),
    }
}

/// 2.16.840.1.101.3.4.2.1, SHA-256, of the DigestInfo of RFC 8017 9.2.
const SHA256: [u8; 11] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];

/// The signature over P-256 with the lower s of the two that fit: what else it could be is no signature of ours.
pub(crate) fn with_lower_s(signature: &mut [u8]) {
    if let Some(s) = signature.get_mut(32..64)
        && !is_low(s)
    {
        let mut borrow = false;
        for (digit, whole) in s.iter_mut().zip(P256_ORDER).rev() {
            let (difference, one) = whole.overflowing_sub(*digit);
            let (difference, two) = difference.overflowing_sub(u8::from(borrow));
            *digit = difference;
            borrow = one || two;
        }
    }
}

/// Whether s of a signature over P-256 is not above half the order. A signature is no secret.
pub(crate) fn is_low(s: &[u8]) -> bool {
    s <= &P256_HALF[..]
}

/// The order of P-256 (SP 800-186, 3.2.1.3), and half of it.
const P256_ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];
const P256_HALF: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b, 0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa8,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The order without a small number.
    fn below(number: u8) -> Vec<u8> {
        let mut s = P256_ORDER.to_vec();
        s[31] -= number;
        s
    }

    #[test]
    fn the_lower_s_is_the_order_without_the_higher_one() {
        for number in [1, 2, 0x51] {
            let mut signature = [vec![7; 32], below(number)].concat();
            assert!(!is_low(&signature[32..]));
            with_lower_s(&mut signature);
            let expected = [vec![7; 32], vec![0; 31], vec![number]].concat();
            assert_eq!(signature, expected);
            with_lower_s(&mut signature);
            assert_eq!(signature, expected, "a low one stays");
        }
        let mut half = [vec![7; 32], P256_HALF.to_vec()].concat();
        assert!(is_low(&half[32..]));
        half[63] += 1;
        assert!(!is_low(&half[32..]));
        // One more than half is mirrored to half: the order is odd.
        with_lower_s(&mut half);
        assert_eq!(half[32..], P256_HALF);
    }

    #[test]
    fn every_key_that_may_stay_in_a_token_has_a_shape_and_no_other() {
        for purpose in Purpose::ALL {
            for algorithm in Algorithm::ALL {
                let spec = KeySpec {
                    purpose: *purpose,
                    algorithm: *algorithm,
                    custody: keywright_types::Custody::Token,
                    ..KeySpec::seal()
                };
                // Tokens have no BIP-340 and no recovery; and keys that wrap are root keys.
                let left_out = *algorithm == Algorithm::EcdsaSecp256k1 || *purpose == Purpose::Wrap;
                let fits = keywright_custody::fit::check(&spec).is_ok() && !left_out;
                assert_eq!(Shape::of(&spec).is_some(), fits, "{purpose} {algorithm}");
            }
        }
    }

    #[test]
    fn what_is_no_digest_of_the_right_length_is_not_signed() {
        let usage = Usage {
            input: Input::Digest,
            ..Usage::default()
        };
        for (signature, length) in [
            (Signature::Ecdsa(Curve::P256), 32),
            (Signature::Ecdsa(Curve::P384), 48),
            (Signature::Ecdsa(Curve::P521), 64),
            (Signature::RsaPkcs1 { bits: 2048 }, 32),
            (Signature::RsaPss { bits: 2048 }, 32),
        ] {
            assert!(signature.prepare(&usage, &vec![1; length]).is_ok());
            for other in [0, length - 1, length + 1] {
                let payload = vec![1; other];
                let refused = signature.prepare(&usage, &payload);
                assert_eq!(refused, Err(Code::DigestInvalid), "{signature:?}");
            }
        }
        for signature in [Signature::Ed25519, Signature::MlDsa(MlDsa::MlDsa65)] {
            let refused = signature.prepare(&usage, &[1; 32]);
            assert_eq!(refused, Err(Code::DigestInvalid), "{signature:?}");
        }
    }
}
