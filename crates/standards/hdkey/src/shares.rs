//! A seed in parts, of which so many bring it back and fewer say nothing about it (Shamir, 1979).
//!
//! Every byte of what is kept together is the value at 0 of a polynomial over a field of 256 elements, whose other
//! coefficients are random; share `x` holds the values at `x`. What is kept together:
//!
//! ```text
//! version u8 = 1 | seed scheme u8 | seed, 16 to 64 bytes | salt 32 | tag 16
//! ```
//!
//! The seed's name comes back with it. The tag is the beginning of HMAC-SHA-256 under the salt over
//! `"keywright/seed-share/v1" + set 16 + needed u8 + count u8` and what stands before the salt, so shares that do
//! not belong together are noticed, and where more are given than are needed, those that do not fit are named.
//! Salt and tag are shared like the seed: fewer shares than needed do not even allow a guess to be tested.
//!
//! No branch and no place in memory depends on a secret; numbers of shares are public.
//!
//! Not here: SLIP-0039, whose words and groups other wallets read. These shares are read by this crate.

mod field;
mod text;

use std::fmt;

use keywright_primitives::mac::MacKey;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes, ct_eq};

use crate::Error;
use crate::scheme::SeedScheme;
use crate::seed::Seed;

const VERSION: u8 = 1;
const LABEL: &[u8] = b"keywright/seed-share/v1";
const SALT_LEN: usize = 32;
const TAG_LEN: usize = 16;

/// Bytes before the seed, and all bytes that are not the seed.
const FRONT: usize = 2;
const AROUND: usize = FRONT + SALT_LEN + TAG_LEN;

/// Bytes in the shortest and the longest share.
const SHORTEST: usize = AROUND + 16;
const LONGEST: usize = AROUND + 64;

/// Most shares of a seed.
pub const MAX_SHARES: u8 = 16;

/// How many shares there are, and how many of them are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    needed: u8,
    count: u8,
}

/// One part of a seed. Wiped on drop.
pub struct Share {
    set: [u8; 16],
    number: u8,
    plan: Plan,
    data: SecretBytes,
}

/// Numbers of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers(u16);

/// Why shares make no seed. No variant holds a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The caller's: so many shares cannot be made.
    #[error(
        "a seed is split into 2 to 16 shares, of which 2 or more are needed and not more than there are"
    )]
    Plan,
    /// The data's: a text that is no share, so that its number cannot be said.
    #[error("the text is no share of a seed")]
    NotAShare,
    /// The data's: a digit was changed.
    #[error("share {number} was changed: its check digits do not fit")]
    Damaged {
        /// The share.
        number: u8,
    },
    /// The data's: a share of another splitting.
    #[error("share {number} belongs to another set than the first one")]
    OtherSet {
        /// The share.
        number: u8,
    },
    /// The caller's: the same share twice.
    #[error("share {number} was given twice")]
    Repeated {
        /// The share.
        number: u8,
    },
    /// The caller's: too few.
    #[error("{needed} shares are needed, and {given} given")]
    TooFew {
        /// How many are needed.
        needed: u8,
        /// How many were given.
        given: u8,
    },
    /// The data's: these are not what was handed out; the others would do.
    #[error("share {numbers} does not fit the others")]
    Unfit {
        /// The shares.
        numbers: Numbers,
    },
    /// The data's: one or more of them are not what was handed out, and which cannot be told.
    #[error("the shares make no seed: at least one of them is not what was handed out")]
    NoSeed,
}

impl Plan {
    /// `needed` of `count` shares bring the seed back.
    ///
    /// # Errors
    /// [`ShareError::Plan`] unless `2 <= needed <= count <= 16`.
    pub const fn new(needed: u8, count: u8) -> Result<Self, ShareError> {
        match 2 <= needed && needed <= count && count <= MAX_SHARES {
            true => Ok(Self { needed, count }),
            false => Err(ShareError::Plan),
        }
    }

    /// How many are needed.
    #[must_use]
    pub const fn needed(self) -> u8 {
        self.needed
    }

    /// How many there are.
    #[must_use]
    pub const fn count(self) -> u8 {
        self.count
    }
}

impl Share {
    /// Which share of its set: 1 to 16.
    #[must_use]
    pub const fn number(&self) -> u8 {
        self.number
    }

    /// How many there are and how many are needed.
    #[must_use]
    pub const fn plan(&self) -> Plan {
        self.plan
    }

    /// What the shares of one splitting have in common: 16 random bytes.
    #[must_use]
    pub const fn set(&self) -> &[u8; 16] {
        &self.set
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share({} of {})", self.number, self.plan.count)
    }
}

impl Numbers {
    /// In ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (1..=MAX_SHARES).filter(move |number| self.0 >> (number - 1) & 1 == 1)
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.iter().map(|number| number.to_string()).collect();
        f.write_str(&numbers.join(", "))
    }
}

/// Splits a seed.
///
/// # Errors
/// [`Error::Backend`] if there is no randomness.
pub fn split(seed: &Seed, plan: Plan, random: &mut RandomStream) -> Result<Vec<Share>, Error> {
    let set = random.array()?;
    split_with(seed, plan, set, |bytes| Ok(random.fill(bytes)?))
}

/// As [`split`], with the name of the set and the random bytes of the caller's: first the salt, then the
/// coefficients of x, of its square, and so on, one for each byte. For test vectors.
///
/// # Errors
/// Those of `fill`.
#[doc(hidden)]
pub fn split_with(
    seed: &Seed,
    plan: Plan,
    set: [u8; 16],
    mut fill: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<Vec<Share>, Error> {
    let salt = Secret::<SALT_LEN>::try_from_fill(|bytes| fill(bytes))?;
    let secret = together(seed, &set, plan, &salt);
    let mut coefficients = vec![secret];
    for _ in 1..plan.needed {
        let mut next = SecretBytes::zeroed(coefficients[0].len());
        fill(next.expose_mut())?;
        coefficients.push(next);
    }
    let share = |number| {
        let mut data = SecretBytes::zeroed(coefficients[0].len());
        // Horner's rule, from the highest power.
        for coefficient in coefficients.iter().rev() {
            for (sum, byte) in data.expose_mut().iter_mut().zip(coefficient.expose()) {
                *sum = field::product(*sum, number) ^ byte;
            }
        }
        Share {
            set,
            number,
            plan,
            data,
        }
    };
    Ok((1..=plan.count).map(share).collect())
}

/// Brings a seed back. The order of the shares does not matter.
///
/// # Errors
/// [`ShareError::OtherSet`], [`ShareError::Repeated`] or [`ShareError::Unfit`] with the shares' numbers,
/// [`ShareError::TooFew`], or [`ShareError::NoSeed`] where it cannot be told which share is wrong: that takes
/// one more than are needed.
pub fn combine(shares: &[Share]) -> Result<Seed, ShareError> {
    let all = belonging(shares)?;
    let needed = usize::from(all[0].plan.needed);
    let first = recovered(&all[..needed]);
    if let Some(seed) = first
        && unfit(&all[..needed], &all).is_none()
    {
        return Ok(seed);
    }
    // At most 12,870 ways to leave some out.
    for chosen in 0..1_u32 << all.len() {
        if chosen.count_ones() != u32::from(all[0].plan.needed) {
            continue;
        }
        let some: Vec<&Share> = all
            .iter()
            .enumerate()
            .filter(|(place, _)| chosen >> place & 1 == 1)
            .map(|(_, share)| *share)
            .collect();
        if recovered(&some).is_some()
            && let Some(numbers) = unfit(&some, &all)
        {
            return Err(ShareError::Unfit { numbers });
        }
    }
    Err(ShareError::NoSeed)
}

/// The shares, if they are of one set, each is there once, and there are enough.
fn belonging(shares: &[Share]) -> Result<Vec<&Share>, ShareError> {
    let Some(first) = shares.first() else {
        return Err(ShareError::TooFew {
            needed: 2,
            given: 0,
        });
    };
    let mut seen = 0_u32;
    for share in shares {
        let number = share.number;
        let same = share.set == first.set
            && share.plan == first.plan
            && share.data.len() == first.data.len();
        if !same {
            return Err(ShareError::OtherSet { number });
        }
        if seen >> number & 1 == 1 {
            return Err(ShareError::Repeated { number });
        }
        seen |= 1 << number;
    }
    // No number is above 16 and none is there twice.
    let given = u8::try_from(shares.len()).unwrap_or(u8::MAX);
    let needed = first.plan.needed;
    match given < needed {
        true => Err(ShareError::TooFew { needed, given }),
        false => Ok(shares.iter().collect()),
    }
}

/// Those of `all` that do not lie on the polynomials through `some`.
fn unfit(some: &[&Share], all: &[&Share]) -> Option<Numbers> {
    let numbers = all
        .iter()
        .filter(|share| !ct_eq(at(some, share.number).expose(), share.data.expose()))
        .fold(0, |numbers, share| numbers | 1 << (share.number - 1));
    (numbers != 0).then_some(Numbers(numbers))
}

/// The values at `x` of the polynomials through these shares (Lagrange).
fn at(shares: &[&Share], x: u8) -> SecretBytes {
    let mut sum = SecretBytes::zeroed(shares.first().map_or(0, |share| share.data.len()));
    for share in shares {
        let others = shares.iter().filter(|other| other.number != share.number);
        let factor = others.fold(1, |factor, other| {
            let part = field::product(
                x ^ other.number,
                field::inverse(share.number ^ other.number),
            );
            field::product(factor, part)
        });
        for (sum, byte) in sum.expose_mut().iter_mut().zip(share.data.expose()) {
            *sum ^= field::product(*byte, factor);
        }
    }
    sum
}

// === What is kept together ===

fn together(seed: &Seed, set: &[u8; 16], plan: Plan, salt: &Secret<SALT_LEN>) -> SecretBytes {
    let length = seed.expose().len();
    let mut bytes = SecretBytes::zeroed(AROUND + length);
    let (front, rest) = bytes.expose_mut().split_at_mut(FRONT);
    front.copy_from_slice(&[VERSION, number_of(seed.scheme())]);
    let (body, rest) = rest.split_at_mut(length);
    body.copy_from_slice(seed.expose());
    let (own, tag) = rest.split_at_mut(SALT_LEN);
    own.copy_from_slice(salt.expose());
    tag.copy_from_slice(&tag_of(salt, set, plan, &[front, body]));
    bytes
}

fn tag_of(salt: &Secret<32>, set: &[u8; 16], plan: Plan, content: &[&[u8]; 2]) -> [u8; TAG_LEN] {
    let numbers = [plan.needed, plan.count];
    let mac =
        MacKey::new(salt.expose()).mac_pieces(&[LABEL, set, &numbers, content[0], content[1]]);
    let mut tag = [0; TAG_LEN];
    tag.copy_from_slice(&mac[..TAG_LEN]);
    tag
}

/// The seed, if these shares make one.
fn recovered(shares: &[&Share]) -> Option<Seed> {
    let first = shares.first()?;
    let bytes = at(shares, 0);
    let (content, rest) = bytes
        .expose()
        .split_at_checked(first.data.len() - SALT_LEN - TAG_LEN)?;
    let (salt, tag) = rest.split_at_checked(SALT_LEN)?;
    let salt = Secret::copy_from(salt)?;
    let (front, seed) = content.split_at_checked(FRONT)?;
    if !ct_eq(&tag_of(&salt, &first.set, first.plan, &[front, seed]), tag) {
        return None;
    }
    let [VERSION, scheme] = front else {
        return None;
    };
    Seed::restore(seed, of_number(*scheme)?).ok()
}

const fn number_of(scheme: SeedScheme) -> u8 {
    match scheme {
        SeedScheme::Apollo => 1,
        SeedScheme::Bip39 => 2,
        SeedScheme::Raw => 3,
        SeedScheme::Node => 0,
    }
}

fn of_number(number: u8) -> Option<SeedScheme> {
    SeedScheme::ALL
        .into_iter()
        .find(|scheme| number != 0 && number_of(*scheme) == number)
}
