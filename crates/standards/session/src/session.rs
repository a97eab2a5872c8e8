//! One end of a session: content in, frames out, and back.

use keywright_clock::WallTime;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::SIGNATURE_LEN;
use keywright_ratchet::{Incarnation, Message, Mode, Packet, Session as Ratchet, SessionId};
use keywright_secret::{Secret, SecretBytes, wipe_vec};
use keywright_wire::{HeaderForm, MessageFrame, padding};

use crate::opening::{About, Opening, SessionEnds, Signed};
use crate::x3dh::Agreed;
use crate::{Card, Error, First};

/// Which end of the session this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a session has two ends")]
pub enum Role {
    /// The end that began.
    Initiator,
    /// The owner of the record.
    Responder,
}

/// What came out of a frame.
#[derive(Debug)]
#[non_exhaustive]
pub struct Received {
    /// The content.
    pub content: SecretBytes,
    /// Whether the sender of a hedged session was loaded anew since the frame before.
    pub incarnation: Incarnation,
}

/// One end of a conversation.
pub struct Session {
    pub(crate) ratchet: Ratchet,
    pub(crate) about: About,
}

impl Session {
    pub(crate) fn initiated(
        agreed: Agreed,
        ends: &SessionEnds,
        opening: Opening,
        (prekey, random): (&[u8; 32], &mut RandomStream),
    ) -> Result<Self, Error> {
        let start = ends.start(agreed.secret, &agreed.transcript);
        let ratchet = Ratchet::initiate(start, prekey, random)?;
        let about = ends.about(agreed.binder, opening);
        Ok(Self { ratchet, about })
    }

    pub(crate) fn responded(
        agreed: Agreed,
        ends: &SessionEnds,
        opening: Opening,
        (prekey, random): (X25519PrivateKey, &mut RandomStream),
    ) -> Result<Self, Error> {
        let start = ends.start(agreed.secret, &agreed.transcript);
        let ratchet = Ratchet::respond(start, prekey, random)?;
        let about = ends.about(agreed.binder, opening);
        Ok(Self { ratchet, about })
    }

    /// The next frame. `context` is authenticated and not sent. In [`Mode::Fenced`] the session must have
    /// been saved with numbers set aside.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::NothingReceived`], [`Error::SaveFirst`], [`Error::ChainUsedUp`],
    /// [`Error::StateRolledBack`], [`Error::Rejected`] if the peer's prekey makes no secret,
    /// [`Error::Backend`].
    pub fn send(
        &mut self,
        content: &[u8],
        context: &[u8],
        now: WallTime,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        let mut text = self.padded(content)?;
        let head: &[u8] = match &self.about.opening {
            Opening::Sent { head, .. } => head,
            Opening::Answered | Opening::Received { .. } => &[],
        };
        let length = self.ratchet.packet_len(text.len());
        let mut frame = vec![0; head.len() + length];
        let (front, packet) = frame.split_at_mut(head.len());
        front.copy_from_slice(head);
        let message = Message {
            text: &text,
            context,
        };
        let sealed = self.ratchet.seal(&message, now, random, packet);
        wipe_vec(&mut text);
        sealed?;
        Ok(frame)
    }

    /// Bytes in the next frame around content of this length: to be asked before [`Session::send`], because
    /// sending cannot be taken back.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub fn frame_len(&self, content: usize) -> Result<usize, Error> {
        let (head, signature) = match &self.about.opening {
            Opening::Sent { head, signature } => {
                (head.len(), signature.map_or(0, |bytes| bytes.len()))
            }
            Opening::Answered | Opening::Received { .. } => (0, 0),
        };
        let content = content.checked_add(signature).ok_or(Error::TooLong)?;
        let padded = padding::padded_len(content).map_err(|_| Error::TooLong)?;
        Ok(head + self.ratchet.packet_len(padded))
    }

    /// The content of a frame. Nothing changes unless it is authentic.
    ///
    /// # Errors
    /// [`Error::Malformed`] by what everybody can see, [`Error::TooLong`] for a context beyond its limit,
    /// [`Error::StateRolledBack`], and [`Error::Rejected`] for everything else.
    pub fn receive(
        &mut self,
        frame: &[u8],
        context: &[u8],
        now: WallTime,
    ) -> Result<Received, Error> {
        let bytes = self.behind_head(frame);
        // The frame of a message and the packet of the ratchet are the same bytes; a length that no padding
        // makes is refused before anything is opened.
        MessageFrame::parse(bytes, self.form())?;
        let is_first = bytes.len() < frame.len();
        let received = self.open(&Packet { bytes, context }, now)?;
        if let Opening::Sent { .. } = self.about.opening {
            self.about.opening = Opening::Answered;
        }
        match (is_first, self.about.signed) {
            (true, First::Signed) => received.without(SIGNATURE_LEN),
            _ => Ok(received),
        }
    }

    /// The first message of all, whose signature is verified here if the record demands one.
    pub(crate) fn receive_first(
        &mut self,
        packet: &Packet<'_>,
        signed: &Signed<'_>,
        now: WallTime,
    ) -> Result<Received, Error> {
        MessageFrame::parse(packet.bytes, self.form())?;
        let received = self.open(packet, now)?;
        if self.about.signed == First::Deniable {
            return Ok(received);
        }
        let content = received.content.expose();
        let signature = content.first_chunk().ok_or(Error::Rejected)?;
        let verified = signed.key.verify(&signed.bytes, signature);
        verified.map_err(|_| Error::Rejected)?;
        received.without(SIGNATURE_LEN)
    }

    fn open(&mut self, packet: &Packet<'_>, now: WallTime) -> Result<Received, Error> {
        let mut text = SecretBytes::zeroed(self.ratchet.text_len(packet.bytes.len()));
        let opened = self.ratchet.open(packet, now, text.expose_mut())?;
        // Only a peer who pads otherwise gets here with something else.
        let content = padding::unpad(text.expose()).map_err(|_| Error::Rejected)?;
        Ok(Received {
            content: SecretBytes::from_vec(content.to_vec()),
            incarnation: opened.incarnation,
        })
    }

    /// The frame without the head that the initiator's first frames carry.
    fn behind_head<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let Opening::Received { length, digest } = &self.about.opening else {
            return frame;
        };
        let head = usize::try_from(*length).ok();
        match head.and_then(|length| frame.split_at_checked(length)) {
            Some((head, rest)) if sha256(head) == *digest => rest,
            _ => frame,
        }
    }

    fn padded(&self, content: &[u8]) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        let put = match &self.about.opening {
            Opening::Sent {
                signature: Some(signature),
                ..
            } => {
                let mut joined = [&signature[..], content].concat();
                let put = padding::pad_into(&joined, &mut text);
                wipe_vec(&mut joined);
                put
            }
            _ => padding::pad_into(content, &mut text),
        };
        put.map_err(|_| Error::TooLong)?;
        Ok(text)
    }

    fn form(&self) -> HeaderForm {
        match self.ratchet.mode() {
            Mode::Fenced => HeaderForm::Fenced,
            Mode::Hedged => HeaderForm::Hedged,
        }
    }

    /// The session's name in counters and folders. The other end has another.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        self.ratchet.id()
    }

    /// How it is protected from copies of its state.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.ratchet.mode()
    }

    /// Which end this is.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.about.role
    }

    /// A secret of both ends that stands for the handshake and everything that it agreed on.
    #[must_use]
    pub const fn binder(&self) -> &Secret<32> {
        &self.about.binder
    }

    /// The other end's card.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the state that the session was loaded from had none.
    pub fn peer(&self) -> Result<Card, Error> {
        Card::parse(&self.about.peer)
    }

    /// Message keys that are stored for messages that have not come.
    #[must_use]
    pub const fn stored_keys(&self) -> usize {
        self.ratchet.stored_keys()
    }

    /// Whether the frames still carry the handshake: no answer has come.
    #[must_use]
    pub const fn is_unanswered(&self) -> bool {
        matches!(self.about.opening, Opening::Sent { .. })
    }
}

impl Received {
    /// Takes off what stands before the content.
    fn without(self, front: usize) -> Result<Self, Error> {
        let content = self.content.expose().get(front..).ok_or(Error::Rejected)?;
        Ok(Self {
            content: SecretBytes::from_vec(content.to_vec()),
            incarnation: self.incarnation,
        })
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("id", self.id())
            .field("role", &self.about.role)
            .field("mode", &self.mode())
            .finish_non_exhaustive()
    }
}
