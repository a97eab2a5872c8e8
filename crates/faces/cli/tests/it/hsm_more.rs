//! What works without a token, between two tokens, and with keys that leave one: `--local`, `--pubkey`, `--diff`,
//! fingerprints, JSON Web Keys, wrapped private keys.

use keywright_tokens::{Store, on_each, together};
use serde_json::Value;

use crate::hsm::{Scene, data, error, openssl, refused};
use crate::program::{Folder, keywright};

#[test]
fn a_hash_needs_no_token_if_it_is_made_here() {
    let folder = Folder::new();
    let input = folder.write("input", vec![7; 100_000]);
    for (name, digest) in [
        ("sha256", "-sha256"),
        ("sha384", "-sha384"),
        ("sha512", "-sha512"),
    ] {
        let words = [
            "hsm",
            "hash",
            "--local",
            "--algorithm",
            name,
            "--input",
            &input,
            "--json",
        ];
        let found = data(&keywright(&words));
        assert_eq!(found["local"], true);
        assert_eq!(found["input_bytes"], 100_000);
        let judged = openssl(&["dgst", digest, &input]);
        assert!(
            judged
                .trim_end()
                .ends_with(found["digest_hex"].as_str().unwrap()),
            "{name}"
        );
    }
    let words = [
        "hsm",
        "hash",
        "--local",
        "--algorithm",
        "sha1",
        "--input",
        &input,
    ];
    refused(&keywright(&words), 12, "sha1 is not made without a token");
}

/// A pair of this kind with its public key in a file, and a signature in another.
fn signed(scene: &Scene<'_>, label: &str, make: &[&str], sign: &[&str]) -> (String, String) {
    let made = [&["gen-keypair", "--key-label", label][..], make].concat();
    scene.data(&made);
    let (public, signature) = (
        scene.name(&format!("{label}.pem")),
        scene.name(&format!("{label}.sig")),
    );
    scene.data(&["export-pubkey", "--key-label", label, "--output", &public]);
    let input = scene.file("input", "signed in the token");
    let words = [
        "sign",
        "--key-label",
        label,
        "--input",
        &input,
        "--output",
        &signature,
    ];
    scene.data(&[&words[..], sign].concat());
    (public, signature)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in commands")]
fn a_signature_is_verified_with_a_file_and_no_token() {
    on_each(|store| {
        let scene = Scene::new(store);
        let input = scene.file("input", "signed in the token");
        let other = scene.file("other", "signed in the tokem");
        for (label, make, how) in [
            ("rsa", &["--bits", "2048"][..], &[][..]),
            ("pss", &["--bits", "2048"], &["--mechanism", "pss"]),
            ("p256", &["--key-type", "p256"], &[]),
            (
                "p384",
                &["--key-type", "p384"],
                &["--signature-format", "der"],
            ),
            ("ed", &["--key-type", "ed25519"], &[]),
            (
                "lattice",
                &["--key-type", "ml-dsa-65"],
                &["--mechanism", "ml-dsa"],
            ),
        ] {
            if label == "lattice" && !scene.has("CKM_ML_DSA_KEY_PAIR_GEN") {
                continue;
            }
            let (public, signature) = signed(&scene, label, make, how);
            let verify = |input: &str| {
                let words = [
                    "hsm",
                    "verify",
                    "--pubkey",
                    &public,
                    "--signature",
                    &signature,
                ];
                let more = ["--input", input, "--json"];
                keywright(&[&words[..], &more, how].concat())
            };
            assert_eq!(data(&verify(&input))["verification"], "valid", "{label}");
            let negative = verify(&other);
            error(&negative, 8, Some("CKR_SIGNATURE_INVALID"));
            let told = crate::hsm::document(&negative)["data"].take();
            assert_eq!(
                (&told["operation"], &told["verification"]),
                (&"verify".into(), &"invalid".into())
            );
        }
        let (public, signature) = signed(&scene, "p521", &["--key-type", "p521"], &[]);
        let words = [
            "hsm",
            "verify",
            "--pubkey",
            &public,
            "--signature",
            &signature,
            "--input",
            &input,
        ];
        refused(
            &keywright(&words),
            2,
            "no public key of RSA, P-256, P-384, Ed25519 or ML-DSA-65",
        );
        let words = [
            "hsm",
            "verify",
            "--pubkey",
            &input,
            "--signature",
            &signature,
            "--input",
            &input,
        ];
        refused(&keywright(&words), 2, "no public key");
    });
}

fn uri(store: &Store) -> String {
    let module = store.tokens()[0].module().to_str().unwrap().to_owned();
    format!("pkcs11:token=keywright?module-path={module}")
}

#[test]
fn two_tokens_are_compared_mechanism_by_mechanism() {
    together(|stores| {
        let [kryoptic, softhsm] = stores else {
            panic!("two kinds");
        };
        let scene = Scene::new(kryoptic);
        let diff = |other: &str| {
            let words = [
                "list-mechanisms",
                "--diff",
                other,
                "--fail-on-difference",
                "--json",
            ];
            scene.public(&words)
        };
        assert_eq!(data(&diff(&uri(kryoptic)))["identical"], true);
        let ended = diff(&uri(softhsm));
        assert_eq!(ended.code, 3, "{ended:?}");
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let found = &document["data"];
        let names = |list: &str| found[list].to_string();
        assert!(names("only_first").contains("CKM_SHA3_256"), "{found}");
        assert!(!names("only_second").contains("CKM_SHA3_256"));
        assert!(names("only_second").contains("CKM_"), "{found}");
        refused(
            &scene.public(&["list-mechanisms", "--diff", "pkcs11:token=none"]),
            9,
            "none",
        );
        refused(
            &scene.public(&["list-mechanisms", "--diff", "none"]),
            2,
            "not a PKCS#11 URI",
        );
    });
}

#[test]
fn a_key_is_found_by_the_print_of_its_public_half() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-keypair", "--key-label", "one", "--key-type", "p256"]);
        scene.data(&["gen-keypair", "--key-label", "two", "--key-type", "p256"]);
        let exported = scene.data(&["export-pubkey", "--key-label", "one"]);
        let print = exported["fingerprint"].as_str().unwrap();
        let colons = print
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).unwrap());
        let colons = colons.collect::<Vec<_>>().join(":").to_uppercase();
        for print in [
            print,
            &colons,
            exported["ssh_fingerprint"].as_str().unwrap(),
        ] {
            let found = scene.data(&["find-key", "--fingerprint", print]);
            assert_eq!(found["keys_found"], 2, "{print}: {found}");
            for key in found["keys"].as_array().unwrap() {
                assert_eq!(key["label"], "one");
            }
        }
        let none = scene.user(&["find-key", "--fingerprint", &"0".repeat(64)]);
        assert_eq!(none.code, 9, "{none:?}");
        let short = scene.user(&["find-key", "--fingerprint", &print[..62]]);
        refused(&short, 2, "64 hexadecimal digits");
    });
}

#[test]
fn an_envelope_opens_by_itself_whatever_hash_it_was_made_with() {
    on_each(|store| {
        let scene = Scene::new(store);
        let make = ["gen-keypair", "--key-label", "rsa", "--usage", "encrypt"];
        scene.data(&make);
        let input = scene.file("plain", "for the holder of a key");
        let mut opened = 0;
        for hash in [
            "sha1", "sha224", "sha256", "sha384", "sha512", "sha3-224", "sha3-256", "sha3-384",
            "sha3-512",
        ] {
            let (sealed, back) = (scene.name(hash), scene.name(&format!("{hash}.back")));
            let words = [
                "encrypt",
                "--envelope",
                "--hash",
                hash,
                "--key-label",
                "rsa",
            ];
            let made = scene.user(
                &[
                    &words[..],
                    &["--input", &input, "--output", &sealed, "--json"],
                ]
                .concat(),
            );
            if made.code != 0 {
                // Not every token has every hash; then there is no file either.
                assert!(matches!(made.code, 5 | 12), "{made:?}");
                assert!(!scene.folder.names().contains(&hash.to_owned()), "{hash}");
                continue;
            }
            assert_eq!(data(&made)["hash"], hash);
            let words = ["decrypt", "--envelope", "--key-label", "rsa"];
            let report =
                scene.data(&[&words[..], &["--input", &sealed, "--output", &back]].concat());
            assert_eq!(report["hash"], hash);
            assert_eq!(
                scene.folder.read(&format!("{hash}.back")),
                b"for the holder of a key"
            );
            let other = ["--input", &sealed, "--hash", "sha256"];
            let ended = scene.user(&[&words[..], &other].concat());
            refused(&ended, 2, "says itself which hash");
            opened += 1;
        }
        let least = if scene.has("CKM_SHA3_256") { 2 } else { 1 };
        assert!(opened >= least, "{opened} hashes");
    });
}

#[test]
fn keys_that_one_word_names_are_named_by_their_uri_where_a_label_is_not_enough() {
    on_each(|store| {
        let scene = Scene::new(store);
        let make = |label: &str, more: &[&str]| {
            scene.data(&[&["gen-symmetric-key", "--key-label", label], more].concat())
        };
        let first = make("wraps", &["--usage", "wrap", "--id", "0a"]);
        make(
            "wraps",
            &["--usage", "wrap", "--id", "0b", "--allow-duplicate"],
        );
        make("out", &["--extractable"]);
        let (wrapped, uri) = (scene.name("wrapped"), first["uri"].as_str().unwrap());
        let wrap = |under: &str| {
            let words = ["wrap-key", "--key-label", "out", "--wrapping-key-label"];
            scene.user(&[&words[..], &[under, "--output", &wrapped]].concat())
        };
        let many = wrap("wraps");
        refused(&many, 10, "more than one secret key");
        assert!(
            many.stderr
                .contains("put the URI of one in place of its label")
        );
        assert_eq!(wrap(uri).code, 0);
        let unwrap = |under: &str| {
            let words = ["unwrap-key", "--key-label", "back", "--input", &wrapped];
            scene.user(&[&words[..], &["--wrapping-key-label", under]].concat())
        };
        refused(&unwrap("wraps"), 10, "more than one secret key");
        assert_eq!(unwrap(uri).code, 0);
        let diff =
            |one: &str| scene.user(&["diff-keys", "--key1-label", one, "--key2-label", "out"]);
        refused(&diff("wraps"), 10, "more than one secret key");
        assert_eq!(diff(uri).code, 0);
        refused(&diff("pkcs11:object"), 2, "not a PKCS#11 URI");
    });
}

#[test]
fn public_keys_are_written_as_json_web_keys() {
    on_each(|store| {
        let scene = Scene::new(store);
        for (kind, kty, crv, members) in [
            ("rsa", "RSA", Value::Null, &["n", "e"][..]),
            ("p256", "EC", "P-256".into(), &["x", "y"]),
            ("p521", "EC", "P-521".into(), &["x", "y"]),
            ("ed25519", "OKP", "Ed25519".into(), &["x"]),
            ("ml-dsa-65", "AKP", Value::Null, &["alg", "pub"]),
        ] {
            if kind == "ml-dsa-65" && !scene.has("CKM_ML_DSA_KEY_PAIR_GEN") {
                continue;
            }
            scene.data(&["gen-keypair", "--key-label", kind, "--key-type", kind]);
            let words = ["export-pubkey", "--key-label", kind, "--container", "jwk"];
            let jwk: Value = serde_json::from_slice(&scene.user(&words).bytes()).unwrap();
            assert_eq!((&jwk["kty"], &jwk["crv"]), (&kty.into(), &crv), "{kind}");
            for member in members.iter().chain(&["kid"]) {
                let text = jwk[*member].as_str().unwrap();
                let url = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                assert!(
                    text.len() >= 4 && text.bytes().all(url),
                    "{kind} {member}: {text}"
                );
            }
        }
    });
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in commands")]
fn a_private_key_leaves_wrapped_and_signs_when_it_is_back() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&[
            "gen-symmetric-key",
            "--key-label",
            "wraps",
            "--usage",
            "wrap",
        ]);
        let input = scene.file("input", "signed by a key that was away");
        for (kind, make) in [
            ("rsa", &["--bits", "2048"][..]),
            ("ec", &["--key-type", "p256"]),
        ] {
            let made = ["gen-keypair", "--key-label", kind, "--extractable"];
            scene.data(&[&made[..], make].concat());
            let (wrapped, signature) = (scene.name(kind), scene.name(&format!("{kind}.sig")));
            let under = ["--wrapping-key-label", "wraps", "--method", "aes-kwp"];
            let words = ["wrap-key", "--key-label", kind, "--output", &wrapped];
            let report = scene.data(&[&words[..], &under].concat());
            assert!(report["mechanism"].as_str().unwrap().contains("KEY_WRAP"));
            let back = format!("{kind}-back");
            let words = [
                "unwrap-key",
                "--key-label",
                &back,
                "--key-type",
                kind,
                "--input",
                &wrapped,
            ];
            let report = scene.data(&[&words[..], &under].concat());
            assert_eq!(report["local"], false);
            let words = [
                "sign",
                "--key-label",
                &back,
                "--input",
                &input,
                "--output",
                &signature,
            ];
            scene.data(&words);
            let words = [
                "verify",
                "--key-label",
                kind,
                "--input",
                &input,
                "--signature",
                &signature,
            ];
            assert_eq!(scene.data(&words)["verification"], "valid");
            // What was wrapped is nothing else.
            let bytes = std::fs::read(&wrapped).unwrap();
            let damaged = scene.file("damaged", [&[bytes[0] ^ 1], &bytes[1..]].concat());
            let words = [
                "unwrap-key",
                "--key-label",
                "no",
                "--key-type",
                kind,
                "--input",
                &damaged,
            ];
            let ended = scene.user(&[&words[..], &under].concat());
            assert!([5, 8].contains(&ended.code), "{ended:?}");
        }
        let words = [
            "unwrap-key",
            "--key-label",
            "no",
            "--key-type",
            "aes",
            "--usage",
            "sign",
        ];
        let more = ["--input", &input, "--wrapping-key-label", "wraps"];
        refused(
            &scene.user(&[&words[..], &more].concat()),
            2,
            "not used like that",
        );
    });
}

#[test]
fn an_envelope_takes_any_size_and_nothing_that_was_changed() {
    on_each(|store| {
        let scene = Scene::new(store);
        for label in ["rsa", "other"] {
            let made = [
                "gen-keypair",
                "--key-label",
                label,
                "--bits",
                "2048",
                "--usage",
                "encrypt",
            ];
            scene.data(&made);
        }
        let (sealed, back) = (scene.name("sealed"), scene.name("back"));
        let run = |command: &str, label: &str, from: &str, to: &str, more: &[&str]| {
            let words = [command, "--envelope", "--key-label", label, "--input", from];
            scene.user(&[&words[..], &["--output", to, "--force", "--json"], more].concat())
        };
        for size in [0, 1, 65_535, 65_536, 65_537, 1 << 20] {
            let plain: Vec<u8> = (0..size).map(|at: usize| at.to_le_bytes()[0]).collect();
            let input = scene.file("plain", &plain);
            let report = data(&run("encrypt", "rsa", &input, &sealed, &["--aad", "row 7"]));
            assert_eq!(report["input_bytes"], size);
            let report = data(&run("decrypt", "rsa", &sealed, &back, &["--aad", "row 7"]));
            assert_eq!(report["output_bytes"], size);
            assert_eq!(scene.folder.read("back"), plain, "{size}");
        }
        let whole = scene.folder.read("sealed");
        let before = scene.folder.names();
        let refused = |bytes: &[u8], label: &str, aad: &str| {
            let damaged = scene.file("plain", bytes);
            let ended = run(
                "decrypt",
                label,
                &damaged,
                &scene.name("none"),
                &["--aad", aad],
            );
            assert_eq!(scene.folder.names(), before);
            ended.code
        };
        let refuse = |bytes: &[u8], label: &str, aad: &str| {
            assert_eq!(refused(bytes, label, aad), 8);
        };
        refuse(&whole, "rsa", "row 8");
        refuse(&whole, "other", "row 7");
        refuse(&whole[..whole.len() - 1], "rsa", "row 7");
        refuse(&whole[..whole.len() - 65_552], "rsa", "row 7");
        // The number of another hash is one that the token may not have at all, and says so.
        let mut other_hash = whole.clone();
        other_hash[5] ^= 1;
        assert!(matches!(refused(&other_hash, "rsa", "row 7"), 5 | 8));
        for place in [0, 4, 8, 12, 100, 300, 70_000, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            refuse(&bytes, "rsa", "row 7");
        }
    });
}
