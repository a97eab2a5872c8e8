//! A session: its state, and how it begins.
//!
//! ```text
//! initiator: Due ----send----> Open ----receive----> Due ...
//! responder: Waiting ---------------receive--------> Due ----send----> Open ----receive----> Due ...
//! ```

use std::collections::VecDeque;

use keywright_clock::WallTime;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::random::RandomStream;

use crate::key::{Key, PublicKey, RatchetKey, Transcript, thirds};
use crate::packet::{IncarnationBytes, overhead};
use crate::start::Role;
use crate::stored::StoredKeys;
use crate::{Error, Limits, Mode, SessionId, Start};

/// One end of a conversation. It cannot be cloned, and moving it moves no key.
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) mode: Mode,
    pub(crate) transcript: Transcript,
    pub(crate) limits: Limits,
    pub(crate) incarnation: IncarnationBytes,
    pub(crate) standing: Standing,
    pub(crate) keys: Box<RootKeys>,
    pub(crate) sending: Sending,
    pub(crate) receiving: Option<Box<ReceivingChain>>,
    /// Chains that were replaced while they had stored keys, oldest first.
    pub(crate) old: VecDeque<Box<ReceivingChain>>,
    pub(crate) stored: StoredKeys,
}

/// What a fenced session knows about its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The last value claimed; of a hedged session, the number of its saves.
    pub(crate) epoch: u64,
    /// Numbers of the sending chain below this one are set aside by a saved state.
    pub(crate) set_aside: u32,
    /// Another copy of this session has claimed what this one wanted to.
    pub(crate) rolled_back: bool,
}

/// The keys that a turn of the ratchet replaces.
pub(crate) struct RootKeys {
    pub(crate) root: Key,
    /// Header key of the next chain that this side sends on.
    pub(crate) next_sending: Key,
    /// Header key of the next chain that the peer sends on.
    pub(crate) next_receiving: Key,
}

impl RootKeys {
    pub(crate) fn empty() -> Box<Self> {
        Box::new(Self {
            root: Key::empty(),
            next_sending: Key::empty(),
            next_receiving: Key::empty(),
        })
    }
}

/// How far sending is.
pub(crate) enum Sending {
    /// The responder's beginning: the peer's first packet will agree with this key.
    Waiting { own: RatchetKey },
    /// A turn is due: it is taken when something is sent.
    Due {
        remote: PublicKey,
        /// Messages in the chain before.
        previous: u32,
    },
    /// There is a chain, and the peer may answer it.
    Open(Box<SendingChain>),
}

impl Sending {
    /// The key that the peer's next chain agrees with, unless it has no way to know one.
    pub(crate) const fn own(&self) -> Option<&RatchetKey> {
        match self {
            Self::Waiting { own } => Some(own),
            Self::Due { .. } => None,
            Self::Open(chain) => Some(&chain.own),
        }
    }

    /// Messages in the chain that the next turn closes.
    pub(crate) const fn length(&self) -> u32 {
        match self {
            Self::Waiting { .. } => 0,
            Self::Due { previous, .. } => *previous,
            Self::Open(chain) => chain.number,
        }
    }
}

/// A chain to send on.
pub(crate) struct SendingChain {
    pub(crate) own: RatchetKey,
    pub(crate) chain: Key,
    pub(crate) header: Key,
    /// Of the next message.
    pub(crate) number: u32,
    /// Messages in the chain before.
    pub(crate) previous: u32,
}

/// A chain to receive on; of an old one only header key and count matter.
pub(crate) struct ReceivingChain {
    /// Its place among the session's chains.
    pub(crate) order: u32,
    pub(crate) chain: Key,
    pub(crate) header: Key,
    pub(crate) remote: PublicKey,
    /// Of the next message.
    pub(crate) number: u32,
    /// Of the newest message.
    pub(crate) incarnation: IncarnationBytes,
    /// How many of the stored keys are of this chain.
    pub(crate) stored: usize,
}

impl ReceivingChain {
    pub(crate) fn empty(order: u32) -> Box<Self> {
        Box::new(Self {
            order,
            chain: Key::empty(),
            header: Key::empty(),
            remote: [0; 32],
            number: 0,
            incarnation: [0; 8],
            stored: 0,
        })
    }
}

impl Session {
    /// The side that sends first. `peer` is the responder's ratchet prekey.
    ///
    /// # Errors
    /// [`Error::TooLong`] if an identity does not fit its length, [`Error::Backend`].
    pub fn initiate(
        start: Start<'_>,
        peer: &[u8; 32],
        random: &mut RandomStream,
    ) -> Result<Self, Error> {
        let sending = Sending::Due {
            remote: *peer,
            previous: 0,
        };
        Self::begin(start, Role::Initiator, sending, random)
    }

    /// The side that answers, with the private half of its ratchet prekey.
    ///
    /// # Errors
    /// As [`Session::initiate`].
    pub fn respond(
        start: Start<'_>,
        prekey: X25519PrivateKey,
        random: &mut RandomStream,
    ) -> Result<Self, Error> {
        let own = RatchetKey::new(prekey)?;
        Self::begin(start, Role::Responder, Sending::Waiting { own }, random)
    }

    fn begin(
        start: Start<'_>,
        role: Role,
        sending: Sending,
        random: &mut RandomStream,
    ) -> Result<Self, Error> {
        let transcript = start.transcript()?;
        let [root, first, second] = thirds(&start.secret.0);
        let (next_sending, next_receiving) = match role {
            Role::Initiator => (first, second),
            Role::Responder => (second, first),
        };
        let mut keys = RootKeys::empty();
        keys.root.set(root);
        keys.next_sending.set(next_sending);
        keys.next_receiving.set(next_receiving);
        Ok(Self {
            id: Start::id(root, &transcript, role)?,
            mode: start.mode,
            transcript,
            limits: Limits::standard(),
            incarnation: draw_incarnation(start.mode, random)?,
            standing: Standing {
                epoch: 0,
                set_aside: 0,
                rolled_back: false,
            },
            keys,
            sending,
            receiving: None,
            old: VecDeque::new(),
            stored: StoredKeys::new(),
        })
    }

    /// The same session under other limits. Keys beyond them are dropped as new ones come.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The session's name in counters and stores.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// How it is protected from copies of itself.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Message keys that are stored for messages that have not come.
    #[must_use]
    pub const fn stored_keys(&self) -> usize {
        self.stored.len()
    }

    /// Bytes in the packet of a text of `text_len` bytes.
    #[must_use]
    pub const fn packet_len(&self, text_len: usize) -> usize {
        text_len.saturating_add(overhead(self.mode))
    }

    /// Bytes in the text of a packet of `packet_len` bytes; 0 if no packet is as short.
    #[must_use]
    pub const fn text_len(&self, packet_len: usize) -> usize {
        packet_len.saturating_sub(overhead(self.mode))
    }

    /// Drops the stored keys that are past their age, as sealing and opening do by the way.
    pub fn expire(&mut self, now: WallTime) {
        while let Some(order) = self.stored.remove_expired(&self.limits, now) {
            self.forget_one(order);
        }
    }

    /// One stored key of this chain is gone; an old chain goes, with its header key, after its last.
    pub(crate) fn forget_one(&mut self, order: u32) {
        if let Some(current) = self.receiving.as_mut().filter(|chain| chain.order == order) {
            current.stored -= 1;
            return;
        }
        if let Ok(place) = self.old.binary_search_by_key(&order, |chain| chain.order)
            && let Some(chain) = self.old.get_mut(place)
        {
            chain.stored -= 1;
            if chain.stored == 0 {
                self.old.remove(place);
            }
        }
    }

    pub(crate) const fn require_standing(&self) -> Result<(), Error> {
        if self.standing.rolled_back {
            return Err(Error::StateRolledBack);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .field("mode", &self.mode)
            .field("stored_keys", &self.stored.len())
            .finish_non_exhaustive()
    }
}

/// A fenced session has none: its counter sees to it that no copy sends.
pub(crate) fn draw_incarnation(
    mode: Mode,
    random: &mut RandomStream,
) -> Result<IncarnationBytes, Error> {
    match mode {
        Mode::Fenced => Ok([0; 8]),
        Mode::Hedged => Ok(random.array()?),
    }
}
