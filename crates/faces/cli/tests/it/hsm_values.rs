//! Attributes by the type of their value, and the secrets of keys only where they are asked for.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use keywright_encoding::hex;
use keywright_tokens::on_each;
use serde_json::Value;

use crate::hsm::{Scene, openssl, refused};

/// What a document says of an attribute of the first object.
fn value<'v>(told: &'v Value, name: &str) -> &'v str {
    let attribute = &told["objects"][0]["attributes"][name];
    let value = attribute.get("value").unwrap_or(attribute);
    value.as_str().unwrap_or_else(|| panic!("{name}: {told}"))
}

/// A pair of RSA whose public exponent is this, as files of DER.
fn rsa(scene: &Scene<'_>, exponent: u32) -> (String, String) {
    let (private, public) = (scene.name("private.der"), scene.name("public.der"));
    let option = format!("rsa_keygen_pubexp:{exponent}");
    openssl(&[
        "genpkey",
        "-algorithm",
        "RSA",
        "-pkeyopt",
        "rsa_keygen_bits:2048",
        "-pkeyopt",
        &option,
        "-outform",
        "DER",
        "-out",
        &private,
    ]);
    openssl(&[
        "pkey", "-inform", "DER", "-in", &private, "-pubout", "-outform", "DER", "-out", &public,
    ]);
    (private, public)
}

#[test]
fn attributes_of_one_byte_are_bytes_where_they_are_no_flags() {
    on_each(|store| {
        let scene = Scene::new(store);
        for (exponent, id, shown) in [(3, "01", "03"), (17, "02", "11"), (65_537, "00", "010001")] {
            let (_, public) = rsa(&scene, exponent);
            let label = format!("e{exponent}");
            scene.judge(&[
                "--write-object",
                &public,
                "--type",
                "pubkey",
                "--label",
                &label,
                "--id",
                id,
            ]);
            let told = scene.data(&["inspect-key", "--key-label", &label]);
            assert_eq!(value(&told, "CKA_ID"), id, "{label}");
            assert_eq!(value(&told, "CKA_PUBLIC_EXPONENT"), shown, "{label}");
            assert_eq!(value(&told, "CKA_CLASS"), "CKO_PUBLIC_KEY");
            assert_eq!(value(&told, "CKA_KEY_TYPE"), "CKK_RSA");
            assert_eq!(value(&told, "CKA_TOKEN"), "true");
            let text = scene.user(&["inspect-key", "--key-label", &label]).text();
            let line = text
                .lines()
                .find(|line| line.starts_with("CKA_ID"))
                .unwrap();
            assert_eq!(line.split_whitespace().nth(1), Some(id), "{text}");
        }
        // Two keys, and a key and a file, differ where their values do.
        let words = [
            "diff-keys",
            "--key1-label",
            "e3",
            "--key2-label",
            "e17",
            "--class",
            "public",
        ];
        let told = scene.data(&words);
        let found = told["differences"].to_string();
        assert!(found.contains("CKA_PUBLIC_EXPONENT"), "{found}");
        let against = |text: &str| {
            let file = scene.file("expected.toml", text);
            let words = [
                "diff-keys",
                "--key1-label",
                "e3",
                "--against",
                &file,
                "--class",
                "public",
            ];
            scene.user(&[&words[..], &["--fail-on-difference", "--json"]].concat())
        };
        for (text, code) in [
            ("CKA_PUBLIC_EXPONENT = 3", 0),
            ("CKA_PUBLIC_EXPONENT = \"03\"", 0),
            ("CKA_PUBLIC_EXPONENT = 17", 3),
            ("CKA_PUBLIC_EXPONENT = 65537", 3),
            ("CKA_ID = \"01\"", 0),
            ("CKA_ID = \"02\"", 3),
            ("CKA_PUBLIC_EXPONENT = true", 2),
            ("CKA_ID = true", 2),
        ] {
            let ended = against(text);
            assert_eq!(ended.code, code, "{text}: {ended:?}");
        }
    });
}

#[test]
fn numbers_of_certificates_have_their_names() {
    on_each(|store| {
        let scene = Scene::new(store);
        let (key, certificate) = (scene.name("key.pem"), scene.name("certificate.der"));
        openssl(&[
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            &key,
            "-subj",
            "/CN=a",
            "-outform",
            "DER",
            "-out",
            &certificate,
        ]);
        scene.judge(&[
            "--write-object",
            &certificate,
            "--type",
            "cert",
            "--label",
            "cert",
            "--id",
            "05",
        ]);
        let told = scene.data(&["inspect-key", "--key-label", "cert"]);
        assert_eq!(value(&told, "CKA_CERTIFICATE_TYPE"), "CKC_X_509");
        assert_eq!(value(&told, "CKA_ID"), "05");
        // The value of a certificate is no secret.
        assert_eq!(
            value(&told, "CKA_VALUE"),
            hex::encode(&scene.folder.read("certificate.der"))
        );
        let hash = &told["objects"][0]["attributes"]["CKA_NAME_HASH_ALGORITHM"]["value"];
        assert!(
            hash.is_null() || hash.as_str().unwrap().starts_with("CKM_"),
            "{hash}"
        );
    });
}

#[test]
fn the_secret_of_a_key_is_shown_only_where_it_is_asked_for() {
    on_each(|store| {
        let scene = Scene::new(store);
        let secret = *b"sixteen byte key";
        let file = scene.file("secret", secret);
        scene.judge(&[
            "--write-object",
            &file,
            "--type",
            "secrkey",
            "--key-type",
            "AES:16",
            "--label",
            "open",
            "--extractable",
        ]);
        let (private, _) = rsa(&scene, 65_537);
        scene.judge(&[
            "--write-object",
            &private,
            "--type",
            "privkey",
            "--label",
            "rsa",
            "--extractable",
        ]);
        let digits = hex::encode(&secret);
        let der = hex::encode(&scene.folder.read("private.der"));
        let expected = scene.file("expected.toml", format!("CKA_VALUE = \"{digits}\"\n"));
        let other = scene.file(
            "other.toml",
            format!("CKA_VALUE = \"{}\"\n", "ab".repeat(16)),
        );
        let plain = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for form in [&[][..], &["--json"]] {
            for words in [
                &["inspect-key", "--key-label", "open"][..],
                &["inspect-key", "--key-label", "rsa"],
                &["diff-keys", "--key1-label", "open", "--against", &expected],
                &["diff-keys", "--key1-label", "open", "--against", &other],
                &["list-objects", "--detailed"],
            ] {
                let ended = scene.user(&[words, form].concat());
                assert_eq!(ended.code, 0, "{ended:?}");
                let told = plain(&ended.stdout) + &ended.stderr;
                assert!(
                    !told.contains(&digits) && !told.contains(&"ab".repeat(16)),
                    "{told}"
                );
                // No eight bytes in a row of what only the private key has.
                let parts = told.split(|c: char| !c.is_ascii_hexdigit());
                for part in parts.filter(|part| part.len() >= 128) {
                    let is_public = der.find(part).is_none_or(|at| at < 600);
                    assert!(is_public, "{part}");
                }
            }
        }
        let told = scene.data(&["inspect-key", "--key-label", "open"]);
        assert_eq!(value(&told, "CKA_VALUE"), "readable (16 bytes)");
        let told = scene.data(&["inspect-key", "--key-label", "rsa"]);
        for name in [
            "CKA_PRIVATE_EXPONENT",
            "CKA_PRIME_1",
            "CKA_PRIME_2",
            "CKA_COEFFICIENT",
        ] {
            // Newer versions of pkcs11-tool make every private key sensitive.
            let shown = value(&told, name);
            let kept = shown == "sensitive";
            assert!(kept || shown.starts_with("readable ("), "{name}: {told}");
        }
        // What fits is told all the same.
        let words = [
            "diff-keys",
            "--key1-label",
            "open",
            "--fail-on-difference",
            "--against",
        ];
        assert_eq!(scene.user(&[&words[..], &[&expected]].concat()).code, 0);
        assert_eq!(scene.user(&[&words[..], &[&other]].concat()).code, 3);
        let told = scene.data(&["inspect-key", "--key-label", "open", "--reveal"]);
        assert_eq!(value(&told, "CKA_VALUE"), digits);
        let text = scene
            .user(&["inspect-key", "--key-label", "open", "--reveal"])
            .text();
        assert!(text.contains(&digits), "{text}");
        refused(&scene.user(&["list-objects", "--reveal"]), 2, "--reveal");
    });
}
