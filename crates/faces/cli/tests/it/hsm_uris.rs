//! PKCS#11 URIs in place of a key's label: they choose the token as well, and what does not match selects nothing.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use keywright_tokens::{Store, on_each_with};

use crate::hsm::{Scene, data, document, error, refused};
use crate::program::Ended;

/// A URI of another module names nothing in this one (RFC 7512 2.3).
#[test]
fn uris_of_another_module_select_nothing() {
    on_each_with(&TOKENS, |store| {
        let twins = Twins::new(store);
        let before = twins.count("first");
        for query in ["module-path=/usr/lib/other.so", "module-name=other"] {
            let uri = format!("pkcs11:token=first;object=plain?{query}");
            let deleting = ["delete-key", "--key-label", &uri, "--yes"];
            refused(&twins.nowhere(&deleting), 9, "");
            let deleting = ["delete-key", "--uri", &uri, "--yes"];
            let ended = twins.nowhere(&deleting);
            refused(&ended, 9, "");
        }
        assert_eq!(twins.count("first"), before);
        let own = format!(
            "pkcs11:token=first;object=plain?module-path={}",
            twins.scene.module
        );
        data(&twins.nowhere(&["inspect-key", "--key-label", &own, "--json"]));
    });
}

const TOKENS: [&str; 2] = ["first", "second"];

/// Both tokens hold the same labels; what is said of one must not happen on the other.
struct Twins<'s> {
    scene: Scene<'s>,
}

impl<'s> Twins<'s> {
    fn new(store: &'s Store) -> Self {
        let twins = Self {
            scene: Scene::new(store),
        };
        for token in TOKENS {
            for make in [
                &["gen-symmetric-key", "--key-label", "plain", "--extractable"][..],
                &[
                    "gen-symmetric-key",
                    "--key-label",
                    "wrapping",
                    "--usage",
                    "wrap",
                ],
                &["gen-hmac-key", "--key-label", "hmac"],
                &["gen-cmac-key", "--key-label", "cmac"],
                &["gen-keypair", "--key-label", "pair", "--key-type", "p256"],
                &["gen-keypair", "--key-label", "rsa", "--usage", "encrypt"],
            ] {
                data(&twins.on(token, &[make, &["--json"]].concat()));
            }
        }
        twins
    }

    fn on(&self, token: &str, words: &[&str]) -> Ended {
        let at = ["--label", token, "--pin-file", self.scene.pin_file()];
        self.scene.bare(&[words, &at].concat())
    }

    /// No token is named but by a URI among the words.
    fn nowhere(&self, words: &[&str]) -> Ended {
        let pin = ["--pin-file", self.scene.pin_file()];
        self.scene.bare(&[words, &pin].concat())
    }

    fn count(&self, token: &str) -> usize {
        let listed = data(&self.on(token, &["list-objects", "--json"]));
        usize::try_from(listed["object_count"].as_u64().unwrap()).unwrap()
    }

    /// A key of this class, as the token itself names it.
    fn uri(&self, token: &str, label: &str, class: &str) -> String {
        let words = ["list-objects", "--key-label", label, "--class", class];
        let listed = data(&self.on(token, &[&words[..], &["--json"]].concat()));
        listed["objects"][0]["uri"].as_str().unwrap().to_owned()
    }

    /// Every command that a key is named to; `KEY` stands for it.
    fn commands(&self) -> Vec<Vec<String>> {
        let (message, code) = (
            self.scene.file("message", "m"),
            self.scene.file("code", [7; 16]),
        );
        let words: &[(&str, &str)] = &[
            ("pair", "sign --input MESSAGE"),
            ("pair", "verify --input MESSAGE --signature CODE"),
            ("pair", "export-pubkey"),
            ("pair", "gen-csr --subject CN=a"),
            ("rsa", "encrypt --input MESSAGE"),
            ("rsa", "decrypt --input CODE"),
            ("plain", "encrypt-symmetric --input MESSAGE"),
            ("plain", "decrypt-symmetric --input CODE"),
            ("plain", "wrap-key --wrapping-key-label wrapping"),
            ("hmac", "hmac-sign --input MESSAGE"),
            ("hmac", "hmac-verify --input MESSAGE --hmac CODE"),
            ("cmac", "cmac-sign --input MESSAGE"),
            ("cmac", "cmac-verify --input MESSAGE --cmac CODE"),
            ("plain", "inspect-key"),
            ("plain", "find-key"),
            ("plain", "list-objects"),
            ("plain", "delete-key --dry-run"),
            ("plain", "delete-key --yes"),
            ("pair", "delete-key --with-pair --yes"),
            ("plain", "benchmark --iterations 1"),
        ];
        let named = words.iter().map(|(label, words)| {
            let words = words.split(' ').map(|word| match word {
                "MESSAGE" => message.clone(),
                "CODE" => code.clone(),
                word => word.to_owned(),
            });
            let key = ["--key-label".to_owned(), format!("KEY:{label}")];
            words.chain(key).collect()
        });
        let others = [
            vec![
                "wrap-key",
                "--key-label",
                "plain",
                "--wrapping-key-label",
                "KEY:wrapping",
            ],
            vec![
                "unwrap-key",
                "--key-label",
                "new",
                "--wrapping-key-label",
                "KEY:wrapping",
                "--input",
                &code,
            ],
            vec![
                "diff-keys",
                "--key1-label",
                "KEY:plain",
                "--key2-label",
                "plain",
            ],
        ];
        let others = others.map(|words| words.into_iter().map(str::to_owned).collect());
        named.chain(others).collect()
    }
}

/// The command with this URI for its key.
fn with<'w>(words: &'w [String], uri: impl Fn(&str) -> String) -> Vec<String> {
    let word = |word: &'w String| match word.strip_prefix("KEY:") {
        Some(label) => uri(label),
        None => word.clone(),
    };
    words.iter().map(word).collect()
}

#[test]
fn a_uri_of_another_token_is_obeyed_on_none() {
    on_each_with(&TOKENS, |store| {
        let twins = Twins::new(store);
        let before = TOKENS.map(|token| twins.count(token));
        let commands = twins.commands();
        assert_eq!(commands.len(), 23);
        for words in &commands {
            // The flags name one token, the URI another one, or one that is not there.
            for token in ["second", "third"] {
                let words = with(words, |label| {
                    format!("pkcs11:token={token};object={label}")
                });
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                let ended = twins.on("first", &[&words[..], &["--json"]].concat());
                assert_eq!(ended.code, 9, "{words:?}: {ended:?}");
            }
        }
        // Each attribute counts, and one that nobody knows matches nothing.
        let slot = data(&twins.on("first", &["list-objects", "--json"]));
        assert!(slot["objects"].is_array());
        for attribute in [
            "serial=OTHER",
            "model=OTHER",
            "manufacturer=OTHER",
            "slot-id=999999",
            "slot-description=OTHER",
            "slot-manufacturer=OTHER",
            "library-manufacturer=OTHER",
            "library-description=OTHER",
            "library-version=77.7",
            "type=public",
            "id=%77",
            "x-vendor=1",
        ] {
            for command in ["delete-key", "inspect-key", "find-key", "encrypt-symmetric"] {
                let uri = format!("pkcs11:object=plain;{attribute}");
                let mut words = vec![command, "--key-label", &uri];
                if command == "delete-key" {
                    words.push("--yes");
                }
                let ended = twins.on("first", &words);
                assert_eq!(ended.code, 9, "{words:?}: {ended:?}");
            }
        }
        assert_eq!(TOKENS.map(|token| twins.count(token)), before);
    });
}

#[test]
fn words_that_contradict_each_other_select_nothing() {
    on_each_with(&TOKENS, |store| {
        let twins = Twins::new(store);
        let plain = twins.uri("first", "plain", "secret-key");
        let other = twins.uri("second", "plain", "secret-key");
        let public = twins.uri("first", "pair", "public");
        for words in [
            &["inspect-key", "--key-label", &plain, "--serial", "OTHER"][..],
            &["inspect-key", "--key-label", &plain, "--label", "second"],
            &["inspect-key", "--key-label", &plain, "--slot-id", "999999"],
            &["inspect-key", "--key-label", &plain, "--uri", &other],
            &["inspect-key", "--key-label", &plain, "--id", "0102"],
            &["inspect-key", "--key-label", &plain, "--class", "private"],
            &["inspect-key", "--key-label", "wrapping", "--uri", &plain],
            &[
                "inspect-key",
                "--key-label",
                "pkcs11:object=wrapping",
                "--uri",
                &plain,
            ],
            &[
                "delete-key",
                "--yes",
                "--key-label",
                &public,
                "--class",
                "private",
            ],
            &["list-objects", "--uri", "pkcs11:token=third"],
            &[
                "diff-keys",
                "--key1-label",
                &public,
                "--key2-label",
                &public,
                "--class",
                "private",
            ],
            &[
                "wrap-key",
                "--key-label",
                &plain,
                "--wrapping-key-label",
                &other,
            ],
        ] {
            let ended = twins.nowhere(words);
            let found = words[0] == "list-objects";
            assert_eq!(ended.code, 9, "{found} {words:?}: {ended:?}");
        }
        // A command for a whole token does not stretch the URI of an object to everything in it.
        for words in [
            &["delete-token", "--yes"][..],
            &["change-pin"],
            &["audit-keys"],
            &["capabilities"],
            &["gen-random", "--bytes", "8"],
            &["gen-hmac-key", "--key-label", "new"],
        ] {
            for object in ["object=no-such-key", "type=private", "id=%01"] {
                let uri = format!("pkcs11:token=first;{object}");
                let ended = twins.scene.bare(&[words, &["--uri", &uri]].concat());
                assert_eq!(ended.code, 2, "{words:?} {object}: {ended:?}");
                assert!(ended.stderr.contains("whole token"), "{ended:?}");
            }
        }
        assert!(twins.count("first") > 0);
        // The URI's own type decides which half is compared.
        let words = [
            "diff-keys",
            "--key1-label",
            &public,
            "--key2-label",
            &public,
            "--json",
        ];
        assert_eq!(data(&twins.nowhere(&words))["class"], "CKO_PUBLIC_KEY");
    });
}

#[test]
fn a_uri_in_place_of_a_label_chooses_the_token() {
    on_each_with(&TOKENS, |store| {
        let twins = Twins::new(store);
        let message = twins.scene.file("message", "m");
        for token in TOKENS {
            let pair = twins.uri(token, "pair", "private");
            let upper = pair.replacen("pkcs11:", "PKCS11:", 1);
            for uri in [&pair, &upper] {
                let words = ["sign", "--key-label", uri, "--input", &message, "--json"];
                let output = twins.scene.name(token);
                let ended =
                    twins.nowhere(&[&words[..], &["--output", &output, "--force"]].concat());
                assert_eq!(document(&ended)["token"]["label"], token, "{ended:?}");
            }
            // What names a private key is verified with its public half.
            let signature = twins.scene.name(token);
            let words = [
                "verify",
                "--key-label",
                &pair,
                "--input",
                &message,
                "--signature",
                &signature,
            ];
            assert_eq!(twins.nowhere(&words).code, 0);
            let plain = twins.uri(token, "plain", "secret-key");
            let wrapping = twins.uri(token, "wrapping", "secret-key");
            let wrapped = twins.scene.name(&format!("{token}-wrapped"));
            let words = [
                "wrap-key",
                "--key-label",
                &plain,
                "--wrapping-key-label",
                &wrapping,
            ];
            data(&twins.nowhere(&[&words[..], &["--output", &wrapped, "--json"]].concat()));
            let words = [
                "unwrap-key",
                "--key-label",
                "again",
                "--wrapping-key-label",
                &wrapping,
            ];
            data(&twins.nowhere(&[&words[..], &["--input", &wrapped, "--json"]].concat()));
        }
        // Where it names one of two keys it is destroyed there and not in the other token.
        let plain = twins.uri("second", "plain", "secret-key");
        let before = TOKENS.map(|token| twins.count(token));
        let destroyed =
            data(&twins.nowhere(&["delete-key", "--key-label", &plain, "--yes", "--json"]));
        assert_eq!(destroyed["objects_removed"], 1);
        let after = TOKENS.map(|token| twins.count(token));
        assert_eq!((after[0], after[1] + 1), (before[0], before[1]));
        // The PIN of the URI is used, and nothing repeats it.
        let wrong = format!(
            "{}?pin-value=0000-not-it",
            twins.uri("first", "pair", "private")
        );
        let ended = twins.scene.bare(
            &[
                &["sign", "--key-label", &wrong, "--insecure-pin-argv"][..],
                &["--input", &message, "--json"],
            ]
            .concat(),
        );
        error(&ended, 11, Some("CKR_PIN_INCORRECT"));
        let pin = keywright_tokens::USER_PIN;
        let right = format!("{}?pin-value={pin}", twins.uri("first", "pair", "private"));
        let forged = twins.scene.file("forged", [7; 64]);
        let ended = twins.scene.bare(&[
            "verify",
            "--key-label",
            &right,
            "--insecure-pin-argv",
            "--input",
            &message,
            "--signature",
            &forged,
            "--json",
        ]);
        error(&ended, 8, Some("CKR_SIGNATURE_INVALID"));
        let shown = twins.scene.bare(&[
            "export-pubkey",
            "--key-label",
            &right,
            "--insecure-pin-argv",
            "--container",
            "ssh",
            "--json",
        ]);
        data(&shown);
        for ended in [ended, shown] {
            let told = String::from_utf8_lossy(&ended.stdout).into_owned() + &ended.stderr;
            assert!(!told.contains(pin), "{told}");
        }
    });
}

#[test]
fn a_new_key_has_a_label_and_no_uri() {
    on_each_with(&TOKENS, |store| {
        let scene = Scene::new(store);
        for command in [
            "gen-keypair",
            "gen-symmetric-key",
            "gen-hmac-key",
            "gen-cmac-key",
        ] {
            let words = [
                command,
                "--key-label",
                "pkcs11:token=second;object=new",
                "--label",
                "first",
            ];
            let ended = scene.bare(&[&words[..], &["--pin-file", scene.pin_file()]].concat());
            refused(&ended, 2, "is not a PKCS#11 URI");
        }
    });
}
