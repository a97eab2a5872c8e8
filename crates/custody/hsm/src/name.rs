//! Distinguished names as people write them (RFC 4514), and alternative names.
//!
//! `CN=example,O=Snake Oil\, Inc.,C=DE`: attributes between commas, escapes by a backslash before the character
//! or before two hexadecimal digits. The string begins with the last RDN (2.1), so the name is built from its
//! end. Values are UTF8String, and PrintableString for a country (RFC 5280 appendix A.1), IA5String for a DC and
//! an e-mail address.
//!
//! Not here: RDNs of several attributes (`+`) and values in `#` form.

use keywright_encoding::der;

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No `=` in an attribute.
    #[error("part {0} of the subject is not TYPE=value")]
    NoValue(usize),
    /// A type that is not known here.
    #[error(
        "the subject has the type {0:?}; known are CN, O, OU, C, ST, L, SERIALNUMBER, EMAIL, DC, UID, STREET and dotted numbers"
    )]
    Type(String),
    /// An attribute without a value.
    #[error("part {0} of the subject is empty")]
    Empty(usize),
    /// A backslash before nothing, or a character that must be escaped.
    #[error("part {0} of the subject has a character that must be escaped with a backslash")]
    Escape(usize),
    /// Not UTF-8 after its escapes.
    #[error("part {0} of the subject is not UTF-8")]
    Utf8(usize),
    /// A country that is not two letters.
    #[error("a country is two letters")]
    Country,
    /// An alternative name of no known kind.
    #[error("the alternative name {0:?} is not dns:NAME, ip:ADDRESS, email:ADDRESS or uri:URI")]
    Alternative(String),
    /// A key usage of no known name.
    #[error(
        "{0:?} is no key usage; known are digitalSignature, nonRepudiation, keyEncipherment, dataEncipherment, keyAgreement, keyCertSign, cRLSign, encipherOnly and decipherOnly"
    )]
    Usage(String),
    /// An extended key usage of no known name.
    #[error(
        "{0:?} is no extended key usage; known are serverAuth, clientAuth, codeSigning, emailProtection, timeStamping, OCSPSigning, anyExtendedKeyUsage and dotted numbers"
    )]
    ExtendedUsage(String),
    /// A usage that was named before.
    #[error("the usage {0:?} stands there twice")]
    Twice(String),
}

/// The kinds of strings in names.
const UTF8: u8 = 0x0C;
const PRINTABLE: u8 = 0x13;
const IA5: u8 = 0x16;

/// Types by their names, with the content of their object identifiers and the kind of their strings.
const TYPES: [(&str, &[u8], u8); 14] = [
    ("CN", &[0x55, 4, 3], UTF8),
    ("SERIALNUMBER", &[0x55, 4, 5], PRINTABLE),
    ("C", &[0x55, 4, 6], PRINTABLE),
    ("L", &[0x55, 4, 7], UTF8),
    ("ST", &[0x55, 4, 8], UTF8),
    ("S", &[0x55, 4, 8], UTF8),
    ("STREET", &[0x55, 4, 9], UTF8),
    ("O", &[0x55, 4, 10], UTF8),
    ("OU", &[0x55, 4, 11], UTF8),
    (
        "DC",
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 25],
        IA5,
    ),
    (
        "UID",
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 1],
        UTF8,
    ),
    ("EMAIL", &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1], IA5),
    (
        "EMAILADDRESS",
        &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1],
        IA5,
    ),
    ("E", &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1], IA5),
];

/// The Name (RFC 5280 4.1.2.4) that a text says. An empty text is the empty name.
pub(crate) fn distinguished(text: &str) -> Result<Vec<u8>, NameError> {
    if text.is_empty() {
        return Ok(der::sequence(&[]));
    }
    let mut parts = Vec::new();
    for (index, part) in split(text).into_iter().enumerate() {
        parts.push(rdn(index + 1, part)?);
    }
    parts.reverse();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Ok(der::sequence(&parts))
}

/// The parts between commas that no backslash stands before.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

fn rdn(number: usize, part: &str) -> Result<Vec<u8>, NameError> {
    let (kind, value) = part.split_once('=').ok_or(NameError::NoValue(number))?;
    let kind = kind.trim();
    let known = TYPES
        .iter()
        .find(|(name, ..)| name.eq_ignore_ascii_case(kind));
    let (oid, tag) = match known {
        Some((_, oid, tag)) => (oid.to_vec(), *tag),
        None => (
            dotted(kind).ok_or_else(|| NameError::Type(kind.to_owned()))?,
            UTF8,
        ),
    };
    let value = unescape(number, value)?;
    if value.is_empty() {
        return Err(NameError::Empty(number));
    }
    if oid == [0x55, 4, 6] && (value.len() != 2 || !value.iter().all(u8::is_ascii_alphabetic)) {
        return Err(NameError::Country);
    }
    let tag = if value.is_ascii() { tag } else { UTF8 };
    let pair = der::sequence(&[&der::tlv(6, &oid), &der::tlv(tag, &value)]);
    Ok(der::set_of(&pair))
}

/// RFC 4514 3: leading blanks before the value are dropped, as `openssl` writes them; all others are escaped.
fn unescape(number: usize, value: &str) -> Result<Vec<u8>, NameError> {
    let mut out = Vec::new();
    let mut bytes = value.trim_start_matches(' ').bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                let next = bytes.next().ok_or(NameError::Escape(number))?;
                match char::from(next).to_digit(16) {
                    None => out.push(next),
                    Some(high) => {
                        let low = bytes.next().and_then(|low| char::from(low).to_digit(16));
                        let low = low.ok_or(NameError::Escape(number))?;
                        out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                    }
                }
            }
            b'"' | b'+' | b';' | b'<' | b'>' | 0 => return Err(NameError::Escape(number)),
            b'#' if out.is_empty() => return Err(NameError::Escape(number)),
            byte => out.push(byte),
        }
    }
    match std::str::from_utf8(&out) {
        Ok(_) => Ok(out),
        Err(_) => Err(NameError::Utf8(number)),
    }
}

/// The content of an object identifier written with dots.
pub(crate) fn dotted(text: &str) -> Option<Vec<u8>> {
    let arcs: Option<Vec<u32>> = text.split('.').map(|arc| arc.parse().ok()).collect();
    let arcs = arcs.filter(|arcs| arcs.len() >= 2)?;
    let (first, second) = (*arcs.first()?, *arcs.get(1)?);
    if first > 2 || (first < 2 && second > 39) {
        return None;
    }
    let mut out = Vec::new();
    let joined = (first * 40).checked_add(second)?;
    for arc in std::iter::once(joined).chain(arcs.into_iter().skip(2)) {
        let mut groups = vec![u8::try_from(arc & 0x7F).ok()?];
        let mut rest = arc >> 7;
        while rest > 0 {
            groups.push(u8::try_from(rest & 0x7F).ok()? | 0x80);
            rest >>= 7;
        }
        out.extend(groups.iter().rev());
    }
    Some(out)
}

/// GeneralNames (RFC 5280 4.2.1.6) of texts such as `dns:example.org`.
pub(crate) fn alternatives(texts: &[String]) -> Result<Vec<u8>, NameError> {
    let mut names = Vec::new();
    for text in texts {
        let bad = || NameError::Alternative(text.clone());
        let (kind, value) = text.split_once(':').ok_or_else(bad)?;
        let plain = !value.is_empty() && value.is_ascii() && !value.contains(char::is_whitespace);
        let name = match kind.to_ascii_lowercase().as_str() {
            "ip" => match value.parse::<std::net::IpAddr>().map_err(|_| bad())? {
                std::net::IpAddr::V4(address) => der::tlv(0x87, &address.octets()),
                std::net::IpAddr::V6(address) => der::tlv(0x87, &address.octets()),
            },
            _ if !plain => return Err(bad()),
            "email" => der::tlv(0x81, value.as_bytes()),
            "dns" => der::tlv(0x82, value.as_bytes()),
            "uri" => der::tlv(0x86, value.as_bytes()),
            _ => return Err(bad()),
        };
        names.push(name);
    }
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    Ok(der::sequence(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_the_text_comes_first_in_the_name() {
        let name = distinguished("CN=a,C=DE").unwrap();
        let country = [0x31, 0x0B, 0x30, 9, 6, 3, 0x55, 4, 6, 0x13, 2, b'D', b'E'];
        assert_eq!(name[2..15], country);
        assert_eq!(distinguished("").unwrap(), [0x30, 0]);
    }

    #[test]
    fn escapes_are_those_of_the_rfc() {
        let value = |text: &str| unescape(1, text);
        assert_eq!(
            value(r"James \22Jim\22 Smith\, III"),
            Ok(b"James \"Jim\" Smith, III".to_vec())
        );
        assert_eq!(value(r"Before\0dAfter"), Ok(b"Before\rAfter".to_vec()));
        assert_eq!(value(r"Lu\C4\8Di\C4\87"), Ok("Lučić".as_bytes().to_vec()));
        assert_eq!(value(r"\ end\ "), Ok(b" end ".to_vec()));
        assert_eq!(value(r"\#5"), Ok(b"#5".to_vec()));
        assert_eq!(split(r"CN=a\,b,O=c").len(), 2);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for (text, error) in [
            ("CN", NameError::NoValue(1)),
            ("CN=a,", NameError::NoValue(2)),
            ("CN=", NameError::Empty(1)),
            ("XX=a", NameError::Type("XX".into())),
            ("1=a", NameError::Type("1".into())),
            ("1.40=a", NameError::Type("1.40".into())),
            ("CN=a+O=b", NameError::Escape(1)),
            ("CN=a\"", NameError::Escape(1)),
            ("CN=#a", NameError::Escape(1)),
            ("CN=a\\", NameError::Escape(1)),
            ("CN=\\aq", NameError::Escape(1)),
            ("CN=\\ff", NameError::Utf8(1)),
            ("C=Germany", NameError::Country),
            ("C=1x", NameError::Country),
        ] {
            assert_eq!(distinguished(text), Err(error), "{text}");
        }
        for text in ["example.org", "dns:", "dns:a b", "ip:1.2.3", "dns:ä", "x:y"] {
            assert!(alternatives(&[text.to_owned()]).is_err(), "{text}");
        }
        assert!(alternatives(&["ip:::1".to_owned(), "DNS:a".to_owned()]).is_ok());
    }

    #[test]
    fn dotted_numbers_are_encoded_in_groups_of_seven_bits() {
        assert_eq!(dotted("2.5.4.3"), Some(vec![0x55, 4, 3]));
        assert_eq!(
            dotted("1.2.840.113549"),
            Some(vec![0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D])
        );
        assert_eq!(dotted("2.999"), Some(vec![0x88, 0x37]));
    }
}
