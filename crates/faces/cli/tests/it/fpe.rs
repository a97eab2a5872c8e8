//! One value through `keywright fpe`: what comes out, and what is refused without being repeated.

use serde_json::Value;

use crate::program::{Ended, Folder, keywright, keywright_reading, program};

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const KEY_256: &str = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94";

struct Place {
    folder: Folder,
    key: String,
}

impl Place {
    fn new() -> Self {
        Self::with(KEY.as_bytes())
    }

    fn with(key: &[u8]) -> Self {
        let folder = Folder::new();
        let key = folder.write("key", key);
        Self { folder, key }
    }

    fn words<'a>(&'a self, verb: &'a str, words: &[&'a str]) -> Vec<&'a str> {
        [&["fpe", verb, "--key-file", &self.key], words].concat()
    }

    fn run(&self, verb: &str, words: &[&str]) -> Ended {
        keywright(&self.words(verb, words))
    }

    #[track_caller]
    fn there_and_back(&self, words: &[&str], plain: &str, cipher: &str) {
        for (verb, given, wanted) in [("encrypt", plain, cipher), ("decrypt", cipher, plain)] {
            let ended = self.run(verb, &[words, &[given]].concat());
            assert_eq!(ended.text(), format!("{wanted}\n"), "{verb} {words:?}");
        }
    }
}

#[test]
fn published_values_come_out_there_and_back() {
    let tweak = ["--tweak-text", "9876543"];
    let place = Place::new();
    place.there_and_back(&tweak, "4111111111111111", "0049466176981546");
    let hex = ["--tweak", "39383736353433"];
    place.there_and_back(&hex, "4111111111111111", "0049466176981546");
    let upper = ["--tweak", "000102030405060708090A0B"];
    place.there_and_back(&upper, "4111111111111111", "2561410787514845");
    let sm4 = ["--cipher", "sm4", "--tweak-text", "9876543"];
    place.there_and_back(&sm4, "4111111111111111", "3780764021307723");
    let numerals = ["--radix", "65536", "--tweak-text", "9876543"];
    place.there_and_back(&numerals, "65535 0 1", "4380 47056 55380");
    place.there_and_back(&numerals, "65535,0,1", "4380,47056,55380");
    let ff31 = ["--mode", "ff3-1", "--tweak", "CBD09280979564", "--legacy"];
    place.there_and_back(&ff31, "4111111111111111", "0493935956068039");
    let empty = ["--allow-empty-tweak"];
    place.there_and_back(&empty, "0123456789", "2433477484");
    let long = Place::with(KEY_256.as_bytes());
    long.there_and_back(&tweak, "4111111111111111", "8981341273932054");
}

#[test]
fn what_fpe_c_wrote_as_ff3_1_is_read_and_written_only_by_name() {
    let place = Place::with(b"EF4359D8D580AA4F7F036D6F04FC6A94");
    let mode = ["--mode", "fpec-ff3-1", "--tweak", "D8E7920AFA330A"];
    let plain = "890121234567890000";
    let cipher = "814997673314616621";
    let read = place.run("decrypt", &[&mode[..], &[cipher]].concat());
    assert_eq!(read.text(), format!("{plain}\n"));
    for switch in [&[][..], &["--legacy"]] {
        let refused = place.run("encrypt", &[&mode[..], switch, &[plain]].concat());
        refused.refused(13, "encrypt_refused", "--danger-reproduce-fpec");
    }
    let named = [&mode[..], &["--danger-reproduce-fpec"]].concat();
    place.there_and_back(&named, plain, cipher);
    let standard = ["--mode", "ff3-1", "--tweak", "D8E7920AFA330A", "--legacy"];
    place.there_and_back(&standard, plain, "477064185124354662");
}

#[test]
fn an_overlong_value_of_fpe_c_is_read_with_a_warning_and_never_written() {
    let place = Place::with(b"2DE79D232DF5585D68CE47882AE256D6");
    let mode = ["--mode", "fpec-ff3-1", "--tweak", "CBD09280979564"];
    let plain = "1234567890".repeat(6);
    let cipher = "879861322884946074068125004471879862276244052068897762659018";
    let read = place.run("decrypt", &[&mode[..], &[cipher]].concat());
    assert!(read.stderr.contains("partly in clear"), "{read:?}");
    assert_eq!(read.text(), format!("{plain}\n"));
    let json = ["--format", "json"];
    let told = place.run("decrypt", &[&mode[..], &json, &[cipher]].concat());
    assert_eq!(told.document()["partly_in_clear"], true);
    let words = [&mode[..], &["--danger-reproduce-fpec", &plain[..]]].concat();
    place
        .run("encrypt", &words)
        .refused(2, "length_limit", "split");
    let other = ["--mode", "ff3-1", "--tweak", "CBD09280979564", cipher];
    place
        .run("decrypt", &other)
        .refused(2, "length_limit", "split");
}

#[test]
fn a_key_is_the_same_raw_and_in_digits() {
    let raw: Vec<u8> = keywright_encoding::hex::decode(KEY).unwrap();
    for key in [
        raw,
        KEY.to_uppercase().into_bytes(),
        format!("{KEY}\n").into_bytes(),
    ] {
        let place = Place::with(&key);
        place.there_and_back(
            &["--tweak-text", "9876543"],
            "4111111111111111",
            "0049466176981546",
        );
    }
}

#[test]
fn a_value_may_come_from_standard_input_and_loses_its_end_of_line_only() {
    let place = Place::new();
    let words = ["--tweak-text", "9876543"];
    for (input, more) in [
        ("4111111111111111", &[][..]),
        ("4111111111111111\n", &["-"]),
        ("4111111111111111\r\n", &["-"]),
    ] {
        let words = place.words("encrypt", &[&words, more].concat());
        let ended = keywright_reading(&words, input.as_bytes());
        assert_eq!(ended.text(), "0049466176981546\n");
    }
    for input in [
        "4111111111111111\n\n",
        " 4111111111111111",
        "4111111111111111 \n",
    ] {
        let ended = keywright_reading(&place.words("encrypt", &words), input.as_bytes());
        ended.refused(2, "symbol_unknown", "--alphabet");
    }
    let ended = keywright_reading(&place.words("encrypt", &words), b"41\xff11");
    ended.refused(2, "not text", "--radix");
    let long = vec![b'1'; (8 << 20) + 1];
    let ended = keywright_reading(&place.words("encrypt", &words), &long);
    ended.refused(2, "more than", "one value at a time");
}

#[test]
fn alphabets_are_named_or_given_and_any_character_may_stand_in_them() {
    let place = Place::new();
    for (alphabet, value) in [
        ("base62", "Keywright2026"),
        ("base36-lower", "keywright"),
        ("zyxwvutsrqponmlkjihgfedcba", "keywright"),
        ("äöüßéèêàâ", "äöüßéèêàâ"),
        ("symbols:base", "sebasebasebasebase"),
        ("printable", "a text, with spaces"),
    ] {
        let words = ["--alphabet", alphabet, "--tweak", "00"];
        let made = place
            .run("encrypt", &[&words[..], &[value]].concat())
            .text();
        let made = made.strip_suffix('\n').unwrap();
        assert_ne!(made, value);
        assert_eq!(made.chars().count(), value.chars().count());
        let back = place.run("decrypt", &[&words[..], &["--", made]].concat());
        assert_eq!(back.text(), format!("{value}\n"), "{alphabet}");
    }
    for (alphabet, happened) in [
        ("base63", "no alphabet base63"),
        ("digit", "no alphabet digit"),
        ("aba", "alphabet_duplicate"),
        ("0", "alphabet_size"),
    ] {
        let words = ["--alphabet", alphabet, "--tweak", "00", "0000000"];
        place.run("encrypt", &words).refused(2, happened, "");
    }
}

#[test]
fn the_result_is_a_document_where_json_is_asked_for() {
    let place = Place::new();
    let words = place.words("encrypt", &["--tweak-text", "9876543", "--format", "json"]);
    let told = keywright(&[&words[..], &["4111111111111111"]].concat()).document();
    assert_eq!(told["value"], "0049466176981546");
    assert!(told["backend"].is_string());
    let told = keywright(&[&words[..], &["--radix", "65536", "65535 0 1"]].concat()).document();
    assert_eq!(told["numerals"], serde_json::json!([4380, 47056, 55380]));
    let error = keywright(&[&words[..], &["41111x11"]].concat()).error(2);
    assert_eq!(error["code"], "symbol_unknown");
    let error = keywright(&[&words[..], &["--radix", "10", "1 2 x"]].concat()).error(2);
    assert_eq!(error["code"], "numeral_malformed");
}

const SECRET_VALUE: &str = "4111199994444";

#[test]
fn what_policy_forbids_is_refused_with_the_flag_that_opens_it() {
    let place = Place::new();
    for (words, code, flag) in [
        (
            &["--tweak", "00", "12345"][..],
            "domain_floor",
            "--allow-small-domain",
        ),
        (
            &["--tweak", "00", "--allow-small-domain", "1"],
            "domain_floor",
            "longer",
        ),
        (&[SECRET_VALUE], "tweak_empty", "--allow-empty-tweak"),
        (&["--tweak", "", SECRET_VALUE], "tweak_empty", "--tweak"),
        (
            &["--mode", "ff3", "--tweak", "0011223344556677", SECRET_VALUE],
            "encrypt_refused",
            "--legacy",
        ),
        (
            &["--mode", "ff3-1", "--tweak", "00112233445566", SECRET_VALUE],
            "encrypt_refused",
            "--legacy",
        ),
    ] {
        let ended = place.run("encrypt", words);
        ended.refused(13, code, flag);
        assert!(!ended.stderr.contains(SECRET_VALUE), "{ended:?}");
    }
    // Old data is read without a flag.
    let words = ["--mode", "ff3", "--tweak", "0011223344556677", SECRET_VALUE];
    assert_eq!(
        place.run("decrypt", &words).text().len(),
        SECRET_VALUE.len() + 1
    );
    let words = ["--tweak", "00", "--allow-small-domain", "12"];
    assert_eq!(place.run("encrypt", &words).text().len(), 3);
}

#[test]
fn what_is_wrong_is_named_by_its_place_and_never_repeated() {
    let place = Place::new();
    let long = "1".repeat(57);
    for (words, happened) in [
        (
            &["--tweak", "00", "4111199994x44"][..],
            "position 10 is not in the alphabet (symbol_unknown)",
        ),
        (&["--tweak", "00", "٤111199994444"], "position 0 "),
        (&["--tweak", "0", SECRET_VALUE], "hexadecimal"),
        (&["--tweak", "0g", SECRET_VALUE], "hexadecimal"),
        (&["--tweak", "00", "--radix", "1", "0 0"], "radix_range"),
        (&["--tweak", "00", "--radix", "65537", "0 0"], "radix_range"),
        (
            &["--tweak", "00", "--radix", "10", "1 2 3 4 5 10"],
            "position 5 is not below the radix 10 (digit_range)",
        ),
        (
            &["--tweak", "00", "--radix", "10", "1 2 3 4 5 -1"],
            "position 5 is not a decimal number",
        ),
        (
            &["--tweak", "00", "--radix", "10", "1 2 3 4 5 99999999999999"],
            "digit_range",
        ),
        (
            &["--mode", "ff3-1", "--tweak", "00", SECRET_VALUE],
            "tweak_length",
        ),
        (
            &["--mode", "ff3", "--tweak", "00112233445566", SECRET_VALUE],
            "tweak_length",
        ),
        (
            &[
                "--mode",
                "ff3-1",
                "--legacy",
                "--tweak",
                "00112233445566",
                &long,
            ],
            "length_limit",
        ),
        (&["--tweak", "00", SECRET_VALUE, "12"], "2 values are given"),
    ] {
        let ended = place.run("encrypt", words);
        ended.refused(2, happened, "");
        let value = words[words.len() - 1];
        assert!(
            !ended.stderr.contains(value) || value.len() < 3,
            "{ended:?}"
        );
        assert!(!ended.stderr.contains(SECRET_VALUE), "{ended:?}");
    }
}

#[test]
fn a_key_that_is_none_is_refused_and_never_repeated() {
    for (key, cipher) in [
        ("", "aes"),
        ("2b7e151628aed2a6abf7158809cf4f3", "aes"),
        ("canary-key", "aes"),
        (KEY_256, "sm4"),
    ] {
        let place = Place::with(key.as_bytes());
        let ended = place.run(
            "encrypt",
            &["--cipher", cipher, "--tweak", "00", SECRET_VALUE],
        );
        ended.refused(2, "key_size", "key file");
        assert!(key.is_empty() || !ended.stderr.contains(key), "{ended:?}");
    }
    let place = Place::with(&[b'7'; 129]);
    let ended = place.run("encrypt", &["--tweak", "00", SECRET_VALUE]);
    ended.refused(2, "too long for a key", "16, 24 or 32");
    let absent = place.folder.name("nowhere");
    let words = [
        "fpe",
        "encrypt",
        "--key-file",
        &absent,
        "--tweak",
        "00",
        SECRET_VALUE,
    ];
    let ended = keywright(&words);
    ended.refused(1, "nowhere cannot be read", "path");
}

#[test]
fn the_key_has_no_flag_and_flags_that_contradict_each_other_are_refused() {
    let place = Place::new();
    for (words, happened) in [
        (&["fpe", "encrypt", "--key", KEY, "1234567"][..], "'--key'"),
        (&["fpe", "encrypt", "--tweak", "00"], "--key-file <FILE>"),
        (
            &[
                "fpe",
                "encrypt",
                "--key-file",
                &place.key,
                "--tweak",
                "00",
                "--tweak-text",
                "a",
            ],
            "cannot be used",
        ),
        (
            &[
                "fpe",
                "encrypt",
                "--key-file",
                &place.key,
                "--radix",
                "10",
                "--alphabet",
                "digits",
            ],
            "cannot be used",
        ),
        (
            &["fpe", "encrypt", "--key-file", &place.key, "--radix", "ten"],
            "'ten'",
        ),
        (
            &["fpe", "encrypt", "--key-file", &place.key, "--mode", "ff2"],
            "'ff2'",
        ),
        (
            &[
                "fpe",
                "encrypt",
                "--key-file",
                &place.key,
                "--cipher",
                "des",
            ],
            "'des'",
        ),
        (&["fpe", "rotate"], "'rotate'"),
    ] {
        keywright(words).refused(2, happened, "");
    }
}

fn under(backend: &str, words: &[&str]) -> Ended {
    let mut command = program();
    let command = command.args(words).env("KEYWRIGHT_FPE_BACKEND", backend);
    crate::bench::ended(command)
}

#[test]
fn the_backend_of_the_environment_does_it_or_nothing_does() {
    let place = Place::new();
    let words = place.words(
        "encrypt",
        &["--tweak-text", "9876543", "--verbose", "4111111111111111"],
    );
    let ended = under("portable", &words);
    assert_eq!(ended.stderr, "backend: portable\n");
    assert_eq!(ended.text(), "0049466176981546\n");
    // An empty variable is none.
    assert_eq!(under("", &words).text(), "0049466176981546\n");
    let sm4 = [&words[..], &["--cipher", "sm4"]].concat();
    under("aesni", &sm4).refused(12, "backend_unavailable", "KEYWRIGHT_FPE_BACKEND");
    under("sm4-gfni", &words).refused(12, "backend_unavailable", "KEYWRIGHT_FPE_BACKEND");
    for unknown in ["avx512", "AESNI", "portable ", "0"] {
        under(unknown, &words).refused(2, "names no backend", "vaes512");
    }
}

#[test]
fn a_measurement_names_the_backend_and_the_threads_that_are_too_many() {
    let bench = crate::bench::Bench::new();
    let document = |backend: &str, words: &[&str]| {
        let quick = [
            "bench", "op", "-n", "8", "--runs", "1", "-w0s", "--format", "json",
        ];
        let mut command = bench.command(&[&quick[1..], words].concat());
        let ended = crate::bench::ended(command.env("KEYWRIGHT_FPE_BACKEND", backend));
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        document
    };
    let told = document(
        "portable",
        &["fpe.ff1.sm4.r10.n16.batch", "fpe.ff1.aes128.r10.n16.single"],
    );
    for case in told["cases"].as_array().unwrap() {
        assert_eq!(case["parameters"]["backend"], "portable", "{case}");
        assert_eq!(case["counts"]["wrong"], 0, "{case}");
    }
    assert_eq!(told["cases"][0]["unit"], "records");
    let told = document(
        "portable",
        &["fpe.ff1.aes128.r10.n16.single", "--concurrency", "512"],
    );
    let parameters = &told["cases"][0]["parameters"];
    assert_eq!(parameters["threads"], "512");
    let oversubscribed = parameters["oversubscribed"].as_str().unwrap();
    assert!(
        oversubscribed.starts_with("512 threads on "),
        "{oversubscribed}"
    );
    let mut command = bench.command(&["op", "fpe.ff1.sm4.r10.n16.single", "-n", "8"]);
    let ended = crate::bench::ended(command.env("KEYWRIGHT_FPE_BACKEND", "aesni"));
    ended.refused(12, "fpe.ff1.sm4.r10.n16.single", "");
    let mut command = bench.command(&["op", "hash.sha256.1k", "-n", "8"]);
    let ended = crate::bench::ended(command.env("KEYWRIGHT_FPE_BACKEND", "fast"));
    ended.refused(2, "KEYWRIGHT_FPE_BACKEND", "portable");
}
