//! Tokens and keys through `keywright hsm`: made, used by others, destroyed with care.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use keywright_encoding::der;
use keywright_tokens::{Kind, SO_PIN, USER_PIN, on_each};
use serde_json::Value;

use crate::hsm::{Scene, data, document, error, openssl, refused};
use crate::program::{keywright, keywright_reading};

const EDWARDS: &str = "CKM_EC_EDWARDS_KEY_PAIR_GEN";
const LATTICE: &str = "CKM_ML_DSA_KEY_PAIR_GEN";

#[track_caller]
fn secret(scene: &Scene<'_>, name: &str, pin: &str) -> String {
    let path = scene.file(name, format!("{pin}\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, mode).unwrap();
    path
}

#[test]
fn a_token_is_initialised_given_a_pin_changed_and_emptied() {
    on_each(|store| {
        let scene = Scene::new(store);
        refused(
            &scene.officer(&["init-token", "--label", "keywright"]),
            13,
            "is there already",
        );
        refused(&scene.officer(&["init-token"]), 2, "no label");
        refused(
            &scene.officer(&["init-token", "--label", &"x".repeat(33)]),
            2,
            "at most 32 bytes",
        );
        refused(
            &scene.officer(&["init-token", "--label", "ends "]),
            2,
            "blank",
        );
        let made = data(&scene.officer(&["init-token", "--label", "second", "--json"]));
        assert_eq!(
            (&made["operation"], &made["label"]),
            (&"init-token".into(), &"second".into())
        );
        let serial = made["serial_number"].as_str().unwrap().to_owned();
        let pin = secret(&scene, "second-pin", "first-secret");
        let place = ["--serial", &serial];
        let set = |words: &[&str]| {
            scene.officer(&[&["init-pin", "--pin-file", &pin], words, &place].concat())
        };
        assert_eq!(data(&set(&["--json"]))["operation"], "init-pin");
        refused(&set(&[]), 13, "already");
        assert_eq!(set(&["--yes"]).code, 0);
        let new = secret(&scene, "new-pin", "other-secret");
        let change = scene.bare(
            &[
                &["change-pin", "--pin-file", &pin, "--new-pin-file", &new],
                &place[..],
            ]
            .concat(),
        );
        assert_eq!(change.code, 0, "{change:?}");
        let look = |pin: &str| {
            scene
                .bare(&[&["list-objects", "--pin-file", pin], &place[..]].concat())
                .code
        };
        assert_eq!((look(&pin), look(&new)), (11, 0));
        let other = ["change-pin", "--new-pin-file", &new];
        refused(
            &scene.officer(&[&other[..], &place].concat()),
            2,
            "the security officer's PIN is named, and the user's is changed",
        );
        let other = [&other[..], &["--so", "--pin-file", &pin], &place].concat();
        refused(&scene.bare(&other), 2, "the user's PIN is named");
        let delete = |words: &[&str]| scene.officer(&[&["delete-token"], words, &place].concat());
        let dry = data(&delete(&["--dry-run", "--json"]));
        assert_eq!(dry["serial_number"], serial.as_str());
        refused(&delete(&[]), 13, "not confirmed");
        refused(&delete(&["--confirm", "0000"]), 13, "another serial number");
        assert_eq!(look(&new), 0);
        // The officer's PIN is the only one, so it may come as one did before.
        let input = format!("{SO_PIN}\n");
        let words = [
            "hsm",
            "delete-token",
            "--module",
            &scene.module,
            "--pin-stdin",
        ];
        let words = [&words[..], &place, &["--confirm", &serial, "--json"]].concat();
        let done = keywright_reading(&words, input.as_bytes());
        assert_eq!(data(&done)["label"], "");
        assert_ne!(look(&new), 0);
        // The other token was not touched.
        scene.data(&["list-objects"]);
    });
}

#[test]
fn a_token_is_not_emptied_with_another_pin() {
    on_each(|store| {
        let scene = Scene::new(store);
        let wrong = secret(&scene, "wrong", "not-the-officer");
        scene.judge(&["--keygen", "--key-type", "AES:32", "--label", "kept"]);
        let words = [
            "delete-token",
            "--label",
            "keywright",
            "--yes",
            "--so-pin-file",
            &wrong,
        ];
        refused(&scene.bare(&words), 11, "CKR_PIN_INCORRECT");
        let words = [
            "init-pin",
            "--label",
            "keywright",
            "--yes",
            "--so-pin-file",
            &wrong,
            "--pin-file",
            scene.pin_file(),
        ];
        refused(&scene.bare(&words), 11, "CKR_PIN_INCORRECT");
        assert_eq!(
            scene.data(&["list-objects", "--key-label", "kept"])["object_count"],
            1
        );
        assert_ne!(SO_PIN, USER_PIN);
    });
}

/// Makes a pair, signs, and has OpenSSL verify with the exported public key.
#[track_caller]
fn signed_for_openssl(scene: &Scene<'_>, label: &str, make: &[&str], digest: &str) {
    let made = scene.data(&[&["gen-keypair", "--key-label", label], make].concat());
    assert_eq!(made["id"].as_str().unwrap().len(), 32);
    let (message, signature, public) = (
        scene.file("message", vec![0x33; 100_000]),
        scene.name(&format!("{label}.sig")),
        scene.name(&format!("{label}.pem")),
    );
    let told = scene.data(&[
        "sign",
        "--key-label",
        label,
        "--input",
        &message,
        "--output",
        &signature,
        "--signature-format",
        "der",
    ]);
    assert_eq!(told["input_bytes"], 100_000);
    let shown = data(&scene.public(&[
        "export-pubkey",
        "--key-label",
        label,
        "--output",
        &public,
        "--json",
    ]));
    assert_eq!(shown["fingerprint"], made["fingerprint"]);
    let verified = openssl(&[
        "dgst",
        digest,
        "-verify",
        &public,
        "-signature",
        &signature,
        &message,
    ]);
    assert!(verified.contains("Verified OK"), "{verified}");
    let check = [
        "verify",
        "--key-label",
        label,
        "--signature",
        &signature,
        "--signature-format",
        "der",
    ];
    let good = data(&scene.public(&[&check[..], &["--input", &message, "--json"]].concat()));
    assert_eq!(good["verification"], "valid");
    let other = scene.file("other", vec![0x34; 100_000]);
    refused(
        &scene.public(&[&check[..], &["--input", &other]].concat()),
        8,
        "does not fit",
    );
}

#[test]
fn openssl_verifies_what_each_kind_of_pair_signs() {
    on_each(|store| {
        let scene = Scene::new(store);
        signed_for_openssl(&scene, "rsa", &[], "-sha256");
        signed_for_openssl(&scene, "p256", &["--key-type", "p256"], "-sha256");
        signed_for_openssl(&scene, "p384", &["--key-type", "p384"], "-sha384");
        signed_for_openssl(&scene, "p521", &["--key-type", "p521"], "-sha512");
    });
}

#[test]
fn openssl_verifies_pss_and_ed25519() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", "a message");
        scene.data(&["gen-keypair", "--key-label", "rsa", "--bits", "3072"]);
        let rsa = scene.name("rsa.pem");
        assert_eq!(
            scene
                .public(&["export-pubkey", "--key-label", "rsa", "--output", &rsa])
                .code,
            0
        );
        let signature = scene.name("pss");
        for (hash, flag) in [("sha256", "-sha256"), ("sha512", "-sha512")] {
            let words = [
                "sign",
                "--key-label",
                "rsa",
                "--mechanism",
                "pss",
                "--hash",
                hash,
                "--input",
                &message,
            ];
            scene.data(&[&words[..], &["--output", &signature, "--force"]].concat());
            let judged = openssl(&[
                "dgst",
                flag,
                "-sigopt",
                "rsa_padding_mode:pss",
                "-sigopt",
                "rsa_pss_saltlen:digest",
                "-verify",
                &rsa,
                "-signature",
                &signature,
                &message,
            ]);
            assert!(judged.contains("Verified OK"), "{judged}");
        }
        refused(
            &scene.public(&["export-pubkey", "--key-label", "rsa", "--container", "raw"]),
            2,
            "raw",
        );
        refused(
            &scene.user(&[
                "sign",
                "--key-label",
                "rsa",
                "--mechanism",
                "ecdsa",
                "--input",
                &message,
            ]),
            2,
            "ecdsa",
        );
        scene.data(&["gen-keypair", "--key-label", "ed", "--key-type", "ed25519"]);
        let ed = scene.name("ed.pem");
        assert_eq!(
            scene
                .public(&["export-pubkey", "--key-label", "ed", "--output", &ed])
                .code,
            0
        );
        let signature = scene.name("eddsa");
        scene.data(&[
            "sign",
            "--key-label",
            "ed",
            "--input",
            &message,
            "--output",
            &signature,
        ]);
        let judged = openssl(&[
            "pkeyutl", "-verify", "-pubin", "-inkey", &ed, "-rawin", "-in", &message, "-sigfile",
            &signature,
        ]);
        assert!(judged.contains("Verified Successfully"), "{judged}");
        let raw = scene
            .public(&["export-pubkey", "--key-label", "ed", "--container", "raw"])
            .bytes();
        assert_eq!(raw.len(), 32);
        refused(
            &scene.user(&[
                "sign",
                "--key-label",
                "ed",
                "--hash",
                "sha256",
                "--input",
                &message,
            ]),
            2,
            "own hash",
        );
    });
}

#[test]
fn keys_over_lattices_sign_whole_data_and_requests() {
    on_each(|store| {
        let scene = Scene::new(store);
        if !scene.has(LATTICE) {
            assert_eq!(store.kind(), Kind::SoftHsm, "the other has them");
            return;
        }
        let message = scene.file("message", "a message");
        let other = scene.file("other", "a massage");
        for (kind, public_len, signature_len) in [
            ("ml-dsa-44", 1312, 2420),
            ("ml-dsa-65", 1952, 3309),
            ("ml-dsa-87", 2592, 4627),
        ] {
            let made = scene.data(&["gen-keypair", "--key-label", kind, "--key-type", kind]);
            assert_eq!(
                (&made["bits"], &made["curve"]),
                (&(public_len * 8).into(), &Value::Null)
            );
            let export = |form| {
                let words = ["export-pubkey", "--key-label", kind, "--container", form];
                scene.public(&words)
            };
            assert_eq!(export("raw").bytes().len(), public_len);
            refused(&export("ssh"), 2, "no SSH form");
            let signature = scene.name(&format!("{kind}.signature"));
            let sign = ["sign", "--key-label", kind, "--input", &message];
            let signed = scene.data(&[&sign[..], &["--output", &signature]].concat());
            assert_eq!(signed["signature_bytes"], signature_len);
            assert_eq!(
                (&signed["scheme"], &signed["hash"]),
                (&"ml-dsa".into(), &Value::Null)
            );
            for more in [&["--hash", "sha256"][..], &["--prehashed"]] {
                refused(&scene.user(&[&sign[..], more].concat()), 2, "own hash");
            }
            let verify = |input| {
                let words = ["verify", "--key-label", kind, "--signature", &signature];
                scene.public(&[&words[..], &["--input", input]].concat())
            };
            assert_eq!(verify(&message).code, 0, "{kind}");
            assert_eq!(verify(&other).code, 8, "{kind}");
        }
        let usage = [
            "gen-keypair",
            "--key-label",
            "no",
            "--key-type",
            "ml-dsa-65",
        ];
        for purpose in ["derive", "encrypt", "wrap"] {
            let words = [&usage[..], &["--usage", purpose]].concat();
            refused(&scene.user(&words), 2, "cannot do that");
        }
        request_judged_here(&scene);
    });
}

/// The openssl command of many systems does not know these signatures, so a request is taken apart here and its
/// signature is looked at with the key that it names, without the token.
fn request_judged_here(scene: &Scene<'_>) {
    let request = [
        "gen-csr",
        "--key-label",
        "ml-dsa-65",
        "--subject",
        "CN=host.example",
    ];
    refused(
        &scene.user(&[&request[..], &["--hash", "sha256"]].concat()),
        2,
        "own hash",
    );
    let path = scene.name("lattice.csr");
    let words = [&request[..], &["--container", "der", "--output", &path]].concat();
    assert_eq!(scene.data(&words)["self_verified"], true);
    let whole = std::fs::read(&path).unwrap();
    let parts = der::exactly(0x30, &whole).unwrap();
    let (_, rest) = der::first(0x30, parts).unwrap();
    let info = &parts[..parts.len() - rest.len()];
    let (algorithm, rest) = der::first(0x30, rest).unwrap();
    assert_eq!(algorithm, b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x12");
    let signature = &der::exactly(3, rest).unwrap()[1..];
    let public = scene.name("lattice.pem");
    scene.public(&[
        "export-pubkey",
        "--key-label",
        "ml-dsa-65",
        "--output",
        &public,
    ]);
    let signature = scene.file("lattice.signature", signature);
    let looked = |info: &[u8]| {
        let input = scene.file("lattice.info", info);
        let words = [
            "hsm",
            "verify",
            "--pubkey",
            &public,
            "--signature",
            &signature,
        ];
        keywright(&[&words[..], &["--input", &input]].concat()).code
    };
    assert_eq!(looked(info), 0);
    assert_eq!(looked(&info[1..]), 8);
}

#[test]
fn a_hash_that_was_made_elsewhere_is_signed_as_the_data_would_be() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", "a message");
        let digest = scene.name("digest");
        openssl(&["dgst", "-sha256", "-binary", "-out", &digest, &message]);
        for (label, kind) in [("rsa", "rsa"), ("ec", "p256")] {
            scene.data(&["gen-keypair", "--key-label", label, "--key-type", kind]);
            let signature = scene.name(label);
            scene.data(&[
                "sign",
                "--key-label",
                label,
                "--prehashed",
                "--input",
                &digest,
                "--output",
                &signature,
            ]);
            let words = [
                "verify",
                "--key-label",
                label,
                "--input",
                &message,
                "--signature",
                &signature,
            ];
            assert_eq!(scene.public(&words).code, 0, "{label}");
            refused(
                &scene.user(&[
                    "sign",
                    "--key-label",
                    label,
                    "--prehashed",
                    "--input",
                    &message,
                ]),
                2,
                "9 bytes",
            );
        }
    });
}

#[test]
fn pkcs11_tool_uses_our_keys_and_we_use_its() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", "a message for two");
        scene.data(&["gen-keypair", "--key-label", "ours", "--id", "0a0b"]);
        scene.judge(&[
            "--keypairgen",
            "--key-type",
            "rsa:2048",
            "--label",
            "theirs",
            "--id",
            "0c0d",
            "--usage-sign",
        ]);
        let (by_them, by_us) = (scene.name("by-them"), scene.name("by-us"));
        scene.judge(&[
            "--sign",
            "-m",
            "SHA256-RSA-PKCS",
            "--id",
            "0a0b",
            "--input-file",
            &message,
            "--output-file",
            &by_them,
        ]);
        let checked = scene.public(&[
            "verify",
            "--id",
            "0a0b",
            "--input",
            &message,
            "--signature",
            &by_them,
        ]);
        assert_eq!(checked.code, 0, "{checked:?}");
        scene.data(&[
            "sign",
            "--key-label",
            "theirs",
            "--input",
            &message,
            "--output",
            &by_us,
        ]);
        let judged = scene.judge(&[
            "--verify",
            "-m",
            "SHA256-RSA-PKCS",
            "--id",
            "0c0d",
            "--input-file",
            &message,
            "--signature-file",
            &by_us,
        ]);
        assert!(judged.contains("Signature is valid"), "{judged}");
        let pem = scene.name("theirs.pem");
        assert_eq!(
            scene
                .public(&["export-pubkey", "--key-label", "theirs", "--output", &pem])
                .code,
            0
        );
        let judged = openssl(&[
            "dgst",
            "-sha256",
            "-verify",
            &pem,
            "-signature",
            &by_us,
            &message,
        ]);
        assert!(judged.contains("Verified OK"), "{judged}");
    });
}

#[test]
fn a_new_key_has_one_purpose_and_a_name_of_its_own() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&[
            "gen-keypair",
            "--key-label",
            "key",
            "--key-type",
            "p256",
            "--id",
            "01",
        ]);
        let listed = scene.data(&["list-objects", "--key-label", "key", "--class", "private"]);
        let flags = &listed["objects"][0]["flags"];
        for (name, set) in [
            ("sign", true),
            ("decrypt", false),
            ("unwrap", false),
            ("derive", false),
            ("sensitive", true),
            ("extractable", false),
            ("modifiable", false),
        ] {
            assert_eq!(flags[name], set, "{name}");
        }
        let again = ["gen-keypair", "--key-label", "key", "--key-type", "p256"];
        refused(&scene.user(&again), 13, "exists already");
        refused(
            &scene.user(&["gen-symmetric-key", "--key-label", "other", "--id", "01"]),
            13,
            "exists already",
        );
        assert_eq!(
            scene
                .user(&[&again[..], &["--allow-duplicate"]].concat())
                .code,
            0
        );
        let many = error(
            &scene.user(&[
                "sign",
                "--key-label",
                "key",
                "--input",
                scene.pin_file(),
                "--json",
            ]),
            10,
            None,
        );
        assert!(
            many["message"].as_str().unwrap().contains("id 01"),
            "{many}"
        );
        assert_eq!(many["hint"], "name one by --id or --uri");
        refused(
            &scene.user(&["gen-keypair", "--key-label", "small", "--bits", "1024"]),
            2,
            "1024",
        );
        refused(
            &scene.user(&[
                "gen-keypair",
                "--key-label",
                "x",
                "--key-type",
                "p256",
                "--usage",
                "encrypt",
            ]),
            2,
            "cannot do that",
        );
        refused(&scene.user(&["gen-keypair"]), 2, "no key is named");
        refused(
            &scene.user(&["gen-keypair", "--key-label", "large", "--bits", "8193"]),
            2,
            "8193",
        );
        let out = scene.user(&[
            "gen-keypair",
            "--key-label",
            "out",
            "--key-type",
            "p256",
            "--extractable",
        ]);
        assert_eq!(out.code, 0);
        let out = scene.data(&["list-objects", "--key-label", "out", "--class", "private"]);
        assert_eq!(out["objects"][0]["flags"]["sensitive"], true);
        assert_eq!(out["objects"][0]["flags"]["extractable"], true);
    });
}

#[test]
fn one_key_is_destroyed_after_it_was_shown_and_no_other() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&[
            "gen-keypair",
            "--key-label",
            "pair",
            "--key-type",
            "p256",
            "--id",
            "aa",
        ]);
        scene.data(&["gen-symmetric-key", "--key-label", "aes", "--id", "bb"]);
        let count = || {
            scene.data(&["list-objects"])["object_count"]
                .as_u64()
                .unwrap()
        };
        let before = count();
        let many = error(
            &scene.user(&["delete-key", "--key-label", "pair", "--yes", "--json"]),
            10,
            None,
        );
        assert!(
            many["message"]
                .as_str()
                .unwrap()
                .contains("public key \"pair\""),
            "{many}"
        );
        // Both halves have the id too: only the class tells them apart.
        let by_id = scene.user(&["delete-key", "--id", "aa", "--yes", "--json"]);
        for many in [many, error(&by_id, 10, None)] {
            let hint = many["hint"].as_str().unwrap();
            assert!(hint.contains("--class private"), "{many}");
        }
        refused(&scene.user(&["delete-key", "--yes"]), 2, "is named");
        refused(
            &scene.user(&["delete-key", "--key-label", "ae", "--yes"]),
            9,
            "nearest: aes",
        );
        refused(
            &scene.user(&["delete-key", "--key-label", "aes"]),
            13,
            "not confirmed",
        );
        refused(
            &scene.user(&["delete-key", "--key-label", "aes", "--confirm", "aa"]),
            13,
            "another id",
        );
        let dry = scene.data(&["delete-key", "--key-label", "aes", "--dry-run"]);
        assert_eq!(
            (&dry["objects_removed"], &dry["objects"][0]["id"]),
            (&0.into(), &"bb".into())
        );
        assert_eq!(count(), before);
        let shown = scene.user(&[
            "delete-key",
            "--key-label",
            "pair",
            "--with-pair",
            "--dry-run",
        ]);
        let shown = shown.text();
        let rows: Vec<_> = shown.lines().collect();
        assert_eq!(rows.len(), 2, "{shown}");
        for row in rows {
            assert!(
                row.starts_with("would go") && row.contains("pkcs11:"),
                "{shown}"
            );
        }
        let one = scene.data(&["delete-key", "--key-label", "aes", "--confirm", "bb"]);
        assert_eq!(one["objects_removed"], 1);
        let half = scene.data(&[
            "delete-key",
            "--key-label",
            "pair",
            "--class",
            "public",
            "--yes",
        ]);
        assert_eq!(half["objects_removed"], 1);
        assert_eq!(count(), before - 2);
        scene.data(&["gen-keypair", "--key-label", "both", "--key-type", "p256"]);
        let both = scene.user(&["delete-key", "--key-label", "both", "--with-pair", "--yes"]);
        assert_eq!(both.text().matches("destroyed").count(), 2);
        assert_eq!(count(), before - 2);
    });
}

#[test]
fn openssl_accepts_our_certificate_requests() {
    on_each(|store| {
        let scene = Scene::new(store);
        for (label, kind, told) in [
            ("rsa", "rsa", "sha256WithRSAEncryption"),
            ("p384", "p384", "ecdsa-with-SHA384"),
            ("ed", "ed25519", "ED25519"),
        ] {
            scene.data(&["gen-keypair", "--key-label", label, "--key-type", kind]);
            let path = scene.name(&format!("{label}.csr"));
            let subject = r"CN=host.example,O=Snake Oil\, Inc.,OU=Lučić,C=DE";
            let made = scene.data(&[
                "gen-csr",
                "--key-label",
                label,
                "--subject",
                subject,
                "--san",
                "dns:host.example",
                "--san",
                "ip:192.0.2.7",
                "--output",
                &path,
            ]);
            assert_eq!(made["self_verified"], true);
            let judged = openssl(&[
                "req",
                "-in",
                &path,
                "-verify",
                "-noout",
                "-text",
                "-nameopt",
                "RFC2253,-esc_msb,utf8",
            ]);
            for expected in [
                "self-signature verify OK",
                told,
                r"CN=host.example,O=Snake Oil\, Inc.,OU=Lučić,C=DE",
                "DNS:host.example",
                "IP Address:192.0.2.7",
            ] {
                assert!(judged.contains(expected), "{expected}: {judged}");
            }
        }
        let request =
            |subject: &str| scene.user(&["gen-csr", "--key-label", "rsa", "--subject", subject]);
        refused(&request("CN"), 2, "TYPE=value");
        refused(&request("C=Germany"), 2, "two letters");
        refused(&request("XX=a"), 2, "XX");
        refused(
            &scene.user(&[
                "gen-csr",
                "--key-label",
                "rsa",
                "--subject",
                "CN=a",
                "--san",
                "host",
            ]),
            2,
            "alternative name",
        );
        refused(
            &scene.user(&["gen-csr", "--key-label", "none", "--subject", "CN=a"]),
            9,
            "no private key",
        );
    });
}

#[test]
fn what_the_token_lacks_is_refused_before_anything_is_made() {
    on_each(|store| {
        let scene = Scene::new(store);
        let before =
            document(&scene.user(&["list-objects", "--json"]))["data"]["object_count"].clone();
        for (kind, mechanism) in [
            ("x25519", "CKM_EC_MONTGOMERY_KEY_PAIR_GEN"),
            ("ed25519", EDWARDS),
            ("ml-dsa-44", LATTICE),
        ] {
            let ended = scene.user(&[
                "gen-keypair",
                "--key-label",
                kind,
                "--key-type",
                kind,
                "--json",
            ]);
            if scene.has(mechanism) {
                let made = data(&ended);
                let told = made["curve"].as_str().or(made["key_type"].as_str());
                assert!(told.unwrap().eq_ignore_ascii_case(kind), "{made}");
                scene.data(&["delete-key", "--key-label", kind, "--with-pair", "--yes"]);
            } else {
                let told = error(&ended, 12, Some("CKR_MECHANISM_INVALID"));
                assert!(
                    told["message"].as_str().unwrap().contains(mechanism),
                    "{told}"
                );
            }
        }
        assert_eq!(scene.data(&["list-objects"])["object_count"], before);
    });
}
