//! `pkcs11-tool` of OpenSC as the judge: keys of one are used by the other, and the backend verifies both.

use keywright_pkcs11::{Curve, KeyPlan, Mechanism, PairKind, Purpose, Template};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_primitives::hash;
use keywright_primitives::signature::ecdsa::P256VerifyingKey;
use keywright_tokens::{Store, on_each};

use crate::scene::{self, signed};

fn tool(store: &Store, arguments: &[&str]) {
    let token = &store.tokens()[0];
    let mut command = store.pkcs11_tool(token.label()).unwrap();
    let output = command
        .args(["--login", "--pin", token.user_pin()])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The uncompressed point, whether or not the token puts an octet string around it.
fn point(bytes: &[u8]) -> &[u8] {
    let length = Curve::P256.public_len();
    &bytes[bytes.len() - length..]
}

#[test]
fn signatures_under_our_keys_are_made_by_the_judge_and_verified_by_us() {
    on_each(|store| {
        let session = scene::writing(store);
        let plan = KeyPlan::new(Purpose::Sign).id(&[0xAB, 0xCD]).label("ours");
        let pair = session.generate_pair(PairKind::Curve(Curve::P256), &plan);
        let pair = pair.unwrap();
        let digest = hash::sha256(b"text");
        let (input, output) = (store.folder().join("digest"), store.folder().join("made"));
        std::fs::write(&input, digest).unwrap();
        tool(
            store,
            &[
                "--sign",
                "--mechanism",
                "ECDSA",
                "--id",
                "abcd",
                "--input-file",
                input.to_str().unwrap(),
                "--output-file",
                output.to_str().unwrap(),
            ],
        );
        let made = std::fs::read(&output).unwrap();
        session
            .verify(&Mechanism::Ecdsa, pair.public, &digest, &made)
            .unwrap();
        session
            .verify(&Mechanism::Ecdsa, pair.public, &[0; 32], &made)
            .unwrap_err();
    });
}

#[test]
fn keys_of_the_judge_sign_for_us_and_the_backend_verifies() {
    on_each(|store| {
        tool(
            store,
            &[
                "--keypairgen",
                "--key-type",
                "EC:prime256v1",
                "--id",
                "0102",
                "--label",
                "theirs",
                "--usage-sign",
            ],
        );
        let session = scene::writing(store);
        let half = |class| {
            let template = Template::new().id(&[1, 2]).class(class);
            session.find_one(&template).unwrap()
        };
        let (public, private) = (
            half(ObjectClass::PUBLIC_KEY),
            half(ObjectClass::PRIVATE_KEY),
        );
        let digest = hash::sha256(b"text");
        let made = signed(&session, &Mechanism::Ecdsa, private, &digest);
        let read = session.attribute(public, AttributeType::EC_POINT).unwrap();
        let key = P256VerifyingKey::from_sec1(point(read.bytes().unwrap())).unwrap();
        let made = made.try_into().unwrap();
        key.verify_fixed(b"text", &made).unwrap();
        key.verify_fixed(b"texu", &made).unwrap_err();
    });
}
