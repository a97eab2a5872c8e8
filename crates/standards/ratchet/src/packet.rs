//! The bytes of a packet, and what protects its two parts.

use keywright_encoding::Reader;
use keywright_primitives::Rejected;
use keywright_primitives::aead::{ExtendedNonce, TAG_LEN, Tag, XChaCha20Poly1305};

use crate::key::{Key, PublicKey, Transcript};
use crate::{Error, Mode};

/// The first byte of a packet.
pub const VERSION: u8 = 3;
/// Bytes in the shortest text of a message.
pub const MIN_TEXT_LEN: usize = 64;
/// Bytes in the longest text of a message: a content of 16 MiB with its padding.
pub const MAX_TEXT_LEN: usize = (1 << 24) + (1 << 19);
/// Bytes in the longest context of a message.
pub const MAX_CONTEXT_LEN: usize = 1 << 14;

const NONCE_LABEL: &[u8; 12] = b"kw/ratchet/1";
const NONCE_LEN: usize = 24;
const MAX_HEADER_LEN: usize = 48;
/// lp(T) + lp(version).
const PREFIX_LEN: usize = 4 + 32 + 4 + 1;
/// Associated data up to this long is put together on the stack.
const ON_STACK: usize = 512;

/// What is sent.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "named fields are what keeps text and context apart"
)]
pub struct Message<'a> {
    /// Encrypted: [`MIN_TEXT_LEN`] to [`MAX_TEXT_LEN`] bytes. Its length shows.
    pub text: &'a [u8],
    /// Authenticated, not sent: at most [`MAX_CONTEXT_LEN`] bytes that the receiver knows.
    pub context: &'a [u8],
}

/// What arrives.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "named fields are what keeps packet and context apart"
)]
pub struct Packet<'a> {
    /// The bytes as they came.
    pub bytes: &'a [u8],
    /// The context under which the message was sealed.
    pub context: &'a [u8],
}

/// Eight bytes that a hedged session draws when it is made or loaded; zeros in a fenced one.
pub(crate) type IncarnationBytes = [u8; 8];

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) key: PublicKey,
    /// Messages in the sender's chain before this one.
    pub(crate) previous: u32,
    pub(crate) number: u32,
    pub(crate) incarnation: IncarnationBytes,
}

/// A header as it is encrypted.
pub(crate) struct Plain {
    bytes: [u8; MAX_HEADER_LEN],
    length: usize,
}

impl Header {
    pub(crate) fn encode(&self, mode: Mode) -> Plain {
        let mut bytes = [0; MAX_HEADER_LEN];
        bytes[..32].copy_from_slice(&self.key);
        bytes[32..36].copy_from_slice(&self.previous.to_be_bytes());
        bytes[36..40].copy_from_slice(&self.number.to_be_bytes());
        bytes[40..].copy_from_slice(&self.incarnation);
        Plain {
            bytes,
            length: header_len(mode),
        }
    }

    fn decode(plain: &[u8; MAX_HEADER_LEN]) -> Self {
        let mut header = Self {
            key: [0; 32],
            previous: u32::from_be_bytes([plain[32], plain[33], plain[34], plain[35]]),
            number: u32::from_be_bytes([plain[36], plain[37], plain[38], plain[39]]),
            incarnation: [0; 8],
        };
        header.key.copy_from_slice(&plain[..32]);
        header.incarnation.copy_from_slice(&plain[40..]);
        header
    }

    /// label 12 + number u32 + incarnation 8.
    fn body_nonce(&self) -> ExtendedNonce {
        let mut nonce = [0; NONCE_LEN];
        nonce[..12].copy_from_slice(NONCE_LABEL);
        nonce[12..16].copy_from_slice(&self.number.to_be_bytes());
        nonce[16..].copy_from_slice(&self.incarnation);
        nonce
    }
}

impl Plain {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Bytes in a header before it is encrypted.
pub(crate) const fn header_len(mode: Mode) -> usize {
    match mode {
        Mode::Fenced => 40,
        Mode::Hedged => MAX_HEADER_LEN,
    }
}

/// Bytes in a packet beside its text.
pub(crate) const fn overhead(mode: Mode) -> usize {
    1 + header_len(mode) + TAG_LEN + TAG_LEN
}

/// A packet taken apart; nothing about it is verified.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    header: &'a [u8],
    header_tag: &'a Tag,
    pub(crate) body: &'a [u8],
    body_tag: &'a Tag,
    nonce: &'a ExtendedNonce,
}

impl<'a> Parts<'a> {
    pub(crate) fn parse(packet: &'a [u8], mode: Mode) -> Result<Self, Error> {
        let mut reader = Reader::new(packet);
        if reader.u8()? != VERSION {
            return Err(Error::Malformed);
        }
        let header = reader.take(header_len(mode))?;
        let header_tag = reader.array()?;
        let (body, body_tag) = reader.rest().split_last_chunk().ok_or(Error::Malformed)?;
        let nonce = body.first_chunk().ok_or(Error::Malformed)?;
        if !(MIN_TEXT_LEN..=MAX_TEXT_LEN).contains(&body.len()) {
            return Err(Error::Malformed);
        }
        Ok(Self {
            header,
            header_tag,
            body,
            body_tag,
            nonce,
        })
    }

    pub(crate) fn open_header(&self, key: &Key) -> Result<Header, Rejected> {
        let mut plain = [0; MAX_HEADER_LEN];
        let text = &mut plain[..self.header.len()];
        text.copy_from_slice(self.header);
        XChaCha20Poly1305::open_once(key.expose(), self.nonce, &[VERSION], text, self.header_tag)?;
        Ok(Header::decode(&plain))
    }

    /// `text` is as long as the body, and zeros after a failure.
    pub(crate) fn open_body(
        &self,
        key: &Key,
        header: &Header,
        bound: &Bound<'_>,
        text: &mut [u8],
    ) -> Result<(), Rejected> {
        text.copy_from_slice(self.body);
        bound.with_aad(&header.encode(bound.mode), |aad| {
            let nonce = header.body_nonce();
            XChaCha20Poly1305::open_once(key.expose(), &nonce, aad, text, self.body_tag)
        })
    }
}

/// Writes a packet into `out`, which has its exact length.
pub(crate) fn seal(
    keys: &SealingKeys<'_>,
    header: &Header,
    bound: &Bound<'_>,
    text: &[u8],
    out: &mut [u8],
) -> Result<(), keywright_primitives::Error> {
    let plain = header.encode(bound.mode);
    let (front, rest) = out.split_at_mut(1 + plain.length + TAG_LEN);
    let (body, tag) = rest.split_at_mut(text.len());
    body.copy_from_slice(text);
    let made = bound.with_aad(&plain, |aad| {
        XChaCha20Poly1305::seal_once(keys.body.expose(), &header.body_nonce(), aad, body)
    })?;
    tag.copy_from_slice(&made);
    let mut nonce = [0; NONCE_LEN];
    nonce.copy_from_slice(&body[..NONCE_LEN]);
    front[0] = VERSION;
    let (sealed, tag) = front[1..].split_at_mut(plain.length);
    sealed.copy_from_slice(plain.as_bytes());
    let made = XChaCha20Poly1305::seal_once(keys.header.expose(), &nonce, &[VERSION], sealed)?;
    tag.copy_from_slice(&made);
    Ok(())
}

/// The two keys of a packet.
pub(crate) struct SealingKeys<'a> {
    pub(crate) header: &'a Key,
    pub(crate) body: &'a Key,
}

/// What a body is bound to beside its header.
pub(crate) struct Bound<'a> {
    pub(crate) mode: Mode,
    pub(crate) transcript: &'a Transcript,
    pub(crate) context: &'a [u8],
}

impl Bound<'_> {
    /// lp(T) + lp(version) + lp(header) + lp(context).
    fn with_aad<R>(&self, header: &Plain, use_it: impl FnOnce(&[u8]) -> R) -> R {
        let header = header.as_bytes();
        let length = PREFIX_LEN + 4 + header.len() + 4 + self.context.len();
        let parts = [&self.transcript[..], &[VERSION], header, self.context];
        if length <= ON_STACK {
            let mut aad = [0; ON_STACK];
            let aad = &mut aad[..length];
            join(&parts, aad);
            return use_it(aad);
        }
        let mut aad = vec![0; length];
        join(&parts, &mut aad);
        use_it(&aad)
    }
}

/// Each part after its length; `out` has exactly the room, and no part is longer than [`MAX_CONTEXT_LEN`].
fn join(parts: &[&[u8]], mut out: &mut [u8]) {
    for part in parts {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        let (now, later) = out.split_at_mut(4 + part.len());
        now[..4].copy_from_slice(&length.to_be_bytes());
        now[4..].copy_from_slice(part);
        out = later;
    }
}
