//! Keys that leave sealed, where their context was made for that: they work elsewhere as they did here.

use keywright_encoding::{base64, hex};
use keywright_home::{Answer, HomeError, Order, Recipient};
use keywright_hpke::{Kem, PrivateKey, PublicKey};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_primitives::hash::sha256;
use keywright_primitives::mac::HmacSha256;
use keywright_primitives::signature::rsa::RsaSigningKey;
use keywright_secret::SecretBytes;
use keywright_types::{
    Algorithm, BindingKind, Code, Export, KeySpec, KeyVersion, Operation, Purpose,
};

use crate::fixture::*;
use crate::life::open_file;

const MESSAGE: &[u8] = b"order 4711: 250 at 17.35";

fn make(site: &Site, context: &str, (purpose, algorithm): (Purpose, Algorithm), export: Export) {
    let made = site.node().carry_out(Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec: KeySpec {
            purpose,
            algorithm,
            export,
            ..KeySpec::seal()
        },
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    });
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
            operations: vec![Operation::Mac, Operation::PublicKey, Operation::KeyExport],
            contexts: vec![ContextPattern::Exact(name(context))],
            paths: Vec::new(),
        });
    });
}

fn export(
    site: &Site,
    context: &str,
    version: Option<u32>,
    to: &[&PublicKey],
) -> Result<Vec<u8>, Code> {
    let order = Order::KeyExport {
        tenant: name("default"),
        name: name(context),
        version: version.map(KeyVersion::from_number),
        recipients: to.iter().map(|key| Recipient::new(key)).collect(),
    };
    match site.node().carry_out(order) {
        Ok(Answer::SeedSealed { file }) => Ok(base64::decode(&file).unwrap()),
        Err(HomeError::Admin(error)) => Err(error.code()),
        other => panic!("{other:?}"),
    }
}

/// The key of an opened file, whose other lines are these.
fn key_of(text: &str, front: &str) -> Vec<u8> {
    let digits = text.strip_prefix(front).unwrap().trim_end();
    hex::decode(digits).unwrap()
}

#[test]
fn a_key_that_may_leave_is_the_same_elsewhere_and_each_version_is_its_own() {
    let site = Site::start();
    let macs = (Purpose::Mac, Algorithm::HmacSha256);
    make(&site, "codes", macs, Export::Sealed);
    let signs = (Purpose::Sign, Algorithm::Rsa2048Pkcs1);
    make(&site, "signer", signs, Export::Sealed);
    let client = site.client(TRADING);
    let codes = name("codes");
    let first = client.mac(&codes, MESSAGE).unwrap().mac;
    let tenant = name("default");
    site.node().admin().rotate(&tenant, &codes).unwrap();
    let second = client.mac(&codes, MESSAGE).unwrap().mac;
    let owner = PrivateKey::generate(Kem::X25519HkdfSha256).unwrap();
    let to = [owner.public_key()];
    let front = "keywright key 1\npurpose mac\nalgorithm hmac-sha-256\nkey ";
    for (version, expected) in [(None, &second), (Some(1), &first), (Some(2), &second)] {
        let file = export(&site, "codes", version, &to).unwrap();
        let key = key_of(&open_file(&file, &owner), front);
        let made = HmacSha256::new(&key).unwrap().mac(MESSAGE);
        assert_eq!(&made[..], &expected[..]);
    }
    assert_eq!(
        export(&site, "codes", Some(3), &to),
        Err(Code::VersionNotFound)
    );
    let file = export(&site, "signer", None, &to).unwrap();
    let front = "keywright key 1\npurpose sign\nalgorithm rsa-2048-pkcs1-sha-256\nkey ";
    let document = SecretBytes::from_vec(key_of(&open_file(&file, &owner), front));
    let key = RsaSigningKey::from_pkcs8(&document).unwrap();
    let shown = client.public_key(&name("signer"), keywright_client::Which::default());
    let pem: String = shown
        .unwrap()
        .pem
        .lines()
        .filter(|line| !line.starts_with('-'))
        .map(str::to_owned)
        .collect();
    let public = key.verifying_key().unwrap();
    assert_eq!(
        sha256(public.as_spki_der()),
        sha256(&base64::decode(&pem).unwrap())
    );
    // No route gives it out, whatever the policy says.
    let routed = client.key_export(&codes, "m/0'").unwrap_err();
    assert_eq!(routed.code(), Some(Code::Unsupported));
    drop(client);
    let home = site.stop();
    let ends: Vec<_> = home
        .records()
        .into_iter()
        .filter(|one| one["operation"] == "key-export" && one["type"] == "order-after")
        .map(|one| one["outcome"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ends, ["ok", "ok", "ok", "version_not_found", "ok"]);
    home.verify();
}

#[test]
fn what_was_made_to_stay_stays_and_nothing_leaves_for_nobody() {
    let site = Site::start();
    let owner = PrivateKey::generate(Kem::X25519HkdfSha256).unwrap();
    let to = [owner.public_key()];
    for (context, kind) in [
        ("mac", (Purpose::Mac, Algorithm::HmacSha256)),
        ("sign", (Purpose::Sign, Algorithm::EcdsaP384)),
        ("same", (Purpose::Deterministic, Algorithm::Aes256Siv)),
        ("seal", (Purpose::Seal, Algorithm::Xaes256Gcm)),
    ] {
        make(&site, context, kind, Export::Never);
        let left = export(&site, context, None, &to);
        assert_eq!(left, Err(Code::OperationDenied), "{context}");
    }
    make(
        &site,
        "leaves",
        (Purpose::Agree, Algorithm::X25519),
        Export::Sealed,
    );
    assert_eq!(export(&site, "leaves", None, &[]), Err(Code::Unsupported));
    assert_eq!(
        export(&site, "nowhere", None, &to),
        Err(Code::ContextNotFound)
    );
    let file = export(&site, "leaves", None, &to).unwrap();
    let other = PrivateKey::generate(Kem::X25519HkdfSha256).unwrap();
    let header = keywright_container::FileHeader::read_from(&mut &file[..]).unwrap();
    assert!(
        header
            .open_with_private_key(&other, &Default::default())
            .is_err()
    );
    site.stop();
}
