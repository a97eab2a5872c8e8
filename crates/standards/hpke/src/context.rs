//! Contexts (RFC 9180, sections 5.2 and 5.3): messages in order, and exported secrets.

use std::fmt;
use std::sync::OnceLock;

use keywright_primitives::aead::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, Tag};
use keywright_primitives::{Error as Fault, Rejected};
use keywright_secret::{Secret, wipe};

use crate::kdf::{Hkdf, Prk, Shake, SuiteId};
use crate::short::Short;
use crate::{Aad, Admitted, Error, Input, Suite, TAG_LEN};

/// Bytes in a nonce (`Nn`) of every AEAD here.
pub(crate) const NONCE_LEN: usize = 12;

/// The AEAD of a context, its key schedule computed.
pub(crate) enum AeadKey {
    Aes128Gcm(Aes128Gcm),
    Aes256Gcm(Aes256Gcm),
    ChaCha20Poly1305(ChaCha20Poly1305),
}

impl AeadKey {
    fn seal_to(&self, n: &[u8; 12], aad: &[u8], text: &[u8], out: &mut [u8]) -> Result<Tag, Fault> {
        match self {
            Self::Aes128Gcm(key) => key.seal_to(n, aad, text, out),
            Self::Aes256Gcm(key) => key.seal_to(n, aad, text, out),
            Self::ChaCha20Poly1305(key) => key.seal_to(n, aad, text, out),
        }
    }

    fn open_to(
        &self,
        n: &[u8; 12],
        aad: &[u8],
        (ct, tag): (&[u8], &Tag),
        out: &mut [u8],
    ) -> Result<(), Rejected> {
        match self {
            Self::Aes128Gcm(key) => key.open_to(n, aad, ct, tag, out),
            Self::Aes256Gcm(key) => key.open_to(n, aad, ct, tag, out),
            Self::ChaCha20Poly1305(key) => key.open_to(n, aad, ct, tag, out),
        }
    }
}

/// Key, base nonce and counter.
pub(crate) struct Sealer {
    key: AeadKey,
    base_nonce: [u8; NONCE_LEN],
    sequence: u64,
}

impl Sealer {
    pub(crate) const fn new(key: AeadKey, base_nonce: [u8; NONCE_LEN]) -> Self {
        Self {
            key,
            base_nonce,
            sequence: 0,
        }
    }

    pub(crate) const fn set_sequence(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// `ComputeNonce(seq)`, and the number after it; a counter that cannot rise any more refuses, so that
    /// no number is used twice.
    fn next(&self) -> Result<([u8; NONCE_LEN], u64), Error> {
        let after = self.sequence.checked_add(1).ok_or(Error::MessageLimit)?;
        let mut nonce = self.base_nonce;
        let (_, counted) = nonce.split_at_mut(NONCE_LEN - 8);
        for (byte, of_sequence) in counted.iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= of_sequence;
        }
        Ok((nonce, after))
    }

    pub(crate) fn seal_into(
        &mut self,
        aad: Aad<'_>,
        text: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let needed = text.len() + TAG_LEN;
        let out = within(out, needed)?;
        let (nonce, after) = self.next()?;
        let (body, end) = out.split_at_mut(text.len());
        let tag = self
            .key
            .seal_to(&nonce, aad.0, text, body)
            .map_err(|fault| {
                wipe(body);
                match fault {
                    Fault::TooLong => Error::TooLong(Input::Plaintext),
                    other => Error::Backend(other),
                }
            })?;
        end.copy_from_slice(&tag);
        self.sequence = after;
        Ok(needed)
    }

    pub(crate) fn open_into(
        &mut self,
        aad: Aad<'_>,
        sealed: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let (body, tag) = sealed.split_last_chunk().ok_or(Error::Rejected)?;
        let out = within(out, body.len())?;
        let (nonce, after) = self.next()?;
        let opened = self.key.open_to(&nonce, aad.0, (body, tag), out);
        opened.map_err(|Rejected { .. }| Error::Rejected)?;
        // Only here: a message that does not open leaves the counter to the one that does.
        self.sequence = after;
        Ok(body.len())
    }
}

fn within(out: &mut [u8], needed: usize) -> Result<&mut [u8], Error> {
    out.get_mut(..needed)
        .ok_or(Error::BufferTooSmall { needed })
}

/// The sending end of a context: seals messages in order, and exports.
pub struct Sender {
    sealer: Sealer,
    exporter: Exporter,
}

/// The receiving end of a context: opens messages in the order in which they were sealed, and exports.
pub struct Recipient {
    sealer: Sealer,
    exporter: Exporter,
}

impl Sender {
    pub(crate) fn new((sealer, exporter): (Sealer, Exporter)) -> Self {
        Self { sealer, exporter }
    }

    /// Seals the next message into `out`, and returns how many bytes of it were written: those of the
    /// message and [`TAG_LEN`]. Nothing is allocated.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`] if `out` is shorter, [`Error::MessageLimit`] after 2^64 - 1 messages,
    /// [`Error::TooLong`] beyond the limit of the AEAD. The context is as before then.
    pub fn seal_into(
        &mut self,
        aad: Aad<'_>,
        plaintext: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.sealer.seal_into(aad, plaintext, out)
    }

    /// Seals the next message.
    ///
    /// # Errors
    /// As [`Sender::seal_into`].
    pub fn seal(&mut self, aad: Aad<'_>, plaintext: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; plaintext.len() + TAG_LEN];
        self.seal_into(aad, plaintext, &mut out)?;
        Ok(out)
    }

    pub(crate) const fn set_sequence(&mut self, sequence: u64) {
        self.sealer.set_sequence(sequence);
    }
}

impl Recipient {
    pub(crate) fn new((sealer, exporter): (Sealer, Exporter)) -> Self {
        Self { sealer, exporter }
    }

    /// Opens the next message into `out`, and returns how many bytes of it were written: [`TAG_LEN`] fewer
    /// than the message has. Nothing is allocated.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is not the next message, or not as it was sealed: `out` holds zeros where
    /// the message would be, and the context is as before. [`Error::BufferTooSmall`] and
    /// [`Error::MessageLimit`] as in [`Sender::seal_into`].
    pub fn open_into(
        &mut self,
        aad: Aad<'_>,
        sealed: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.sealer.open_into(aad, sealed, out)
    }

    /// Opens the next message.
    ///
    /// # Errors
    /// As [`Recipient::open_into`].
    pub fn open(&mut self, aad: Aad<'_>, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; sealed.len().saturating_sub(TAG_LEN)];
        self.open_into(aad, sealed, &mut out)?;
        Ok(out)
    }

    pub(crate) const fn set_sequence(&mut self, sequence: u64) {
        self.sealer.set_sequence(sequence);
    }
}

macro_rules! exports {
    ($($name:ident)*) => { $(
        impl $name {
            /// Both ends' exporter.
            #[must_use]
            pub const fn exporter(&self) -> &Exporter {
                &self.exporter
            }

            /// The exporter alone; the messages of the context are at their end.
            #[must_use]
            pub fn into_exporter(self) -> Exporter {
                self.exporter
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.exporter.admitted.suite())
            }
        }
    )* };
}

exports! { Sender Recipient }

/// Exports secrets that only the two ends know (section 5.3). The same at both ends.
pub struct Exporter {
    admitted: Admitted,
    id: SuiteId,
    secret: ExporterSecret,
}

enum ExporterSecret {
    OneStage(Shake, Short),
    /// Prepared when it is first used: many contexts seal and never export.
    TwoStage(Hkdf, Short, OnceLock<Box<Prk>>),
}

impl Exporter {
    pub(crate) fn two_stage(
        admitted: Admitted,
        id: SuiteId,
        (hash, secret): (Hkdf, Short),
    ) -> Self {
        Self {
            admitted,
            id,
            secret: ExporterSecret::TwoStage(hash, secret, OnceLock::new()),
        }
    }

    pub(crate) fn one_stage(
        admitted: Admitted,
        id: SuiteId,
        (shake, secret): (Shake, Short),
    ) -> Self {
        Self {
            admitted,
            id,
            secret: ExporterSecret::OneStage(shake, secret),
        }
    }

    /// The suite that it belongs to.
    #[must_use]
    pub const fn suite(&self) -> Suite {
        self.admitted.suite()
    }

    /// Fills `out` with the secret that belongs to `context`. Another context or length gives another
    /// secret.
    ///
    /// # Errors
    /// [`Error::ExportLength`] if `out` is longer than the suite's [`crate::Kdf::export_limit`],
    /// [`Error::TooLong`] if the context is longer than its limit. `out` is not touched then.
    pub fn export_into(&self, context: &[u8], out: &mut [u8]) -> Result<(), Error> {
        if context.len() > self.admitted.limits().exporter_context {
            return Err(Error::TooLong(Input::ExporterContext));
        }
        if out.len() > self.admitted.suite().kdf.export_limit() {
            return Err(Error::ExportLength);
        }
        match &self.secret {
            ExporterSecret::TwoStage(hash, secret, prepared) => {
                let prk = match prepared.get() {
                    Some(prk) => prk,
                    None => {
                        let prk = Box::new(hash.prk(secret)?);
                        prepared.get_or_init(|| prk)
                    }
                };
                prk.expand(&self.id, b"sec", [context, &[], &[]], out)
            }
            ExporterSecret::OneStage(shake, secret) => {
                shake.derive(&self.id, &[secret.expose()], (b"sec", &[context]), out)
            }
        }
    }

    /// The secret of `N` bytes that belongs to `context`.
    ///
    /// # Errors
    /// As [`Exporter::export_into`].
    pub fn export<const N: usize>(&self, context: &[u8]) -> Result<Secret<N>, Error> {
        Secret::try_from_fill(|out| self.export_into(context, out))
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exporter({})", self.admitted.suite())
    }
}
