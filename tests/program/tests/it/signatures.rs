//! Signatures of the algorithms that only the backend works with, over real TLS: ECDSA over P-384, RSA, ML-DSA-65. The
//! `openssl` command is the judge where it knows the algorithm and is there; the backend's verifier is it always.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use keywright_client::{Batching, Sign, SignatureForm, Signing, Verify, Which};
use keywright_encoding::{base64, der};
use keywright_home::{Answer, Imported, Order};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_primitives::hash::{sha256, sha384};
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::signature::ecdsa::P384VerifyingKey;
use keywright_primitives::signature::ml_dsa::{MlDsa65SigningKey, MlDsa65VerifyingKey};
use keywright_primitives::signature::rsa::{RsaSigningKey, RsaVerifyingKey};
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{
    Algorithm, BindingKind, Code, Custody, KeySpec, KeyVersion, Operation, Origin, Purpose,
};

use crate::fixture::*;

const MESSAGE: &[u8] = b"order 4711: 250 at 17.35";

/// One of each kind and size that costs tests little, and the bytes of its signatures.
const ALGORITHMS: [(Algorithm, usize); 5] = [
    (Algorithm::EcdsaP384, 96),
    (Algorithm::MlDsa65, 3309),
    (Algorithm::Rsa2048Pkcs1, 256),
    (Algorithm::Rsa2048Pss, 256),
    (Algorithm::Rsa3072Pss, 384),
];

fn order(context: &str, algorithm: Algorithm, secret: Option<&SecretBytes>) -> Order {
    let origin = match secret {
        Some(_) => Origin::Imported,
        None => Origin::Generated,
    };
    Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec: KeySpec {
            purpose: Purpose::Sign,
            algorithm,
            origin,
            ..KeySpec::seal()
        },
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: secret.map(Imported::new),
    }
}

fn make(site: &Site, context: &str, algorithm: Algorithm, secret: Option<&SecretBytes>) {
    let made = site.node().carry_out(order(context, algorithm, secret));
    assert!(
        matches!(made, Ok(Answer::ContextCreated { .. })),
        "{made:?}"
    );
    site.change_policy(|document| {
        document.grants.push(Grant {
            tenant: name("default"),
            principals: vec![name(TRADING)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: vec![Operation::Sign, Operation::Verify, Operation::PublicKey],
            contexts: vec![ContextPattern::Exact(name(context))],
            paths: Vec::new(),
        });
    });
}

fn usual(what: Signing<'_>) -> Sign<'_> {
    Sign {
        what,
        path: None,
        form: None,
    }
}

fn digest_of(algorithm: Algorithm) -> Vec<u8> {
    match algorithm {
        Algorithm::EcdsaP384 => sha384(MESSAGE).to_vec(),
        _ => sha256(MESSAGE).to_vec(),
    }
}

/// What the PEM holds.
fn info(pem: &str) -> Vec<u8> {
    let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    base64::decode(&text).unwrap()
}

/// Whether the backend finds that the signature of [`MESSAGE`] fits under what the PEM holds.
fn judged(algorithm: Algorithm, pem: &str, signature: &[u8]) -> bool {
    let info = info(pem);
    match algorithm {
        Algorithm::EcdsaP384 => P384VerifyingKey::from_spki_der(&info)
            .unwrap()
            .verify_fixed(MESSAGE, signature.try_into().unwrap())
            .is_ok(),
        Algorithm::MlDsa65 => {
            // SEQUENCE, SEQUENCE of the name alone, BIT STRING (RFC 9881).
            let (name, rest) = der::first(0x30, der::exactly(0x30, &info).unwrap()).unwrap();
            assert_eq!(name[2..], [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 0x12]);
            let key = der::exactly(3, rest).unwrap().strip_prefix(&[0]).unwrap();
            MlDsa65VerifyingKey::from_bytes(key.try_into().unwrap())
                .unwrap()
                .verify(MESSAGE, signature.try_into().unwrap())
                .is_ok()
        }
        Algorithm::Rsa2048Pkcs1 => RsaVerifyingKey::from_der(&info)
            .unwrap()
            .verify_pkcs1(MESSAGE, signature)
            .is_ok(),
        _ => RsaVerifyingKey::from_der(&info)
            .unwrap()
            .verify_pss(MESSAGE, signature)
            .is_ok(),
    }
}

/// What `openssl dgst -verify` says; `None` where there is none, or none that knows the algorithm.
fn openssl(algorithm: Algorithm, pem: &str, signature: &[u8]) -> Option<bool> {
    let present = Command::new("openssl").arg("version").output().ok()?;
    if algorithm == Algorithm::MlDsa65 || !present.status.success() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("key.pem", pem.as_bytes());
    write("message", MESSAGE);
    match algorithm {
        Algorithm::EcdsaP384 => write("signature", &der::signature_to_der(signature).unwrap()),
        _ => write("signature", signature),
    }
    let mut words = vec!["dgst", "-verify", "key.pem", "-signature", "signature"];
    words.push(match algorithm {
        Algorithm::EcdsaP384 => "-sha384",
        _ => "-sha256",
    });
    if matches!(algorithm, Algorithm::Rsa2048Pss | Algorithm::Rsa3072Pss) {
        words.extend(["-sigopt", "rsa_padding_mode:pss"]);
        words.extend(["-sigopt", "rsa_pss_saltlen:32"]);
    }
    words.push("message");
    let ended = Command::new("openssl")
        .current_dir(folder.path())
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Some(ended.status.success())
}

#[test]
fn what_is_signed_fits_for_everybody_under_the_key_that_is_shown_and_nothing_else_does() {
    let site = Site::start();
    for (algorithm, length) in ALGORITHMS {
        let context = algorithm.name();
        make(&site, context, algorithm, None);
        let (client, context) = (site.client(TRADING), name(context));
        let signed = client.sign(&context, usual(Signing::Message(MESSAGE)));
        let signature = signed.unwrap().signature;
        assert_eq!(signature.len(), length, "{algorithm}");
        let key = client.public_key(&context, Which::default()).unwrap();
        assert!(judged(algorithm, &key.pem, &signature), "{algorithm}");
        match openssl(algorithm, &key.pem, &signature) {
            Some(fits) => assert!(fits, "{algorithm}"),
            None => writeln!(std::io::stderr(), "not judged by openssl: {algorithm}").unwrap(),
        }
        let verify = |signature: &[u8], message: &[u8], version| {
            let item = Verify {
                signed: usual(Signing::Message(message)),
                signature,
                key_version: KeyVersion::from_number(version),
            };
            client.verify(&context, item).map(|verified| verified.valid)
        };
        assert!(verify(&signature, MESSAGE, 1).unwrap());
        assert!(!verify(&signature, b"another", 1).unwrap());
        for place in [0, length / 2, length - 1] {
            let mut wrong = signature.clone();
            wrong[place] ^= 1;
            assert!(!verify(&wrong, MESSAGE, 1).unwrap(), "{algorithm} {place}");
        }
        let longer = [&signature[..], &[0]].concat();
        for wrong in [&signature[1..], &longer, &[], &vec![0; length]] {
            assert!(!verify(wrong, MESSAGE, 1).unwrap(), "{algorithm}");
        }
        let unknown = verify(&signature, MESSAGE, 2).unwrap_err();
        assert_eq!(unknown.code(), Some(Code::VersionNotFound));
        let rotated = site.node().admin().rotate(&name("default"), &context);
        assert_eq!(rotated.unwrap(), KeyVersion::from_number(2));
        assert!(verify(&signature, MESSAGE, 1).unwrap());
        assert!(!verify(&signature, MESSAGE, 2).unwrap(), "{algorithm}");
    }
    site.stop();
}

#[test]
fn digests_are_as_long_as_the_hash_and_forms_are_the_usual_one() {
    let site = Site::start();
    for algorithm in [
        Algorithm::EcdsaP384,
        Algorithm::Rsa2048Pss,
        Algorithm::MlDsa65,
    ] {
        make(&site, algorithm.name(), algorithm, None);
        let (client, context) = (site.client(TRADING), name(algorithm.name()));
        let sign = |what: Signing<'_>, form| {
            let item = Sign {
                form,
                ..usual(what)
            };
            let signed = client.sign(&context, item);
            signed
                .map(|signed| signed.signature)
                .map_err(|error| error.code())
        };
        let refused = Err(Some(Code::DigestInvalid));
        let digest = digest_of(algorithm);
        if algorithm == Algorithm::MlDsa65 {
            assert_eq!(sign(Signing::Digest(&digest), None), refused);
        } else {
            let pem = client.public_key(&context, Which::default()).unwrap().pem;
            let signature = sign(Signing::Digest(&digest), None).unwrap();
            assert!(judged(algorithm, &pem, &signature), "{algorithm}");
            for length in [0, 20, digest.len() - 1, digest.len() + 1, 64] {
                assert_eq!(sign(Signing::Digest(&vec![1; length]), None), refused);
            }
        }
        for form in [
            SignatureForm::Ecdsa,
            SignatureForm::EcdsaRecoverable,
            SignatureForm::Ed25519,
            SignatureForm::Schnorr,
        ] {
            let made = sign(Signing::Message(MESSAGE), Some(form));
            let own = algorithm == Algorithm::EcdsaP384 && form == SignatureForm::Ecdsa;
            match own {
                true => assert!(made.is_ok()),
                false => assert_eq!(made, Err(Some(Code::Unsupported)), "{algorithm} {form:?}"),
            }
        }
    }
    site.stop();
}

#[test]
fn one_items_fault_is_its_own() {
    let site = Site::start();
    let algorithm = Algorithm::Rsa2048Pss;
    make(&site, algorithm.name(), algorithm, None);
    let client = site.client(TRADING);
    let items = [
        usual(Signing::Message(MESSAGE)),
        usual(Signing::Digest(&[1; 31])),
        Sign {
            path: Some("m/0'"),
            ..usual(Signing::Message(MESSAGE))
        },
        usual(Signing::Digest(&[1; 32])),
    ];
    let context = name(algorithm.name());
    let made = client.sign_items(&context, &items, Batching::default());
    let codes: Vec<_> = made
        .unwrap()
        .into_iter()
        .map(|item| item.map_or_else(|error| error.code().unwrap(), |_| Code::Ok))
        .collect();
    assert_eq!(
        codes,
        [Code::Ok, Code::DigestInvalid, Code::PathInvalid, Code::Ok]
    );
    site.stop();
}

#[test]
fn a_key_that_is_brought_in_signs_as_its_own_and_what_is_none_is_refused() {
    let site = Site::start();
    let rsa = RsaSigningKey::generate(RsaSize::Rsa2048).unwrap();
    let document = rsa.to_pkcs8().unwrap();
    let seed = Secret::from_fill(|seed: &mut [u8; 32]| seed.fill(7));
    let ml_dsa = MlDsa65SigningKey::from_seed(&seed).unwrap();
    let seed = SecretBytes::from_vec(seed.expose().to_vec());
    for (algorithm, secret, public) in [
        (
            Algorithm::Rsa2048Pkcs1,
            &document,
            rsa.verifying_key().unwrap().as_spki_der().to_vec(),
        ),
        (
            Algorithm::MlDsa65,
            &seed,
            ml_dsa.verifying_key().unwrap().as_bytes().to_vec(),
        ),
    ] {
        make(&site, algorithm.name(), algorithm, Some(secret));
        let (client, context) = (site.client(TRADING), name(algorithm.name()));
        let key = client.public_key(&context, Which::default()).unwrap();
        assert!(info(&key.pem).ends_with(&public), "{algorithm}");
        let signed = client.sign(&context, usual(Signing::Message(MESSAGE)));
        assert!(judged(algorithm, &key.pem, &signed.unwrap().signature));
    }
    let cut = SecretBytes::from_vec(document.expose()[..document.len() - 1].to_vec());
    let zero = SecretBytes::from_vec(vec![0; 48]);
    for (context, algorithm, secret) in [
        ("a", Algorithm::Rsa3072Pkcs1, &document),
        ("b", Algorithm::Rsa2048Pkcs1, &cut),
        ("c", Algorithm::Rsa2048Pkcs1, &seed),
        ("d", Algorithm::EcdsaP384, &zero),
        ("e", Algorithm::EcdsaP384, &seed),
        ("f", Algorithm::MlDsa65, &document),
    ] {
        let made = site
            .node()
            .carry_out(order(context, algorithm, Some(secret)));
        assert!(made.is_err(), "{context}");
    }
    let in_token = |algorithm| {
        let Order::ContextCreate { spec, .. } = order("t", algorithm, None) else {
            unreachable!()
        };
        keywright_custody::fit::check(&KeySpec {
            custody: Custody::Token,
            ..spec
        })
    };
    assert!(in_token(Algorithm::Rsa4096Pss).is_err() && in_token(Algorithm::MlDsa65).is_ok());
    site.stop();
}

/// The private key of a signer is in no file of the home in the plain, nor a part of it.
#[test]
fn the_private_key_lies_sealed() {
    let site = Site::start();
    let key = RsaSigningKey::generate(RsaSize::Rsa2048).unwrap();
    let document = key.to_pkcs8().unwrap();
    make(&site, "signer", Algorithm::Rsa2048Pss, Some(&document));
    let client = site.client(TRADING);
    let signed = client.sign(&name("signer"), usual(Signing::Message(MESSAGE)));
    signed.unwrap();
    drop(client);
    let home = site.stop();
    let part = &document.expose()[document.len() / 2..][..16];
    let mut seen = 0;
    look(&home.path(), part, &mut seen);
    assert!(seen > 3, "no file was looked at");
}

fn look(folder: &Path, part: &[u8], seen: &mut usize) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(&path, part, seen);
        } else if let Ok(bytes) = std::fs::read(&path) {
            *seen += 1;
            let found = bytes.windows(part.len()).any(|window| window == part);
            assert!(!found, "{}", path.display());
        }
    }
}
