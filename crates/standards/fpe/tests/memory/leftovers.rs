//! The key and the digits are gone when the engine is done with them, and one value needs no heap.

use keywright_fpe::{
    Algorithm, Alphabet, Backend, Batch, Key, Layout, Mode, Options, Policy, Radix, Tweaks,
};

use crate::allocator::{allocations, freed_with};

const SECRET: [u8; 16] = *b"\x91\x1Fsecret key\xD7\x03\x66\xEE";
const TWEAK: &[u8] = b"7 bytes";
const VALUE: [u8; 16] = [9, 1, 0, 7, 2, 8, 3, 3, 5, 6, 0, 1, 4, 9, 9, 2];

fn options(mode: Mode, algorithm: Algorithm, radix: u32) -> Options {
    Options::new(mode, algorithm, Radix::new(radix).unwrap()).with_policy(Policy::STANDARD_2016)
}

fn backends(algorithm: Algorithm) -> impl Iterator<Item = Backend> {
    let serving = move |backend: &Backend| backend.serves(algorithm) && backend.is_available();
    Backend::ALL.into_iter().filter(serving)
}

fn keys() -> Vec<Key> {
    let mut keys = Vec::new();
    for mode in [Mode::Ff1, Mode::Ff31] {
        for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
            for backend in backends(algorithm) {
                let options = options(mode, algorithm, 10).with_backend(backend);
                keys.push(Key::new(options, &SECRET).unwrap());
            }
        }
    }
    keys
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn one_value_of_any_short_length_asks_for_no_memory() {
    for key in keys() {
        let mut text = [0; 16];
        let made = allocations(|| {
            for digits in [6, 9, 16, 19, 38, 56] {
                let mut value = [3_u32; 56];
                key.encrypt_in_place(TWEAK, &mut value[..digits]).unwrap();
                key.decrypt_in_place(TWEAK, &mut value[..digits]).unwrap();
                assert_eq!(value, [3; 56]);
            }
            let mut value = VALUE;
            key.encrypt(TWEAK, &VALUE, &mut value).unwrap();
            key.encrypt_text(TWEAK, Alphabet::DIGITS, "4111111111111111", &mut text)
                .unwrap();
            let tweaked = key.tweaked(16, TWEAK).unwrap();
            tweaked.decrypt_in_place(&mut value).unwrap();
            assert_eq!(value, VALUE);
        });
        assert_eq!(made, 0, "{key:?}");
    }
    // The counter counts.
    assert!(allocations(|| drop(std::hint::black_box(vec![1_u8; 99]))) > 0);
}

#[test]
fn making_and_dropping_a_key_asks_for_no_memory() {
    for backend in backends(Algorithm::Aes) {
        let options = options(Mode::Ff1, Algorithm::Aes, 10).with_backend(backend);
        assert_eq!(allocations(|| drop(Key::new(options, &SECRET).unwrap())), 0);
    }
}

/// The first round key of AES is the key itself, so a schedule that stays behind is found.
#[test]
fn a_freed_key_does_not_hold_its_secret() {
    for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
        for backend in backends(algorithm) {
            let options = options(Mode::Ff1, algorithm, 10).with_backend(backend);
            let key = Box::new(Key::new(options, &SECRET).unwrap());
            assert_eq!(freed_with(SECRET, || drop(key)), 0, "{backend}");
        }
    }
    // The search finds.
    let kept = Box::new(std::hint::black_box(SECRET));
    assert_eq!(freed_with(SECRET, || drop(kept)), 1);
}

/// Long values and alphabets beyond ASCII use the heap for digits: sixteen of them as 32-bit numbers would be
/// four needles; one is looked for.
#[test]
fn freed_memory_holds_no_digits() {
    let key = Key::new(options(Mode::Ff1, Algorithm::Aes, 10), &SECRET).unwrap();
    let digits: Vec<u32> = VALUE
        .iter()
        .map(|digit| u32::from(*digit))
        .cycle()
        .take(600)
        .collect();
    let mut needle = [0; 16];
    for (bytes, digit) in needle.chunks_mut(4).zip(&VALUE) {
        bytes[0] = *digit;
    }
    let mut value = digits.clone();
    let freed = freed_with(needle, || {
        key.encrypt_in_place(TWEAK, &mut value).unwrap();
        key.decrypt_in_place(TWEAK, &mut value).unwrap();
    });
    assert_eq!((freed, &value), (0, &digits));
    let greek = Alphabet::new("αβγδεζηθικ").unwrap();
    let symbols: Vec<char> = "αβγδεζηθικ".chars().collect();
    let text: String = VALUE
        .iter()
        .map(|digit| symbols[usize::from(*digit)])
        .collect();
    let freed = freed_with(needle, || {
        let cipher = key.encrypt_string(TWEAK, &greek, &text).unwrap();
        assert_eq!(key.decrypt_string(TWEAK, &greek, &cipher).unwrap(), text);
    });
    assert_eq!(freed, 0);
}

#[test]
fn freed_memory_of_a_batch_of_mixed_lengths_holds_no_digits() {
    let key = Key::new(options(Mode::Ff1, Algorithm::Aes, 10), &SECRET).unwrap();
    let values: Vec<u8> = VALUE
        .iter()
        .copied()
        .cycle()
        .take(16 * 90 + 9 * 10)
        .collect();
    let offsets: Vec<usize> = (0..=90)
        .map(|record| 16 * record)
        .chain((1..=10).map(|record| 16 * 90 + 9 * record))
        .collect();
    let mut made = values.clone();
    let freed = freed_with(VALUE, || {
        let (batch, layout) = (Batch::new(&key), Layout::Offsets(&offsets));
        batch
            .encrypt(Tweaks::Same(TWEAK), layout, &mut made)
            .unwrap();
        batch
            .decrypt(Tweaks::Same(TWEAK), layout, &mut made)
            .unwrap();
    });
    assert_eq!((freed, made), (0, values));
}

#[cfg(target_arch = "x86_64")]
mod stacks {
    use super::*;
    use crate::stack::{depth, leftovers};

    /// Registers that the compiler spilled are not looked for: round keys and halves are among them.
    fn assert_gone(stack: &[u8], what: &str) {
        assert!(depth(stack) > 0, "{what} used no stack");
        assert!(!holds(stack, &VALUE), "{what} left the digits");
        let text = VALUE.map(|digit| b'0' + digit);
        assert!(!holds(stack, &text), "{what} left the text");
    }

    #[test]
    fn what_stays_on_a_stack_is_found() {
        let stack = leftovers(|| {
            let mut copy = std::hint::black_box(SECRET);
            std::hint::black_box(&mut copy);
        });
        assert!(holds(&stack, &SECRET));
    }

    /// With AES-NI a value stays in registers throughout, which the compiler spills as it likes.
    #[test]
    fn calls_leave_no_digits_on_the_stack() {
        let in_memory =
            |key: &Key| key.backend() == Backend::Portable || key.algorithm() == Algorithm::Sm4;
        for key in keys().into_iter().filter(in_memory) {
            let name = format!("{key:?}");
            let mut value = VALUE;
            let stack = leftovers(|| key.encrypt_in_place(TWEAK, &mut value).unwrap());
            assert_gone(&stack, &name);
            assert_ne!(value, VALUE);
            let stack = leftovers(|| key.decrypt_in_place(TWEAK, &mut value).unwrap());
            assert_gone(&stack, &name);
            assert_eq!(value, VALUE);
        }
    }

    #[test]
    fn texts_and_batches_leave_no_digits_on_the_stack() {
        let text: String = VALUE.iter().map(|digit| char::from(b'0' + digit)).collect();
        for key in keys() {
            let name = format!("{key:?}");
            let mut made = [0; 16];
            let stack = leftovers(|| {
                key.encrypt_text(TWEAK, Alphabet::DIGITS, &text, &mut made)
                    .unwrap();
            });
            assert_gone(&stack, &name);
            let mut values = VALUE.repeat(70);
            let stack = leftovers(|| {
                let batch = Batch::new(&key);
                batch
                    .encrypt(Tweaks::Same(TWEAK), Layout::Fixed(16), &mut values)
                    .unwrap();
            });
            assert_gone(&stack, &name);
        }
    }
}
