//! `keywright vectors run` over what sessions are made of: all foreign files hold, what is not built is
//! skipped by reason, and what is wrong in a file is a failure.

use keywright_vectors::Family;
use serde_json::{Value, json};

use crate::program::{Folder, keywright};

/// Files, and how many of their cases pass and are skipped.
const FOREIGN: [(&str, &str, u64, u64); 29] = [
    ("hpke", "test-vectors-rfc9180-5f503c5.json", 96, 32),
    ("hpke", "go1.26.8-rfc9180-accumulated.json", 24, 0),
    ("hpke", "hpke-pq-draft-test-vectors.json", 6, 7),
    ("hpke", "go1.26-hpke-pq.json", 6, 7),
    ("hpke", "rust-hpke-test-vectors-go-8aa8a04.json", 2, 0),
    ("wycheproof", "aes_gcm_test.json", 0, 0),
    ("wycheproof", "chacha20_poly1305_test.json", 325, 0),
    ("wycheproof", "xchacha20_poly1305_test.json", 315, 0),
    ("wycheproof", "x25519_test.json", 518, 0),
    ("wycheproof", "ed25519_test.json", 151, 0),
    ("wycheproof", "hkdf_sha256_test.json", 86, 0),
    ("wycheproof", "hkdf_sha384_test.json", 83, 0),
    ("wycheproof", "hkdf_sha512_test.json", 83, 0),
    ("wycheproof", "hmac_sha256_test.json", 174, 0),
    ("wycheproof", "hmac_sha384_test.json", 174, 0),
    ("wycheproof", "hmac_sha512_test.json", 174, 0),
    ("wycheproof", "mlkem_768_test.json", 193, 0),
    ("wycheproof", "mlkem_768_encaps_test.json", 265, 0),
    ("wycheproof", "mlkem_768_keygen_seed_test.json", 100, 0),
    (
        "wycheproof",
        "mlkem_768_semi_expanded_decaps_test.json",
        9,
        0,
    ),
    ("wycheproof", "mlkem_1024_test.json", 193, 0),
    ("wycheproof", "mlkem_1024_encaps_test.json", 269, 0),
    ("wycheproof", "mlkem_1024_keygen_seed_test.json", 100, 0),
    (
        "wycheproof",
        "mlkem_1024_semi_expanded_decaps_test.json",
        9,
        0,
    ),
    ("wycheproof", "x448_test.json", 0, 510),
    ("wycheproof", "ed448_test.json", 0, 87),
    ("wycheproof", "x25519_jwk_test.json", 0, 531),
    ("blake3", "test_vectors.json", 105, 0),
    ("argon2", "rfc9106_and_phc.json", 6, 3),
];

/// AES-GCM has cases that our types cannot say; these are those that they can.
const GCM: (u64, u64) = (133, 183);

fn told(paths: &[&str]) -> (i32, Value) {
    let ended = keywright(&[&["vectors", "run", "--format", "json"], paths].concat());
    let document = serde_json::from_slice(&ended.stdout).unwrap_or(Value::Null);
    (ended.code, document)
}

#[test]
fn all_foreign_files_hold_and_what_is_not_built_is_skipped_by_reason() {
    let (mut absent, mut passed, mut skipped, mut paths) = (0, 0, 0, Vec::new());
    for (family, file, holds, skips) in FOREIGN {
        let (holds, skips) = if file == "aes_gcm_test.json" {
            GCM
        } else {
            (holds, skips)
        };
        match Family::locate(family).files(file).unwrap().pop() {
            None => absent += holds,
            Some(path) => {
                passed += holds;
                skipped += skips;
                paths.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    println!("{absent} skipped: the folder of vectors is absent");
    if paths.is_empty() {
        return;
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (code, told) = told(&paths);
    assert_eq!(code, 0, "{told}");
    assert_eq!(told["failed"], 0, "{told}");
    assert_eq!(told["passed"], passed, "{told}");
    assert_eq!(told["skipped"], skipped, "{told}");
    let reasons = told["skips"].as_object().unwrap();
    assert_eq!(
        reasons["HPKE with X448, which the backend does not have"],
        34
    );
    assert_eq!(reasons["HPKE with TurboSHAKE"], 4);
}

fn hmac(tag: &str, result: &str) -> Value {
    json!({"algorithm": "HMACSHA256", "numberOfTests": 1, "testGroups": [{"keySize": 256, "tagSize": 256,
        "type": "MacTest", "tests": [{"tcId": 1, "key": "00", "msg": "", "tag": tag, "result": result}]}]})
}

#[test]
fn what_a_file_says_wrongly_is_a_failure_and_what_it_says_by_halves_an_error() {
    const TAG: &str = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
    let folder = Folder::new();
    let run = |file: &Value| {
        let path = folder.write("a_test.json", file.to_string());
        told(&[&path])
    };
    let wrong = TAG.replace("ad", "ae");
    for (file, code, failed) in [
        (hmac(TAG, "valid"), 0, 0),
        (hmac(&wrong, "invalid"), 0, 0),
        (hmac(&wrong, "valid"), 3, 1),
        (hmac(TAG, "invalid"), 3, 1),
    ] {
        let (ended, told) = run(&file);
        assert_eq!(
            (ended, told["failed"].as_u64()),
            (code, Some(failed)),
            "{told}"
        );
    }
    let mut short = hmac(TAG, "valid");
    short["numberOfTests"] = json!(2);
    let mut odd = hmac(TAG, "valid");
    odd["testGroups"][0]["tests"][0]["key"] = json!("0");
    for file in [short, odd, hmac(TAG, "maybe")] {
        assert_eq!(run(&file).0, 2, "{file}");
    }
}

#[test]
fn a_set_of_hpke_with_one_changed_byte_fails() {
    let Some(sets) = Family::locate("hpke")
        .json("test-vectors-rfc9180-5f503c5.json")
        .unwrap()
    else {
        println!("1 skipped: the folder of vectors is absent");
        return;
    };
    let folder = Folder::new();
    let run = |set: Value| {
        let path = folder.write("sets.json", json!([set]).to_string());
        told(&[&path]).0
    };
    let set = &sets[0];
    assert_eq!(run(set.clone()), 0);
    for pointer in [
        "/enc",
        "/info",
        "/skRm",
        "/pkRm",
        "/exports/0/exported_value",
        "/encryptions/3/ct",
    ] {
        let mut changed = set.clone();
        let field = changed.pointer_mut(pointer).unwrap();
        let text = field.as_str().unwrap();
        let flipped = if text.starts_with('0') { "1" } else { "0" };
        *field = json!(format!("{flipped}{}", &text[1..]));
        assert_eq!(run(changed), 3, "{pointer}");
    }
}
