//! One answer to one message, under keys that only its two ends have.
//!
//! A message of HPKE can be replayed, and its context is found again then, so an answer sealed with a
//! counter would use one nonce twice. Each answer takes a fresh nonce of its own into the derivation of its
//! key instead (RFC 9458, section 4.4, with our labels):
//!
//! ```text
//! secret = Export("keywright/response/v1", 32)
//! prk    = HKDF-Extract-SHA-256(salt = enc + response nonce, ikm = secret)
//! key    = HKDF-Expand(prk, "key", Nk);   nonce = HKDF-Expand(prk, "nonce", 12)
//! answer = response nonce (32 bytes) + ciphertext + tag
//! ```
//!
//! The key and nonce serve one answer. The AEAD is the suite's.

use keywright_primitives::kdf::{HkdfSha256Prk, HkdfSha256Salt};
use keywright_primitives::random::RandomStream;
use keywright_secret::wipe;

use crate::context::{NONCE_LEN, Sealer};
use crate::schedule::aead_key;
use crate::short::Short;
use crate::{Aad, Error, Exporter, Recipient, Sender, TAG_LEN};

/// Bytes in the nonce of an answer.
pub const RESPONSE_NONCE_LEN: usize = 32;
/// Bytes that an answer is longer than its plaintext.
pub const OVERHEAD: usize = RESPONSE_NONCE_LEN + TAG_LEN;

const LABEL: &[u8] = b"keywright/response/v1";

/// The message that is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what an answer is bound to")]
pub struct Request<'a> {
    /// The encapsulation it came with.
    pub enc: &'a [u8],
    /// What is authenticated beside the answer.
    pub aad: Aad<'a>,
}

impl Recipient {
    /// Seals an answer to the sender.
    ///
    /// # Errors
    /// [`Error::Backend`] if there is no randomness.
    pub fn respond(&self, request: Request<'_>, plaintext: &[u8]) -> Result<Vec<u8>, Error> {
        let nonce: [u8; RESPONSE_NONCE_LEN] = RandomStream::new()?.array()?;
        let mut out = vec![0; plaintext.len() + OVERHEAD];
        let (head, body) = out.split_at_mut(RESPONSE_NONCE_LEN);
        head.copy_from_slice(&nonce);
        let mut sender = sealer(self.exporter(), request.enc, &nonce)?;
        sender.seal_into(request.aad, plaintext, body)?;
        Ok(out)
    }
}

impl Sender {
    /// Opens an answer of the recipient.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is none to this message.
    pub fn open_response(&self, request: Request<'_>, answer: &[u8]) -> Result<Vec<u8>, Error> {
        let (nonce, body) = answer.split_first_chunk().ok_or(Error::Rejected)?;
        let mut out = vec![0; body.len().saturating_sub(TAG_LEN)];
        let mut recipient = sealer(self.exporter(), request.enc, nonce)?;
        recipient.open_into(request.aad, body, &mut out)?;
        Ok(out)
    }
}

fn sealer(
    exporter: &Exporter,
    enc: &[u8],
    nonce: &[u8; RESPONSE_NONCE_LEN],
) -> Result<Sealer, Error> {
    let secret = exporter.export::<32>(LABEL)?;
    let salt = HkdfSha256Salt::new(&[enc, nonce].concat());
    let mut extracted = salt.extract(&[secret.expose()]);
    let prk = HkdfSha256Prk::new(&extracted);
    wipe(&mut extracted);
    let aead = exporter.suite().aead;
    let key = Short::try_fill(aead.key_len(), |out| prk.expand(&[b"key"], out))?;
    let mut base_nonce = [0; NONCE_LEN];
    prk.expand(&[b"nonce"], &mut base_nonce)?;
    Ok(Sealer::new(aead_key(aead, &key)?, base_nonce))
}
