//! Every operation on real tokens: it is done, its results are looked at, and nothing is left.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use keywright_hsm::{KeyChoice, Login};
use keywright_measure::carry::Check;
use keywright_measure::{TargetError, Worker};
use keywright_pkcs11::{
    KeyPlan, MlDsa, Module, PairKind, Pin, Purpose, SecretKind, Session, Template, Token,
    TokenQuery, User,
};
use keywright_pkcs11_names::ObjectClass;
use keywright_tokens::{Kind, Store, on_each};

use super::*;
use crate::operation::{Make, Operation, Setting};

thread_local! {
    static SPOIL: Cell<bool> = const { Cell::new(false) };
}

/// Whether results are to be spoiled before they are looked at.
pub(super) fn spoil() -> bool {
    SPOIL.get()
}

pub(super) fn spoiled(output: &mut Vec<u8>) {
    match output.first_mut() {
        Some(byte) => *byte ^= 1,
        None => output.push(1),
    }
}

fn token(store: &Store) -> Token {
    let at = &store.tokens()[0];
    let module = Module::load(at.module()).unwrap();
    module.find_token(&TokenQuery::label(at.label())).unwrap()
}

fn pin(store: &Store) -> Pin {
    Pin::from_line(store.tokens()[0].user_pin().as_bytes().to_vec())
}

fn opened(store: &Store, storage: Storage, sharing: Sharing) -> Arc<Opened> {
    Opened::new(TokenPlace {
        token: token(store),
        login: Some(Login::Pin(pin(store))),
        storage,
        sharing,
    })
    .unwrap()
}

fn usual(store: &Store) -> Arc<Opened> {
    opened(store, Storage::Session, Sharing::One)
}

fn made(
    opened: &Arc<Opened>,
    operation: &Operation,
    index: u32,
) -> Result<Box<dyn Worker>, TargetError> {
    let Make::Token(shape) = operation.make else {
        panic!("{} is no operation of a token", operation.name);
    };
    let setting = Setting {
        seed: 1,
        index,
        bytes: usize::try_from(operation.bytes).ok(),
        folder: Path::new("/"),
        program: None,
        server_cpu: None,
        fpe_backend: None,
    };
    worker(opened, (operation.name, shape), &setting)
}

fn row(name: &str) -> &'static Operation {
    OPERATIONS.iter().find(|row| row.name == name).unwrap()
}

/// Keys in the token, as the user sees them.
fn objects(store: &Store) -> usize {
    let session = token(store).open().unwrap();
    let login = Login::Pin(pin(store));
    session.login(User::User, login.credential()).unwrap();
    let keys = [
        ObjectClass::PUBLIC_KEY,
        ObjectClass::PRIVATE_KEY,
        ObjectClass::SECRET_KEY,
    ];
    keys.into_iter()
        .map(|class| {
            session
                .search(&Template::new().class(class))
                .unwrap()
                .count()
        })
        .sum()
}

/// What a token in software may lack, by its build; everything else of the table it must do.
const MAY_LACK: [&str; 5] = [
    "pkcs11.agreement.x25519",
    "pkcs11.ed25519",
    "pkcs11.ml-dsa",
    "pkcs11.ml-kem",
    "pkcs11.rsa2048-oaep-sha256",
];

#[test]
fn every_row_is_done_rightly_and_a_spoiled_result_is_seen() {
    on_each(|store| {
        let opened = usual(store);
        for row in OPERATIONS {
            let may_lack = MAY_LACK.iter().any(|name| row.name.starts_with(name));
            let mut worker = match made(&opened, row, 0) {
                Ok(worker) => worker,
                Err(TargetError::Unsupported { reason, .. }) if may_lack => {
                    assert!(reason.contains("CKR_"), "{}: {reason}", row.name);
                    continue;
                }
                Err(error) => panic!("{}: {error}", row.name),
            };
            for turn in 0..3 {
                assert_eq!(worker.operate(), Ok(()), "{}", row.name);
                assert_eq!(worker.check(), Check::Right, "{} {turn}", row.name);
            }
            if row.name == "pkcs11.random.32" {
                // Other random bytes are as good; the same ones are not.
                assert_eq!(worker.check(), Check::Wrong, "the same bytes twice");
                continue;
            }
            SPOIL.set(true);
            assert_eq!(worker.check(), Check::Wrong, "{} spoiled", row.name);
            SPOIL.set(false);
        }
        drop(opened);
        assert_eq!(objects(store), 0);
    });
}

#[test]
fn names_are_unique_and_the_fourteen_rows_come_first_in_their_order() {
    let mut names: Vec<&str> = OPERATIONS.iter().map(|row| row.name).collect();
    let first: Vec<&str> = SEED_ROWS.iter().map(|(_, name)| *name).collect();
    assert_eq!(names[..14], first);
    let titles: Vec<&str> = SEED_ROWS.iter().map(|(title, _)| *title).collect();
    assert_eq!(
        titles,
        [
            "RSA-2048 Sign",
            "RSA-4096 Sign",
            "ECDSA-P-256 Sign",
            "ECDSA-P-384 Sign",
            "RSA-2048 Verify",
            "ECDSA-P256 Verify",
            "RSA-2048 Encrypt",
            "AES-256-GCM Encrypt (1KB)",
            "SHA-256 Hash (1KB)",
            "SHA-384 Hash (1KB)",
            "SHA-512 Hash (1KB)",
            "HMAC-SHA256",
            "AES-CMAC",
            "Random (32 bytes)",
        ]
    );
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), OPERATIONS.len());
}

#[test]
fn workers_share_a_key_or_have_one_each() {
    on_each(|store| {
        for (sharing, keys) in [(Sharing::One, 1), (Sharing::Each, 3)] {
            let opened = opened(store, Storage::Session, sharing);
            let row = row("pkcs11.hmac-sha256.sign");
            let mut workers: Vec<_> = (0..3)
                .map(|index| made(&opened, row, index).unwrap())
                .collect();
            for worker in &mut workers {
                worker.operate().unwrap();
                assert_eq!(worker.check(), Check::Right);
            }
            assert_eq!(objects(store), keys, "{sharing:?}");
        }
    });
}

#[test]
fn keys_in_the_token_are_there_while_they_are_measured_and_destroyed_after_it() {
    on_each(|store| {
        let opened = opened(store, Storage::Token, Sharing::One);
        let worker = made(&opened, row("pkcs11.ecdsa-p256.sign"), 0).unwrap();
        assert_eq!(objects(store), 2);
        drop((worker, opened));
        assert_eq!(objects(store), 0);
    });
}

#[test]
fn log_in_is_measured_by_itself() {
    on_each(|store| {
        let opened = usual(store);
        let signing = made(&opened, row("pkcs11.hmac-sha256.sign"), 0).unwrap();
        let refused = made(&opened, row("pkcs11.login"), 0).err();
        assert!(matches!(refused, Some(TargetError::Load(_))), "{refused:?}");
        drop(signing);
        let mut login = made(&opened, row("pkcs11.login"), 0).unwrap();
        login.operate().unwrap();
        for other in [row("pkcs11.login"), row("pkcs11.random.32")] {
            let refused = made(&opened, other, 1).err();
            assert!(matches!(refused, Some(TargetError::Load(_))), "{refused:?}");
        }
        drop(login);
        // Afterwards everything is as before.
        let mut signing = made(&opened, row("pkcs11.hmac-sha256.sign"), 0).unwrap();
        signing.operate().unwrap();
        assert_eq!(signing.check(), Check::Right);
    });
}

#[test]
fn a_wrong_pin_is_a_refusal_and_is_tried_once() {
    on_each(|store| {
        let opened = Opened::new(TokenPlace {
            token: token(store),
            login: Some(Login::Pin(Pin::from_line(b"not-the-pin".to_vec()))),
            storage: Storage::Session,
            sharing: Sharing::One,
        })
        .unwrap();
        let refused = made(&opened, row("pkcs11.hmac-sha256.sign"), 0).err();
        assert!(
            matches!(&refused, Some(TargetError::Authentication { reason, .. }) if reason.contains("CKR_PIN_INCORRECT")),
            "{refused:?}"
        );
    });
}

/// As a token that is started again: whoever was logged in is not, and keys of sessions are gone.
fn log_everybody_out(store: &Store) {
    token(store).open().unwrap().logout().unwrap();
}

#[test]
fn a_token_that_is_started_again_is_measured_on_with_new_keys() {
    on_each(|store| {
        make_keys(store);
        for sharing in [Sharing::One, Sharing::Each] {
            let opened = opened(store, Storage::Session, sharing);
            let rows = ["pkcs11.hmac-sha256.sign", "pkcs11.ecdsa-p256.sign"].map(row);
            let workers = rows
                .iter()
                .zip(0..)
                .map(|(row, index)| made(&opened, row, index));
            let mut workers: Vec<_> = workers.map(Result::unwrap).collect();
            for _ in 0..2 {
                log_everybody_out(store);
                let failed = workers[0].operate().unwrap_err();
                assert!(failed.code().starts_with("CKR_"), "{failed:?}");
                for worker in &mut workers {
                    // One of them logs in; the others find their keys gone, or see it before.
                    let back = (0..3).any(|_| worker.operate().is_ok());
                    assert!(back, "{:?}", worker.operate());
                    assert_eq!(worker.check(), Check::Right);
                }
                assert_eq!(workers[0].operate(), Ok(()), "it is not lost again");
                assert_eq!(workers[0].check(), Check::Right);
            }
        }
    });
}

#[test]
fn keys_in_the_token_are_destroyed_after_a_new_start_too() {
    on_each(|store| {
        let before = objects(store);
        let opened = opened(store, Storage::Token, Sharing::One);
        let mut worker = made(&opened, row("pkcs11.ecdsa-p256.sign"), 0).unwrap();
        log_everybody_out(store);
        assert!(worker.operate().is_err());
        assert_eq!(worker.operate(), Ok(()));
        assert_eq!(worker.check(), Check::Right);
        drop((worker, opened));
        assert_eq!(objects(store), before);
    });
}

#[test]
fn a_named_key_is_found_again_after_a_new_start() {
    on_each(|store| {
        make_keys(store);
        let opened = usual(store);
        let named = opened.name_key(&KeyChoice::label("signs")).unwrap();
        let (operation, _) = &named.rows[0];
        let mut worker = made(&opened, operation, 0).unwrap();
        assert_eq!(worker.operate(), Ok(()));
        log_everybody_out(store);
        assert!(worker.operate().is_err());
        assert_eq!(worker.operate(), Ok(()));
        assert_eq!(worker.check(), Check::Right);
    });
}

#[test]
fn a_log_in_that_is_refused_after_a_new_start_is_not_tried_again() {
    on_each(|store| {
        let opened = usual(store);
        let mut worker = made(&opened, row("pkcs11.hmac-sha256.sign"), 0).unwrap();
        let other = || Login::Pin(Pin::from_line(b"another-pin-77".to_vec()));
        let session = token(store).open_writing().unwrap();
        let right = Login::Pin(pin(store));
        session
            .change_pin(right.credential(), other().credential())
            .unwrap();
        log_everybody_out(store);
        assert!(worker.operate().is_err());
        let refused = worker.operate().unwrap_err();
        assert_eq!(refused.code(), "CKR_PIN_INCORRECT");
        session.login(User::User, other().credential()).unwrap();
        session
            .change_pin(other().credential(), right.credential())
            .unwrap();
        session.logout().unwrap();
        for _ in 0..3 {
            let refused = worker.operate().unwrap_err();
            assert_ne!(refused.code(), "CKR_PIN_INCORRECT");
            assert!(!refused.code().starts_with("CKR_"), "{refused:?}");
        }
    });
}

/// A session that makes token objects, as the user.
fn writing(store: &Store) -> Session {
    let session = token(store).open_writing().unwrap();
    let login = Login::Pin(pin(store));
    session.login(User::User, login.credential()).unwrap();
    session
}

/// A key of each kind in the token, labelled by what it does.
fn make_keys(store: &Store) {
    let session = writing(store);
    let plan = |purpose, label: &str| KeyPlan::new(purpose).label(label).id(label.as_bytes());
    let pair = |kind, purpose, label| {
        session.generate_pair(kind, &plan(purpose, label)).unwrap();
    };
    let secret = |kind, purpose, label| {
        session
            .generate_secret(kind, &plan(purpose, label))
            .unwrap();
    };
    let rsa = PairKind::Rsa { bits: 3072 };
    pair(rsa, Purpose::Sign, "signs");
    pair(PairKind::Rsa { bits: 2048 }, Purpose::Encrypt, "encrypts");
    let curve = keywright_pkcs11::Curve::P521;
    pair(PairKind::Curve(curve), Purpose::Sign, "curve");
    let aes = |len| SecretKind::Aes { len };
    secret(aes(16), Purpose::Encrypt, "aes");
    secret(aes(32), Purpose::Mac, "cmac");
    secret(aes(32), Purpose::Wrap, "wraps");
    secret(SecretKind::Generic { len: 32 }, Purpose::Mac, "hmac");
    pair(PairKind::Curve(curve), Purpose::Derive, "derives");
    pair(PairKind::Rsa { bits: 2048 }, Purpose::Wrap, "wraps-alone");
    if store.kind() == Kind::Kryoptic {
        let x25519 = keywright_pkcs11::Curve::X25519;
        pair(PairKind::Curve(x25519), Purpose::Derive, "montgomery");
        pair(PairKind::MlDsa(MlDsa::MlDsa44), Purpose::Sign, "lattice");
    }
}

/// Demands that the key with this label is of this kind, and that each of these rows is done rightly with it.
#[track_caller]
fn is_measured(store: &Store, label: &str, (kind, names): (&str, &[&str])) {
    let opened = usual(store);
    let named = opened.name_key(&KeyChoice::label(label)).unwrap();
    let found: Vec<&str> = named.rows.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!((named.kind.as_str(), &found[..]), (kind, names), "{label}");
    for (operation, name) in &named.rows {
        let mut worker = made(&opened, operation, 0).unwrap();
        worker.operate().unwrap();
        assert_eq!(worker.check(), Check::Right, "{name}");
    }
}

#[test]
fn a_named_key_is_measured_with_what_it_may_do_under_its_own_name() {
    on_each(|store| {
        make_keys(store);
        let newer = [
            ("montgomery", "X25519", &["X25519 Agree"][..]),
            (
                "lattice",
                "ML-DSA-44",
                &["ML-DSA-44 Sign", "ML-DSA-44 Verify"],
            ),
        ];
        // The other token makes no such keys.
        let newer = newer.into_iter().filter(|_| store.kind() == Kind::Kryoptic);
        for (label, kind, names) in [
            (
                "signs",
                "RSA-3072",
                &["RSA-3072 Sign", "RSA-3072 Verify"][..],
            ),
            (
                "encrypts",
                "RSA-2048",
                &["RSA-2048 Encrypt", "RSA-2048 Decrypt"],
            ),
            (
                "curve",
                "ECDSA P-521",
                &["ECDSA-P-521 Sign", "ECDSA-P521 Verify"],
            ),
            (
                "aes",
                "AES-128",
                &["AES-128-GCM Encrypt (1KB)", "AES-128-GCM Decrypt (1KB)"],
            ),
            ("cmac", "AES-256", &["AES-CMAC", "AES-CMAC Verify"]),
            ("wraps", "AES-256", &["AES-256 Wrap", "AES-256 Unwrap"]),
            (
                "hmac",
                "generic secret",
                &["HMAC-SHA256", "HMAC-SHA256 Verify"],
            ),
            ("derives", "ECDSA P-521", &["ECDH-P-521 Agree"]),
        ]
        .into_iter()
        .chain(newer)
        {
            is_measured(store, label, (kind, names));
        }
        let opened = usual(store);
        for (label, words) in [
            ("wraps-alone", "wrapping is measured with AES keys only"),
            ("absent", "no public key"),
        ] {
            let error = opened.name_key(&KeyChoice::label(label)).unwrap_err();
            assert!(error.to_string().contains(words), "{label}: {error}");
        }
    });
}
