//! Trees of keys through `keywright hd`: what comes out, what stays, and what is refused without a secret.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::program::{Ended, Folder, keywright, keywright_reading};

pub(crate) const PASSWORD: &str = "canary password of the seed file";
pub(crate) const PRISM: &str = "vacuum only object oxygen sell engine firm fiscal shiver finish village clock \
    limit unable reject lawn hard adapt plunge between lawsuit stuff educate knock";

pub(crate) struct Place {
    pub(crate) folder: Folder,
    pub(crate) password: String,
    pub(crate) seed: String,
}

impl Place {
    pub(crate) fn empty() -> Self {
        let folder = Folder::new();
        let password = folder.write("password", format!("{PASSWORD}\n"));
        private(&password);
        let seed = folder.name("seed.kws");
        Self {
            folder,
            password,
            seed,
        }
    }

    /// A raw seed of 64 zero bytes.
    pub(crate) fn raw(export: &str) -> Self {
        let place = Self::empty();
        let made = place.import(
            &["--seed-scheme", "raw", "--export", export],
            &"00".repeat(64),
        );
        made.bytes();
        place
    }

    pub(crate) fn destination<'a>(&'a self, verb: &'a str, words: &[&'a str]) -> Vec<&'a str> {
        let fixed = [
            "hd",
            "seed",
            verb,
            "--out",
            &self.seed,
            "--password-file",
            &self.password,
        ];
        [&fixed[..], &["--profile", "fast"], words].concat()
    }

    pub(crate) fn import(&self, words: &[&str], input: &str) -> Ended {
        keywright_reading(&self.destination("import", words), input.as_bytes())
    }

    pub(crate) fn words<'a>(&'a self, verb: &'a str, words: &[&'a str]) -> Vec<&'a str> {
        let fixed = [
            "hd",
            verb,
            "--seed-file",
            &self.seed,
            "--password-file",
            &self.password,
        ];
        [&fixed[..], words].concat()
    }

    pub(crate) fn run(&self, verb: &str, words: &[&str]) -> Ended {
        keywright(&self.words(verb, words))
    }

    #[track_caller]
    pub(crate) fn json(&self, verb: &str, words: &[&str]) -> Value {
        self.run(verb, &[words, &["--format", "json"]].concat())
            .document()
    }
}

pub(crate) fn private(file: &str) {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[track_caller]
pub(crate) fn text<'a>(document: &'a Value, field: &str) -> &'a str {
    document[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field} in {document}"))
}

#[test]
fn known_keys_come_out_with_their_names() {
    let place = Place::raw("plain");
    let key = place.json("derive", &["--path", "m/29'/29'/0'/1'/0'", "--yes"]);
    assert!(text(&key, "private").starts_with("7381d78fc99a2f51"));
    assert_eq!(text(&key, "scheme"), "bip32-secp256k1");
    assert_eq!(text(&key, "seed_scheme"), "raw");
    assert_eq!(text(&key, "path"), "m/29'/29'/0'/1'/0'");
    let same = place.json("derive", &["--identus", "0/master/0", "--yes"]);
    assert_eq!(key, same);
    let public = place.json("public", &["--identus", "0/master/0"]);
    assert_eq!(public["public"], key["public"]);
    assert_eq!(public["did"], key["did"]);
    assert!(public.get("private").is_none());
    let mut seen = vec![text(&key, "private").to_owned()];
    for scheme in [
        "slip10-nist256p1",
        "slip10-ed25519",
        "slip10-curve25519",
        "bip32-ed25519-v2",
    ] {
        let words = ["--identus", "0/master/0", "--yes", "--scheme", scheme];
        let other = place.json("derive", &words);
        assert_eq!(text(&other, "scheme"), scheme);
        seen.push(text(&other, "private").to_owned());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
}

#[test]
fn words_of_identus_lead_to_the_published_did_under_apollo_alone() {
    for (scheme, expected) in [("apollo", true), ("bip39", false)] {
        let place = Place::empty();
        place.import(&["--seed-scheme", scheme], PRISM).bytes();
        let key = place.json("public", &["--identus", "0/master/0"]);
        let did = "did:prism:35fbaf7f8a68e927feb89dc897f4edc24ca8d7510261829e4834d931e947e6ca";
        assert_eq!(text(&key, "did") == did, expected, "{scheme}");
        assert_eq!(text(&key, "seed_scheme"), scheme);
    }
}

/// A restore drill: the words that were shown bring every key of the tree back.
#[test]
fn words_that_were_shown_bring_the_tree_back() {
    let place = Place::empty();
    let passphrase = place.folder.write("passphrase", "pass phrase\n");
    let words = [
        "--export",
        "plain",
        "--passphrase-file",
        &passphrase,
        "--format",
        "json",
    ];
    let made = keywright(&place.destination("new", &words));
    assert!(made.stderr.contains("not shown again"), "{made:?}");
    let made = made.document();
    let phrase = text(&made, "words").to_owned();
    assert_eq!(phrase.split(' ').count(), 24);
    let restored = Place::empty();
    let passphrase = restored.folder.write("passphrase", "pass phrase");
    let words = ["--seed-scheme", "bip39", "--passphrase-file", &passphrase];
    restored.import(&words, &phrase).bytes();
    for scheme in ["bip32-secp256k1", "slip10-ed25519", "slip10-curve25519"] {
        let words = ["--path", "m/1'/2'", "--scheme", scheme];
        assert_eq!(
            place.json("public", &words),
            restored.json("public", &words)
        );
    }
    let other = Place::empty();
    other.import(&["--seed-scheme", "bip39"], &phrase).bytes();
    let words = ["--path", "m"];
    assert_ne!(place.json("public", &words), other.json("public", &words));
}

#[test]
fn a_seed_that_stays_shows_no_words_and_nothing_of_it_leaves() {
    let place = Place::empty();
    let made = keywright(&place.destination("new", &["--words", "12", "--format", "json"]));
    assert!(made.stderr.is_empty(), "{made:?}");
    assert!(made.document().get("words").is_none());
    let stays = "made to stay";
    place
        .run("derive", &["--path", "m/1'", "--yes"])
        .refused(13, stays, "hd sign");
    let leave = [
        "hd",
        "seed",
        "export",
        "--yes",
        "--seed-file",
        &place.seed,
        "--password-file",
        &place.password,
    ];
    keywright(&leave).refused(13, stays, "hd sign");
    place.run("public", &["--path", "m/1'"]).bytes();
}

#[test]
fn a_seed_that_may_leave_leaves_when_someone_says_yes() {
    let place = Place::raw("plain");
    let words = [
        "hd",
        "seed",
        "export",
        "--seed-file",
        &place.seed,
        "--password-file",
        &place.password,
    ];
    keywright(&words).refused(13, "not confirmed", "--yes");
    place
        .run("derive", &["--path", "m/1'"])
        .refused(13, "not confirmed", "--yes");
    let left = keywright(&[&words[..], &["--yes", "--format", "json"]].concat()).document();
    assert_eq!(text(&left, "seed"), "00".repeat(64));
    assert_eq!(text(&left, "seed_scheme"), "raw");
}

#[test]
fn what_was_signed_verifies_and_nothing_else_does() {
    let place = Place::raw("never");
    let message = place.folder.write("message", "a message");
    let other = place.folder.write("other", "another message");
    for (scheme, algorithm) in [
        ("bip32-secp256k1", "ecdsa"),
        ("bip32-secp256k1", "ecdsa-recoverable"),
        ("bip32-secp256k1", "schnorr"),
        ("slip10-nist256p1", "ecdsa"),
        ("slip10-nist256p1", "ecdsa-recoverable"),
        ("slip10-ed25519", "ed25519"),
        ("bip32-ed25519-v2", "ed25519"),
    ] {
        let how = ["--scheme", scheme, "--algorithm", algorithm];
        let words = [&how[..], &["--path", "m/1'/2'", "--input", &message]].concat();
        let signed = place.json("sign", &words);
        let (public, signature) = (text(&signed, "public"), text(&signed, "signature"));
        let verify = |public: &str, signature: &str, input: &str| {
            let given = ["hd", "verify", "--public", public, "--signature", signature];
            keywright(&[&given[..], &how, &["--input", input]].concat())
        };
        assert_eq!(
            verify(public, signature, &message).text(),
            "verified\n",
            "{how:?}"
        );
        let negative = "verification failed";
        verify(public, signature, &other).refused(8, negative, "check message");
        let elsewhere = place.json("public", &["--scheme", scheme, "--path", "m/1'/3'"]);
        verify(text(&elsewhere, "public"), signature, &message).refused(8, negative, "public key");
        let changed = format!(
            "{}{}",
            if signature.starts_with('0') { "1" } else { "0" },
            &signature[1..]
        );
        verify(public, &changed, &message).refused(8, negative, "");
        verify(public, &signature[2..], &message).refused(2, "another length", "64 bytes");
    }
}

#[test]
fn a_digest_is_signed_as_its_message_is() {
    let place = Place::raw("never");
    let digest = "d9014c4624844aa5bac314773d6b689ad467fa4e1d1a50a1b8a99d5a95f72ff5";
    let words = place.words(
        "sign",
        &["--path", "m/1'", "--algorithm", "ecdsa", "--format", "json"],
    );
    let whole = keywright_reading(&words, b"hello world!").document();
    // SHA-256 of "hello world!" is not this one.
    let words = [&words[..], &["--digest"]].concat();
    let other = keywright_reading(&words, format!("{digest}\n").as_bytes()).document();
    assert_ne!(whole["signature"], other["signature"]);
    assert_eq!(whole["public"], other["public"]);
    keywright_reading(
        &place.words(
            "sign",
            &["--path", "m/1'", "--algorithm", "ecdsa", "--digest"],
        ),
        b"00",
    )
    .refused(2, "not 64 hexadecimal digits", "SHA-256");
    let schnorr = ["--path", "m/1'", "--algorithm", "schnorr", "--digest"];
    keywright_reading(&place.words("sign", &schnorr), digest.as_bytes()).refused(
        2,
        "only ECDSA",
        "--digest",
    );
}

#[test]
fn public_nodes_are_shown_where_soft_children_are_allowed_by_name() {
    let place = Place::raw("never");
    let words = ["--path", "m/44'/0'/0'"];
    place
        .run("xpub", &words)
        .refused(13, "off for this tree", "--allow-soft");
    let node = place.json("xpub", &[&words[..], &["--allow-soft"]].concat());
    assert!(text(&node, "xpub").starts_with("xpub"));
    assert_eq!(text(&node, "chain_code").len(), 64);
    let none = [&words[..], &["--allow-soft", "--scheme", "slip10-ed25519"]].concat();
    place
        .run("xpub", &none)
        .refused(12, "slip10-ed25519", "--scheme");
    place
        .run("public", &["--path", "m/0"])
        .refused(13, "component 1", "--allow-soft");
    place
        .run("public", &["--path", "m/0", "--scheme", "slip10-ed25519"])
        .refused(2, "only hardened children", "behind every number");
    place
        .run("public", &["--path", "m/0", "--allow-soft"])
        .bytes();
}

#[test]
fn a_seed_is_never_written_over_and_nothing_is_left_of_a_refusal() {
    let place = Place::raw("never");
    let before = place.folder.read("seed.kws");
    keywright(&place.destination("new", &[])).refused(13, "never written over", "--out");
    place
        .import(&["--seed-scheme", "raw"], &"11".repeat(64))
        .refused(13, "exists", "--out");
    assert_eq!(place.folder.read("seed.kws"), before);
    assert_eq!(place.folder.names(), ["password", "seed.kws"]);
    let fresh = Place::empty();
    for (words, input, happened) in [
        (&["--seed-scheme", "raw"][..], "00", "16 to 64 bytes"),
        (&["--seed-scheme", "raw"], "0x00", "hexadecimal"),
        (&["--seed-scheme", "bip39"], "abandon abandon", "not 2"),
        (
            &["--seed-scheme", "bip39"],
            &PRISM.replace("vacuum", "abandon"),
            "checksum",
        ),
        (
            &["--seed-scheme", "bip39"],
            &PRISM.replace("vacuum", "canary"),
            "word 1 ",
        ),
        (
            &["--seed-scheme", "apollo"],
            &PRISM.replace("knock", "Knock"),
            "word 24 ",
        ),
        (&["--seed-scheme", "apollo"], "", "not 0"),
    ] {
        let refused = fresh.import(words, input);
        refused.refused(2, happened, "");
        for secret in ["canary", "vacuum", "abandon", "Knock", "0x00"] {
            assert!(!refused.stderr.contains(secret), "{refused:?}");
        }
    }
    assert_eq!(fresh.folder.names(), ["password"]);
}

/// A phrase that was mistyped would make another seed, and none at all a seed that the world knows.
#[test]
fn phrases_are_checked_unless_told_otherwise_which_is_recorded() {
    let japanese = format!("{}あおぞら", "あいこくしん\u{3000}".repeat(11));
    let place = Place::empty();
    let foreign = ["--seed-scheme", "bip39-foreign"];
    place.import(&foreign, &japanese).bytes();
    let fresh = Place::empty();
    let swapped = format!("あおぞら {}", "あいこくしん ".repeat(11));
    for (scheme, input, happened) in [
        ("bip39-foreign", ": |", "not 2"),
        ("bip39-foreign", "a", "not 1"),
        ("bip39-foreign", "", "not 0"),
        ("bip39-foreign", &swapped, "checksum"),
        ("apollo", &format!("abandon {PRISM}"), "not 25"),
        ("apollo", "abandon", "not 1"),
    ] {
        let refused = fresh.import(&["--seed-scheme", scheme], input);
        refused.refused(2, happened, "check the words");
    }
    for scheme in ["bip39-foreign", "apollo"] {
        let words = ["--seed-scheme", scheme, "--unchecked"];
        fresh.import(&words, " ").refused(2, "not 0", "");
    }
    let words = ["--seed-scheme", "bip39", "--unchecked"];
    fresh.import(&words, PRISM).refused(2, "no effect", "");
    assert_eq!(fresh.folder.names(), ["password"]);

    let words = [
        "--seed-scheme",
        "apollo",
        "--unchecked",
        "--export",
        "plain",
    ];
    let made = fresh.import(&words, "abandon").text();
    assert!(made.contains("unchecked"), "{made}");
    let out = fresh.folder.name("copy.kws");
    let leave = [
        "hd",
        "seed",
        "import",
        "--seed-scheme",
        "sealed",
        "--input",
        &fresh.seed,
        "--input-password-file",
        &fresh.password,
        "--password-file",
        &fresh.password,
        "--out",
        &out,
    ];
    let copied = keywright(&leave).text();
    assert!(copied.contains("unchecked"), "{copied}");
}

#[test]
fn other_passwords_files_and_paths_are_refused() {
    let place = Place::raw("never");
    let other = place.folder.write("other-password", "another");
    private(&other);
    let path = ["--path", "m"];
    let with = |seed: &str, password: &str| {
        let words = [
            "hd",
            "public",
            "--seed-file",
            seed,
            "--password-file",
            password,
        ];
        keywright(&[&words[..], &path].concat())
    };
    let refused = with(&place.seed, &other);
    refused.refused(11, "seed.kws", "check the password");
    assert!(!refused.stderr.contains("another") && !refused.stderr.contains("canary"));
    let open = place.folder.write("open-password", PASSWORD);
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    with(&place.seed, &open).refused(2, "can be read by others", "chmod 600");
    let empty = place.folder.write("empty-password", "\n");
    private(&empty);
    with(&place.seed, &empty).refused(2, "holds no password", "one line");
    with(&place.folder.name("nothing"), &place.password).refused(
        9,
        "there is no seed file",
        "seed new",
    );
    let foreign = place.folder.write("foreign", "not a seed file");
    with(&foreign, &place.password).refused(2, "foreign", "hd seed");
    let mut bytes = place.folder.read("seed.kws");
    *bytes.last_mut().unwrap() ^= 1;
    let changed = place.folder.write("changed", bytes);
    with(&changed, &place.password).refused(11, "changed", "");
    for (bad, happened) in [
        ("m/", "component 1"),
        ("m/2147483648'", "larger than"),
        ("M/0'", "begins with m"),
    ] {
        place
            .run("public", &["--path", bad])
            .refused(2, happened, "--identus");
    }
    place
        .run("public", &["--identus", "0/mistress/0"])
        .refused(2, "--identus", "key-agreement");
    place.run("public", &[]).refused(2, "--path", "usage:");
}

#[test]
fn keys_of_identus_libraries_are_shown_beside_the_nodes_own_to_compare() {
    let place = Place::raw("never");
    let words = [
        "--identus",
        "0/authentication/0",
        "--scheme",
        "bip32-ed25519-v2",
    ];
    let mut seen = vec![text(&place.json("public", &words), "public").to_owned()];
    for profile in [
        "identus-ed25519-js",
        "identus-ed25519-jvm",
        "identus-x25519",
    ] {
        let key = place.json("public", &[&words[..], &["--profile", profile]].concat());
        assert_eq!(text(&key, "profile"), profile);
        seen.push(text(&key, "public").to_owned());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4);
    place
        .run("public", &["--path", "m", "--profile", "identus-x25519"])
        .refused(12, "bip32-secp256k1 where", "--scheme");
}

#[test]
fn a_public_key_is_shown_as_json_too_and_never_with_its_private_half() {
    let place = Place::raw("never");
    for (scheme, curve) in [
        ("bip32-secp256k1", "secp256k1"),
        ("slip10-nist256p1", "P-256"),
        ("slip10-ed25519", "Ed25519"),
        ("slip10-curve25519", "X25519"),
    ] {
        let key = place.json("public", &["--path", "m/1'", "--scheme", scheme]);
        let jwk: Value = serde_json::from_str(text(&key, "jwk")).unwrap();
        assert_eq!(jwk["crv"], curve);
        assert!(jwk["x"].is_string() && jwk.get("d").is_none());
    }
}
