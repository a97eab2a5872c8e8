//! Operations in one piece: encrypt, decrypt, sign, verify, hash.
//!
//! Each is two calls to the token, one to begin and one with the data: the room for the result is made
//! beforehand, so that its length need not be asked for. Results are appended to a buffer of the caller.

use cryptoki_sys as ck;

use crate::error::{Error, Failure};
use crate::mechanism::{Mechanism, Over};
use crate::object::ObjectHandle;
use crate::raw::{Begin, Message, Through};
use crate::session::{Credential, Session};

/// A key for one operation, with the PIN for it where the key wants one each time.
#[derive(Clone, Copy, Debug)]
pub struct KeyAccess<'a> {
    pub(crate) handle: ObjectHandle,
    pub(crate) credential: Option<Credential<'a>>,
}

impl<'a> KeyAccess<'a> {
    /// With a PIN for this one operation (`CKA_ALWAYS_AUTHENTICATE`).
    #[must_use]
    pub const fn with_credential(handle: ObjectHandle, credential: Credential<'a>) -> Self {
        Self {
            handle,
            credential: Some(credential),
        }
    }
}

impl From<ObjectHandle> for KeyAccess<'_> {
    fn from(handle: ObjectHandle) -> Self {
        Self {
            handle,
            credential: None,
        }
    }
}

impl Session {
    /// Begins an operation with a key.
    pub(crate) fn begin(
        &self,
        which: Begin,
        mechanism: &Mechanism<'_>,
        key: KeyAccess<'_>,
    ) -> Result<(), Error> {
        self.calls()
            .begin(which, self.raw(), mechanism, key.handle.number())?;
        match key.credential {
            None => Ok(()),
            Some(credential) => self.login_for_operation(credential),
        }
    }

    /// Encrypts and appends the ciphertext to `out`.
    ///
    /// # Errors
    /// [`Error::InputTooLong`] for RSA beyond what the modulus takes; [`Error::Failed`].
    pub fn encrypt<'k>(
        &self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let key = key.into();
        self.begin(Begin::Encrypt, mechanism, key)?;
        let room = input.len() + mechanism.growth();
        let calls = self.calls();
        calls
            .through(Through::Encrypt, self.raw(), input, (out, room))
            .map_err(|failure| self.too_long(mechanism, key.handle, input, failure))
    }

    /// Decrypts and appends the plaintext to `out`, to which nothing is appended if this fails.
    ///
    /// # Errors
    /// [`Error::Rejected`] where the token says that the ciphertext does not open; [`Error::Failed`], also
    /// from tokens that use `CKR_GENERAL_ERROR` for that ([`Failure::is_ambiguous`]).
    pub fn decrypt<'k>(
        &self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.begin(Begin::Decrypt, mechanism, key.into())?;
        let calls = self.calls();
        calls
            .through(Through::Decrypt, self.raw(), input, (out, input.len()))
            .map_err(rejected)
    }

    /// Signs, or makes a MAC, and appends it to `out`.
    ///
    /// # Errors
    /// [`Error::InputTooLong`] for RSA beyond what the modulus takes; [`Error::Failed`].
    pub fn sign<'k>(
        &self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let key = key.into();
        self.begin(Begin::Sign, mechanism, key)?;
        let calls = self.calls();
        calls
            .through(Through::Sign, self.raw(), input, (out, mechanism.growth()))
            .map_err(|failure| self.too_long(mechanism, key.handle, input, failure))
    }

    /// Verifies a signature or MAC.
    ///
    /// # Errors
    /// [`Error::SignatureInvalid`] if it does not fit, and only then; [`Error::Failed`].
    pub fn verify<'k>(
        &self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
        input: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        self.begin(Begin::Verify, mechanism, key.into())?;
        self.calls()
            .verify(self.raw(), input, signature)
            .map_err(unfit)
    }

    /// Hashes and appends the result to `out`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn digest(
        &self,
        mechanism: &Mechanism<'_>,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let calls = self.calls();
        calls.begin_digest(self.raw(), mechanism)?;
        let room = mechanism.growth();
        Ok(calls.through(Through::Digest, self.raw(), input, (out, room))?)
    }

    /// Seals with AES-GCM under a nonce that the token makes (version 3.0 of the standard): fills `nonce`,
    /// appends the ciphertext and then the tag to `out`.
    ///
    /// # Errors
    /// [`Error::Failed`]; `CKR_FUNCTION_NOT_SUPPORTED` from older modules.
    pub fn seal_with_token_nonce(
        &self,
        key: ObjectHandle,
        (nonce, aad): (&mut [u8], &[u8]),
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut tag = [0; 16];
        let mut message = Message {
            nonce,
            generator: ck::CKG_GENERATE_RANDOM,
            tag: &mut tag,
            aad,
            input,
        };
        out.reserve(input.len() + 16);
        self.calls()
            .encrypt_message(self.raw(), key.number(), &mut message, out)?;
        out.extend_from_slice(&tag);
        Ok(())
    }

    /// The modulus of an RSA key in bytes.
    ///
    /// # Errors
    /// [`Error::AttributeMissing`] if the object has none; [`Error::Failed`].
    pub fn modulus_len(&self, key: ObjectHandle) -> Result<usize, Error> {
        let modulus = self.reading(key, ck::CKA_MODULUS)?;
        let bytes = modulus
            .bytes()
            .ok_or(Error::AttributeMissing(crate::names::attribute(
                ck::CKA_MODULUS,
            )))?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Ok(bytes.len() - zeros)
    }

    /// Says how long an input may be where that is why a token refused it.
    fn too_long(
        &self,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        input: &[u8],
        failure: Failure,
    ) -> Error {
        let overhead = match mechanism {
            Mechanism::RsaPkcs1 => 11,
            Mechanism::RsaOaep { hash, .. } => 2 * hash.len() + 2,
            Mechanism::RsaPss {
                hash,
                over: Over::Hash,
                ..
            }
            | Mechanism::RsaPssMask {
                hash,
                over: Over::Hash,
                ..
            } => {
                let limit = hash.len();
                return over(input, limit, failure);
            }
            _ => return failure.into(),
        };
        match self.modulus_len(key) {
            Ok(modulus) => over(input, modulus.saturating_sub(overhead), failure),
            Err(_) => failure.into(),
        }
    }
}

const fn over(input: &[u8], limit: usize, failure: Failure) -> Error {
    let length = input.len();
    if length > limit {
        Error::InputTooLong { length, limit }
    } else {
        Error::Failed(failure)
    }
}

pub(crate) fn rejected(failure: Failure) -> Error {
    if failure.is_about_data() {
        Error::Rejected(failure)
    } else {
        Error::Failed(failure)
    }
}

pub(crate) fn unfit(failure: Failure) -> Error {
    if failure.is_bad_signature() {
        Error::SignatureInvalid(failure)
    } else {
        Error::Failed(failure)
    }
}
