//! The letters of a PKCS#11 URI (RFC 7512 2.3): attributes, percent-encoding, numbers.

use std::fmt;

use super::UriError;

/// A part of a URI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    Path,
    Query,
}

/// The attributes with their numbers from 1; nothing of an empty component.
pub(super) fn parts(component: &str, separator: char) -> impl Iterator<Item = (usize, &str)> {
    let parts = component.split(separator).enumerate();
    parts
        .map(|(index, part)| (index + 1, part))
        .filter(move |_| !component.is_empty())
}

pub(super) fn pair(
    number: usize,
    part: &str,
    component: Component,
) -> Result<(&str, Vec<u8>), UriError> {
    let (name, value) = part.split_once('=').ok_or(UriError::NoValue(number))?;
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.is_empty() || !name.bytes().all(valid) {
        return Err(UriError::BadName(number));
    }
    let value = decode(value, component).ok_or_else(|| UriError::Encoding(name.to_owned()))?;
    Ok((name, value))
}

pub(super) fn refuse_second<'n>(seen: &mut Vec<&'n str>, name: &'n str) -> Result<(), UriError> {
    if seen.contains(&name) {
        return Err(UriError::Twice(name.to_owned()));
    }
    seen.push(name);
    Ok(())
}

/// RFC 7512 2.3: what may stand unencoded in a value.
const fn stands(byte: u8, component: Component) -> bool {
    match byte {
        b'-' | b'.' | b'_' | b'~' => true,
        b':' | b'[' | b']' | b'@' | b'!' | b'$' | b'\'' | b'(' | b')' | b'*' | b'+' | b','
        | b'=' => true,
        b'&' => matches!(component, Component::Path),
        b'/' | b'?' | b'|' => matches!(component, Component::Query),
        _ => byte.is_ascii_alphanumeric(),
    }
}

fn decode(value: &str, component: Component) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(value.len());
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else if stands(byte, component) {
            out.push(byte);
        } else {
            return None;
        }
    }
    Some(out)
}

pub(super) fn number<T: std::str::FromStr>(
    name: &'static str,
    digits: &[u8],
) -> Result<T, UriError> {
    // `parse` alone would take a sign.
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| plain);
    text.and_then(|text| text.parse().ok())
        .ok_or(UriError::Value(name))
}

pub(super) fn version(value: &[u8]) -> Result<(u32, u32), UriError> {
    const NAME: &str = "library-version";
    let mut parts = value.splitn(2, |byte| *byte == b'.');
    let major = number(NAME, parts.next().unwrap_or_default())?;
    // A number alone is a version with minor number 0.
    let minor = parts.next().map_or(Ok(0), |digits| number(NAME, digits))?;
    Ok((major, minor))
}

pub(super) fn encode(
    f: &mut fmt::Formatter<'_>,
    value: &[u8],
    component: Option<Component>,
) -> fmt::Result {
    for byte in value {
        match component {
            Some(component) if stands(*byte, component) => {
                write!(f, "{}", char::from(*byte))?;
            }
            _ => write!(f, "%{byte:02X}")?,
        }
    }
    Ok(())
}
