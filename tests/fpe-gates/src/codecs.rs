//! What keys and tags go through on their way in and out, for the timing test: hexadecimal, base64 for secrets,
//! base58, the words of a mnemonic, the padding of a message, and the comparing of what is kept with what
//! somebody brings.
//!
//! Texts of one length that are well-formed are compared with each other: that a text is malformed, or another
//! length, is no secret. Of words, the length of each is not hidden, so those compared have four letters each.

use std::hint::black_box;

use keywright_encoding::{base58, base64, hex};
use keywright_hdkey::mnemonic::Mnemonic;
use keywright_secret::{Secret, ct_eq};
use keywright_wire::padding;

use crate::kernels::{Timed, choose, planted_leak};
use crate::sequence::Sequence;
use crate::timing::{Class, Samples};

/// Bytes of a secret: divisible by three, so that base64 has no padding in either alphabet.
const LEN: usize = 48;

/// Every codec, every comparison, and before them the leak that is planted.
#[must_use]
pub fn all() -> Vec<Timed> {
    vec![
        planted_leak(),
        of_bytes("hexadecimal, written", |secret| {
            black_box(hex::encode(secret));
        }),
        of_text("hexadecimal, read", hex::encode, |text| {
            was_read(&hex::decode(text));
        }),
        of_text("hexadecimal of a known length, read", hex::encode, |text| {
            was_read(&hex::decode_array::<LEN>(text));
        }),
        of_bytes("base64, written", |secret| {
            black_box(base64::encode_secret(secret));
        }),
        of_text("base64, read", base64::encode_secret, |text| {
            was_read(&base64::decode_secret(text));
        }),
        of_text("base64 for addresses, read", for_addresses, |text| {
            was_read(&base64::decode_url_secret(text));
        }),
        of_bytes("base58, written", |secret| {
            black_box(base58::encode(&versioned(secret)));
        }),
        of_text("base58, read", in_base58, |text| {
            was_read(&base58::decode_into(text, &mut [0; LEN]));
        }),
        of_bytes("a tag, compared with the right one or any", |given| {
            black_box(ct_eq(given, &[FIXED; LEN]));
        }),
        compared_secret(),
        words_read(),
        words_written(),
        padding_removed(),
    ]
}

/// The bytes of the class that does not change.
const FIXED: u8 = 0x5A;

/// Our own texts are well-formed.
fn was_read<T, E>(read: &Result<T, E>) {
    assert!(black_box(read).is_ok(), "a text of our own is refused");
}

fn for_addresses(bytes: &[u8]) -> String {
    base64::encode_secret(bytes)
        .replace('+', "-")
        .replace('/', "_")
}

/// With the first byte of an extended key: the number, and so its text, has one length.
fn versioned(bytes: &[u8]) -> [u8; LEN] {
    let mut bytes = bytes.try_into().unwrap_or([0; LEN]);
    bytes[0] = 0x04;
    bytes
}

fn in_base58(bytes: &[u8]) -> String {
    base58::encode(&versioned(bytes))
}

fn draw(class: Class, sequence: &mut Sequence, secret: &mut [u8; LEN]) {
    sequence.fill(secret);
    choose(class, secret, FIXED);
}

fn of_bytes(name: &str, call: impl Fn(&[u8; LEN]) + 'static) -> Timed {
    let mut secret = [0; LEN];
    let sample = move |count, sequence: &mut Sequence| {
        let prepare =
            |class, sequence: &mut Sequence, secret: &mut _| draw(class, sequence, secret);
        Samples::take(count, sequence, &mut secret, prepare, |secret| call(secret))
    };
    Timed::silent(name, Box::new(sample))
}

fn of_text(
    name: &str,
    write: impl Fn(&[u8]) -> String + 'static,
    call: impl Fn(&str) + 'static,
) -> Timed {
    let sample = move |count, sequence: &mut Sequence| {
        // Always in the same place of memory, and after the same work: a random text is written for either class.
        let fixed = write(&[FIXED; LEN]);
        let mut text = fixed.clone();
        let prepare = |class, sequence: &mut Sequence, text: &mut String| {
            let mut secret = [0; LEN];
            sequence.fill(&mut secret);
            let random = write(&secret);
            let mask = black_box(0_u8.wrapping_sub(class as u8));
            text.clear();
            for (fixed, random) in fixed.bytes().zip(random.bytes()) {
                text.push(char::from((random & mask) | (fixed & !mask)));
            }
        };
        Samples::take(count, sequence, &mut text, prepare, |text| call(text))
    };
    Timed::silent(name, Box::new(sample))
}

fn compared_secret() -> Timed {
    let sample = |count, sequence: &mut Sequence| {
        let kept = Secret::<LEN>::from_fill(|bytes| bytes.fill(FIXED));
        let mut given = Secret::<LEN>::from_fill(|_| ());
        let prepare = |class, sequence: &mut Sequence, given: &mut Secret<LEN>| {
            let mut bytes = [0; LEN];
            draw(class, sequence, &mut bytes);
            *given = Secret::from_fill(|place| *place = bytes);
        };
        Samples::take(count, sequence, &mut given, prepare, |given| {
            black_box(kept.ct_eq(given));
        })
    };
    Timed::silent("a secret, compared with itself or any", Box::new(sample))
}

/// Bytes that twelve words stand for.
const ENTROPY: usize = 16;

/// Twelve words of four letters with a space between each two.
const PHRASE: usize = 59;

/// Mnemonics to choose from; the first is the one that does not change.
const MNEMONICS: usize = 64;

fn words_read() -> Timed {
    of_one_of("words of a mnemonic, read", |(_, phrase)| {
        let phrase = std::str::from_utf8(phrase).unwrap_or_default();
        was_read(&Mnemonic::parse(phrase));
    })
}

fn words_written() -> Timed {
    of_one_of("words of a mnemonic, written", |(entropy, _)| {
        drop(black_box(
            Mnemonic::from_entropy(entropy).map(|words| words.phrase()),
        ));
    })
}

type Entropy = ([u8; ENTROPY], [u8; PHRASE]);

fn of_one_of(name: &str, call: impl Fn(&Entropy) + 'static) -> Timed {
    let pool = mnemonics(&mut Sequence::new(39));
    let sample = move |count, sequence: &mut Sequence| {
        let mut secret = pool.first().copied().unwrap_or(([0; ENTROPY], [0; PHRASE]));
        let fixed = secret;
        let prepare = |class, sequence: &mut Sequence, secret: &mut Entropy| {
            // One of them is looked up for either class.
            let drawn = usize::try_from(sequence.next_bits() >> 32).unwrap_or_default() % MNEMONICS;
            let drawn = pool.get(drawn).copied().unwrap_or(fixed);
            let mask = black_box(0_u8.wrapping_sub(class as u8));
            mix(&mut secret.0, &fixed.0, &drawn.0, mask);
            mix(&mut secret.1, &fixed.1, &drawn.1, mask);
        };
        Samples::take(count, sequence, &mut secret, prepare, |secret| call(secret))
    };
    Timed::silent(name, Box::new(sample))
}

/// The second of two where the mask is all ones.
fn mix(out: &mut [u8], one: &[u8], other: &[u8], mask: u8) {
    for (out, (one, other)) in out.iter_mut().zip(one.iter().zip(other)) {
        *out = (other & mask) | (one & !mask);
    }
}

/// Mnemonics whose twelve words have four letters each.
fn mnemonics(sequence: &mut Sequence) -> Vec<Entropy> {
    // The first eleven bits are the first word.
    let four: Vec<u128> = (0..2_048)
        .filter(|place| phrase(place << 117).get(4) == Some(&b' '))
        .collect();
    let mut found = Vec::new();
    while found.len() < MNEMONICS {
        // The checksum is in the last word, which has four letters now and then.
        let mut bits = u128::from(sequence.next_bits() >> 57);
        for word in 0..11 {
            let drawn = usize::try_from(sequence.next_bits() >> 32).unwrap_or_default();
            let place = four.get(drawn % four.len().max(1));
            bits |= place.copied().unwrap_or_default() << (117 - 11 * word);
        }
        if let Ok(phrase) = phrase(bits).try_into() {
            found.push((bits.to_be_bytes(), phrase));
        }
    }
    found
}

fn phrase(bits: u128) -> Vec<u8> {
    let words = Mnemonic::from_entropy(&bits.to_be_bytes());
    words.map_or_else(|_| Vec::new(), |words| words.phrase().expose().to_vec())
}

/// An allowed length of padded content; contents of 992 to 1,023 bytes have it.
const PADDED: usize = 1_024;

/// The fixed class has one length of content, the other all of them: neither length nor content shows.
fn padding_removed() -> Timed {
    let padded = |length: usize, sequence: &mut Sequence| {
        let mut content = vec![0; length];
        sequence.fill(&mut content);
        let mut out = Vec::with_capacity(PADDED);
        // A failure would show as content of no length, which is not timed alike.
        if padding::pad_into(&content, &mut out).is_err() {
            out.clear();
        }
        out
    };
    let sample = move |count, sequence: &mut Sequence| {
        let fixed = padded(1_000, sequence);
        let mut secret = fixed.clone();
        let prepare = |class, sequence: &mut Sequence, secret: &mut Vec<u8>| {
            let length = 992 + usize::try_from(sequence.below(32)).unwrap_or_default();
            let random = padded(length, sequence);
            let mask = black_box(0_u8.wrapping_sub(class as u8));
            mix(secret, &fixed, &random, mask);
        };
        Samples::take(count, sequence, &mut secret, prepare, |secret| {
            was_read(&padding::unpad(secret));
        })
    };
    Timed::silent("padding of a message, removed", Box::new(sample))
}
