//! What is refused, by which code, with the output as it was.

use keywright_fpe::{
    Algorithm, Alphabet, Backend, DomainFloor, Error, Key, Mode, Options, Policy, Radix,
};

use crate::scene;

const UNTOUCHED: u32 = 0xA5A5_A5A5;

fn refused(key: &Key, tweak: &[u8], value: &[u32]) -> Error {
    let mut out = vec![UNTOUCHED; value.len()];
    let there = key.encrypt(tweak, value, &mut out);
    let back = key.decrypt(tweak, value, &mut out);
    assert!(out.iter().all(|digit| *digit == UNTOUCHED));
    let mut own = value.to_vec();
    assert_eq!(key.encrypt_in_place(tweak, &mut own), there);
    assert_eq!(own, value);
    assert_eq!(there, back);
    there.unwrap_err()
}

#[test]
fn a_digit_at_or_above_the_radix_is_refused_at_every_position() {
    for radix in [2, 10, 36, 255, 256, 65_535, 65_536] {
        let key = scene::key(Mode::Ff1, Algorithm::Aes, radix);
        for length in [20, 57, 230] {
            for position in 0..length {
                for bad in [radix, radix + 1, u32::MAX] {
                    let mut value = vec![radix - 1; length];
                    value[position] = bad;
                    let error = refused(&key, b"tweak", &value);
                    assert_eq!(error, Error::Digit { position, radix });
                    assert!(!error.to_string().contains(&u32::MAX.to_string()));
                }
            }
        }
    }
}

#[test]
fn the_first_of_several_bad_digits_is_named() {
    let key = scene::strict(10);
    let error = key
        .encrypt_in_place(b"t", &mut [1_u8, 2, 3, 200, 10, 9])
        .unwrap_err();
    assert_eq!(
        error,
        Error::Digit {
            position: 3,
            radix: 10
        }
    );
}

#[test]
fn lengths_below_the_floor_are_refused_and_the_least_is_not() {
    for value in [
        2, 3, 10, 16, 26, 36, 62, 64, 95, 128, 256, 999, 1_000, 65_535, 65_536,
    ] {
        let radix = Radix::new(value).unwrap();
        for policy in [Policy::STRICT, Policy::STRICT.accept_small_domain()] {
            let options = Options::new(Mode::Ff1, Algorithm::Aes, radix).with_policy(policy);
            let key = Key::new(options, &scene::SECRET).unwrap();
            let least = usize::try_from(radix.shortest(policy.floor())).unwrap();
            for length in 0..least {
                let error = refused(&key, b"t", &vec![0; length]);
                assert_eq!(
                    error.code(),
                    "domain_floor",
                    "radix {value}, {length} digits"
                );
            }
            key.encrypt_in_place(b"t", &mut vec![0_u32; least]).unwrap();
        }
    }
    assert_eq!(DomainFloor::default().value(), 1_000_000);
}

#[test]
fn the_longest_value_passes_and_one_digit_more_does_not() {
    let radices = (2..40).chain([45, 62, 64, 85, 94, 128, 255, 256, 1_000, 65_535, 65_536]);
    for value in radices {
        for (mode, tweak) in [(Mode::Ff3, &b"8 bytes."[..]), (Mode::Ff31, b"7 bytes")] {
            let key = scene::key(mode, Algorithm::Aes, value);
            let longest = scene::radix(value).longest(mode);
            let mut digits = vec![value - 1; usize::try_from(longest).unwrap()];
            key.encrypt_in_place(tweak, &mut digits).unwrap();
            digits.push(0);
            let error = refused(&key, tweak, &digits);
            let length = digits.len();
            assert_eq!(
                error,
                Error::Length {
                    mode,
                    radix: value,
                    length,
                    longest
                }
            );
        }
    }
    let key = scene::strict(2);
    let length = (1 << 20) + 1;
    let error = key.tweaked(length, b"t").unwrap_err();
    let longest = 1 << 20;
    assert_eq!(
        error,
        Error::Length {
            mode: Mode::Ff1,
            radix: 2,
            length,
            longest
        }
    );
    assert_eq!(
        key.tweaked(usize::MAX, b"t").unwrap_err().code(),
        "length_limit"
    );
}

#[test]
fn tweaks_of_other_lengths_are_refused() {
    let value = [1; 16];
    for (mode, own) in [(Mode::Ff3, 8), (Mode::Ff31, 7)] {
        let key = scene::key(mode, Algorithm::Aes, 10);
        for bytes in (0..20).filter(|bytes| *bytes != own) {
            let error = refused(&key, &vec![0; bytes], &value);
            let limit = u32::try_from(own).unwrap();
            let (shortest, longest) = (limit, limit);
            assert_eq!(
                error,
                Error::TweakLength {
                    mode,
                    bytes,
                    shortest,
                    longest
                }
            );
        }
    }
    let strict = scene::strict(10);
    assert_eq!(refused(&strict, b"", &value), Error::TweakEmpty);
    assert_eq!(
        refused(&strict, &vec![0; 65_536], &value).code(),
        "tweak_length"
    );
    strict
        .encrypt_in_place(&vec![0; 65_535], &mut value.clone())
        .unwrap();
    let policy = Policy::STRICT.with_longest_tweak(3).allow_empty_tweak();
    let options = Options::new(Mode::Ff1, Algorithm::Aes, Radix::DECIMAL).with_policy(policy);
    let key = Key::new(options, &scene::SECRET).unwrap();
    key.encrypt_in_place(b"", &mut value.clone()).unwrap();
    key.encrypt_in_place(b"123", &mut value.clone()).unwrap();
    assert_eq!(refused(&key, b"1234", &value).code(), "tweak_length");
}

#[test]
fn the_ff3_family_decrypts_and_does_not_encrypt() {
    for (mode, tweak) in [(Mode::Ff3, &b"8 bytes."[..]), (Mode::Ff31, b"7 bytes")] {
        let key = Key::new(
            Options::new(mode, Algorithm::Aes, Radix::DECIMAL),
            &scene::SECRET,
        );
        let key = key.unwrap();
        let mut value = [3_u8; 16];
        let error = key.encrypt_in_place(tweak, &mut value).unwrap_err();
        assert_eq!(error, Error::EncryptRefused { mode });
        assert_eq!(value, [3; 16]);
        key.decrypt_in_place(tweak, &mut value).unwrap();
    }
}

#[test]
fn keys_of_other_sizes_are_refused() {
    for mode in [Mode::Ff1, Mode::Ff3, Mode::Ff31, Mode::FpecFf31] {
        for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
            for bytes in 0..70 {
                let options = Options::new(mode, algorithm, Radix::DECIMAL);
                let made = Key::new(options, &vec![7; bytes]);
                let sizes: &[usize] = match algorithm {
                    Algorithm::Aes => &[16, 24, 32],
                    _ => &[16],
                };
                match made {
                    Ok(_) => assert!(sizes.contains(&bytes)),
                    Err(error) => {
                        assert!(!sizes.contains(&bytes));
                        assert_eq!(error, Error::KeySize { algorithm, bytes });
                    }
                }
            }
        }
    }
}

#[test]
fn a_backend_that_does_not_serve_the_algorithm_is_refused() {
    for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
        for backend in Backend::ALL {
            let options = Options::new(Mode::Ff1, algorithm, Radix::DECIMAL);
            let made = Key::new(options.with_backend(backend), &scene::SECRET);
            let good = backend.serves(algorithm) && backend.is_available();
            match made {
                Ok(key) => assert!(good && key.backend() == backend),
                Err(error) => {
                    assert!(!good);
                    assert_eq!(error, Error::BackendUnavailable { backend, algorithm });
                }
            }
        }
    }
}

#[test]
fn a_radix_outside_2_to_65536_is_refused() {
    for radix in [0, 1, 65_537, 65_538, u32::MAX] {
        assert_eq!(Radix::new(radix), Err(Error::Radix { radix }));
    }
    assert_eq!(Radix::new(65_536), Ok(Radix::MAX));
}

#[test]
fn integers_that_do_not_hold_the_radix_are_refused() {
    let key = scene::strict(257);
    let mut bytes = [1_u8; 9];
    let error = key.encrypt_in_place(b"t", &mut bytes).unwrap_err();
    assert_eq!(
        error,
        Error::NumeralWidth {
            radix: 257,
            most: 256
        }
    );
    assert_eq!(bytes, [1; 9]);
    scene::strict(256)
        .encrypt_in_place(b"t", &mut bytes)
        .unwrap();
    scene::strict(65_536)
        .encrypt_in_place(b"t", &mut [u16::MAX; 9])
        .unwrap();
}

#[test]
fn input_output_and_preparation_have_one_length() {
    let key = scene::strict(10);
    let mut out = [9_u8; 17];
    let error = key.encrypt(b"t", &[1_u8; 16], &mut out).unwrap_err();
    assert_eq!(
        error,
        Error::LengthMismatch {
            expected: 16,
            given: 17
        }
    );
    let error = key.encrypt(b"t", &[1_u8; 16], &mut out[..15]).unwrap_err();
    assert_eq!(
        error,
        Error::LengthMismatch {
            expected: 16,
            given: 15
        }
    );
    assert_eq!(out, [9; 17]);
    let tweaked = key.tweaked(16, b"t").unwrap();
    let error = tweaked.encrypt_in_place(&mut [1_u8; 15]).unwrap_err();
    assert_eq!(
        error,
        Error::LengthMismatch {
            expected: 16,
            given: 15
        }
    );
}

#[test]
fn text_outside_the_alphabet_or_with_too_little_room_is_refused() {
    let key = scene::strict(10);
    let digits = Alphabet::DIGITS;
    let mut out = [0xEE; 40];
    for (text, position) in [
        ("41111111x1111111", 8),
        ("x234567", 0),
        ("123456\u{e9}", 6),
        ("é23456x", 0),
    ] {
        let error = key.encrypt_text(b"t", digits, text, &mut out).unwrap_err();
        assert_eq!(error, Error::Symbol { position }, "{text}");
        assert_eq!(key.decrypt_text(b"t", digits, text, &mut out), Err(error));
    }
    let error = key
        .encrypt_text(b"t", digits, "1234567", &mut out[..6])
        .unwrap_err();
    assert_eq!(
        error,
        Error::Capacity {
            needed: 7,
            given: 6
        }
    );
    let error = key
        .encrypt_text(b"t", Alphabet::BASE62, "1234567", &mut out)
        .unwrap_err();
    assert_eq!(
        error,
        Error::AlphabetRadix {
            symbols: 62,
            radix: 10
        }
    );
    assert_eq!(out, [0xEE; 40]);
}

#[test]
fn nothing_secret_stands_in_errors_or_debug_output() {
    let key = scene::strict(10);
    let shown = format!("{key:?} {:?}", key.tweaked(16, b"tweak").unwrap());
    assert!(
        !shown.contains("43") && !shown.to_lowercase().contains("2b7e"),
        "{shown}"
    );
    let error = key.encrypt_text(b"t", Alphabet::DIGITS, "41111111x1111111", &mut [0; 16]);
    let shown = format!("{0} {0:?}", error.unwrap_err());
    assert!(!shown.contains('x') || shown.contains("text"), "{shown}");
}

#[test]
fn codes_are_different_and_messages_say_something() {
    let errors = [of_alphabets_and_batches(), of_keys_and_limits()].concat();
    let mut codes: Vec<&str> = errors.iter().map(Error::code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), errors.len());
    for error in errors {
        let text = error.to_string();
        assert!(
            text.len() > 20 && !text.ends_with('.') && text != error.code(),
            "{text}"
        );
    }
}

fn of_alphabets_and_batches() -> Vec<Error> {
    let (algorithm, radix) = (Algorithm::Aes, 10);
    vec![
        Error::AlphabetDuplicate {
            first: 1,
            second: 2,
        },
        Error::AlphabetNotAscii,
        Error::AlphabetRadix { symbols: 3, radix },
        Error::AlphabetSize { symbols: 1 },
        Error::BackendUnavailable {
            backend: Backend::Portable,
            algorithm,
        },
        Error::BatchShape {
            expected: 1,
            given: 2,
        },
        Error::Capacity {
            needed: 1,
            given: 0,
        },
        Error::Digit { position: 1, radix },
        Error::Domain {
            radix,
            length: 5,
            domain: 100_000,
            floor: 1_000_000,
            shortest: 6,
        },
    ]
}

fn of_keys_and_limits() -> Vec<Error> {
    let (mode, algorithm, radix) = (Mode::Ff1, Algorithm::Aes, 10);
    vec![
        Error::EncryptRefused { mode },
        Error::KeySize {
            algorithm,
            bytes: 1,
        },
        Error::Length {
            mode,
            radix,
            length: 9,
            longest: 8,
        },
        Error::LengthMismatch {
            expected: 1,
            given: 2,
        },
        Error::NumeralWidth { radix, most: 256 },
        Error::Radix { radix: 1 },
        Error::Symbol { position: 1 },
        Error::TweakEmpty,
        Error::TweakLength {
            mode,
            bytes: 1,
            shortest: 7,
            longest: 7,
        },
    ]
}
