//! A batch gives what single calls give, in every layout, and refuses as a whole.

use keywright_fpe::{
    Algorithm, Alphabet, Batch, BatchError, Error, Key, Layout, Mode, Numeral, Tweaks,
};

use crate::scene::{self, Sequence};

const COUNTS: [usize; 14] = [0, 1, 2, 3, 7, 8, 31, 32, 33, 64, 127, 128, 129, 1_000];

fn singly<T: Numeral>(
    key: &Key,
    tweak: impl Fn(usize) -> Vec<u8>,
    length: usize,
    values: &mut [T],
) {
    for (record, value) in values.chunks_mut(length).enumerate() {
        key.encrypt_in_place(&tweak(record), value).unwrap();
    }
}

#[test]
fn fixed_records_come_out_as_single_calls_do() {
    let mut seed = Sequence::new(21);
    let shapes = [
        (10, 16),
        (10, 6),
        (10, 25),
        (36, 20),
        (62, 24),
        (256, 32),
        (2, 100),
        (10, 60),
    ];
    for (radix, length) in shapes {
        for backend in scene::backends(Algorithm::Aes) {
            let options = scene::options(Mode::Ff1, Algorithm::Aes, radix).with_backend(backend);
            let key = Key::new(options, &scene::SECRET).unwrap();
            for count in COUNTS
                .into_iter()
                .filter(|count| length < 60 || *count < 40)
            {
                let digits = seed.digits(radix, length * count);
                let plain: Vec<u8> = digits.iter().map(|d| u8::try_from(*d).unwrap()).collect();
                let tweaks = seed.bytes(7 * count + 7);
                let own = |record: usize| tweaks[7 * record..7 * record + 7].to_vec();
                let mut expected = plain.clone();
                singly(&key, own, length, &mut expected);
                let each = Tweaks::Each {
                    bytes: &tweaks[..7 * count],
                    width: 7,
                };
                compare(&key, each, length, &plain, &expected);
                let mut expected = plain.clone();
                singly(&key, |_| own(0), length, &mut expected);
                compare(&key, Tweaks::Same(&own(0)), length, &plain, &expected);
            }
        }
    }
}

fn compare(key: &Key, tweaks: Tweaks<'_>, length: usize, plain: &[u8], expected: &[u8]) {
    for threads in [1, 3] {
        let batch = Batch::new(key).with_threads(threads);
        let layout = Layout::Fixed(length);
        let mut made = vec![77; plain.len()];
        batch
            .encrypt_into(tweaks, layout, plain, &mut made)
            .unwrap();
        assert!(made == expected, "{length} digits, {} values", plain.len());
        let mut back = vec![78; plain.len()];
        batch
            .decrypt_into(tweaks, layout, &made, &mut back)
            .unwrap();
        assert!(back == plain);
        batch.encrypt(tweaks, layout, &mut back).unwrap();
        assert!(back == expected);
        batch.decrypt(tweaks, layout, &mut back).unwrap();
        assert!(back == plain);
    }
}

#[test]
fn words_and_longs_come_out_as_single_calls_do() {
    let mut seed = Sequence::new(22);
    for (radix, length) in [(65_536, 8), (1_000, 9), (10, 16), (65_535, 11), (300, 40)] {
        let key = scene::key(Mode::Ff1, Algorithm::Aes, radix);
        let longs = seed.digits(radix, length * 200);
        let words: Vec<u16> = longs
            .iter()
            .map(|digit| u16::try_from(*digit).unwrap())
            .collect();
        let (mut long_batch, mut long_single) = (longs.clone(), longs);
        let (mut word_batch, mut word_single) = (words.clone(), words);
        let batch = Batch::new(&key);
        batch
            .encrypt(Tweaks::Same(b"t"), Layout::Fixed(length), &mut long_batch)
            .unwrap();
        batch
            .encrypt(Tweaks::Same(b"t"), Layout::Fixed(length), &mut word_batch)
            .unwrap();
        singly(&key, |_| b"t".to_vec(), length, &mut long_single);
        singly(&key, |_| b"t".to_vec(), length, &mut word_single);
        assert_eq!(long_batch, long_single);
        assert_eq!(word_batch, word_single);
    }
}

#[test]
fn mixed_lengths_and_mixed_tweaks_keep_their_order() {
    let mut seed = Sequence::new(23);
    for mode in [Mode::Ff1, Mode::Ff31] {
        let key = scene::key(mode, Algorithm::Aes, 10);
        let most = if mode == Mode::Ff1 { 80 } else { 50 };
        let (mut offsets, mut tweak_offsets) = (vec![0], vec![0]);
        for _ in 0..900 {
            offsets.push(offsets.last().unwrap() + 6 + seed.below(most));
            let bytes = if mode == Mode::Ff1 { seed.below(30) } else { 7 };
            tweak_offsets.push(tweak_offsets.last().unwrap() + bytes);
        }
        let plain: Vec<u32> = seed.digits(10, *offsets.last().unwrap());
        let tweaks = seed.bytes(*tweak_offsets.last().unwrap());
        let mut expected = plain.clone();
        for record in 0..900 {
            let tweak = &tweaks[tweak_offsets[record]..tweak_offsets[record + 1]];
            let value = &mut expected[offsets[record]..offsets[record + 1]];
            key.encrypt_in_place(tweak, value).unwrap();
        }
        for threads in [1, 2, 5] {
            let batch = Batch::new(&key).with_threads(threads);
            let each = Tweaks::Offsets {
                bytes: &tweaks,
                offsets: &tweak_offsets,
            };
            let mut made = plain.clone();
            batch
                .encrypt(each, Layout::Offsets(&offsets), &mut made)
                .unwrap();
            assert_eq!(made, expected);
            let mut back = vec![0; made.len()];
            batch
                .decrypt_into(each, Layout::Offsets(&offsets), &made, &mut back)
                .unwrap();
            assert_eq!(back, plain);
        }
    }
}

#[test]
fn text_records_come_out_as_single_texts_do() {
    let mut seed = Sequence::new(24);
    let alphabets = [
        Alphabet::DIGITS,
        Alphabet::BASE62,
        Alphabet::PRINTABLE,
        Alphabet::BITS,
    ];
    for alphabet in alphabets {
        let key = scene::key(Mode::Ff1, Algorithm::Aes, alphabet.symbols());
        let all: Vec<u8> = (0..=127)
            .filter(|byte| is_symbol(alphabet, *byte))
            .collect();
        for length in [20, 24, 250] {
            let text: Vec<u8> = (0..length * 300)
                .map(|_| all[seed.below(all.len())])
                .collect();
            let mut made = text.clone();
            let batch = Batch::new(&key).over(alphabet);
            batch
                .encrypt(Tweaks::Same(b"x"), Layout::Fixed(length), &mut made)
                .unwrap();
            for (plain, cipher) in text.chunks(length).zip(made.chunks(length)).step_by(13) {
                let plain = std::str::from_utf8(plain).unwrap();
                let single = key.encrypt_string(b"x", alphabet, plain).unwrap();
                assert_eq!(single.as_bytes(), cipher);
            }
            batch
                .decrypt(Tweaks::Same(b"x"), Layout::Fixed(length), &mut made)
                .unwrap();
            assert!(made == text);
        }
    }
}

fn is_symbol(alphabet: &Alphabet, byte: u8) -> bool {
    let key = scene::key(Mode::Ff1, Algorithm::Aes, alphabet.symbols());
    let text = char::from(byte).to_string().repeat(20);
    key.encrypt_string(b"x", alphabet, &text).is_ok()
}

fn error_of(result: Result<(), BatchError>) -> (Option<usize>, Error) {
    let error = result.unwrap_err();
    (error.record(), error.error())
}

#[test]
fn one_bad_record_refuses_the_batch_and_is_named() {
    let key = scene::strict(10);
    let batch = Batch::new(&key);
    for (record, position) in [(0, 0), (0, 15), (63, 3), (64, 0), (299, 15)] {
        let mut values = vec![1_u8; 16 * 300];
        values[16 * record + position] = 10;
        let before = values.clone();
        let mut out = vec![7; values.len()];
        let into = batch.encrypt_into(Tweaks::Same(b"t"), Layout::Fixed(16), &values, &mut out);
        let expected = (
            Some(record),
            Error::Digit {
                position,
                radix: 10,
            },
        );
        assert_eq!(error_of(into), expected);
        assert_eq!(out, vec![7; values.len()]);
        let own = batch.encrypt(Tweaks::Same(b"t"), Layout::Fixed(16), &mut values);
        assert_eq!(error_of(own), expected);
        assert_eq!(values, before);
        let text = batch.over(Alphabet::DIGITS);
        let mut symbols: Vec<u8> = before.iter().map(|digit| digit + b'0').collect();
        let refused = text.decrypt(Tweaks::Same(b"t"), Layout::Fixed(16), &mut symbols);
        assert_eq!(
            error_of(refused),
            (Some(record), Error::Symbol { position })
        );
    }
}

/// The record and the code of a refusal, which leaves three values of 16 digits as they were.
fn refusal(tweaks: Tweaks<'_>, layout: Layout<'_>) -> (Option<usize>, &'static str) {
    let key = scene::strict(10);
    let mut values = [1_u8; 48];
    let refused = Batch::new(&key).encrypt(tweaks, layout, &mut values);
    assert_eq!(values, [1; 48]);
    let (record, error) = error_of(refused);
    (record, error.code())
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    let same = Tweaks::Same(b"t");
    assert_eq!(refusal(same, Layout::Fixed(7)), (None, "batch_shape"));
    for digits in [0, 4] {
        assert_eq!(refusal(same, Layout::Fixed(digits)), (None, "domain_floor"));
    }
    let offsets: [&[usize]; 7] = [
        &[],
        &[0],
        &[0, 16],
        &[1, 48],
        &[0, 16, 49],
        &[0, 32, 16, 48],
        &[48, 0],
    ];
    for offsets in offsets {
        let layout = Layout::Offsets(offsets);
        assert_eq!(refusal(same, layout), (None, "batch_shape"), "{offsets:?}");
    }
    let layout = Layout::Offsets(&[0, 16, 20, 48]);
    assert_eq!(refusal(same, layout), (Some(1), "domain_floor"));
}

#[test]
fn tweaks_that_do_not_fit_are_refused() {
    let layout = Layout::Fixed(16);
    let widths: [(&[u8], usize); 4] = [
        (&[1; 20], 7),
        (&[1; 14], 7),
        (&[1; 14], 0),
        (&[], usize::MAX),
    ];
    for (bytes, width) in widths {
        let each = Tweaks::Each { bytes, width };
        assert_eq!(refusal(each, layout), (None, "batch_shape"), "{width}");
    }
    assert_eq!(refusal(Tweaks::Same(b""), layout), (None, "tweak_empty"));
    let offsets: [(&[usize], Option<usize>, &str); 3] = [
        (&[0, 2, 2, 6], Some(1), "tweak_empty"),
        (&[0, 4, 2, 6], None, "batch_shape"),
        (&[0, 2, 4, 7], None, "batch_shape"),
    ];
    for (offsets, record, code) in offsets {
        let bytes = b"abcdef";
        let tweaks = Tweaks::Offsets { bytes, offsets };
        assert_eq!(refusal(tweaks, layout), (record, code), "{offsets:?}");
    }
}

#[test]
fn alphabets_that_do_not_fit_are_refused() {
    let key = scene::strict(10);
    let greek = Alphabet::new("αβγδεζηθικ").unwrap();
    let mut values = [b'1'; 32];
    let cases = [
        (&greek, "alphabet_not_ascii"),
        (Alphabet::BASE62, "alphabet_radix"),
    ];
    for (alphabet, code) in cases {
        let batch = Batch::new(&key).over(alphabet);
        let refused = batch.encrypt(Tweaks::Same(b"t"), Layout::Fixed(16), &mut values);
        assert_eq!(error_of(refused).1.code(), code);
    }
    let batch = Batch::new(&key).over(Alphabet::DIGITS);
    let mut wide = [1_u16; 32];
    let refused = batch.encrypt(Tweaks::Same(b"t"), Layout::Fixed(16), &mut wide);
    assert_eq!(error_of(refused).1.code(), "alphabet_not_ascii");
    assert_eq!(values, [b'1'; 32]);
}

#[test]
fn a_policy_that_refuses_one_value_refuses_a_batch() {
    let options = keywright_fpe::Options::new(Mode::Ff31, Algorithm::Aes, scene::radix(10));
    let key = Key::new(options, &scene::SECRET).unwrap();
    let mut values = [1_u8; 32];
    let refused =
        Batch::new(&key).encrypt(Tweaks::Same(b"7 bytes"), Layout::Fixed(16), &mut values);
    assert_eq!(error_of(refused).1.code(), "encrypt_refused");
    Batch::new(&key)
        .decrypt(Tweaks::Same(b"7 bytes"), Layout::Fixed(16), &mut values)
        .unwrap();
}
