//! Tokens of 64 bytes with a MAC, 112 with a signature: an end, an audience, a scope of two words.
//!
//! A token that is built has a random id from a stream that was seeded before; verification finds the key by
//! its id, looks at time and audience, and asks an empty deny set.

use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::random::RandomStream;
use keywright_token::{
    Audience, Check, Claims, DenySet, Error, IssuingKey, KeyId, Narrowing, Scope, Suite,
    UnixSeconds, VerifyingKeys, attenuate_into,
};

use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Act, Ring, answered, ring_of, rotating};

/// How tokens of an operation are authenticated.
pub(super) trait Form: Send + 'static {
    const SUITE: Suite;

    fn key(seeded: &mut Seeded) -> Result<IssuingKey, Error>;
}

macro_rules! form {
    ($name:ident, |$id:ident, $secret:ident| $key:expr) => {
        pub(super) struct $name;

        impl Form for $name {
            const SUITE: Suite = Suite::$name;

            fn key(seeded: &mut Seeded) -> Result<IssuingKey, Error> {
                let ($id, $secret) = (KeyId::new(seeded.array()), seeded.secret());
                $key
            }
        }
    };
}

form!(Blake3, |id, secret| Ok(IssuingKey::blake3(id, &secret)));
form!(HmacSha256, |id, secret| Ok(IssuingKey::hmac_sha256(
    id, &secret
)));
form!(Ed25519, |id, secret| IssuingKey::ed25519(id, &secret));

/// Bytes of a token with a MAC.
const MAC_TOKEN: usize = 64;
const NOW: u64 = 1_800_000_000;
const AUDIENCE: &str = "mail";
const WORDS: &str = "a read";

fn at(seconds: u64) -> Result<UnixSeconds, Error> {
    UnixSeconds::new(NOW + seconds)
}

fn claims(expires: UnixSeconds) -> Result<Claims<'static>, Error> {
    let claims = Claims::until(expires).audience(AUDIENCE)?;
    Ok(claims.scope(Scope::parse(WORDS)?))
}

/// A key, its verifier, and randomness for ids.
struct Issuer {
    key: IssuingKey,
    keys: VerifyingKeys,
    random: RandomStream,
}

impl Issuer {
    fn draw<F: Form>(row: &Row<'_>, seeded: &mut Seeded) -> Result<Self, TargetError> {
        let signature = match F::SUITE {
            Suite::Ed25519 => 48,
            _ => 0,
        };
        if row.bytes != MAC_TOKEN + signature {
            return Err(row.lacks("the tokens that are measured have one length"));
        }
        let key = F::key(seeded).map_err(|error| row.fails(error))?;
        let verifying = key.verifying_key().map_err(|error| row.fails(error))?;
        Ok(Self {
            key,
            keys: VerifyingKeys::of(verifying),
            random: RandomStream::new().map_err(|error| row.fails(error))?,
        })
    }

    #[inline]
    fn issue(&mut self, expires: UnixSeconds, out: &mut Vec<u8>) -> Result<[u8; 16], Error> {
        let claims = claims(expires)?;
        let id = self.key.issue_into(&claims, None, &mut self.random, out)?;
        Ok(*id.as_bytes())
    }
}

impl Act for Issuer {
    type Input = UnixSeconds;
    type Output = Vec<u8>;

    #[inline]
    fn act(&mut self, expires: &UnixSeconds, output: &mut Vec<u8>) -> Result<(), Fault> {
        output.clear();
        self.issue(*expires, output).map(drop).map_err(refused)
    }

    fn is_right(&mut self, expires: &UnixSeconds, output: &Vec<u8>) -> bool {
        let Ok(now) = at(0) else {
            return false;
        };
        let check = Check::at(now, Audience::Is(AUDIENCE));
        let verified = self.keys.verify(output, &check, &DenySet::new());
        verified.is_ok_and(|token| token.expires() == *expires && token.scope().as_str() == WORDS)
    }
}

/// One token built.
pub(super) fn build<F: Form>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let act = Issuer::draw::<F>(row, &mut seeded)?;
    let mut seconds = 1..;
    let ring = Ring::fill(ring_of(row.bytes), || {
        at(seconds.next().unwrap_or(1)).map_err(|error| row.fails(error))
    })?;
    Ok(rotating(act, ring, Vec::with_capacity(row.bytes)))
}

/// One token verified; what is kept of it is its id.
pub(super) fn verify<F: Form>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let mut issuer = Issuer::draw::<F>(row, &mut seeded)?;
    let (now, end) = (at(0), at(3600));
    let (now, end) = now
        .and_then(|now| Ok((now, end?)))
        .map_err(|error| row.fails(error))?;
    let ring = Ring::fill(ring_of(row.bytes), || {
        let mut token = Vec::new();
        let id = issuer
            .issue(end, &mut token)
            .map_err(|error| row.fails(error))?;
        Ok((token, id))
    })?;
    let (keys, denied) = (issuer.keys, DenySet::new());
    Ok(answered(ring, [0; 16], move |token: &Vec<u8>, out| {
        let check = Check::at(now, Audience::Is(AUDIENCE));
        let verified = keys.verify(token, &check, &denied).map_err(rejected)?;
        *out = *verified.id().as_bytes();
        Ok(())
    }))
}

struct Narrowed {
    keys: VerifyingKeys,
    now: UnixSeconds,
}

impl Act for Narrowed {
    type Input = Vec<u8>;
    type Output = Vec<u8>;

    #[inline]
    fn act(&mut self, token: &Vec<u8>, output: &mut Vec<u8>) -> Result<(), Fault> {
        output.clear();
        let read = Scope::parse("read").map_err(refused)?;
        let narrowing = Narrowing::new().scope(read);
        attenuate_into(token, &narrowing, output)
            .map(drop)
            .map_err(refused)
    }

    fn is_right(&mut self, _: &Vec<u8>, output: &Vec<u8>) -> bool {
        let check = Check::at(self.now, Audience::Is(AUDIENCE));
        let verified = self.keys.verify(output, &check, &DenySet::new());
        verified.is_ok_and(|token| token.scope().as_str() == "read")
    }
}

/// One word of the scope taken away by the holder of a token.
pub(super) fn attenuate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let mut issuer = Issuer::draw::<Blake3>(row, &mut seeded)?;
    let (now, end) = (at(0), at(3600));
    let (now, end) = now
        .and_then(|now| Ok((now, end?)))
        .map_err(|error| row.fails(error))?;
    let ring = Ring::fill(ring_of(row.bytes), || {
        let mut token = Vec::new();
        issuer
            .issue(end, &mut token)
            .map_err(|error| row.fails(error))?;
        Ok(token)
    })?;
    let act = Narrowed {
        keys: issuer.keys,
        now,
    };
    Ok(rotating(act, ring, Vec::new()))
}
