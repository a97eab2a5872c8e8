//! Keys that are looked for, and compared, in more than one token.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use keywright_tokens::{Store, USER_PIN, on_each, on_each_with, together};
use serde_json::Value;

use crate::hsm::{Scene, data, document, error, refused};

/// A pair on the token of this label, with a PIN that is its own in the words.
fn pair(scene: &Scene<'_>, token: &str, label: &str) {
    let words = ["gen-keypair", "--key-type", "p256", "--key-label", label];
    let at = ["--label", token, "--pin-file", scene.pin_file()];
    data(&scene.bare(&[&words[..], &at, &["--json"]].concat()));
}

fn find(scene: &Scene<'_>, words: &[&str]) -> crate::program::Ended {
    scene.bare(&[&["find-key", "--all-tokens", "--json"], words].concat())
}

#[test]
fn a_key_is_found_in_every_token_and_the_pin_goes_to_one() {
    on_each_with(&["first", "second"], |store| {
        let scene = Scene::new(store);
        pair(&scene, "first", "signer");
        pair(&scene, "second", "signer");
        let nobody = find(&scene, &["--key-label", "signer"]);
        let found = data(&nobody);
        let tokens = found["tokens"].as_array().unwrap();
        assert_eq!(tokens.len(), 2, "{found}");
        for token in tokens {
            assert_eq!(token["logged_in"], false, "{found}");
            assert!(token["error"].is_null(), "{found}");
        }
        let warnings = document(&nobody)["warnings"].to_string();
        assert!(warnings.contains("public objects"), "{warnings}");
        // Without a log-in the public halves are seen; with the PIN also the private one of that token.
        assert_eq!(
            (&found["keys_found"], &found["exact_match"]),
            (&2.into(), &true.into())
        );
        let pin = ["--label", "second", "--pin-file", scene.pin_file()];
        let found = data(&find(
            &scene,
            &[&["--key-label", "signer"], &pin[..]].concat(),
        ));
        assert_eq!(found["keys_found"], 3, "{found}");
        let of = |label: &str| {
            let all = found["tokens"].as_array().unwrap().iter();
            let token = all.clone().find(|token| token["label"] == label);
            token.unwrap_or_else(|| panic!("{found}")).clone()
        };
        assert_eq!(
            (&of("first")["keys_found"], &of("first")["logged_in"]),
            (&1.into(), &false.into())
        );
        assert_eq!(
            (&of("second")["keys_found"], &of("second")["logged_in"]),
            (&2.into(), &true.into())
        );
        for (index, key) in found["keys"].as_array().unwrap().iter().enumerate() {
            assert_eq!(key["match_number"], index + 1);
            // The URI of each leads back to its token.
            let uri = key["uri"].as_str().unwrap();
            let back = scene.bare(&[
                "find-key",
                "--uri",
                uri,
                "--json",
                "--pin-file",
                scene.pin_file(),
            ]);
            assert_eq!(data(&back)["keys"][0]["uri"], uri);
        }
        let text = scene
            .bare(&["find-key", "--all-tokens", "--key-label", "signer"])
            .text();
        let heads: Vec<_> = text
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert!(
            heads.contains(&"first") && heads.contains(&"second"),
            "{text}"
        );
    });
}

#[test]
fn what_no_token_has_is_not_found_and_a_pin_for_no_token_is_refused() {
    on_each_with(&["first", "second"], |store| {
        let scene = Scene::new(store);
        pair(&scene, "second", "signer");
        let none = find(&scene, &["--key-label", "singer", "--show-similar"]);
        error(&none, 9, None);
        let similar = document(&none)["data"]["similar"].clone();
        assert_eq!(similar[0]["label"], "signer", "{similar}");
        assert!(
            similar[0]["uri"].as_str().unwrap().contains("token=second"),
            "{similar}"
        );
        let score = similar[0]["score"].as_f64().unwrap();
        assert!(score > 0.5 && score < 1.0, "{similar}");
        let quiet = find(&scene, &["--key-label", "singer"]);
        error(&quiet, 9, None);
        assert_eq!(document(&quiet)["data"]["similar"], serde_json::json!([]));
        error(&find(&scene, &[]), 2, None);
        let unnamed = find(
            &scene,
            &["--key-label", "signer", "--pin-file", scene.pin_file()],
        );
        let told = error(&unnamed, 2, None);
        assert!(
            told["message"].as_str().unwrap().contains("for one token"),
            "{told}"
        );
        error(
            &find(&scene, &["--key-label", "signer", "--label", "third"]),
            9,
            None,
        );
        error(&find(&scene, &["--fingerprint", "xyz"]), 2, None);
        let wrong = scene.file("wrong", "not-the-pin\n");
        std::fs::set_permissions(&wrong, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let words = [
            "--key-label",
            "signer",
            "--label",
            "first",
            "--pin-file",
            &wrong,
        ];
        error(&find(&scene, &words), 11, Some("CKR_PIN_INCORRECT"));
    });
}

/// A URI of a key in the token of this label, with the file of its PIN.
fn uri(token: &str, key: &str, pin: &str) -> String {
    format!("pkcs11:token={token};object={key}?pin-source={pin}")
}

/// The severity of each difference.
fn severities(report: &Value) -> Vec<(String, String)> {
    let all = report["differences"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.map(|one| (text(&one["attribute"]), text(&one["severity"])))
        .collect()
}

#[test]
fn keys_of_two_tokens_of_a_module_are_compared() {
    on_each_with(&["first", "second"], |store| {
        let scene = Scene::new(store);
        for (token, more) in [("first", &[][..]), ("second", &["--extractable"][..])] {
            let words = ["gen-symmetric-key", "--key-label", "aes", "--json"];
            let at = ["--label", token, "--pin-file", scene.pin_file()];
            data(&scene.bare(&[&words[..], &at, more].concat()));
        }
        let diff = |second: &str, more: &[&str]| {
            let words = [
                "diff-keys",
                "--key1-label",
                "aes",
                "--key2-label",
                second,
                "--json",
            ];
            let at = ["--label", "first", "--pin-file", scene.pin_file()];
            scene.bare(&[&words[..], &at, more].concat())
        };
        let other = uri("second", "aes", scene.pin_file());
        let told = data(&diff(&other, &[]));
        assert!(
            told["key1_token"].as_str().unwrap().contains("token=first"),
            "{told}"
        );
        assert!(
            told["key2_token"]
                .as_str()
                .unwrap()
                .contains("token=second"),
            "{told}"
        );
        let found = severities(&told);
        assert!(
            found.contains(&("CKA_EXTRACTABLE".to_owned(), "HIGH".to_owned())),
            "{told}"
        );
        assert!(
            !found.iter().any(|(name, _)| name == "CKA_KEY_TYPE"),
            "{told}"
        );
        let gate = diff(&other, &["--fail-on-difference"]);
        assert_eq!(gate.code, 3, "{gate:?}");
        // Without its own PIN the second token shows no secret key; that of the first is not tried there.
        let bare = diff("pkcs11:token=second;object=aes", &[]);
        error(&bare, 9, None);
        assert!(
            document(&bare)["warnings"]
                .to_string()
                .contains("pin-source"),
            "{bare:?}"
        );
        error(&diff("pkcs11:token=third;object=aes", &[]), 9, None);
        error(
            &diff(
                "pkcs11:token=second?module-path=/nonexistent/module.so",
                &[],
            ),
            9,
            None,
        );
        error(&diff("pkcs11:token=", &[]), 9, None);
        let value = format!("pkcs11:token=second;object=aes?pin-value={USER_PIN}");
        let refuse = diff(&value, &[]);
        error(&refuse, 2, None);
        assert!(!String::from_utf8_lossy(&refuse.stdout).contains(USER_PIN));
        // The same token named once more is the same session: no second log-in.
        let own = data(&diff("pkcs11:token=first;object=aes", &[]));
        assert_eq!(own["identical"], true, "{own}");
    });
}

#[test]
fn keys_of_two_providers_are_compared() {
    together(|stores| {
        let [kryoptic, softhsm] = stores else {
            panic!("two kinds");
        };
        let (one, other) = (Scene::new(kryoptic), Scene::new(softhsm));
        let words = ["gen-keypair", "--key-type", "p256", "--key-label", "signer"];
        one.data(&words);
        other.data(&words);
        let second = format!(
            "{}&module-path={}",
            uri("keywright", "signer", other.pin_file()),
            other.module
        );
        let told = one.data(&[
            "diff-keys",
            "--key1-label",
            "signer",
            "--key2-label",
            &second,
            "--class",
            "public",
        ]);
        let found = severities(&told);
        // Two keys of one kind: their points differ, what they may be used for does not.
        assert!(
            found.contains(&("CKA_EC_POINT".to_owned(), "LOW".to_owned())),
            "{told}"
        );
        assert!(
            found.iter().all(|(_, severity)| severity != "CRITICAL"),
            "{told}"
        );
        assert_ne!(told["key1_token"], told["key2_token"]);
        let private = one.data(&[
            "diff-keys",
            "--key1-label",
            "signer",
            "--key2-label",
            &second,
        ]);
        assert_eq!(private["class"], "CKO_PRIVATE_KEY", "{private}");
    });
}

fn against(scene: &Scene<'_>, text: &str, more: &[&str]) -> crate::program::Ended {
    let file = scene.file("expected.toml", text);
    let words = [
        "diff-keys",
        "--key1-label",
        "aes",
        "--against",
        &file,
        "--json",
    ];
    scene.user(&[&words[..], more].concat())
}

#[test]
fn a_key_is_held_against_a_file() {
    on_each(|store: &Store| {
        let scene = Scene::new(store);
        scene.data(&["gen-symmetric-key", "--key-label", "aes"]);
        let good = "CKA_KEY_TYPE = \"CKK_AES\"\nCKA_VALUE_LEN = 32\nCKA_EXTRACTABLE = false\nCKA_SENSITIVE = true\n";
        let told = data(&against(&scene, good, &["--fail-on-difference"]));
        assert_eq!(
            (&told["identical"], &told["class"]),
            (&true.into(), &"CKO_SECRET_KEY".into())
        );
        assert_eq!(told["comparison"].as_array().unwrap().len(), 4);
        assert!(
            told["key2_token"].is_null()
                && told["key2_label"]
                    .as_str()
                    .unwrap()
                    .ends_with("expected.toml")
        );
        for (text, attribute, severity) in [
            ("CKA_EXTRACTABLE = true\n", "CKA_EXTRACTABLE", "HIGH"),
            ("CKA_WRAP = true\n", "CKA_WRAP", "CRITICAL"),
            ("CKA_LOCAL = false\n", "CKA_LOCAL", "MEDIUM"),
            ("CKA_VALUE_LEN = 16\n", "CKA_VALUE_LEN", "LOW"),
        ] {
            let ended = against(&scene, text, &["--fail-on-difference"]);
            assert_eq!(ended.code, 3, "{text}: {ended:?}");
            let told = document(&ended)["data"].take();
            assert_eq!(
                severities(&told),
                [(attribute.to_owned(), severity.to_owned())]
            );
            assert_eq!(against(&scene, text, &[]).code, 0, "{text}");
        }
        for (text, happened) in [
            ("CKA_SING = true\n", "line 1, column 1"),
            ("", "every key would fit"),
            ("CKA_SIGN true\n", "line 1"),
        ] {
            let told = error(&against(&scene, text, &[]), 2, None);
            assert!(
                told["message"].as_str().unwrap().contains(happened),
                "{told}"
            );
        }
        let missing = [
            "diff-keys",
            "--key1-label",
            "aes",
            "--against",
            "/nonexistent/e.toml",
        ];
        refused(&scene.user(&missing), 1, "/nonexistent/e.toml");
        refused(
            &scene.user(&["diff-keys", "--key1-label", "aes"]),
            2,
            "--key2-label",
        );
        let both = [
            "diff-keys",
            "--key1-label",
            "aes",
            "--key2-label",
            "aes",
            "--against",
            "/dev/null",
        ];
        refused(&scene.user(&both), 2, "--against");
    });
}
