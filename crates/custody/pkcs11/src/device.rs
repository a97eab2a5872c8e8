//! One key in a session as the device of an envelope, and who is to blame when it fails.

use cryptoki_sys as ck;
use keywright_custody::HolderError;
use keywright_envelope::{Aad, DeviceKey, Envelope, Rejected, Sealed, Sealing};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::{Code, Suite};

use crate::error::{Error, Remedy};
use crate::mechanism::Mechanism;
use crate::object::{ObjectHandle, Reading};
use crate::public_key::PublicKey;
use crate::session::Session;

/// A key that is there: its session and its handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenKey<'a> {
    session: &'a Session,
    handle: ObjectHandle,
}

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The item's fault: nobody else is touched by it.
    Item(Code),
    /// The token's word can mean the ciphertext or the token.
    Unclear(Error),
    /// The token did not work, or does not have the key.
    Token(Error),
}

impl Fault {
    /// What the item's caller sees.
    pub(crate) const fn of_item(&self) -> Code {
        match self {
            Self::Item(code) => *code,
            Self::Unclear(_) | Self::Token(_) => Code::HolderUnavailable,
        }
    }

    pub(crate) const fn is_of_token(&self) -> bool {
        matches!(self, Self::Token(_) | Self::Unclear(_))
    }

    /// What was unclear once more, of a token whose key works.
    pub(crate) fn blaming_the_item(self) -> Self {
        match self {
            Self::Unclear(_) => Self::Item(Code::DecryptionFailed),
            other => other,
        }
    }

    /// Whether a new connection may help.
    pub(crate) fn is_loss(&self) -> bool {
        match self {
            Self::Token(Error::WrongKey) | Self::Item(_) => false,
            Self::Token(error) | Self::Unclear(error) => error.remedy() == Remedy::Reopen,
        }
    }

    /// What the request's caller sees.
    pub(crate) fn of_request(&self) -> HolderError {
        match self {
            Self::Token(Error::WrongKey | Error::NoObject | Error::ManyObjects { .. }) => {
                HolderError::KeyRejected
            }
            Self::Token(Error::PoolExhausted) => HolderError::Full,
            Self::Token(Error::Duplicate { .. }) => HolderError::Leftover,
            Self::Item(_) | Self::Token(_) | Self::Unclear(_) => HolderError::Unavailable,
        }
    }

    /// What is seen by whoever orders that a key of the token be taken. No row names that key yet: if it is not to be
    /// found, the order is wrong and not the store.
    pub(crate) fn of_binding(&self) -> HolderError {
        match self {
            Self::Token(Error::NoObject) => HolderError::NoSuchKey,
            Self::Token(Error::ManyObjects { .. }) => HolderError::ManyKeys,
            Self::Token(Error::Unusable(_)) => HolderError::UnfitKey,
            other => other.of_request(),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Token(error)
    }
}

impl From<keywright_envelope::Error> for Fault {
    fn from(error: keywright_envelope::Error) -> Self {
        Self::Item(match error {
            keywright_envelope::Error::TooLong => Code::ValueInvalid,
            _ => Code::HolderUnavailable,
        })
    }
}

impl From<Rejected> for Fault {
    fn from(_: Rejected) -> Self {
        Self::Item(Code::DecryptionFailed)
    }
}

impl<'a> TokenKey<'a> {
    pub(crate) const fn new(session: &'a Session, handle: ObjectHandle) -> Self {
        Self { session, handle }
    }

    /// Seals and appends the envelope to `out`.
    pub(crate) fn seal(
        &self,
        device: DeviceKey,
        sealing: &Sealing<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Fault> {
        let message = device.seal_into::<Fault>(sealing, out, |nonce, aad, text, out| {
            if device.identity().suite == Suite::TokenGcm16 {
                let made = self
                    .session
                    .seal_with_token_nonce(self.handle, (nonce, aad), text, out);
                return Ok(made?);
            }
            random
                .fill(nonce)
                .map_err(|_| Fault::Item(Code::HolderUnavailable))?;
            let mechanism = Mechanism::AesGcm { nonce, aad };
            Ok(self.session.encrypt(&mechanism, self.handle, text, out)?)
        })?;
        Ok(*message.as_bytes())
    }

    /// What it means that a check value does not open, on a token that has one code for that and for its
    /// own troubles: if its session works and the key is still to be seen, it is another key.
    pub(crate) fn wrong_or_gone(&self) -> Fault {
        let works = self.session.check();
        let seen = works.and_then(|()| self.session.reading(self.handle, ck::CKA_CLASS));
        match seen {
            Ok(Reading::Value(_)) => Fault::Token(Error::WrongKey),
            Ok(_) => Fault::Token(Error::Gone),
            Err(error) => Fault::Token(error),
        }
    }

    /// Signs, or makes a MAC, and appends it to `out`.
    pub(crate) fn sign(
        &self,
        mechanism: &Mechanism<'_>,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        Ok(self.session.sign(mechanism, self.handle, input, out)?)
    }

    /// Whether a signature fits under another key of this session, the public one.
    pub(crate) fn verify(
        &self,
        public: ObjectHandle,
        mechanism: &Mechanism<'_>,
        input: &[u8],
        proof: &[u8],
    ) -> Result<bool, Fault> {
        match self.session.verify(mechanism, public, input, proof) {
            Ok(()) => Ok(true),
            Err(Error::SignatureInvalid(_)) => Ok(false),
            Err(error) => Err(Fault::Token(error)),
        }
    }

    /// What is agreed on with the owner of a public key, 32 bytes.
    pub(crate) fn agree(&self, peer: &[u8]) -> Result<SecretBytes, Fault> {
        Ok(self.session.agree(self.handle, peer, 32)?)
    }

    /// Another key of this session as a public one.
    pub(crate) fn public(&self, handle: ObjectHandle) -> Result<PublicKey, Fault> {
        Ok(PublicKey::read(self.session, handle)?)
    }

    /// Opens and appends the text to `out`.
    pub(crate) fn open(
        &self,
        device: DeviceKey,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        device.open_into(envelope, aad, out, |sealed, out| self.decrypt(sealed, out))
    }

    fn decrypt(&self, sealed: Sealed<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
        let Sealed {
            nonce,
            aad,
            ciphertext,
            ..
        } = sealed;
        self.open_raw((nonce, aad), ciphertext, out)
    }

    /// Opens AES-GCM as it is, tag behind the ciphertext, and appends the text to `out`.
    pub(crate) fn open_raw(
        &self,
        (nonce, aad): (&[u8], &[u8]),
        ciphertext: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mechanism = Mechanism::AesGcm { nonce, aad };
        let opened = self
            .session
            .decrypt(&mechanism, self.handle, ciphertext, out);
        opened.map_err(|error| match &error {
            Error::Rejected(_) => Fault::Item(Code::DecryptionFailed),
            Error::Failed(failure) if failure.is_ambiguous() => Fault::Unclear(error),
            _ => Fault::Token(error),
        })
    }
}
