//! `keywright vectors run` over trees of keys: every form is read, every case held, and what is wrong in one is
//! a failure that is named.

use std::path::{Path, PathBuf};

use keywright_vectors::{Family, repository};
use serde_json::{Value, json};

use crate::program::{Ended, Folder, keywright};

fn run(path: &Path) -> Ended {
    keywright(&["vectors", "run", path.to_str().unwrap()])
}

/// The last line.
fn counts(ended: &Ended) -> String {
    let text = String::from_utf8(ended.stdout.clone()).unwrap();
    text.lines().last().unwrap_or_default().to_owned()
}

/// Files, how many of their cases hold, and what is said beside that.
const FOREIGN: [(&str, &str, u64, &str); 6] = [
    ("bip32", "bip32_vectors.json", 17 + 16, ""),
    ("bip32", "bip340-test-vectors.csv", 19, ""),
    ("slip10", "slip10_vectors.json", 52, ""),
    ("slip10", "slip21_vectors.json", 4, ""),
    (
        "bip39",
        "trezor-vectors.json",
        288,
        "held in part: 264 of other languages, from the words to the seed",
    ),
    ("identus", "prism_hd_vectors.json", 1 + 9 + 2, ""),
];

fn foreign(family: &str, name: &str) -> Option<PathBuf> {
    Family::locate(family)
        .files(name)
        .unwrap()
        .into_iter()
        .next()
}

#[test]
fn all_foreign_trees_hold() {
    let mut skipped = 0;
    for (family, name, cases, beside) in FOREIGN {
        let Some(file) = foreign(family, name) else {
            skipped += cases;
            continue;
        };
        let ended = run(&file);
        assert_eq!(
            counts(&ended),
            format!("{cases} passed, 0 failed, 0 skipped")
        );
        assert!(ended.text().contains(beside), "{name}");
    }
    println!("{skipped} skipped: the folder of vectors is absent");
}

#[test]
fn our_own_trees_hold() {
    for (name, cases) in [("shares.json", 16 + 41), ("profiles.json", 36)] {
        let ended = run(&repository().join("vectors/golden/hd").join(name));
        assert_eq!(
            counts(&ended),
            format!("{cases} passed, 0 failed, 0 skipped")
        );
        ended.bytes();
    }
}

/// Two cases of BIP-32, one of which is wrong in a letter; one "invalid" key that is valid.
#[test]
fn a_letter_that_is_wrong_is_a_failure_with_its_path() {
    let folder = Folder::new();
    let xpub = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8";
    let xprv = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi";
    let file = |xprv: &str, invalid: &str| {
        json!({
            "valid": [{ "vector": "1", "seed": "000102030405060708090a0b0c0d0e0f",
                "chains": [{ "path": "m", "xpub": xpub, "xprv": xprv }] }],
            "invalid": [{ "key": invalid, "reason": "any" }],
        })
        .to_string()
    };
    let good = folder.write("good.json", file(xprv, "xpub6"));
    run(good.as_ref()).bytes();
    for (xprv, invalid, wrong) in [
        (&xprv[..110], "xpub6", "valid/0 m"),
        (xprv, xprv, "invalid/0"),
    ] {
        let bad = folder.write("bad.json", file(xprv, invalid));
        let ended = run(bad.as_ref());
        assert_eq!(ended.code, 3, "{ended:?}");
        assert_eq!(counts(&ended), "1 passed, 1 failed, 0 skipped");
        let text = String::from_utf8(ended.stdout).unwrap();
        assert!(
            text.contains(wrong) && text.contains("does not hold"),
            "{text}"
        );
    }
    // A path that is none and a seed that is too short are no case at all.
    for (from, to) in [
        ("\"m\"", "\"m/\""),
        ("000102030405060708090a0b0c0d0e0f", "00"),
    ] {
        let none = folder.write("none.json", file(xprv, "xpub6").replace(from, to));
        run(none.as_ref()).refused(2, "missing or not what it has to be", "whole");
    }
}

/// Every value of each foreign file is changed in turn; each time the run fails or refuses the file.
#[test]
fn no_value_of_a_foreign_file_is_left_unlooked_at() {
    let folder = Folder::new();
    for (family, name, field) in [
        ("slip10", "slip10_vectors.json", "private"),
        ("slip10", "slip10_vectors.json", "public"),
        ("slip10", "slip10_vectors.json", "fingerprint"),
        ("slip10", "slip21_vectors.json", "key"),
        ("bip32", "bip32_vectors.json", "xpub"),
        ("identus", "prism_hd_vectors.json", "private"),
        ("identus", "prism_hd_vectors.json", "did"),
        ("identus", "prism_hd_vectors.json", "child_chain"),
    ] {
        let Some(mut file) = Family::locate(family).json(name).unwrap() else {
            continue;
        };
        assert!(change_first(&mut file, field), "{name} has no {field}");
        let changed = folder.write(name, file.to_string());
        let ended = run(changed.as_ref());
        assert_eq!(ended.code, 3, "{name} {field}: {ended:?}");
    }
    let Some(table) = foreign("bip32", "bip340-test-vectors.csv") else {
        return;
    };
    let table = std::fs::read_to_string(table).unwrap();
    let changed = folder.write("table.csv", table.replacen("TRUE", "FALSE", 1));
    assert_eq!(run(changed.as_ref()).code, 3);
    let cut = folder.write("table.csv", table.replacen(",TRUE", "", 1));
    assert_ne!(run(cut.as_ref()).code, 0);
}

/// Changes a character in the middle of the first text under this name.
fn change_first(value: &mut Value, field: &str) -> bool {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut(field) {
                let middle = text.len() / 2;
                let other = if text.as_bytes()[middle] == b'2' {
                    "3"
                } else {
                    "2"
                };
                text.replace_range(middle..=middle, other);
                return true;
            }
            fields.values_mut().any(|value| change_first(value, field))
        }
        Value::Array(items) => items.iter_mut().any(|value| change_first(value, field)),
        _ => false,
    }
}
