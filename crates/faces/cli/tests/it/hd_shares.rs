//! Seeds in parts and under other passwords, through `keywright hd seed`: what was written leads back, what is
//! wrong is named, and nothing of a secret is printed.

use serde_json::Value;

use crate::hd::{PRISM, Place, private, text};
use crate::program::{Ended, keywright};

fn split(place: &Place, words: &[&str]) -> Ended {
    let fixed = [
        "hd",
        "seed",
        "shares",
        "split",
        "--seed-file",
        &place.seed,
        "--password-file",
        &place.password,
    ];
    keywright(&[&fixed[..], words].concat())
}

/// Three of five in a folder.
fn five(place: &Place, folder: &str) -> Vec<String> {
    let out = place.folder.name(folder);
    let words = ["--needed", "3", "--count", "5", "--out", &out, "--yes"];
    let made = split(place, &[&words[..], &["--format", "json"]].concat());
    let document = made.document();
    assert_eq!(
        (&document["needed"], &document["count"]),
        (&3.into(), &5.into())
    );
    let files = document["files"].as_array().unwrap();
    let name = |file: &Value| format!("{out}/{}", file.as_str().unwrap());
    files.iter().map(name).collect()
}

fn combine(place: &Place, shares: &[&String], out: &str, words: &[&str]) -> Ended {
    let fixed = ["hd", "seed", "shares", "combine"];
    let shares: Vec<&str> = shares.iter().map(|share| share.as_str()).collect();
    let end = [
        "--out",
        out,
        "--password-file",
        &place.password,
        "--profile",
        "fast",
    ];
    keywright(&[&fixed[..], &shares, &end, words].concat())
}

fn public(place: &Place, seed: &str, path: &str, scheme: &str) -> Value {
    let fixed = [
        "hd",
        "public",
        "--seed-file",
        seed,
        "--password-file",
        &place.password,
    ];
    let words = ["--path", path, "--scheme", scheme, "--format", "json"];
    keywright(&[&fixed[..], &words].concat()).document()
}

/// A restore drill at the command line.
#[test]
fn shares_bring_every_key_back_and_print_nothing_of_the_seed() {
    let place = Place::raw("plain");
    let shares = five(&place, "shares");
    let restored = place.folder.name("restored.kws");
    let some = [&shares[4], &shares[0], &shares[2]];
    let back = combine(&place, &some, &restored, &["--export", "plain"]);
    assert!(back.stderr.is_empty(), "{back:?}");
    assert!(!back.text().contains("000000"));
    for scheme in [
        "bip32-secp256k1",
        "slip10-ed25519",
        "slip10-curve25519",
        "bip32-ed25519-v2",
    ] {
        for path in ["m/29'/29'/0'/1'/0'", "m/44'/60'/3'/7'"] {
            assert_eq!(
                public(&place, &place.seed, path, scheme),
                public(&place, &restored, path, scheme)
            );
        }
    }
    for share in &shares {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(share).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_seed_that_stays_is_not_split_and_nothing_is_made_without_a_yes() {
    let place = Place::raw("never");
    let out = place.folder.name("shares");
    let words = ["--needed", "2", "--count", "3", "--out", &out];
    split(&place, &[&words[..], &["--yes"]].concat()).refused(13, "made to stay", "hd sign");
    let place = Place::raw("plain");
    let out = place.folder.name("shares");
    let words = ["--needed", "2", "--count", "3", "--out", &out];
    split(&place, &words).refused(13, "not confirmed", "--yes");
    for (needed, count) in [("1", "3"), ("4", "3"), ("2", "17"), ("0", "0")] {
        let words = ["--needed", needed, "--count", count, "--out", &out, "--yes"];
        split(&place, &words).refused(2, "2 to 16 shares", "--needed");
    }
    assert_eq!(place.folder.names(), ["password", "seed.kws"]);
    let there = place.folder.write("there", "");
    let words = ["--needed", "2", "--count", "3", "--out", &there, "--yes"];
    split(&place, &words).refused(13, "exists", "--out");
}

#[test]
fn shares_that_are_wrong_are_named_and_nothing_is_written() {
    let place = Place::raw("plain");
    let shares = five(&place, "shares");
    let others = five(&place, "others");
    let out = place.folder.name("out.kws");
    let all: Vec<&String> = shares.iter().collect();
    combine(&place, &all[..2], &out, &[]).refused(2, "3 shares are needed, and 2", "other numbers");
    let twice = [all[0], all[1], all[0]];
    combine(&place, &twice, &out, &[]).refused(2, "share 1 was given twice", "other numbers");
    let mixed = [all[0], all[1], &others[3]];
    combine(&place, &mixed, &out, &[]).refused(
        2,
        "share 4 belongs to another set",
        "one splitting",
    );
    // One digit of the second share, without and with check digits that fit.
    let original = std::fs::read_to_string(all[1]).unwrap();
    let at = original.find("data ").unwrap() + 5;
    let digit = if &original[at..=at] == "0" { "1" } else { "0" };
    let changed = format!("{}{digit}{}", &original[..at], &original[at + 1..]);
    let slip = place.folder.write("slip", &changed);
    combine(&place, &[all[0], &slip, all[2]], &out, &[]).refused(
        2,
        "share 2 was changed",
        "digit by digit",
    );
    let body = &changed[..changed.find("check ").unwrap()];
    let check = keywright_primitives::hash::sha256(body.as_bytes());
    let check = keywright_encoding::hex::encode(&check[..4]);
    let forged = place
        .folder
        .write("forged", format!("{body}check {check}\n"));
    combine(&place, &[all[0], &forged, all[2]], &out, &[]).refused(
        8,
        "make no seed",
        "one share more",
    );
    let more = [all[0], &forged, all[2], all[3]];
    combine(&place, &more, &out, &[]).refused(8, "share 2 does not fit", "leave them out");
    let none = place.folder.write("none", "three blind mice\n");
    let refused = combine(&place, &[all[0], all[2], &none], &out, &[]);
    refused.refused(2, "none is no share", "letter by letter");
    assert!(!refused.stderr.contains("blind"));
    assert!(!place.folder.names().contains(&"out.kws".to_owned()));
}

#[test]
fn a_seed_leaves_under_another_password_and_comes_back() {
    let place = Place::raw("plain");
    let other = place
        .folder
        .write("other-password", "canary of the export\n");
    private(&other);
    let (away, back) = (place.folder.name("away.kws"), place.folder.name("back.kws"));
    let from = [
        "--seed-file",
        &place.seed,
        "--password-file",
        &place.password,
    ];
    let to = [
        "--out",
        &away,
        "--new-password-file",
        &other,
        "--profile",
        "fast",
    ];
    let leave = [&["hd", "seed", "export"][..], &from, &to].concat();
    let left = keywright(&leave);
    assert!(left.stderr.is_empty() && !left.text().contains("0000"));
    keywright(&leave).refused(13, "exists", "--out");
    // Neither the old password nor a word too few opens it.
    let open = ["hd", "public", "--seed-file", &away, "--path", "m/1'"];
    let with = |password: &str| keywright(&[&open[..], &["--password-file", password]].concat());
    with(&place.password).refused(11, "away.kws", "check the password");
    with(&other).bytes();
    let enter = [
        "hd",
        "seed",
        "import",
        "--seed-scheme",
        "sealed",
        "--input",
        &away,
        "--out",
        &back,
        "--password-file",
        &place.password,
        "--profile",
        "fast",
    ];
    keywright(&enter).refused(2, "--input-password-file", "usage:");
    let enter = [&enter[..], &["--input-password-file", &other]].concat();
    keywright(&enter).bytes();
    let scheme = "slip10-nist256p1";
    assert_eq!(
        public(&place, &place.seed, "m/7'", scheme),
        public(&place, &back, "m/7'", scheme)
    );
    stays(&place, &back);
}

/// What was taken to stay stays.
#[track_caller]
fn stays(place: &Place, seed: &str) {
    let derive = ["hd", "derive", "--seed-file", seed, "--path", "m/7'"];
    let end = ["--password-file", &place.password, "--yes"];
    keywright(&[&derive[..], &end].concat()).refused(13, "made to stay", "hd sign");
}

#[test]
fn what_was_made_to_stay_does_not_become_free_by_way_of_another_file() {
    let place = Place::raw("never");
    let other = place.folder.write("other-password", "another\n");
    private(&other);
    let (away, back) = (place.folder.name("away.kws"), place.folder.name("back.kws"));
    let leave = [
        "hd",
        "seed",
        "export",
        "--seed-file",
        &place.seed,
        "--password-file",
        &place.password,
        "--out",
        &away,
        "--new-password-file",
        &other,
    ];
    keywright(&leave).refused(13, "made to stay", "hd sign");
    let enter = [
        "hd",
        "seed",
        "import",
        "--seed-scheme",
        "sealed",
        "--input",
        &place.seed,
        "--input-password-file",
        &place.password,
        "--out",
        &back,
        "--password-file",
        &other,
        "--profile",
        "fast",
    ];
    keywright(&[&enter[..], &["--export", "plain"]].concat()).refused(
        13,
        "made to stay",
        "hd sign",
    );
    assert_eq!(
        place.folder.names(),
        ["other-password", "password", "seed.kws"]
    );
    let written = keywright(&[&enter[..], &["--format", "json"]].concat()).document();
    assert_eq!(text(&written, "export"), "never");
}

/// The four salts of the published mnemonic, each found by the key that it leads to.
#[test]
fn the_salt_of_identus_words_is_found_by_a_known_key() {
    for salt in ["", "mnemonic", "AtalaPrism", "mnemonicundefined"] {
        let (known, found) = (Place::empty(), Place::empty());
        let file = known.folder.write("salt", salt);
        let words = ["--seed-scheme", "apollo", "--passphrase-file", &file];
        known.import(&words, PRISM).bytes();
        let key = known.json("public", &["--identus", "0/master/0"]);
        let public = text(&key, "public");
        found
            .import(
                &["--seed-scheme", "apollo", "--known-public", public],
                PRISM,
            )
            .bytes();
        let other = ["--identus", "7/authentication/3"];
        assert_eq!(known.json("public", &other), found.json("public", &other));
    }
    let place = Place::empty();
    let strange = "02".repeat(33);
    place
        .import(
            &["--seed-scheme", "apollo", "--known-public", &strange],
            PRISM,
        )
        .refused(8, "no salt", "--passphrase-file");
    assert_eq!(place.folder.names(), ["password"]);
}
