//! The older padding of RSA encryption, by name alone; and keys that leave under RSA and AES together.

use keywright_tokens::{Kind, on_each};
use serde_json::Value;

use crate::hsm::{Scene, data, document, error, openssl, refused};
use crate::program::Ended;

const WRAP: &str = "CKM_RSA_AES_KEY_WRAP";

fn sealed(scene: &Scene<'_>, label: &str, input: &str, output: &str) -> Ended {
    let words = ["encrypt", "--legacy", "--key-label", label];
    let files = ["--input", input, "--output", output, "--force", "--json"];
    scene.public(&[&words[..], &files].concat())
}

fn opened(scene: &Scene<'_>, label: &str, input: &str, more: &[&str]) -> Ended {
    let words = ["decrypt", "--key-label", label, "--input", input];
    scene.user(&[&words[..], more].concat())
}

#[test]
fn the_older_padding_is_taken_by_name_and_warned_of() {
    on_each(|store| {
        let scene = Scene::new(store);
        let output = scene.name("sealed");
        for (label, bits, limit) in [("two", "2048", 245), ("three", "3072", 373)] {
            let make = ["gen-keypair", "--key-label", label, "--usage", "encrypt"];
            let id = if label == "two" { "02" } else { "03" };
            scene.data(&[&make[..], &["--bits", bits, "--id", id]].concat());
            for length in [0, 1, limit] {
                let plain = vec![7; length];
                let input = scene.file("plain", &plain);
                let ended = sealed(&scene, label, &input, &output);
                let warned = document(&ended)["warnings"].to_string();
                assert!(warned.contains("PKCS#1 v1.5"), "{warned}");
                let told = data(&ended);
                assert_eq!(
                    (&told["mechanism"], &told["hash"]),
                    (&"CKM_RSA_PKCS".into(), &Value::Null)
                );
                let ended = opened(&scene, label, &output, &["--legacy"]);
                assert!(ended.stderr.starts_with("warning: PKCS#1"), "{ended:?}");
                assert_eq!((ended.code, &ended.stdout), (0, &plain), "{length}");
            }
            let long = scene.file("long", vec![7; limit + 1]);
            let none = scene.name("none");
            let before = scene.folder.names();
            let ended = sealed(&scene, label, &long, &none);
            let told = error(&ended, 2, Some("CKR_DATA_LEN_RANGE"));
            let most = format!("at most {limit}");
            assert!(told["message"].as_str().unwrap().contains(&most), "{told}");
            assert_eq!(scene.folder.names(), before);
        }
    });
}

#[test]
fn others_read_the_older_padding_and_nothing_takes_it_unasked() {
    on_each(|store| {
        let scene = Scene::new(store);
        let make = ["gen-keypair", "--key-label", "rsa", "--usage", "encrypt"];
        scene.data(&[&make[..], &["--id", "02"]].concat());
        let secret = scene.file("secret", "for old programs");
        let (ours, theirs) = (scene.name("ours"), scene.name("theirs"));
        let (back, public) = (scene.name("back"), scene.name("rsa.pem"));
        data(&sealed(&scene, "rsa", &secret, &ours));
        let decrypt = ["--decrypt", "-m", "RSA-PKCS", "--id", "02"];
        let files = ["--input-file", &ours, "--output-file", &back];
        scene.judge(&[&decrypt[..], &files].concat());
        assert_eq!(scene.folder.read("back"), b"for old programs");
        let words = ["export-pubkey", "--key-label", "rsa", "--output", &public];
        assert_eq!(scene.public(&words).code, 0);
        let words = ["pkeyutl", "-encrypt", "-pubin", "-inkey", &public];
        let padding = ["-pkeyopt", "rsa_padding_mode:pkcs1"];
        let files = ["-in", &secret, "-out", &theirs];
        openssl(&[&words[..], &padding, &files].concat());
        let ended = opened(&scene, "rsa", &theirs, &["--legacy"]);
        assert_eq!(ended.bytes(), b"for old programs");
        // One padding is not tried where another was asked for.
        refused(&opened(&scene, "rsa", &theirs, &[]), 8, "does not open");
        for more in [
            &["--legacy", "--hash", "sha256"][..],
            &["--legacy", "--envelope"],
        ] {
            let ended = opened(&scene, "rsa", &theirs, more);
            refused(&ended, 2, "cannot be used with");
        }
    });
}

#[test]
fn whatever_is_wrong_with_the_older_padding_is_told_alike() {
    on_each(|store| {
        let scene = Scene::new(store);
        for label in ["rsa", "other"] {
            scene.data(&["gen-keypair", "--key-label", label, "--usage", "encrypt"]);
        }
        let secret = scene.file("secret", "for old programs");
        let (ours, out) = (scene.name("ours"), scene.name("out"));
        data(&sealed(&scene, "rsa", &secret, &ours));
        let whole = scene.folder.read("ours");
        let mut last = whole.clone();
        last[255] ^= 1;
        let mut first = whole.clone();
        first[3] ^= 1;
        let bad = scene.file("bad", "");
        let before = scene.folder.names();
        let (mut told, mut answered) = (Vec::new(), 0);
        for (label, bytes) in [
            ("rsa", &first[..]),
            ("rsa", &last),
            ("other", &whole),
            ("rsa", &whole[1..]),
            ("rsa", &whole[..255]),
            ("rsa", &[]),
            ("rsa", &[0xFF; 256]),
            ("rsa", &[0; 256]),
            ("rsa", &[&whole[..], &[0]].concat()),
        ] {
            scene.file("bad", bytes);
            let words = ["--legacy", "--output", &out];
            let ended = opened(&scene, label, &bad, &words);
            if ended.code == 0 {
                // Implicit rejection: the token answers bytes that nobody encrypted.
                assert_ne!(scene.folder.read("out"), b"for old programs");
                std::fs::remove_file(&out).unwrap();
                answered += 1;
            } else {
                refused(&ended, 8, "does not open");
                told.push(ended.stderr.clone());
            }
            assert_eq!(scene.folder.names(), before);
        }
        assert!(told.len() >= 4, "{told:?}");
        assert_eq!(answered > 0, store.kind() == Kind::Kryoptic, "{answered}");
        told.dedup();
        assert_eq!(told.len(), 1, "one answer for all: {told:?}");
    });
}

#[test]
fn a_key_leaves_under_rsa_and_aes_where_the_token_has_that() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-keypair", "--key-label", "wraps", "--usage", "wrap"]);
        let make = ["gen-keypair", "--key-label", "leaves", "--extractable"];
        scene.data(&[&make[..], &["--key-type", "p256"]].concat());
        let wrapped = scene.name("wrapped");
        let before = scene.folder.names();
        let under = ["--wrapping-key-label", "wraps", "--method", "rsa-aes-kw"];
        let hash = if scene.has("CKM_SHA3_256") {
            "sha256"
        } else {
            "sha1"
        };
        let wrap = ["wrap-key", "--key-label", "leaves", "--output", &wrapped];
        let wrap = [&wrap[..], &under, &["--hash", hash, "--json"]].concat();
        let unwrap = ["unwrap-key", "--key-label", "back", "--key-type", "ec"];
        let unwrap = [&unwrap[..], &under, &["--hash", hash, "--json", "--input"]].concat();
        if !scene.has(WRAP) {
            let told = error(&scene.user(&wrap), 12, Some("CKR_MECHANISM_INVALID"));
            assert!(told["message"].as_str().unwrap().contains(WRAP), "{told}");
            let hint = told["hint"].as_str().unwrap();
            assert!(hint.contains("CKM_RSA_PKCS_OAEP"), "{told}");
            assert_eq!(scene.folder.names(), before);
            let input = scene.file("input", [7; 300]);
            let ended = scene.user(&[&unwrap[..], &[&input]].concat());
            error(&ended, 12, Some("CKR_MECHANISM_INVALID"));
            return;
        }
        let report = data(&scene.user(&wrap));
        assert_eq!(report["mechanism"], WRAP);
        let report = data(&scene.user(&[&unwrap[..], &[&wrapped]].concat()));
        assert_eq!(report["local"], false);
    });
}
