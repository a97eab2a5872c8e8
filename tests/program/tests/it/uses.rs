//! Keys that sign, agree, authenticate and grow trees, over real TLS: what they make fits elsewhere, and what policy and
//! the kind of the context refuse.

use std::sync::Arc;

use keywright_client::{Sign, SignatureForm, Signing, Verify, Which};
use keywright_custody::{Detail, TreeDetail};
use keywright_encoding::base64;
use keywright_hdkey::mnemonic::Mnemonic;
use keywright_hdkey::{Digest, Path, PrivateNode, PublicKey, Scheme};
use keywright_home::{Answer, Node, Order};
use keywright_policy::{ContextPattern, Effect, Grant, PathPattern};
use keywright_primitives::agreement::{P256PrivateKey, X25519PrivateKey, X25519PublicKey};
use keywright_primitives::hash::sha256;
use keywright_primitives::mac::{HmacSha512, MacKey};
use keywright_primitives::signature::VerifyingKey;
use keywright_primitives::signature::ecdsa::P256VerifyingKey;
use keywright_types::{
    Algorithm, BindingKind, Custody, Export, KeySpec, KeyVersion, Operation, Purpose,
};
use serde_json::{Value, json};

use crate::fixture::*;

const MESSAGE: &[u8] = b"order 4711: 250 at 17.35";

pub(crate) fn spec(purpose: Purpose, algorithm: Algorithm) -> KeySpec {
    KeySpec {
        purpose,
        algorithm,
        ..KeySpec::seal()
    }
}

fn order(context: &str, spec: KeySpec, detail: Option<Detail>) -> Order {
    Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec,
        rules: keywright_custody::Rules::default(),
        detail,
        secret: None,
    }
}

pub(crate) fn make(
    node: &Arc<Node>,
    context: &str,
    spec: KeySpec,
    detail: Option<Detail>,
) -> Option<String> {
    match node.carry_out(order(context, spec, detail)).unwrap() {
        Answer::ContextCreated { words, .. } => words.map(|words| words.expose().to_owned()),
        other => panic!("{other:?}"),
    }
}

fn tree(seed: &str) -> Option<Detail> {
    let seed = seed.to_owned();
    let soft_children = false;
    Some(Detail::Tree(TreeDetail {
        seed,
        soft_children,
    }))
}

/// One that hands out public nodes.
fn soft(seed: &str) -> Option<Detail> {
    let seed = seed.to_owned();
    let soft_children = true;
    Some(Detail::Tree(TreeDetail {
        seed,
        soft_children,
    }))
}

/// A wallet whose private keys may leave, and its words.
fn open_wallet(node: &Arc<Node>, context: &str, algorithm: Algorithm) -> String {
    let spec = KeySpec {
        export: Export::Plain,
        ..spec(Purpose::Tree, algorithm)
    };
    make(node, context, spec, tree("bip39")).expect("words")
}

fn grant(context: &str, operations: &[Operation], paths: &[&str], effect: Effect) -> Grant {
    Grant {
        tenant: name("default"),
        principals: vec![name(TRADING)],
        groups: Vec::new(),
        effect,
        operations: operations.to_vec(),
        contexts: vec![ContextPattern::Exact(name(context))],
        paths: paths
            .iter()
            .map(|path| path.parse::<PathPattern>().unwrap())
            .collect(),
    }
}

pub(crate) fn allow(site: &Site, context: &str, operations: &[Operation], paths: &[&str]) {
    let grant = grant(context, operations, paths, Effect::Allow);
    site.change_policy(|document| document.grants.push(grant));
}

const USES: [Operation; 6] = [
    Operation::Sign,
    Operation::Verify,
    Operation::Agree,
    Operation::PublicKey,
    Operation::Xpub,
    Operation::KeyExport,
];

/// A good request of each route about formats, signatures, codes and trees, in contexts made for it: the end of the
/// route's path, the context, the body.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn good_requests(site: &Site) -> Vec<(&'static str, &'static str, Value)> {
    let node = site.node();
    make(
        node,
        "any-signer",
        spec(Purpose::Sign, Algorithm::Ed25519),
        None,
    );
    make(
        node,
        "any-mac",
        spec(Purpose::Mac, Algorithm::HmacSha256),
        None,
    );
    make(
        node,
        "any-partner",
        spec(Purpose::Agree, Algorithm::X25519),
        None,
    );
    let tree = spec(Purpose::Tree, Algorithm::Bip32Secp256k1);
    make(node, "any-tree", tree, soft("raw"));
    open_wallet(node, "any-wallet", Algorithm::Bip32Secp256k1);
    let tokens = crate::formats::cards("column", Some("last4"));
    crate::formats::create(node, "any-cards", tokens);
    for context in ["any-signer", "any-partner", "any-tree", "any-wallet"] {
        allow(site, context, &USES, &[]);
    }
    allow(
        site,
        "any-mac",
        &[Operation::Mac, Operation::MacVerify],
        &[],
    );
    let of_tokens = [Operation::Tokenize, Operation::Detokenize, Operation::Mask];
    allow(site, "any-cards", &of_tokens, &[]);
    let peer = X25519PrivateKey::generate()
        .unwrap()
        .public_bytes()
        .unwrap();
    let card = "4111111111111111";
    crate::deterministic::make(site, "any-lookup", BindingKind::None);
    let alike = [
        Operation::DeterministicEncrypt,
        Operation::DeterministicDecrypt,
    ];
    allow(site, "any-lookup", &alike, &[]);
    let seal = keywright_client::Seal {
        plaintext: b"",
        aad: None,
    };
    let sealed = site
        .client(TRADING)
        .deterministic_encrypt(&name("any-lookup"), seal);
    let sealed = base64::encode(&sealed.unwrap().ciphertext);
    vec![
        (
            "deterministic/encrypt",
            "any-lookup",
            json!({ "plaintext": "" }),
        ),
        (
            "deterministic/decrypt",
            "any-lookup",
            json!({ "ciphertext": sealed }),
        ),
        ("sign", "any-signer", json!({ "message": "" })),
        (
            "verify",
            "any-signer",
            json!({ "message": "", "signature": "", "key_version": 1 }),
        ),
        (
            "agree",
            "any-partner",
            json!({ "public_key": base64::encode(&peer) }),
        ),
        ("public-key", "any-signer", json!({})),
        ("xpub", "any-tree", json!({ "path": ACCOUNT })),
        ("key/export", "any-wallet", json!({ "path": ACCOUNT })),
        ("mac", "any-mac", json!({ "message": "" })),
        (
            "mac/verify",
            "any-mac",
            json!({ "message": "", "mac": "", "key_version": 1 }),
        ),
        ("tokenize", "any-cards", json!({ "value": card })),
        (
            "detokenize",
            "any-cards",
            json!({ "token": card, "key_version": 1 }),
        ),
        (
            "mask",
            "any-cards",
            json!({ "token": card, "key_version": 1 }),
        ),
    ]
}

fn message(path: Option<&'static str>, form: Option<SignatureForm>) -> Sign<'static> {
    Sign {
        what: Signing::Message(MESSAGE),
        path,
        form,
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn signatures_of_every_algorithm_fit_under_the_public_key_that_is_shown() {
    let site = Site::start();
    for (number, algorithm) in [
        Algorithm::Ed25519,
        Algorithm::EcdsaP256,
        Algorithm::EcdsaSecp256k1,
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("signer-{number}");
        make(site.node(), &text, spec(Purpose::Sign, algorithm), None);
        allow(&site, &text, &USES, &[]);
        let (client, context) = (site.client(TRADING), name(&text));
        let signed = client.sign(&context, message(None, None)).unwrap();
        let key = client.public_key(&context, Which::default()).unwrap();
        assert_eq!(
            (signed.key_version, key.key_version),
            (KeyVersion::FIRST, KeyVersion::FIRST)
        );
        let signature: [u8; 64] = signed.signature.as_slice().try_into().unwrap();
        let pem: String = key
            .pem
            .lines()
            .filter(|line| !line.starts_with('-'))
            .collect();
        let info = base64::decode(&pem).unwrap();
        match algorithm {
            Algorithm::Ed25519 => {
                let bytes = key.public_key.as_slice().try_into().unwrap();
                VerifyingKey::from_bytes(bytes)
                    .verify(MESSAGE, &signature)
                    .unwrap();
                assert_eq!(key.jwk["crv"], "Ed25519");
                assert!(info.ends_with(&key.public_key) && info.len() == 44);
            }
            Algorithm::EcdsaP256 => {
                // The PEM, read by the backend.
                let key = P256VerifyingKey::from_spki_der(&info).unwrap();
                key.verify_fixed(MESSAGE, &signature).unwrap();
            }
            _ => {
                let key = PublicKey::from_bytes(Scheme::Slip10Secp256k1, &key.public_key).unwrap();
                key.verify_ecdsa(&Digest::of_sha256(MESSAGE), &signature)
                    .unwrap();
            }
        }
        let verify = |signature: &[u8], version| {
            let signed = message(None, None);
            let key_version = KeyVersion::from_number(version);
            let item = Verify {
                signed,
                signature,
                key_version,
            };
            client.verify(&context, item).map(|verified| verified.valid)
        };
        assert!(verify(&signature, 1).unwrap());
        let mut other = signature;
        other[3] ^= 1;
        for wrong in [&other[..], &signature[..63], &[], &[0; 65]] {
            assert!(!verify(wrong, 1).unwrap());
        }
        assert_eq!(
            verify(&signature, 2).unwrap_err().code(),
            Some(keywright_types::Code::VersionNotFound)
        );
    }
    site.stop();
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn forms_and_digests_are_those_of_the_curve_and_of_no_other() {
    let site = Site::start();
    for (context, algorithm) in [
        ("bitcoin", Algorithm::EcdsaSecp256k1),
        ("edwards", Algorithm::Ed25519),
        ("nist", Algorithm::EcdsaP256),
    ] {
        make(site.node(), context, spec(Purpose::Sign, algorithm), None);
        allow(&site, context, &USES, &[]);
    }
    let client = site.client(TRADING);
    let digest = sha256(MESSAGE);
    let sign = |context: &str, what, form| {
        let item = Sign {
            what,
            path: None,
            form,
        };
        client
            .sign(&name(context), item)
            .map(|signed| signed.signature)
            .map_err(|error| error.code().unwrap().name())
    };
    use SignatureForm::{Ecdsa, EcdsaRecoverable, Ed25519, Schnorr};
    let (text, hash) = (Signing::Message(MESSAGE), Signing::Digest(&digest));
    // A digest is the message's, and ECDSA over secp256k1 has one signature for it.
    assert_eq!(
        sign("bitcoin", text, None),
        sign("bitcoin", hash, Some(Ecdsa))
    );
    // Over P-256 no two are alike: that both are about the same is seen by what each of them proves.
    for (signed, told) in [(text, hash), (hash, text)] {
        let signature = sign("nist", signed, None).unwrap();
        let signed = Sign {
            what: told,
            path: None,
            form: Some(Ecdsa),
        };
        let item = Verify {
            signed,
            signature: &signature,
            key_version: KeyVersion::FIRST,
        };
        assert!(client.verify(&name("nist"), item).unwrap().valid);
    }
    let recoverable = sign("bitcoin", hash, Some(EcdsaRecoverable)).unwrap();
    assert_eq!(recoverable.len(), 65);
    assert_eq!(recoverable[..64], sign("bitcoin", hash, None).unwrap());
    for form in [EcdsaRecoverable, Schnorr] {
        let signature = sign("bitcoin", hash, Some(form)).unwrap();
        let verify = |signature: &[u8], digest: &[u8]| {
            let signed = Sign {
                what: Signing::Digest(digest),
                path: None,
                form: Some(form),
            };
            let key_version = KeyVersion::FIRST;
            let item = Verify {
                signed,
                signature,
                key_version,
            };
            client.verify(&name("bitcoin"), item).unwrap().valid
        };
        assert!(verify(&signature, &digest));
        assert!(!verify(&signature, &[1; 32]));
        let mut wrong = signature.clone();
        *wrong.last_mut().unwrap() ^= 1;
        assert!(!verify(&wrong, &digest), "{form:?}");
    }
    for (context, what, form, code) in [
        ("edwards", hash, None, "digest_invalid"),
        ("edwards", text, Some(Ecdsa), "unsupported"),
        ("edwards", text, Some(Schnorr), "unsupported"),
        ("nist", text, Some(Schnorr), "unsupported"),
        ("nist", text, Some(Ed25519), "unsupported"),
        ("bitcoin", text, Some(Ed25519), "unsupported"),
        (
            "bitcoin",
            Signing::Digest(&digest[..31]),
            None,
            "digest_invalid",
        ),
        (
            "bitcoin",
            Signing::Digest(&digest[..20]),
            Some(Schnorr),
            "digest_invalid",
        ),
    ] {
        assert_eq!(sign(context, what, form), Err(code), "{context} {form:?}");
    }
    drop(client);
    let mut wire = site.wire(TRADING, BOTH[1]);
    for (body, code) in [
        (json!({}), "digest_invalid"),
        (json!({ "message": "", "digest": "" }), "digest_invalid"),
        (json!({ "message": "*" }), "base64_invalid"),
        (json!({ "message": "", "path": "m/0'" }), "path_invalid"),
        (json!({ "message": "", "form": "der" }), "request_malformed"),
        (
            json!({ "message": "", "key_version": 1 }),
            "request_malformed",
        ),
    ] {
        let refused = wire.post(&path("nist", "sign"), body.to_string());
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, code),
            "{body}"
        );
    }
    site.stop();
}

#[test]
fn codes_fit_their_message_key_and_version() {
    let site = Site::start();
    for (number, algorithm) in [
        Algorithm::HmacSha256,
        Algorithm::HmacSha384,
        Algorithm::HmacSha512,
        Algorithm::Aes256Cmac,
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("mac-{number}");
        make(site.node(), &text, spec(Purpose::Mac, algorithm), None);
        allow(&site, &text, &[Operation::Mac, Operation::MacVerify], &[]);
        let (client, context) = (site.client(TRADING), name(&text));
        let made = client.mac(&context, MESSAGE).unwrap();
        assert_eq!(made.mac.len(), [32, 48, 64, 16][number]);
        let verify = |message: &[u8], mac: &[u8], version| {
            let version = KeyVersion::from_number(version);
            let verified = client.mac_verify(&context, message, mac, version);
            verified.map(|verified| verified.valid)
        };
        assert!(verify(MESSAGE, &made.mac, 1).unwrap());
        assert!(!verify(b"another", &made.mac, 1).unwrap());
        assert!(!verify(MESSAGE, &made.mac[1..], 1).unwrap());
        assert!(!verify(MESSAGE, &[], 1).unwrap());
        assert!(verify(MESSAGE, &made.mac, 2).is_err());
        site.node()
            .admin()
            .rotate(&name("default"), &context)
            .unwrap();
        let later = client.mac(&context, MESSAGE).unwrap();
        assert_ne!(later.mac, made.mac);
        assert_eq!(later.key_version.number(), 2);
        assert!(verify(MESSAGE, &made.mac, 1).unwrap() && verify(MESSAGE, &later.mac, 2).unwrap());
        assert!(!verify(MESSAGE, &made.mac, 2).unwrap());
    }
    site.stop();
}

#[test]
fn a_code_of_a_key_that_was_brought_in_is_the_one_of_the_standard() {
    let site = Site::start();
    for (context, algorithm) in [("a", Algorithm::HmacSha256), ("b", Algorithm::HmacSha512)] {
        let mut made = order(context, spec(Purpose::Mac, algorithm), None);
        let secret = keywright_secret::SecretBytes::from_vec(vec![0x0B; 32]);
        if let Order::ContextCreate { secret: place, .. } = &mut made {
            *place = Some(keywright_home::Imported::new(&secret));
        }
        site.node().carry_out(made).unwrap();
        allow(&site, context, &[Operation::Mac], &[]);
    }
    let client = site.client(TRADING);
    let short = client.mac(&name("a"), MESSAGE).unwrap().mac;
    assert_eq!(short, MacKey::new(&[0x0B; 32]).mac(MESSAGE));
    let long = client.mac(&name("b"), MESSAGE).unwrap().mac;
    assert_eq!(long, HmacSha512::new(&[0x0B; 32]).unwrap().mac(MESSAGE));
    drop(client);
    site.stop();
}

#[test]
fn two_sides_of_an_agreement_have_the_same_secret() {
    let site = Site::start();
    for (context, algorithm) in [("x", Algorithm::X25519), ("p", Algorithm::EcdhP256)] {
        make(site.node(), context, spec(Purpose::Agree, algorithm), None);
        allow(&site, context, &USES, &[]);
    }
    let client = site.client(TRADING);
    let ours = X25519PrivateKey::generate().unwrap();
    let shown = client.public_key(&name("x"), Which::default()).unwrap();
    let theirs = shown.public_key.as_slice().try_into().unwrap();
    let expected = ours
        .agree(&X25519PublicKey::from_bytes(theirs).unwrap())
        .unwrap();
    let peer = ours.public_bytes().unwrap();
    let agreed = client.agree(&name("x"), &peer, Which::default()).unwrap();
    assert_eq!(agreed.secret.expose(), expected.expose());
    let point = P256PrivateKey::generate().unwrap();
    let peer = point.public_bytes().unwrap();
    let agreed = client.agree(&name("p"), &peer, Which::default()).unwrap();
    assert_eq!(agreed.secret.len(), 32);
    for (context, peer) in [
        ("x", &[0; 32][..]),
        ("x", &[9; 31]),
        ("x", &peer[..]),
        ("p", &[4; 65]),
        ("p", &[9; 32]),
        ("p", &[]),
    ] {
        let refused = client
            .agree(&name(context), peer, Which::default())
            .unwrap_err();
        assert_eq!(
            refused.code().unwrap().name(),
            "peer_key_invalid",
            "{context}"
        );
    }
    // After a rotation an old partner is served by the version that it knows.
    site.node()
        .admin()
        .rotate(&name("default"), &name("x"))
        .unwrap();
    let peer = ours.public_bytes().unwrap();
    let old = Which {
        path: None,
        key_version: Some(KeyVersion::FIRST),
    };
    let again = client.agree(&name("x"), &peer, old).unwrap();
    assert_eq!(again.secret.expose(), expected.expose());
    let now = client.agree(&name("x"), &peer, Which::default()).unwrap();
    assert_eq!(now.key_version.number(), 2);
    assert_ne!(now.secret.expose(), expected.expose());
    drop(client);
    site.stop();
}

const ACCOUNT: &str = "m/44'/0'/7'";

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn the_words_of_a_wallet_bring_every_key_back_and_are_kept_nowhere() {
    let site = Site::start();
    let words = open_wallet(site.node(), "wallet", Algorithm::Bip32Secp256k1);
    assert_eq!(words.split(' ').count(), 24);
    allow(&site, "wallet", &USES, &[]);
    let client = site.client(TRADING);
    let seed = Mnemonic::parse(&words).unwrap().to_seed("");
    for path in [ACCOUNT, "m/44'/0'/8'", "m/29'/29'/0'/1'/0'", "m", "m/7'"] {
        let parsed: Path = path.parse().unwrap();
        let expected = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &parsed).unwrap();
        let which = Which {
            path: Some(path),
            key_version: None,
        };
        // Twice: from the seed, and from what is kept of the path's beginning.
        for _ in 0..2 {
            let shown = client.public_key(&name("wallet"), which).unwrap();
            assert_eq!(
                shown.public_key,
                expected.public_key().unwrap().as_bytes(),
                "{path}"
            );
        }
        let out = client.key_export(&name("wallet"), path).unwrap();
        assert_eq!(
            out.private_key.expose(),
            expected.export().unwrap().key.expose()
        );
        assert_eq!(
            (out.scheme.as_str(), out.seed.as_str()),
            ("bip32-secp256k1", "bip39")
        );
    }
    let signed = client
        .sign(&name("wallet"), message(Some(ACCOUNT), None))
        .unwrap();
    let key = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &ACCOUNT.parse().unwrap());
    let expected = key
        .unwrap()
        .sign_ecdsa(&Digest::of_sha256(MESSAGE))
        .unwrap();
    assert_eq!(signed.signature, expected);
    drop(client);
    // The seed is the same after a restart, and the words are in no file.
    let site = Site::over(site.stop());
    let client = site.client(TRADING);
    let again = client
        .sign(&name("wallet"), message(Some(ACCOUNT), None))
        .unwrap();
    assert_eq!(again.signature, expected);
    drop(client);
    let home = site.stop();
    let fragment = words.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let mut folders = vec![home.path()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let Ok(bytes) = std::fs::read(entry.path()) else {
                continue;
            };
            let has = |secret: &[u8]| bytes.windows(secret.len()).any(|part| part == secret);
            assert!(!has(fragment.as_bytes()), "{}", entry.path().display());
            assert!(!has(seed.expose()), "{}", entry.path().display());
        }
    }
}

#[test]
fn every_scheme_signs_or_agrees_by_path_as_the_library_does() {
    let site = Site::start();
    for (context, algorithm, scheme) in [
        ("b", Algorithm::Bip32Secp256k1, Scheme::Bip32Secp256k1),
        ("s", Algorithm::Slip10Secp256k1, Scheme::Slip10Secp256k1),
        ("n", Algorithm::Slip10NistP256, Scheme::Slip10NistP256),
        ("e", Algorithm::Slip10Ed25519, Scheme::Slip10Ed25519),
        ("c", Algorithm::Slip10Curve25519, Scheme::Slip10Curve25519),
    ] {
        let words = open_wallet(site.node(), context, algorithm);
        allow(&site, context, &USES, &[]);
        let client = site.client(TRADING);
        let seed = Mnemonic::parse(&words).unwrap().to_seed("");
        let node = PrivateNode::derive_from(&seed, scheme, &ACCOUNT.parse().unwrap()).unwrap();
        let public = node.public_key().unwrap();
        let which = Which {
            path: Some(ACCOUNT),
            key_version: None,
        };
        let shown = client.public_key(&name(context), which).unwrap();
        assert_eq!(shown.public_key, public.as_bytes());
        let asked = message(Some(ACCOUNT), None);
        let signed = client.sign(&name(context), asked);
        if scheme == Scheme::Slip10Curve25519 {
            assert_eq!(signed.unwrap_err().code().unwrap().name(), "unsupported");
            let ours = X25519PrivateKey::generate().unwrap();
            let peer = ours.public_bytes().unwrap();
            let agreed = client.agree(&name(context), &peer, which).unwrap();
            let theirs = X25519PublicKey::from_bytes(public.as_bytes().try_into().unwrap());
            let expected = ours.agree(&theirs.unwrap()).unwrap();
            assert_eq!(agreed.secret.expose(), expected.expose());
            continue;
        }
        let signed = signed.unwrap();
        let signature = signed.signature.as_slice().try_into().unwrap();
        match scheme {
            Scheme::Slip10Ed25519 => public.verify_ed25519(MESSAGE, signature).unwrap(),
            _ => public
                .verify_ecdsa(&Digest::of_sha256(MESSAGE), signature)
                .unwrap(),
        }
        let item = Verify {
            signed: asked,
            signature: &signed.signature,
            key_version: signed.key_version,
        };
        assert!(client.verify(&name(context), item).unwrap().valid);
        let elsewhere = Verify {
            signed: message(Some("m/44'/0'/8'"), None),
            ..item
        };
        assert!(!client.verify(&name(context), elsewhere).unwrap().valid);
    }
    site.stop();
}

#[test]
fn paths_that_lead_to_no_key_are_refused_and_siblings_go_on() {
    let site = Site::start();
    open_wallet(site.node(), "wallet", Algorithm::Bip32Secp256k1);
    allow(&site, "wallet", &USES, &[]);
    let mut wire = site.wire(TRADING, BOTH[0]);
    let long = format!("m{}", "/0'".repeat(256));
    for bad in [
        "",
        "M/0'",
        "m/",
        "m//1'",
        "m/-1'",
        "m/01'",
        "m/2147483648",
        "m/0'/x",
        "0'/1'",
        "m/0",
        &long,
    ] {
        let body = json!({ "message": "", "path": bad }).to_string();
        let refused = wire.post(&path("wallet", "sign"), body);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "path_invalid"),
            "{bad}"
        );
    }
    let missing = wire.post(
        &path("wallet", "sign"),
        json!({ "message": "" }).to_string(),
    );
    assert_eq!(missing.code(), "path_invalid");
    let items: Vec<Value> = ["m/1'", "m/x", "m/2'"]
        .iter()
        .map(|path| json!({ "message": "", "path": path }))
        .collect();
    let many = wire.post(
        &path("wallet", "sign"),
        json!({ "items": items }).to_string(),
    );
    let many = many.json();
    assert_eq!(many["failed"], 1);
    assert_eq!(many["items"][1]["error"]["code"], "path_invalid");
    assert_ne!(many["items"][0]["signature"], many["items"][2]["signature"]);
    // Extended keys need children that a public parent could make, which are off here.
    let body = json!({ "path": "m/44'" }).to_string();
    assert_eq!(
        wire.post(&path("wallet", "xpub"), body).code(),
        "unsupported"
    );
    site.stop();
}

#[test]
fn policy_decides_by_path_and_purpose_and_the_record_names_the_path() {
    let site = Site::start();
    open_wallet(site.node(), "wallet", Algorithm::Bip32Secp256k1);
    allow(
        &site,
        "wallet",
        &[Operation::Sign],
        &["m/44'/0'/**", "m/29'/29'/*'/**"],
    );
    let closed = grant(
        "wallet",
        &[Operation::Sign],
        &["m/44'/0'/9'/**"],
        Effect::Deny,
    );
    site.change_policy(|document| document.grants.push(closed));
    let mut wire = site.wire(TRADING, BOTH[0]);
    let mut sign = |path_of_key: &str| {
        let body = json!({ "message": "", "path": path_of_key }).to_string();
        wire.post(&path("wallet", "sign"), body).code()
    };
    for (path, code) in [
        ("m/44'/0'", "ok"),
        ("m/44'/0'/7'/1'", "ok"),
        ("m/44'/0'/9'", "operation_denied"),
        ("m/44'/0'/9'/1'", "operation_denied"),
        ("m/44'", "operation_denied"),
        ("m/44'/1'", "operation_denied"),
        // Purposes of Identus: 3 agrees and never signs, 4 authenticates.
        ("m/29'/29'/0'/4'/0'", "ok"),
        ("m/29'/29'/0'/3'/0'", "operation_denied"),
    ] {
        assert_eq!(sign(path), code, "{path}");
    }
    let denied = |wire: &mut Wire, action: &str, body: Value| {
        let refused = wire.post(&path("wallet", action), body.to_string());
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "operation_denied")
        );
    };
    denied(&mut wire, "public-key", json!({ "path": "m/44'/0'" }));
    denied(&mut wire, "key/export", json!({ "path": "m/44'/0'" }));
    let items = json!({ "items": [
        { "message": "", "path": "m/44'/0'/1'" },
        { "message": "", "path": "m/45'" },
    ] });
    let many = wire.post(&path("wallet", "sign"), items.to_string()).json();
    assert_eq!(many["items"][1]["error"]["code"], "operation_denied");
    assert_eq!(many["failed"], 1);
    // A right on some paths shows the context, and is none in a context that is no tree.
    assert!(
        wire.get("/v1/contexts").json()["contexts"]
            .to_string()
            .contains("wallet")
    );
    make(
        site.node(),
        "plain",
        spec(Purpose::Sign, Algorithm::Ed25519),
        None,
    );
    allow(&site, "plain", &[Operation::Sign], &["m/**"]);
    let refused = wire.post(&path("plain", "sign"), json!({ "message": "" }).to_string());
    assert_eq!(refused.code(), "operation_denied");
    drop(wire);
    let home = site.stop();
    home.verify();
    let signs: Vec<_> = home
        .requests()
        .into_iter()
        .filter(|one| one["operation"] == "sign")
        .collect();
    assert_eq!(field(&signs[1], "paths"), Some(&json!(["m/44'/0'/7'/1'"])));
    assert_eq!(field(&signs[2], "paths"), Some(&json!(["m/44'/0'/9'"])));
    assert_eq!(field(&signs[2], "reason"), Some(&json!("policy-denied")));
    let batch = signs.iter().find(|one| one["items"] == 2).unwrap();
    assert_eq!(
        field(batch, "paths"),
        Some(&json!(["m/44'/0'/1'", "m/45'"]))
    );
}

#[test]
fn a_wallet_that_never_exports_does_not_whatever_policy_says() {
    let site = Site::start();
    let node = site.node();
    let secp = spec(Purpose::Tree, Algorithm::Bip32Secp256k1);
    assert_eq!(make(node, "closed", secp, tree("raw")), None);
    assert_eq!(make(node, "soft", secp, soft("raw")), None);
    for context in ["closed", "soft"] {
        allow(&site, context, &USES, &[]);
    }
    let client = site.client(TRADING);
    for context in ["closed", "soft"] {
        let refused = client.key_export(&name(context), ACCOUNT).unwrap_err();
        assert_eq!(refused.code().unwrap().name(), "unsupported");
    }
    // A tree that hands out public nodes: children of the extended key are those of the tree.
    let xpub = client.xpub(&name("soft"), "m/44'/0'").unwrap().xpub;
    let parsed = keywright_hdkey::extended::ExtendedKey::parse(&xpub, Scheme::Bip32Secp256k1);
    let keywright_hdkey::extended::ExtendedKey::Public(parent) = parsed.unwrap() else {
        panic!("a public node");
    };
    let child = parent.derive(&"m/5".parse().unwrap()).unwrap();
    let which = Which {
        path: Some("m/44'/0'/5"),
        key_version: None,
    };
    let shown = client.public_key(&name("soft"), which).unwrap();
    assert_eq!(shown.public_key, child.key().as_bytes());
    drop(client);
    site.stop();
}

#[test]
fn trees_that_could_not_keep_their_promises_are_not_made_and_none_is_rotated() {
    let site = Site::start();
    let node = site.node();
    let secp = spec(Purpose::Tree, Algorithm::Bip32Secp256k1);
    let plain = KeySpec {
        export: Export::Plain,
        ..secp
    };
    let edwards = spec(Purpose::Tree, Algorithm::Slip10Ed25519);
    let token = KeySpec {
        custody: Custody::Token,
        ..secp
    };
    let crossed = spec(Purpose::Tree, Algorithm::Ed25519);
    let signs = spec(Purpose::Sign, Algorithm::Ed25519);
    for (spec, detail, says) in [
        (plain, soft("bip39"), "hands out public nodes"),
        (plain, tree("raw"), "does not support"),
        (secp, tree("bip39"), "does not support"),
        (secp, tree("node"), "does not support"),
        (secp, None, "does not support"),
        (edwards, soft("raw"), "hardened children only"),
        (token, tree("raw"), "cannot stay in a token"),
        (crossed, tree("raw"), "no algorithm of keys"),
        (signs, tree("raw"), "does not support"),
    ] {
        let refused = node.carry_out(order("new", spec, detail)).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
    make(node, "new", secp, tree("raw"));
    let rotated = node.admin().rotate(&name("default"), &name("new"));
    assert!(rotated.unwrap_err().to_string().contains("one seed"));
    site.stop();
}

#[test]
fn neither_messages_nor_keys_nor_secrets_are_in_the_log() {
    let site = Site::start();
    open_wallet(site.node(), "wallet", Algorithm::Slip10Curve25519);
    make(
        site.node(),
        "signer",
        spec(Purpose::Sign, Algorithm::Ed25519),
        None,
    );
    make(
        site.node(),
        "mac",
        spec(Purpose::Mac, Algorithm::HmacSha256),
        None,
    );
    for context in ["wallet", "signer"] {
        allow(&site, context, &USES, &[]);
    }
    allow(&site, "mac", &[Operation::Mac], &[]);
    let client = site.client(TRADING);
    let peer = X25519PrivateKey::generate()
        .unwrap()
        .public_bytes()
        .unwrap();
    let which = Which {
        path: Some(ACCOUNT),
        key_version: None,
    };
    let secrets = [
        client
            .agree(&name("wallet"), &peer, which)
            .unwrap()
            .secret
            .expose()
            .to_vec(),
        client
            .key_export(&name("wallet"), ACCOUNT)
            .unwrap()
            .private_key
            .expose()
            .to_vec(),
        client
            .sign(&name("signer"), message(None, None))
            .unwrap()
            .signature,
        client.mac(&name("mac"), MESSAGE).unwrap().mac,
        MESSAGE.to_vec(),
    ];
    drop(client);
    let home = site.stop();
    home.verify();
    for entry in std::fs::read_dir(home.path().join("audit")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in &secrets {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret));
        }
    }
}
