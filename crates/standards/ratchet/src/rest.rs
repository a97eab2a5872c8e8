//! A session at rest.
//!
//! ```text
//! "KWRS" | 1 version | 1 suite | mode | session id 16 | epoch u64
//!        | commitment 32 | nonce 24 | state | tag 16
//! subkey 32 + commitment 32 = HKDF-Expand-SHA-256(K, "keywright/ratchet-state/v1" + magic..epoch + nonce)
//! state: XChaCha20-Poly1305 under the subkey with that nonce, aad = all before it
//! ```
//!
//! The nonce is random, so two saves of one state share no block, and hashed with the key and the state, so two
//! states share no nonce where randomness repeats. Whoever stores the bytes replaces the old ones in one step;
//! here is nothing that knows files.

use keywright_encoding::Reader;
use keywright_primitives::aead::{EXTENDED_NONCE_LEN, ExtendedNonce, TAG_LEN, XChaCha20Poly1305};
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::random::{RandomStream, hedged_nonce};
use keywright_secret::{Secret, SecretBytes, ct_eq, wipe};

use crate::codec::{self, State};
use crate::limits::CHAIN_LEN;
use crate::send::new_key;
use crate::session::{Sending, Standing, draw_incarnation};
use crate::{Claim, Error, Fence, Limits, Mode, Session, SessionId};

const MAGIC: &[u8; 4] = b"KWRS";
/// Version 1, XChaCha20-Poly1305 with a commitment.
const NUMBERS: [u8; 2] = [1, 1];
const LABEL: &[u8] = b"keywright/ratchet-state/v1";
/// From magic to epoch.
const PREFIX_LEN: usize = 4 + 2 + 1 + 16 + 8;
/// From magic to nonce.
const HEADER_LEN: usize = PREFIX_LEN + 32 + EXTENDED_NONCE_LEN;
/// Numbers that one save sets aside.
const AHEAD: u32 = 32;

/// The key that states are stored under.
pub struct StateKey(Secret<32>);

impl StateKey {
    /// Takes 32 uniform bytes.
    #[must_use]
    pub const fn new(key: Secret<32>) -> Self {
        Self(key)
    }
}

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey")
    }
}

/// What a save of a fenced session sets aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a save is for sending or it is not; every match must face it"
)]
pub enum Reserve {
    /// The next 32 numbers: as many messages may be sent once the bytes are stored. A turn that is due is
    /// taken for it. A crash skips the numbers; the peer stores their keys for a while.
    Numbers,
    /// Nothing new: after receiving, or before an end.
    Nothing,
}

impl Session {
    /// The fenced session's state, to be stored in place of the one before, **before** anything is sent or
    /// what was received is passed on. If it cannot be stored, the session must not be used any more.
    ///
    /// # Errors
    /// [`Error::WrongMode`]; [`Error::FenceUnavailable`]; [`Error::StateRolledBack`] if another copy has
    /// claimed the counter's value, and from then on for everything; [`Error::PeerKey`]; [`Error::Backend`].
    pub fn save(
        &mut self,
        key: &StateKey,
        reserve: Reserve,
        fence: &mut impl Fence,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        self.require_standing()?;
        self.require_mode(Mode::Fenced)?;
        let fresh = random.array()?;
        if reserve == Reserve::Numbers {
            self.take_due_turn(&mut || new_key(random))?;
        }
        self.claim(fence)?;
        self.set_aside(reserve);
        self.sealed(key, &fresh)
    }

    /// The hedged session's state.
    ///
    /// # Errors
    /// [`Error::WrongMode`], [`Error::Backend`].
    pub fn save_hedged(
        &mut self,
        key: &StateKey,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        self.require_mode(Mode::Hedged)?;
        self.standing.epoch = self.standing.epoch.saturating_add(1);
        self.sealed(key, &random.array()?)
    }

    /// The last save of a fenced session: what was set aside and not used is given back.
    ///
    /// # Errors
    /// As [`Session::save`].
    pub fn close(
        mut self,
        key: &StateKey,
        fence: &mut impl Fence,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        self.standing.set_aside = 0;
        self.save(key, Reserve::Nothing, fence, random)
    }

    /// Opens a fenced session's state, and returns the session with the state that must be stored in place
    /// of `bytes` before the session is used. What it has to set aside is set aside in it.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Rejected`] for another key or changed bytes, [`Error::WrongMode`],
    /// [`Error::StateRolledBack`] for an older state or a second load of the newest,
    /// [`Error::FenceUnavailable`], [`Error::Backend`].
    pub fn load(
        bytes: &[u8],
        key: &StateKey,
        limits: Limits,
        fence: &mut impl Fence,
        random: &mut RandomStream,
    ) -> Result<(Self, Vec<u8>), Error> {
        let mut session = Self::opened(bytes, key, limits)?;
        session.require_mode(Mode::Fenced)?;
        let fresh = random.array()?;
        session.claim(fence)?;
        session.set_aside(Reserve::Numbers);
        let stored = session.sealed(key, &fresh)?;
        Ok((session, stored))
    }

    /// Opens a hedged session's state and draws a new incarnation.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Rejected`] for another key or changed bytes, [`Error::WrongMode`],
    /// [`Error::Backend`].
    pub fn load_hedged(
        bytes: &[u8],
        key: &StateKey,
        limits: Limits,
        random: &mut RandomStream,
    ) -> Result<Self, Error> {
        let mut session = Self::opened(bytes, key, limits)?;
        session.require_mode(Mode::Hedged)?;
        session.incarnation = draw_incarnation(Mode::Hedged, random)?;
        Ok(session)
    }

    fn require_mode(&self, mode: Mode) -> Result<(), Error> {
        if self.mode == mode {
            Ok(())
        } else {
            Err(Error::WrongMode)
        }
    }

    fn claim(&mut self, fence: &mut impl Fence) -> Result<(), Error> {
        let next = self.standing.epoch.checked_add(1);
        let next = next.ok_or(Error::StateRolledBack)?;
        match fence.claim(&self.id, next)? {
            Claim::Granted => {
                self.standing.epoch = next;
                Ok(())
            }
            Claim::Refused => {
                self.standing.rolled_back = true;
                Err(Error::StateRolledBack)
            }
        }
    }

    fn set_aside(&mut self, reserve: Reserve) {
        if let (Reserve::Numbers, Sending::Open(chain)) = (reserve, &self.sending) {
            self.standing.set_aside = (chain.number + AHEAD).min(CHAIN_LEN);
        }
    }

    /// The number that a session begins with which is loaded from the state.
    fn first_unreserved(&self) -> u32 {
        match &self.sending {
            Sending::Open(chain) => chain.number.max(self.standing.set_aside),
            Sending::Waiting { .. } | Sending::Due { .. } => 0,
        }
    }

    /// The bytes at rest.
    fn sealed(&self, key: &StateKey, fresh: &ExtendedNonce) -> Result<Vec<u8>, Error> {
        self.sealed_under(key, self.first_unreserved(), |prefix, state| {
            hedged_nonce(key.0.expose(), fresh, &[prefix, state])
        })
    }

    /// The bytes at rest, the sending chain taken on to `number`, under the nonce that is chosen for them.
    pub(crate) fn sealed_under(
        &self,
        key: &StateKey,
        number: u32,
        nonce: impl FnOnce(&[u8], &[u8]) -> ExtendedNonce,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(HEADER_LEN + codec::encoded_len(self) + TAG_LEN);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&NUMBERS);
        bytes.push(self.mode.number());
        bytes.extend_from_slice(self.id.as_bytes());
        bytes.extend_from_slice(&self.standing.epoch.to_be_bytes());
        bytes.resize(HEADER_LEN, 0);
        // The state lies here in clear until it is sealed in its place.
        codec::encode(self, number, &mut bytes)?;
        let (header, state) = bytes.split_at_mut(HEADER_LEN);
        let (prefix, rest) = header.split_at_mut(PREFIX_LEN);
        let nonce = nonce(prefix, state);
        let keys = Keys::derive(key, prefix, &nonce).inspect_err(|_| wipe(state))?;
        rest[..32].copy_from_slice(keys.commitment());
        rest[32..].copy_from_slice(&nonce);
        let sealed = XChaCha20Poly1305::seal_once(keys.subkey(), &nonce, header, state);
        let tag = sealed.inspect_err(|_| wipe(state))?;
        bytes.extend_from_slice(&tag);
        Ok(bytes)
    }

    fn opened(bytes: &[u8], key: &StateKey, limits: Limits) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != MAGIC || *reader.array()? != NUMBERS {
            return Err(Error::Malformed);
        }
        let mode = Mode::of_number(reader.u8()?).ok_or(Error::Malformed)?;
        let (id, epoch) = (SessionId(*reader.array()?), reader.u64()?);
        let (commitment, nonce) = (reader.array::<32>()?, reader.array()?);
        let (state, tag) = reader.rest().split_last_chunk().ok_or(Error::Malformed)?;
        if state.len() > codec::longest(&limits) {
            return Err(Error::Malformed);
        }
        let keys = Keys::derive(key, &bytes[..PREFIX_LEN], nonce)?;
        if !ct_eq(commitment, keys.commitment()) {
            return Err(Error::Rejected);
        }
        let mut clear = SecretBytes::zeroed(state.len());
        clear.expose_mut().copy_from_slice(state);
        let header = &bytes[..HEADER_LEN];
        XChaCha20Poly1305::open_once(keys.subkey(), nonce, header, clear.expose_mut(), tag)?;
        let state = codec::decode(clear.expose(), mode, &limits)?;
        Ok(Self::of_state(state, Loaded { id, mode, epoch }, limits))
    }

    pub(crate) fn of_state(state: State, loaded: Loaded, limits: Limits) -> Self {
        let set_aside = 0;
        Self {
            id: loaded.id,
            mode: loaded.mode,
            transcript: state.transcript,
            limits,
            incarnation: [0; 8],
            standing: Standing {
                epoch: loaded.epoch,
                set_aside,
                rolled_back: false,
            },
            keys: state.keys,
            sending: state.sending,
            receiving: state.receiving,
            old: state.old,
            stored: state.stored,
        }
    }
}

/// What stands before the state.
pub(crate) struct Loaded {
    pub(crate) id: SessionId,
    pub(crate) mode: Mode,
    pub(crate) epoch: u64,
}

/// Subkey and commitment of one save.
struct Keys(Secret<64>);

impl Keys {
    fn derive(key: &StateKey, prefix: &[u8], nonce: &ExtendedNonce) -> Result<Self, Error> {
        let made = Secret::try_from_fill(|made| {
            expand_sha256(key.0.expose(), &[LABEL, prefix, nonce], made)
        })?;
        Ok(Self(made))
    }

    fn subkey(&self) -> &[u8; 32] {
        &self.0.expose().as_chunks::<32>().0[0]
    }

    fn commitment(&self) -> &[u8; 32] {
        &self.0.expose().as_chunks::<32>().0[1]
    }
}
