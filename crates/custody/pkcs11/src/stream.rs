//! Operations in many pieces, for inputs of any size in constant memory.
//!
//! Each borrows its session exclusively, so that nothing else can be begun in it meanwhile. One that is
//! dropped before its end is cancelled.

use cryptoki_sys as ck;
use keywright_secret::wipe_vec;

use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::operation::{KeyAccess, rejected, unfit};
use crate::raw::{Begin, End, Taking, Through};
use crate::session::Session;

/// An encryption in pieces.
#[must_use]
#[derive(Debug)]
pub struct Encryption<'s>(Running<'s>);

/// A decryption in pieces. With an authenticated mechanism, what [`Decryption::update`] gives has not been
/// checked: it must reach nobody before [`Decryption::finish`] went well.
#[must_use]
#[derive(Debug)]
pub struct Decryption<'s>(Running<'s>);

/// A signature or MAC over pieces.
#[must_use]
#[derive(Debug)]
pub struct Signing<'s>(Running<'s>);

/// The verification of a signature or MAC over pieces.
#[must_use]
#[derive(Debug)]
pub struct Verification<'s>(Running<'s>);

/// A hash over pieces.
#[must_use]
#[derive(Debug)]
pub struct Digesting<'s>(Running<'s>);

#[derive(Debug)]
struct Running<'s> {
    session: &'s mut Session,
    kind: Kind,
    growth: usize,
    over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Encrypt,
    Decrypt,
    Sign,
    Verify,
    Digest,
}

impl Session {
    /// Begins to encrypt in pieces.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn encrypt_stream<'k>(
        &mut self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
    ) -> Result<Encryption<'_>, Error> {
        self.begin(Begin::Encrypt, mechanism, key.into())?;
        Ok(Encryption(Running::new(self, Kind::Encrypt, mechanism)))
    }

    /// Begins to decrypt in pieces.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn decrypt_stream<'k>(
        &mut self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
    ) -> Result<Decryption<'_>, Error> {
        self.begin(Begin::Decrypt, mechanism, key.into())?;
        Ok(Decryption(Running::new(self, Kind::Decrypt, mechanism)))
    }

    /// Begins to sign in pieces. Mechanisms over a hash take no pieces.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn sign_stream<'k>(
        &mut self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
    ) -> Result<Signing<'_>, Error> {
        self.begin(Begin::Sign, mechanism, key.into())?;
        Ok(Signing(Running::new(self, Kind::Sign, mechanism)))
    }

    /// Begins to verify in pieces.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn verify_stream<'k>(
        &mut self,
        mechanism: &Mechanism<'_>,
        key: impl Into<KeyAccess<'k>>,
    ) -> Result<Verification<'_>, Error> {
        self.begin(Begin::Verify, mechanism, key.into())?;
        Ok(Verification(Running::new(self, Kind::Verify, mechanism)))
    }

    /// Begins to hash in pieces.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn digest_stream(&mut self, mechanism: &Mechanism<'_>) -> Result<Digesting<'_>, Error> {
        self.calls().begin_digest(self.raw(), mechanism)?;
        Ok(Digesting(Running::new(self, Kind::Digest, mechanism)))
    }
}

impl Encryption<'_> {
    /// Encrypts a piece and appends what is ready to `out`.
    ///
    /// # Errors
    /// [`Error::Failed`]; the operation is over then.
    pub fn update(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.through(Through::EncryptUpdate, input, out)
    }

    /// Ends and appends what is left to `out`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.end(End::Encrypt, out)
    }
}

impl Decryption<'_> {
    /// Decrypts a piece and appends what is ready, unchecked, to `out`.
    ///
    /// # Errors
    /// [`Error::Rejected`], [`Error::Failed`]; the operation is over then.
    pub fn update(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.through(Through::DecryptUpdate, input, out)
    }

    /// Checks the whole and appends what is left to `out`.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not fit: nothing that came before may be used. [`Error::Failed`].
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.end(End::Decrypt, out)
    }
}

impl Signing<'_> {
    /// Takes a piece.
    ///
    /// # Errors
    /// [`Error::Failed`]; the operation is over then.
    pub fn update(&mut self, input: &[u8]) -> Result<(), Error> {
        self.0.take(Taking::Sign, input)
    }

    /// Appends the signature or MAC to `out`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.end(End::Sign, out)
    }
}

impl Verification<'_> {
    /// Takes a piece.
    ///
    /// # Errors
    /// [`Error::Failed`]; the operation is over then.
    pub fn update(&mut self, input: &[u8]) -> Result<(), Error> {
        self.0.take(Taking::Verify, input)
    }

    /// Verifies.
    ///
    /// # Errors
    /// [`Error::SignatureInvalid`] if it does not fit, and only then; [`Error::Failed`].
    pub fn finish(mut self, signature: &[u8]) -> Result<(), Error> {
        self.0.take(Taking::VerifyFinal, signature)?;
        self.0.over = true;
        Ok(())
    }
}

impl Digesting<'_> {
    /// Takes a piece.
    ///
    /// # Errors
    /// [`Error::Failed`]; the operation is over then.
    pub fn update(&mut self, input: &[u8]) -> Result<(), Error> {
        self.0.take(Taking::Digest, input)
    }

    /// Appends the hash to `out`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.end(End::Digest, out)
    }
}

impl<'s> Running<'s> {
    fn new(session: &'s mut Session, kind: Kind, mechanism: &Mechanism<'_>) -> Self {
        Self {
            session,
            kind,
            growth: mechanism.growth(),
            over: false,
        }
    }

    fn through(&mut self, which: Through, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let room = input.len() + 32;
        let (calls, session) = (self.session.calls(), self.session.raw());
        let done = calls.through(which, session, input, (out, room));
        self.over |= done.is_err();
        done.map_err(rejected)
    }

    fn take(&mut self, which: Taking, input: &[u8]) -> Result<(), Error> {
        let (calls, session) = (self.session.calls(), self.session.raw());
        let done = calls.into(which, session, input);
        self.over |= done.is_err();
        done.map_err(unfit)
    }

    fn end(&mut self, which: End, out: &mut Vec<u8>) -> Result<(), Error> {
        self.over = true;
        let (calls, session) = (self.session.calls(), self.session.raw());
        calls
            .end(which, session, out, self.growth)
            .map_err(rejected)
    }

    /// Ends what nobody wants any more. Modules before 3.0 know no other way than to finish it.
    fn cancel(&mut self) {
        let (calls, session) = (self.session.calls(), self.session.raw());
        let flag = match self.kind {
            Kind::Encrypt => ck::CKF_ENCRYPT,
            Kind::Decrypt => ck::CKF_DECRYPT,
            Kind::Sign => ck::CKF_SIGN,
            Kind::Verify => ck::CKF_VERIFY,
            Kind::Digest => ck::CKF_DIGEST,
        };
        if calls.cancel(session, flag).is_ok() {
            return;
        }
        let mut scrap = Vec::new();
        let room = self.growth;
        let ended = match self.kind {
            Kind::Encrypt => calls.end(End::Encrypt, session, &mut scrap, room),
            Kind::Decrypt => calls.end(End::Decrypt, session, &mut scrap, room),
            Kind::Sign => calls.end(End::Sign, session, &mut scrap, room),
            Kind::Digest => calls.end(End::Digest, session, &mut scrap, room),
            Kind::Verify => calls.into(Taking::VerifyFinal, session, &[0; 64]),
        };
        wipe_vec(&mut scrap);
        // Failing is how most of these end.
        ended.ok();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.cancel();
        }
    }
}
