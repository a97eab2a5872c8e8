//! Our own vectors: `vectors/golden/fpe`, each both ways on every backend of the machine.

use keywright_fpe::{Algorithm, Backend, Key, Mode, Options, Policy};
use keywright_vectors::{Record, repository};

use crate::scene;

/// Cases of the file. A new file gets its own number; this one does not change.
const CASES: usize = 64;

struct Case {
    name: String,
    mode: Mode,
    algorithm: Algorithm,
    radix: u32,
    secret: Vec<u8>,
    tweak: Vec<u8>,
    plain: Vec<u32>,
    cipher: Vec<u32>,
}

fn cases() -> Vec<Case> {
    let path = repository().join("vectors/golden/fpe/values.json");
    let value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let file = Record::new("values.json", &value).unwrap();
    file.list("cases").unwrap().iter().map(read).collect()
}

fn read(case: &Record) -> Case {
    let digits = |field: &str| -> Vec<u32> {
        let list = case.field(field).unwrap().as_array().unwrap();
        list.iter()
            .map(|digit| u32::try_from(digit.as_u64().unwrap()).unwrap())
            .collect()
    };
    Case {
        name: case.text("name").unwrap().to_owned(),
        mode: match case.text("mode").unwrap() {
            "ff1" => Mode::Ff1,
            "ff3" => Mode::Ff3,
            "ff3-1" => Mode::Ff31,
            "fpec-ff3-1" => Mode::FpecFf31,
            other => panic!("unknown mode {other}"),
        },
        algorithm: match case.text("algorithm").unwrap() {
            "aes" => Algorithm::Aes,
            "sm4" => Algorithm::Sm4,
            other => panic!("unknown algorithm {other}"),
        },
        radix: case.number("radix").unwrap(),
        secret: case.hex("key").unwrap(),
        tweak: case.hex("tweak").unwrap(),
        plain: digits("plaintext"),
        cipher: digits("ciphertext"),
    }
}

fn key(case: &Case, backend: Backend) -> Key {
    let policy = Policy::STANDARD_2016
        .accept_loose_tweaks()
        .danger_reproduce_fpec();
    let options = Options::new(case.mode, case.algorithm, scene::radix(case.radix));
    Key::new(
        options.with_policy(policy).with_backend(backend),
        &case.secret,
    )
    .unwrap()
}

#[test]
fn every_value_comes_out_both_ways_on_every_backend() {
    let cases = cases();
    assert_eq!(cases.len(), CASES);
    for case in &cases {
        for backend in scene::backends(case.algorithm) {
            let key = key(case, backend);
            let mut out = vec![0; case.plain.len()];
            key.decrypt(&case.tweak, &case.cipher, &mut out).unwrap();
            assert_eq!(out, case.plain, "{} back, {backend}", case.name);
            if key.is_partly_in_clear(case.plain.len()) {
                let refused = key.encrypt(&case.tweak, &case.plain, &mut out).unwrap_err();
                assert_eq!(refused.code(), "length_limit", "{}", case.name);
                continue;
            }
            key.encrypt(&case.tweak, &case.plain, &mut out).unwrap();
            assert_eq!(out, case.cipher, "{}, {backend}", case.name);
        }
    }
}

#[test]
fn both_columns_of_the_wrong_ff3_1_stand_in_the_file() {
    let cases = cases();
    let wrong = cases.iter().filter(|case| case.mode == Mode::FpecFf31);
    let mut differing = 0;
    for case in wrong {
        let standard = Options::new(Mode::Ff31, case.algorithm, scene::radix(case.radix));
        let policy = Policy::STANDARD_2016.accept_loose_tweaks();
        let key = Key::new(standard.with_policy(policy), &case.secret).unwrap();
        let mut out = vec![0; case.plain.len()];
        match key.encrypt(&case.tweak, &case.plain, &mut out) {
            Ok(()) => differing += usize::from(out != case.cipher),
            Err(error) => assert_eq!(error.code(), "length_limit"),
        }
    }
    assert_eq!(
        differing, 5,
        "all but the zero tweak and the one that is too long"
    );
}

#[test]
fn what_fpec_writes_is_not_written_unless_asked_for_by_name() {
    let options = scene::options(Mode::FpecFf31, Algorithm::Aes, 10);
    let key = Key::new(options, &scene::SECRET).unwrap();
    let mut value = [1_u8; 16];
    let refused = key.encrypt_in_place(&[7; 7], &mut value).unwrap_err();
    assert_eq!(refused.code(), "encrypt_refused");
    assert_eq!(value, [1; 16]);
    key.decrypt_in_place(&[7; 7], &mut value).unwrap();
}
