//! As much ASN.1 as the tests have to write.

/// Tag, length, contents.
pub(crate) fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = contents.len();
    let mut out = match u8::try_from(length) {
        Ok(short @ ..0x80) => vec![tag, short],
        Ok(long) => vec![tag, 0x81, long],
        Err(_) => {
            let bytes = u16::try_from(length).unwrap().to_be_bytes();
            vec![tag, 0x82, bytes[0], bytes[1]]
        }
    };
    out.extend_from_slice(contents);
    out
}

pub(crate) fn sequence(elements: &[Vec<u8>]) -> Vec<u8> {
    element(0x30, &elements.concat())
}

/// A number that is not negative, from its big-endian digits.
pub(crate) fn integer(digits: &[u8]) -> Vec<u8> {
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let digits = &digits[zeros..];
    match digits.first() {
        Some(..0x80) => element(0x02, digits),
        _ => element(0x02, &[&[0], digits].concat()),
    }
}

/// `RSAPublicKey` (RFC 8017).
pub(crate) fn rsa_public(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    sequence(&[integer(modulus), integer(exponent)])
}

/// `PrivateKeyInfo` (RFC 5958) of an `RSAPrivateKey` with the numbers n, e, d, p, q, dp, dq, qi.
pub(crate) fn rsa_pkcs8(numbers: &[Vec<u8>; 8]) -> Vec<u8> {
    let mut elements = vec![integer(&[])];
    elements.extend(numbers.iter().map(|number| integer(number)));
    let oid = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
    let algorithm = sequence(&[element(0x06, &oid), element(0x05, &[])]);
    let key = element(0x04, &sequence(&elements));
    sequence(&[integer(&[]), algorithm, key])
}
