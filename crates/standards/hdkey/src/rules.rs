//! Who may do what with the keys of a tree, by the beginning of their paths.
//!
//! Default deny; a rule that forbids wins over any that allow; the order of rules means nothing, and no use
//! implies another. Beside the rules the purpose in an Identus path decides: what is there to agree never
//! signs, and everything else never agrees. Only [`PathRules::decide`] makes a [`PathPermit`], which is what
//! whoever holds the seed asks for before a key is made.
//!
//! Not here: whose rules they are, how they are stored, records of their use.

use std::fmt;
use std::str::FromStr;

use crate::cache::{Keep, Owner, Wanted};
use crate::identus::{Purpose, purpose_of};
use crate::node::SoftChildren;
use crate::path::{ChildIndex, Path, PathError};
use crate::scheme::{Curve, Scheme};

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KeyUse {
    /// Makes a secret with a peer.
    Agree,
    /// Lets the private key out.
    Export,
    /// Shows the public key.
    Public,
    /// Hands out the public node, after which no private key below it leaves.
    SharePublic,
    /// Signs.
    Sign,
}

/// Paths, by component: `m/29'/29'/*'/4'/**`.
///
/// `*` is one child of either kind, `*'` one hardened child, and `**` at the end whatever lies below, the node
/// itself included. Numbers are written as in paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    components: Vec<Component>,
    below: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    Any,
    AnyHardened,
    Exactly(ChildIndex),
}

/// Whether a rule allows or forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Effect {
    /// Allows.
    Allow,
    /// Forbids, whatever else allows.
    Deny,
}

/// One rule.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "arguments by name")]
pub struct PathRule {
    /// Which way.
    pub effect: Effect,
    /// For the keys at these paths.
    pub pattern: PathPattern,
    /// Of trees of this scheme; of all where none is said.
    pub scheme: Option<Scheme>,
    /// For these uses.
    pub uses: Vec<KeyUse>,
}

/// The rules of one principal over one tree.
#[derive(Clone, Debug, Default)]
pub struct PathRules(Vec<PathRule>);

/// Proof that a use of a key was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct PathPermit {
    path: Path,
    scheme: Scheme,
    key_use: KeyUse,
}

/// Why a use of a key is not allowed. For records: whoever asked learns only that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// A rule forbids it.
    #[error("a rule forbids this use of the key")]
    Forbidden,
    /// No rule allows it.
    #[error("no rule allows this use of the key")]
    NoRule,
    /// Keys of this purpose are there for something else.
    #[error("keys for {} are not there for this use", .purpose.name())]
    Purpose {
        /// The purpose.
        purpose: Purpose,
    },
    /// Keys of this scheme cannot do it.
    #[error("keys of {scheme} cannot do this")]
    Scheme {
        /// The scheme.
        scheme: Scheme,
    },
}

/// A text that is no use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no use of keys of this name")]
#[non_exhaustive]
pub struct UnknownUse;

impl KeyUse {
    /// Every use.
    pub const ALL: [Self; 5] = [
        Self::Agree,
        Self::Export,
        Self::Public,
        Self::SharePublic,
        Self::Sign,
    ];

    /// The name that stays the same for ever.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Export => "export",
            Self::Public => "public",
            Self::SharePublic => "share-public",
            Self::Sign => "sign",
        }
    }
}

impl FromStr for KeyUse {
    type Err = UnknownUse;

    fn from_str(text: &str) -> Result<Self, UnknownUse> {
        let found = Self::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or(UnknownUse)
    }
}

impl PathPattern {
    /// Whether the path is one of these.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        let children = path.children();
        let long_enough = match self.below {
            true => children.len() >= self.components.len(),
            false => children.len() == self.components.len(),
        };
        let mut pairs = self.components.iter().zip(children);
        long_enough && pairs.all(|(component, child)| component.matches(*child))
    }
}

impl Component {
    fn matches(self, child: ChildIndex) -> bool {
        match self {
            Self::Any => true,
            Self::AnyHardened => child.is_hardened(),
            Self::Exactly(one) => one == child,
        }
    }
}

impl FromStr for PathPattern {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let (text, below) = match text.strip_suffix("/**") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut parts = text.split('/');
        if parts.next() != Some("m") {
            return Err(PathError::NoRoot);
        }
        let mut components = Vec::new();
        for (above, part) in parts.enumerate() {
            components.push(match part {
                "*" => Component::Any,
                "*'" => Component::AnyHardened,
                number => Component::Exactly(alone(number).map_err(|error| at(error, above))?),
            });
        }
        match components.len() > crate::path::DEEPEST {
            true => Err(PathError::TooDeep),
            false => Ok(Self { components, below }),
        }
    }
}

/// One component, read as the first of a path.
fn alone(number: &str) -> Result<ChildIndex, PathError> {
    let path: Path = format!("m/{number}").parse()?;
    let first = path.children().first();
    first.copied().ok_or(PathError::Empty { position: 1 })
}

/// The same error about a component so many further down.
const fn at(error: PathError, above: usize) -> PathError {
    match error {
        PathError::Empty { position } => PathError::Empty {
            position: position + above,
        },
        PathError::LeadingZero { position } => PathError::LeadingZero {
            position: position + above,
        },
        PathError::Syntax { position } => PathError::Syntax {
            position: position + above,
        },
        PathError::TooLarge { position } => PathError::TooLarge {
            position: position + above,
        },
        other => other,
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("m")?;
        for component in &self.components {
            match component {
                Component::Any => f.write_str("/*")?,
                Component::AnyHardened => f.write_str("/*'")?,
                Component::Exactly(child) => write!(f, "/{child}")?,
            }
        }
        f.write_str(if self.below { "/**" } else { "" })
    }
}

impl PathRules {
    /// These rules and no others.
    #[must_use]
    pub const fn new(rules: Vec<PathRule>) -> Self {
        Self(rules)
    }

    /// Decides about one use of one key.
    ///
    /// # Errors
    /// [`Denied`] with the reason.
    pub fn decide(
        &self,
        path: &Path,
        scheme: Scheme,
        key_use: KeyUse,
    ) -> Result<PathPermit, Denied> {
        able(scheme, key_use)?;
        meant(path, key_use)?;
        let about = self.0.iter().filter(|rule| {
            rule.scheme.is_none_or(|one| one == scheme)
                && rule.uses.contains(&key_use)
                && rule.pattern.matches(path)
        });
        let mut allowed = false;
        for rule in about {
            match rule.effect {
                Effect::Allow => allowed = true,
                Effect::Deny => return Err(Denied::Forbidden),
            }
        }
        match allowed {
            true => Ok(PathPermit {
                path: path.clone(),
                scheme,
                key_use,
            }),
            false => Err(Denied::NoRule),
        }
    }
}

impl PathPermit {
    /// Where the key lies.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// The scheme of its tree.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// What it may be used for.
    #[must_use]
    pub const fn key_use(&self) -> KeyUse {
        self.key_use
    }

    /// The key, as a [`PrefixCache`](crate::cache::PrefixCache) is asked for it. Whether the tree makes soft
    /// children is said by whoever keeps the tree.
    #[must_use]
    pub const fn wanted(&self, owner: Owner, soft: SoftChildren, keep: Keep) -> Wanted<'_> {
        Wanted {
            owner,
            scheme: self.scheme,
            soft,
            path: &self.path,
            keep,
        }
    }
}

/// What keys of a scheme can be used for at all.
fn able(scheme: Scheme, key_use: KeyUse) -> Result<(), Denied> {
    let able = match key_use {
        KeyUse::Agree => !matches!(scheme.curve(), None | Some(Curve::Ed25519)),
        KeyUse::Sign => !matches!(scheme.curve(), None | Some(Curve::Curve25519)),
        KeyUse::Public => scheme.curve().is_some(),
        KeyUse::SharePublic => scheme.has_soft_children(),
        KeyUse::Export => true,
    };
    able.then_some(()).ok_or(Denied::Scheme { scheme })
}

/// What keys of a purpose are there for.
fn meant(path: &Path, key_use: KeyUse) -> Result<(), Denied> {
    let Some(purpose) = purpose_of(path) else {
        return Ok(());
    };
    let meant = match key_use {
        KeyUse::Agree => purpose.agrees(),
        KeyUse::Sign => !purpose.agrees(),
        KeyUse::Export | KeyUse::Public | KeyUse::SharePublic => true,
    };
    meant.then_some(()).ok_or(Denied::Purpose { purpose })
}
