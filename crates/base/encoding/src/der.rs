//! The little of DER (X.690) that public keys, signatures and certificate requests need.
//!
//! Not here: kinds of values, nesting, and the lengths of BER, of which DER takes the shortest alone.

/// A value with its tag and length.
#[must_use]
pub fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let bytes = length.to_be_bytes();
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let bytes = bytes.get(zeros..).unwrap_or_default();
            // At most eight bytes.
            out.push(0x80 | u8::try_from(bytes.len()).unwrap_or_default());
            out.extend_from_slice(bytes);
        }
    }
    out.extend_from_slice(content);
    out
}

/// A sequence of values.
#[must_use]
pub fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

/// A set of one value.
#[must_use]
pub fn set_of(value: &[u8]) -> Vec<u8> {
    tlv(0x31, value)
}

/// A number from its big-endian bytes, which is not negative.
#[must_use]
pub fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = bytes.get(zeros..).unwrap_or_default();
    match digits.first() {
        None => tlv(2, &[0]),
        Some(first) if first & 0x80 != 0 => tlv(2, &[&[0], digits].concat()),
        Some(_) => tlv(2, digits),
    }
}

/// Whole bytes as a bit string.
#[must_use]
pub fn bit_string(bytes: &[u8]) -> Vec<u8> {
    tlv(3, &[&[0], bytes].concat())
}

/// Bytes.
#[must_use]
pub fn octet_string(bytes: &[u8]) -> Vec<u8> {
    tlv(4, bytes)
}

/// Nothing, as a value.
pub const NULL: &[u8] = &[5, 0];

/// The content of the one value with this tag that `bytes` are, and nothing behind it.
#[must_use]
pub fn exactly(tag: u8, bytes: &[u8]) -> Option<&[u8]> {
    let (content, rest) = first(tag, bytes)?;
    rest.is_empty().then_some(content)
}

/// The content of the first value, which must have this tag, and what is behind it.
#[must_use]
pub fn first(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    let (&length, mut rest) = rest.split_first()?;
    if found != tag {
        return None;
    }
    let length = match length {
        0..=0x7F => usize::from(length),
        0x81..=0x84 => {
            let (digits, behind) = rest.split_at_checked(usize::from(length & 0x7F))?;
            rest = behind;
            let value = digits
                .iter()
                .fold(0, |value: usize, digit| (value << 8) | usize::from(*digit));
            // The shortest form is the only one.
            let shortest = value > 0x7F && digits.first() != Some(&0);
            shortest.then_some(value)?
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// An ECDSA signature, r and s side by side, as the SEQUENCE of RFC 3279. `None` if it has no two halves.
#[must_use]
pub fn signature_to_der(raw: &[u8]) -> Option<Vec<u8>> {
    let (r, s) = raw.split_at_checked(raw.len() / 2)?;
    (r.len() == s.len() && !r.is_empty()).then(|| sequence(&[&integer(r), &integer(s)]))
}

/// The other way, each half filled up to `half` bytes. `None` for another form, or numbers that are longer.
#[must_use]
pub fn signature_from_der(der: &[u8], half: usize) -> Option<Vec<u8>> {
    let content = exactly(0x30, der)?;
    let (r, rest) = first(2, content)?;
    let s = exactly(2, rest)?;
    let mut out = Vec::with_capacity(2 * half);
    for number in [r, s] {
        let negative = number.first().is_none_or(|first| first & 0x80 != 0);
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let digits = number.get(zeros..).filter(|_| !negative && zeros <= 1)?;
        out.resize(out.len() + half.checked_sub(digits.len())?, 0);
        out.extend_from_slice(digits);
    }
    Some(out)
}

/// PEM (RFC 7468) around a value.
#[must_use]
pub fn pem(label: &str, der: &[u8]) -> String {
    let text = crate::base64::encode(der);
    let mut out = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, behind) = rest.split_at_checked(64).unwrap_or((rest, ""));
        out.push_str(line);
        out.push('\n');
        rest = behind;
    }
    out + &format!("-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_the_shortest_and_only_those_are_read() {
        for length in [0, 1, 127, 128, 255, 256, 65_535, 65_536] {
            let content = vec![7; length];
            let value = tlv(4, &content);
            assert_eq!(exactly(4, &value), Some(content.as_slice()), "{length}");
            assert_eq!(exactly(3, &value), None);
            assert_eq!(exactly(4, &value[..value.len() - 1]), None);
            assert_eq!(exactly(4, &[value, vec![0]].concat()), None);
        }
        for bad in [
            &[4, 0x81, 1, 7][..],
            &[4, 0x82, 0, 1, 7],
            &[4, 0x80],
            &[4, 0x85],
        ] {
            assert_eq!(exactly(4, bad), None, "{bad:?}");
        }
    }

    #[test]
    fn signatures_go_there_and_back_and_no_other_numbers_are_taken() {
        let raw = [&[0; 31][..], &[1], &[0x80; 32]].concat();
        let der = signature_to_der(&raw).unwrap();
        assert_eq!(der[..7], [0x30, 0x26, 2, 1, 1, 2, 0x21]);
        assert_eq!(signature_from_der(&der, 32), Some(raw));
        assert_eq!(signature_from_der(&der, 31), None);
        let negative = sequence(&[&tlv(2, &[0x80]), &integer(&[1])]);
        assert_eq!(signature_from_der(&negative, 32), None);
        let padded = sequence(&[&tlv(2, &[0, 0, 1]), &integer(&[1])]);
        assert_eq!(signature_from_der(&padded, 32), None);
        assert_eq!(signature_from_der(&[], 32), None);
        assert_eq!(signature_to_der(&[]), None);
    }

    #[test]
    fn pem_has_lines_of_64() {
        let text = pem("X", &[0; 49]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1].len(), 64);
        assert_eq!(pem("X", &[]).lines().count(), 2);
    }
}
