//! Two ends of a session, and what the tests do with them.

use std::collections::HashMap;

use keywright_clock::WallTime;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{
    Claim, Context, Error, Fence, Limits, Message, Mode, Opened, Packet, Reserve, Session,
    SessionId, SessionSecret, Start, StateKey, Unavailable, hazmat,
};
use keywright_secret::Secret;

pub(crate) const NOW: WallTime = WallTime::from_unix_seconds(1_800_000_000);
pub(crate) const MODES: [Mode; 2] = [Mode::Fenced, Mode::Hedged];

/// The 32 bytes from which the sessions of these tests are expanded.
pub(crate) const SHARED: [u8; 32] = [0x5A; 32];

/// A counter per session, as the contract says.
#[derive(Default)]
pub(crate) struct Counters {
    values: HashMap<SessionId, u64>,
    pub(crate) unavailable: bool,
}

impl Fence for Counters {
    fn claim(&mut self, session: &SessionId, value: u64) -> Result<Claim, Unavailable> {
        if self.unavailable {
            return Err(Unavailable);
        }
        let last = self.values.entry(*session).or_default();
        if value != *last + 1 {
            return Ok(Claim::Refused);
        }
        *last = value;
        Ok(Claim::Granted)
    }
}

/// One end, with what is around it.
pub(crate) struct Party {
    pub(crate) session: Session,
    pub(crate) counters: Counters,
    pub(crate) random: RandomStream,
}

pub(crate) fn state_key() -> StateKey {
    StateKey::new(secret(0x11))
}

pub(crate) fn secret<const N: usize>(byte: u8) -> Secret<N> {
    Secret::from_fill(|bytes| bytes.fill(byte))
}

pub(crate) fn start(mode: Mode) -> Start<'static> {
    Start {
        secret: SessionSecret::expand(&Secret::copy_from(&SHARED).unwrap()).unwrap(),
        context: Context {
            initiator: b"alice",
            responder: b"bob",
            transcript: b"transcript",
        },
        mode,
    }
}

pub(crate) fn prekey() -> X25519PrivateKey {
    X25519PrivateKey::from_bytes(&secret(0x22)).unwrap()
}

pub(crate) fn pair_of(one: Start<'_>, other: Start<'_>) -> (Party, Party) {
    let mut random = RandomStream::new().unwrap();
    let public = prekey().public_bytes().unwrap();
    let one = Session::initiate(one, &public, &mut random).unwrap();
    let other = Session::respond(other, prekey(), &mut random).unwrap();
    (Party::of(one), Party::of(other))
}

pub(crate) fn pair(mode: Mode) -> (Party, Party) {
    pair_of(start(mode), start(mode))
}

/// A pair that has already spoken both ways; the next to send must turn.
pub(crate) fn acquainted(mode: Mode) -> (Party, Party) {
    let (mut alice, mut bob) = pair(mode);
    let hello = alice.seal(b'h', 64);
    bob.open(&hello).unwrap();
    let answer = bob.seal(b'a', 64);
    alice.open(&answer).unwrap();
    (alice, bob)
}

impl Party {
    pub(crate) fn of(session: Session) -> Self {
        Self {
            session,
            counters: Counters::default(),
            random: RandomStream::new().unwrap(),
        }
    }

    /// Seals `length` times `byte`; saves first where that is asked for.
    pub(crate) fn seal(&mut self, byte: u8, length: usize) -> Vec<u8> {
        match self.try_seal(&vec![byte; length], b"context") {
            Err(Error::SaveFirst) => {
                self.save(Reserve::Numbers).unwrap();
                self.try_seal(&vec![byte; length], b"context").unwrap()
            }
            other => other.unwrap(),
        }
    }

    pub(crate) fn try_seal(&mut self, text: &[u8], context: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; self.session.packet_len(text.len())];
        let message = Message { text, context };
        let length = self
            .session
            .seal(&message, NOW, &mut self.random, &mut out)?;
        assert_eq!(length, out.len());
        Ok(out)
    }

    pub(crate) fn save(&mut self, reserve: Reserve) -> Result<Vec<u8>, Error> {
        let key = state_key();
        match self.session.mode() {
            Mode::Fenced => self
                .session
                .save(&key, reserve, &mut self.counters, &mut self.random),
            Mode::Hedged => self.session.save_hedged(&key, &mut self.random),
        }
    }

    /// Saves, forgets and loads.
    pub(crate) fn reload(&mut self) {
        let bytes = self.save(Reserve::Nothing).unwrap();
        self.session = self.load(&bytes).unwrap();
    }

    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<Session, Error> {
        let (key, limits) = (state_key(), Limits::standard());
        match self.session.mode() {
            Mode::Fenced => {
                Session::load(bytes, &key, limits, &mut self.counters, &mut self.random)
                    .map(|(session, _)| session)
            }
            Mode::Hedged => Session::load_hedged(bytes, &key, limits, &mut self.random),
        }
    }

    pub(crate) fn open(&mut self, packet: &[u8]) -> Result<Vec<u8>, Error> {
        self.open_at(packet, NOW).map(|(text, _)| text)
    }

    pub(crate) fn open_at(
        &mut self,
        packet: &[u8],
        now: WallTime,
    ) -> Result<(Vec<u8>, Opened), Error> {
        let mut text = vec![0; self.session.text_len(packet.len())];
        let packet = Packet {
            bytes: packet,
            context: b"context",
        };
        let opened = self.session.open(&packet, now, &mut text)?;
        assert_eq!(opened.length, text.len());
        Ok((text, opened))
    }

    pub(crate) fn state(&self) -> Vec<u8> {
        hazmat::state(&self.session).unwrap().expose().to_vec()
    }

    /// The packet is refused as such, and not a byte of the state changes.
    #[track_caller]
    pub(crate) fn refuses(&mut self, packet: &[u8]) {
        let before = self.state();
        assert_eq!(self.open(packet).err(), Some(Error::Rejected));
        assert!(self.state() == before, "a refused packet changed the state");
    }
}

/// Both sides still understand each other, whoever begins.
pub(crate) fn still_talk(alice: &mut Party, bob: &mut Party) {
    for byte in [b'1', b'2'] {
        let packet = alice.seal(byte, 100);
        assert_eq!(bob.open(&packet).unwrap(), [byte; 100]);
        let packet = bob.seal(byte, 200);
        assert_eq!(alice.open(&packet).unwrap(), [byte; 200]);
    }
}
