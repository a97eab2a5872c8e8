//! What a tweak is made of.
//!
//! ```text
//! tweak key = HKDF-Expand-SHA-256(K, "keywright/tweak/v1", 32)
//! tweak     = the first 8 bytes (FF1, FF3; 7 for FF3-1) of
//!             HMAC-SHA-256(tweak key, lp(policy) + lp(part) for each part in order)
//! ```
//!
//! The policy's canonical text names the parts in order, so that no part can pass for another. The parts:
//! the column's name; a constant; what the value keeps (`lp` of each kept part, itself one part); the cell
//! of another column of the row. `caller` passes the caller's bytes as they are, `none` is the empty tweak.
//!
//! What a value keeps is always a part, except under `caller` and `none`.

use std::fmt;

use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::mac::Sha256Pads;
use keywright_secret::{Secret, wipe};
use zeroize::Zeroizing;

use crate::error::{Error, Problem};
use crate::syntax::{Given, Term, spelled};

/// A part of a tweak.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TweakPart {
    /// The name of the column that is protected.
    Column,
    /// A label.
    Constant(String),
    /// What the value keeps.
    Kept,
    /// The cell of another column. It must not change later.
    Other(String),
    /// The cell of the column that identifies the row. Equal values become different ones.
    Row(String),
}

/// Which tweak a value has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TweakPolicy {
    /// The bytes that the caller gives, as they are.
    Caller,
    /// The empty tweak.
    None,
    /// These parts.
    Parts(Vec<TweakPart>),
}

impl TweakPolicy {
    /// Reads parts with space between them: `column`, `kept`, `constant(LABEL)`, `other(COLUMN)`,
    /// `row(COLUMN)`; or `none` or `caller` alone.
    ///
    /// # Errors
    /// [`Error::Text`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let expression = crate::syntax::parse(text)?;
        let [terms] = expression.as_slice() else {
            return Err(Error::at(1, Problem::Expected("no |")));
        };
        let mut parts = Vec::with_capacity(terms.len());
        for term in terms {
            let (part, at) = part(term)?;
            let Some(part) = part else {
                if terms.len() > 1 {
                    return Err(Error::at(at, Problem::Expected("none or caller alone")));
                }
                let name = matches!(term, Term::Call(call) if call.name == "none");
                return Ok(if name { Self::None } else { Self::Caller });
            };
            if parts.contains(&part) {
                return Err(Error::at(at, Problem::Duplicate));
            }
            parts.push(part);
        }
        Ok(Self::Parts(parts))
    }

    /// The columns whose cells the tweak needs, in order.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let Self::Parts(parts) = self else {
            return Vec::new();
        };
        let named = parts.iter().filter_map(|part| match part {
            TweakPart::Other(name) | TweakPart::Row(name) => Some(name.as_str()),
            _ => None,
        });
        named.collect()
    }

    /// With what values keep.
    #[must_use]
    pub(crate) fn with_kept(mut self) -> Self {
        if let Self::Parts(parts) = &mut self
            && !parts.contains(&TweakPart::Kept)
        {
            parts.push(TweakPart::Kept);
        }
        self
    }
}

/// The column's name.
impl Default for TweakPolicy {
    fn default() -> Self {
        Self::Parts(vec![TweakPart::Column])
    }
}

/// The part, or nothing for `none` and `caller`.
fn part(term: &Term) -> Result<(Option<TweakPart>, usize), Error> {
    let names = "none, caller, column, kept, constant(LABEL), other(COLUMN) or row(COLUMN)";
    let call = match term {
        Term::Call(call) if call.revision.is_none() => call,
        Term::Call(call) => return Err(Error::at(call.at, Problem::Expected(names))),
        Term::Literal { at, .. } => return Err(Error::at(*at, Problem::Expected(names))),
    };
    let problem = Error::at(call.at, Problem::Expected(names));
    let argument = match call.arguments.as_slice() {
        [] => None,
        [argument] if argument.key.is_none() => match &argument.value {
            Given::One(text) if !text.is_empty() => Some(text.clone()),
            _ => return Err(problem),
        },
        _ => return Err(problem),
    };
    let part = match (call.name.as_str(), argument) {
        ("none" | "caller", None) => None,
        ("column", None) => Some(TweakPart::Column),
        ("kept", None) => Some(TweakPart::Kept),
        ("constant", Some(text)) => Some(TweakPart::Constant(text)),
        ("other", Some(text)) => Some(TweakPart::Other(text)),
        ("row", Some(text)) => Some(TweakPart::Row(text)),
        _ => return Err(problem),
    };
    Ok((part, call.at))
}

/// The canonical text.
impl fmt::Display for TweakPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = match self {
            Self::Caller => return f.write_str("caller"),
            Self::None => return f.write_str("none"),
            Self::Parts(parts) => parts,
        };
        for (place, part) in parts.iter().enumerate() {
            if place > 0 {
                f.write_str(" ")?;
            }
            match part {
                TweakPart::Column => f.write_str("column")?,
                TweakPart::Constant(text) => write!(f, "constant({})", spelled(text))?,
                TweakPart::Kept => f.write_str("kept")?,
                TweakPart::Other(name) => write!(f, "other({})", spelled(name))?,
                TweakPart::Row(name) => write!(f, "row({})", spelled(name))?,
            }
        }
        Ok(())
    }
}

/// Bytes of the longest derived tweak.
pub(crate) const DERIVED: usize = 8;

/// The key under which tweaks are derived.
pub(crate) struct TweakKey(Sha256Pads);

impl fmt::Debug for TweakKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TweakKey")
    }
}

impl TweakKey {
    pub(crate) fn new(key: &[u8; 32]) -> Result<Self, Error> {
        let mut derived: Result<(), keywright_primitives::Error> = Ok(());
        let secret = Secret::<32>::from_fill(|out| {
            derived = expand_sha256(key, &[b"keywright/tweak/v1"], out);
        });
        derived?;
        Ok(Self(Sha256Pads::new(secret.expose())))
    }
}

/// A policy with everything that is the same for a whole column.
#[derive(Debug)]
pub(crate) struct Derivation<'k> {
    key: &'k TweakKey,
    parts: Vec<Piece>,
    width: usize,
    message: Zeroizing<Vec<u8>>,
    cache: Cache,
}

/// A piece of the HMAC's message.
#[derive(Debug)]
enum Piece {
    /// The same for all.
    Same(Vec<u8>),
    Kept,
    /// The cell of so manieth column.
    Cell(usize),
}

impl<'k> Derivation<'k> {
    pub(crate) fn new(
        key: &'k TweakKey,
        policy: &TweakPolicy,
        column: &[u8],
        width: usize,
    ) -> Self {
        let mut parts = vec![Piece::Same(prefixed(policy.to_string().as_bytes()))];
        let mut cells = 0;
        if let TweakPolicy::Parts(named) = policy {
            for part in named {
                parts.push(match part {
                    TweakPart::Column => Piece::Same(prefixed(column)),
                    TweakPart::Constant(text) => Piece::Same(prefixed(text.as_bytes())),
                    TweakPart::Kept => Piece::Kept,
                    TweakPart::Other(_) | TweakPart::Row(_) => {
                        cells += 1;
                        Piece::Cell(cells - 1)
                    }
                });
            }
        }
        Self {
            key,
            parts,
            width: width.min(DERIVED),
            message: Zeroizing::new(Vec::with_capacity(256)),
            cache: Cache::default(),
        }
    }

    /// Whether all values of the column have one tweak.
    pub(crate) fn is_constant(&self) -> bool {
        self.parts
            .iter()
            .all(|piece| matches!(piece, Piece::Same(_)))
    }

    /// Appends the tweak of one value.
    pub(crate) fn put<'c>(
        &mut self,
        kept: &[u8],
        cell: impl Fn(usize) -> &'c [u8],
        out: &mut Vec<u8>,
    ) {
        self.message.clear();
        for piece in &self.parts {
            let part = match piece {
                Piece::Same(bytes) => {
                    self.message.extend_from_slice(bytes);
                    continue;
                }
                Piece::Kept => kept,
                Piece::Cell(place) => cell(*place),
            };
            put_prefixed(part, &mut self.message);
        }
        let tweak = self.cache.find(&self.message).unwrap_or_else(|| {
            let (mut tweak, mut mac) = ([0; DERIVED], [0; 32]);
            self.key.0.mac_into(&[&self.message], &mut mac);
            for (to, from) in tweak.iter_mut().zip(mac) {
                *to = from;
            }
            self.cache.keep(&self.message, tweak);
            tweak
        });
        out.extend(tweak.iter().take(self.width));
    }
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 4);
    put_prefixed(bytes, &mut out);
    out
}

fn put_prefixed(bytes: &[u8], out: &mut Vec<u8>) {
    // Cells of 4 GiB do not get here: FF1's longest value has 2^20 digits.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Tweaks of messages that came before: a column has few different kept parts, and HMAC costs many times
/// FF1. One place for each hash; a message too long for it is computed each time.
///
/// It starts with few places and has more as they fill, so that a call for one value makes and wipes next to
/// nothing; and only while messages come again, so that a column in which none does pays for few.
#[derive(Default)]
struct Cache {
    entries: Vec<Entry>,
    /// Messages that came since it has so many places, or was full last.
    kept: usize,
    /// Those that were found since.
    found: usize,
}

/// Without its content, which is of values.
impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("places", &self.entries.len())
            .finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct Entry {
    length: usize,
    message: [u8; Self::ROOM],
    tweak: [u8; DERIVED],
}

impl Entry {
    const EMPTY: Self = Self {
        length: 0,
        message: [0; Self::ROOM],
        tweak: [0; DERIVED],
    };
    const ROOM: usize = 112;

    fn message(&self) -> &[u8] {
        self.message.get(..self.length).unwrap_or_default()
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.length > 0 {
            wipe(&mut self.message);
            wipe(&mut self.tweak);
        }
    }
}

impl Cache {
    /// Powers of two, as is the quotient.
    const FEWEST: usize = 8;
    const GROWTH: usize = 8;
    const MOST: usize = 4_096;
    /// From so many places on there are more only if one message in [`Self::USEFUL`] was found.
    const DOUBTFUL: usize = 64;
    const USEFUL: usize = 64;

    /// The place of a message among so many, a power of two up to [`Self::MOST`].
    fn place(message: &[u8], places: usize) -> usize {
        // Multiply and rotate, eight bytes at a time: it spreads, nobody relies on more.
        let (words, rest) = message.as_chunks::<8>();
        let mix = |hash: u64, word: u64| {
            (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let hash = words
            .iter()
            .fold(1, |hash, word| mix(hash, u64::from_le_bytes(*word)));
        let hash = rest
            .iter()
            .fold(hash, |hash, byte| mix(hash, (*byte).into()));
        usize::try_from(hash >> 52).unwrap_or_default() & places.saturating_sub(1)
    }

    fn find(&mut self, message: &[u8]) -> Option<[u8; DERIVED]> {
        let entry = self.entries.get(Self::place(message, self.entries.len()))?;
        let found = (entry.message() == message).then_some(entry.tweak);
        self.found += usize::from(found.is_some());
        found
    }

    fn keep(&mut self, message: &[u8], tweak: [u8; DERIVED]) {
        if message.len() > Entry::ROOM || message.is_empty() {
            return;
        }
        let places = self.entries.len();
        if self.kept >= places && places < Self::MOST {
            if places < Self::DOUBTFUL || self.found * Self::USEFUL >= self.kept {
                self.grow((places * Self::GROWTH).clamp(Self::FEWEST, Self::MOST));
            }
            (self.kept, self.found) = (0, 0);
        }
        self.kept += 1;
        self.put(message, tweak);
    }

    fn put(&mut self, message: &[u8], tweak: [u8; DERIVED]) {
        let place = Self::place(message, self.entries.len());
        if let Some(entry) = self.entries.get_mut(place) {
            entry.length = message.len();
            entry.tweak = tweak;
            for (to, from) in entry.message.iter_mut().zip(message) {
                *to = *from;
            }
        }
    }

    fn grow(&mut self, places: usize) {
        let before = std::mem::replace(&mut self.entries, vec![Entry::EMPTY; places]);
        for entry in before.iter().filter(|entry| entry.length > 0) {
            self.put(entry.message(), entry.tweak);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u32) -> Vec<u8> {
        format!("message {number}").into_bytes()
    }

    fn tweak(number: u32) -> [u8; DERIVED] {
        u64::from(number).to_be_bytes()
    }

    #[test]
    fn what_is_found_is_what_was_kept_while_the_cache_grows() {
        let mut cache = Cache::default();
        assert_eq!(cache.find(&message(0)), None);
        for number in 0..20_000 {
            cache.keep(&message(number), tweak(number));
            assert_eq!(cache.find(&message(number)), Some(tweak(number)));
            for before in [0, number / 2] {
                let found = cache.find(&message(before));
                assert!(found.is_none_or(|found| found == tweak(before)), "{before}");
            }
        }
        assert_eq!(cache.entries.len(), Cache::MOST);
    }

    #[test]
    fn a_cache_in_which_nothing_is_found_stays_small() {
        let mut cache = Cache::default();
        for number in 0..20_000 {
            assert_eq!(cache.find(&message(number)), None);
            cache.keep(&message(number), tweak(number));
        }
        assert_eq!(cache.entries.len(), Cache::DOUBTFUL);
        // Once messages come again, it grows.
        let mut draw = 1_u32;
        for _ in 0..20_000 {
            draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = (draw >> 8) % 500;
            if cache.find(&message(number)).is_none() {
                cache.keep(&message(number), tweak(number));
            }
        }
        assert_eq!(cache.entries.len(), Cache::MOST);
    }

    #[test]
    fn one_value_has_few_places_and_no_use_of_long_or_empty_messages() {
        let mut cache = Cache::default();
        cache.keep(&[], tweak(1));
        cache.keep(&[7; Entry::ROOM + 1], tweak(1));
        assert!(cache.entries.is_empty());
        cache.keep(&message(1), tweak(1));
        assert_eq!(cache.entries.len(), Cache::FEWEST);
        let told = format!("{cache:?}");
        assert_eq!(told, "Cache { places: 8, .. }");
    }
}
