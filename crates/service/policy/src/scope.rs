//! What an operation is about, which decides how it can be granted.

use keywright_types::Operation;

/// What an operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new scope must be faced wherever a right is asked for"
)]
pub enum Scope {
    /// One context: a grant names contexts.
    Context,
    /// The whole installation: for the owner of the home folder alone, no grant gives it.
    Installation,
    /// The caller's tenant or the node: a grant names no context.
    Tenant,
}

/// Whether the operation is about one key of a tree where its context is one, so that a grant may name paths.
#[must_use]
pub const fn takes_paths(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Sign
            | Operation::Verify
            | Operation::Agree
            | Operation::PublicKey
            | Operation::Xpub
            | Operation::KeyExport
    )
}

impl Scope {
    /// The scope of `operation`. What this version does not know belongs to the owner alone.
    #[must_use]
    pub const fn of(operation: Operation) -> Self {
        match operation {
            Operation::Encrypt
            | Operation::Decrypt
            | Operation::Rewrap
            | Operation::Datakey
            | Operation::DatakeyOpen
            | Operation::DeterministicDecrypt
            | Operation::DeterministicEncrypt
            | Operation::Tokenize
            | Operation::Detokenize
            | Operation::Mask
            | Operation::Sign
            | Operation::Verify
            | Operation::Agree
            | Operation::PublicKey
            | Operation::Xpub
            | Operation::KeyExport
            | Operation::Mac
            | Operation::MacVerify
            | Operation::ContextDescribe
            | Operation::KeyRotate
            | Operation::KeyList
            | Operation::KeySuspend
            | Operation::KeyResume
            | Operation::KeyRetire
            | Operation::KeyScheduleDestroy
            | Operation::KeyCancelDestroy
            | Operation::KeyDestroy
            | Operation::KeyApprove => Self::Context,
            Operation::Random
            | Operation::ContextCreate
            | Operation::ContextList
            | Operation::MetricsRead
            | Operation::HealthRead
            | Operation::ApiRead => Self::Tenant,
            _ => Self::Installation,
        }
    }
}
