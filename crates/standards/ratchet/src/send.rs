//! Sending: the turn that is due, a step of the chain, the packet.

use keywright_clock::WallTime;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::random::RandomStream;
use keywright_secret::wipe;

use crate::key::{Key, RatchetKey, RootStep, step};
use crate::limits::CHAIN_LEN;
use crate::packet::{self, Bound, Header, SealingKeys};
use crate::session::{Sending, SendingChain};
use crate::{Error, MAX_CONTEXT_LEN, MAX_TEXT_LEN, MIN_TEXT_LEN, Message, Mode, Session};

impl Session {
    /// Seals a message into the front of `out` and returns the packet's length, which is
    /// [`Session::packet_len`]. `random` is used when a turn of the ratchet is due.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], [`Error::TooShort`], [`Error::TooLong`], [`Error::NothingReceived`],
    /// [`Error::SaveFirst`] and [`Error::ChainUsedUp`] before anything changes;
    /// [`Error::PeerKey`] if the peer's prekey makes no secret; [`Error::StateRolledBack`] if a save failed
    /// for that reason; [`Error::Backend`].
    pub fn seal(
        &mut self,
        message: &Message<'_>,
        now: WallTime,
        random: &mut RandomStream,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.seal_drawing(message, now, &mut || new_key(random), out)
    }

    /// As [`Session::seal`], with another source of ratchet keys.
    pub(crate) fn seal_drawing(
        &mut self,
        message: &Message<'_>,
        now: WallTime,
        draw: &mut dyn FnMut() -> Result<X25519PrivateKey, Error>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.require_standing()?;
        let length = self.packet_len(message.text.len());
        let out = exact(message, length, out)?;
        self.require_number()?;
        self.expire(now);
        self.take_due_turn(draw)?;
        let sealed = self.seal_next(message, out);
        if sealed.is_err() {
            wipe(out);
        }
        sealed.map(|()| length)
    }

    /// Whether a message may be sent now.
    fn require_number(&self) -> Result<(), Error> {
        let (number, first) = match &self.sending {
            Sending::Waiting { .. } => return Err(Error::NothingReceived),
            Sending::Due { .. } => (0, true),
            Sending::Open(chain) => (chain.number, false),
        };
        if number >= CHAIN_LEN {
            return Err(Error::ChainUsedUp);
        }
        match self.mode {
            Mode::Fenced if first || number >= self.standing.set_aside => Err(Error::SaveFirst),
            Mode::Fenced | Mode::Hedged => Ok(()),
        }
    }

    /// The sending half of a step: a new key, an agreement, a step of the root.
    pub(crate) fn take_due_turn(
        &mut self,
        draw: &mut dyn FnMut() -> Result<X25519PrivateKey, Error>,
    ) -> Result<(), Error> {
        let Sending::Due { remote, previous } = &self.sending else {
            return Ok(());
        };
        let own = RatchetKey::new(draw()?)?;
        let shared = own.agree(remote)?;
        let mut made = RootStep::empty();
        made.derive(&self.keys.root, &shared, &self.transcript)?;
        let mut chain = Box::new(SendingChain {
            own,
            chain: Key::empty(),
            header: Key::empty(),
            number: 0,
            previous: *previous,
        });
        chain.chain.copy_from(&made.chain);
        chain.header.copy_from(&self.keys.next_sending);
        self.keys.root.copy_from(&made.root);
        self.keys.next_sending.copy_from(&made.next_header);
        self.sending = Sending::Open(chain);
        self.standing.set_aside = 0;
        Ok(())
    }

    fn seal_next(&mut self, message: &Message<'_>, out: &mut [u8]) -> Result<(), Error> {
        let Sending::Open(sending) = &mut self.sending else {
            return Err(Error::NothingReceived);
        };
        let header = Header {
            key: *sending.own.public(),
            previous: sending.previous,
            number: sending.number,
            incarnation: self.incarnation,
        };
        let bound = Bound {
            mode: self.mode,
            transcript: &self.transcript,
            context: message.context,
        };
        let (mut chain, mut body) = (Key::empty(), Key::empty());
        chain.copy_from(&sending.chain);
        step(&mut chain, &mut body);
        let keys = SealingKeys {
            header: &sending.header,
            body: &body,
        };
        packet::seal(&keys, &header, &bound, message.text, out)?;
        sending.chain.copy_from(&chain);
        sending.number += 1;
        Ok(())
    }
}

/// The front of `out` that becomes the packet.
fn exact<'a>(
    message: &Message<'_>,
    length: usize,
    out: &'a mut [u8],
) -> Result<&'a mut [u8], Error> {
    if message.text.len() < MIN_TEXT_LEN {
        return Err(Error::TooShort);
    }
    if message.text.len() > MAX_TEXT_LEN || message.context.len() > MAX_CONTEXT_LEN {
        return Err(Error::TooLong);
    }
    out.get_mut(..length)
        .ok_or(Error::BufferTooSmall { needed: length })
}

pub(crate) fn new_key(random: &mut RandomStream) -> Result<X25519PrivateKey, Error> {
    Ok(X25519PrivateKey::from_bytes(&random.secret()?)?)
}
