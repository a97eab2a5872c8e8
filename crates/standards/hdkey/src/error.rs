//! What can go wrong with a tree.

use crate::extended::ExtendedKeyError;
use crate::mnemonic::MnemonicError;
use crate::path::PathError;
use crate::scheme::{Scheme, UnknownScheme};
use crate::shares::ShareError;

/// Why there is no key, signature or seed. No variant holds a word, a seed or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: a seed of this length is too short or too long.
    #[error("a seed has 16 to 64 bytes, not {found}")]
    SeedLength {
        /// Bytes given.
        found: usize,
    },
    /// The caller's: the scheme takes seeds of one length only.
    #[error("{scheme} takes a seed of exactly {expected} bytes, not {found}")]
    SeedLengthOfScheme {
        /// The scheme.
        scheme: Scheme,
        /// Bytes it takes.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The caller's: the scheme has hardened children only.
    #[error("{scheme} has only hardened children; component {position} of the path is not")]
    HardenedOnly {
        /// The scheme.
        scheme: Scheme,
        /// The component, the first after `m` being 1.
        position: usize,
    },
    /// The caller's: children that a public parent could make were not switched on.
    #[error("component {position} of the path is not hardened, and such children are off")]
    SoftChild {
        /// The component, the first after `m` being 1.
        position: usize,
    },
    /// The caller's: public nodes are off, because with one soft child's private key they give the parent's.
    #[error("public nodes and extended keys are off for this tree")]
    PublicNodesOff,
    /// The caller's: a public node of this subtree was handed out, so no private key below it leaves.
    #[error("a public node of this subtree was handed out, so no private key of it is exported")]
    PublicNodeShared,
    /// The caller's: a public node has no hardened children.
    #[error("component {position} of the path is hardened, and a public node has no such children")]
    HardenedPublicChild {
        /// The component, the first after this node being 1.
        position: usize,
    },
    /// The caller's: paths end 255 levels below the root.
    #[error("the key would lie deeper than 255 levels")]
    TooDeep,
    /// The seed's: it makes no root under this scheme; one seed in 2^127 does so.
    #[error("the seed makes no root under this scheme")]
    InvalidRoot,
    /// The tree's: there is no key at this index; take the next one.
    #[error("there is no key at component {position} of the path; take the next index")]
    InvalidChild {
        /// The component, the first after `m` being 1.
        position: usize,
    },
    /// The caller's: a key of one scheme where another is expected.
    #[error("a key of {found} where one of {expected} is expected")]
    OtherScheme {
        /// The key's.
        found: Scheme,
        /// What is expected.
        expected: Scheme,
    },
    /// The caller's: keys of this scheme do not do this.
    #[error("keys of {scheme} do not {wanted}")]
    WrongUse {
        /// The scheme.
        scheme: Scheme,
        /// What was asked for.
        wanted: &'static str,
    },
    /// The caller's: the peer's public key is none.
    #[error("the public key is malformed or of another curve")]
    PublicKeyRejected,
    /// The data's: a private key that is none of its scheme.
    #[error("the private key is malformed or of another curve")]
    PrivateKeyRejected,
    /// The data's: a private key came with the public half of another.
    #[error("the public half of the key is not that of its private half")]
    HalvesDiffer,
    /// The caller's: the names of schemes are fixed.
    #[error(transparent)]
    Scheme(#[from] UnknownScheme),
    /// The caller's: no path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The caller's: no mnemonic.
    #[error(transparent)]
    Mnemonic(#[from] MnemonicError),
    /// The data's or the caller's: shares that make no seed.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// The data's: no extended key.
    #[error(transparent)]
    Extended(#[from] ExtendedKeyError),
    /// A signature that does not fit. There is no further reason, by design.
    #[error("verification failed")]
    Rejected,
    /// The environment's: the crypto backend or the operating system refused.
    #[error("the crypto backend refused the operation")]
    Backend,
}

impl Error {
    /// The same error with positions counted `above` components further up.
    pub(crate) const fn below(self, above: usize) -> Self {
        match self {
            Self::HardenedOnly { scheme, position } => Self::HardenedOnly {
                scheme,
                position: position + above,
            },
            Self::SoftChild { position } => Self::SoftChild {
                position: position + above,
            },
            Self::HardenedPublicChild { position } => Self::HardenedPublicChild {
                position: position + above,
            },
            Self::InvalidChild { position } => Self::InvalidChild {
                position: position + above,
            },
            other => other,
        }
    }
}

impl From<keywright_primitives::Error> for Error {
    fn from(_: keywright_primitives::Error) -> Self {
        Self::Backend
    }
}

impl From<keywright_primitives::Rejected> for Error {
    fn from(_: keywright_primitives::Rejected) -> Self {
        Self::Rejected
    }
}
