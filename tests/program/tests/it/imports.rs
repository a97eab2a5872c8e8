//! Keys that are brought in wrapped, to a key that is there for one of them. The `openssl` command wraps them where it is
//! there, as another's token would; else the primitives do.

use std::process::{Command, Stdio};

use keywright_client::{Sign, Signing};
use keywright_encoding::{base64, hex};
use keywright_home::{Answer, Order, Wrapped};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_primitives::hash::sha256;
use keywright_primitives::key_wrap;
use keywright_primitives::mac::{Aes256Cmac, HmacSha256};
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::rsa_encryption::RsaEncryptionKey;
use keywright_primitives::signature::SigningKey;
use keywright_primitives::signature::rsa::{RsaSigningKey, RsaVerifyingKey};
use keywright_secret::Secret;
use keywright_types::{Algorithm, BindingKind, Custody, KeySpec, Operation, Origin, Purpose};

use crate::fixture::*;

const MESSAGE: &[u8] = b"order 4711: 250 at 17.35";

pub(crate) struct ImportKey {
    pub(crate) id: String,
    pub(crate) pem: String,
}

pub(crate) fn begin(site: &Site) -> ImportKey {
    match site.node().carry_out(Order::ImportBegin).unwrap() {
        Answer::ImportBegun { id, public_key, .. } => ImportKey {
            id,
            pem: public_key,
        },
        other => panic!("{other:?}"),
    }
}

/// RSA-OAEP of a key of 32 bytes, and AES-KWP of the secret under it.
pub(crate) fn wrap(pem: &str, secret: &[u8]) -> Vec<u8> {
    by_openssl(pem, secret).unwrap_or_else(|| by_hand(pem, secret, b""))
}

fn by_openssl(pem: &str, secret: &[u8]) -> Option<Vec<u8>> {
    let present = Command::new("openssl").arg("version").output().ok()?;
    let said = String::from_utf8_lossy(&present.stdout).into_owned();
    if !said.starts_with("OpenSSL 3") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let kek = [0x5C; 32];
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("import.pem"), pem).unwrap();
    std::fs::write(place("kek"), kek).unwrap();
    std::fs::write(place("secret"), secret).unwrap();
    let kek = hex::encode(&kek);
    let front = "pkeyutl -encrypt -pubin -inkey import.pem -in kek -out front \
                 -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256";
    let back = format!("enc -id-aes256-wrap-pad -iv A65959A6 -K {kek} -in secret -out back");
    for line in [front, &back] {
        let ended = Command::new("openssl")
            .current_dir(folder.path())
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
    let read = |name| std::fs::read(place(name)).unwrap();
    Some([read("front"), read("back")].concat())
}

fn by_hand(pem: &str, secret: &[u8], label: &[u8]) -> Vec<u8> {
    let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let key = RsaEncryptionKey::from_der(&base64::decode(&text).unwrap()).unwrap();
    let kek = Secret::from_fill(|kek: &mut [u8; 32]| kek.fill(9));
    let front = key.encrypt_oaep(kek.expose(), label).unwrap();
    [front, key_wrap::wrap(&kek, secret).unwrap()].concat()
}

/// The first five bytes of AES-CMAC over sixteen zeros.
pub(crate) fn check_of(secret: &[u8; 32]) -> Vec<u8> {
    let mac = Aes256Cmac::new(secret).unwrap().mac(&[0; 16]).unwrap();
    mac[..5].to_vec()
}

fn imported(purpose: Purpose, algorithm: Algorithm) -> KeySpec {
    KeySpec {
        purpose,
        algorithm,
        origin: Origin::Imported,
        ..KeySpec::seal()
    }
}

fn order(context: &str, spec: KeySpec, (import, key, check): (&str, &[u8], &[u8])) -> Order {
    Order::ContextImport {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec,
        rules: keywright_custody::Rules::default(),
        detail: None,
        wrapped: Wrapped {
            import: import.to_owned(),
            key: base64::encode(key),
            check: hex::encode(check),
        },
    }
}

/// What the order is refused with; nothing if it was carried out.
fn refused(site: &Site, order: Order) -> Option<String> {
    let done = site.node().carry_out(order);
    done.err().map(|error| error.to_string())
}

fn allow(site: &Site, context: &str, operations: &[Operation]) {
    site.change_policy(|document| {
        document.grants.push(Grant {
            tenant: name("default"),
            principals: vec![name(TRADING)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: operations.to_vec(),
            contexts: vec![ContextPattern::Exact(name(context))],
            paths: Vec::new(),
        });
    });
}

#[test]
fn a_wrapped_key_works_as_where_it_came_from_and_is_imported_for_ever() {
    let site = Site::start();
    let secret = [0x0B; 32];
    let key = begin(&site);
    let wrapped = wrap(&key.pem, &secret);
    let spec = imported(Purpose::Mac, Algorithm::HmacSha256);
    let made = order("codes", spec, (&key.id, &wrapped, &check_of(&secret)));
    assert_eq!(refused(&site, made), None);
    allow(&site, "codes", &[Operation::Mac]);

    let key = begin(&site);
    let seed = [0x0C; 32];
    let signer = SigningKey::from_seed(&Secret::from_fill(|bytes| *bytes = seed)).unwrap();
    let signer = signer.verifying_key();
    // SubjectPublicKeyInfo of Ed25519 (RFC 8410, section 4).
    let front = hex::decode("302a300506032b6570032100").unwrap();
    let info = [&front[..], signer.as_bytes()].concat();
    let wrapped = wrap(&key.pem, &seed);
    let spec = imported(Purpose::Sign, Algorithm::Ed25519);
    let made = order("signer", spec, (&key.id, &wrapped, &sha256(&info)));
    assert_eq!(refused(&site, made), None);
    allow(&site, "signer", &[Operation::Sign]);

    let key = begin(&site);
    let rsa = RsaSigningKey::generate(RsaSize::Rsa2048).unwrap();
    let rsa_public = rsa.verifying_key().unwrap();
    let wrapped = wrap(&key.pem, rsa.to_pkcs8().unwrap().expose());
    let spec = imported(Purpose::Sign, Algorithm::Rsa2048Pss);
    let check = sha256(rsa_public.as_spki_der());
    let made = order("rsa", spec, (&key.id, &wrapped, &check));
    assert_eq!(refused(&site, made), None);
    allow(&site, "rsa", &[Operation::Sign]);

    let client = site.client(TRADING);
    let mac = client.mac(&name("codes"), MESSAGE).unwrap().mac;
    assert_eq!(mac, HmacSha256::new(&secret).unwrap().mac(MESSAGE));
    let sign = |context: &str| {
        let item = Sign {
            what: Signing::Message(MESSAGE),
            path: None,
            form: None,
        };
        client.sign(&name(context), item).unwrap().signature
    };
    let signature = sign("signer");
    let fits = signer.verify(MESSAGE, signature.as_slice().try_into().unwrap());
    assert_eq!(fits, Ok(()));
    let rsa_public = RsaVerifyingKey::from_der(rsa_public.as_spki_der()).unwrap();
    assert_eq!(rsa_public.verify_pss(MESSAGE, &sign("rsa")), Ok(()));
    let admin = site.node().admin();
    let tenant = admin.tenant(&name("default")).unwrap();
    let found = admin.find(&tenant, &name("codes")).unwrap();
    assert_eq!(found.spec().origin, Origin::Imported);
    drop(client);
    three_imports_began(&site.stop());
}

fn three_imports_began(home: &Home) {
    let begun: Vec<_> = home
        .records()
        .into_iter()
        .filter(|record| record["operation"] == "import-begin" && record["type"] == "order-before")
        .collect();
    assert_eq!(begun.len(), 3);
    assert!(
        begun
            .iter()
            .all(|record| field(record, "order-digest").is_some())
    );
}

#[test]
fn an_import_key_serves_once_whatever_comes_of_it() {
    let site = Site::start();
    let secret = [0x0B; 32];
    let check = check_of(&secret);
    let spec = imported(Purpose::Mac, Algorithm::HmacSha256);
    let spent = "there is no such import key";
    let attempt = |import: &str, wrapped: &[u8], check: &[u8]| {
        refused(&site, order("codes", spec, (import, wrapped, check)))
    };
    // Each of these is refused for its own reason, and then the good one comes too late.
    type Spoil = fn(&ImportKey, &[u8], Vec<u8>, Vec<u8>) -> (Vec<u8>, Vec<u8>);
    let cases: [(&str, Spoil); 7] = [
        ("another than its check value", |_, _, good, mut check| {
            check[0] ^= 1;
            (good, check)
        }),
        ("another than its check value", |_, _, good, check| {
            (good, check[..4].to_vec())
        }),
        ("another than its check value", |_, _, good, _| {
            (good, Vec::new())
        }),
        ("does not open", |_, _, mut good, check| {
            good[100] ^= 1;
            (good, check)
        }),
        ("does not open", |_, _, good, check| {
            (good[..good.len() - 8].to_vec(), check)
        }),
        ("does not open", |key, secret, _, check| {
            (by_hand(&key.pem, secret, b"label"), check)
        }),
        ("another length", |key, _, _, check| {
            (by_hand(&key.pem, &[1; 31], b""), check)
        }),
    ];
    for (reason, spoil) in cases {
        let key = begin(&site);
        let good = by_hand(&key.pem, &secret, b"");
        let (wrapped, other) = spoil(&key, &secret, good.clone(), check.clone());
        let said = attempt(&key.id, &wrapped, &other).expect(reason);
        assert!(said.contains(reason), "{said}");
        let said = attempt(&key.id, &good, &check).expect(spent);
        assert!(said.contains(spent), "{said}");
    }
    let key = begin(&site);
    let other = begin(&site);
    let good = by_hand(&key.pem, &secret, b"");
    let said = attempt(&other.id, &good, &check).expect("another key");
    assert!(said.contains("does not open"), "{said}");
    assert!(attempt("", &good, &check).expect(spent).contains(spent));
    assert_eq!(attempt(&key.id, &good, &check), None);
    assert!(
        attempt(&key.id, &good, &check)
            .expect(spent)
            .contains(spent)
    );
    site.stop();
}

#[test]
fn what_cannot_be_imported_is_refused_before_the_import_key_is_spent() {
    let site = Site::start();
    let secret = [0x0B; 32];
    let check = check_of(&secret);
    let key = begin(&site);
    let good = by_hand(&key.pem, &secret, b"");
    let seal = imported(Purpose::Seal, Algorithm::Xaes256Gcm);
    for (context, spec) in [
        // What comes from elsewhere says so for ever.
        (
            "a",
            KeySpec {
                origin: Origin::Generated,
                ..seal
            },
        ),
        ("b", imported(Purpose::Tree, Algorithm::Slip10Ed25519)),
        ("c", imported(Purpose::Mac, Algorithm::Xaes256Gcm)),
        (
            "d",
            KeySpec {
                custody: Custody::Token,
                ..imported(Purpose::Mac, Algorithm::HmacSha256)
            },
        ),
    ] {
        let said = refused(&site, order(context, spec, (&key.id, &good, &check)));
        let said = said.unwrap_or_else(|| panic!("{context} was made"));
        assert!(!said.contains("import key"), "{context}: {said}");
    }
    assert_eq!(
        refused(&site, order("e", seal, (&key.id, &good, &check))),
        None
    );
    // It lives in the memory of the node, and is gone with it.
    let key = begin(&site);
    let good = by_hand(&key.pem, &secret, b"");
    let home = site.stop();
    let site = Site::over(home);
    let said = refused(&site, order("f", seal, (&key.id, &good, &check)));
    assert!(said.expect("gone").contains("no such import key"));
    site.stop();
}
