//! Masks: what does not come back. A mask has no key, but for the keyed hash, and no inverse.
//!
//! | mask | makes of it |
//! |---|---|
//! | `last(N)`, `first(N)`, `ends(F, L)` | letters and digits become `*`, but for so many at the ends |
//! | `truncate(N)` | the first N characters alone: of an ISO date, the year with 4 |
//! | `fixed(TEXT)` | the text |
//! | `hash` | 32 hexadecimal digits of HMAC-SHA-256: equal values in a column stay equal |
//! | `null` | nothing |
//!
//! Where a value has no more letters and digits than would stay, all of them become `*`. `last4` and
//! `first6` are other words for `last(4)` and `first(6)`.

use std::fmt;

use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::mac::MacKey;
use keywright_secret::Secret;

use crate::error::{Error, Problem};
use crate::syntax::{Given, Term, spelled};

/// What a value becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mask {
    /// So many letters and digits stay at the beginning and the end.
    Ends {
        /// At the beginning.
        first: usize,
        /// At the end.
        last: usize,
    },
    /// This text.
    Fixed(String),
    /// A keyed hash.
    Hash,
    /// Nothing.
    Null,
    /// The first characters.
    Truncate(usize),
}

impl Mask {
    /// Reads a mask.
    ///
    /// # Errors
    /// [`Error::Text`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let names = "last(N), first(N), ends(F, L), truncate(N), fixed(TEXT), hash or null";
        let unknown = |at| Error::at(at, Problem::Expected(names));
        let expression = crate::syntax::parse(text)?;
        let call = match expression.as_slice() {
            [terms] => match terms.as_slice() {
                [Term::Call(call)] if call.revision.is_none() => call,
                _ => return Err(unknown(1)),
            },
            _ => return Err(unknown(1)),
        };
        let mut given = Vec::new();
        for argument in &call.arguments {
            match (&argument.key, &argument.value) {
                (None, Given::One(text)) => given.push(text.as_str()),
                _ => return Err(unknown(argument.at)),
            }
        }
        let count = |text: &str| {
            let problem = Problem::Range { least: 0, most: 64 };
            let number = text.parse().ok().filter(|number: &usize| *number <= 64);
            number.ok_or_else(|| Error::at(call.at, problem))
        };
        let ends = |first, last| Ok(Self::Ends { first, last });
        match (call.name.as_str(), given.as_slice()) {
            ("last", [last]) => ends(0, count(last)?),
            ("first", [first]) => ends(count(first)?, 0),
            ("last4", []) => ends(0, 4),
            ("first6", []) => ends(6, 0),
            ("ends", [first, last]) => ends(count(first)?, count(last)?),
            ("truncate", [length]) => Ok(Self::Truncate(count(length)?)),
            ("fixed", [text]) => Ok(Self::Fixed((*text).to_owned())),
            ("hash", []) => Ok(Self::Hash),
            ("null", []) => Ok(Self::Null),
            _ => Err(unknown(call.at)),
        }
    }
}

/// The canonical text.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ends { first: 0, last } => write!(f, "last({last})"),
            Self::Ends { first, last: 0 } => write!(f, "first({first})"),
            Self::Ends { first, last } => write!(f, "ends({first}, {last})"),
            Self::Fixed(text) => write!(f, "fixed({})", spelled(text)),
            Self::Hash => f.write_str("hash"),
            Self::Null => f.write_str("null"),
            Self::Truncate(length) => write!(f, "truncate({length})"),
        }
    }
}

/// A mask that is ready for a column.
pub struct Masker {
    mask: Mask,
    key: Option<MacKey>,
    column: Vec<u8>,
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker")
            .field("mask", &self.mask)
            .finish_non_exhaustive()
    }
}

impl Masker {
    /// A mask without a key.
    ///
    /// # Errors
    /// [`Error::MaskKey`] for the hash.
    pub fn new(mask: Mask) -> Result<Self, Error> {
        if mask == Mask::Hash {
            return Err(Error::MaskKey);
        }
        Ok(Self {
            mask,
            key: None,
            column: Vec::new(),
        })
    }

    /// A mask with a key, for this column: HMAC-SHA-256 under HKDF-Expand-SHA-256(K, "keywright/mask/v1",
    /// 32) over `lp(column) + lp(value)`. In two columns equal values have different hashes.
    ///
    /// # Errors
    /// [`Error::Backend`].
    pub fn keyed(mask: Mask, key: &Secret<32>, column: &str) -> Result<Self, Error> {
        let mut derived: Result<(), keywright_primitives::Error> = Ok(());
        let secret = Secret::<32>::from_fill(|out| {
            derived = expand_sha256(key.expose(), &[b"keywright/mask/v1"], out);
        });
        derived?;
        Ok(Self {
            mask,
            key: Some(MacKey::new(secret.expose())),
            column: column.as_bytes().to_vec(),
        })
    }

    /// Appends what the value becomes. An empty value stays empty.
    pub fn apply(&self, value: &[u8], out: &mut Vec<u8>) {
        if value.is_empty() {
            return;
        }
        match &self.mask {
            Mask::Ends { first, last } => stars(value, (*first, *last), out),
            Mask::Fixed(text) => out.extend_from_slice(text.as_bytes()),
            Mask::Hash => self.hash(value, out),
            Mask::Null => {}
            Mask::Truncate(length) => {
                let text = String::from_utf8_lossy(value);
                let kept: String = text.chars().take(*length).collect();
                out.extend_from_slice(kept.as_bytes());
            }
        }
    }

    fn hash(&self, value: &[u8], out: &mut Vec<u8>) {
        let Some(key) = &self.key else {
            return;
        };
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
        let pieces = [
            &length(&self.column)[..],
            &self.column,
            &length(value),
            value,
        ];
        let mac = key.mac_pieces(&pieces);
        let (half, _) = mac.split_at(16);
        out.extend_from_slice(keywright_encoding::hex::encode(half).as_bytes());
    }
}

fn stars(value: &[u8], (first, last): (usize, usize), out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(value);
    let all = text.chars().filter(|c| c.is_alphanumeric()).count();
    // What is shorter than its shown parts would be shown whole.
    let shown = if all > first + last {
        (first, all - last)
    } else {
        (0, usize::MAX)
    };
    let mut place = 0;
    for character in text.chars() {
        if !character.is_alphanumeric() {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        if place < shown.0 || place >= shown.1 {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            out.push(b'*');
        }
        place += 1;
    }
}
