//! Two parties, and what the tests do with them.

use keywright_clock::WallTime;
use keywright_hpke::{Kem, Policy, Psk, PskSecret, Suite};
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_session::{
    Accepted, Bundle, Error, First, Handshake, Identity, Mode, OneTime, Peer, PrekeySecrets,
    Responder, Session, Setting, StoreKey, Terms,
};

pub(crate) const NOW: WallTime = WallTime::from_unix_seconds(1_800_000_000);
pub(crate) const END: WallTime = WallTime::from_unix_seconds(1_800_100_000);
pub(crate) const CONTEXT: &[u8] = b"context";

pub(crate) fn secret<const N: usize>(byte: u8) -> Secret<N> {
    Secret::from_fill(|bytes| bytes.fill(byte))
}

pub(crate) fn store_key() -> StoreKey {
    StoreKey::new(secret(0x44))
}

pub(crate) fn psk() -> Psk<'static> {
    Psk::new(PskSecret(&[0x77; 32]), b"shared before").unwrap()
}

pub(crate) fn identity(name: &str) -> Identity {
    Identity::generate(name.as_bytes(), Kem::X25519HkdfSha256).unwrap()
}

/// What a record says in these tests unless a test says otherwise.
pub(crate) fn terms<'a>(suites: &'a [[u16; 3]], mode: Mode, first: First) -> Terms<'a> {
    Terms {
        suites,
        mode,
        first,
        not_before: NOW,
        not_after: END,
    }
}

/// Whether the record has an ML-KEM key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lattice {
    With,
    Without,
}

pub(crate) struct Scene {
    pub(crate) policy: Policy,
    pub(crate) alice: Identity,
    pub(crate) bob: Responder,
    pub(crate) random: RandomStream,
}

impl Scene {
    pub(crate) fn new(mode: Mode, first: First, lattice: Lattice) -> Self {
        let secrets = PrekeySecrets::generate().unwrap();
        let secrets = PrekeySecrets {
            lattice: secrets.lattice.filter(|_| lattice == Lattice::With),
            ..secrets
        };
        let suites = [Suite::X25519.ids()];
        let bob = Responder::publish(identity("bob"), &secrets, &terms(&suites, mode, first));
        Self {
            policy: Policy::default(),
            alice: identity("alice"),
            bob: bob.unwrap(),
            random: RandomStream::new().unwrap(),
        }
    }

    pub(crate) fn hedged() -> Self {
        Self::new(Mode::Hedged, First::Deniable, Lattice::With)
    }

    pub(crate) fn setting(&self) -> Setting<'_> {
        setting(&self.policy)
    }

    pub(crate) fn initiate(
        &mut self,
        handshake: Handshake<'_>,
        one_time: Option<&OneTime>,
    ) -> Result<Session, Error> {
        let bundle = Bundle {
            record: self.bob.record(),
            one_time,
        };
        let setting = setting(&self.policy);
        self.alice
            .initiate(&bundle, handshake, &setting, &mut self.random)
    }

    pub(crate) fn accept(&mut self, frame: &[u8]) -> Result<Accepted, Error> {
        self.accept_for(frame, b"application")
    }

    pub(crate) fn accept_for(
        &mut self,
        frame: &[u8],
        application: &[u8],
    ) -> Result<Accepted, Error> {
        let card = self.alice.card();
        let known = |id| {
            let peer = Peer {
                card,
                psk: Some(psk()),
            };
            (id == card.id()).then_some(peer)
        };
        let setting = Setting {
            application,
            ..setting(&self.policy)
        };
        self.bob
            .accept(frame, CONTEXT, &known, (&setting, &mut self.random))
    }

    /// Both ends after one message each way.
    pub(crate) fn acquainted(&mut self) -> (Session, Session) {
        let mut one = self.initiate(Handshake::X3dh, None).unwrap();
        let hello = self.send(&mut one, b"hello");
        let mut other = self.accept(&hello).unwrap().session;
        let answer = self.send(&mut other, b"answer");
        receive(&mut one, &answer, b"answer");
        (one, other)
    }

    pub(crate) fn send(&mut self, session: &mut Session, content: &[u8]) -> Vec<u8> {
        session
            .send(content, CONTEXT, NOW, &mut self.random)
            .unwrap()
    }
}

pub(crate) fn setting(policy: &Policy) -> Setting<'_> {
    Setting {
        policy,
        application: b"application",
        now: NOW,
    }
}

#[track_caller]
pub(crate) fn receive(session: &mut Session, frame: &[u8], content: &[u8]) {
    let received = session.receive(frame, CONTEXT, NOW).unwrap();
    assert_eq!(received.content.expose(), content);
}

/// A name for an error, because errors of the system cannot be compared.
pub(crate) fn kind<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}
