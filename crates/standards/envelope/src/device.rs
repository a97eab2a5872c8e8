//! Suites 3 and 4 with the key in a device: everything of the envelope but the one AES-256-GCM.
//!
//! The device is a function that the caller passes in. It gets associated data and text as design 7.5 and 7.6
//! have them, the 32 zero bytes included, and appends what it makes; here its output is put in its place and
//! held against the format.

use keywright_secret::{SecretBytes, ct_eq, wipe};
use keywright_types::Suite;

use crate::envelope::{Body, COMMITMENT_LEN, TAG_LEN};
use crate::header::{Encoded, holds};
use crate::{Aad, Binding, Envelope, Error, Header, Identity, MessageId, Rejected};

/// A key that a device keeps, as far as envelopes need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceKey {
    identity: Identity,
}

/// What is to be sealed.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "an envelope is made of these for ever"
)]
pub struct Sealing<'a> {
    /// What the envelope is bound to.
    pub binding: Binding,
    /// Its associated data.
    pub aad: &'a Aad<'a>,
    /// Its text.
    pub plaintext: &'a [u8],
}

/// What a device opens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sealed<'a> {
    /// The nonce, 12 or 16 bytes.
    pub nonce: &'a [u8],
    /// The whole associated data.
    pub aad: &'a [u8],
    /// Ciphertext and tag.
    pub ciphertext: &'a [u8],
}

impl DeviceKey {
    /// A key with this identity.
    ///
    /// # Errors
    /// [`Error::SuiteUnsupported`] for other suites than 3 and 4.
    pub fn new(identity: Identity) -> Result<Self, Error> {
        match identity.suite {
            Suite::TokenGcm12 | Suite::TokenGcm16 if holds(identity.suite, identity.kind) => {
                Ok(Self { identity })
            }
            other => Err(Error::SuiteUnsupported(other)),
        }
    }

    /// Which key this is.
    #[must_use]
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// Bytes of a nonce: 12 from us (suite 3), 16 from the device (suite 4).
    #[must_use]
    pub fn nonce_len(&self) -> usize {
        match self.identity.suite {
            Suite::TokenGcm16 => 16,
            _ => 12,
        }
    }

    /// How many bytes [`DeviceKey::seal_into`] appends.
    #[must_use]
    pub fn sealed_len(&self, binding: Binding, plaintext_len: usize) -> usize {
        let front = self.header(binding).encoded_len() + self.nonce_len();
        plaintext_len.saturating_add(front + COMMITMENT_LEN + TAG_LEN)
    }

    /// Seals and appends the envelope to `out`, which is as it was if this fails.
    ///
    /// `seal` gets the nonce's place, associated data and text. It fills the nonce, with fresh random bytes
    /// or with what the device made, and appends ciphertext and tag.
    ///
    /// # Errors
    /// What `seal` returns; [`Error::TooLong`] for associated data beyond the format's limit;
    /// [`Error::Device`] if what it appended has another length than AES-GCM gives.
    pub fn seal_into<E: From<Error>>(
        &self,
        sealing: &Sealing<'_>,
        out: &mut Vec<u8>,
        seal: impl FnOnce(&mut [u8], &[u8], &[u8], &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<MessageId, E> {
        let start = out.len();
        let made = self.seal_at(sealing, out, seal);
        if made.is_err() {
            wipe(&mut out[start..]);
            out.truncate(start);
        }
        made
    }

    fn seal_at<E: From<Error>>(
        &self,
        sealing: &Sealing<'_>,
        out: &mut Vec<u8>,
        seal: impl FnOnce(&mut [u8], &[u8], &[u8], &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<MessageId, E> {
        out.reserve(self.sealed_len(sealing.binding, sealing.plaintext.len()));
        let header = Encoded::of(&self.header(sealing.binding));
        out.extend_from_slice(header.as_bytes());
        let (mut nonce, length) = ([0; 16], self.nonce_len());
        let nonce = &mut nonce[..length];
        let place = out.len();
        out.extend_from_slice(nonce);
        let text = committed(sealing.plaintext);
        let body = out.len();
        let sealed = sealing.aad.composed(header.as_bytes(), |aad| {
            seal(nonce, aad, text.expose(), out)
        })?;
        sealed?;
        if out.len() - body != text.len() + TAG_LEN {
            return Err(Error::Device.into());
        }
        out[place..body].copy_from_slice(nonce);
        Ok(MessageId::of(nonce))
    }

    /// Opens `envelope` and appends its text to `out`, to which nothing is appended if this fails.
    ///
    /// `open` appends the plaintext of what it gets, or fails.
    ///
    /// # Errors
    /// What `open` returns; [`Rejected`] if the envelope names another key, version, suite or kind, or if
    /// the zeros in front are none.
    pub fn open_into<E: From<Rejected>>(
        &self,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
        open: impl FnOnce(Sealed<'_>, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Body::Tagged { nonce, text, .. } = envelope.body() else {
            return Err(Rejected.into());
        };
        if envelope.header().identity() != self.identity {
            return Err(Rejected.into());
        }
        let start = out.len();
        out.reserve(text.len() + TAG_LEN);
        let opened = aad.composed(envelope.encoded_header(), |aad| {
            let sealed = Sealed {
                nonce,
                aad,
                ciphertext: envelope.last(text.len() + TAG_LEN),
            };
            open(sealed, out)
        });
        let opened = opened
            .unwrap_or_else(|_| Err(Rejected.into()))
            .and_then(|()| Ok(uncommit(out, start, text.len())?));
        if opened.is_err() {
            wipe(&mut out[start..]);
            out.truncate(start);
        }
        opened
    }

    const fn header(&self, binding: Binding) -> Header {
        Header::of(self.identity, binding)
    }
}

/// 32 zero bytes and the text.
fn committed(plaintext: &[u8]) -> SecretBytes {
    let mut text = Vec::with_capacity(COMMITMENT_LEN + plaintext.len());
    text.extend_from_slice(&[0; COMMITMENT_LEN]);
    text.extend_from_slice(plaintext);
    SecretBytes::from_vec(text)
}

/// Checks the zeros in front of what was opened and takes them away.
fn uncommit(out: &mut Vec<u8>, start: usize, length: usize) -> Result<(), Rejected> {
    let opened = out.get(start..).ok_or(Rejected)?;
    let (zeros, _) = opened
        .split_first_chunk::<COMMITMENT_LEN>()
        .ok_or(Rejected)?;
    if opened.len() != length || !ct_eq(zeros, &[0; COMMITMENT_LEN]) {
        return Err(Rejected);
    }
    let end = out.len() - COMMITMENT_LEN;
    out.copy_within(start + COMMITMENT_LEN.., start);
    wipe(&mut out[end..]);
    out.truncate(end);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{derive, hazmat};
    use keywright_primitives::aead::Aes256Gcm;
    use keywright_types::{KeyId, KeyVersion, Kind};

    const KEY: [u8; 32] = [7; 32];

    #[derive(Debug, PartialEq)]
    enum Broken {
        Envelope(Error),
        Rejected,
        Device,
    }

    impl From<Error> for Broken {
        fn from(error: Error) -> Self {
            Self::Envelope(error)
        }
    }

    impl From<Rejected> for Broken {
        fn from(_: Rejected) -> Self {
            Self::Rejected
        }
    }

    const fn identity(suite: Suite) -> Identity {
        Identity {
            suite,
            kind: Kind::Message,
            key: KeyId::from_bytes([1; 16]),
            version: KeyVersion::FIRST,
        }
    }

    fn key() -> DeviceKey {
        DeviceKey::new(identity(Suite::TokenGcm12)).unwrap()
    }

    /// A device: AES-256-GCM of the backend.
    fn seal(nonce: &mut [u8], aad: &[u8], text: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        nonce.fill(9);
        let start = out.len();
        out.extend_from_slice(text);
        let tag = Aes256Gcm::new(&KEY)
            .unwrap()
            .seal(&[9; 12], aad, &mut out[start..]);
        out.extend_from_slice(&tag.unwrap());
        Ok(())
    }

    fn open(sealed: Sealed<'_>, out: &mut Vec<u8>) -> Result<(), Broken> {
        let (text, tag) = sealed.ciphertext.split_last_chunk().unwrap();
        let start = out.len();
        out.extend_from_slice(text);
        let nonce = sealed.nonce.try_into().unwrap();
        Aes256Gcm::new(&KEY)
            .unwrap()
            .open(nonce, sealed.aad, &mut out[start..], tag)
            .map_err(|_| Broken::Device)
    }

    fn sealing<'a>(aad: &'a Aad<'a>, plaintext: &'a [u8]) -> Sealing<'a> {
        Sealing {
            binding: Binding::None,
            aad,
            plaintext,
        }
    }

    #[test]
    fn a_device_makes_the_envelope_that_software_makes() {
        let (software, opening) = derive(&KEY, identity(Suite::TokenGcm12)).unwrap();
        let aad = Aad::EMPTY.caller(b"row").unwrap().attributes(b"attributes");
        for text in [&b""[..], b"text", &[3; 1000]] {
            let mut by_device = Vec::new();
            key()
                .seal_into(&sealing(&aad, text), &mut by_device, seal)
                .unwrap();
            let by_software =
                hazmat::seal_with_nonce(&software, Binding::None, &aad, text, &[9; 24]).unwrap();
            assert_eq!(by_device, by_software);
            assert_eq!(by_device.len(), key().sealed_len(Binding::None, text.len()));
            let envelope = Envelope::parse(&by_device).unwrap();
            let (mut one, mut other) = (Vec::new(), b"before".to_vec());
            opening.open_into(&envelope, &aad, &mut one).unwrap();
            key().open_into(&envelope, &aad, &mut other, open).unwrap();
            assert_eq!(one, text);
            assert_eq!(other, [b"before", text].concat());
        }
    }

    #[test]
    fn every_changed_bit_fails_and_leaves_nothing() {
        let aad = Aad::EMPTY.caller(b"row").unwrap();
        let mut sealed = Vec::new();
        key()
            .seal_into(&sealing(&aad, b"text"), &mut sealed, seal)
            .unwrap();
        let mut out = b"before".to_vec();
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            if let Ok(envelope) = Envelope::parse(&changed) {
                let opened = key().open_into(&envelope, &aad, &mut out, open);
                assert!(opened.is_err(), "bit {bit}");
            }
        }
        let envelope = Envelope::parse(&sealed).unwrap();
        let opened = key().open_into(&envelope, &Aad::EMPTY, &mut out, open);
        assert_eq!(opened, Err(Broken::Device));
        assert_eq!(out, b"before");
    }

    #[test]
    fn a_device_that_answers_nonsense_is_found_out() {
        let mut sealed = Vec::new();
        let short = |_: &mut [u8], _: &[u8], _: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(b"short");
            Ok::<_, Broken>(())
        };
        let made = key().seal_into(&sealing(&Aad::EMPTY, b"text"), &mut sealed, short);
        assert_eq!(made, Err(Broken::Envelope(Error::Device)));
        assert!(sealed.is_empty());
        key()
            .seal_into(&sealing(&Aad::EMPTY, b"text"), &mut sealed, seal)
            .unwrap();
        let envelope = Envelope::parse(&sealed).unwrap();
        let mut out = Vec::new();
        let answers: [&[u8]; 4] = [b"", &[0; 32], &[1; 36], &[0; 40]];
        for answer in answers {
            let lies = |_: Sealed<'_>, out: &mut Vec<u8>| {
                out.extend_from_slice(answer);
                Ok::<_, Broken>(())
            };
            let opened = key().open_into(&envelope, &Aad::EMPTY, &mut out, lies);
            assert_eq!(opened, Err(Broken::Rejected));
            assert!(out.is_empty());
        }
    }

    #[test]
    fn only_the_suites_of_devices_have_device_keys() {
        for suite in [
            Suite::Xaes256Gcm,
            Suite::XChaCha20Poly1305,
            Suite::Siv,
            Suite::Chunked,
        ] {
            let refused = DeviceKey::new(identity(suite));
            assert_eq!(refused, Err(Error::SuiteUnsupported(suite)));
        }
        let other = DeviceKey::new(identity(Suite::TokenGcm16)).unwrap();
        let mut sealed = Vec::new();
        key()
            .seal_into(&sealing(&Aad::EMPTY, b"text"), &mut sealed, seal)
            .unwrap();
        let envelope = Envelope::parse(&sealed).unwrap();
        let opened = other.open_into(&envelope, &Aad::EMPTY, &mut Vec::new(), open);
        assert_eq!(opened, Err(Broken::Rejected));
    }
}
