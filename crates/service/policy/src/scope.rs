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
            | Operation::ContextDescribe
            | Operation::KeyRotate
            | Operation::KeyList => Self::Context,
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
