//! Keys of ML-KEM and SLH-DSA: made, exported, inspected, used, destroyed; refused where the token has none.

use keywright_tokens::{Kind, on_each};
use serde_json::Value;

use crate::hsm::{Scene, data, error, refused};

const KEM: &str = "CKM_ML_KEM_KEY_PAIR_GEN";
const HASHES: &str = "CKM_SLH_DSA_KEY_PAIR_GEN";

fn make(scene: &Scene<'_>, kind: &str, more: &[&str]) -> Value {
    scene.data(
        &[
            &["gen-keypair", "--key-label", kind, "--key-type", kind],
            more,
        ]
        .concat(),
    )
}

/// The public key in this form.
fn export(scene: &Scene<'_>, label: &str, form: &str) -> Vec<u8> {
    let words = ["export-pubkey", "--key-label", label, "--container", form];
    scene.public(&words).bytes()
}

/// That SubjectPublicKeyInfo is this front and then the key, in DER and in PEM, and what forms there are not.
#[track_caller]
fn exported(scene: &Scene<'_>, kind: &str, front: &str, len: usize) {
    let raw = export(scene, kind, "raw");
    assert_eq!(raw.len(), len, "{kind}");
    let der = export(scene, kind, "der");
    let front = keywright_encoding::hex::decode(front).unwrap();
    assert_eq!(der, [&front[..], &raw].concat(), "{kind}");
    let pem = String::from_utf8(export(scene, kind, "pem")).unwrap();
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    assert_eq!(keywright_encoding::base64::decode(&body).unwrap(), der);
    for (form, name) in [("ssh", "SSH"), ("jwk", "JWK")] {
        let words = ["export-pubkey", "--key-label", kind, "--container", form];
        let none = format!("no {name} form");
        refused(&scene.public(&words), 2, &none);
    }
}

/// Both halves go, and nothing else.
#[track_caller]
fn destroyed(scene: &Scene<'_>, label: &str) {
    let gone = scene.data(&["delete-key", "--key-label", label, "--with-pair", "--yes"]);
    assert_eq!(gone["objects_removed"], 2, "{label}");
    let left = scene.data(&["list-objects", "--key-label", label]);
    assert_eq!(left["object_count"], 0);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in commands")]
fn keys_for_encapsulation_do_that_alone_and_are_exported_as_the_rfc_says() {
    on_each(|store| {
        let scene = Scene::new(store);
        if !scene.has(KEM) {
            assert_eq!(store.kind(), Kind::SoftHsm, "the other has them");
            let words = ["gen-keypair", "--key-label", "k", "--json", "--key-type"];
            for kind in ["ml-kem-512", "ml-kem-768", "ml-kem-1024"] {
                let ended = scene.user(&[&words[..], &[kind]].concat());
                let told = error(&ended, 12, Some("CKR_MECHANISM_INVALID"));
                assert!(told["message"].as_str().unwrap().contains(KEM), "{told}");
            }
            return;
        }
        let message = scene.file("message", "a message");
        for (kind, name, front, len) in [
            (
                "ml-kem-512",
                "ML-KEM-512",
                "30820332300b060960864801650304040103820321 00",
                800,
            ),
            (
                "ml-kem-768",
                "ML-KEM-768",
                "308204b2300b0609608648016503040402038204a1 00",
                1184,
            ),
            (
                "ml-kem-1024",
                "ML-KEM-1024",
                "30820632300b060960864801650304040303820621 00",
                1568,
            ),
        ] {
            let refusals = ["sign", "encrypt", "wrap", "derive"];
            for usage in refusals {
                let words = ["gen-keypair", "--key-label", "no", "--key-type", kind];
                let ended = scene.user(&[&words[..], &["--usage", usage]].concat());
                refused(&ended, 2, "cannot do that");
            }
            let made = make(&scene, kind, &["--usage", "kem"]);
            assert_eq!(made["key_type"], name);
            assert_eq!(
                (&made["bits"], &made["curve"]),
                (&(len * 8).into(), &Value::Null)
            );
            exported(&scene, kind, &front.replace(' ', ""), len);
            let shown = scene.data(&["export-pubkey", "--key-label", kind]);
            assert_eq!(
                (&shown["key_type"], &shown["fingerprint"]),
                (&name.into(), &made["fingerprint"])
            );
            let inspected = scene.data(&["inspect-key", "--key-label", kind]);
            let halves = inspected["objects"].as_array().unwrap();
            assert_eq!(halves.len(), 2);
            for half in halves {
                let public = half["class"] == "CKO_PUBLIC_KEY";
                let flags = &half["flags"];
                let own = |flag: &str| flags[flag] == true;
                assert_eq!(
                    (own("encapsulate"), own("decapsulate")),
                    (public, !public),
                    "{half}"
                );
                let others = ["sign", "verify", "encrypt", "decrypt", "wrap", "unwrap"];
                assert!(!others.into_iter().any(own), "{half}");
                assert_eq!(public, half["fingerprint"] == made["fingerprint"], "{half}");
            }
            let found = scene.data(&["find-key", "--key-label", kind]);
            let capabilities = found["keys"].to_string();
            assert!(capabilities.contains("decapsulate"), "{found}");
            let sign = ["sign", "--key-label", kind, "--input", &message];
            refused(&scene.user(&sign), 2, "do not sign");
            let request = ["gen-csr", "--key-label", kind, "--subject", "CN=a"];
            refused(&scene.user(&request), 2, "sign no requests");
            destroyed(&scene, kind);
        }
    });
}

#[test]
fn keys_over_hashes_sign_data_with_and_without_a_context() {
    on_each(|store| {
        let scene = Scene::new(store);
        let words = ["gen-keypair", "--key-label", "k", "--json", "--key-type"];
        if !scene.has(HASHES) {
            assert_eq!(store.kind(), Kind::SoftHsm, "the other has them");
            let ended = scene.user(&[&words[..], &["slh-dsa-sha2-128f"]].concat());
            let told = error(&ended, 12, Some("CKR_MECHANISM_INVALID"));
            assert!(told["message"].as_str().unwrap().contains(HASHES), "{told}");
            return;
        }
        for usage in ["kem", "encrypt", "derive"] {
            let more = ["slh-dsa-sha2-128f", "--usage", usage];
            let ended = scene.user(&[&words[..], &more].concat());
            error(&ended, 2, None);
        }
        let message = scene.file("message", "a message");
        let other = scene.file("other", "a massage");
        for (kind, name, signature_len) in [
            ("slh-dsa-sha2-128f", "SLH-DSA-SHA2-128f", 17_088),
            ("slh-dsa-shake-192f", "SLH-DSA-SHAKE-192f", 35_664),
        ] {
            make(&scene, kind, &[]);
            let signature = scene.name(&format!("{kind}.signature"));
            let sign = ["sign", "--key-label", kind, "--input", &message, "--force"];
            let sign = |more: &[&str]| {
                let output = ["--output", &signature, "--json"];
                scene.user(&[&sign[..], &output, more].concat())
            };
            let verify = |input: &str, more: &[&str]| {
                let words = ["verify", "--key-label", kind, "--signature", &signature];
                let ended = scene.public(&[&words[..], &["--input", input], more].concat());
                ended.code
            };
            let signed = data(&sign(&["--self-verify"]));
            assert_eq!(signed["signature_bytes"], signature_len);
            assert_eq!(
                (&signed["scheme"], &signed["key_type"], &signed["hash"]),
                (&"slh-dsa".into(), &name.into(), &Value::Null)
            );
            assert_eq!(verify(&message, &[]), 0, "{kind}");
            assert_eq!(verify(&other, &[]), 8, "{kind}");
            assert_eq!(verify(&message, &["--context", "c"]), 8, "{kind}");
            data(&sign(&["--context", "c"]));
            assert_eq!(verify(&message, &["--context", "c"]), 0, "{kind}");
            assert_eq!(verify(&message, &["--context", "d"]), 8, "{kind}");
            assert_eq!(verify(&message, &[]), 8, "{kind}");
            for more in [
                &["--hash", "sha256"][..],
                &["--prehashed"],
                &["--mechanism", "ml-dsa"],
            ] {
                error(&sign(more), 2, None);
            }
            let request = ["gen-csr", "--key-label", kind, "--subject", "CN=a"];
            assert_eq!(scene.data(&request)["self_verified"], true);
        }
    });
}

#[test]
fn each_set_over_hashes_is_exported_under_its_own_number() {
    on_each(|store| {
        let scene = Scene::new(store);
        if !scene.has(HASHES) {
            assert_eq!(store.kind(), Kind::SoftHsm, "the other has them");
            return;
        }
        let sets = [
            ("sha2-128s", 32),
            ("sha2-128f", 32),
            ("sha2-192s", 48),
            ("sha2-192f", 48),
            ("sha2-256s", 64),
            ("sha2-256f", 64),
            ("shake-128s", 32),
            ("shake-128f", 32),
            ("shake-192s", 48),
            ("shake-192f", 48),
            ("shake-256s", 64),
            ("shake-256f", 64),
        ];
        // RFC 9909, 3: 2.16.840.1.101.3.4.3.20 and on.
        for (arc, (set, len)) in (20..).zip(sets) {
            let kind = format!("slh-dsa-{set}");
            let made = make(&scene, &kind, &[]);
            assert!(
                made["key_type"]
                    .as_str()
                    .unwrap()
                    .eq_ignore_ascii_case(&kind)
            );
            let (inner, whole) = (len + 1, len + 16);
            let front = format!("30{whole:02x}300b06096086480165030403{arc:02x}03{inner:02x}00");
            exported(&scene, &kind, &front, len);
            destroyed(&scene, &kind);
        }
    });
}
