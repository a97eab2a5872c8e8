//! The committed vectors of the second implementation: all of them, in every build.

use keywright_clock::WallTime;
use keywright_hpke::{Kem, Policy, PrivateKey, Psk, PskSecret, Suite};
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_session::{
    First, Identity, Mode, Peer, PrekeySecrets, Responder, Session, Setting, StoreKey, Terms,
    named_record,
};
use keywright_vectors::{Record, Tally, repository};

fn cases() -> Vec<Record> {
    let path = repository().join("vectors/golden/session/handshakes.json");
    let value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let file = Record::new("handshakes", &value).unwrap();
    let cases = file.list("cases").unwrap();
    assert_eq!(cases.len(), file.number::<usize>("valid").unwrap());
    cases
}

fn secret<const N: usize>(case: &Record, field: &str) -> Option<Secret<N>> {
    Secret::copy_from(&case.hex(field).unwrap())
}

fn identity(case: &Record, side: &str) -> Identity {
    let side = case.object(side).unwrap();
    let key = SecretBytes::from_vec(side.hex("agreement").unwrap());
    let key = PrivateKey::from_bytes(Kem::X25519HkdfSha256, &key).unwrap();
    let seed = secret(&side, "seed").unwrap();
    Identity::from_keys(&side.hex("name").unwrap(), &seed, key).unwrap()
}

fn responder(case: &Record) -> Responder {
    let secrets = PrekeySecrets {
        ratchet: secret(case, "ratchet").unwrap(),
        lattice: secret(case, "lattice"),
    };
    let time = |field| WallTime::from_unix_seconds(case.number(field).unwrap());
    let suites = [Suite::X25519.ids()];
    let terms = Terms {
        suites: &suites,
        mode: Mode::Hedged,
        first: match case.truth("signed").unwrap() {
            true => First::Signed,
            false => First::Deniable,
        },
        not_before: time("not_before"),
        not_after: time("not_after"),
    };
    Responder::publish(identity(case, "responder"), &secrets, &terms).unwrap()
}

fn frames(case: &Record, field: &str) -> Vec<Vec<u8>> {
    let list = case.field(field).unwrap().as_array().unwrap();
    let bytes = |text: &serde_json::Value| keywright_encoding::hex::decode(text.as_str().unwrap());
    list.iter().map(|text| bytes(text).unwrap()).collect()
}

#[test]
fn records_first_frames_and_states_are_those_of_the_second_implementation() {
    let mut tally = Tally::new("golden-session-handshakes");
    for case in cases() {
        let name = case.text("name").unwrap();
        let mut bob = responder(&case);
        let same = bob.record().as_bytes() == case.hex("record").unwrap();
        tally.check(format!("{name} record"), same);
        if let Some(secret) = secret(&case, "one_time") {
            let made = bob.one_time_from(&secret).unwrap();
            let same = made.as_bytes() == case.hex("one_time_prekey").unwrap();
            tally.check(format!("{name} one-time prekey"), same);
        }
        let opened = accepts(&case, &mut bob);
        tally.check(format!("{name} frames"), opened == Some(true));
        tally.check(format!("{name} state"), loads(&case));
    }
    tally.finish().unwrap();
}

/// Both first frames open, and what both ends derive is what the file says.
fn accepts(case: &Record, bob: &mut Responder) -> Option<bool> {
    let (policy, mut random) = (Policy::default(), RandomStream::new().ok()?);
    let alice = identity(case, "initiator");
    let (psk, psk_id) = (case.hex("psk").unwrap(), case.hex("psk_id").unwrap());
    let known = |id| {
        let peer = Peer {
            card: alice.card(),
            psk: Psk::new(PskSecret(&psk), &psk_id).ok(),
        };
        (id == alice.card().id()).then_some(peer)
    };
    let application = case.hex("application").unwrap();
    let now = WallTime::from_unix_seconds(case.number("now").unwrap());
    let setting = Setting {
        policy: &policy,
        application: &application,
        now,
    };
    let (frames, contents) = (frames(case, "frames"), frames(case, "contents"));
    named_record(&frames[0]).ok()?;
    let accepted = bob
        .accept(&frames[0], b"context", &known, (&setting, &mut random))
        .ok()?;
    let mut session = accepted.session;
    let second = session.receive(&frames[1], b"context", now).ok()?;
    Some(
        accepted.first.content.expose() == contents[0]
            && second.content.expose() == contents[1]
            && *session.binder().expose() == case.array("binder").unwrap()
            && *session.id().as_bytes() == case.array("responder_id").unwrap(),
    )
}

/// The responder's state loads, and the session goes on from it.
fn loads(case: &Record) -> bool {
    let mut random = RandomStream::unseeded();
    let key = StoreKey::new(secret(case, "store_key").unwrap());
    let loaded = Session::load_hedged(&case.hex("state").unwrap(), &key, &mut random);
    let Ok(mut session) = loaded else {
        return false;
    };
    let now = WallTime::from_unix_seconds(case.number("now").unwrap());
    let (frames, contents) = (frames(case, "frames"), frames(case, "contents"));
    let again = session.receive(&frames[1], b"context", now);
    let third = session.receive(&frames[2], b"context", now);
    again.is_err()
        && third.is_ok_and(|third| third.content.expose() == contents[2])
        && *session.binder().expose() == case.array("binder").unwrap()
}
