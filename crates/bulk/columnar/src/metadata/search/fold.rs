//! The form in which values and texts are compared.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The zeros of decimal digits that NFKD does not make ones of ASCII (Unicode, general category Nd).
const ZEROS: [u32; 58] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0x104A0,
    0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0,
    0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50, 0x1E140,
    0x1E2F0, 0x1E950,
];

/// UTF-8 as text. A byte that is not UTF-8 is read as Latin-1.
pub(in super::super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() * 2);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().copied().map(char::from));
    }
    Cow::Owned(out)
}

/// Compatibility decomposition (UAX #15, NFKD) without marks, case and invisible signs, and with digits of ASCII.
pub(super) fn folded(bytes: &[u8]) -> String {
    let text = text(bytes);
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let signs = text.nfkd();
    let signs = signs.filter(|sign| !is_combining_mark(*sign) && !is_invisible(*sign));
    let signs = signs.map(digit_of_ascii).flat_map(char::to_uppercase);
    signs.flat_map(char::to_lowercase).collect()
}

/// Appends the letters and digits of a value or text, folded.
pub(super) fn squeeze(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_ascii() {
        let own = bytes.iter().filter(|byte| byte.is_ascii_alphanumeric());
        return out.extend(own.map(u8::to_ascii_lowercase));
    }
    for sign in folded(bytes).chars().filter(|sign| sign.is_alphanumeric()) {
        let mut room = [0; 4];
        out.extend_from_slice(sign.encode_utf8(&mut room).as_bytes());
    }
}

/// Whether a sign has no width (Unicode, Default_Ignorable_Code_Point).
const fn is_invisible(sign: char) -> bool {
    matches!(
        sign,
        '\u{AD}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}'
            | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

fn digit_of_ascii(sign: char) -> char {
    if sign.is_ascii() || !sign.is_numeric() {
        return sign;
    }
    let number = u32::from(sign);
    let before = ZEROS.partition_point(|zero| *zero <= number);
    let zero = before.checked_sub(1).and_then(|place| ZEROS.get(place));
    let digit = zero.and_then(|zero| char::from_digit(number - zero, 10));
    digit.unwrap_or(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fold_joins_spellings_of_one_text() {
        let squeezed = |text: &str| {
            let mut out = Vec::new();
            squeeze(text.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        for (text, other) in [
            ("M\u{FC}ller", "Mu\u{308}LLER"),
            ("\u{FF14}\u{FF11}", "4-1"),
            ("\u{664}\u{661}\u{6F1}", "411"),
            ("\u{1D7D2}\u{104A1}", "41"),
            ("Stra\u{DF}e", "STRASSE"),
            ("4\u{200B}1\u{A0}1\u{2009}1\u{2060}1", "+4_1,1.1(1)"),
            ("\u{3A3}\u{3C2}", "\u{3C3}\u{3C3}"),
        ] {
            assert_eq!(squeezed(text), squeezed(other), "{text:?}");
        }
        assert_eq!(text(b"M\xFCller"), "M\u{FC}ller");
        assert!(ZEROS.is_sorted());
    }
}
