//! The layout of a token, read once and strictly.
//!
//! ```text
//! suite u8 | flags u8 | key id 4 | token id 16 | length u16 | claims
//! blocks, at most 8:  type u8 | length u16 | body
//!     type 1, suites with a MAC   claims, at least one
//!     type 2, suite 0x11          claims | next delegation key 32 | signature 64
//!     type 3, suite 0x11          claims | signature 64                           the last one
//! tag 16, or 64 in suite 0x11
//! ```

use std::fmt;

use keywright_encoding::{Reader, hex};

use crate::Error;
use crate::blocks::{Blocks, Effective, Widens};
use crate::claims::lasts;
use crate::error::Malformed;
use crate::revoke::RevocationId;
use crate::tlv::ClaimSet;

/// Bytes of the longest token.
pub const MAX_LEN: usize = 2048;
/// The most blocks of a token.
pub const MAX_BLOCKS: usize = 8;
/// Bytes of a token with a MAC that has no claims; every real one has some.
pub const MAC_OVERHEAD: usize = HEADER_LEN + MAC_LEN;
/// Bytes of a signed token that has no claims; every real one has some.
pub const SIGNED_OVERHEAD: usize = HEADER_LEN + SIGNATURE_LEN;

pub(crate) const MAC_LEN: usize = 16;
pub(crate) const SIGNATURE_LEN: usize = 64;
const HEADER_LEN: usize = 24;
const FLAG_BOUND: u8 = 2;

/// How a token is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suite {
    /// Keyed BLAKE3, cut to 16 bytes.
    Blake3,
    /// HMAC-SHA-256, cut to 16 bytes.
    HmacSha256,
    /// Ed25519.
    Ed25519,
}

impl Suite {
    /// Every suite.
    pub const ALL: [Self; 3] = [Self::Blake3, Self::HmacSha256, Self::Ed25519];

    /// The first byte of its tokens.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Blake3 => 0x01,
            Self::HmacSha256 => 0x02,
            Self::Ed25519 => 0x11,
        }
    }

    /// Its stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blake3 => "blake3",
            Self::HmacSha256 => "hmac-sha-256",
            Self::Ed25519 => "ed25519",
        }
    }

    pub(crate) const fn tag_len(self) -> usize {
        match self {
            Self::Blake3 | Self::HmacSha256 => MAC_LEN,
            Self::Ed25519 => SIGNATURE_LEN,
        }
    }

    fn from_number(number: u8) -> Result<Self, Malformed> {
        let found = Self::ALL.into_iter().find(|suite| suite.number() == number);
        found.ok_or(Malformed)
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Names a key to its verifiers. One id belongs to one key of one suite.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 4]);

impl KeyId {
    /// Takes the bytes of an id.
    #[must_use]
    pub const fn new(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }
}

/// 8 lower-case hexadecimal digits.
impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// What stands before the claims.
pub(crate) struct Header {
    pub(crate) suite: Suite,
    pub(crate) bound: bool,
    pub(crate) key: KeyId,
    pub(crate) id: RevocationId,
}

impl Header {
    /// Appends header and claims.
    pub(crate) fn encode_into(
        &self,
        claims: &ClaimSet<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let length = claims.encoded_len();
        let fits = HEADER_LEN + length + self.suite.tag_len() <= MAX_LEN;
        let length = u16::try_from(length).ok().filter(|_| fits);
        let length = length.ok_or(Error::TooLong)?;
        out.push(self.suite.number());
        out.push(if self.bound { FLAG_BOUND } else { 0 });
        out.extend_from_slice(self.key.as_bytes());
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        claims.encode_into(out);
        Ok(())
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let suite = Suite::from_number(reader.u8()?)?;
        let bound = match reader.u8()? {
            0 => false,
            FLAG_BOUND => true,
            _ => return Err(Malformed),
        };
        Ok(Self {
            suite,
            bound,
            key: KeyId(*reader.array()?),
            id: RevocationId::from_bytes(*reader.array()?),
        })
    }
}

/// Who can go on with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End<'t> {
    /// The holder of this key, who has to close the token before it is accepted.
    Open(&'t [u8; 32]),
    /// Nobody: it was closed, or names no key.
    Closed,
}

/// A token that has the shape of one.
pub(crate) struct Parsed<'t> {
    pub(crate) header: Header,
    pub(crate) claims: ClaimSet<'t>,
    /// Header and claims.
    pub(crate) base: &'t [u8],
    /// Everything but the tag.
    pub(crate) before_tag: &'t [u8],
    pub(crate) tag: &'t [u8],
    pub(crate) count: usize,
    pub(crate) end: End<'t>,
}

impl<'t> Parsed<'t> {
    pub(crate) fn of(token: &'t [u8]) -> Result<Self, Malformed> {
        if token.len() > MAX_LEN {
            return Err(Malformed);
        }
        let mut reader = Reader::new(token);
        let header = Header::parse(&mut reader)?;
        let length = usize::from(reader.u16()?);
        let claims = ClaimSet::parse(reader.take(length)?)?;
        if !lasts(&claims) || claims.scope.is_some_and(|scope| scope.is_empty()) {
            return Err(Malformed);
        }
        if claims.delegate.is_some() && header.suite != Suite::Ed25519 {
            return Err(Malformed);
        }
        let end = token
            .len()
            .checked_sub(header.suite.tag_len())
            .ok_or(Malformed)?;
        let (before_tag, tag) = token.split_at_checked(end).ok_or(Malformed)?;
        let base = before_tag.get(..HEADER_LEN + length).ok_or(Malformed)?;
        let mut parsed = Self {
            header,
            claims,
            base,
            before_tag,
            tag,
            count: 0,
            end: claims.delegate.map_or(End::Closed, End::Open),
        };
        parsed.read_blocks()?;
        Ok(parsed)
    }

    fn read_blocks(&mut self) -> Result<(), Malformed> {
        let mut end = self.end;
        for block in self.blocks() {
            let block = block?;
            self.count += 1;
            end = match (self.header.suite, end) {
                (Suite::Ed25519, End::Closed) => return Err(Malformed),
                (_, _) => block.next.map_or(End::Closed, End::Open),
            };
        }
        self.end = end;
        if self.count > MAX_BLOCKS {
            Err(Malformed)
        } else {
            Ok(())
        }
    }

    /// The blocks in order.
    pub(crate) fn blocks(&self) -> Blocks<'t> {
        Blocks::behind(self.base.len(), self.before_tag, self.header.suite)
    }

    /// What claims and blocks permit together.
    pub(crate) fn effective(&self) -> Result<Effective<'t>, Widens> {
        let mut effective = Effective {
            expires: self.claims.expires.ok_or(Widens)?,
            not_before: self.claims.not_before,
            audience: self.claims.audience,
            scope: self.claims.scope.unwrap_or_default(),
        };
        for block in self.blocks() {
            effective.narrow(&block.map_err(|_| Widens)?.claims)?;
        }
        Ok(effective)
    }
}
