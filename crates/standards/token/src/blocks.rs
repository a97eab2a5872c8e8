//! Blocks: read one after the other, and applied to what stands before them.

use keywright_encoding::Reader;

use crate::claims::UnixSeconds;
use crate::error::Malformed;
use crate::format::{SIGNATURE_LEN, Suite};
use crate::scope::Scope;
use crate::tlv::ClaimSet;

pub(crate) const NARROWING: u8 = 1;
pub(crate) const DELEGATING: u8 = 2;
pub(crate) const CLOSING: u8 = 3;

/// Reads one block after the other.
pub(crate) struct Blocks<'t> {
    /// The token without its tag.
    whole: &'t [u8],
    rest: Reader<'t>,
    suite: Suite,
}

/// One block.
pub(crate) struct Block<'t> {
    /// From its type to its end.
    pub(crate) bytes: &'t [u8],
    /// From the token's first byte to the block's end.
    pub(crate) up_to: &'t [u8],
    pub(crate) claims: ClaimSet<'t>,
    pub(crate) next: Option<&'t [u8; 32]>,
    pub(crate) signature: Option<&'t [u8; SIGNATURE_LEN]>,
}

impl<'t> Iterator for Blocks<'t> {
    type Item = Result<Block<'t>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.read())
    }
}

impl<'t> Blocks<'t> {
    /// The blocks that stand behind a header and claims of this length, up to the tag.
    pub(crate) fn behind(base: usize, before_tag: &'t [u8], suite: Suite) -> Self {
        Self {
            whole: before_tag,
            rest: Reader::new(before_tag.get(base..).unwrap_or_default()),
            suite,
        }
    }

    fn read(&mut self) -> Result<Block<'t>, Malformed> {
        let start = self.rest.rest();
        // Whatever is wrong with a block, nothing is read behind it.
        let mut reader = std::mem::replace(&mut self.rest, Reader::new(&[]));
        let kind = reader.u8()?;
        let length = usize::from(reader.u16()?);
        let body = reader.take(length)?;
        let (claims, next, signature) = parts(self.suite, kind, body)?;
        let claims = ClaimSet::parse(claims)?;
        let says_only_what_narrows =
            claims.subject.is_none() && claims.delegate.is_none() && claims.data.is_none();
        if !says_only_what_narrows || (claims.is_empty() && kind == NARROWING) {
            return Err(Malformed);
        }
        self.rest = reader;
        let left = reader.rest().len();
        Ok(Block {
            bytes: start.get(..start.len() - left).ok_or(Malformed)?,
            up_to: self.whole.get(..self.whole.len() - left).ok_or(Malformed)?,
            claims,
            next,
            signature,
        })
    }
}

type Parts<'t> = (
    &'t [u8],
    Option<&'t [u8; 32]>,
    Option<&'t [u8; SIGNATURE_LEN]>,
);

fn parts(suite: Suite, kind: u8, body: &[u8]) -> Result<Parts<'_>, Malformed> {
    match (suite, kind) {
        (Suite::Blake3 | Suite::HmacSha256, NARROWING) => Ok((body, None, None)),
        (Suite::Ed25519, DELEGATING) => {
            let (front, signature) = body.split_last_chunk().ok_or(Malformed)?;
            let (claims, next) = front.split_last_chunk().ok_or(Malformed)?;
            Ok((claims, Some(next), Some(signature)))
        }
        (Suite::Ed25519, CLOSING) => {
            let (claims, signature) = body.split_last_chunk().ok_or(Malformed)?;
            Ok((claims, None, Some(signature)))
        }
        _ => Err(Malformed),
    }
}

/// A block says more than what stands before it.
pub(crate) struct Widens;

/// What is permitted after some blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effective<'t> {
    pub(crate) expires: UnixSeconds,
    pub(crate) not_before: Option<UnixSeconds>,
    pub(crate) audience: Option<&'t str>,
    pub(crate) scope: Scope<'t>,
}

impl<'t> Effective<'t> {
    /// Applies one more block.
    pub(crate) fn narrow(&mut self, block: &ClaimSet<'t>) -> Result<(), Widens> {
        let narrows = block.expires.is_none_or(|end| end <= self.expires)
            && block
                .not_before
                .is_none_or(|begin| Some(begin) >= self.not_before)
            && block
                .audience
                .is_none_or(|name| self.audience.is_none_or(|own| own == name))
            && block.scope.is_none_or(|scope| scope.is_within(&self.scope));
        if !narrows {
            return Err(Widens);
        }
        self.expires = block.expires.unwrap_or(self.expires);
        self.not_before = block.not_before.or(self.not_before);
        self.audience = block.audience.or(self.audience);
        self.scope = block.scope.unwrap_or(self.scope);
        Ok(())
    }
}
