//! What a mechanism belongs to and may be used for.
//!
//! Both are told from the name in the header, never from the range of the number: the ranges were filled in the
//! order of invention. What a mechanism may be used for is what the standard's tables of mechanisms against
//! functions allow; what a token allows is in its `CK_MECHANISM_INFO`, and may be less.

mod rules;

use std::fmt;

use crate::{MechanismType, Named};
use rules::{CATEGORIES, LEGACY, USES};

/// What a mechanism belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Category {
    /// AES, other than wrapping.
    Aes,
    /// Camellia, ARIA, SEED.
    BlockCipher,
    /// Wrapping of keys.
    KeyWrap,
    /// ChaCha20, Salsa20, Poly1305.
    ChaCha,
    /// DES and triple DES.
    Des,
    /// Diffie-Hellman over integers.
    Dh,
    /// DSA.
    Dsa,
    /// Elliptic curves: ECDSA, ECDH, `EdDSA`, Montgomery curves.
    Ec,
    /// GOST.
    Gost,
    /// Digests.
    Hash,
    /// Codes with a key over a digest.
    Hmac,
    /// Derivation of keys from keys.
    Derivation,
    /// Old ciphers.
    LegacyCipher,
    /// One-time passwords.
    Otp,
    /// Keys and codes from passwords.
    Password,
    /// Signatures and encapsulation that withstand a quantum computer.
    PostQuantum,
    /// Ratchets.
    Ratchet,
    /// RSA.
    Rsa,
    /// Secrets without a cipher.
    GenericSecret,
    /// SSL, TLS, WTLS and IKE.
    Protocol,
    /// A number of a vendor.
    Vendor,
    /// None of these.
    Other,
}

impl Category {
    /// A heading.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes => "AES",
            Self::BlockCipher => "Camellia, ARIA, SEED",
            Self::KeyWrap => "Key wrap",
            Self::ChaCha => "ChaCha20 and Salsa20",
            Self::Des => "DES and triple DES",
            Self::Dh => "Diffie-Hellman",
            Self::Dsa => "DSA",
            Self::Ec => "Elliptic curves",
            Self::Gost => "GOST",
            Self::Hash => "Hash",
            Self::Hmac => "HMAC",
            Self::Derivation => "Key derivation",
            Self::LegacyCipher => "Legacy ciphers",
            Self::Otp => "One-time passwords",
            Self::Password => "Password-based",
            Self::PostQuantum => "Post-quantum",
            Self::Ratchet => "Ratchets",
            Self::Rsa => "RSA",
            Self::GenericSecret => "Generic secret",
            Self::Protocol => "Protocols",
            Self::Vendor => "Vendor",
            Self::Other => "Other",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A use of a mechanism; each is a bit of `CK_MECHANISM_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Use {
    /// `CKF_ENCRYPT`
    Encrypt,
    /// `CKF_DECRYPT`
    Decrypt,
    /// `CKF_DIGEST`
    Digest,
    /// `CKF_SIGN`
    Sign,
    /// `CKF_SIGN_RECOVER`
    SignRecover,
    /// `CKF_VERIFY`
    Verify,
    /// `CKF_VERIFY_RECOVER`
    VerifyRecover,
    /// `CKF_GENERATE`
    Generate,
    /// `CKF_GENERATE_KEY_PAIR`
    GenerateKeyPair,
    /// `CKF_WRAP`
    Wrap,
    /// `CKF_UNWRAP`
    Unwrap,
    /// `CKF_DERIVE`
    Derive,
    /// `CKF_ENCAPSULATE`
    Encapsulate,
    /// `CKF_DECAPSULATE`
    Decapsulate,
}

impl Use {
    /// The name of the bit.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Encrypt => "CKF_ENCRYPT",
            Self::Decrypt => "CKF_DECRYPT",
            Self::Digest => "CKF_DIGEST",
            Self::Sign => "CKF_SIGN",
            Self::SignRecover => "CKF_SIGN_RECOVER",
            Self::Verify => "CKF_VERIFY",
            Self::VerifyRecover => "CKF_VERIFY_RECOVER",
            Self::Generate => "CKF_GENERATE",
            Self::GenerateKeyPair => "CKF_GENERATE_KEY_PAIR",
            Self::Wrap => "CKF_WRAP",
            Self::Unwrap => "CKF_UNWRAP",
            Self::Derive => "CKF_DERIVE",
            Self::Encapsulate => "CKF_ENCAPSULATE",
            Self::Decapsulate => "CKF_DECAPSULATE",
        }
    }
}

impl MechanismType {
    /// What it belongs to.
    #[must_use]
    pub fn category(self) -> Category {
        let Some(name) = self.short_name() else {
            return if self.vendor_offset().is_some() {
                Category::Vendor
            } else {
                Category::Other
            };
        };
        if name == "VENDOR_DEFINED" {
            return Category::Vendor;
        }
        CATEGORIES
            .iter()
            .find(|(_, rules)| rules.iter().any(|rule| rule.fits(name)))
            .map_or(Category::Other, |&(category, _)| category)
    }

    /// What the standard allows it to be used for. Empty for numbers without a name.
    #[must_use]
    pub fn uses(self) -> &'static [Use] {
        let Some(name) = self.short_name() else {
            return &[];
        };
        USES.iter()
            .find(|(_, rules)| rules.iter().any(|rule| rule.fits(name)))
            .map_or(&[], |&(uses, _)| uses)
    }

    /// Whether the standard allows this use.
    #[must_use]
    pub fn allows(self, what: Use) -> bool {
        self.uses().contains(&what)
    }

    /// Whether new systems should not use it: broken or too short digests and ciphers, RSA without padding, and
    /// encryption with the padding of PKCS#1 v1.5.
    #[must_use]
    pub fn is_legacy(self) -> bool {
        let Some(name) = self.short_name() else {
            return false;
        };
        LEGACY.iter().any(|rule| rule.fits(name))
            || matches!(self.category(), Category::Des | Category::LegacyCipher)
    }

    fn short_name(self) -> Option<&'static str> {
        self.name()?.strip_prefix("CKM_")
    }
}

#[cfg(test)]
mod tests {
    use super::rules::{CIPHER, RAW_RSA, SIGNATURE};
    use super::*;

    #[test]
    fn every_mechanism_of_the_header_has_a_category_and_a_use() {
        let without: Vec<_> = MechanismType::all()
            .filter(|one| one.category() == Category::Other && *one != MechanismType::NULL)
            .filter_map(Named::name)
            .collect();
        assert_eq!(without, [""; 0]);
        let without: Vec<_> = MechanismType::all()
            .filter(|one| one.uses().is_empty() && *one != MechanismType::VENDOR_DEFINED)
            .filter_map(Named::name)
            .collect();
        assert_eq!(without, [""; 0]);
    }

    #[test]
    fn the_category_follows_the_mechanism_and_not_its_number() {
        for (mechanism, category) in [
            (MechanismType::RSA_PKCS_OAEP, Category::Rsa),
            (MechanismType::SHA256_RSA_PKCS, Category::Rsa),
            (MechanismType::ML_KEM, Category::PostQuantum),
            (MechanismType::HASH_SLH_DSA_SHA256, Category::PostQuantum),
            (MechanismType::SHA512_224, Category::Hash),
            (MechanismType::SHA3_256_HMAC, Category::Hmac),
            (MechanismType::SHA256_KEY_DERIVATION, Category::Derivation),
            (MechanismType::DES3_CBC_ENCRYPT_DATA, Category::Des),
            (MechanismType::AES_GMAC, Category::Aes),
            (MechanismType::AES_KEY_WRAP_KWP, Category::KeyWrap),
            (MechanismType::RSA_AES_KEY_WRAP, Category::KeyWrap),
            (MechanismType::EDDSA, Category::Ec),
            (MechanismType::ECDSA_SHA3_512, Category::Ec),
            (MechanismType::SP800_108_COUNTER_KDF, Category::Derivation),
            (MechanismType::DSA_SHA256, Category::Dsa),
            (MechanismType::X9_42_DH_DERIVE, Category::Dh),
            (MechanismType::new(0x8000_0001), Category::Vendor),
            (MechanismType::VENDOR_DEFINED, Category::Vendor),
            (MechanismType::new(0x7fff_0000), Category::Other),
        ] {
            assert_eq!(mechanism.category(), category, "{mechanism}");
        }
    }

    #[test]
    fn uses_are_those_of_the_standard() {
        for (mechanism, uses) in [
            (MechanismType::AES_GCM, CIPHER),
            (MechanismType::AES_CMAC, SIGNATURE),
            (MechanismType::AES_KEY_GEN, &[Use::Generate][..]),
            (
                MechanismType::EC_KEY_PAIR_GEN_W_EXTRA_BITS,
                &[Use::GenerateKeyPair],
            ),
            (MechanismType::RSA_PKCS, RAW_RSA),
            (MechanismType::RSA_PKCS_OAEP, CIPHER),
            (MechanismType::SHA384_RSA_PKCS_PSS, SIGNATURE),
            (MechanismType::ECDH1_DERIVE, &[Use::Derive]),
            (MechanismType::ML_KEM, &[Use::Encapsulate, Use::Decapsulate]),
            (MechanismType::SHA3_512, &[Use::Digest]),
            (MechanismType::SHA256_HMAC_GENERAL, SIGNATURE),
            (MechanismType::RSA_AES_KEY_WRAP, &[Use::Wrap, Use::Unwrap]),
            (MechanismType::AES_CBC_ENCRYPT_DATA, &[Use::Derive]),
            (MechanismType::CHACHA20_POLY1305, CIPHER),
            (MechanismType::POLY1305, SIGNATURE),
            (MechanismType::SHA_1_KEY_GEN, &[Use::Generate]),
            (MechanismType::new(0x8000_0001), &[]),
        ] {
            assert_eq!(mechanism.uses(), uses, "{mechanism}");
        }
    }

    #[test]
    fn legacy_is_what_is_broken_and_nothing_that_stands_beside_it() {
        for legacy in [
            MechanismType::MD5_RSA_PKCS,
            MechanismType::RSA_PKCS,
            MechanismType::DES3_CBC,
            MechanismType::RC4,
            MechanismType::SHA_1,
            MechanismType::ECDSA_SHA1,
        ] {
            assert!(legacy.is_legacy(), "{legacy}");
        }
        for fine in [
            MechanismType::SHA256_RSA_PKCS,
            MechanismType::SHA_1_HMAC,
            MechanismType::AES_GCM,
            MechanismType::RSA_PKCS_OAEP,
            MechanismType::ECDSA,
            MechanismType::new(0x8000_0001),
        ] {
            assert!(!fine.is_legacy(), "{fine}");
        }
    }
}
