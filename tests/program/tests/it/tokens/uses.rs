//! Contexts in a token that sign, agree and make codes: over TLS as any other, across rotation, a restart, and the loss
//! of the token.

use std::time::Duration;

use keywright_client::blocking::Client;
use keywright_client::{Sign, Signing, Verify, Which};
use keywright_clock::Clock;
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_primitives::agreement::{P256PrivateKey, P256PublicKey};
use keywright_primitives::signature::ecdsa::{P256VerifyingKey, P384VerifyingKey};
use keywright_primitives::signature::rsa::RsaVerifyingKey;
use keywright_tokens::{Store, on_each};
use keywright_types::{Algorithm, Code, Custody, KeySpec, KeyVersion, Operation, Purpose, State};

use super::scene::{create, home_with, rotate, states};
use crate::fixture::*;

const MESSAGE: &[u8] = b"order 4711: 250 at 17.35";

const CONTEXTS: [(&str, Purpose, Algorithm); 5] = [
    ("p256", Purpose::Sign, Algorithm::EcdsaP256),
    ("p384", Purpose::Sign, Algorithm::EcdsaP384),
    ("rsa", Purpose::Sign, Algorithm::Rsa2048Pss),
    ("codes", Purpose::Mac, Algorithm::HmacSha256),
    ("partner", Purpose::Agree, Algorithm::EcdhP256),
];

const USES: [Operation; 6] = [
    Operation::Sign,
    Operation::Verify,
    Operation::Agree,
    Operation::PublicKey,
    Operation::Mac,
    Operation::MacVerify,
];

fn site(store: &Store, more: &str) -> Site {
    let site = Site::over(home_with(store, more));
    for (context, purpose, algorithm) in CONTEXTS {
        let spec = KeySpec {
            purpose,
            algorithm,
            custody: Custody::Token,
            ..KeySpec::seal()
        };
        create(&site, context, spec).unwrap();
    }
    site.change_policy(|document| {
        document.grants.push(Grant {
            tenant: name("default"),
            principals: vec![name(TRADING)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: USES.to_vec(),
            contexts: CONTEXTS
                .map(|(context, ..)| ContextPattern::Exact(name(context)))
                .to_vec(),
            paths: Vec::new(),
        });
    });
    site
}

const fn message() -> Sign<'static> {
    Sign {
        what: Signing::Message(MESSAGE),
        path: None,
        form: None,
    }
}

fn sign(client: &Client, context: &str) -> Result<(Vec<u8>, u32), Option<Code>> {
    let signed = client.sign(&name(context), message());
    signed
        .map(|signed| (signed.signature, signed.key_version.number()))
        .map_err(|error| error.code())
}

fn fits(client: &Client, context: &str, signature: &[u8], version: u32) -> bool {
    let item = Verify {
        signed: message(),
        signature,
        key_version: KeyVersion::from_number(version),
    };
    client.verify(&name(context), item).unwrap().valid
}

/// Signatures fit under the public key that is shown, judged by the backend.
fn signatures_fit_elsewhere(client: &Client) {
    for (context, length) in [("p256", 64), ("p384", 96), ("rsa", 256)] {
        let (signature, version) = sign(client, context).unwrap();
        assert_eq!((signature.len(), version), (length, 1));
        let key = client
            .public_key(&name(context), Which::default())
            .unwrap()
            .public_key;
        match context {
            "p256" => P256VerifyingKey::from_sec1(&key)
                .unwrap()
                .verify_fixed(MESSAGE, signature.as_slice().try_into().unwrap()),
            "p384" => P384VerifyingKey::from_sec1(&key)
                .unwrap()
                .verify_fixed(MESSAGE, signature.as_slice().try_into().unwrap()),
            _ => RsaVerifyingKey::from_der(&key)
                .unwrap()
                .verify_pss(MESSAGE, &signature),
        }
        .unwrap();
        assert!(fits(client, context, &signature, 1));
        let mut other = signature.clone();
        other[40] ^= 1;
        for wrong in [&other[..], &signature[1..], &[], &vec![0; length]] {
            assert!(!fits(client, context, wrong, 1), "{context}");
        }
    }
}

fn codes_and_secrets_fit(client: &Client) {
    let made = client.mac(&name("codes"), MESSAGE).unwrap();
    let version = made.key_version;
    let valid = |message: &[u8], mac: &[u8]| {
        let looked = client.mac_verify(&name("codes"), message, mac, version);
        looked.unwrap().valid
    };
    assert!(valid(MESSAGE, &made.mac) && !valid(b"other", &made.mac));
    assert!(!valid(MESSAGE, &made.mac[1..]) && !valid(MESSAGE, &[]));
    let context = name("partner");
    let shown = client.public_key(&context, Which::default()).unwrap();
    let ours = P256PrivateKey::generate().unwrap();
    let theirs = P256PublicKey::from_sec1(&shown.public_key).unwrap();
    let expected = ours.agree(&theirs).unwrap();
    let peer = ours.public_bytes().unwrap();
    let agreed = client.agree(&context, &peer, Which::default()).unwrap();
    assert_eq!(agreed.secret.expose(), expected.expose());
    let refused = client.agree(&context, &[4; 65], Which::default());
    assert_eq!(refused.unwrap_err().code(), Some(Code::PeerKeyInvalid));
}

#[test]
fn they_sign_agree_and_make_codes_that_fit_elsewhere() {
    on_each(|store| {
        for more in ["session_copies = true", "session_copies = false"] {
            let home = {
                let site = site(store, more);
                let client = site.client(TRADING);
                signatures_fit_elsewhere(&client);
                codes_and_secrets_fit(&client);
                drop(client);
                site.stop()
            };
            home.verify();
        }
    });
}

#[test]
fn rotation_and_a_restart_keep_older_versions_at_work() {
    on_each(|store| {
        let site = site(store, "");
        let client = site.client(TRADING);
        let old = sign(&client, "p256").unwrap();
        let code = client.mac(&name("codes"), MESSAGE).unwrap();
        for context in ["p256", "codes", "partner"] {
            assert_eq!(rotate(&site, context).unwrap().number(), 2);
        }
        let new = sign(&client, "p256").unwrap();
        assert_eq!((old.1, new.1), (1, 2));
        drop(client);
        let site = Site::over(site.stop());
        assert_eq!(states(&site, "p256"), [State::Retired, State::Active]);
        let client = site.client(TRADING);
        assert!(fits(&client, "p256", &old.0, 1) && fits(&client, "p256", &new.0, 2));
        assert!(!fits(&client, "p256", &old.0, 2) && !fits(&client, "p256", &new.0, 1));
        let looked = client.mac_verify(&name("codes"), MESSAGE, &code.mac, KeyVersion::FIRST);
        assert!(looked.unwrap().valid);
        codes_and_secrets_fit(&client);
        drop(client);
        site.stop().verify();
    });
}

/// How long the service may take to notice that the token is back.
const LIMIT: Duration = Duration::from_secs(5);
/// For what has no limit of its own.
const PATIENCE: Duration = Duration::from_secs(30);

fn until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let clock = Clock::system();
    let end = clock.monotonic().plus(limit);
    while clock.monotonic() < end {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_token_that_is_pulled_answers_503_and_signs_on_with_the_same_keys_when_it_is_back() {
    on_each(|store| {
        let site = site(store, "session_copies = false");
        let client = site.client(TRADING);
        let before = sign(&client, "p256").unwrap();
        let code = client.mac(&name("codes"), MESSAGE).unwrap().mac;
        store.take_away();
        let lost = |code| code == Some(Code::HolderUnavailable);
        let signs = until(PATIENCE, || sign(&client, "p256").is_err_and(lost));
        let codes = until(PATIENCE, || {
            let made = client.mac(&name("codes"), MESSAGE);
            made.is_err_and(|error| lost(error.code()))
        });
        assert!(signs && codes, "the loss is noticed");
        store.put_back();
        assert!(until(LIMIT, || sign(&client, "p256").is_ok()));
        assert!(until(LIMIT, || client.mac(&name("codes"), MESSAGE).is_ok()));
        let after = sign(&client, "p256").unwrap();
        assert!(fits(&client, "p256", &before.0, 1) && fits(&client, "p256", &after.0, 1));
        assert_eq!(client.mac(&name("codes"), MESSAGE).unwrap().mac, code);
        drop(client);
        site.stop();
    });
}
