//! Claims as bytes: type, length, value; types ascend, none stands twice, lengths have their shortest form.
//!
//! ```text
//! type u8 | length u8 below 128, or two bytes 0x80 | length >> 8, length & 0xFF | value
//! ```

use keywright_encoding::Reader;

use crate::claims::{UnixSeconds, data, name};
use crate::error::Malformed;
use crate::scope::Scope;

/// The claims of a token or block, each at most once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClaimSet<'a> {
    pub(crate) expires: Option<UnixSeconds>,
    pub(crate) not_before: Option<UnixSeconds>,
    pub(crate) audience: Option<&'a str>,
    pub(crate) scope: Option<Scope<'a>>,
    pub(crate) subject: Option<&'a str>,
    pub(crate) delegate: Option<&'a [u8; 32]>,
    pub(crate) data: Option<&'a [u8]>,
}

const EXPIRES: u8 = 1;
const NOT_BEFORE: u8 = 2;
const AUDIENCE: u8 = 3;
const SCOPE: u8 = 4;
const SUBJECT: u8 = 5;
const DELEGATE: u8 = 6;
const DATA: u8 = 7;

/// The longest length with one byte, and what marks two.
const ONE_BYTE: usize = 0x7f;
const TWO_BYTES: u8 = 0x80;

impl<'a> ClaimSet<'a> {
    /// Reads claims to the end of `bytes`.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let (mut claims, mut before) = (Self::default(), 0);
        while !reader.is_empty() {
            let kind = reader.u8()?;
            if kind <= before {
                return Err(Malformed);
            }
            before = kind;
            let length = read_length(&mut reader)?;
            claims.take(kind, reader.take(length)?)?;
        }
        Ok(claims)
    }

    fn take(&mut self, kind: u8, value: &'a [u8]) -> Result<(), Malformed> {
        match kind {
            EXPIRES => self.expires = Some(time(value)?),
            NOT_BEFORE => self.not_before = Some(time(value)?),
            AUDIENCE => self.audience = Some(name(text(value)?).map_err(|_| Malformed)?),
            SCOPE => self.scope = Some(Scope::parse(text(value)?).map_err(|_| Malformed)?),
            SUBJECT => self.subject = Some(name(text(value)?).map_err(|_| Malformed)?),
            DELEGATE => self.delegate = Some(value.try_into().map_err(|_| Malformed)?),
            DATA => self.data = Some(data(value).map_err(|_| Malformed)?),
            _ => return Err(Malformed),
        }
        Ok(())
    }

    /// Appends the claims.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        self.each(|kind, value| {
            out.push(kind);
            put_length(value.len(), out);
            out.extend_from_slice(value);
        });
    }

    /// How many bytes that appends.
    pub(crate) fn encoded_len(&self) -> usize {
        let mut length = 0;
        self.each(|_, value| {
            length += 2 + usize::from(value.len() > ONE_BYTE) + value.len();
        });
        length
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn each(&self, mut visit: impl FnMut(u8, &[u8])) {
        if let Some(time) = self.expires {
            visit(EXPIRES, &time.number().to_be_bytes());
        }
        if let Some(time) = self.not_before {
            visit(NOT_BEFORE, &time.number().to_be_bytes());
        }
        if let Some(name) = self.audience {
            visit(AUDIENCE, name.as_bytes());
        }
        if let Some(scope) = self.scope {
            visit(SCOPE, scope.as_str().as_bytes());
        }
        if let Some(name) = self.subject {
            visit(SUBJECT, name.as_bytes());
        }
        if let Some(key) = self.delegate {
            visit(DELEGATE, key);
        }
        if let Some(data) = self.data {
            visit(DATA, data);
        }
    }
}

fn read_length(reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let first = reader.u8()?;
    if first < TWO_BYTES {
        return Ok(usize::from(first));
    }
    let length = usize::from(u16::from_be_bytes([first & !TWO_BYTES, reader.u8()?]));
    if length <= ONE_BYTE {
        return Err(Malformed);
    }
    Ok(length)
}

/// Lengths of claims are bounded far below 2^15 by their constructors.
fn put_length(length: usize, out: &mut Vec<u8>) {
    let [.., high, low] = length.to_be_bytes();
    if length > ONE_BYTE {
        out.push(TWO_BYTES | high);
    }
    out.push(low);
}

fn time(value: &[u8]) -> Result<UnixSeconds, Malformed> {
    let number = u64::from_be_bytes(value.try_into().map_err(|_| Malformed)?);
    UnixSeconds::new(number).map_err(|_| Malformed)
}

fn text(value: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(value).map_err(|_| Malformed)
}
