//! Golden values from the repository's files, as a C header.
//!
//! Both files come from `vectors/golden/fpe/reference.py`, which shares no code with Keywright.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::workshop::home;

/// Cases of both files. New files get new numbers; these do not change.
pub(crate) const CASES: usize = 64 + 62;

/// The text of `cases.h`.
pub(crate) fn header() -> String {
    let files = [
        home().join("../../../vectors/golden/fpe/values.json"),
        home().join("tests/c/exact.json"),
    ];
    let mut arrays = String::new();
    let mut rows = String::from("static const Case CASES[] = {\n");
    let mut number = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        for case in value["cases"].as_array().unwrap() {
            write_case(case, number, &mut arrays, &mut rows);
            number += 1;
        }
    }
    assert_eq!(number, CASES);
    arrays + &rows + "};\n"
}

fn write_case(case: &Value, number: usize, arrays: &mut String, rows: &mut String) {
    let text = |field: &str| case[field].as_str().unwrap();
    let (key, tweak) = (bytes(text("key")), bytes(text("tweak")));
    let (plain, cipher) = (digits(&case["plaintext"]), digits(&case["ciphertext"]));
    assert_eq!(plain.len(), cipher.len());
    // C has no empty arrays; the length says that there is nothing.
    let array = |kind: &str, name: &str, items: &[u64]| {
        let items: Vec<String> = items.iter().map(u64::to_string).collect();
        format!(
            "static const unsigned {kind} {name}{number}[] = {{ {}, 0 }};\n",
            items.join(", ")
        )
    };
    *arrays += &array("char", "key_", &key);
    *arrays += &array("char", "tweak_", &tweak).replace("{ ,", "{");
    *arrays += &array("int", "plain_", &plain);
    *arrays += &array("int", "cipher_", &cipher);
    let mode = match text("mode") {
        "ff1" => "FPE_MODE_FF1",
        "ff3" => "FPE_MODE_FF3",
        "ff3-1" => "FPE_MODE_FF3_1",
        "fpec-ff3-1" => "FPE_MODE_FF3_1_FPEC",
        other => panic!("unknown mode {other}"),
    };
    let algorithm = match text("algorithm") {
        "aes" => "FPE_ALGO_AES",
        "sm4" => "FPE_ALGO_SM4",
        other => panic!("unknown algorithm {other}"),
    };
    writeln!(
        rows,
        "    {{ \"{name}\", {mode}, {algorithm}, {radix}, {bits}, key_{number}, {tweak}, \
         tweak_{number}, {len}, plain_{number}, cipher_{number} }},",
        name = text("name"),
        radix = case["radix"],
        bits = 8 * key.len(),
        tweak = tweak.len(),
        len = plain.len(),
    )
    .unwrap();
}

fn digits(value: &Value) -> Vec<u64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|digit| digit.as_u64().unwrap())
        .collect()
}

fn bytes(hex: &str) -> Vec<u64> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u64::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
