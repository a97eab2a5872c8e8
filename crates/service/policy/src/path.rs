//! Paths in a grant: which keys of a tree it is about (design 7.28).
//!
//! `m/44'/0'/*'/7/**`: components as in a path, compared by number; `*` is one child of either kind, `*'` one
//! hardened child, and `**` at the end whatever lies below, the node itself included.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use keywright_types::Name;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Paths in a grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathPattern {
    components: Vec<Component>,
    below: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Component {
    Any,
    AnyHardened,
    /// With the highest bit set if it is hardened.
    Exactly(u32),
}

/// A text that is no pattern of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a path is `m` and components of a number below 2147483648 or `*`, each with `'` if hardened; `**` may end it"
)]
#[non_exhaustive]
pub struct MalformedPath;

impl PathPattern {
    /// Whether the path over these children is one of these, hardened children with the highest bit set.
    #[must_use]
    pub fn matches(&self, path: &[u32]) -> bool {
        let long_enough = match self.below {
            true => path.len() >= self.components.len(),
            false => path.len() == self.components.len(),
        };
        let mut pairs = self.components.iter().zip(path);
        long_enough && pairs.all(|(component, child)| component.matches(*child))
    }
}

impl Component {
    const fn matches(self, child: u32) -> bool {
        match self {
            Self::Any => true,
            Self::AnyHardened => child >= HARDENED,
            Self::Exactly(one) => one == child,
        }
    }
}

impl FromStr for PathPattern {
    type Err = MalformedPath;

    fn from_str(text: &str) -> Result<Self, MalformedPath> {
        let (text, below) = match text.strip_suffix("/**") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut parts = text.split('/');
        if parts.next() != Some("m") {
            return Err(MalformedPath);
        }
        let components: Vec<_> = parts.map(component).collect::<Result<_, _>>()?;
        match components.len() <= DEEPEST {
            true => Ok(Self { components, below }),
            false => Err(MalformedPath),
        }
    }
}

fn component(text: &str) -> Result<Component, MalformedPath> {
    let (number, hardened) = match text.strip_suffix('\'') {
        Some(number) => (number, HARDENED),
        None => (text, 0),
    };
    if number == "*" {
        return Ok(match hardened {
            0 => Component::Any,
            _ => Component::AnyHardened,
        });
    }
    let plain = number.bytes().all(|byte| byte.is_ascii_digit());
    let one_spelling = plain && (number == "0" || !number.starts_with('0'));
    let value: u32 = number.parse().map_err(|_| MalformedPath)?;
    match one_spelling && value < HARDENED {
        true => Ok(Component::Exactly(value | hardened)),
        false => Err(MalformedPath),
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("m")?;
        for component in &self.components {
            match *component {
                Component::Any => f.write_str("/*")?,
                Component::AnyHardened => f.write_str("/*'")?,
                Component::Exactly(child) if child >= HARDENED => {
                    write!(f, "/{}'", child - HARDENED)?;
                }
                Component::Exactly(child) => write!(f, "/{child}")?,
            }
        }
        f.write_str(if self.below { "/**" } else { "" })
    }
}

impl Serialize for PathPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PathPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// One pattern of a grant, as a compiled policy has it.
#[derive(Clone, Debug)]
pub(crate) struct PathGrant {
    /// The context; none for all of the tenant.
    pub(crate) context: Option<Name>,
    /// The bits of the operations.
    pub(crate) operations: u64,
    pub(crate) denies: bool,
    pub(crate) pattern: PathPattern,
}

/// For which keys of a tree an operation is allowed.
#[derive(Clone, Copy, Debug)]
pub struct PathRights<'p> {
    pub(crate) grants: &'p [PathGrant],
    pub(crate) context: &'p str,
    /// The bit of the operation.
    pub(crate) operation: u64,
    /// Whether a grant without paths allows it.
    pub(crate) everywhere: bool,
}

impl PathRights<'_> {
    /// Whether the operation is allowed for the key at this path, hardened children with the highest bit set.
    /// A grant that denies wins over every other.
    #[must_use]
    pub fn allow(&self, path: &[u32]) -> bool {
        let mut allowed = self.everywhere;
        let about = self.grants.iter().filter(|grant| {
            let here = grant.context.as_ref();
            grant.operations & self.operation != 0
                && here.is_none_or(|name| name.as_str() == self.context)
                && grant.pattern.matches(path)
        });
        for grant in about {
            if grant.denies {
                return false;
            }
            allowed = true;
        }
        allowed
    }
}

/// The bit of a hardened child.
const HARDENED: u32 = 1 << 31;
/// The most components of a path.
const DEEPEST: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    const H: u32 = HARDENED;

    #[test]
    fn patterns_compare_by_component_and_say_where_they_end() {
        for (pattern, path, matches) in [
            ("m", &[][..], true),
            ("m", &[0], false),
            ("m/**", &[], true),
            ("m/**", &[1, H | 2], true),
            ("m/44'/0'", &[H | 44, H], true),
            ("m/44'/0'", &[H | 44, 0], false),
            ("m/44'/0'", &[H | 44, H, 0], false),
            ("m/44'/0'/**", &[H | 44, H, 0], true),
            ("m/44'/0'/**", &[H | 44, H], true),
            ("m/44'/0'/**", &[H | 44], false),
            ("m/4'/**", &[H | 44], false),
            ("m/*/7", &[3, 7], true),
            ("m/*/7", &[H | 3, 7], true),
            ("m/*'/7", &[3, 7], false),
            ("m/*'/7", &[H | 3, 7], true),
            ("m/*", &[], false),
        ] {
            let parsed: PathPattern = pattern.parse().unwrap();
            assert_eq!(parsed.matches(path), matches, "{pattern} {path:?}");
            assert_eq!(parsed.to_string(), pattern);
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let long = format!("m{}", "/0".repeat(256));
        for bad in [
            "",
            "/",
            "M",
            "m/",
            "m//1",
            "m/'",
            "m/01",
            "m/-1",
            "m/+1",
            "m/1''",
            "m/1h",
            "m/**/1",
            "m/*''",
            "m/2147483648",
            "m/4294967296'",
            "m/1/",
            " m",
            "m/1 ",
            "44'/0'",
            "**",
            "*",
            &long,
        ] {
            assert_eq!(bad.parse::<PathPattern>(), Err(MalformedPath), "{bad:?}");
        }
        assert!(
            format!("m{}/**", "/0'".repeat(255))
                .parse::<PathPattern>()
                .is_ok()
        );
    }
}
