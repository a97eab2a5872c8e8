//! The promises of the decoders over arbitrary bytes, as functions that fuzz targets and plain tests both
//! call.

use std::sync::OnceLock;

use keywright_clock::WallTime;
use keywright_hpke::{Kem, Policy, PrivateKey, Suite};
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};

use crate::{
    Bundle, Card, Error, First, Handshake, Identity, Mode, OneTime, Peer, PrekeySecrets, Record,
    Responder, Session, Setting, StoreKey, Terms, named_record,
};

/// The time at which everything here happens.
pub const NOW: WallTime = WallTime::from_unix_seconds(1_000_000);

/// A responder and an initiator whose secrets everybody knows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Scene {
    /// The owner of the record.
    pub responder: Responder,
    /// Who begins.
    pub initiator: Identity,
    /// Suites.
    pub policy: Policy,
}

/// Both parties.
///
/// # Errors
/// [`Error::Backend`].
pub fn scene(first: First) -> Result<Scene, Error> {
    let terms = Terms {
        suites: &[Suite::X25519.ids()],
        mode: Mode::Hedged,
        first,
        not_before: NOW,
        not_after: WallTime::from_unix_seconds(2_000_000),
    };
    let secrets = PrekeySecrets {
        ratchet: secret(5),
        lattice: Some(secret(6)),
    };
    Ok(Scene {
        responder: Responder::publish(identity(b"responder", 1)?, &secrets, &terms)?,
        initiator: identity(b"initiator", 3)?,
        policy: Policy::default(),
    })
}

fn secret<const N: usize>(byte: u8) -> Secret<N> {
    Secret::from_fill(|bytes| bytes.fill(byte))
}

fn identity(name: &[u8], byte: u8) -> Result<Identity, Error> {
    let key = SecretBytes::from_vec(vec![byte + 1; 32]);
    let key = PrivateKey::from_bytes(Kem::X25519HkdfSha256, &key)?;
    Identity::from_keys(name, &secret(byte), key)
}

/// One of each kind of bytes that are read here.
///
/// # Errors
/// [`Error::Backend`].
pub fn corpus() -> Result<Vec<Vec<u8>>, Error> {
    let mut random = RandomStream::new()?;
    let mut scene = scene(First::Signed)?;
    let one_time = scene.responder.one_time_from(&secret(8))?;
    let mut corpus = vec![
        scene.initiator.card().to_bytes(),
        scene.responder.record().as_bytes().to_vec(),
        one_time.as_bytes().to_vec(),
    ];
    let setting = Setting {
        policy: &scene.policy,
        application: b"",
        now: NOW,
    };
    for handshake in [Handshake::X3dh, Handshake::AuthPskPq] {
        let bundle = Bundle {
            record: scene.responder.record(),
            one_time: Some(&one_time),
        };
        let mut session = scene
            .initiator
            .initiate(&bundle, handshake, &setting, &mut random)?;
        corpus.push(session.send(b"hello", b"", NOW, &mut random)?);
        corpus.push(session.save_hedged(&StoreKey::new(secret(9)), &mut random)?);
    }
    Ok(corpus)
}

/// What is read is written the same way, what does not open leaves the responder as he was, and nothing
/// panics.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn foreign(data: &[u8]) {
    static RECORD: OnceLock<Option<Record>> = OnceLock::new();
    if let Ok(card) = Card::parse(data) {
        assert_eq!(card.to_bytes(), data, "a card with two spellings");
    }
    if let Ok(record) = Record::parse(data) {
        assert_eq!(record.as_bytes(), data, "a record with two spellings");
    }
    let record = RECORD.get_or_init(|| {
        let scene = scene(First::Signed).ok()?;
        Record::parse(scene.responder.record().as_bytes()).ok()
    });
    if let Some(Ok(one_time)) = record.as_ref().map(|record| OneTime::parse(data, record)) {
        assert_eq!(one_time.as_bytes(), data, "a prekey with two spellings");
    }
    if named_record(data).is_ok() {
        begin(data);
    }
    let mut random = RandomStream::unseeded();
    let key = StoreKey::new(secret(9));
    if let Ok(mut session) = Session::load_hedged(data, &key, &mut random) {
        let again = session.save_hedged(&key, &mut random);
        assert!(again.is_ok(), "a state that loads and does not save");
    }
}

fn begin(data: &[u8]) {
    let mut random = RandomStream::unseeded();
    let Ok(mut scene) = scene(First::Signed) else {
        return;
    };
    let made = scene.responder.one_time_from(&secret(8)).is_ok();
    let setting = Setting {
        policy: &scene.policy,
        application: b"",
        now: NOW,
    };
    let card = scene.initiator.card();
    let known = |id| (id == card.id()).then_some(Peer { card, psk: None });
    let accepted = scene
        .responder
        .accept(data, b"", &known, (&setting, &mut random));
    let left = usize::from(made && accepted.is_err());
    let own = named_record(data).is_ok_and(|id| id == scene.responder.record().id());
    if !own {
        assert_eq!(
            scene.responder.one_time_left(),
            left,
            "a prekey was used up"
        );
    }
}
