//! A session at rest: the ratchet's state, and beside it what the session knows.
//!
//! ```text
//! "KWSS" | 1 version | lp(state of the ratchet) | commitment 32 | nonce 24 | about | tag 16
//! key of the ratchet's state = HKDF-Expand-SHA-256(K, "keywright/session/state/v1", 32)
//! subkey 32 + commitment 32  = HKDF-Expand-SHA-256(K, "keywright/session/about/v1" + SHA-256(front) + nonce)
//! front = all before the commitment
//! about = role u8 | signed u8 | binder 32 | lp(card of the peer) | opening, under the subkey with aad = front
//! opening = 0 answered
//!         | 1 head sent: lp(head) | 0, or 1 and signature 64
//!         | 2 head received: length u32 | SHA-256 32
//! ```
//!
//! The front has the ratchet's state in it, so the two parts belong together.

use keywright_encoding::{Reader, put_lp};
use keywright_primitives::aead::{EXTENDED_NONCE_LEN, ExtendedNonce, TAG_LEN, XChaCha20Poly1305};
use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::random::{RandomStream, hedged_nonce};
use keywright_ratchet::{Fence, Limits, Mode, Reserve, Session as Ratchet, StateKey};
use keywright_secret::{Secret, SecretBytes, ct_eq, wipe_vec};

use crate::opening::{About, Opening};
use crate::{Card, Error, First, Role, Session};

const MAGIC: &[u8; 4] = b"KWSS";
const VERSION: u8 = 1;
const STATE_LABEL: &[u8] = b"keywright/session/state/v1";
const ABOUT_LABEL: &[u8] = b"keywright/session/about/v1";
/// Bytes in the longest state at rest: the ratchet's 128 KiB, and room for the rest.
pub(crate) const MAX_LEN: u64 = (128 << 10) + (4 << 10);
/// Bytes in the longest head that a first frame has.
const MAX_HEAD: usize = 2 << 10;

/// The key that sessions are stored under.
pub struct StoreKey(Secret<32>);

impl StoreKey {
    /// Takes 32 uniform bytes.
    #[must_use]
    pub const fn new(key: Secret<32>) -> Self {
        Self(key)
    }

    fn of_ratchet(&self) -> Result<StateKey, Error> {
        let made = Secret::try_from_fill(|out| expand_sha256(self.0.expose(), &[STATE_LABEL], out));
        Ok(StateKey::new(made?))
    }

    /// Subkey and commitment.
    fn of_about(&self, front: &[u8], nonce: &ExtendedNonce) -> Result<Secret<64>, Error> {
        let parts = [ABOUT_LABEL, &sha256(front), nonce];
        Ok(Secret::try_from_fill(|out| {
            expand_sha256(self.0.expose(), &parts, out)
        })?)
    }
}

impl std::fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoreKey")
    }
}

impl Session {
    /// The fenced session's state, to be stored in place of the one before, **before** a frame goes out or
    /// content is passed on. [`crate::Files`] sees to that by itself.
    ///
    /// # Errors
    /// [`Error::WrongMode`], [`Error::FenceUnavailable`], [`Error::StateRolledBack`], [`Error::Rejected`] if
    /// the peer's key makes no secret, [`Error::Backend`].
    pub fn save(
        &mut self,
        key: &StoreKey,
        reserve: Reserve,
        fence: &mut impl Fence,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        let state = self
            .ratchet
            .save(&key.of_ratchet()?, reserve, fence, random)?;
        self.about.sealed(&state, key, random)
    }

    /// The hedged session's state.
    ///
    /// # Errors
    /// [`Error::WrongMode`], [`Error::Backend`].
    pub fn save_hedged(
        &mut self,
        key: &StoreKey,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        let state = self.ratchet.save_hedged(&key.of_ratchet()?, random)?;
        self.about.sealed(&state, key, random)
    }

    /// Opens a fenced session's state, and returns the session with the state that must be stored in place
    /// of `bytes` before the session is used.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Rejected`] for another key or changed bytes, [`Error::WrongMode`],
    /// [`Error::StateRolledBack`] for an older state or a second load of the newest,
    /// [`Error::FenceUnavailable`], [`Error::Backend`].
    pub fn load(
        bytes: &[u8],
        key: &StoreKey,
        fence: &mut impl Fence,
        random: &mut RandomStream,
    ) -> Result<(Self, Vec<u8>), Error> {
        let (state, about) = opened(bytes, key)?;
        let limits = Limits::standard();
        let (ratchet, state) = Ratchet::load(state, &key.of_ratchet()?, limits, fence, random)?;
        let next = about.sealed(&state, key, random)?;
        Ok((Self { ratchet, about }, next))
    }

    /// Opens a hedged session's state.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Rejected`], [`Error::WrongMode`], [`Error::Backend`].
    pub fn load_hedged(
        bytes: &[u8],
        key: &StoreKey,
        random: &mut RandomStream,
    ) -> Result<Self, Error> {
        let (state, about) = opened(bytes, key)?;
        let limits = Limits::standard();
        let ratchet = Ratchet::load_hedged(state, &key.of_ratchet()?, limits, random)?;
        Ok(Self { ratchet, about })
    }
}

/// Whether the state at rest is of this mode, as the ratchet's part says in clear; nothing is verified.
pub(crate) fn mode_of(bytes: &[u8]) -> Option<Mode> {
    let mut reader = Reader::new(bytes);
    let front = reader.array().ok()? == MAGIC && reader.u8().ok()? == VERSION;
    let state = reader.lp().ok().filter(|_| front)?;
    match state.get(6) {
        Some(1) => Some(Mode::Fenced),
        Some(2) => Some(Mode::Hedged),
        _ => None,
    }
}

impl About {
    fn sealed(
        &self,
        state: &[u8],
        key: &StoreKey,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        put_lp(&mut bytes, state).map_err(|_| Error::TooLong)?;
        let fresh = random.array()?;
        let mut about = self.encode()?;
        let nonce = hedged_nonce(key.0.expose(), &fresh, &[&bytes, &about]);
        let sealed = key.of_about(&bytes, &nonce).and_then(|keys| {
            let [subkey, _] = halves(&keys);
            let tag = XChaCha20Poly1305::seal_once(subkey, &nonce, &bytes, &mut about)?;
            Ok((tag, keys))
        });
        let (tag, keys) = sealed.inspect_err(|_| wipe_vec(&mut about))?;
        let [_, commitment] = halves(&keys);
        bytes.extend_from_slice(commitment);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&about);
        bytes.extend_from_slice(&tag);
        Ok(bytes)
    }

    fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(512 + self.peer.len() + MAX_HEAD);
        out.push(match self.role {
            Role::Initiator => 1,
            Role::Responder => 2,
        });
        out.push(match self.signed {
            First::Deniable => 0,
            First::Signed => 1,
        });
        out.extend_from_slice(self.binder.expose());
        let mut put = put_lp(&mut out, &self.peer);
        match &self.opening {
            Opening::Answered => out.push(0),
            Opening::Sent { head, signature } => {
                out.push(1);
                put = put.and(put_lp(&mut out, head));
                out.push(u8::from(signature.is_some()));
                out.extend_from_slice(signature.as_ref().map_or(&[], |bytes| &bytes[..]));
            }
            Opening::Received { length, digest } => {
                out.push(2);
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(digest);
            }
        }
        if put.is_err() {
            wipe_vec(&mut out);
        }
        put.map(|()| out).map_err(|_| Error::TooLong)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let role = match reader.u8()? {
            1 => Role::Initiator,
            2 => Role::Responder,
            _ => return Err(Error::Malformed),
        };
        let signed = match reader.u8()? {
            0 => First::Deniable,
            1 => First::Signed,
            _ => return Err(Error::Malformed),
        };
        let binder = reader.array::<32>()?;
        let binder = Secret::from_fill(|out: &mut [u8; 32]| out.copy_from_slice(binder));
        let peer = reader.lp()?;
        Card::parse(peer)?;
        let opening = decode_opening(&mut reader, signed)?;
        let fits = match opening {
            Opening::Received { .. } => role == Role::Responder,
            Opening::Sent { .. } | Opening::Answered => role == Role::Initiator,
        };
        if !fits || !reader.is_empty() {
            return Err(Error::Malformed);
        }
        Ok(Self {
            role,
            peer: peer.to_vec(),
            binder,
            opening,
            signed,
        })
    }
}

fn decode_opening(reader: &mut Reader<'_>, signed: First) -> Result<Opening, Error> {
    Ok(match reader.u8()? {
        0 => Opening::Answered,
        1 => {
            let head = reader.lp()?.to_vec();
            let signature = match (reader.u8()?, signed) {
                (0, First::Deniable) => None,
                (1, First::Signed) => Some(*reader.array()?),
                _ => return Err(Error::Malformed),
            };
            if head.len() > MAX_HEAD {
                return Err(Error::Malformed);
            }
            Opening::Sent { head, signature }
        }
        2 => Opening::Received {
            length: reader.u32()?,
            digest: *reader.array()?,
        },
        _ => return Err(Error::Malformed),
    })
}

/// The ratchet's state, still sealed, and what stands beside it.
fn opened<'a>(bytes: &'a [u8], key: &StoreKey) -> Result<(&'a [u8], About), Error> {
    let mut reader = Reader::new(bytes);
    if reader.array()? != MAGIC || reader.u8()? != VERSION {
        return Err(Error::Malformed);
    }
    let state = reader.lp()?;
    let (front, _) = bytes.split_at(4 + 1 + 4 + state.len());
    let (commitment, nonce) = (reader.array::<32>()?, reader.array::<EXTENDED_NONCE_LEN>()?);
    let sealed = reader.rest().split_last_chunk::<TAG_LEN>();
    let (about, tag) = sealed.ok_or(Error::Malformed)?;
    let keys = key.of_about(front, nonce)?;
    let [subkey, expected] = halves(&keys);
    if !ct_eq(commitment, expected) {
        return Err(Error::Rejected);
    }
    let mut clear = SecretBytes::from_vec(about.to_vec());
    let opened = XChaCha20Poly1305::open_once(subkey, nonce, front, clear.expose_mut(), tag);
    opened.map_err(|_| Error::Rejected)?;
    Ok((state, About::decode(clear.expose())?))
}

fn halves(keys: &Secret<64>) -> [&[u8; 32]; 2] {
    let parts = keys.expose().as_chunks::<32>().0;
    [&parts[0], &parts[1]]
}
