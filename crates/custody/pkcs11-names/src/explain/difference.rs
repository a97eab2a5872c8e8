//! Where tokens are known to answer in their own ways.
//!
//! Rows say what was read in the token's source or seen on it; versions are the ones for which that is known. The
//! tests of this crate repeat on installed tokens what can be seen without a program of their own.

use std::fmt;

use crate::ReturnCode;

/// A token whose ways are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Provider {
    /// Kryoptic, in software.
    Kryoptic,
    /// SoftHSM 2, in software.
    SoftHsm,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Kryoptic, Self::SoftHsm];

    /// By what the module says of itself in `CK_INFO`: the identifier of the manufacturer.
    #[must_use]
    pub fn recognise(manufacturer: &str) -> Option<Self> {
        match manufacturer.trim() {
            "SoftHSM" => Some(Self::SoftHsm),
            "Kryoptic" | "Kryoptic Project" => Some(Self::Kryoptic),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kryoptic => "Kryoptic",
            Self::SoftHsm => "SoftHSM",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One way of a token.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    provider: Provider,
    versions: &'static str,
    code: ReturnCode,
    text: &'static str,
}

impl Difference {
    /// Whose.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        self.provider
    }

    /// In which versions, in words.
    #[must_use]
    pub const fn versions(&self) -> &'static str {
        self.versions
    }

    /// The code that it is about.
    #[must_use]
    pub const fn code(&self) -> ReturnCode {
        self.code
    }

    /// What it does, as half a sentence.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }
}

const fn softhsm(versions: &'static str, code: ReturnCode, text: &'static str) -> Difference {
    Difference {
        provider: Provider::SoftHsm,
        versions,
        code,
        text,
    }
}

const fn kryoptic(versions: &'static str, code: ReturnCode, text: &'static str) -> Difference {
    Difference {
        provider: Provider::Kryoptic,
        versions,
        code,
        text,
    }
}

/// What is known, by code.
pub static DIFFERENCES: &[Difference] = &[
    softhsm(
        "2.x",
        ReturnCode::SLOT_ID_INVALID,
        "the slot of a token gets another number when the token is initialised: the last digits of its serial",
    ),
    softhsm(
        "before 2.7.0",
        ReturnCode::GENERAL_ERROR,
        "answered for a decryption that fails; later versions answer ENCRYPTED_DATA_INVALID or \
         ENCRYPTED_DATA_LEN_RANGE",
    ),
    softhsm(
        "2.6",
        ReturnCode::GENERAL_ERROR,
        "answered by C_Initialize when the folder of the store is missing",
    ),
    softhsm(
        "2.6 and 2.7",
        ReturnCode::ARGUMENTS_BAD,
        "answered for RSA-OAEP with any hash but SHA-1 or with a label",
    ),
    softhsm(
        "2.7.0 and later",
        ReturnCode::ENCRYPTED_DATA_INVALID,
        "answered for a decryption that fails, where earlier versions answered GENERAL_ERROR",
    ),
    softhsm(
        "2.6",
        ReturnCode::FUNCTION_NOT_SUPPORTED,
        "answered by C_DecryptUpdate for RSA, which decrypts in one part only",
    ),
    softhsm(
        "2.6",
        ReturnCode::MECHANISM_INVALID,
        "there is no SHA-3, no AES-CCM and no CMAC of chosen length; wrapping with padding is \
         CKM_AES_KEY_WRAP_PAD (0x210A), not CKM_AES_KEY_WRAP_KWP",
    ),
    kryoptic(
        "1.5",
        ReturnCode::MECHANISM_INVALID,
        "wrapping with padding is CKM_AES_KEY_WRAP_KWP (0x210B), not CKM_AES_KEY_WRAP_PAD",
    ),
    softhsm(
        "2.6",
        ReturnCode::PIN_INCORRECT,
        "wrong PINs are not counted: the token does not lock",
    ),
    kryoptic(
        "1.5",
        ReturnCode::PIN_LEN_RANGE,
        "a shortest PIN of 8 is announced; a store in SQLite takes shorter ones",
    ),
    kryoptic(
        "1.5",
        ReturnCode::PIN_LOCKED,
        "answered after ten wrong PINs",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Explanation;

    #[test]
    fn rows_stand_by_code_and_are_found_from_it() {
        assert!(
            DIFFERENCES
                .windows(2)
                .all(|pair| pair[0].code <= pair[1].code)
        );
        for row in DIFFERENCES {
            let known = Explanation::of(row.code).unwrap();
            assert!(known.differences().any(|one| std::ptr::eq(one, row)));
            assert!(!row.text.ends_with('.') && !row.versions.is_empty());
        }
        assert_eq!(
            Explanation::of(ReturnCode::OK)
                .unwrap()
                .differences()
                .count(),
            0
        );
    }

    #[test]
    fn a_token_is_recognised_by_its_whole_name_only() {
        assert_eq!(
            Provider::recognise("SoftHSM         "),
            Some(Provider::SoftHsm)
        );
        assert_eq!(Provider::recognise("Kryoptic"), Some(Provider::Kryoptic));
        for other in ["", "softhsm", "Not SoftHSM", "SoftHSM 3"] {
            assert_eq!(Provider::recognise(other), None, "{other}");
        }
    }
}
