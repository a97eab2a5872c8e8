//! `keywright vectors run`: every form in a small file of its own, and what is wrong in it is a failure.
//!
//! The whole of the foreign files is run where their folder is; without it those cases are counted as
//! skipped.

use keywright_vectors::Family;
use serde_json::{Value, json};

use crate::program::{Ended, Folder, keywright};

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";

fn run(paths: &[&str]) -> Ended {
    keywright(&[&["vectors", "run"], paths].concat())
}

/// The last line.
fn counts(ended: &Ended) -> String {
    let text = String::from_utf8(ended.stdout.clone()).unwrap();
    text.lines().last().unwrap_or_default().to_owned()
}

#[track_caller]
fn passes(path: &str, wanted: &str) {
    let ended = run(&[path]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(counts(&ended), wanted);
}

#[track_caller]
fn fails(path: &str, wanted: &str) -> String {
    let ended = run(&[path]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert_eq!(counts(&ended), wanted);
    String::from_utf8(ended.stdout).unwrap()
}

fn text_case(number: u32, msg: &str, ct: &str, result: &str) -> Value {
    json!({"tcId": number, "key": KEY, "tweak": "39383736353433323130", "msg": msg, "ct": ct,
        "result": result, "flags": []})
}

fn wycheproof(tests: &[Value], declared: usize) -> String {
    json!({"algorithm": "AES-FF1", "numberOfTests": declared, "testGroups": [
        {"type": "FpeStrTest", "radix": 10, "alphabet": "0123456789", "tests": tests}]})
    .to_string()
}

const PLAIN: &str = "0123456789";
const CIPHER: &str = "6124200773";

#[test]
fn texts_of_wycheproof_match_or_are_refused_as_the_file_says() {
    let folder = Folder::new();
    let good = [
        text_case(1, PLAIN, CIPHER, "valid"),
        text_case(2, "01234567x9", "", "invalid"),
        text_case(3, "1", "", "invalid"),
    ];
    let file = folder.write("a_test.json", wycheproof(&good, 3));
    passes(&file, "3 passed, 0 failed, 0 skipped");
    let text = run(&[&file]).text();
    assert!(
        text.contains("refused, as the files demand: 1 domain_floor, 1 symbol_unknown\n"),
        "{text}"
    );
    for (bad, reason) in [
        (text_case(7, PLAIN, "6124200774", "valid"), "another value"),
        (text_case(7, PLAIN, CIPHER, "invalid"), "accepted"),
        (text_case(7, "01234567x9", CIPHER, "valid"), "case 7"),
        (text_case(7, PLAIN, "", "valid"), "case 7"),
    ] {
        let mixed = [&good[..], &[bad]].concat();
        let file = folder.write("b_test.json", wycheproof(&mixed, 4));
        let text = fails(&file, "3 passed, 1 failed, 0 skipped");
        assert!(text.contains("case 7") && text.contains(reason), "{text}");
    }
}

#[test]
fn lists_of_wycheproof_may_have_digits_that_nobody_can_ask_for() {
    let folder = Folder::new();
    let case = |number: u32, msg: Value, ct: Value, result: &str| {
        json!({"tcId": number, "key": KEY, "tweak": "39383736353433323130", "msg": msg, "ct": ct,
            "result": result, "flags": []})
    };
    let right = (
        json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        json!([6, 1, 2, 4, 2, 0, 0, 7, 7, 3]),
    );
    let tests = [
        case(1, right.0.clone(), right.1.clone(), "valid"),
        case(
            2,
            json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 10]),
            json!([]),
            "invalid",
        ),
        case(
            3,
            json!([0, 1, 2, 3, 4, 5, 6, 7, 8, -1]),
            json!([]),
            "invalid",
        ),
        case(
            4,
            json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 4_294_967_296_u64]),
            json!([]),
            "invalid",
        ),
    ];
    let file = |tests: &[Value]| {
        json!({"algorithm": "AES-FF1", "numberOfTests": tests.len(), "testGroups": [
            {"type": "FpeListTest", "radix": 10, "tests": tests}]})
        .to_string()
    };
    let path = folder.write("list_test.json", file(&tests));
    passes(&path, "4 passed, 0 failed, 0 skipped");
    let wrong = [case(9, right.1, right.0, "valid")];
    let path = folder.write("list_test.json", file(&wrong));
    fails(&path, "0 passed, 1 failed, 0 skipped");
}

#[test]
fn what_the_strict_policy_refuses_is_counted_by_reason_and_passes() {
    let folder = Folder::new();
    let cases = json!({"cases": [
        {"alg": "FF3-1", "cipher": "AES", "radix": 10, "alphabet": "0123456789", "key": KEY,
            "tweak": "CBD09280979564", "pt": "4111111111111111", "ct": "0493935956068039", "verified": true},
        {"alg": "FF1", "cipher": "SM4", "radix": 10, "alphabet": "0123456789", "key": KEY,
            "tweak": "39383736353433", "pt": "4111111111111111", "ct": "3780764021307723", "verified": true},
        {"alg": "FF1", "cipher": "AES", "radix": 10, "alphabet": "0123456789", "key": KEY,
            "tweak": "", "pt": "0123456789", "ct": "2433477484", "verified": true},
    ]});
    let path = folder.write("collected.json", cases.to_string());
    passes(&path, "3 passed, 0 failed, 0 skipped");
    let text = run(&[&path]).text();
    assert!(
        text.contains("refused by the strict policy: 1 encrypt_refused, 1 tweak_empty\n"),
        "{text}"
    );
}

#[test]
fn a_value_that_is_known_to_be_wrong_must_not_come_out() {
    let folder = Folder::new();
    let file = |ct: &str, verified: bool| {
        let cases = json!({"cases": [
            {"alg": "FF3-1", "cipher": "AES", "radix": 10, "alphabet": "0123456789",
                "key": "2DE79D232DF5585D68CE47882AE256D6", "tweak": "CBD09280979564",
                "pt": "3992520240", "ct": ct, "verified": verified}]});
        folder.write("collected.json", cases.to_string())
    };
    passes(&file("8901801106", true), "1 passed, 0 failed, 0 skipped");
    passes(&file("0535455316", false), "1 passed, 0 failed, 0 skipped");
    fails(&file("0535455316", true), "0 passed, 1 failed, 0 skipped");
    let text = fails(&file("8901801106", false), "0 passed, 1 failed, 0 skipped");
    assert!(text.contains("known to be wrong was reproduced"), "{text}");
}

const TABLE: &str = "# tcId\tdir\tkeyLen\tradix\tkey\ttweak\tpt\tct\n";

#[test]
fn the_validation_server_is_read_as_it_writes_and_as_a_table() {
    let folder = Folder::new();
    let group = json!({"tgId": 1, "direction": "encrypt", "radix": 10, "alphabet": "0123456789", "tests": [
        {"tcId": 1, "key": KEY, "tweak": "39383736353433323130", "pt": PLAIN, "ct": CIPHER}]});
    let file =
        json!({"vsId": 0, "algorithm": "ACVP-AES-FF1", "revision": "1.0", "testGroups": [group]});
    let path = folder.write("internalProjection.json", file.to_string());
    passes(&path, "1 passed, 0 failed, 0 skipped");
    let wrapped = json!([{"acvVersion": "1.0"}, file]);
    passes(
        &folder.write("wrapped.json", wrapped.to_string()),
        "1 passed, 0 failed, 0 skipped",
    );

    let row = format!("1\te\t128\t10\t{KEY}\t39383736353433323130\t{PLAIN}\t{CIPHER}\n");
    for (name, wanted) in [("acvp-ff1", 0), ("acvp-ff3-1", 3)] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        let path = folder.write(&format!("{name}/t.tsv"), format!("{TABLE}{row}"));
        assert_eq!(run(&[&path]).code, wanted, "the folder says the mode");
    }
    for (row, happened) in [
        (row.replace("\t10\t", "\t11\t"), "radix"),
        (row.replace(KEY, "2b7"), "key"),
        (row.replace('\t', " "), "a column"),
    ] {
        let path = folder.write("acvp-ff1/t.tsv", format!("{TABLE}{row}"));
        run(&[&path]).refused(2, happened, "whole");
    }
    std::fs::create_dir(folder.path().join("plain")).unwrap();
    let path = folder.write("plain/t.tsv", format!("{TABLE}{row}"));
    run(&[&path]).refused(2, "FF1, FF3 or FF3-1", "");
}

#[test]
fn worked_examples_are_read_in_their_three_forms() {
    let folder = Folder::new();
    let case = |output: &str| {
        json!({"key": KEY, "tweak": "39383736353433323130", "alphabet": "0123456789",
            "plaintext": PLAIN, output: CIPHER})
    };
    let named = json!({"engine": "ff1", "cases": [case("expected")]});
    passes(
        &folder.write("a.json", named.to_string()),
        "1 passed, 0 failed, 0 skipped",
    );
    let sourced = json!({"source": "NIST FF1 example values, read", "cases": [case("ciphertext")]});
    passes(
        &folder.write("a.json", sourced.to_string()),
        "1 passed, 0 failed, 0 skipped",
    );
    let other = json!({"source": "NIST FF3 example values, read", "cases": [case("ciphertext")]});
    fails(
        &folder.write("a.json", other.to_string()),
        "0 passed, 1 failed, 0 skipped",
    );
    let silent = json!({"source": "examples", "cases": [case("ciphertext")]});
    run(&[&folder.write("a.json", silent.to_string())]).refused(2, "FF1, FF3 or FF3-1", "");

    let blocks = format!(
        "# comment\nCount = 1\nMethod = FF1\nAlphabet = 0123456789\n\nKey = {KEY}\n\
         Tweak = 39383736353433323130\nPT = {PLAIN}\nCT = {CIPHER}\n\nCount = 2\nTweak =\nCT = 2433477484\n"
    );
    passes(
        &folder.write("a.tv", &blocks),
        "2 passed, 0 failed, 0 skipped",
    );
    let wrong = folder.write("a.tv", blocks.replace("FF1", "FF9"));
    run(&[&wrong]).refused(2, "Method", "");
    let wrong = folder.write("a.tv", blocks.replace("Tweak = 39", "Tweak = 3"));
    run(&[&wrong]).refused(2, "tweak", "whole");
    let wrong = folder.write("a.tv", blocks.replace("Key = ", "Cay = "));
    run(&[&wrong]).refused(2, "Key", "whole");

    let ffx = format!(
        "AES FFX Test Vector Data, version 1.0\n\nAES-128 key for all test vectors: {KEY}\n\n\
         Test vector 1:\n\n  Radix = 10\n  Input (length = 10): \"{PLAIN}\"\n  Tweak (length = 10): \
         \"9876543210\"\n\n  Encrypted: \"{CIPHER}\"\n"
    );
    passes(
        &folder.write("ffx.txt", &ffx),
        "1 passed, 0 failed, 0 skipped",
    );
    fails(
        &folder.write("ffx.txt", ffx.replace("\"9876543210\"", "\"9876543211\"")),
        "0 passed, 1 failed, 0 skipped",
    );
    let wrong = folder.write("ffx.txt", ffx.replace("Radix = 10", "Radix = 11"));
    run(&[&wrong]).refused(2, "Radix", "");
}

#[test]
fn our_own_golden_file_holds_on_every_backend() {
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../vectors/golden/fpe/values.json"
    );
    let ended = run(&[golden, "--format", "json"]);
    let told = ended.document();
    assert_eq!(
        (told["failed"].clone(), told["skipped"].clone()),
        (json!(0), json!(0))
    );
    assert!(told["passed"].as_u64().unwrap() >= 64, "{told}");
    let has = told["backends"].as_array().unwrap();
    let lacks = told["backends_skipped"].as_array().unwrap();
    assert_eq!(has.len() + lacks.len(), 8, "{told}");
    assert!(has.contains(&json!("portable")));
}

#[test]
fn a_file_that_is_half_a_form_is_an_error_and_never_half_its_cases() {
    let folder = Folder::new();
    let good = text_case(1, PLAIN, CIPHER, "valid");
    let mut maybe = good.clone();
    maybe["result"] = json!("maybe");
    let mut odd = good.clone();
    odd["key"] = json!("2b7");
    let mut typed = good.clone();
    typed["msg"] = json!(7);
    let one = std::slice::from_ref(&good);
    let short_alphabet = wycheproof(one, 1).replace("0123456789\",\"radix", "0\",\"radix");
    for (text, happened) in [
        (wycheproof(one, 2), "says that it has 2 cases and has 1"),
        (wycheproof(&[maybe], 1), "result"),
        (wycheproof(&[odd], 1), "key"),
        (wycheproof(&[typed], 1), "msg"),
        (short_alphabet, "alphabet of 1 symbols"),
        ("{".to_owned(), "not JSON"),
        (String::new(), "not JSON"),
        (json!({"numberOfTests": "1", "testGroups": []}).to_string(), "numberOfTests"),
        (json!({"cases": 7}).to_string(), "cases"),
        (json!({"cases": [{"alg": "FF2", "cipher": "AES", "radix": 10, "key": "", "tweak": "", "pt": [],
            "ct": []}]}).to_string(), "alg"),
        (json!({"cases": [{"alg": "FF1", "cipher": "DES", "radix": 10, "key": "", "tweak": "", "pt": [],
            "ct": []}]}).to_string(), "cipher"),
        (json!({"cases": [{"alg": "FF1", "cipher": "AES", "radix": 10, "key": "", "tweak": "", "pt": ["1"],
            "ct": []}]}).to_string(), "pt"),
    ] {
        let file = folder.write("half.json", &text);
        let ended = run(&[&file]);
        ended.refused(2, happened, "");
        // In a folder it is an error as well.
        assert_ne!(run(&[folder.path().to_str().unwrap()]).code, 0, "{text}");
    }
}

#[test]
fn what_is_not_for_this_command_is_skipped_by_its_number_or_ignored_and_alone_no_success() {
    let folder = Folder::new();
    let gcm = json!({"algorithm": "AES-CCM", "numberOfTests": 316, "testGroups": []});
    let gcm = folder.write("gcm_test.json", gcm.to_string());
    folder.write("README", "text");
    folder.write("schema.json", "{\"type\": \"object\"}");
    folder.write("words.txt", "abandon\nability\n");
    let all = folder.path().to_str().unwrap().to_owned();
    for paths in [&[gcm.as_str()][..], &[all.as_str()]] {
        run(paths).refused(9, "no case", "forms");
    }
    folder.write(
        "ff1_test.json",
        wycheproof(&[text_case(1, PLAIN, CIPHER, "valid")], 1),
    );
    let ended = run(&[&all]);
    assert_eq!(counts(&ended), "1 passed, 0 failed, 316 skipped");
    let text = ended.text();
    assert!(
        text.contains("skipped: 316 of AES-CCM") && text.contains("ignored: 3 files"),
        "{text}"
    );
    for name in ["README", "schema.json", "words.txt"] {
        run(&[&folder.name(name)]).refused(2, "no file of vectors", "FF1");
    }
    run(&[&folder.name("nowhere")]).refused(9, "nothing at", "");
    assert_eq!(run(&[]).code, 2);
}

/// The folders of foreign files, and how many cases they have.
const FOREIGN: [(&str, u64); 6] = [
    ("acvp-ff1", 21),
    ("acvp-ff3-1", 21),
    ("ffx-a2", 5),
    ("fpe", 226 + 3_093),
    ("nist-samples", 9 + 15 + 54),
    ("wycheproof-ff1", 49_500),
];

#[test]
fn all_foreign_files_hold_both_ways_on_every_backend() {
    let mut skipped = 0;
    for (family, cases) in FOREIGN {
        let files = Family::locate(family).files("*").unwrap();
        let Some(folder) = files.first().and_then(|file| file.parent()) else {
            skipped += cases;
            continue;
        };
        let ended = run(&[folder.to_str().unwrap()]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let wanted = format!("{cases} passed, 0 failed, 0 skipped");
        assert_eq!(counts(&ended), wanted, "{family}");
    }
    println!("{skipped} skipped: the folder of vectors is absent");
}
