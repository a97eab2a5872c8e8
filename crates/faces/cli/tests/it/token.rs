//! Tokens through `keywright token`: built, narrowed, verified, and refused without a reason.

use serde_json::Value;

use crate::program::{Ended, Folder, keywright, keywright_reading};

const SECRET: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

struct Place {
    folder: Folder,
    key: String,
}

impl Place {
    fn new() -> Self {
        let folder = Folder::new();
        let key = folder.write("key", SECRET);
        Self { folder, key }
    }

    fn build(&self, words: &[&str]) -> Ended {
        let front = ["token", "build", "--key-file", &self.key];
        keywright(&[&front[..], words].concat())
    }

    /// A token for an hour, for `api`, to read and write.
    fn token(&self, words: &[&str]) -> String {
        let usual = [
            "--expires-in",
            "1h",
            "--audience",
            "api",
            "--scope",
            "write read",
        ];
        self.build(&[&usual[..], words].concat()).text()
    }

    fn verify(&self, token: &str, words: &[&str]) -> Ended {
        let front = ["token", "verify", "--key-file", &self.key];
        keywright_reading(&[&front[..], words].concat(), token.as_bytes())
    }

    fn accepted(&self, token: &str, words: &[&str]) -> Value {
        self.verify(token, &[&["--format", "json"], words].concat())
            .document()
    }
}

fn attenuate(token: &str, words: &[&str]) -> Ended {
    keywright_reading(&[&["token", "attenuate"], words].concat(), token.as_bytes())
}

#[track_caller]
fn rejected(ended: &Ended) {
    ended.refused(8, "the token is not accepted (token_rejected)", "--explain");
}

#[test]
fn what_is_built_is_accepted_and_says_what_was_put_in() {
    let place = Place::new();
    let data = place.folder.write("data", b"\x00\xff");
    let words = [
        "--subject",
        "alice",
        "--data-file",
        &data,
        "--key-id",
        "0A0B0C0D",
    ];
    for suite in ["blake3", "hmac-sha-256", "ed25519"] {
        let token = place.token(&[&["--suite", suite], &words[..]].concat());
        let words = [
            "--suite",
            suite,
            "--key-id",
            "0a0b0c0d",
            "--audience",
            "api",
            "--scope",
            "read",
        ];
        let said = place.accepted(&token, &words);
        assert_eq!(
            (&said["suite"], &said["key_id"]),
            (&suite.into(), &"0a0b0c0d".into())
        );
        assert_eq!(said["scope"], serde_json::json!(["read", "write"]));
        assert_eq!(
            (&said["subject"], &said["data"]),
            (&"alice".into(), &"AP8=".into())
        );
        assert_eq!(
            (&said["audience"], &said["bound"]),
            (&"api".into(), &false.into())
        );
        let text = place.verify(&token, &words).text();
        assert!(
            text.contains("audience") && text.contains("read write"),
            "{text}"
        );
    }
}

#[test]
fn a_token_of_another_program_is_accepted() {
    let place = Place::new();
    // The worked example of docs/formats.md.
    let token = "AQABAgMEEREREREREREREREREREREQAbAQgAAAAAa0ngEAMDYXBpBApyZWFkIHdyaXRlqe2fJseyf2S/rCuYBmMdHA==";
    let words = [
        "--key-id",
        "01020304",
        "--audience",
        "api",
        "--at",
        "1800000000",
    ];
    assert_eq!(place.accepted(token, &words)["expires"], 1_800_003_600);
    let raw = keywright_encoding::base64::decode(token).unwrap();
    let file = place.folder.write("raw", &raw);
    let ended = place.verify("", &[&words[..], &["--input", &file]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn every_refusal_is_the_same_unless_the_verifier_asks() {
    let place = Place::new();
    let token = place.token(&[]);
    let other = place.folder.write("other", "ff".repeat(32));
    let api = ["--audience", "api"];
    for (words, reason) in [
        (&["--audience", "mail"][..], "audience"),
        (&["--audience", "api", "--scope", "admin"], "scope"),
        (&["--audience", "api", "--at", "9999999999"], "expired"),
        (&["--audience", "api", "--suite", "hmac-sha-256"], "suite"),
        (
            &["--audience", "api", "--key-id", "00000000"],
            "key_unknown",
        ),
        (
            &[
                "--audience",
                "api",
                "--binder-file",
                &other,
                "--require-binding",
            ],
            "binding",
        ),
    ] {
        rejected(&place.verify(&token, words));
        let explained = place.verify(&token, &[words, &["--explain"]].concat());
        assert_eq!(explained.code, 8);
        assert!(
            explained.stderr.starts_with(&format!("reason: {reason}\n")),
            "{explained:?}"
        );
    }
    for token in [
        "",
        "no token",
        "AAAA",
        &token[..40],
        &token.replacen('A', "B", 1),
    ] {
        rejected(&place.verify(token, &api));
    }
    let error = place
        .verify("x", &["--audience", "api", "--format", "json"])
        .error(8);
    assert_eq!(error["code"], "token_rejected");
}

#[test]
fn a_holder_takes_away_and_cannot_give() {
    let place = Place::new();
    let token = place.token(&[]);
    let narrower = attenuate(&token, &["--scope", "read", "--expires-in", "60s"]).text();
    let said = place.accepted(&narrower, &["--audience", "api"]);
    assert_eq!(said["scope"], serde_json::json!(["read"]));
    rejected(&place.verify(&narrower, &["--audience", "api", "--scope", "write"]));
    attenuate(&narrower, &["--scope", "read write"]).refused(13, "widens", "take something away");
    attenuate(&narrower, &["--expires-in", "2h"]).refused(13, "widens", "take something away");
    attenuate(&narrower, &[]).refused(13, "widens", "take something away");
    attenuate("x", &["--scope", "read"]).refused(8, "token_malformed", "whole output");
    attenuate(&token, &["--scope", "read", "--key-file", &place.key]).refused(
        2,
        "other_way",
        "--key-file",
    );

    let branch = said["branches"][0].as_str().unwrap();
    let denied = place.folder.write("denied", format!("{branch}\n"));
    let words = ["--audience", "api", "--deny-file", &denied];
    rejected(&place.verify(&narrower, &words));
    place.accepted(&token, &words);
    let broken = place.folder.write("broken", "00\n");
    let words = ["--audience", "api", "--deny-file", &broken];
    place
        .verify(&token, &words)
        .refused(2, "line 1", "32 lower-case");
    let words = ["--audience", "api", "--deny-file", "/nonexistent/list"];
    place
        .verify(&token, &words)
        .refused(1, "cannot be read", "check");
}

#[test]
fn a_signed_token_is_closed_by_its_holder_and_verified_with_the_public_key() {
    let place = Place::new();
    let holder = place.folder.name("holder");
    let public = place.folder.name("holder.pub");
    let words = [
        "token",
        "build",
        "--key-file",
        &holder,
        "--new-key",
        "--suite",
        "ed25519",
        "--public-out",
        &public,
    ];
    keywright(&[&words[..], &["--expires-in", "1s"]].concat()).text();
    let issuer = place.folder.name("issuer.pub");
    let words = [
        "--suite",
        "ed25519",
        "--delegate-file",
        &public,
        "--public-out",
        &issuer,
    ];
    let token = place.token(&words);
    let verify = |token: &str, more: &[&str]| {
        let words = [
            "token",
            "verify",
            "--suite",
            "ed25519",
            "--public-key-file",
            &issuer,
            "--audience",
            "api",
        ];
        keywright_reading(&[&words[..], more].concat(), token.as_bytes())
    };
    rejected(&verify(&token, &[]));
    let closed = attenuate(&token, &["--key-file", &holder]).text();
    assert_eq!(verify(&closed, &["--scope", "read write"]).code, 0);
    attenuate(&token, &["--key-file", &place.key]).refused(13, "key_other", "--key-file");
    attenuate(&closed, &["--key-file", &holder]).refused(13, "token_closed", "as it is");
    attenuate(&token, &["--scope", "read"]).refused(2, "other_way", "--key-file");
    let words = [
        "token",
        "verify",
        "--public-key-file",
        &issuer,
        "--audience",
        "api",
    ];
    keywright_reading(&words, token.as_bytes()).refused(2, "signatures only", "--suite ed25519");
}

#[test]
fn a_bound_token_is_good_in_its_session() {
    let place = Place::new();
    let session = place.folder.write("session", [7; 32]);
    let other = place.folder.write("other", [8; 32]);
    let token = place.token(&["--binder-file", &session]);
    let words = [
        "--audience",
        "api",
        "--binder-file",
        &session,
        "--require-binding",
    ];
    assert_eq!(place.accepted(&token, &words)["bound"], true);
    rejected(&place.verify(&token, &["--audience", "api"]));
    rejected(&place.verify(&token, &["--audience", "api", "--binder-file", &other]));
}

#[test]
fn keys_and_tokens_are_made_once_and_for_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let (key, out) = (place.folder.name("new"), place.folder.name("token"));
    let words = [
        "token",
        "build",
        "--key-file",
        &key,
        "--new-key",
        "--expires-in",
        "1h",
        "--out",
        &out,
    ];
    assert!(keywright(&words).bytes().is_empty());
    for file in [&key, &out] {
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    keywright(&words).refused(13, "exists and is not written over", "choose another name");
    let words = [
        "token",
        "verify",
        "--key-file",
        &key,
        "--any-audience",
        "--input",
        &out,
    ];
    assert!(keywright(&words).text().contains("expires"));
}

#[test]
fn what_makes_no_token_is_refused_with_what_to_do() {
    let place = Place::new();
    let short = place.folder.write("short", "abc");
    for (words, happened, advice) in [
        (&[][..], "no end", "--expires-in"),
        (&["--expires-in", "soon"], "no time", "15m"),
        (&["--expires-in", "1ms"], "no time", "15m"),
        (&["--expires-at", "18446744073709551615"], "time", "year"),
        (
            &["--expires-at", "5", "--not-before", "5"],
            "never_valid",
            "later",
        ),
        (
            &["--expires-in", "1h", "--audience", "a b"],
            "name",
            "visible",
        ),
        (
            &["--expires-in", "1h", "--scope", "\u{e4}"],
            "scope",
            "visible",
        ),
        (
            &["--expires-in", "1h", "--key-id", "12"],
            "key id",
            "00c0ffee",
        ),
        (
            &["--expires-in", "1h", "--public-out", "/nonexistent/x"],
            "no public half",
            "ed25519",
        ),
        (
            &["--expires-in", "1h", "--binder-file", &short],
            "no key of 32 bytes",
            "64",
        ),
        (
            &["--expires-in", "1h", "--delegate-file", &place.key],
            "delegation_with_mac",
            "ed25519",
        ),
    ] {
        place.build(words).refused(2, happened, advice);
    }
    let words = ["token", "build", "--key-file", &short, "--expires-in", "1h"];
    keywright(&words).refused(2, "no key of 32 bytes", "--new-key");
    place.verify("x", &[]).refused(2, "--audience", "usage");
    place
        .verify("x", &["--audience", "api", "--skew", "61"])
        .refused(2, "skew", "60");
}
