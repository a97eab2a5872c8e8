//! Keys of Identus profiles, and keys as JSON.

use keywright_hdkey::jwk::require_same;
use keywright_hdkey::profile::{Profile, ProfileKey};
use keywright_hdkey::{Curve, Error, PrivateNode, PublicKey, Scheme, Seed};
use keywright_secret::Secret;
use keywright_vectors::{Record, Tally, repository};

use crate::scene::{INDEXED, exported, path, root, seed, unhex};

fn golden() -> Vec<Record> {
    let file = repository().join("vectors/golden/hd/profiles.json");
    let value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    Record::new("profiles", &value)
        .unwrap()
        .list("cases")
        .unwrap()
}

#[test]
fn t38_keys_of_profiles_are_those_of_the_second_implementation() {
    let mut tally = Tally::new("golden identus profiles");
    for case in golden() {
        let seed = Seed::raw(&case.hex("seed").unwrap()).unwrap();
        let at = path(case.text("path").unwrap());
        let node = PrivateNode::derive_from(&seed, Scheme::Bip32Ed25519V2, &at).unwrap();
        let profile: Profile = case.text("profile").unwrap().parse().unwrap();
        let key = ProfileKey::of(&node, profile).unwrap();
        let message = case.hex("message").unwrap();
        let signed = match key.sign(&message) {
            Ok(signature) => signature[..] == case.hex("signature").unwrap(),
            Err(Error::WrongUse { .. }) => profile == Profile::IdentusX25519,
            Err(_) => false,
        };
        let holds = key.public_key().unwrap()[..] == case.hex("public").unwrap()
            && node.public_key().unwrap().as_bytes() == case.hex("node_public").unwrap()
            && signed
            && key.profile() == profile;
        tally.check(case.name(), holds);
    }
    assert_eq!(tally.total(), 36);
    tally.finish().unwrap();
}

#[test]
fn t38_one_seed_gives_another_key_under_each_of_five_names() {
    let at = path("m/29'/29'/0'/4'/0'");
    let node = PrivateNode::derive_from(&seed(), Scheme::Bip32Ed25519V2, &at).unwrap();
    let slip10 = PrivateNode::derive_from(&seed(), Scheme::Slip10Ed25519, &at).unwrap();
    let mut keys = vec![
        node.public_key().unwrap().as_bytes().to_vec(),
        slip10.public_key().unwrap().as_bytes().to_vec(),
    ];
    for profile in Profile::ALL {
        let key = ProfileKey::of(&node, profile).unwrap();
        keys.push(key.public_key().unwrap().to_vec());
        assert_eq!(format!("{key:?}"), format!("ProfileKey({profile})"));
        assert_eq!(profile.name().parse(), Ok(profile));
        assert!(ProfileKey::of(&slip10, profile).is_err());
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 5);
    for bad in ["identus", "identus-ed25519", "", "slip10-ed25519"] {
        assert!(bad.parse::<Profile>().is_err());
    }
}

#[test]
fn t41_under_profiles_one_key_agrees_and_the_others_sign() {
    let node = root(Scheme::Bip32Ed25519V2);
    let [js, jvm, agrees] = Profile::ALL.map(|profile| ProfileKey::of(&node, profile).unwrap());
    let other = root(Scheme::Bip32Ed25519V2).derive(&path("m/5'")).unwrap();
    let peer = ProfileKey::of(&other, Profile::IdentusX25519).unwrap();
    let (own, theirs) = (agrees.public_key().unwrap(), peer.public_key().unwrap());
    let secret = agrees.agree(&theirs).unwrap();
    assert!(secret.ct_eq(&peer.agree(&own).unwrap()));
    for signs in [js, jvm] {
        assert!(matches!(signs.agree(&theirs), Err(Error::WrongUse { .. })));
        let signature = signs.sign(b"m").unwrap();
        let public = PublicKey::from_bytes(Scheme::Slip10Ed25519, &signs.public_key().unwrap());
        let public = public.unwrap();
        assert_eq!(public.verify_ed25519(b"m", &signature), Ok(()));
        assert_eq!(
            public.verify_ed25519(b"n", &signature),
            Err(Error::Rejected)
        );
    }
    assert!(agrees.sign(b"m").is_err());
    assert!(agrees.agree(&[0; 32]).is_err());
}

#[test]
fn public_keys_as_json_say_what_they_are() {
    // Public halves of RFC 8037, appendix A, and of a private key of one.
    let key = unhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    let key = PublicKey::from_bytes(Scheme::Slip10Ed25519, &key).unwrap();
    assert_eq!(
        key.to_jwk().unwrap(),
        r#"{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
    );
    let base = unhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    let base = PublicKey::from_bytes(Scheme::Bip32Secp256k1, &base).unwrap();
    assert_eq!(
        base.to_jwk().unwrap(),
        concat!(
            r#"{"crv":"secp256k1","kty":"EC","x":"eb5mfvncu6xVoGKVzocLBwKb_NstzijZWfKBWxb4F5g","#,
            r#""y":"SDradyajxGVdpPv8DhEIqP0XtEimhVQZnEfQj_sQ1Lg"}"#
        )
    );
    for scheme in INDEXED {
        let jwk = root(scheme).public_key().unwrap().to_jwk().unwrap();
        let read: serde_json::Value = serde_json::from_str(&jwk).unwrap();
        let curve = Curve::of_jwk_name(read["crv"].as_str().unwrap());
        assert_eq!(curve, scheme.curve());
        assert!(read.get("d").is_none());
        assert_eq!(read["y"].is_string(), read["kty"] == "EC");
    }
    for bad in ["", "x25519", "P256", "secp256r1", "Ed448"] {
        assert_eq!(Curve::of_jwk_name(bad), None);
    }
}

#[test]
fn t40_a_public_half_of_another_key_is_refused() {
    let at = path("m/1'");
    for scheme in [
        Scheme::Bip32Secp256k1,
        Scheme::Slip10NistP256,
        Scheme::Slip10Ed25519,
        Scheme::Slip10Curve25519,
    ] {
        let node = root(scheme);
        let private = Secret::copy_from(&exported(&node)).unwrap();
        let (own, other) = (halves(&node), halves(&node.derive(&at).unwrap()));
        let curve = scheme.curve().unwrap();
        assert_eq!(require_same(curve, &private, &own), Ok(()));
        for wrong in [&other[..], &own[1..], &own[..31], &[]] {
            let refused = require_same(curve, &private, wrong);
            assert_eq!(refused, Err(Error::HalvesDiffer), "{scheme}");
        }
        for place in 0..own.len() {
            let mut changed = own.clone();
            changed[place] ^= 1;
            assert!(require_same(curve, &private, &changed).is_err());
        }
    }
    let zero = Secret::copy_from(&[0; 32]).unwrap();
    let refused = require_same(Curve::P256, &zero, &[4; 65]);
    assert_eq!(refused, Err(Error::PrivateKeyRejected));
}

/// The public key, uncompressed where it is a point of two coordinates.
fn halves(node: &PrivateNode) -> Vec<u8> {
    let key = node.public_key().unwrap();
    let jwk: serde_json::Value = serde_json::from_str(&key.to_jwk().unwrap()).unwrap();
    let field = |name: &str| {
        let text = jwk[name].as_str()?;
        let standard = text.replace('-', "+").replace('_', "/");
        keywright_encoding::base64::decode(&format!("{standard}=")).ok()
    };
    match field("y") {
        Some(y) => [vec![4], field("x").unwrap(), y].concat(),
        None => field("x").unwrap(),
    }
}
