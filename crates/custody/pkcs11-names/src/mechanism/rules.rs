//! The rules by which names tell category and use. The first that fits counts.

use super::{Category, Use};

/// A rule about names without `CKM_`.
pub(super) enum Rule {
    /// The whole name.
    Is(&'static str),
    /// The first words.
    Starts(&'static str),
    /// The last words.
    Ends(&'static str),
    /// Words anywhere.
    Has(&'static str),
}

use Rule::{Ends, Has, Is, Starts};

impl Rule {
    pub(super) fn fits(&self, name: &str) -> bool {
        match self {
            Self::Is(whole) => name == *whole,
            Self::Starts(start) => name.starts_with(start),
            Self::Ends(end) => name.ends_with(end),
            Self::Has(part) => name.contains(part),
        }
    }
}

/// In the order in which they are asked.
pub(super) const CATEGORIES: &[(Category, &[Rule])] = &[
    (
        Category::PostQuantum,
        &[
            Has("ML_DSA"),
            Has("ML_KEM"),
            Has("SLH_DSA"),
            Starts("HSS"),
            Starts("XMSS"),
        ],
    ),
    (Category::Ratchet, &[Starts("X3DH_"), Starts("X2RATCHET_")]),
    (Category::Gost, &[Starts("GOST")]),
    (
        Category::Password,
        &[Starts("PBE_"), Starts("PBA_"), Starts("PKCS5_")],
    ),
    (
        Category::Protocol,
        &[
            Starts("SSL3_"),
            Starts("TLS"),
            Starts("WTLS_"),
            Starts("IKE"),
            Is("CMS_SIG"),
        ],
    ),
    (
        Category::Otp,
        &[
            Starts("SECURID"),
            Starts("HOTP"),
            Starts("ACTI"),
            Starts("KIP_"),
        ],
    ),
    (
        Category::KeyWrap,
        &[Has("AES_KEY_WRAP"), Starts("KEY_WRAP_")],
    ),
    (
        Category::LegacyCipher,
        &[
            Starts("RC2_"),
            Starts("RC4"),
            Starts("RC5_"),
            Starts("CDMF_"),
            Starts("CAST"),
            Starts("IDEA_"),
            Starts("SKIPJACK_"),
            Starts("BATON_"),
            Starts("JUNIPER_"),
            Starts("KEA_"),
            Starts("BLOWFISH_"),
            Starts("TWOFISH_"),
            Starts("FORTEZZA_"),
            Is("FASTHASH"),
        ],
    ),
    (Category::Des, &[Starts("DES")]),
    (Category::Aes, &[Starts("AES_")]),
    (
        Category::BlockCipher,
        &[Starts("CAMELLIA_"), Starts("ARIA_"), Starts("SEED_")],
    ),
    (
        Category::ChaCha,
        &[Starts("CHACHA20"), Starts("SALSA20"), Starts("POLY1305")],
    ),
    (Category::Dh, &[Starts("DH_"), Starts("X9_42_")]),
    (Category::Rsa, &[Has("RSA_")]),
    (Category::Ec, &[Starts("EC"), Is("EDDSA"), Is("XEDDSA")]),
    (Category::Dsa, &[Starts("DSA")]),
    (Category::Hmac, &[Has("_HMAC")]),
    (
        Category::Derivation,
        &[
            Ends("_KEY_DERIVATION"),
            Ends("_KEY_DERIVE"),
            Starts("HKDF_"),
            Starts("SP800_108_"),
            Starts("CONCATENATE_"),
            Is("XOR_BASE_AND_DATA"),
            Is("EXTRACT_KEY_FROM_KEY"),
            Is("PUB_KEY_FROM_PRIV_KEY"),
        ],
    ),
    (Category::GenericSecret, &[Starts("GENERIC_SECRET_")]),
    (
        Category::Hash,
        &[
            Starts("MD2"),
            Starts("MD5"),
            Starts("SHA"),
            Starts("RIPEMD"),
            Starts("BLAKE2B_"),
        ],
    ),
];

pub(super) const CIPHER: &[Use] = &[Use::Encrypt, Use::Decrypt, Use::Wrap, Use::Unwrap];
pub(super) const SIGNATURE: &[Use] = &[Use::Sign, Use::Verify];
const RECOVERABLE: &[Use] = &[Use::Sign, Use::SignRecover, Use::Verify, Use::VerifyRecover];
pub(super) const RAW_RSA: &[Use] = &[
    Use::Encrypt,
    Use::Decrypt,
    Use::Sign,
    Use::SignRecover,
    Use::Verify,
    Use::VerifyRecover,
    Use::Wrap,
    Use::Unwrap,
];

/// In the order in which they are asked.
pub(super) const USES: &[(&[Use], &[Rule])] = &[
    (&[], &[Is("VENDOR_DEFINED")]),
    (
        &[
            Use::Encrypt,
            Use::Decrypt,
            Use::Digest,
            Use::Sign,
            Use::SignRecover,
            Use::Verify,
            Use::VerifyRecover,
            Use::Wrap,
            Use::Unwrap,
            Use::Derive,
        ],
        &[Is("NULL")],
    ),
    (&[Use::GenerateKeyPair], &[Has("_KEY_PAIR_GEN")]),
    (
        &[Use::Generate],
        &[
            Ends("_KEY_GEN"),
            Ends("_PARAMETER_GEN"),
            Ends("_FIPS_G_GEN"),
            Starts("PBE_"),
            Starts("PBA_"),
            Starts("PKCS5_"),
        ],
    ),
    (
        &[Use::Derive],
        &[
            Has("_DERIVE"),
            Has("_DERIVATION"),
            Ends("_KDF"),
            Ends("_PRF"),
            Ends("_ENCRYPT_DATA"),
            Starts("CONCATENATE_"),
            Is("XOR_BASE_AND_DATA"),
            Is("EXTRACT_KEY_FROM_KEY"),
            Is("HKDF_DATA"),
            Is("PUB_KEY_FROM_PRIV_KEY"),
            Starts("X3DH_"),
            Is("X2RATCHET_INITIALIZE"),
            Is("X2RATCHET_RESPOND"),
        ],
    ),
    (&[Use::Encapsulate, Use::Decapsulate], &[Is("ML_KEM")]),
    (RAW_RSA, &[Is("RSA_PKCS"), Is("RSA_X_509")]),
    (RECOVERABLE, &[Is("RSA_9796"), Is("CMS_SIG")]),
    (
        SIGNATURE,
        &[
            Ends("_MAC"),
            Ends("_MAC_GENERAL"),
            Ends("_MAC_96"),
            Has("_HMAC"),
            Has("_CMAC"),
            Ends("_GMAC"),
            Is("POLY1305"),
            Starts("TLS10_MAC_"),
            Ends("_RSA_PKCS"),
            Ends("_PSS"),
            Ends("RSA_X9_31"),
            Starts("DSA"),
            Starts("ECDSA"),
            Ends("EDDSA"),
            Is("GOSTR3410"),
            Is("GOSTR3410_WITH_GOSTR3411"),
            Has("ML_DSA"),
            Has("SLH_DSA"),
            Is("HSS"),
            Starts("XMSS"),
            Is("SECURID"),
            Is("HOTP"),
            Is("ACTI"),
            Is("FORTEZZA_TIMESTAMP"),
        ],
    ),
    (
        CIPHER,
        &[
            Is("RSA_PKCS_OAEP"),
            Ends("_TPM_1_1"),
            Starts("AES_KEY_WRAP"),
            Has("_ECB"),
            Has("_CBC"),
            Has("_OFB"),
            Has("_CFB"),
            Ends("_CTR"),
            Ends("_CTS"),
            Ends("_GCM"),
            Ends("_CCM"),
            Ends("_XTS"),
            Ends("_COUNTER"),
            Ends("_SHUFFLE"),
            Is("RC4"),
            Is("GOST28147"),
            Starts("CHACHA20"),
            Starts("SALSA20"),
            Is("X2RATCHET_ENCRYPT"),
            Is("X2RATCHET_DECRYPT"),
        ],
    ),
    (
        &[Use::Wrap, Use::Unwrap],
        &[
            Has("_KEY_WRAP"),
            Starts("KEY_WRAP_"),
            Ends("_WRAP"),
            Ends("_RELAYX"),
        ],
    ),
    (
        &[Use::Digest],
        &[
            Starts("MD2"),
            Starts("MD5"),
            Starts("SHA"),
            Starts("RIPEMD"),
            Starts("BLAKE2B_"),
            Is("GOSTR3411"),
            Is("FASTHASH"),
        ],
    ),
];

/// What no new system should use, beyond whole categories.
pub(super) const LEGACY: &[Rule] = &[
    Has("MD2"),
    Has("MD5"),
    Has("RIPEMD128"),
    Is("SHA_1"),
    Is("SHA1_RSA_PKCS"),
    Is("SHA1_RSA_PKCS_PSS"),
    Is("SHA1_RSA_X9_31"),
    Is("ECDSA_SHA1"),
    Is("DSA_SHA1"),
    Is("RSA_PKCS"),
    Is("RSA_X_509"),
    Is("RSA_9796"),
    Has("TPM_1_1"),
    Starts("SSL3_"),
    Starts("WTLS_"),
    Starts("PBE_"),
    Starts("PBA_"),
    Is("AES_ECB"),
];
