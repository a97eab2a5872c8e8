//! The texts that an entry holds, also where they are encoded: base64, hexadecimal digits, escapes of JSON and of URLs,
//! UTF-16.

use keywright_encoding::{base64, hex};

/// Encodings within each other that are followed.
const DEEPEST: usize = 6;

/// Signs of the shortest encoded text.
const SHORTEST: usize = 8;

/// How contents begin that are compressed: gzip, zstd, LZ4, bzip2, xz, Snappy, zip.
const COMPRESSED: [&[u8]; 7] = [
    &[0x1F, 0x8B, 8],
    &[0x28, 0xB5, 0x2F, 0xFD],
    &[4, 0x22, 0x4D, 0x18],
    b"BZh",
    &[0xFD, b'7', b'z', b'X', b'Z'],
    &[0xFF, 6, 0, 0, b's', b'N'],
    b"PK\x03\x04",
];

/// The entry itself, and what is encoded in it; nothing where it is compressed, or where that is more than can be
/// searched.
pub(super) fn expanded(raw: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut expansion = Expansion {
        texts: Vec::new(),
        left: raw.len().saturating_mul(64).saturating_add(64 << 10),
    };
    expansion.add(raw.to_vec(), 0)?;
    Some(expansion.texts)
}

struct Expansion {
    texts: Vec<Vec<u8>>,
    /// Bytes that may be added.
    left: usize,
}

impl Expansion {
    fn add(&mut self, text: Vec<u8>, depth: usize) -> Option<()> {
        self.left = self.left.checked_sub(text.len())?;
        if COMPRESSED.iter().any(|start| text.starts_with(start)) || is_zlib(&text) {
            return None;
        }
        if depth < DEEPEST {
            for (decoded, is_sure) in decoded(&text) {
                // What begins in the midst of an encoded text is searched, but not decoded again.
                self.add(decoded, if is_sure { depth + 1 } else { DEEPEST })?;
            }
        }
        self.texts.push(text);
        Some(())
    }
}

/// Whether binary data follow the two header bytes of zlib (RFC 1950, section 2.2).
fn is_zlib(text: &[u8]) -> bool {
    let is_head = matches!(text, [0x78, 0x01 | 0x5E | 0x9C | 0xDA, ..]);
    is_head && text.len() > 8 && std::str::from_utf8(text).is_err()
}

fn decoded(text: &[u8]) -> Vec<(Vec<u8>, bool)> {
    let mut all = Vec::new();
    if text.contains(&b'\\') {
        all.push((unescaped(text), true));
    }
    if text.contains(&b'%') {
        all.push((from_percent(text), true));
    }
    if text.contains(&0) {
        let own = text.iter().copied().filter(|byte| *byte != 0);
        all.push((own.collect(), true));
    }
    for run in runs(text, |byte| byte.is_ascii_hexdigit()) {
        let run = run.get(..run.len() & !1).unwrap_or_default();
        let lower = run.to_ascii_lowercase();
        let own = std::str::from_utf8(&lower).ok();
        all.extend(
            own.and_then(|own| hex::decode(own).ok())
                .map(|own| (own, true)),
        );
    }
    for run in runs(text, is_base64) {
        for start in 0..4 {
            let part = run.get(start..).unwrap_or_default();
            all.extend(from_base64(part).map(|own| (own, start == 0)));
        }
    }
    all
}

/// The longest parts of such bytes.
fn runs(text: &[u8], is_own: impl Fn(u8) -> bool) -> Vec<&[u8]> {
    let parts = text.split(|byte| !is_own(*byte));
    parts.filter(|part| part.len() >= SHORTEST).collect()
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Of either alphabet, with or without padding.
fn from_base64(part: &[u8]) -> Option<Vec<u8>> {
    let whole = part.len() - usize::from(part.len() % 4 == 1);
    let mut text: Vec<u8> = part.get(..whole)?.to_vec();
    for byte in &mut text {
        match *byte {
            b'-' => *byte = b'+',
            b'_' => *byte = b'/',
            _ => {}
        }
    }
    // The bits behind the last byte need not be zero, as a strict decoder wants them.
    let bits = match text.len() % 4 {
        2 => 0b11_0000,
        3 => 0b11_1100,
        _ => 0b11_1111,
    };
    if let Some(last) = text.last_mut() {
        *last = sign(number(*last) & bits);
    }
    while !text.len().is_multiple_of(4) {
        text.push(b'=');
    }
    base64::decode(std::str::from_utf8(&text).ok()?).ok()
}

const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn number(sign: u8) -> usize {
    let place = SIGNS.iter().position(|own| *own == sign);
    place.unwrap_or_default()
}

fn sign(number: usize) -> u8 {
    SIGNS.get(number).copied().unwrap_or(b'A')
}

/// Without the escapes of RFC 8259, section 7.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        let [escaped, after @ ..] = after else {
            out.push(*first);
            break;
        };
        match (first, escaped) {
            (b'\\', b'u') => {
                rest = after;
                if let Some(sign) = sign_of(after) {
                    let mut room = [0; 4];
                    out.extend_from_slice(sign.encode_utf8(&mut room).as_bytes());
                    rest = after.get(4..).unwrap_or_default();
                }
            }
            (b'\\', b'n' | b'r' | b't' | b'b' | b'f') => {
                out.push(b' ');
                rest = after;
            }
            (b'\\', other) => {
                out.push(*other);
                rest = after;
            }
            (other, _) => out.push(*other),
        }
    }
    out
}

fn sign_of(digits: &[u8]) -> Option<char> {
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Without the escapes of RFC 3986, section 2.1.
fn from_percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(raw: &[u8], value: &str) -> bool {
        let texts = expanded(raw).unwrap();
        let is_in = |text: &Vec<u8>| {
            let mut parts = text.windows(value.len());
            parts.any(|part| part == value.as_bytes())
        };
        texts.iter().any(is_in)
    }

    #[test]
    fn encoded_values_are_found() {
        let card = "4111111111111111";
        let encode = |text: &str| base64::encode(text.as_bytes());
        let nested = format!("{{\"a\": \"{}\"}}", encode(&format!("x{}", encode(card))));
        let url = encode(&format!("{card}?>?>?>"))
            .replace('+', "-")
            .replace('/', "_");
        let wide: Vec<u8> = card.bytes().flat_map(|byte| [byte, 0]).collect();
        let escaped: String = card
            .chars()
            .map(|sign| format!("\\u{:04x}", sign as u32))
            .collect();
        let percent: String = card.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for raw in [
            card.as_bytes().to_vec(),
            encode(card).into_bytes(),
            encode(card).trim_end_matches('=').as_bytes().to_vec(),
            format!("key{}", encode(&format!("..{card}"))).into_bytes(),
            nested.into_bytes(),
            url.trim_end_matches('=').as_bytes().to_vec(),
            hex::encode(card.as_bytes()).into_bytes(),
            hex::encode(card.as_bytes()).to_uppercase().into_bytes(),
            wide.clone(),
            encode(&String::from_utf8(wide).unwrap()).into_bytes(),
            escaped.into_bytes(),
            percent.into_bytes(),
            b"4111\\u0031111\\/\\\"11111111".to_vec(),
        ] {
            let found = holds(&raw, card) || holds(&raw, "41111111/\"11111111");
            assert!(found, "{}", String::from_utf8_lossy(&raw));
        }
        assert!(!holds(b"4111111111111112", card));
    }

    #[test]
    fn compressed_contents_cannot_be_searched() {
        let gzip = [&[0x1F, 0x8B, 8, 0][..], &[7; 20]].concat();
        let zlib = [&[0x78, 0x9C][..], &[0xF3; 20]].concat();
        for raw in [&gzip, &zlib] {
            assert_eq!(expanded(raw), None);
            assert_eq!(expanded(base64::encode(raw).as_bytes()), None);
            let text = format!("{{\"bytes\": \"{}\"}}", hex::encode(raw));
            assert_eq!(expanded(text.as_bytes()), None);
        }
        assert!(expanded(b"PKG and BZ are words").is_some());
    }
}
