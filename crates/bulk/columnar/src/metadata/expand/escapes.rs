//! Escapes within a text: backslashes, percent signs, entities, quoted-printable, and UTF-8 taken for Latin-1.

use super::super::search::fold;

/// The text without each kind of escapes that it has; nothing where one cannot be decoded.
pub(super) fn decoded(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    if text.contains('\\') {
        all.push(from_backslashes(text.as_bytes())?);
    }
    if text.contains('%') {
        all.push(from_percent(text.as_bytes())?);
    }
    if text.contains('&') {
        all.push(from_entities(text)?);
    }
    if text.contains('=') {
        all.push(from_quoted(text.as_bytes()));
    }
    all.extend(from_latin(text));
    all.retain(|own| own != text);
    Some(all)
}

/// Without the escapes of JSON, JavaScript, C, Python and R.
fn from_backslashes(text: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'\\', [escaped, after @ ..]) => escape(*escaped, after, &mut out)?,
            _ => {
                out.push(*first);
                after
            }
        };
    }
    Some(fold::text(&out).into_owned())
}

/// Appends what follows a backslash; the rest behind it.
fn escape<'t>(escaped: u8, after: &'t [u8], out: &mut Vec<u8>) -> Option<&'t [u8]> {
    match escaped {
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'a' | b'b' | b'f' | b'v' => out.push(b' '),
        b'\r' | b'\n' => {}
        b'u' | b'U' | b'x' if after.starts_with(b"{") => {
            let end = after.iter().take(10).position(|byte| *byte == b'}')?;
            push(char::from_u32(number(after.get(1..end)?, 16)?)?, out);
            return after.get(end + 1..);
        }
        b'u' => {
            let (sign, rest) = from_units(after, b"\\u")?;
            push(sign, out);
            return Some(rest);
        }
        b'U' => {
            push(char::from_u32(number(after.get(..8)?, 16)?)?, out);
            return after.get(8..);
        }
        b'x' => {
            out.push(u8::try_from(number(after.get(..2)?, 16)?).ok()?);
            return after.get(2..);
        }
        b'0'..=b'7' => {
            let more = after.iter().take(2);
            let count = more.take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let digits = [&[escaped], after.get(..count)?].concat();
            out.push(u8::try_from(number(&digits, 8)?).ok()?);
            return after.get(count..);
        }
        b'N' if after.starts_with(b"{") => return None,
        other => out.push(other),
    }
    Some(after)
}

/// Without the escapes of RFC 3986, section 2.1, and `%u` with four digits.
fn from_percent(text: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        let byte = after.get(..2).and_then(|digits| number(digits, 16));
        match (first, byte.and_then(|byte| u8::try_from(byte).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'%', None) if after.first() == Some(&b'u') => {
                let (sign, behind) = from_units(after.get(1..)?, b"%u")?;
                push(sign, &mut out);
                rest = behind;
            }
            _ => out.push(*first),
        }
    }
    Some(fold::text(&out).into_owned())
}

/// Without the references of XML 1.0, section 4.1. Other names are not known.
fn from_entities(text: &str) -> Option<String> {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_own = |sign: char| sign.is_ascii_alphanumeric() || sign == '#';
        let end = part.find(|sign| !is_own(sign)).unwrap_or(part.len());
        let (name, behind) = part.split_at_checked(end)?;
        let sign = match name.strip_prefix('#') {
            Some(digits) => {
                let hexadecimal = digits.strip_prefix(['x', 'X']);
                let base = if hexadecimal.is_some() { 16 } else { 10 };
                let digits = hexadecimal.unwrap_or(digits);
                Some(char::from_u32(number(digits.as_bytes(), base)?)?)
            }
            None => named(name),
        };
        match (sign, behind.strip_prefix(';')) {
            (Some(sign), rest) => {
                out.push(sign);
                out.push_str(rest.unwrap_or(behind));
            }
            (None, Some(_)) if !name.is_empty() => return None,
            (None, _) => {
                out.push('&');
                out.push_str(part);
            }
        }
    }
    Some(out)
}

/// Without the escapes of quoted-printable (RFC 2045, section 6.7). One of a control character is none, since most
/// signs of equality have another meaning.
fn from_quoted(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut is_wide = false;
    while let [first, after @ ..] = rest {
        let byte = after.get(..2).and_then(|digits| number(digits, 16));
        let byte = byte.and_then(|byte| u8::try_from(byte).ok());
        let is_own = |byte: &u8| match byte {
            b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0xA0.. => true,
            0x80.. => is_wide,
            _ => false,
        };
        let broken = [&b"\r\n"[..], b"\n"];
        let broken = broken.iter().find_map(|end| after.strip_prefix(*end));
        (rest, is_wide) = match (first, byte.filter(is_own), broken) {
            (b'=', Some(byte), _) => {
                out.push(byte);
                (after.get(2..).unwrap_or_default(), !byte.is_ascii())
            }
            (b'=', None, Some(behind)) => (behind, false),
            _ => {
                out.push(*first);
                (after, false)
            }
        };
    }
    fold::text(&out).into_owned()
}

fn named(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => None,
    }
}

/// The text whose bytes in UTF-8 were taken for signs of Latin-1.
fn from_latin(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let bytes = text.chars().map(|sign| u8::try_from(u32::from(sign)));
    let bytes: Vec<u8> = bytes.collect::<Result<_, _>>().ok()?;
    String::from_utf8(bytes).ok()
}

/// The sign that begins with four digits, and the rest: a pair of surrogates has the introduction twice.
fn from_units<'t>(text: &'t [u8], introduction: &[u8]) -> Option<(char, &'t [u8])> {
    let (first, rest) = (number(text.get(..4)?, 16)?, text.get(4..)?);
    if let Some(sign) = char::from_u32(first) {
        return Some((sign, rest));
    }
    let rest = rest.strip_prefix(introduction)?;
    let second = number(rest.get(..4)?, 16)?;
    let units = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let sign = char::decode_utf16(units).next()?.ok()?;
    Some((sign, rest.get(4..)?))
}

fn push(sign: char, out: &mut Vec<u8>) {
    let mut room = [0; 4];
    out.extend_from_slice(sign.encode_utf8(&mut room).as_bytes());
}

/// A number of digits only: signs are refused.
fn number(digits: &[u8], base: u32) -> Option<u32> {
    let is_own = |byte: &u8| char::from(*byte).is_digit(base);
    let digits = std::str::from_utf8(digits).ok()?;
    let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| is_own(&byte)))?;
    u32::from_str_radix(digits, base).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_each_kind_are_decoded() {
        for (text, plain) in [
            (r"4\u0031\x31\u{31}\061\U00000031", "411111"),
            (r"a\nb\tc\/d\\e", "a\nb\tc/d\\e"),
            (r"\ud842\udfb7", "\u{20BB7}"),
            (r"M\xc3\xbcller M\xfcller", "M\u{FC}ller M\u{FC}ller"),
            (r"\\end\", "\\end\\"),
            ("%34%31 100% %u0031%ud842%udfb7", "41 100% 1\u{20BB7}"),
            ("&#52;&#x31;&amp;&lt;a & b&#49", "41&<a & b1"),
            (
                "4=31=3D1 M=C3=9Cller M=FCller a=\r\nb",
                "41=1 M\u{DC}ller M\u{FC}ller ab",
            ),
            ("M\u{C3}\u{BC}ller", "M\u{FC}ller"),
        ] {
            assert_eq!(decoded(text), Some(vec![plain.to_owned()]), "{text}");
        }
        for text in [
            "plain",
            "a & b",
            "100%",
            "\u{FC}ber",
            "level=10",
            "share=80",
        ] {
            assert_eq!(decoded(text), Some(Vec::new()), "{text}");
        }
    }

    #[test]
    fn escapes_that_do_not_decode_are_refused() {
        for text in [
            r"\u12",
            r"\ud842",
            r"\ud842\u0041",
            r"\x4",
            r"\u{110000}",
            r"\U0000004",
            r"\N{DIGIT FOUR}",
            r"\777",
            "%u12",
            "&uuml;",
            "&#;",
            "&#x110000;",
            r"\u+041",
        ] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
