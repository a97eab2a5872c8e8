//! Paths: `m`, or `m/` and components of decimal digits, each with `'`, `h` or `H` if it is hardened.
//!
//! One path has one meaning: no sign, no leading zero, no number beyond 2^31 - 1, nothing between or behind.

use std::fmt;
use std::str::FromStr;

/// Components in the longest path: a depth is one byte.
pub(crate) const DEEPEST: usize = 255;

const HARDENED: u32 = 1 << 31;

/// The number of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildIndex(u32);

impl ChildIndex {
    /// The hardened child of this number; none from 2^31 on.
    #[must_use]
    pub const fn hardened(number: u32) -> Option<Self> {
        match number < HARDENED {
            true => Some(Self(number | HARDENED)),
            false => None,
        }
    }

    /// The child of this number that a public parent could make too; none from 2^31 on.
    #[must_use]
    pub const fn soft(number: u32) -> Option<Self> {
        match number < HARDENED {
            true => Some(Self(number)),
            false => None,
        }
    }

    /// The child as keys are hashed with it: 2^31 is added if it is hardened.
    #[must_use]
    pub const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    /// As [`Self::from_raw`].
    #[must_use]
    pub const fn to_raw(self) -> u32 {
        self.0
    }

    /// The number without what says hardened.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0 & !HARDENED
    }

    /// Whether a public parent cannot make this child.
    #[must_use]
    pub const fn is_hardened(self) -> bool {
        self.0 >= HARDENED
    }
}

impl fmt::Display for ChildIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_hardened() { "'" } else { "" };
        write!(f, "{}{mark}", self.number())
    }
}

/// A way from the root to a key, at most 255 levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<ChildIndex>);

/// Why a text is no path. Components count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// It does not begin with `m`.
    #[error("a path begins with m")]
    NoRoot,
    /// Nothing between two slashes, or behind the last.
    #[error("component {position} of the path is empty")]
    Empty {
        /// The component.
        position: usize,
    },
    /// Something other than digits and one mark at their end.
    #[error("component {position} of the path is not a number with ' or h behind it if hardened")]
    Syntax {
        /// The component.
        position: usize,
    },
    /// A number with a zero in front.
    #[error("component {position} of the path has a leading zero")]
    LeadingZero {
        /// The component.
        position: usize,
    },
    /// A number that is too large.
    #[error("component {position} of the path is larger than 2147483647")]
    TooLarge {
        /// The component.
        position: usize,
    },
    /// More components than a depth can count.
    #[error("the path has more than 255 components")]
    TooDeep,
}

impl Path {
    /// The root itself.
    pub const ROOT: Self = Self(Vec::new());

    /// The path over these children.
    ///
    /// # Errors
    /// [`PathError::TooDeep`] for more than 255.
    pub fn new(children: Vec<ChildIndex>) -> Result<Self, PathError> {
        match children.len() <= DEEPEST {
            true => Ok(Self(children)),
            false => Err(PathError::TooDeep),
        }
    }

    /// The children in order.
    #[must_use]
    pub fn children(&self) -> &[ChildIndex] {
        &self.0
    }

    /// This path and one child more.
    ///
    /// # Errors
    /// [`PathError::TooDeep`] below 255 levels.
    pub fn join(&self, child: ChildIndex) -> Result<Self, PathError> {
        let mut children = self.0.clone();
        children.push(child);
        Self::new(children)
    }

    /// The path over hardened children of these numbers, each below 2^31.
    pub(crate) fn all_hardened(numbers: &[u32]) -> Result<Self, PathError> {
        let child = |(place, number): (usize, &u32)| {
            let position = place + 1;
            ChildIndex::hardened(*number).ok_or(PathError::TooLarge { position })
        };
        Ok(Self(
            numbers
                .iter()
                .enumerate()
                .map(child)
                .collect::<Result<_, _>>()?,
        ))
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let rest = text.strip_prefix('m').ok_or(PathError::NoRoot)?;
        if rest.is_empty() {
            return Ok(Self::ROOT);
        }
        let rest = rest.strip_prefix('/').ok_or(PathError::NoRoot)?;
        let mut children = Vec::new();
        for (place, component) in rest.split('/').enumerate() {
            if place == DEEPEST {
                return Err(PathError::TooDeep);
            }
            children.push(child(component, place + 1)?);
        }
        Ok(Self(children))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("m")?;
        self.0.iter().try_for_each(|child| write!(f, "/{child}"))
    }
}

fn child(component: &str, position: usize) -> Result<ChildIndex, PathError> {
    if component.is_empty() {
        return Err(PathError::Empty { position });
    }
    let (digits, mark) = match component.strip_suffix(['\'', 'h', 'H']) {
        Some(digits) => (digits, HARDENED),
        None => (component, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PathError::Syntax { position });
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(PathError::LeadingZero { position });
    }
    match digits.parse::<u32>() {
        Ok(number) if number < HARDENED => Ok(ChildIndex(number | mark)),
        _ => Err(PathError::TooLarge { position }),
    }
}
