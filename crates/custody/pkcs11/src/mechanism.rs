//! Mechanisms as types: what a token is asked to do, with the parameters that this takes and no others.
//!
//! Nonces are given here because this is the floor that formats stand on; whoever seals for a caller uses
//! the holder, which makes them. [`Mechanism::Other`] is for what a vendor adds.

use cryptoki_sys as ck;
use keywright_pkcs11_names::MechanismType;

/// What a token is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mechanism<'a> {
    /// A hash.
    Digest(Hash),
    /// AES-GCM with a tag of 16 bytes, which stands behind the ciphertext. Never the same nonce twice under
    /// one key.
    AesGcm {
        /// 12 bytes, or what the token wants.
        nonce: &'a [u8],
        /// Associated data; empty for none.
        aad: &'a [u8],
    },
    /// AES-CCM with a tag of 16 bytes.
    AesCcm {
        /// 7 to 13 bytes.
        nonce: &'a [u8],
        /// Associated data; empty for none.
        aad: &'a [u8],
        /// Bytes of plaintext: CCM must know before it begins.
        data_len: usize,
    },
    /// ChaCha20-Poly1305 (RFC 8439).
    ChaCha20Poly1305 {
        /// 12 bytes.
        nonce: &'a [u8],
        /// Associated data; empty for none.
        aad: &'a [u8],
    },
    /// AES-CBC without padding: whole blocks, no integrity.
    AesCbc {
        /// The initialisation vector.
        iv: &'a [u8; 16],
    },
    /// AES-CBC with PKCS#7 padding, no integrity.
    AesCbcPad {
        /// The initialisation vector.
        iv: &'a [u8; 16],
    },
    /// AES key wrap (RFC 3394): multiples of 8 bytes.
    AesKeyWrap,
    /// AES key wrap with padding (RFC 5649): any length.
    AesKeyWrapPad,
    /// The older number for wrapping with padding, whose padding the standard once left open. SoftHSM means
    /// RFC 5649 by it.
    AesKeyWrapPadOld,
    /// AES-CMAC, 16 bytes.
    AesCmac,
    /// AES-CMAC cut to its first bytes.
    AesCmacGeneral {
        /// Bytes of the result.
        length: usize,
    },
    /// HMAC in full length.
    Hmac(Hash),
    /// HMAC cut to its first bytes.
    HmacGeneral {
        /// The hash.
        hash: Hash,
        /// Bytes of the result.
        length: usize,
    },
    /// RSA PKCS#1 v1.5: signs a prepared `DigestInfo`; encrypts, for old formats only.
    RsaPkcs1,
    /// RSA PKCS#1 v1.5 signature over data that the token hashes.
    RsaPkcs1Hash(Hash),
    /// RSA-PSS, mask with the same hash. With `over` a hash, the caller hashed already; with data, the token does.
    RsaPss {
        /// The hash, also of the mask.
        hash: Hash,
        /// Bytes of salt.
        salt_len: usize,
        /// What is signed.
        over: Over,
    },
    /// RSA-PSS whose mask has a hash of its own.
    RsaPssMask {
        /// The hash of what is signed.
        hash: Hash,
        /// The hash of the mask.
        mask: Hash,
        /// Bytes of salt.
        salt_len: usize,
        /// What is signed.
        over: Over,
    },
    /// RSA-OAEP, mask with the same hash.
    RsaOaep {
        /// The hash, also of the mask.
        hash: Hash,
        /// The label; empty for none.
        label: &'a [u8],
    },
    /// A fresh AES key under RSA-OAEP, and the key under it by KWP: for private keys.
    RsaAesKeyWrap {
        /// The hash of OAEP.
        hash: Hash,
        /// Bits of the AES key between.
        aes_bits: u16,
    },
    /// ECDSA over a hash that the caller made; signatures are r and s side by side.
    Ecdsa,
    /// ECDSA over data that the token hashes.
    EcdsaHash(Hash),
    /// Ed25519 over data, without parameters.
    Eddsa,
    /// Ed25519ctx, Ed25519ph, Ed448 and Ed448ph. The token takes data in each: the hash of the last is part of the scheme
    /// (RFC 8032, 5.1), and [`Over::Hash`] asks for it.
    EddsaContext {
        /// What the scheme signs.
        over: Over,
        /// The context; empty for none.
        context: &'a [u8],
    },
    /// ECDH, X25519 and X448: the bare shared secret.
    Ecdh {
        /// The other side's public point, as the token takes it.
        public: &'a [u8],
    },
    /// HKDF, extract and expand.
    Hkdf {
        /// The hash.
        hash: Hash,
        /// The salt; empty for none.
        salt: &'a [u8],
        /// The info.
        info: &'a [u8],
    },
    /// ML-DSA over data.
    MlDsa {
        /// The context; empty for none.
        context: &'a [u8],
    },
    /// SLH-DSA over data.
    SlhDsa {
        /// The context; empty for none.
        context: &'a [u8],
    },
    /// ML-KEM.
    MlKem,
    /// Makes an AES key.
    AesKeyGen,
    /// Makes a generic secret, for HMAC and HKDF.
    GenericSecretKeyGen,
    /// Makes an RSA pair.
    RsaKeyPairGen,
    /// Makes a pair on a Weierstrass curve.
    EcKeyPairGen,
    /// Makes an Ed25519 or Ed448 pair.
    EdwardsKeyPairGen,
    /// Makes an X25519 or X448 pair.
    MontgomeryKeyPairGen,
    /// Makes an ML-DSA pair.
    MlDsaKeyPairGen,
    /// Makes an SLH-DSA pair.
    SlhDsaKeyPairGen,
    /// Makes an ML-KEM pair.
    MlKemKeyPairGen,
    /// Any other, by its number, with its parameter as it stands in memory.
    Other {
        /// The mechanism.
        mechanism: MechanismType,
        /// Its parameter; empty for none.
        parameter: &'a [u8],
    },
}

/// What a signature is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Over {
    /// Data, which the token hashes.
    Data,
    /// A hash, which the caller made.
    Hash,
}

impl Mechanism<'_> {
    /// Which one it is.
    #[must_use]
    pub fn kind(&self) -> MechanismType {
        MechanismType::new(self.number())
    }

    /// The header's number.
    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::Digest(hash) => hash.digest(),
            Self::AesGcm { .. } => ck::CKM_AES_GCM,
            Self::AesCcm { .. } => ck::CKM_AES_CCM,
            Self::ChaCha20Poly1305 { .. } => ck::CKM_CHACHA20_POLY1305,
            Self::AesCbc { .. } => ck::CKM_AES_CBC,
            Self::AesCbcPad { .. } => ck::CKM_AES_CBC_PAD,
            Self::AesKeyWrap => ck::CKM_AES_KEY_WRAP,
            Self::AesKeyWrapPad => ck::CKM_AES_KEY_WRAP_KWP,
            Self::AesKeyWrapPadOld => ck::CKM_AES_KEY_WRAP_PAD,
            Self::AesCmac => ck::CKM_AES_CMAC,
            Self::AesCmacGeneral { .. } => ck::CKM_AES_CMAC_GENERAL,
            Self::Hmac(hash) => hash.numbers().hmac,
            Self::HmacGeneral { hash, .. } => hash.numbers().hmac_general,
            Self::RsaPkcs1 => ck::CKM_RSA_PKCS,
            Self::RsaPkcs1Hash(hash) => hash.numbers().rsa,
            Self::RsaPss {
                over: Over::Hash, ..
            }
            | Self::RsaPssMask {
                over: Over::Hash, ..
            } => ck::CKM_RSA_PKCS_PSS,
            Self::RsaPss { hash, .. } | Self::RsaPssMask { hash, .. } => hash.numbers().pss,
            Self::RsaOaep { .. } => ck::CKM_RSA_PKCS_OAEP,
            Self::RsaAesKeyWrap { .. } => ck::CKM_RSA_AES_KEY_WRAP,
            Self::Ecdsa => ck::CKM_ECDSA,
            Self::EcdsaHash(hash) => hash.numbers().ecdsa,
            Self::Eddsa | Self::EddsaContext { .. } => ck::CKM_EDDSA,
            Self::Ecdh { .. } => ck::CKM_ECDH1_DERIVE,
            Self::Hkdf { .. } => ck::CKM_HKDF_DERIVE,
            Self::MlDsa { .. } => ck::CKM_ML_DSA,
            Self::SlhDsa { .. } => ck::CKM_SLH_DSA,
            Self::MlKem => ck::CKM_ML_KEM,
            Self::AesKeyGen => ck::CKM_AES_KEY_GEN,
            Self::GenericSecretKeyGen => ck::CKM_GENERIC_SECRET_KEY_GEN,
            Self::RsaKeyPairGen => ck::CKM_RSA_PKCS_KEY_PAIR_GEN,
            Self::EcKeyPairGen => ck::CKM_EC_KEY_PAIR_GEN,
            Self::EdwardsKeyPairGen => ck::CKM_EC_EDWARDS_KEY_PAIR_GEN,
            Self::MontgomeryKeyPairGen => ck::CKM_EC_MONTGOMERY_KEY_PAIR_GEN,
            Self::MlDsaKeyPairGen => ck::CKM_ML_DSA_KEY_PAIR_GEN,
            Self::SlhDsaKeyPairGen => ck::CKM_SLH_DSA_KEY_PAIR_GEN,
            Self::MlKemKeyPairGen => ck::CKM_ML_KEM_KEY_PAIR_GEN,
            Self::Other { mechanism, .. } => mechanism.value(),
        }
    }

    pub(crate) const fn prehash_flag(&self) -> u8 {
        match self {
            Self::EddsaContext {
                over: Over::Hash, ..
            } => ck::CK_TRUE,
            _ => ck::CK_FALSE,
        }
    }

    /// By how much a result can be longer than its input; what is longer still costs a second call.
    pub(crate) const fn growth(&self) -> usize {
        match self {
            Self::AesGcm { .. }
            | Self::AesCcm { .. }
            | Self::ChaCha20Poly1305 { .. }
            | Self::AesCbc { .. }
            | Self::AesCbcPad { .. }
            | Self::AesKeyWrap
            | Self::AesKeyWrapPad
            | Self::AesKeyWrapPadOld
            | Self::AesCmac
            | Self::AesCmacGeneral { .. } => 32,
            Self::Digest(_) | Self::Hmac(_) | Self::HmacGeneral { .. } => 64,
            Self::Ecdsa | Self::EcdsaHash(_) | Self::Eddsa | Self::EddsaContext { .. } => 144,
            Self::MlDsa { .. } => 4640,
            Self::SlhDsa { .. } => 49_856,
            // A modulus of 8,192 bits.
            _ => 1024,
        }
    }
}

/// A hash of FIPS 180-4 or FIPS 202.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Hash {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
}

/// The header's numbers for all that is made with one hash.
struct Numbers {
    digest: u64,
    hmac: u64,
    hmac_general: u64,
    rsa: u64,
    pss: u64,
    ecdsa: u64,
    mask: u64,
}

/// One row of the header: `SHA256` and `SHA256` (RSA writes `SHA1`, the rest `SHA_1`).
macro_rules! numbers {
    ($digest:ident, $hmac:ident, $general:ident, $rsa:ident, $pss:ident, $ecdsa:ident, $mask:ident) => {
        Numbers {
            digest: ck::$digest,
            hmac: ck::$hmac,
            hmac_general: ck::$general,
            rsa: ck::$rsa,
            pss: ck::$pss,
            ecdsa: ck::$ecdsa,
            mask: ck::$mask,
        }
    };
}

impl Hash {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
    ];

    /// Bytes of a result.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a hash of no bytes is not a question that anybody has"
    )]
    pub const fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha3_256 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 => 64,
        }
    }

    pub(crate) const fn digest(self) -> u64 {
        self.numbers().digest
    }

    pub(crate) const fn mask(self) -> u64 {
        self.numbers().mask
    }

    #[rustfmt::skip]
    const fn numbers(self) -> Numbers {
        match self {
            Self::Sha1 => numbers!(CKM_SHA_1, CKM_SHA_1_HMAC, CKM_SHA_1_HMAC_GENERAL, CKM_SHA1_RSA_PKCS, CKM_SHA1_RSA_PKCS_PSS, CKM_ECDSA_SHA1, CKG_MGF1_SHA1),
            Self::Sha224 => numbers!(CKM_SHA224, CKM_SHA224_HMAC, CKM_SHA224_HMAC_GENERAL, CKM_SHA224_RSA_PKCS, CKM_SHA224_RSA_PKCS_PSS, CKM_ECDSA_SHA224, CKG_MGF1_SHA224),
            Self::Sha256 => numbers!(CKM_SHA256, CKM_SHA256_HMAC, CKM_SHA256_HMAC_GENERAL, CKM_SHA256_RSA_PKCS, CKM_SHA256_RSA_PKCS_PSS, CKM_ECDSA_SHA256, CKG_MGF1_SHA256),
            Self::Sha384 => numbers!(CKM_SHA384, CKM_SHA384_HMAC, CKM_SHA384_HMAC_GENERAL, CKM_SHA384_RSA_PKCS, CKM_SHA384_RSA_PKCS_PSS, CKM_ECDSA_SHA384, CKG_MGF1_SHA384),
            Self::Sha512 => numbers!(CKM_SHA512, CKM_SHA512_HMAC, CKM_SHA512_HMAC_GENERAL, CKM_SHA512_RSA_PKCS, CKM_SHA512_RSA_PKCS_PSS, CKM_ECDSA_SHA512, CKG_MGF1_SHA512),
            Self::Sha3_224 => numbers!(CKM_SHA3_224, CKM_SHA3_224_HMAC, CKM_SHA3_224_HMAC_GENERAL, CKM_SHA3_224_RSA_PKCS, CKM_SHA3_224_RSA_PKCS_PSS, CKM_ECDSA_SHA3_224, CKG_MGF1_SHA3_224),
            Self::Sha3_256 => numbers!(CKM_SHA3_256, CKM_SHA3_256_HMAC, CKM_SHA3_256_HMAC_GENERAL, CKM_SHA3_256_RSA_PKCS, CKM_SHA3_256_RSA_PKCS_PSS, CKM_ECDSA_SHA3_256, CKG_MGF1_SHA3_256),
            Self::Sha3_384 => numbers!(CKM_SHA3_384, CKM_SHA3_384_HMAC, CKM_SHA3_384_HMAC_GENERAL, CKM_SHA3_384_RSA_PKCS, CKM_SHA3_384_RSA_PKCS_PSS, CKM_ECDSA_SHA3_384, CKG_MGF1_SHA3_384),
            Self::Sha3_512 => numbers!(CKM_SHA3_512, CKM_SHA3_512_HMAC, CKM_SHA3_512_HMAC_GENERAL, CKM_SHA3_512_RSA_PKCS, CKM_SHA3_512_RSA_PKCS_PSS, CKM_ECDSA_SHA3_512, CKG_MGF1_SHA3_512),
        }
    }
}
