//! What can go wrong with a token, and what to do with the session then.
//!
//! A call that fails keeps its true return code and the name of its function for ever. Everything else
//! that the layer refuses by itself has a variant of its own.

use std::fmt;
use std::path::PathBuf;

use cryptoki_sys as ck;
use keywright_pkcs11_names::{AttributeType, MechanismType, ReturnCode};

use crate::object::Candidate;
use crate::raw::LoadFault;

/// A call that failed: which one, and with what code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    code: u64,
    function: &'static str,
}

impl Failure {
    /// `Ok` for `CKR_OK`.
    pub(crate) const fn check(code: u64, function: &'static str) -> Result<(), Self> {
        if code == ck::CKR_OK {
            Ok(())
        } else {
            Err(Self { code, function })
        }
    }

    /// The module broke the standard in a way that no code describes.
    pub(crate) const fn nonsense(what: &'static str) -> Self {
        Self {
            code: ck::CKR_GENERAL_ERROR,
            function: what,
        }
    }

    pub(crate) const fn raw(&self) -> u64 {
        self.code
    }

    /// The return code as the module gave it.
    #[must_use]
    pub const fn code(&self) -> ReturnCode {
        ReturnCode::new(self.code)
    }

    /// The function's name, such as `C_Login`.
    #[must_use]
    pub const fn function(&self) -> &'static str {
        self.function
    }

    /// What to do with the session.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self.code {
            ck::CKR_FUNCTION_CANCELED
            | ck::CKR_CANCEL
            | ck::CKR_PENDING
            | ck::CKR_SESSION_COUNT
            | ck::CKR_TOKEN_RESOURCE_EXCEEDED
            | ck::CKR_HOST_MEMORY => Remedy::Retry,
            // These two also stand for a ciphertext that does not open, on tokens that have no better
            // word. The session is not to blame then.
            ck::CKR_GENERAL_ERROR | ck::CKR_FUNCTION_FAILED if self.judges_data() => Remedy::GiveUp,
            ck::CKR_GENERAL_ERROR
            | ck::CKR_FUNCTION_FAILED
            | ck::CKR_DEVICE_ERROR
            | ck::CKR_DEVICE_MEMORY
            | ck::CKR_DEVICE_REMOVED
            | ck::CKR_TOKEN_NOT_PRESENT
            | ck::CKR_TOKEN_NOT_RECOGNIZED
            | ck::CKR_TOKEN_NOT_INITIALIZED
            | ck::CKR_SLOT_ID_INVALID
            | ck::CKR_SESSION_CLOSED
            | ck::CKR_SESSION_HANDLE_INVALID
            | ck::CKR_KEY_HANDLE_INVALID
            | ck::CKR_OBJECT_HANDLE_INVALID
            | ck::CKR_WRAPPING_KEY_HANDLE_INVALID
            | ck::CKR_UNWRAPPING_KEY_HANDLE_INVALID
            | ck::CKR_OPERATION_ACTIVE
            | ck::CKR_OPERATION_CANCEL_FAILED
            | ck::CKR_USER_NOT_LOGGED_IN
            | ck::CKR_CRYPTOKI_NOT_INITIALIZED => Remedy::Reopen,
            _ => Remedy::GiveUp,
        }
    }

    /// Whether the token says that the data does not fit its key: a tag, a padding, a length.
    #[must_use]
    pub fn is_about_data(&self) -> bool {
        matches!(
            self.code,
            ck::CKR_ENCRYPTED_DATA_INVALID
                | ck::CKR_ENCRYPTED_DATA_LEN_RANGE
                | ck::CKR_AEAD_DECRYPT_FAILED
                | ck::CKR_DATA_INVALID
                | ck::CKR_DATA_LEN_RANGE
                | ck::CKR_WRAPPED_KEY_INVALID
                | ck::CKR_WRAPPED_KEY_LEN_RANGE
        )
    }

    /// Whether the token may mean the data or itself: `CKR_GENERAL_ERROR` of a decryption. Whoever has a
    /// known ciphertext finds out with it.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.judges_data()
            && matches!(
                self.code,
                ck::CKR_GENERAL_ERROR
                    | ck::CKR_FUNCTION_FAILED
                    | ck::CKR_DEVICE_ERROR
                    | ck::CKR_ARGUMENTS_BAD
                    | ck::CKR_MECHANISM_PARAM_INVALID
            )
    }

    /// Whether the code says that the token does not have what was asked for: a function, a mechanism or one of
    /// its parameters, a curve, a size or a kind of key. Every other code is a failure, and so is such a code of a
    /// function that was not given what it is about: an operation was begun with it, and the token took it.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self.code {
            ck::CKR_FUNCTION_NOT_SUPPORTED
            | ck::CKR_MECHANISM_INVALID
            | ck::CKR_CURVE_NOT_SUPPORTED => true,
            ck::CKR_DOMAIN_PARAMS_INVALID
            | ck::CKR_KEY_SIZE_RANGE
            | ck::CKR_KEY_TYPE_INCONSISTENT
            | ck::CKR_WRAPPING_KEY_TYPE_INCONSISTENT
            | ck::CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT => self.takes_mechanism(),
            ck::CKR_RANDOM_NO_RNG => self.needs_random(),
            // Of a decryption this may be about the ciphertext.
            ck::CKR_MECHANISM_PARAM_INVALID => {
                !self.judges_data() && (self.takes_mechanism() || self.takes_parameter())
            }
            _ => self.code() == ReturnCode::PARAMETER_SET_NOT_SUPPORTED,
        }
    }

    /// Whether the function is given a mechanism, with a key or with what a key is to be.
    fn takes_mechanism(&self) -> bool {
        self.function.ends_with("Init")
            || matches!(
                self.function,
                "C_CreateObject"
                    | "C_DecapsulateKey"
                    | "C_DeriveKey"
                    | "C_EncapsulateKey"
                    | "C_GenerateKey"
                    | "C_GenerateKeyPair"
                    | "C_UnwrapKey"
                    | "C_UnwrapKeyAuthenticated"
                    | "C_WrapKey"
                    | "C_WrapKeyAuthenticated"
            )
    }

    /// Whether the function is given a parameter for each message (PKCS#11 3.0, 5.9).
    fn takes_parameter(&self) -> bool {
        matches!(
            self.function,
            "C_EncryptMessage" | "C_EncryptMessageBegin" | "C_SignMessage" | "C_SignMessageBegin"
        )
    }

    /// Whether the function makes random values, so that the answer is about the generator.
    fn needs_random(&self) -> bool {
        matches!(
            self.function,
            "C_EncapsulateKey"
                | "C_GenerateKey"
                | "C_GenerateKeyPair"
                | "C_GenerateRandom"
                | "C_SeedRandom"
        )
    }

    fn judges_data(&self) -> bool {
        matches!(
            self.function,
            "C_Decrypt"
                | "C_DecryptUpdate"
                | "C_DecryptFinal"
                | "C_DecryptMessage"
                | "C_UnwrapKey"
                | "C_DecapsulateKey"
        )
    }

    pub(crate) fn is_bad_signature(&self) -> bool {
        matches!(
            self.code,
            ck::CKR_SIGNATURE_INVALID | ck::CKR_SIGNATURE_LEN_RANGE
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed with {}", self.function, self.code())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({} -> 0x{:08x})", self.function, self.code)
    }
}

impl std::error::Error for Failure {}

/// What to do with the session after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever holds a session must face each of them"
)]
pub enum Remedy {
    /// The session is as it was, and the same call may succeed later.
    Retry,
    /// The session, its log-in and its handles are gone: open another, log in, find the objects again.
    Reopen,
    /// The session is as it was, and the same call will fail again.
    GiveUp,
}

/// How many more wrong PINs a token takes, as far as it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the standard has these flags")]
pub enum Tries {
    /// The token does not tell.
    Untold,
    /// A wrong PIN was entered since the last right one.
    Fewer,
    /// The next wrong PIN locks.
    Last,
    /// Locked.
    None,
}

impl fmt::Display for Tries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untold => "the token does not tell how many tries are left",
            Self::Fewer => "the token counts wrong tries",
            Self::Last => "the next wrong try locks the PIN",
            Self::None => "the PIN is locked",
        })
    }
}

/// Why a token did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The module cannot be loaded.
    #[error("the module {} cannot be loaded: {fault}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        fault: LoadFault,
    },
    /// A call failed.
    #[error("{0}")]
    Failed(#[from] Failure),
    /// The log-in was refused.
    #[error("{failure}; {tries}")]
    Login {
        /// The call.
        #[source]
        failure: Failure,
        /// What the token's flags say about further tries.
        tries: Tries,
    },
    /// A PIN shorter or longer than the token takes; it was not sent.
    #[error("the PIN has a length that the token refuses: it takes {min} to {max} bytes")]
    PinLength {
        /// Fewest bytes.
        min: u64,
        /// Most bytes.
        max: u64,
    },
    /// The signature or MAC does not fit.
    #[error("the signature or MAC does not fit: {0}")]
    SignatureInvalid(#[source] Failure),
    /// The ciphertext or wrapped key does not open.
    #[error("this does not open under this key: {0}")]
    Rejected(#[source] Failure),
    /// No token like that.
    #[error("no token matches; {present} tokens are present")]
    NoToken {
        /// How many tokens there are.
        present: usize,
    },
    /// More than one token like that.
    #[error("{} tokens match: name the serial number", serials.len())]
    ManyTokens {
        /// Their serial numbers.
        serials: Vec<String>,
    },
    /// No object like that.
    #[error("no object matches")]
    NoObject,
    /// More than one object like that; the candidates are the first of them.
    #[error("more than one object matches ({} shown): name the id", candidates.len())]
    ManyObjects {
        /// The first of them.
        candidates: Vec<Candidate>,
    },
    /// There is an object with this label or id already.
    #[error("an object with this label or id exists already ({} shown)", candidates.len())]
    Duplicate {
        /// The first of them.
        candidates: Vec<Candidate>,
    },
    /// The token does not have the mechanism, or not for this.
    #[error("the token has no {wanted} for {what}")]
    NoMechanism {
        /// The mechanism.
        wanted: MechanismType,
        /// What for.
        what: &'static str,
        /// Mechanisms of this token that do the same kind of thing.
        instead: Vec<MechanismType>,
    },
    /// A key size outside what the mechanism takes.
    #[error("the token takes keys of {min} to {max} for {mechanism}, not {size}")]
    KeySize {
        /// The mechanism.
        mechanism: MechanismType,
        /// Smallest, in the mechanism's unit.
        min: u64,
        /// Largest, in the mechanism's unit.
        max: u64,
        /// What was asked for.
        size: u64,
    },
    /// An attribute that the token gave another value than it was told.
    #[error("the token made the object with another {0} than it was told; it was destroyed")]
    AttributeChanged(AttributeType),
    /// An attribute that cannot be read, though it must.
    #[error("{0} of the object cannot be read")]
    AttributeMissing(AttributeType),
    /// A key of a kind that cannot be used like this.
    #[error("the key cannot do this: {0}")]
    Unusable(String),
    /// A key that wraps and decrypts would give every other key away.
    #[error("a key that wraps must not also decrypt or encrypt, unless that is asked for by name")]
    MixedUse,
    /// A message longer than the key can take.
    #[error("the input has {length} bytes, the key takes at most {limit}")]
    InputTooLong {
        /// Its bytes.
        length: usize,
        /// Most bytes.
        limit: usize,
    },
    /// A label longer than 32 bytes.
    #[error("a token label has at most 32 bytes")]
    LabelTooLong,
    /// The object in the token is not the key that was stored, or may do more than that key.
    #[error(
        "the object in the token is not the key that was stored, or may do more than it was made for"
    )]
    WrongKey,
    /// The module cannot be started anew while sessions are in use.
    #[error("{0} sessions are in use")]
    SessionsInUse(usize),
    /// The pool has no session free.
    #[error("all sessions are in use")]
    PoolExhausted,
    /// The token is gone and was not back yet when it was last looked for.
    #[error("the token is gone")]
    Gone,
}

impl Error {
    /// The call that failed, if it was one.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed(failure)
            | Self::Login { failure, .. }
            | Self::SignatureInvalid(failure)
            | Self::Rejected(failure) => Some(failure),
            _ => None,
        }
    }

    /// Whether the token does not have what was asked for, which is no failure of it.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::NoMechanism { .. } | Self::KeySize { .. } => true,
            Self::Failed(failure) => failure.is_unsupported(),
            _ => false,
        }
    }

    /// Whether the token took an argument of a mechanism for wrong that is as the standard has it: SoftHSM answers
    /// `CKR_ARGUMENTS_BAD` to OAEP with another hash than SHA-1.
    #[must_use]
    pub fn refuses_parameter(&self) -> bool {
        self.failure().is_some_and(|failure| {
            failure.code == ck::CKR_ARGUMENTS_BAD && failure.function.ends_with("Init")
        })
    }

    /// What to do with the session.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Failed(failure) => failure.remedy(),
            Self::Gone => Remedy::Reopen,
            Self::PoolExhausted | Self::SessionsInUse(_) => Remedy::Retry,
            _ => Remedy::GiveUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: u64, function: &'static str) -> Failure {
        Failure { code, function }
    }

    #[test]
    fn only_a_call_that_is_given_the_key_can_lack_its_size_or_parameters() {
        for code in [
            ck::CKR_KEY_SIZE_RANGE,
            ck::CKR_MECHANISM_PARAM_INVALID,
            ck::CKR_DOMAIN_PARAMS_INVALID,
            ck::CKR_KEY_TYPE_INCONSISTENT,
        ] {
            for function in [
                "C_SignInit",
                "C_EncryptInit",
                "C_GenerateKeyPair",
                "C_WrapKey",
            ] {
                assert!(failed(code, function).is_unsupported(), "{function} {code}");
            }
            for function in [
                "C_Sign",
                "C_Verify",
                "C_Encrypt",
                "C_SignFinal",
                "C_GetAttributeValue",
            ] {
                assert!(
                    !failed(code, function).is_unsupported(),
                    "{function} {code}"
                );
            }
        }
        assert!(failed(ck::CKR_RANDOM_NO_RNG, "C_GenerateRandom").is_unsupported());
        assert!(!failed(ck::CKR_RANDOM_NO_RNG, "C_Sign").is_unsupported());
        assert!(!failed(ck::CKR_MECHANISM_PARAM_INVALID, "C_UnwrapKey").is_unsupported());
        assert!(failed(ck::CKR_MECHANISM_INVALID, "C_Sign").is_unsupported());
        assert!(failed(ck::CKR_FUNCTION_NOT_SUPPORTED, "C_Sign").is_unsupported());
    }
}
