//! Verification, in this order: shape, key, tag, end of the chain, narrowing, time, audience, scope, deny set.
//!
//! A token is valid from its not-before, that second included, to its expiry, that second excluded. Both are
//! moved outwards by the tolerance for clocks, which is zero unless asked for and a minute at most.

use keywright_primitives::signature;
use keywright_secret::ct_eq;

use crate::blocks::Effective;
use crate::claims::UnixSeconds;
use crate::error::{Error, Reason, Rejected};
use crate::format::{End, Header, KeyId, MAX_BLOCKS, Parsed, SIGNATURE_LEN, Suite};
use crate::key::{Binder, Verifying, VerifyingKeys};
use crate::revoke::{LONGEST_SKEW, RevocationId, Revocations};
use crate::scope::Scope;
use crate::tag::{MacBase, branch, next_tag, signed_base, signed_block};

/// Seconds by which the clocks of issuer and verifier may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skew(u64);

impl Skew {
    /// Both clocks are the same.
    pub const NONE: Self = Self(0);

    /// So many seconds.
    ///
    /// # Errors
    /// [`Error::Skew`] beyond 60.
    pub const fn seconds(seconds: u64) -> Result<Self, Error> {
        if seconds > LONGEST_SKEW {
            return Err(Error::Skew);
        }
        Ok(Self(seconds))
    }
}

/// Who the verifier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever verifies has a name or says that it does not matter"
)]
pub enum Audience<'a> {
    /// Whoever the token is for. For tools that look at other people's tokens.
    Any,
    /// This name, which the token has to have.
    Is(&'a str),
}

/// The session in which the token was presented.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever verifies has a session or none, and insists on it or does not"
)]
pub enum Channel<'a> {
    /// None: a token that is bound to one is not accepted.
    Unbound,
    /// This one, for tokens that are bound; others are accepted too.
    Offered(&'a Binder),
    /// This one, and the token has to be bound to it.
    Required(&'a Binder),
}

/// What a verifier wants of a token.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    now: UnixSeconds,
    audience: Audience<'a>,
    skew: Skew,
    channel: Channel<'a>,
    wanted: Scope<'a>,
}

impl<'a> Check<'a> {
    /// At this time, for this audience, without tolerance, session or wanted scope.
    #[must_use]
    pub const fn at(now: UnixSeconds, audience: Audience<'a>) -> Self {
        Self {
            now,
            audience,
            skew: Skew::NONE,
            channel: Channel::Unbound,
            wanted: Scope::EMPTY,
        }
    }

    /// With a tolerance for clocks.
    #[must_use]
    pub const fn skew(mut self, skew: Skew) -> Self {
        self.skew = skew;
        self
    }

    /// In a session.
    #[must_use]
    pub const fn channel(mut self, channel: Channel<'a>) -> Self {
        self.channel = channel;
        self
    }

    /// With all words of this scope.
    #[must_use]
    pub const fn wanting(mut self, scope: Scope<'a>) -> Self {
        self.wanted = scope;
        self
    }

    fn binder(&self, token: &Header) -> Result<Option<&'a Binder>, Reason> {
        match (self.channel, token.bound) {
            (Channel::Unbound | Channel::Offered(_), false) => Ok(None),
            (Channel::Offered(binder) | Channel::Required(binder), true) => Ok(Some(binder)),
            (Channel::Unbound, true) | (Channel::Required(_), false) => Err(Reason::Binding),
        }
    }

    fn judge(&self, token: &Effective<'_>) -> Result<(), Reason> {
        let (now, skew) = (self.now.number(), self.skew.0);
        // A sum that overflows would be far away; absence of an answer is a no.
        let end = token.expires.number().checked_add(skew);
        if end.is_none_or(|end| now >= end) {
            return Err(Reason::Expired);
        }
        let latest_begin = now.checked_add(skew).ok_or(Reason::NotYetValid)?;
        if token
            .not_before
            .is_some_and(|begin| begin.number() > latest_begin)
        {
            return Err(Reason::NotYetValid);
        }
        if matches!(self.audience, Audience::Is(name) if token.audience != Some(name)) {
            return Err(Reason::Audience);
        }
        if !self.wanted.is_within(&token.scope) {
            return Err(Reason::Scope);
        }
        Ok(())
    }
}

impl VerifyingKeys {
    /// Verifies a token, and gives back what it permits.
    ///
    /// # Errors
    /// [`Rejected`] in every case, with a reason that is for the audit record only.
    pub fn verify<'t>(
        &self,
        token: &'t [u8],
        check: &Check<'_>,
        revocations: &(impl Revocations + ?Sized),
    ) -> Result<Verified<'t>, Rejected> {
        let parsed = Parsed::of(token)?;
        let key = self.find(parsed.header.key).ok_or(Reason::KeyUnknown)?;
        if key.suite() != parsed.header.suite {
            return Err(Reason::Suite.into());
        }
        let binder = check.binder(&parsed.header)?;
        let branches = match &key.kind {
            Verifying::Mac(key) => verify_macs(&parsed, key, binder)?,
            Verifying::Ed25519(key) => verify_signatures(&parsed, key, binder)?,
        };
        let effective = parsed.effective().map_err(|_| Reason::Widened)?;
        check.judge(&effective)?;
        let verified = Verified {
            parsed,
            effective,
            branches,
        };
        if verified
            .revocation_ids()
            .any(|id| revocations.is_revoked(&id))
        {
            return Err(Reason::Revoked.into());
        }
        Ok(verified)
    }
}

/// Ids of the branches that begin with the blocks of a token, as many as it has blocks.
type Branches = [RevocationId; MAX_BLOCKS];

fn verify_macs(
    parsed: &Parsed<'_>,
    key: &MacBase,
    binder: Option<&Binder>,
) -> Result<Branches, Reason> {
    let mut branches = Branches::default();
    let mut tag = key.tag(parsed.base, binder);
    for (block, id) in parsed.blocks().zip(&mut branches) {
        let block = block.map_err(|_| Reason::Malformed)?;
        tag = next_tag(parsed.header.suite, &tag, block.bytes).map_err(|_| Reason::Tag)?;
        *id = branch(parsed.header.suite, &tag);
    }
    if ct_eq(&tag, parsed.tag) {
        Ok(branches)
    } else {
        Err(Reason::Tag)
    }
}

fn verify_signatures(
    parsed: &Parsed<'_>,
    key: &signature::VerifyingKey,
    binder: Option<&Binder>,
) -> Result<Branches, Reason> {
    let first = parsed.tag.try_into().map_err(|_| Reason::Malformed)?;
    let verified = signed_base(parsed.base, binder, |message| key.verify(message, first));
    verified.and_then(Result::ok).ok_or(Reason::Tag)?;
    let mut branches = Branches::default();
    let mut named = parsed.claims.delegate;
    for (block, id) in parsed.blocks().zip(&mut branches) {
        let block = block.map_err(|_| Reason::Malformed)?;
        let (key, signature) = named.zip(block.signature).ok_or(Reason::Malformed)?;
        let key = signature::VerifyingKey::from_bytes(*key);
        let (up_to, _) = block
            .up_to
            .split_last_chunk::<SIGNATURE_LEN>()
            .ok_or(Reason::Malformed)?;
        let verified = signed_block(parsed.tag, up_to, |message| key.verify(message, signature));
        verified.and_then(Result::ok).ok_or(Reason::Tag)?;
        *id = branch(parsed.header.suite, signature);
        named = block.next;
    }
    match parsed.end {
        End::Closed => Ok(branches),
        End::Open(_) => Err(Reason::NotClosed),
    }
}

/// A token that was verified, and what it permits after all its blocks.
#[must_use]
pub struct Verified<'t> {
    parsed: Parsed<'t>,
    effective: Effective<'t>,
    branches: Branches,
}

impl<'t> Verified<'t> {
    /// The token's own id.
    #[must_use]
    pub const fn id(&self) -> RevocationId {
        self.parsed.header.id
    }

    /// By these it can be revoked: its own id, then that of the branch of each block.
    pub fn revocation_ids(&self) -> impl Iterator<Item = RevocationId> + '_ {
        let branches = self.branches.iter().take(self.parsed.count);
        std::iter::once(self.id()).chain(branches.copied())
    }

    /// How it is authenticated.
    #[must_use]
    pub const fn suite(&self) -> Suite {
        self.parsed.header.suite
    }

    /// The key that verified it.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.parsed.header.key
    }

    /// Whether it is bound to a session, which was this one.
    #[must_use]
    pub const fn is_bound(&self) -> bool {
        self.parsed.header.bound
    }

    /// When it ends.
    #[must_use]
    pub const fn expires(&self) -> UnixSeconds {
        self.effective.expires
    }

    /// When it begins, if that is said.
    #[must_use]
    pub const fn not_before(&self) -> Option<UnixSeconds> {
        self.effective.not_before
    }

    /// Who it is for, if that is said.
    #[must_use]
    pub const fn audience(&self) -> Option<&'t str> {
        self.effective.audience
    }

    /// What it permits.
    #[must_use]
    pub const fn scope(&self) -> Scope<'t> {
        self.effective.scope
    }

    /// About whom the issuer says it.
    #[must_use]
    pub const fn subject(&self) -> Option<&'t str> {
        self.parsed.claims.subject
    }

    /// The issuer's data.
    #[must_use]
    pub const fn data(&self) -> Option<&'t [u8]> {
        self.parsed.claims.data
    }
}

impl std::fmt::Debug for Verified<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verified")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}
