//! Key usages and extended key usages as a request asks for them (RFC 5280 4.2.1.3 and 4.2.1.12).
//!
//! Written as names with commas between, such as `digitalSignature,keyEncipherment`. Key usages are critical, as the RFC
//! wants them; extended ones are not.

use keywright_encoding::der;

use crate::name::{NameError, dotted};

/// The names of key usages, by their bits.
const KEY_USAGES: [&str; 9] = [
    "digitalSignature",
    "nonRepudiation",
    "keyEncipherment",
    "dataEncipherment",
    "keyAgreement",
    "keyCertSign",
    "cRLSign",
    "encipherOnly",
    "decipherOnly",
];

/// The newer name of the second bit.
const COMMITMENT: &str = "contentCommitment";

/// Extended usages by their names, with the last arc of 1.3.6.1.5.5.7.3.
const EXTENDED: [(&str, u8); 6] = [
    ("serverAuth", 1),
    ("clientAuth", 2),
    ("codeSigning", 3),
    ("emailProtection", 4),
    ("timeStamping", 8),
    ("OCSPSigning", 9),
];

/// 2.5.29.37.0
const ANY: (&str, [u8; 6]) = ("anyExtendedKeyUsage", [6, 4, 0x55, 0x1D, 0x25, 0]);

/// The names in a text, in its order.
pub(crate) fn named(text: Option<&str>) -> Vec<String> {
    let names = text.unwrap_or_default().split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Each name once, and none empty.
fn each(text: &str) -> Result<Vec<&str>, NameError> {
    let names: Vec<_> = text.split(',').map(str::trim).collect();
    for (index, name) in names.iter().enumerate() {
        let twice = names
            .iter()
            .take(index)
            .any(|other| other.eq_ignore_ascii_case(name));
        if twice {
            return Err(NameError::Twice((*name).to_owned()));
        }
    }
    Ok(names)
}

/// The extension of these key usages.
pub(crate) fn key_usage(text: &str) -> Result<Vec<u8>, NameError> {
    let mut bits = 0_u16;
    for name in each(text)? {
        let known = match name.eq_ignore_ascii_case(COMMITMENT) {
            true => Some(1),
            false => KEY_USAGES
                .iter()
                .position(|known| known.eq_ignore_ascii_case(name)),
        };
        let bit = known.ok_or_else(|| NameError::Usage(name.to_owned()))?;
        bits |= 0x8000 >> bit;
    }
    // 2.5.29.15
    let oid = [6, 3, 0x55, 0x1D, 0x0F];
    let critical = [1, 1, 0xFF];
    Ok(der::sequence(&[
        &oid,
        &critical,
        &der::octet_string(&named_bits(bits)),
    ]))
}

/// A BIT STRING without the zero bits behind the last one that is set (X.690 11.2.2).
fn named_bits(bits: u16) -> Vec<u8> {
    let unused = bits.trailing_zeros().min(16);
    let [high, low] = bits.to_be_bytes();
    let spare = u8::try_from(unused % 8).unwrap_or_default();
    match unused {
        0..=7 => der::tlv(3, &[spare, high, low]),
        8..=15 => der::tlv(3, &[spare, high]),
        _ => der::tlv(3, &[0]),
    }
}

/// The extension of these extended usages.
pub(crate) fn extended(text: &str) -> Result<Vec<u8>, NameError> {
    let mut purposes = Vec::new();
    for name in each(text)? {
        let known = EXTENDED
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        let numbers = || dotted(name).map(|oid| der::tlv(6, &oid));
        let purpose = match known {
            Some((_, last)) => Some(vec![6, 8, 0x2B, 6, 1, 5, 5, 7, 3, *last]),
            None if name.eq_ignore_ascii_case(ANY.0) => Some(ANY.1.to_vec()),
            None => numbers(),
        };
        purposes.extend(purpose.ok_or_else(|| NameError::ExtendedUsage(name.to_owned()))?);
    }
    // 2.5.29.37
    let oid = [6, 3, 0x55, 0x1D, 0x25];
    let purposes = der::sequence(&[&purposes]);
    Ok(der::sequence(&[&oid, &der::octet_string(&purposes)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_named_from_the_first_and_end_with_the_last_that_is_set() {
        let value = |text: &str| {
            let whole = key_usage(text).unwrap();
            whole[12..].to_vec()
        };
        assert_eq!(value("digitalSignature"), [3, 2, 7, 0x80]);
        assert_eq!(value("digitalSignature,keyEncipherment"), [3, 2, 5, 0xA0]);
        assert_eq!(value("keyCertSign, cRLSign"), [3, 2, 1, 0x06]);
        assert_eq!(value("keyAgreement,decipherOnly"), [3, 3, 7, 0x08, 0x80]);
        assert_eq!(value("encipherOnly"), [3, 2, 0, 0x01]);
        assert_eq!(value("contentCommitment"), value("NONREPUDIATION"));
        assert_eq!(named_bits(0), [3, 1, 0]);
    }

    #[test]
    fn what_is_no_usage_or_stands_twice_is_refused() {
        for text in ["", "digitalsignatures", "serverAuth", "keyAgreement,", ","] {
            assert!(key_usage(text).is_err(), "{text}");
        }
        for text in ["", "digitalSignature", "1", "3.1", "1.2.x", "clientAuth,"] {
            assert!(extended(text).is_err(), "{text}");
        }
        let twice = "cRLSign,crlsign";
        assert_eq!(key_usage(twice), Err(NameError::Twice("crlsign".into())));
        let twice = "1.2.3.4,1.2.3.4";
        assert_eq!(extended(twice), Err(NameError::Twice("1.2.3.4".into())));
        assert!(extended("serverAuth, anyExtendedKeyUsage,1.3.6.1.4.1.311.20.2.2").is_ok());
    }
}
