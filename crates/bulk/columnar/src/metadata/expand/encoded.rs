//! What may be encoded in parts of a text: base64, base32, hexadecimal digits, lists of the numbers of bytes or
//! signs, numbers with an exponent.

use keywright_encoding::{base64, hex};

use super::super::search::fold;
use super::readable;

/// Signs of the shortest part that is decoded.
const SHORTEST: usize = 4;

/// Numbers of the longest list that a text may have.
const LISTED: usize = 16;

/// Signs between two numbers of a list.
const BETWEEN: usize = 4;

/// Bytes that a part of a text may stand for.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// Whether it is the part from its beginning, which may be decoded again.
    pub(super) is_whole: bool,
}

impl Decoded {
    const fn whole(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            is_whole: true,
        }
    }
}

/// What parts of a text stand for; nothing where a list of numbers is too long to be one of sizes.
pub(super) fn decoded(text: &str) -> Option<Vec<Decoded>> {
    let mut all = Vec::new();
    add_parts(text, &mut all);
    if text.contains(['\r', '\n']) {
        let joined: String = text.split(['\r', '\n']).collect();
        add_parts(&joined, &mut all);
    }
    add_numbers(text, &mut all);
    add_lists(text, &mut all)?;
    Some(all)
}

fn add_parts(text: &str, all: &mut Vec<Decoded>) {
    let long = |part: &&str| part.len() >= SHORTEST;
    for run in readable::runs(text).filter(long) {
        for start in 0..4 {
            let bytes = run.get(start..).and_then(from_base64);
            all.extend(bytes.map(|bytes| Decoded {
                bytes,
                is_whole: start == 0,
            }));
        }
        all.extend(from_base32(run).map(Decoded::whole));
    }
    for run in text
        .split(|sign: char| !sign.is_ascii_hexdigit())
        .filter(long)
    {
        for start in 0..2 {
            let part = run.get(start..).unwrap_or_default();
            let part = part.get(..part.len() & !1).unwrap_or_default();
            let bytes = hex::decode(&part.to_ascii_lowercase()).ok();
            all.extend(bytes.map(|bytes| Decoded {
                bytes,
                is_whole: start == 0,
            }));
        }
    }
}

/// Of either alphabet, without padding.
fn from_base64(part: &str) -> Option<Vec<u8>> {
    let whole = part.len() - usize::from(part.len() % 4 == 1);
    let mut text = part.get(..whole)?.replace('-', "+").replace('_', "/");
    // The bits behind the last byte need not be zero, as a strict decoder wants them.
    let bits = match text.len() % 4 {
        2 => 0b11_0000,
        3 => 0b11_1100,
        _ => 0b11_1111,
    };
    if let Some(last) = text.pop() {
        text.push(sign(number(last) & bits));
    }
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    base64::decode(&text).ok()
}

const SIGNS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn number(sign: char) -> usize {
    SIGNS.find(sign).unwrap_or_default()
}

fn sign(number: usize) -> char {
    SIGNS
        .as_bytes()
        .get(number)
        .map_or('A', |byte| char::from(*byte))
}

/// Base32 (RFC 4648, section 6), in either case.
fn from_base32(part: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut out = Vec::with_capacity(part.len());
    for byte in part.bytes() {
        let value = match byte.to_ascii_uppercase() {
            letter @ b'A'..=b'Z' => letter - b'A',
            digit @ b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        };
        bits = (bits << 5 | u32::from(value)) & 0xFFFF;
        count += 5;
        if let Some(left) = count.checked_sub(8) {
            count = left;
            out.push(u8::try_from(bits >> left & 0xFF).unwrap_or_default());
        }
    }
    Some(out)
}

/// Adds numbers with an exponent or a point, and those in hexadecimal digits, as whole ones.
fn add_numbers(text: &str, all: &mut Vec<Decoded>) {
    let is_own = |sign: char| sign.is_ascii_alphanumeric() || ".+-".contains(sign);
    for part in text.split(|sign| !is_own(sign)) {
        let mut add = |number: String| all.push(Decoded::whole(number.into_bytes()));
        let digits = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
        let digits = digits.or((part.len() >= 2 * SHORTEST).then_some(part));
        let whole = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if let Some(number) = whole {
            add(number.to_string());
        } else if part.contains(['.', 'e', 'E'])
            && let Ok(number) = part.parse::<f64>()
            && number.abs() < 1e30
            && number.fract() == 0.0
        {
            add(format!("{number:.0}"));
        }
    }
}

/// Numbers of a list so far.
#[derive(Default)]
struct List {
    decimal: Vec<u32>,
    /// As `decimal`, of signed bytes.
    signed: Vec<u8>,
    hexadecimal: Vec<u8>,
}

impl List {
    /// Adds what the numbers stand for, and empties the list; nothing where it is too long.
    fn take(&mut self, all: &mut Vec<Decoded>) -> Option<()> {
        let Self {
            decimal,
            signed,
            hexadecimal,
        } = std::mem::take(self);
        if decimal.len().max(hexadecimal.len()) >= LISTED {
            return None;
        }
        if decimal.len() >= 2 {
            let signs = decimal.iter().filter_map(|number| char::from_u32(*number));
            all.push(Decoded::whole(signs.collect::<String>().into_bytes()));
            let bytes = decimal.iter().map(|number| u8::try_from(*number));
            let bytes = bytes.collect::<Result<Vec<u8>, _>>().ok();
            all.extend(bytes.map(Decoded::whole));
            all.push(Decoded::whole(signed));
        }
        if hexadecimal.len() >= 2 {
            all.push(Decoded::whole(hexadecimal));
        }
        Some(())
    }
}

/// Adds what lists of numbers stand for, decimal or hexadecimal.
fn add_lists(text: &str, all: &mut Vec<Decoded>) -> Option<()> {
    let (mut decimals, mut bytes) = (List::default(), List::default());
    let mut between = 0;
    let mut is_negative = false;
    for part in text.split_inclusive(|sign: char| !sign.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|sign: char| !sign.is_ascii_alphanumeric());
        let end = part.get(word.len()..).unwrap_or_default();
        if word.is_empty() {
            between += 1;
            is_negative = end == "-";
            if between > BETWEEN {
                decimals.take(all)?;
                bytes.take(all)?;
            }
            continue;
        }
        match decimal(word) {
            Some(number) => {
                decimals.decimal.push(number);
                let byte = u8::try_from(number).ok();
                let byte = byte.map(|byte| {
                    if is_negative {
                        byte.wrapping_neg()
                    } else {
                        byte
                    }
                });
                decimals.signed.extend(byte);
            }
            None => decimals.take(all)?,
        }
        match byte(word) {
            Some(byte) => bytes.hexadecimal.push(byte),
            None => bytes.take(all)?,
        }
        between = usize::from(!end.is_empty());
        is_negative = end == "-";
    }
    decimals.take(all)?;
    bytes.take(all)
}

/// The number of a sign.
fn decimal(word: &str) -> Option<u32> {
    let is_own = word.len() <= 7 && word.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_own.then(|| word.parse().ok())?;
    number.filter(|number| char::from_u32(*number).is_some())
}

/// A byte of two hexadecimal digits.
fn byte(word: &str) -> Option<u8> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    let digits = digits.unwrap_or(word);
    let is_own = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_own.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Texts that bytes are in one encoding or another.
pub(super) fn texts(decoded: &Decoded) -> Vec<String> {
    let bytes = &decoded.bytes;
    let mut all = vec![fold::text(bytes).into_owned()];
    if bytes.contains(&0) {
        let own: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        all.push(fold::text(&own).into_owned());
    }
    if !decoded.is_whole {
        return all;
    }
    // A list may have a number in front of its own.
    for start in 0..2 {
        let bytes = bytes.get(start..).unwrap_or_default();
        for read in [u16::from_le_bytes, u16::from_be_bytes] {
            let units = bytes.chunks_exact(2);
            let units = units.filter_map(|two| two.try_into().ok().map(read));
            let signs = char::decode_utf16(units);
            all.push(
                signs
                    .map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect(),
            );
        }
    }
    if let Ok(four) = <[u8; 4]>::try_from(bytes.as_slice()) {
        all.push(u32::from_le_bytes(four).to_string());
        all.push(u32::from_be_bytes(four).to_string());
    }
    if let Ok(eight) = <[u8; 8]>::try_from(bytes.as_slice()) {
        all.push(u64::from_le_bytes(eight).to_string());
        all.push(u64::from_be_bytes(eight).to_string());
    }
    all
}
