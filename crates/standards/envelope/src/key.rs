//! Keys: one HKDF when they are made, none per message (design 7.6).

use std::fmt;
use std::sync::Arc;

use keywright_primitives::aead::{
    Aes256Gcm, Aes256Siv, Ahead, SIV_KEY_LEN, Tag, XChaCha20Poly1305, Xaes256Gcm,
};
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, ct_eq, wipe};
use keywright_types::{KeyId, KeyVersion, Kind, Suite};

use crate::chunked::{self, ChunkOpener, ChunkSealer};
use crate::envelope::{Body, COMMITMENT_LEN, TAG_LEN};
use crate::header::{Encoded, Front, holds};
use crate::{Aad, Binding, Envelope, Error, Header, MessageId, Rejected, Sealing};

const LABEL: &[u8] = b"keywright/seal/v1";
const NONCE_LEN: usize = 24;
const SHORT_NONCE_LEN: usize = 12;

/// Which key, and what it is used for: all that its subkey depends on besides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the derivation has these parts for ever"
)]
pub struct Identity {
    /// The suite.
    pub suite: Suite,
    /// The kind.
    pub kind: Kind,
    /// The key's id.
    pub key: KeyId,
    /// The key's version; 0 for a data key.
    pub version: KeyVersion,
}

/// Seals under one key, suite and kind.
#[derive(Clone)]
pub struct SealingKey(Arc<Material>);

/// Opens what the [`SealingKey`] of the same derivation seals.
#[derive(Clone)]
pub struct OpeningKey(Arc<Material>);

struct Material {
    identity: Identity,
    /// What its envelopes begin with.
    front: Front,
    /// Zero where the suite keeps its commitment elsewhere.
    commitment: [u8; COMMITMENT_LEN],
    cipher: Cipher,
}

#[expect(
    clippy::large_enum_variant,
    reason = "one of these a key, behind an `Arc`; a box would be one more jump in each seal"
)]
enum Cipher {
    Xaes(Xaes256Gcm),
    XChaCha(XChaCha20Poly1305),
    /// Suite 3 with the key in software: K itself, and a block of zeros before the text.
    Gcm(Aes256Gcm),
    /// Suite 5. It has no nonce: equal texts have equal envelopes.
    Siv(Box<Aes256Siv>),
    /// Suite 6: Ks, from which each stream has its own key.
    Chunked(Secret<32>),
}

/// One sealing, with its nonce or salt chosen; suite 3 takes the first 12 bytes of it.
pub(crate) struct Input<'a> {
    pub(crate) sealing: Sealing<'a>,
    pub(crate) nonce: &'a [u8; NONCE_LEN],
}

/// Makes both halves of a key.
///
/// # Errors
/// [`Error::SuiteUnsupported`] for suite 4, [`Error::KindUnsupported`] for kind 2 with suites 5 and 6,
/// [`Error::Backend`] if the backend refuses.
pub fn derive(k: &[u8; 32], identity: Identity) -> Result<(SealingKey, OpeningKey), Error> {
    let Identity { suite, kind, .. } = identity;
    if !holds(suite, kind) {
        return Err(Error::KindUnsupported { suite, kind });
    }
    let mut commitment = [0; COMMITMENT_LEN];
    let cipher = match suite {
        Suite::Xaes256Gcm => {
            let ks = subkey(k, identity, &mut commitment)?;
            Cipher::Xaes(Xaes256Gcm::new(ks.expose())?)
        }
        Suite::XChaCha20Poly1305 => {
            let ks = subkey(k, identity, &mut commitment)?;
            Cipher::XChaCha(XChaCha20Poly1305::new(ks.expose()))
        }
        Suite::TokenGcm12 => Cipher::Gcm(Aes256Gcm::new(k)?),
        Suite::Siv => {
            let ks = siv_subkey(k, identity, &mut commitment)?;
            Cipher::Siv(Box::new(Aes256Siv::new(ks.expose())?))
        }
        Suite::Chunked => Cipher::Chunked(subkey(k, identity, &mut commitment)?),
        other => return Err(Error::SuiteUnsupported(other)),
    };
    let material = Arc::new(Material {
        identity,
        front: Front::of(identity),
        commitment,
        cipher,
    });
    Ok((SealingKey(Arc::clone(&material)), OpeningKey(material)))
}

/// Ks + commitment = HKDF-Expand-SHA-256(K, label + suite + kind + key id + version, 32 + 32).
fn subkey(
    k: &[u8; 32],
    identity: Identity,
    commitment: &mut [u8; COMMITMENT_LEN],
) -> Result<Secret<32>, Error> {
    let made: Secret<64> = expanded(k, identity)?;
    commitment.copy_from_slice(&made.expose()[32..]);
    Ok(Secret::from_fill(|ks| {
        ks.copy_from_slice(&made.expose()[..32])
    }))
}

/// The same for suite 5, whose Ks has 64 bytes.
fn siv_subkey(
    k: &[u8; 32],
    identity: Identity,
    commitment: &mut [u8; COMMITMENT_LEN],
) -> Result<Secret<SIV_KEY_LEN>, Error> {
    let made: Secret<{ SIV_KEY_LEN + COMMITMENT_LEN }> = expanded(k, identity)?;
    commitment.copy_from_slice(&made.expose()[SIV_KEY_LEN..]);
    Ok(Secret::from_fill(|ks| {
        ks.copy_from_slice(&made.expose()[..SIV_KEY_LEN])
    }))
}

fn expanded<const N: usize>(k: &[u8; 32], identity: Identity) -> Result<Secret<N>, Error> {
    Secret::try_from_fill(|made| {
        let numbers = [identity.suite.number(), identity.kind.number()];
        let version = identity.version.number().to_be_bytes();
        let info = [LABEL, &numbers, identity.key.as_bytes(), &version];
        expand_sha256(k, &info, made).map_err(Error::from)
    })
}

impl SealingKey {
    /// Seals `plaintext` and appends the envelope to `out`, which is as it was if this fails.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond the suite's limit, [`Error::Backend`] without randomness.
    #[expect(
        clippy::too_many_arguments,
        reason = "what an envelope is made of; no two have the same type"
    )]
    pub fn seal_into(
        &self,
        binding: Binding,
        aad: &Aad<'_>,
        plaintext: &[u8],
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<MessageId, Error> {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce[..self.nonce_len()])?;
        let sealing = Sealing {
            binding,
            aad,
            plaintext,
        };
        let input = Input {
            sealing,
            nonce: &nonce,
        };
        self.seal_with(&input, out)
    }

    /// How many bytes [`SealingKey::seal_into`] appends.
    #[must_use]
    pub fn sealed_len(&self, binding: Binding, plaintext_len: usize) -> usize {
        let front = self.header(binding).encoded_len() + self.nonce_len() + COMMITMENT_LEN;
        let rest = match self.0.cipher {
            Cipher::Chunked(_) => chunked::sealed_len(plaintext_len),
            _ => plaintext_len.saturating_add(TAG_LEN),
        };
        rest.saturating_add(front)
    }

    /// Which key this is.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.0.identity
    }

    pub(crate) fn nonce_len(&self) -> usize {
        match self.0.cipher {
            Cipher::Gcm(_) => SHORT_NONCE_LEN,
            Cipher::Siv(_) => 0,
            _ => NONCE_LEN,
        }
    }

    pub(crate) fn header(&self, binding: Binding) -> Header {
        Header::of(self.0.identity, binding)
    }

    pub(crate) fn seal_with(
        &self,
        input: &Input<'_>,
        out: &mut Vec<u8>,
    ) -> Result<MessageId, Error> {
        let sealing = &input.sealing;
        self.appended(sealing, out, |out| match &self.0.cipher {
            Cipher::Chunked(_) => {
                let nonce = MessageId::of(&input.nonce[..self.nonce_len()]);
                self.seal_chunked(input, out).map(|()| nonce)
            }
            Cipher::Siv(key) => self.seal_siv(key, input, out),
            cipher => {
                let nonce = &input.nonce[..self.nonce_len()];
                self.seal_tagged(sealing, nonce, out, |aad, text, tag| {
                    cipher.seal(input.nonce, aad, text, tag)
                })
            }
        })
    }

    /// As [`SealingKey::seal_with`], with the next nonce of `ahead`.
    pub(crate) fn seal_ahead(
        &self,
        sealing: &Sealing<'_>,
        ahead: &mut Ahead,
        out: &mut Vec<u8>,
    ) -> Result<MessageId, Error> {
        let nonce = *ahead
            .nonce()
            .ok_or(keywright_primitives::Error::Randomness)?;
        self.appended(sealing, out, |out| {
            self.seal_tagged(sealing, &nonce, out, |aad, text, tag| {
                Ok(ahead.seal_with(aad, text, tag)?)
            })
        })
    }

    /// What derives message keys ahead, if keys of this suite do.
    pub(crate) fn xaes(&self) -> Option<&Xaes256Gcm> {
        match &self.0.cipher {
            Cipher::Xaes(key) => Some(key),
            _ => None,
        }
    }

    /// Leaves `out` as it was if `seal` fails.
    fn appended(
        &self,
        sealing: &Sealing<'_>,
        out: &mut Vec<u8>,
        seal: impl FnOnce(&mut Vec<u8>) -> Result<MessageId, Error>,
    ) -> Result<MessageId, Error> {
        let start = out.len();
        out.reserve(self.sealed_len(sealing.binding, sealing.plaintext.len()));
        let sealed = seal(out);
        if sealed.is_err() {
            wipe(&mut out[start..]);
            out.truncate(start);
        }
        sealed
    }

    /// Header, commitment, synthetic IV, ciphertext; the associated data is one string.
    fn seal_siv(
        &self,
        key: &Aes256Siv,
        input: &Input<'_>,
        out: &mut Vec<u8>,
    ) -> Result<MessageId, Error> {
        let header = Encoded::of(&self.header(input.sealing.binding));
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(&self.0.commitment);
        let place = out.len();
        out.extend_from_slice(&[0; TAG_LEN]);
        let text = out.len();
        out.extend_from_slice(input.sealing.plaintext);
        let siv = input
            .sealing
            .aad
            .composed(header.as_bytes(), |aad| key.seal(&[aad], &mut out[text..]))??;
        out[place..text].copy_from_slice(&siv);
        Ok(MessageId::of(&siv))
    }

    fn seal_chunked(&self, input: &Input<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut stream =
            self.start_stream(input.sealing.binding, input.sealing.aad, input.nonce, out)?;
        stream.update(input.sealing.plaintext, out)?;
        stream.finish(out)
    }

    /// Writes header, salt and commitment of a stream.
    pub(crate) fn start_stream(
        &self,
        binding: Binding,
        aad: &Aad<'_>,
        salt: &[u8; NONCE_LEN],
        out: &mut Vec<u8>,
    ) -> Result<ChunkSealer, Error> {
        let Cipher::Chunked(ks) = &self.0.cipher else {
            return Err(Error::SuiteUnsupported(self.0.identity.suite));
        };
        let header = Encoded::of(&self.header(binding));
        let started = aad.composed(header.as_bytes(), |context| {
            ChunkSealer::new(ks.expose(), salt, context)
        })?;
        let (sealer, commitment) = started?;
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(salt);
        out.extend_from_slice(&commitment);
        Ok(sealer)
    }

    fn seal_tagged(
        &self,
        sealing: &Sealing<'_>,
        nonce: &[u8],
        out: &mut Vec<u8>,
        seal: impl FnOnce(&[u8], &mut [u8], &mut Tag) -> Result<(), Error>,
    ) -> Result<MessageId, Error> {
        let Sealing {
            binding,
            aad,
            plaintext,
        } = *sealing;
        let start = out.len();
        self.0.front.put(binding, out);
        let header = out.len() - start;
        out.extend_from_slice(nonce);
        // Commitment or, for suite 3, the block of zeros, which is sealed with the text.
        let mut text = out.len();
        out.extend_from_slice(&self.0.commitment);
        if !matches!(self.0.cipher, Cipher::Gcm(_)) {
            text = out.len();
        }
        out.extend_from_slice(plaintext);
        out.extend_from_slice(&[0; TAG_LEN]);
        let (front, sealed) = out[start..].split_at_mut(text - start);
        let (text, tag) = sealed.split_last_chunk_mut().ok_or(Error::TooLong)?;
        let sealed = aad.composed(&front[..header], |aad| seal(aad, text, tag))?;
        sealed.map(|()| MessageId::of(nonce))
    }
}

impl OpeningKey {
    /// Opens `envelope` and appends its text to `out`, to which nothing is appended if this fails.
    ///
    /// # Errors
    /// [`Rejected`] if the envelope names another key, version, suite or kind, or if commitment, tag,
    /// associated data or text do not fit.
    pub fn open_into(
        &self,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Rejected> {
        if envelope.header().identity() != self.0.identity {
            return Err(Rejected);
        }
        let start = out.len();
        let opened = aad.composed(envelope.encoded_header(), |aad| {
            self.0.open_body(envelope, aad, out)
        });
        let opened = opened.unwrap_or(Err(Rejected));
        if opened.is_err() {
            wipe(&mut out[start..]);
            out.truncate(start);
        }
        opened
    }

    /// Which key this is.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.0.identity
    }

    /// Compares the commitment of a stream and makes its opener.
    pub(crate) fn start_stream(
        &self,
        header: &Header,
        salt: &chunked::Salt,
        commitment: &chunked::Commitment,
        aad: &Aad<'_>,
    ) -> Result<ChunkOpener, Rejected> {
        let Cipher::Chunked(ks) = &self.0.cipher else {
            return Err(Rejected);
        };
        if header.identity() != self.0.identity {
            return Err(Rejected);
        }
        let header = Encoded::of(header);
        aad.composed(header.as_bytes(), |context| {
            ChunkOpener::new(ks.expose(), salt, context, commitment)
        })
        .unwrap_or(Err(Rejected))
    }
}

impl Material {
    fn open_body(
        &self,
        envelope: &Envelope<'_>,
        aad: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Rejected> {
        out.reserve(envelope.plaintext_len() + COMMITMENT_LEN);
        match (envelope.body(), &self.cipher) {
            (
                Body::Chunked {
                    salt,
                    commitment,
                    chunks,
                },
                Cipher::Chunked(ks),
            ) => {
                let mut opener = ChunkOpener::new(ks.expose(), salt, aad, commitment)?;
                opener.update(chunks, out)?;
                opener.finish(out)
            }
            (
                Body::Tagged {
                    nonce, text, tag, ..
                },
                Cipher::Gcm(key),
            ) => open_zeros(key, nonce, aad, (text, tag), out),
            (
                Body::Siv {
                    commitment,
                    siv,
                    text,
                },
                Cipher::Siv(key),
            ) => {
                if !ct_eq(*commitment, &self.commitment) {
                    return Err(Rejected);
                }
                let start = out.len();
                out.extend_from_slice(text);
                Ok(key.open(&[aad], &mut out[start..], siv)?)
            }
            (
                Body::Tagged {
                    nonce,
                    commitment,
                    text,
                    tag,
                },
                cipher,
            ) => {
                if !ct_eq(commitment, &self.commitment) {
                    return Err(Rejected);
                }
                let nonce = (*nonce).try_into().map_err(|_| Rejected)?;
                let start = out.len();
                out.extend_from_slice(text);
                cipher.open(nonce, aad, &mut out[start..], tag)
            }
            _ => Err(Rejected),
        }
    }
}

/// Suite 3: the block of zeros that stands before the text is its commitment.
fn open_zeros(
    key: &Aes256Gcm,
    nonce: &[u8],
    aad: &[u8],
    (text, tag): (&[u8], &Tag),
    out: &mut Vec<u8>,
) -> Result<(), Rejected> {
    let nonce = nonce.try_into().map_err(|_| Rejected)?;
    let start = out.len();
    out.extend_from_slice(text);
    key.open(nonce, aad, &mut out[start..], tag)?;
    let (zeros, _) = out[start..]
        .split_first_chunk::<COMMITMENT_LEN>()
        .ok_or(Rejected)?;
    if !ct_eq(zeros, &[0; COMMITMENT_LEN]) {
        return Err(Rejected);
    }
    let end = out.len() - COMMITMENT_LEN;
    out.copy_within(start + COMMITMENT_LEN.., start);
    wipe(&mut out[end..]);
    out.truncate(end);
    Ok(())
}

impl Cipher {
    fn seal(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        in_out: &mut [u8],
        tag: &mut Tag,
    ) -> Result<(), Error> {
        match self {
            Self::Xaes(key) => key.seal_with(nonce, aad, in_out, tag)?,
            Self::XChaCha(key) => key.seal_with(nonce, aad, in_out, tag)?,
            Self::Gcm(key) => {
                let (short, _) = nonce.split_first_chunk().ok_or(Error::TooLong)?;
                key.seal_with(short, aad, in_out, tag)?;
            }
            Self::Chunked(_) => return Err(Error::SuiteUnsupported(Suite::Chunked)),
            Self::Siv(_) => return Err(Error::SuiteUnsupported(Suite::Siv)),
        }
        Ok(())
    }

    fn open(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        in_out: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Rejected> {
        match self {
            Self::Xaes(key) => Ok(key.open(nonce, aad, in_out, tag)?),
            Self::XChaCha(key) => Ok(key.open(nonce, aad, in_out, tag)?),
            Self::Gcm(_) | Self::Chunked(_) | Self::Siv(_) => Err(Rejected),
        }
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SealingKey").field(&self.0.identity).finish()
    }
}

impl fmt::Debug for OpeningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpeningKey").field(&self.0.identity).finish()
    }
}
