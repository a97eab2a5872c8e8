//! Other people's vectors, each both ways on every backend of the machine, and what must be refused refused.
//!
//! Without the folder of vectors the cases are counted as skipped.

use keywright_encoding::hex;
use keywright_fpe::{Algorithm, Alphabet, Error, Key, Mode, Options, Policy, Radix};
use keywright_vectors::wycheproof::{self, Expected};
use keywright_vectors::{Family, Record, Tally};
use serde_json::Value;

use crate::scene;

/// One value of any file, in digits.
struct Case {
    mode: Mode,
    algorithm: Algorithm,
    radix: u32,
    secret: Vec<u8>,
    tweak: Vec<u8>,
    plain: Vec<u32>,
    cipher: Vec<u32>,
}

impl Case {
    /// Whether encryption and decryption give the stated values on every backend.
    fn holds(&self) -> bool {
        scene::backends(self.algorithm).into_iter().all(|backend| {
            // Three published cases of FF3-1 have an eighth byte of tweak, which is zero.
            let policy = Policy::STANDARD_2016.accept_loose_tweaks();
            let options = scene::options(self.mode, self.algorithm, self.radix);
            let options = options.with_policy(policy).with_backend(backend);
            let key = Key::new(options, &self.secret).unwrap();
            let mut out = vec![0; self.plain.len()];
            let there = key.encrypt(&self.tweak, &self.plain, &mut out);
            let same = there.is_ok() && out == self.cipher;
            let back = key.decrypt(&self.tweak, &self.cipher, &mut out);
            same && back.is_ok() && out == self.plain
        })
    }
}

fn mode(word: &str) -> Mode {
    match word.to_ascii_lowercase().as_str() {
        "ff1" => Mode::Ff1,
        "ff3" => Mode::Ff3,
        "ff3-1" => Mode::Ff31,
        other => panic!("unknown mode {other}"),
    }
}

fn algorithm(word: &str) -> Algorithm {
    match word {
        "AES" => Algorithm::Aes,
        "SM4" => Algorithm::Sm4,
        other => panic!("unknown algorithm {other}"),
    }
}

/// Digits of a text, by position in the alphabet; none if a symbol is not in it.
fn digits(alphabet: &str, text: &str) -> Option<Vec<u32>> {
    let place = |symbol| alphabet.chars().position(|own| own == symbol);
    text.chars()
        .map(|symbol| place(symbol).map(|place| u32::try_from(place).unwrap()))
        .collect()
}

/// A list of digits; none if one is no `u32`.
fn list(value: &Value) -> Option<Vec<u32>> {
    let number = |digit: &Value| u32::try_from(digit.as_i64()?).ok();
    value.as_array().unwrap().iter().map(number).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    hex::decode(&text.to_ascii_lowercase()).unwrap()
}

fn skip(tally: &mut Tally, cases: u64) {
    tally.skip("the folder of vectors is absent", cases);
}

// === Wycheproof ===

#[test]
fn wycheproof_ff1() {
    let mut tally = Tally::new("wycheproof-ff1");
    let files = Family::locate("wycheproof-ff1")
        .files("aes_ff1_*_test.json")
        .unwrap();
    if files.is_empty() {
        skip(&mut tally, 49_500);
    } else {
        assert_eq!(files.len(), 18);
    }
    for path in files {
        for case in wycheproof::read(&path).unwrap() {
            let good = match case.expected {
                Expected::Valid => valid(&case),
                _ => refused(&case),
            };
            tally.check(case.fields.name(), good);
        }
    }
    assert_eq!(tally.total(), 49_500);
    tally.finish().unwrap();
}

fn wycheproof_digits(case: &wycheproof::Case, field: &str) -> Option<Vec<u32>> {
    match case.fields.field(field).unwrap() {
        Value::String(text) => digits(case.group.text("alphabet").unwrap(), text),
        other => list(other),
    }
}

fn valid(case: &wycheproof::Case) -> bool {
    let value = Case {
        mode: Mode::Ff1,
        algorithm: Algorithm::Aes,
        radix: case.group.number("radix").unwrap(),
        secret: case.fields.hex("key").unwrap(),
        tweak: case.fields.hex("tweak").unwrap(),
        plain: wycheproof_digits(case, "msg").unwrap(),
        cipher: wycheproof_digits(case, "ct").unwrap(),
    };
    let flags = case.fields.field("flags").unwrap().as_array().unwrap();
    let small = flags.iter().any(|flag| flag == "SmallMessageSize");
    value.holds() && strict(&value).is_ok() != small && as_text(case)
}

/// Under the strict policy a small domain, and nothing else, is refused.
fn strict(case: &Case) -> Result<(), Error> {
    let radix = Radix::new(case.radix).unwrap();
    let key = Key::new(Options::new(case.mode, case.algorithm, radix), &case.secret)?;
    let mut out = vec![0; case.plain.len()];
    let outcome = key.encrypt(&case.tweak, &case.plain, &mut out);
    assert!(outcome.is_ok() || outcome.is_err_and(|error| error.code() == "domain_floor"));
    outcome
}

/// The string files once more as strings over their alphabets.
fn as_text(case: &wycheproof::Case) -> bool {
    let Ok(symbols) = case.group.text("alphabet") else {
        return true;
    };
    let alphabet = Alphabet::new(symbols).unwrap();
    let options = scene::options(Mode::Ff1, Algorithm::Aes, alphabet.symbols());
    let key = Key::new(options, &case.fields.hex("key").unwrap()).unwrap();
    let tweak = case.fields.hex("tweak").unwrap();
    let (plain, cipher) = (
        case.fields.text("msg").unwrap(),
        case.fields.text("ct").unwrap(),
    );
    key.encrypt_string(&tweak, &alphabet, plain).as_deref() == Ok(cipher)
        && key.decrypt_string(&tweak, &alphabet, cipher).as_deref() == Ok(plain)
}

fn refused(case: &wycheproof::Case) -> bool {
    let radix = case.group.number("radix").unwrap();
    let options = scene::options(Mode::Ff1, Algorithm::Aes, radix);
    let Ok(key) = Key::new(options, &case.fields.hex("key").unwrap()) else {
        return true;
    };
    let tweak = case.fields.hex("tweak").unwrap();
    let as_string = case.group.text("alphabet").ok().map(|symbols| {
        let text = case.fields.text("msg").unwrap();
        key.encrypt_string(&tweak, &Alphabet::new(symbols).unwrap(), text)
    });
    if as_string.is_some_and(|made| made.is_ok()) {
        return false;
    }
    // A symbol outside the alphabet, or a digit that no u32 holds, cannot even be asked for.
    let Some(plain) = wycheproof_digits(case, "msg") else {
        return true;
    };
    let mut out = vec![77; plain.len()];
    key.encrypt(&tweak, &plain, &mut out).is_err() && out.iter().all(|digit| *digit == 77)
}

// === NIST's validation server ===

#[test]
fn acvp_ff1_and_ff3_1() {
    for (family, mode) in [("acvp-ff1", Mode::Ff1), ("acvp-ff3-1", Mode::Ff31)] {
        let mut tally = Tally::new(family);
        let files = Family::locate(family).files("transcribed.tsv").unwrap();
        if files.is_empty() {
            skip(&mut tally, 21);
        }
        for path in files {
            let text = std::fs::read_to_string(path).unwrap();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                let fields: Vec<&str> = line.split('\t').collect();
                let [number, _, _, radix, key, tweak, plain, cipher] = fields[..] else {
                    panic!("eight columns in {line}")
                };
                let alphabet = match radix {
                    "10" => "0123456789",
                    "26" => "abcdefghijklmnopqrstuvwxyz",
                    _ => "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
                };
                tally.check(
                    number,
                    text_case(mode, alphabet, [key, tweak, plain, cipher]).holds(),
                );
            }
        }
        assert_eq!(tally.total(), 21);
        tally.finish().unwrap();
    }
}

/// A case of a file in which everything is text: key, tweak, plaintext, ciphertext.
fn text_case(mode: Mode, alphabet: &str, [key, tweak, plain, cipher]: [&str; 4]) -> Case {
    Case {
        mode,
        algorithm: Algorithm::Aes,
        radix: u32::try_from(alphabet.chars().count()).unwrap(),
        secret: unhex(key),
        tweak: unhex(tweak),
        plain: digits(alphabet, plain).unwrap(),
        cipher: digits(alphabet, cipher).unwrap(),
    }
}

// === Worked examples ===

#[test]
fn nist_examples_of_ff1_and_ff3() {
    let files = [
        ("nist_ff1.json", Mode::Ff1, "expected", 9),
        ("nist_ff3.json", Mode::Ff3, "ciphertext", 15),
    ];
    for (file, mode, output, count) in files {
        let mut tally = Tally::new(file);
        match Family::locate("nist-samples").json(file).unwrap() {
            None => skip(&mut tally, count),
            Some(value) => {
                let cases = Record::new(file, &value).unwrap().list("cases").unwrap();
                for case in cases {
                    let field = |name| case.text(name).unwrap();
                    let texts = ["key", "tweak", "plaintext", output].map(field);
                    let one = text_case(mode, field("alphabet"), texts);
                    tally.check(case.name(), one.holds());
                }
            }
        }
        assert_eq!(tally.total(), count);
        tally.finish().unwrap();
    }
}

#[test]
fn the_mixed_file_of_worked_examples() {
    let mut tally = Tally::new("nist-samples-mixed");
    let files = Family::locate("nist-samples")
        .files("FPE_FF1_FF3_FF3-1.tv")
        .unwrap();
    if files.is_empty() {
        skip(&mut tally, 54);
    }
    for path in files {
        let text = std::fs::read_to_string(path).unwrap();
        let mut seen = std::collections::BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.split_once('=') else {
                continue;
            };
            seen.insert(name.trim(), value.trim());
            if name.trim() != "CT" {
                continue;
            }
            let texts = ["Key", "Tweak", "PT", "CT"].map(|name| seen[name]);
            let one = text_case(mode(seen["Method"]), seen["Alphabet"], texts);
            tally.check(seen["Count"], one.holds());
        }
    }
    assert_eq!(tally.total(), 54);
    tally.finish().unwrap();
}

#[test]
fn ffx_with_its_tweak_as_ascii_is_ff1() {
    let mut tally = Tally::new("ffx-a2");
    let files = Family::locate("ffx-a2")
        .files("aes-ffx-vectors.txt")
        .unwrap();
    if files.is_empty() {
        skip(&mut tally, 5);
    }
    let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    for path in files {
        let text = std::fs::read_to_string(path).unwrap();
        for (number, part) in text.split("Test vector ").skip(1).enumerate() {
            let line = |word: &str| part.lines().find(|line| line.trim().starts_with(word));
            let alphabet = match line("Radix = 10") {
                Some(_) => "0123456789",
                None => "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            };
            let tweak = line("Tweak").map(quoted).unwrap_or_default();
            let one = text_case(
                Mode::Ff1,
                alphabet,
                [
                    &hex::encode(&scene::SECRET),
                    &hex::encode(tweak.as_bytes()),
                    &quoted(line("Input").unwrap()),
                    &quoted(line("Encrypted").unwrap()),
                ],
            );
            tally.check(number + 1, one.holds());
        }
    }
    assert_eq!(tally.total(), 5);
    tally.finish().unwrap();
}

// === Collected and generated ===

#[test]
fn collected_cases_hold_and_the_known_wrong_one_differs() {
    let mut tally = Tally::new("fpe-collected");
    match Family::locate("fpe").json("collected.json").unwrap() {
        None => skip(&mut tally, 226),
        Some(value) => {
            for case in Record::new("collected", &value)
                .unwrap()
                .list("cases")
                .unwrap()
            {
                let field = |name| case.text(name).unwrap();
                let texts = ["key", "tweak", "pt", "ct"].map(field);
                let mut one = text_case(mode(field("alg")), field("alphabet"), texts);
                one.algorithm = algorithm(field("cipher"));
                let follows = case.truth("verified").unwrap();
                tally.check(
                    case.name(),
                    one.holds() == follows && (follows || as_fpec(&one)),
                );
            }
        }
    }
    assert_eq!(tally.total(), 226);
    tally.finish().unwrap();
}

/// The value that does not follow the standard is read by the mode that exists for it.
fn as_fpec(case: &Case) -> bool {
    let options = scene::options(Mode::FpecFf31, case.algorithm, case.radix);
    let key = Key::new(options, &case.secret).unwrap();
    let mut out = vec![0; case.plain.len()];
    key.decrypt(&case.tweak, &case.cipher, &mut out).unwrap();
    out == case.plain
}

#[test]
fn generated_cases_hold() {
    let mut tally = Tally::new("fpe-generated");
    match Family::locate("fpe").json("generated.json").unwrap() {
        None => skip(&mut tally, 3_093),
        Some(value) => {
            for case in Record::new("generated", &value)
                .unwrap()
                .list("cases")
                .unwrap()
            {
                let one = Case {
                    mode: mode(case.text("alg").unwrap()),
                    algorithm: algorithm(case.text("cipher").unwrap()),
                    radix: case.number("radix").unwrap(),
                    secret: case.hex("key").unwrap(),
                    tweak: case.hex("tweak").unwrap(),
                    plain: list(case.field("pt").unwrap()).unwrap(),
                    cipher: list(case.field("ct").unwrap()).unwrap(),
                };
                tally.check(case.name(), one.holds());
            }
        }
    }
    assert_eq!(tally.total(), 3_093);
    tally.finish().unwrap();
}
