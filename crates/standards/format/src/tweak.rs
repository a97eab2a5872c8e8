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

mod known;

use std::fmt;

use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::mac::Sha256Pads;
use keywright_secret::Secret;
use zeroize::Zeroizing;

use crate::error::{Error, Problem};
use crate::syntax::{Given, Term, spelled};
use known::{Known, Shared};

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

/// The key under which tweaks are derived, and those that its columns left for the next.
pub(crate) struct TweakKey {
    pads: Sha256Pads,
    shared: Shared,
}

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
        Ok(Self {
            pads: Sha256Pads::new(secret.expose()),
            shared: Shared::default(),
        })
    }

    fn derive(&self, message: &[u8]) -> [u8; DERIVED] {
        let (mut tweak, mut mac) = ([0; DERIVED], [0; 32]);
        self.pads.mac_into(&[message], &mut mac);
        for (to, from) in tweak.iter_mut().zip(mac) {
            *to = from;
        }
        tweak
    }
}

/// A policy with everything that is the same for a whole column.
#[derive(Debug)]
pub(crate) struct Derivation<'k> {
    key: &'k TweakKey,
    parts: Vec<Piece>,
    width: usize,
    /// The parts of a value that are its own, and the whole message of one that is not known.
    own: Zeroizing<Vec<u8>>,
    message: Zeroizing<Vec<u8>>,
    known: Known,
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

impl Piece {
    /// The part that is a value's own.
    fn own<'p, 'c: 'p>(
        &self,
        kept: &'p [u8],
        cell: &impl Fn(usize) -> &'c [u8],
    ) -> Option<&'p [u8]> {
        match self {
            Self::Same(_) => None,
            Self::Kept => Some(kept),
            Self::Cell(place) => Some(cell(*place)),
        }
    }
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
        // What is kept stands in every token; the cells of other columns are nobody else's to remember.
        let known = if cells == 0 {
            key.shared.take(&same(&parts))
        } else {
            Known::default()
        };
        Self {
            key,
            parts,
            width: width.min(DERIVED),
            own: Zeroizing::new(Vec::with_capacity(64)),
            message: Zeroizing::new(Vec::with_capacity(256)),
            known,
        }
    }

    /// Whether all values of the column have one tweak.
    pub(crate) fn is_constant(&self) -> bool {
        self.parts
            .iter()
            .all(|piece| matches!(piece, Piece::Same(_)))
    }

    /// Appends the tweak of one value.
    pub(crate) fn put<'p, 'c: 'p>(
        &mut self,
        kept: &'p [u8],
        cell: impl Fn(usize) -> &'c [u8],
        out: &mut Vec<u8>,
    ) {
        self.own.clear();
        for piece in &self.parts {
            if let Some(part) = piece.own(kept, &cell) {
                put_prefixed(part, &mut self.own);
            }
        }
        let tweak = match self.known.find(&self.own) {
            Some(tweak) => tweak,
            None => {
                let tweak = self.derive(kept, &cell);
                self.known.keep(&self.own, tweak);
                tweak
            }
        };
        out.extend(tweak.iter().take(self.width));
    }

    fn derive<'p, 'c: 'p>(
        &mut self,
        kept: &'p [u8],
        cell: &impl Fn(usize) -> &'c [u8],
    ) -> [u8; DERIVED] {
        self.message.clear();
        for piece in &self.parts {
            match piece {
                Piece::Same(bytes) => self.message.extend_from_slice(bytes),
                piece => {
                    let part = piece.own(kept, cell).unwrap_or_default();
                    put_prefixed(part, &mut self.message);
                }
            }
        }
        self.key.derive(&self.message)
    }
}

impl Drop for Derivation<'_> {
    fn drop(&mut self) {
        let known = std::mem::take(&mut self.known);
        if !self.parts.iter().any(|part| matches!(part, Piece::Cell(_))) {
            self.key.shared.leave(same(&self.parts), known);
        }
    }
}

/// What the messages of all values of a column have in common.
fn same(parts: &[Piece]) -> Vec<u8> {
    let same = parts.iter().filter_map(|piece| match piece {
        Piece::Same(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    same.collect::<Vec<_>>().concat()
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 4);
    put_prefixed(bytes, &mut out);
    out
}

/// Appends `lp` of a part.
pub(crate) fn put_prefixed(bytes: &[u8], out: &mut Vec<u8>) {
    // Cells of 4 GiB do not get here: FF1's longest value has 2^20 digits.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}
