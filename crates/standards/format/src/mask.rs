//! Masks: what does not come back. A mask has no key, but for the keyed hash, and no inverse.
//!
//! | mask | makes of it |
//! |---|---|
//! | `last(N)`, `first(N)`, `ends(F, L)` | `*` of every character, but so many letters and digits at the ends, and separators |
//! | `truncate(N)` | the first N characters alone: of an ISO date, the year with 4 |
//! | `fixed(TEXT)` | the text |
//! | `hash` | 32 hexadecimal digits of HMAC-SHA-256: equal values in a column stay equal |
//! | `null` | nothing |
//!
//! Where a value has no more letters and digits than would stay, all of them become `*`. `last4` and
//! `first6` are other words for `last(4)` and `first(6)`. A separator is a space or one of `-./:` between two letters
//! or digits.
//!
//! Revision 1 of the masks of ends leaves every character that is no letter and no digit, so a password of symbols stays
//! whole. What was recorded without a revision means that one for ever; [`Mask::parse`] reads it as the newest.

use std::fmt;
use std::ops::Range;

use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::mac::MacKey;
use keywright_secret::Secret;

use crate::error::{Error, Problem};
use crate::syntax::{Given, Term, spelled};

/// The newest revision of the masks of ends.
const NEWEST: u32 = 2;

/// Characters that stay between two letters or digits.
const SEPARATORS: &str = " -./:";

/// What becomes of characters that are neither letters nor digits: the revisions of the masks of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "another revision is another meaning"
)]
pub enum Others {
    /// Revision 1: they stay.
    Kept,
    /// Revision 2: they become `*`, but for separators.
    Hidden,
}

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
        /// What becomes of other characters.
        others: Others,
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
    /// Reads a mask as somebody writes it. Without a revision it is the newest.
    ///
    /// # Errors
    /// [`Error::Text`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::read(text, Others::Hidden)
    }

    /// Reads a canonical text that was recorded. Without a revision it is the first.
    ///
    /// # Errors
    /// [`Error::Text`].
    pub fn parse_recorded(text: &str) -> Result<Self, Error> {
        Self::read(text, Others::Kept)
    }

    fn read(text: &str, unnamed: Others) -> Result<Self, Error> {
        let names = "last(N), first(N), ends(F, L), truncate(N), fixed(TEXT), hash or null";
        let unknown = |at| Error::at(at, Problem::Expected(names));
        let expression = crate::syntax::parse(text)?;
        let call = match expression.as_slice() {
            [terms] => match terms.as_slice() {
                [Term::Call(call)] => call,
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
        let others = match call.revision {
            None => unnamed,
            Some(1) => Others::Kept,
            Some(2) => Others::Hidden,
            Some(_) => return Err(Error::at(call.at, Problem::Revision(NEWEST))),
        };
        let ends = |first, last| {
            Ok(Self::Ends {
                first,
                last,
                others,
            })
        };
        match (call.name.as_str(), given.as_slice()) {
            ("last", [last]) => ends(0, count(last)?),
            ("first", [first]) => ends(count(first)?, 0),
            ("last4", []) => ends(0, 4),
            ("first6", []) => ends(6, 0),
            ("ends", [first, last]) => ends(count(first)?, count(last)?),
            // The others have one meaning, and are written without a revision.
            _ if call.revision.is_some() => Err(unknown(call.at)),
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
            Self::Ends {
                first,
                last,
                others,
            } => {
                let revision = match others {
                    Others::Kept => "",
                    Others::Hidden => "@2",
                };
                match (first, last) {
                    (0, last) => write!(f, "last{revision}({last})"),
                    (first, 0) => write!(f, "first{revision}({first})"),
                    (first, last) => write!(f, "ends{revision}({first}, {last})"),
                }
            }
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
            Mask::Ends {
                first,
                last,
                others,
            } => {
                let text = String::from_utf8_lossy(value);
                let hidden = hidden_places(&text, *first, *last);
                out.extend_from_slice(stars(&text, &hidden, *others).as_bytes());
            }
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

/// The letters and digits, by their places among all of them, that are hidden. What is shorter than its shown parts
/// would be shown whole, so all of it is hidden.
fn hidden_places(text: &str, first: usize, last: usize) -> Range<usize> {
    let all = text.chars().filter(|c| c.is_alphanumeric()).count();
    match all > first + last {
        true => first..all - last,
        false => 0..all,
    }
}

fn stars(text: &str, hidden: &Range<usize>, others: Others) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let (mut place, mut before) = (0, None);
    while let Some(character) = characters.next() {
        let stays = if character.is_alphanumeric() {
            place += 1;
            !hidden.contains(&(place - 1))
        } else {
            let is_between = [before, characters.peek().copied()]
                .iter()
                .all(|near| near.is_some_and(char::is_alphanumeric));
            others == Others::Kept || (is_between && SEPARATORS.contains(character))
        };
        masked.push(if stays { character } else { '*' });
        before = Some(character);
    }
    masked
}
