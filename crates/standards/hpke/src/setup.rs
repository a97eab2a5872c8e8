//! Setting up contexts (RFC 9180, section 5.1), single messages (section 6), and many at once.

use std::fmt;

use crate::context::{Exporter, Recipient, Sender};
use crate::kem::Randomness;
use crate::schedule::Schedule;
use crate::short::Short;
use crate::{
    Aad, Admitted, Enc, Error, Info, Kem, PrivateKey, PublicKey, RecipientMode, SenderMode, TAG_LEN,
};

/// A sender to one recipient: everything that does not change from one context to the next.
pub struct Initiator<'a> {
    to: &'a PublicKey,
    mode: SenderMode<'a>,
    schedule: Schedule<'a>,
}

/// A recipient of one kind of message: everything that does not change from one context to the next.
pub struct Acceptor<'a> {
    key: &'a PrivateKey,
    mode: RecipientMode<'a>,
    schedule: Schedule<'a>,
}

/// One message with the encapsulation it came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what RFC 9180, section 6.1, sends"
)]
pub struct Sealed<'a> {
    /// What the keys are found with.
    pub enc: &'a [u8],
    /// What was authenticated beside it.
    pub aad: Aad<'a>,
    /// The ciphertext, its tag at the end.
    pub ciphertext: &'a [u8],
}

impl Admitted {
    /// A sender to the owner of `to`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] or [`Error::ModeUnsupported`] if keys, mode and suite do not fit together,
    /// [`Error::TooLong`] beyond the limits. No group operation was made then.
    pub fn initiator<'a>(
        self,
        to: &'a PublicKey,
        mode: SenderMode<'a>,
        info: Info<'a>,
    ) -> Result<Initiator<'a>, Error> {
        self.fits(to.kem(), mode.sender().map(PrivateKey::kem))?;
        Ok(Initiator {
            to,
            mode,
            schedule: Schedule::new(self, mode.mode(), mode.psk(), info)?,
        })
    }

    /// A recipient with `key`.
    ///
    /// # Errors
    /// As [`Admitted::initiator`].
    pub fn acceptor<'a>(
        self,
        key: &'a PrivateKey,
        mode: RecipientMode<'a>,
        info: Info<'a>,
    ) -> Result<Acceptor<'a>, Error> {
        self.fits(key.kem(), mode.sender().map(PublicKey::kem))?;
        Ok(Acceptor {
            key,
            mode,
            schedule: Schedule::new(self, mode.mode(), mode.psk(), info)?,
        })
    }

    fn fits(self, recipient: Kem, sender: Option<Kem>) -> Result<(), Error> {
        let kem = self.suite().kem;
        if recipient != kem {
            return Err(Error::KeyMismatch);
        }
        match sender {
            Some(_) if !kem.authenticates() => Err(Error::ModeUnsupported),
            Some(other) if other != kem => Err(Error::KeyMismatch),
            _ => Ok(()),
        }
    }
}

impl Initiator<'_> {
    /// `SetupS`: a new context, and what the recipient needs to find it. Each call makes its own ephemeral
    /// key.
    ///
    /// # Errors
    /// [`Error::ExportOnly`] if the suite seals nothing, [`Error::KeyAgreement`] if the recipient's key is
    /// of small order, [`Error::Backend`] if there is no randomness.
    pub fn initiate(&self) -> Result<(Enc, Sender), Error> {
        self.initiate_from(Randomness::Fresh)
    }

    pub(crate) fn initiate_from(&self, from: Randomness<'_>) -> Result<(Enc, Sender), Error> {
        self.schedule.admitted().seals()?;
        let (enc, shared) = self.to.encap(self.mode.sender(), from)?;
        Ok((enc, Sender::new(self.schedule.context(&shared)?)))
    }

    /// As [`Initiator::initiate`], without anything that seals. For every suite.
    ///
    /// # Errors
    /// As [`Initiator::initiate`], but for [`Error::ExportOnly`].
    pub fn initiate_exporter(&self) -> Result<(Enc, Exporter), Error> {
        self.initiate_exporter_from(Randomness::Fresh)
    }

    pub(crate) fn initiate_exporter_from(
        &self,
        from: Randomness<'_>,
    ) -> Result<(Enc, Exporter), Error> {
        let (enc, shared) = self.to.encap(self.mode.sender(), from)?;
        Ok((enc, self.schedule.exporter(&shared)?))
    }

    /// Seals one message in a context of its own (section 6.1).
    ///
    /// # Errors
    /// As [`Initiator::initiate`] and [`Sender::seal`].
    pub fn seal(&self, aad: Aad<'_>, plaintext: &[u8]) -> Result<(Enc, Vec<u8>), Error> {
        let (enc, mut sender) = self.initiate()?;
        Ok((enc, sender.seal(aad, plaintext)?))
    }

    /// As [`Initiator::seal`] into the caller's buffer; returns how many bytes of it were written.
    ///
    /// # Errors
    /// As [`Initiator::seal`], and [`Error::BufferTooSmall`].
    pub fn seal_into(
        &self,
        aad: Aad<'_>,
        plaintext: &[u8],
        out: &mut [u8],
    ) -> Result<(Enc, usize), Error> {
        let needed = plaintext.len() + TAG_LEN;
        if out.len() < needed {
            return Err(Error::BufferTooSmall { needed });
        }
        let (enc, mut sender) = self.initiate()?;
        Ok((enc, sender.seal_into(aad, plaintext, out)?))
    }

    /// Seals one message for several recipients, an ephemeral key for each.
    ///
    /// # Errors
    /// The first that one of them has; nothing is given out then.
    pub fn seal_to_each(
        recipients: &[Self],
        aad: Aad<'_>,
        plaintext: &[u8],
    ) -> Result<Vec<(Enc, Vec<u8>)>, Error> {
        recipients
            .iter()
            .map(|recipient| recipient.seal(aad, plaintext))
            .collect()
    }
}

impl Acceptor<'_> {
    /// `SetupR`: the context that the sender made with `enc`.
    ///
    /// That it was made at all says nothing yet about `enc`: only a message that opens does.
    ///
    /// # Errors
    /// [`Error::Rejected`] if `enc` is none, [`Error::ExportOnly`] if the suite seals nothing.
    pub fn accept(&self, enc: &[u8]) -> Result<Recipient, Error> {
        self.schedule.admitted().seals()?;
        let shared = self.decap(enc)?;
        Ok(Recipient::new(self.schedule.context(&shared)?))
    }

    /// As [`Acceptor::accept`], without anything that opens. For every suite.
    ///
    /// # Errors
    /// [`Error::Rejected`] if `enc` is none.
    pub fn accept_exporter(&self, enc: &[u8]) -> Result<Exporter, Error> {
        self.schedule.exporter(&self.decap(enc)?)
    }

    fn decap(&self, enc: &[u8]) -> Result<Short, Error> {
        self.key.decap(enc, self.mode.sender())
    }

    /// Opens one message that has a context of its own (section 6.1).
    ///
    /// # Errors
    /// As [`Acceptor::accept`] and [`Recipient::open`].
    pub fn open(&self, sealed: Sealed<'_>) -> Result<Vec<u8>, Error> {
        self.accept(sealed.enc)?.open(sealed.aad, sealed.ciphertext)
    }

    /// As [`Acceptor::open`] into the caller's buffer; returns how many bytes of it were written. Where the
    /// message does not open, the whole buffer holds zeros.
    ///
    /// # Errors
    /// As [`Acceptor::open`], and [`Error::BufferTooSmall`].
    pub fn open_into(&self, sealed: Sealed<'_>, out: &mut [u8]) -> Result<usize, Error> {
        let opened = self
            .accept(sealed.enc)
            .and_then(|mut context| context.open_into(sealed.aad, sealed.ciphertext, out));
        if opened == Err(Error::Rejected) {
            out.fill(0);
        }
        opened
    }

    /// Opens messages that have a context each. What is the same for all is computed once; each answer is
    /// the one that [`Acceptor::open`] gives for this message alone.
    #[must_use]
    pub fn open_batch(&self, messages: &[Sealed<'_>]) -> Vec<Result<Vec<u8>, Error>> {
        messages.iter().map(|message| self.open(*message)).collect()
    }
}

impl Admitted {
    fn seals(self) -> Result<(), Error> {
        if self.suite().aead == crate::Aead::ExportOnly {
            return Err(Error::ExportOnly);
        }
        Ok(())
    }
}

impl fmt::Debug for Initiator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Initiator({})", self.schedule.admitted().suite())
    }
}

impl fmt::Debug for Acceptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Acceptor({})", self.schedule.admitted().suite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Policy, Suite};

    #[test]
    fn t46_without_randomness_there_is_an_error_and_no_output() {
        let policy = Policy::of(&Suite::all().collect::<Vec<_>>());
        for kem in Kem::ALL {
            let suite = Suite {
                kem: *kem,
                ..Suite::X25519
            };
            let key = PrivateKey::generate(*kem).unwrap();
            let admitted = policy.admit(suite).unwrap();
            let initiator = admitted.initiator(key.public_key(), SenderMode::Base, Info(b""));
            let refused = initiator.unwrap().initiate_from(Randomness::Failing).err();
            assert_eq!(
                refused,
                Some(Error::Backend(keywright_primitives::Error::Randomness)),
                "{kem}"
            );
        }
    }
}
