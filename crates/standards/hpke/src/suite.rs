//! The suites: which key encapsulation, which key derivation, which AEAD (RFC 9180, section 7).
//!
//! The enums are closed: a number that is not here is unknown, and nothing is computed for it. Whether a
//! suite that is here may be used is the business of [`crate::Policy`].

use std::fmt;

use crate::Error;

/// One row for each algorithm: its variant, number and name.
macro_rules! registry {
    (
        $(#[$doc:meta])* $name:ident;
        $( $(#[$of:meta])* $variant:ident = $id:literal, $spoken:literal; )*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$of])* $variant, )*
        }

        impl $name {
            /// Every one that is built here, by number.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The number in the registry of the standard.
            #[must_use]
            pub const fn id(self) -> u16 {
                match self { $( Self::$variant => $id, )* }
            }

            /// The one of this number.
            ///
            /// # Errors
            /// [`Error::SuiteUnknown`] if none is built here.
            pub const fn from_id(id: u16) -> Result<Self, Error> {
                match id {
                    $( $id => Ok(Self::$variant), )*
                    _ => Err(Error::SuiteUnknown),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $( Self::$variant => $spoken, )* })
            }
        }
    };
}

registry! {
    /// How a secret reaches the recipient (section 7.1). What is called a draft here is defined by
    /// draft-ietf-hpke-pq and can change with it; its numbers are registered.
    Kem;
    /// ECDH over P-256, RFC 9180.
    P256HkdfSha256 = 0x0010, "DHKEM(P-256, HKDF-SHA256)";
    /// ECDH over P-384, RFC 9180.
    P384HkdfSha384 = 0x0011, "DHKEM(P-384, HKDF-SHA384)";
    /// ECDH over P-521, RFC 9180.
    P521HkdfSha512 = 0x0012, "DHKEM(P-521, HKDF-SHA512)";
    /// X25519, RFC 9180.
    X25519HkdfSha256 = 0x0020, "DHKEM(X25519, HKDF-SHA256)";
    /// ML-KEM-768 alone. A draft. No sender authentication.
    MlKem768Draft = 0x0041, "ML-KEM-768 (draft)";
    /// ML-KEM-1024 alone. A draft. No sender authentication.
    MlKem1024Draft = 0x0042, "ML-KEM-1024 (draft)";
    /// X-Wing: ML-KEM-768 and X25519 together, secret while either holds. A draft. No sender authentication.
    XWingDraft = 0x647A, "X-Wing (draft)";
}

registry! {
    /// How keys are derived (section 7.2). The two SHAKEs are those of draft-ietf-hpke-pq, in one stage.
    Kdf;
    /// HKDF-SHA-256, RFC 5869.
    HkdfSha256 = 0x0001, "HKDF-SHA256";
    /// HKDF-SHA-384.
    HkdfSha384 = 0x0002, "HKDF-SHA384";
    /// HKDF-SHA-512.
    HkdfSha512 = 0x0003, "HKDF-SHA512";
    /// SHAKE128 in one stage. A draft.
    Shake128Draft = 0x0010, "SHAKE128 (draft)";
    /// SHAKE256 in one stage. A draft.
    Shake256Draft = 0x0011, "SHAKE256 (draft)";
}

registry! {
    /// How messages are sealed (section 7.3).
    Aead;
    /// AES-128-GCM.
    Aes128Gcm = 0x0001, "AES-128-GCM";
    /// AES-256-GCM.
    Aes256Gcm = 0x0002, "AES-256-GCM";
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305 = 0x0003, "ChaCha20Poly1305";
    /// Nothing is sealed; the two sides only export secrets.
    ExportOnly = 0xFFFF, "export-only";
}

impl Kem {
    /// Bytes in an encapsulation (`Nenc`).
    #[must_use]
    pub const fn enc_len(self) -> usize {
        match self {
            Self::X25519HkdfSha256 => 32,
            Self::P256HkdfSha256 => 65,
            Self::P384HkdfSha384 => 97,
            Self::P521HkdfSha512 => 133,
            Self::MlKem768Draft => 1088,
            Self::XWingDraft => 1120,
            Self::MlKem1024Draft => 1568,
        }
    }

    /// Bytes in a public key (`Npk`).
    #[must_use]
    pub const fn public_key_len(self) -> usize {
        match self {
            Self::MlKem768Draft => 1184,
            Self::XWingDraft => 1216,
            other => other.enc_len(),
        }
    }

    /// Bytes in a private key (`Nsk`); of the drafts, in the seed that they keep.
    #[must_use]
    pub const fn private_key_len(self) -> usize {
        match self {
            Self::X25519HkdfSha256 | Self::P256HkdfSha256 | Self::XWingDraft => 32,
            Self::P384HkdfSha384 => 48,
            Self::MlKem768Draft | Self::MlKem1024Draft => 64,
            Self::P521HkdfSha512 => 66,
        }
    }

    /// Whether a sender can prove who he is with a key of this kind.
    #[must_use]
    pub const fn authenticates(self) -> bool {
        !matches!(
            self,
            Self::MlKem768Draft | Self::MlKem1024Draft | Self::XWingDraft
        )
    }
}

impl Kdf {
    /// Bytes in an exporter secret (`Nh`).
    #[must_use]
    pub const fn hash_len(self) -> usize {
        match self {
            Self::HkdfSha256 | Self::Shake128Draft => 32,
            Self::HkdfSha384 => 48,
            Self::HkdfSha512 | Self::Shake256Draft => 64,
        }
    }

    /// Bytes in the longest export (section 5.3): 255 hashes, or what two bytes can count.
    #[must_use]
    pub const fn export_limit(self) -> usize {
        match self {
            Self::Shake128Draft | Self::Shake256Draft => 0xFFFF,
            hkdf => 255 * hkdf.hash_len(),
        }
    }
}

impl Aead {
    /// Bytes in a key (`Nk`); none for [`Aead::ExportOnly`].
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
            Self::ExportOnly => 0,
        }
    }
}

/// Three algorithms that work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "RFC 9180 says that a suite is these three"
)]
pub struct Suite {
    /// How a secret reaches the recipient.
    pub kem: Kem,
    /// How keys are derived.
    pub kdf: Kdf,
    /// How messages are sealed.
    pub aead: Aead,
}

impl Suite {
    /// X25519, HKDF-SHA-256, ChaCha20-Poly1305.
    pub const X25519: Self = Self {
        kem: Kem::X25519HkdfSha256,
        kdf: Kdf::HkdfSha256,
        aead: Aead::ChaCha20Poly1305,
    };

    /// X-Wing, HKDF-SHA-256, ChaCha20-Poly1305: for data that must stay secret from a quantum computer to
    /// come. The choice for new data.
    pub const X_WING_DRAFT: Self = Self {
        kem: Kem::XWingDraft,
        kdf: Kdf::HkdfSha256,
        aead: Aead::ChaCha20Poly1305,
    };

    /// P-256, HKDF-SHA-256, AES-256-GCM: what every library has.
    pub const P256: Self = Self {
        kem: Kem::P256HkdfSha256,
        kdf: Kdf::HkdfSha256,
        aead: Aead::Aes256Gcm,
    };

    /// The suite of these three numbers.
    ///
    /// # Errors
    /// [`Error::SuiteUnknown`] if one of them is not built here.
    pub fn from_ids(ids: [u16; 3]) -> Result<Self, Error> {
        let [kem, kdf, aead] = ids;
        Ok(Self {
            kem: Kem::from_id(kem)?,
            kdf: Kdf::from_id(kdf)?,
            aead: Aead::from_id(aead)?,
        })
    }

    /// The three numbers.
    #[must_use]
    pub const fn ids(self) -> [u16; 3] {
        [self.kem.id(), self.kdf.id(), self.aead.id()]
    }

    /// The six bytes of the three numbers, by which a suite is written.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 6] {
        let [[a, b], [c, d], [e, f]] = self.ids().map(u16::to_be_bytes);
        [a, b, c, d, e, f]
    }

    /// Every suite that is built here.
    pub fn all() -> impl Iterator<Item = Self> {
        Kem::ALL.iter().flat_map(|kem| {
            Kdf::ALL.iter().flat_map(move |kdf| {
                Aead::ALL.iter().map(move |aead| Self {
                    kem: *kem,
                    kdf: *kdf,
                    aead: *aead,
                })
            })
        })
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.kem, self.kdf, self.aead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_their_suite_and_others_are_unknown() {
        for suite in Suite::all() {
            assert_eq!(Suite::from_ids(suite.ids()), Ok(suite));
        }
        assert_eq!(Suite::all().count(), 7 * 5 * 4);
        for ids in [
            [0x0021, 1, 1],
            [0x0040, 1, 1],
            [0x0020, 0, 1],
            [0x0020, 0x12, 1],
            [0x0020, 1, 0],
            [0x0020, 1, 4],
            [0, 0, 0],
        ] {
            assert_eq!(Suite::from_ids(ids), Err(Error::SuiteUnknown), "{ids:?}");
        }
    }
}
