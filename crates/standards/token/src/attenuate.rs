//! Narrowing a token that one holds, without the issuer.
//!
//! With a MAC everybody can: the tag of the token is what the key of the next tag is derived from, and is
//! not in the longer token any more. In a signed token only the holder of the key that it names can. There
//! a token that names a key is not accepted before a closing block: whoever is given the longer token and
//! cuts a block off has one that is open, for a key that he does not have.

use keywright_primitives::signature;

use crate::Error;
use crate::blocks::{CLOSING, DELEGATING, NARROWING};
use crate::claims::{UnixSeconds, name};
use crate::format::{End, MAX_BLOCKS, MAX_LEN, Parsed, SIGNATURE_LEN, Suite};
use crate::revoke::RevocationId;
use crate::scope::Scope;
use crate::tag::{branch, next_tag, signed_block};
use crate::tlv::ClaimSet;

/// What a block takes away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Narrowing<'a>(ClaimSet<'a>);

impl<'a> Narrowing<'a> {
    /// Nothing yet. With a MAC a block has to take something away.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Not valid from this second on, which must not be later than before.
    #[must_use]
    pub const fn until(mut self, expires: UnixSeconds) -> Self {
        self.0.expires = Some(expires);
        self
    }

    /// Valid only from this second on, which must not be earlier than before.
    #[must_use]
    pub const fn not_before(mut self, begin: UnixSeconds) -> Self {
        self.0.not_before = Some(begin);
        self
    }

    /// For this audience, which is the token's or the first that it has.
    ///
    /// # Errors
    /// [`Error::Name`] unless it is 1 to 255 visible ASCII characters.
    pub fn audience(mut self, audience: &'a str) -> Result<Self, Error> {
        self.0.audience = Some(name(audience)?);
        Ok(self)
    }

    /// For these words, all of which the token has; none takes every right away.
    #[must_use]
    pub const fn scope(mut self, scope: Scope<'a>) -> Self {
        self.0.scope = Some(scope);
        self
    }
}

/// Who can narrow a signed token further.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "somebody or nobody")]
pub enum Next<'a> {
    /// The holder of this key, who also has to close the token.
    Key(&'a signature::VerifyingKey),
    /// Nobody: the token is closed and can be used.
    Nobody,
}

/// Appends to `out` the token with one more block; `out` is as it was if this fails. The id of the branch
/// that begins here comes back: by it this token and what is made of it can be revoked.
///
/// # Errors
/// [`Error::Malformed`] if it is no token, [`Error::OtherWay`] if it is a signed one, [`Error::Widens`] if
/// the block says nothing or more than the token, [`Error::TooManyBlocks`], [`Error::TooLong`].
pub fn attenuate_into(
    token: &[u8],
    narrowing: &Narrowing<'_>,
    out: &mut Vec<u8>,
) -> Result<RevocationId, Error> {
    let parsed = Parsed::of(token)?;
    let suite = parsed.header.suite;
    if suite == Suite::Ed25519 {
        return Err(Error::OtherWay);
    }
    if narrowing.0.is_empty() {
        return Err(Error::Widens);
    }
    let length = checked_length(&parsed, narrowing, 0)?;
    let start = out.len();
    out.extend_from_slice(parsed.before_tag);
    put_block(NARROWING, length, narrowing, out);
    let block = start + parsed.before_tag.len();
    let tag = next_tag(suite, parsed.tag, out.get(block..).unwrap_or_default());
    let tag = tag.inspect_err(|_| out.truncate(start))?;
    out.extend_from_slice(&tag);
    Ok(branch(suite, &tag))
}

/// Appends to `out` the signed token with one more block, signed by the key that the token names; otherwise
/// as [`attenuate_into`]. A block may take nothing away: closing a token for oneself needs one.
///
/// # Errors
/// [`Error::Malformed`] if it is no token, [`Error::OtherWay`] if it has a MAC, [`Error::Closed`] if it
/// names no key, [`Error::KeyOther`] if it names another, [`Error::Widens`] if the block says more than the
/// token, [`Error::TooManyBlocks`], [`Error::TooLong`].
pub fn delegate_into(
    token: &[u8],
    key: &signature::SigningKey,
    narrowing: &Narrowing<'_>,
    next: Next<'_>,
    out: &mut Vec<u8>,
) -> Result<RevocationId, Error> {
    let parsed = Parsed::of(token)?;
    let suite = parsed.header.suite;
    if suite != Suite::Ed25519 {
        return Err(Error::OtherWay);
    }
    match parsed.end {
        End::Closed => return Err(Error::Closed),
        End::Open(named) if named != key.verifying_key().as_bytes() => return Err(Error::KeyOther),
        End::Open(_) => {}
    }
    let (kind, next) = match next {
        Next::Key(key) => (DELEGATING, &key.as_bytes()[..]),
        Next::Nobody => (CLOSING, &[][..]),
    };
    let length = checked_length(&parsed, narrowing, next.len() + SIGNATURE_LEN)?;
    let start = out.len();
    out.extend_from_slice(parsed.before_tag);
    put_block(kind, length, narrowing, out);
    out.extend_from_slice(next);
    let up_to = out.get(start..).unwrap_or_default();
    let signature = signed_block(parsed.tag, up_to, |message| key.sign(message));
    let Some(signature) = signature else {
        out.truncate(start);
        return Err(Error::TooLong);
    };
    out.extend_from_slice(&signature);
    out.extend_from_slice(parsed.tag);
    Ok(branch(suite, &signature))
}

/// The length of the block's body, if the token may have this block.
fn checked_length(
    parsed: &Parsed<'_>,
    narrowing: &Narrowing<'_>,
    more: usize,
) -> Result<u16, Error> {
    if parsed.count == MAX_BLOCKS {
        return Err(Error::TooManyBlocks);
    }
    let mut effective = parsed.effective().map_err(|_| Error::Widens)?;
    effective.narrow(&narrowing.0).map_err(|_| Error::Widens)?;
    let length = narrowing.0.encoded_len() + more;
    if parsed.before_tag.len() + 3 + length + parsed.tag.len() > MAX_LEN {
        return Err(Error::TooLong);
    }
    u16::try_from(length).map_err(|_| Error::TooLong)
}

fn put_block(kind: u8, length: u16, narrowing: &Narrowing<'_>, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&length.to_be_bytes());
    narrowing.0.encode_into(out);
}
