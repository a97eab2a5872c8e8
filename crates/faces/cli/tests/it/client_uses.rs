//! `keywright client sign`, `verify`, `agree`, `public-key`, `xpub`, `key-export`, `mac` and `mac-verify`, and the
//! contexts for them.

use crate::program::{Ended, Home, Server, keywright_reading};

const MESSAGE: &[u8] = b"order 4711\n";

struct Scene {
    // Before the home, so that it has ended when its folder goes.
    server: Server,
    home: Home,
    /// What the creation of the wallet printed.
    words: String,
}

impl Scene {
    fn new() -> Self {
        let home = Home::demo();
        for words in [
            &["signer", "--sign", "ecdsa-secp256k1"][..],
            &["codes", "--mac", "hmac-sha-256"],
            &["partner", "--agree", "x25519"],
            &["post-quantum", "--sign", "ml-dsa-65"],
            &["lookup", "--deterministic", "equal-texts-show"],
            &["public", "--tree", "bip32-secp256k1", "--soft-children"],
        ] {
            home.admin(&[&["context", "create"], words].concat())
                .bytes();
        }
        let wallet = ["wallet", "--tree", "slip10-ed25519", "--export", "plain"];
        let made = home.admin(&[&["context", "create"], &wallet[..]].concat());
        assert!(made.stderr.contains("shown only now"), "{made:?}");
        let words = made.text();
        let policy = home.admin(&["policy", "show"]).text();
        let grants = "[[grant]]\nprincipals = [\"trading-1\"]\n\
             contexts = [\"signer\", \"codes\", \"partner\", \"public\", \"post-quantum\"]\n\
             operations = [\"sign\", \"verify\", \"agree\", \"public-key\", \"xpub\", \"mac\", \"mac-verify\"]\n\
             [[grant]]\nprincipals = [\"trading-1\"]\ncontexts = [\"wallet\"]\n\
             operations = [\"sign\", \"verify\", \"public-key\", \"key-export\"]\npaths = [\"m/44'/**\"]\n\
             [[grant]]\nprincipals = [\"trading-1\"]\ncontexts = [\"lookup\"]\n\
             operations = [\"deterministic-encrypt\", \"deterministic-decrypt\"]\n";
        let file = home.folder.write("policy.toml", policy + grants);
        home.admin(&["policy", "apply", &file]).bytes();
        let server = home.serve();
        Self {
            server,
            home,
            words,
        }
    }

    fn client(&self, words: &[&str], input: &[u8]) -> Ended {
        let connection = self.home.of("trading-1", &self.server.url);
        keywright_reading(&[&["client"], words, &connection].concat(), input)
    }
}

#[test]
fn what_is_signed_verifies_and_what_is_not_ends_with_eight() {
    let scene = Scene::new();
    let wallet = &["--path", "m/44'/7'"][..];
    for (context, path) in [
        ("signer", &[][..]),
        ("post-quantum", &[]),
        ("wallet", wallet),
    ] {
        let made = scene.client(&[&["sign", context], path].concat(), MESSAGE);
        assert!(
            made.stderr.contains("key version 1: verify must be told"),
            "{made:?}"
        );
        let signature = made.text();
        let verify = |input: &[u8], signature: &str| {
            let words = [
                "verify",
                context,
                "--key-version",
                "1",
                "--signature",
                signature,
            ];
            scene.client(&[&words[..], path].concat(), input)
        };
        assert_eq!(
            verify(MESSAGE, signature.trim()).text(),
            "the signature fits\n"
        );
        verify(b"another", signature.trim()).refused(8, "does not fit", "same input");
        verify(MESSAGE, "AAAA").refused(8, "does not fit", "same input");
        verify(MESSAGE, "*").refused(2, "--signature is not base64", "base64");
    }
    let words = [
        "sign",
        "signer",
        "--form",
        "ecdsa-recoverable",
        "--digest",
        "--format",
        "json",
    ];
    let document = scene.client(&words, &[7; 32]).document();
    assert_eq!(document["signature"].as_str().unwrap().len(), 88);
    assert_eq!(document["key_version"], 1);
    scene
        .client(&["sign", "signer", "--digest"], &[7; 31])
        .refused(2, "digest of 32 bytes", "");
    scene
        .client(&["sign", "signer", "--form", "ed25519"], MESSAGE)
        .refused(12, "cannot do this", "");
    scene
        .client(&["sign", "wallet", "--path", "m/45'"], MESSAGE)
        .refused(13, "does not allow you", "right");
    scene
        .client(&["sign", "wallet", "--path", "m/44'/x"], MESSAGE)
        .refused(2, "leads to no key", "");
    scene
        .client(&["sign", "exchange-key"], MESSAGE)
        .refused(13, "does not allow you", "right");
}

#[test]
fn codes_and_secrets_and_public_keys_are_printed_in_both_forms() {
    let scene = Scene::new();
    let mac = scene.client(&["mac", "codes"], MESSAGE).text();
    assert_eq!(mac.len(), 45);
    let words = [
        "mac-verify",
        "codes",
        "--key-version",
        "1",
        "--mac",
        mac.trim(),
    ];
    assert_eq!(scene.client(&words, MESSAGE).text(), "the code fits\n");
    scene
        .client(&words, b"x")
        .refused(8, "does not fit", "same input");
    let json = [&words[..], &["--format", "json"]].concat();
    let ended = scene.client(&json, b"x");
    assert_eq!(ended.code, 8);
    assert!(
        String::from_utf8(ended.stdout)
            .unwrap()
            .contains("\"valid\":false")
    );
    let pem = scene.client(&["public-key", "partner"], b"").text();
    assert!(pem.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{pem}");
    let key = scene
        .client(&["public-key", "partner", "--format", "json"], b"")
        .document();
    assert_eq!(key["jwk"]["crv"], "X25519");
    let peer = key["public_key"].as_str().unwrap();
    let secret = scene
        .client(&["agree", "partner", "--peer", peer], b"")
        .text();
    assert_eq!(secret.len(), 45);
    let xpub = scene
        .client(&["xpub", "public", "--path", "m/44'/0'"], b"")
        .text();
    assert!(xpub.starts_with("xpub"), "{xpub}");
    scene
        .client(&["xpub", "wallet", "--path", "m/44'/0'"], b"")
        .refused(13, "does not allow you", "right");
}

#[test]
fn the_words_of_a_wallet_are_shown_once_and_bring_its_keys_back() {
    let scene = Scene::new();
    let line = scene
        .words
        .lines()
        .find(|line| line.starts_with("words"))
        .unwrap();
    let words: Vec<_> = line.split_whitespace().skip(1).collect();
    assert_eq!(words.len(), 24);
    let described = scene.home.admin(&["context", "describe", "wallet"]).text();
    for row in ["tree", "slip10-ed25519", "plain", "bip39"] {
        assert!(described.contains(row), "{row}: {described}");
    }
    assert!(!described.contains(words[0]) || !described.contains(words[1]));
    let out = scene.home.folder.name("key");
    let export = [
        "key-export",
        "wallet",
        "--path",
        "m/44'/7'",
        "--output",
        &out,
    ];
    let ended = scene.client(&export, b"");
    assert!(
        ended.stderr.contains("scheme slip10-ed25519, seed bip39"),
        "{ended:?}"
    );
    ended.bytes();
    assert_eq!(scene.home.folder.mode("key"), 0o600);
    let key = String::from_utf8(scene.home.folder.read("key")).unwrap();
    let key = keywright_encoding::base64::decode(key.trim()).unwrap();
    let mnemonic = keywright_hdkey::mnemonic::Mnemonic::parse(&words.join(" ")).unwrap();
    let node = keywright_hdkey::PrivateNode::derive_from(
        &mnemonic.to_seed(""),
        keywright_hdkey::Scheme::Slip10Ed25519,
        &"m/44'/7'".parse().unwrap(),
    );
    assert_eq!(node.unwrap().export().unwrap().key.expose(), key);
    scene
        .client(&["key-export", "wallet", "--path", "m/45'"], b"")
        .refused(13, "does not allow you", "right");
}

#[test]
fn equal_texts_look_alike_where_the_context_was_made_for_it_and_nowhere_else() {
    let scene = Scene::new();
    let seal = |words: &[&str], input: &[u8]| {
        let words = [&["deterministic-encrypt", "lookup"], words].concat();
        scene.client(&words, input).text()
    };
    let one = seal(&[], b"anna@example.org");
    assert_eq!(seal(&[], b"anna@example.org"), one);
    assert_ne!(seal(&[], b"otto@example.org"), one);
    assert_ne!(seal(&["--aad", "row 7"], b"anna@example.org"), one);
    let open = |words: &[&str]| {
        let words = [&["deterministic-decrypt", "lookup"], words].concat();
        scene.client(&words, one.as_bytes())
    };
    assert_eq!(open(&[]).text(), "anna@example.org");
    open(&["--aad", "row 7"]).refused(8, "does not open", "");
    scene
        .client(&["encrypt", "lookup"], b"x")
        .refused(13, "does not allow you", "right");
    scene
        .client(&["deterministic-encrypt", "signer"], b"x")
        .refused(13, "does not allow you", "right");
    let described = scene.home.admin(&["context", "describe", "lookup"]).text();
    assert!(
        described.contains("deterministic") && described.contains("aes-256-siv"),
        "{described}"
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn kinds_of_contexts_do_not_mix() {
    let home = Home::demo();
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["--sign", "ed25519", "--mac", "hmac-sha-256"],
            2,
            "cannot be used with",
        ),
        (
            &["--sign", "ed25519", "--value-format", "card"],
            2,
            "cannot be used with",
        ),
        (
            &["--sign", "ed25519", "--suite", "xaes-256-gcm"],
            2,
            "cannot be used with",
        ),
        (&["--sign", "rsa"], 2, "rsa"),
        (&["--deterministic"], 2, "LEAK"),
        (&["--deterministic", "yes"], 2, "equal-texts-show"),
        (
            &["--deterministic", "equal-texts-show", "--sign", "ed25519"],
            2,
            "cannot be used with",
        ),
        (
            &["--deterministic", "equal-texts-show", "--custody", "token"],
            12,
            "cannot stay in a token",
        ),
        (
            &["--sign", "rsa-4096-pss-sha-256", "--custody", "token"],
            12,
            "not signed in a token",
        ),
        (&["--export", "plain"], 2, "--tree"),
        (&["--soft-children"], 2, "--tree"),
        (
            &["--sign", "ed25519", "--bind", "group"],
            12,
            "bound to no principal or group",
        ),
        (
            &["--tree", "bip32-secp256k1", "--custody", "token"],
            12,
            "cannot stay in a token",
        ),
        (
            &["--tree", "slip10-ed25519", "--soft-children"],
            12,
            "hardened children only",
        ),
        (
            &[
                "--tree",
                "bip32-secp256k1",
                "--soft-children",
                "--export",
                "plain",
            ],
            12,
            "hands out public nodes",
        ),
    ];
    for (words, code, says) in cases {
        let ended = home.admin(&[&["context", "create", "new"], *words].concat());
        ended.refused(*code, says, "");
    }
    home.admin(&["context", "create", "tree", "--tree", "slip10-ed25519"])
        .bytes();
    home.admin(&["key", "rotate", "tree"])
        .refused(12, "one seed", "");
}
