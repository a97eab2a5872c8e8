//! What an issuer says in a token.

use keywright_clock::WallTime;
use keywright_primitives::signature;

use crate::Error;
use crate::format::Suite;
use crate::scope::Scope;
use crate::tlv::ClaimSet;

/// Bytes of the longest audience or subject.
pub const MAX_NAME: usize = 255;
/// Bytes of the longest data.
pub const MAX_DATA: usize = 1024;

/// Whole seconds since 1970-01-01 UTC, up to the end of the year 9999, so that no sum of two overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(u64);

impl UnixSeconds {
    /// The last second of the year 9999.
    pub const MAX: Self = Self(253_402_300_799);

    /// Takes a number of seconds.
    ///
    /// # Errors
    /// [`Error::Time`] beyond [`UnixSeconds::MAX`].
    pub const fn new(seconds: u64) -> Result<Self, Error> {
        if seconds > Self::MAX.0 {
            return Err(Error::Time);
        }
        Ok(Self(seconds))
    }

    /// The number of seconds.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Fractions of a second are dropped. A wall clock ends in the year 2554.
impl From<WallTime> for UnixSeconds {
    fn from(time: WallTime) -> Self {
        Self(time.unix_seconds())
    }
}

/// What an issuer says. Every token ends; everything else may be left out, and a scope that is left out
/// permits nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims<'a>(ClaimSet<'a>);

impl<'a> Claims<'a> {
    /// The token is valid before this second.
    #[must_use]
    pub fn until(expires: UnixSeconds) -> Self {
        Self(ClaimSet {
            expires: Some(expires),
            ..ClaimSet::default()
        })
    }

    /// The token is valid from this second on.
    #[must_use]
    pub const fn not_before(mut self, begin: UnixSeconds) -> Self {
        self.0.not_before = Some(begin);
        self
    }

    /// Who is to accept it.
    ///
    /// # Errors
    /// [`Error::Name`] unless it is 1 to [`MAX_NAME`] visible ASCII characters.
    pub fn audience(mut self, audience: &'a str) -> Result<Self, Error> {
        self.0.audience = Some(name(audience)?);
        Ok(self)
    }

    /// What its holder may do.
    #[must_use]
    pub const fn scope(mut self, scope: Scope<'a>) -> Self {
        // One spelling: no word and no claim are the same.
        self.0.scope = if scope.is_empty() { None } else { Some(scope) };
        self
    }

    /// About whom the issuer says it.
    ///
    /// # Errors
    /// [`Error::Name`] unless it is 1 to [`MAX_NAME`] visible ASCII characters.
    pub fn subject(mut self, subject: &'a str) -> Result<Self, Error> {
        self.0.subject = Some(name(subject)?);
        Ok(self)
    }

    /// The key whose holder can narrow a signed token and has to close it before it is accepted.
    #[must_use]
    pub const fn delegate(mut self, key: &'a signature::VerifyingKey) -> Self {
        self.0.delegate = Some(key.as_bytes());
        self
    }

    /// Bytes that mean something to whoever verifies.
    ///
    /// # Errors
    /// [`Error::Data`] unless there are 1 to [`MAX_DATA`].
    pub fn data(mut self, bytes: &'a [u8]) -> Result<Self, Error> {
        self.0.data = Some(data(bytes)?);
        Ok(self)
    }

    /// The claims, if a token of this suite can hold them.
    pub(crate) fn for_suite(&self, suite: Suite) -> Result<&ClaimSet<'a>, Error> {
        if self.0.delegate.is_some() && suite != Suite::Ed25519 {
            return Err(Error::DelegationWithMac);
        }
        if lasts(&self.0) {
            Ok(&self.0)
        } else {
            Err(Error::Empty)
        }
    }
}

/// Whether claims begin before they end.
pub(crate) fn lasts(claims: &ClaimSet<'_>) -> bool {
    match (claims.not_before, claims.expires) {
        (Some(begin), Some(end)) => begin < end,
        (None, Some(end)) => end.number() > 0,
        (_, None) => false,
    }
}

/// An audience or subject: visible ASCII characters, so that what is compared is what is seen.
pub(crate) fn name(text: &str) -> Result<&str, Error> {
    let fits = (1..=MAX_NAME).contains(&text.len());
    if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text);
    }
    Err(Error::Name)
}

pub(crate) fn data(bytes: &[u8]) -> Result<&[u8], Error> {
    match bytes.len() {
        1..=MAX_DATA => Ok(bytes),
        _ => Err(Error::Data),
    }
}
