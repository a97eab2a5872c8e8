//! Our own vectors for the binder, made by a second implementation (`vectors/golden/hpke`).

use keywright_hpke::binder::{Bound, Identity, Negotiation};
use keywright_hpke::{
    Error, Kem, Mode, Policy, PrivateKey, Psk, PskSecret, PublicKey, Recipient, RecipientMode,
};
use keywright_secret::SecretBytes;
use keywright_vectors::Tally;
use keywright_vectors::golden::{Case, Golden};

fn bytes(case: &Case, name: &str) -> Vec<u8> {
    case.fields.hex(name).unwrap()
}

fn suites(case: &Case, name: &str) -> Vec<[u16; 3]> {
    serde_json::from_value(case.fields.field(name).unwrap().clone()).unwrap()
}

/// What the responder makes of the negotiation, with his own private key.
fn accepted(case: &Case) -> Result<Bound<Recipient>, Error> {
    let [offered, published] = ["offered", "published"].map(|name| suites(case, name));
    let of = |name| bytes(case, name);
    let [a_name, a_key] = ["initiator_name", "initiator_key"].map(of);
    let [b_name, b_key] = ["responder_name", "responder_key"].map(of);
    let [prekey, application] = ["ratchet_prekey", "application"].map(of);
    let negotiation = Negotiation {
        offered: &offered,
        published: &published,
        initiator: Identity {
            name: &a_name,
            key: &a_key,
        },
        responder: Identity {
            name: &b_name,
            key: &b_key,
        },
        ratchet_prekey: &prekey,
        application: &application,
    };
    let [psk, id, sender] = ["psk", "psk_id", "pkS"].map(of);
    let mode = Mode::from_id(case.fields.number("mode").unwrap()).unwrap();
    let psk = Psk::for_mode(mode, PskSecret(&psk), &id).unwrap();
    let sender = PublicKey::from_bytes(Kem::X25519HkdfSha256, &sender).ok();
    let mode = match (&sender, psk) {
        (None, None) => RecipientMode::Base,
        (None, Some(psk)) => RecipientMode::Psk(psk),
        (Some(key), None) => RecipientMode::AuthRfc9180(key),
        (Some(key), Some(psk)) => RecipientMode::AuthPsk(key, psk),
    };
    let key = SecretBytes::from_vec(of("skR"));
    let key = PrivateKey::from_bytes(Kem::X25519HkdfSha256, &key).unwrap();
    negotiation.accept(&Policy::default(), &key, mode, &of("enc"))
}

#[test]
fn the_binder_is_that_of_another_implementation() {
    let golden = Golden::load("hpke/binders.json").unwrap();
    let mut tally = Tally::new("golden-hpke-binder");
    for case in golden.cases() {
        let good = match accepted(case) {
            Ok(bound) => {
                let transcript = &bound.transcript().as_bytes()[..];
                case.valid
                    && transcript == bytes(case, "transcript")
                    && bound.binder().unwrap().expose()[..] == bytes(case, "binder")
            }
            Err(_) => !case.valid,
        };
        tally.check(case.fields.name(), good);
    }
    assert_eq!(tally.total(), 46);
    tally.finish().unwrap();
}
