//! Handshakes of sessions with everything around them: records read before, frames, padding, the ratchet.
//!
//! | row | one operation |
//! |---|---|
//! | `session.x3dh.initiate` | a session is begun by X3DH and its first frame of 64 bytes written |
//! | `session.x3dh.accept` | that frame is read and the session begun on the other side |
//! | `session.x3dh-pq...` | the same with an ML-KEM prekey in the record |
//! | `session.auth-psk...` | the same by HPKE AuthPSK with a secret that both have |
//! | `session.authpsk-pq...` | the same by AuthPSK-PQ |
//!
//! No one-time prekeys: those would be used up. A responder remembers first frames and refuses a copy; here he
//! is made to forget before each, which takes a few entries out of a tree and is timed. Initiating is judged by
//! the other side's accepting, accepting by the content.

use keywright_clock::WallTime;
use keywright_hpke::{Kem, Policy, Psk, PskSecret, Suite};
use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::random::RandomStream;
use keywright_session::{
    Bundle, Error, First, Handshake, Identity, Mode, Peer, PrekeySecrets, Responder, Setting,
    Terms, hazmat,
};

use super::row::{Row, refused, rejected};
use super::worker::{Act, Ring, answered, rotating};

const NOW: WallTime = WallTime::from_unix_seconds(1_800_000_000);
const END: WallTime = WallTime::from_unix_seconds(1_800_100_000);
const PSK: &[u8; 32] = b"a key that both have had before!";
const TEXT: usize = 64;
const RING_LOG2: u32 = 3;

/// The handshake of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    AuthPsk,
    AuthPskPq,
    X3dh,
    X3dhPq,
}

impl Way {
    fn handshake(self) -> Result<Handshake<'static>, Error> {
        Ok(match self {
            Self::AuthPsk => Handshake::AuthPsk(psk()?),
            Self::AuthPskPq => Handshake::AuthPskPq,
            Self::X3dh | Self::X3dhPq => Handshake::X3dh,
        })
    }
}

fn psk() -> Result<Psk<'static>, Error> {
    Ok(Psk::new(PskSecret(PSK), b"id")?)
}

/// Both sides, and what they bring along.
struct Scene {
    way: Way,
    alice: Identity,
    bob: Responder,
    policy: Policy,
    random: RandomStream,
}

impl Scene {
    fn new(way: Way) -> Result<Self, Error> {
        let party = |name: &str| Identity::generate(name.as_bytes(), Kem::X25519HkdfSha256);
        let mut secrets = PrekeySecrets::generate()?;
        if matches!(way, Way::X3dh | Way::AuthPsk) {
            secrets.lattice = None;
        }
        let terms = Terms {
            suites: &[Suite::X25519.ids()],
            mode: Mode::Hedged,
            first: First::Deniable,
            not_before: NOW,
            not_after: END,
        };
        Ok(Self {
            way,
            alice: party("alice@example.org")?,
            bob: Responder::publish(party("bob@example.org")?, &secrets, &terms)?,
            policy: Policy::default(),
            random: RandomStream::new()?,
        })
    }

    fn initiate(&mut self, text: &[u8]) -> Result<Vec<u8>, Error> {
        let bundle = Bundle {
            record: self.bob.record(),
            one_time: None,
        };
        let setting = Setting {
            policy: &self.policy,
            application: b"measured",
            now: NOW,
        };
        let handshake = self.way.handshake()?;
        let mut session = self
            .alice
            .initiate(&bundle, handshake, &setting, &mut self.random)?;
        session.send(text, b"", NOW, &mut self.random)
    }

    /// The content of the first frame.
    fn accept(&mut self, frame: &[u8]) -> Result<Vec<u8>, Error> {
        hazmat::forget(&mut self.bob);
        let setting = Setting {
            policy: &self.policy,
            application: b"measured",
            now: NOW,
        };
        let psk = psk()?;
        let card = self.alice.card();
        let known = |id| {
            (id == card.id()).then_some(Peer {
                card,
                psk: Some(psk),
            })
        };
        let around = (&setting, &mut self.random);
        let accepted = self.bob.accept(frame, b"", &known, around)?;
        Ok(accepted.first.content.expose().to_vec())
    }
}

impl Act for Scene {
    type Input = Vec<u8>;
    type Output = Vec<u8>;

    #[inline]
    fn act(&mut self, text: &Vec<u8>, output: &mut Vec<u8>) -> Result<(), Fault> {
        *output = self.initiate(text).map_err(refused)?;
        Ok(())
    }

    fn is_right(&mut self, text: &Vec<u8>, output: &Vec<u8>) -> bool {
        self.accept(output).is_ok_and(|content| content == *text)
    }
}

pub(super) fn initiate(row: &Row<'_>, way: Way) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let scene = Scene::new(way).map_err(|error| row.fails(error))?;
    let ring = Ring::fill(RING_LOG2, || Ok(seeded.bytes(TEXT)))?;
    Ok(rotating(scene, ring, Vec::new()))
}

pub(super) fn accept(row: &Row<'_>, way: Way) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let mut scene = Scene::new(way).map_err(|error| row.fails(error))?;
    let ring = Ring::fill(RING_LOG2, || {
        let text = seeded.bytes(TEXT);
        let frame = scene.initiate(&text).map_err(|error| row.fails(error))?;
        Ok((frame, text))
    })?;
    let act = move |frame: &Vec<u8>, out: &mut Vec<u8>| {
        *out = scene.accept(frame).map_err(rejected)?;
        Ok(())
    };
    Ok(answered(ring, Vec::new(), act))
}
