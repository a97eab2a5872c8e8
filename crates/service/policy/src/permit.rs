//! Permits, and what stands in their place when there is none.

use keywright_types::{Code, KeyId, Operation, PrincipalId, TenantId};

/// Proof that a principal may perform one operation on one key; only this crate makes one.
///
/// It cannot be copied or kept under another epoch unnoticed: whoever takes it compares
/// [`Permit::epoch`] with the state it works on.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit that nobody asks for protects nothing"]
pub struct Permit {
    principal: PrincipalId,
    tenant: TenantId,
    key: KeyId,
    operation: Operation,
    epoch: u64,
}

impl Permit {
    pub(crate) const fn for_principal(
        (principal, tenant): (PrincipalId, TenantId),
        key: KeyId,
        operation: Operation,
        epoch: u64,
    ) -> Self {
        Self {
            principal,
            tenant,
            key,
            operation,
            epoch,
        }
    }

    /// Who may; none for the owner.
    #[must_use]
    pub const fn principal(&self) -> PrincipalId {
        self.principal
    }

    /// The tenant of the principal; none for the owner.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// On which key; none for an operation without a context.
    #[must_use]
    pub const fn key(&self) -> KeyId {
        self.key
    }

    /// What.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// Under which state of the installation it was decided.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// Why there is no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the two answers of design 7.28; a third must be faced by whoever answers"
)]
pub enum Denied {
    /// No right at all on the context, which must answer as if it did not exist.
    #[error("no right on this context")]
    NoRight,
    /// Another right on the context, or an operation that concerns none: there is nothing to hide.
    #[error("no right to this operation")]
    OtherRight,
}

impl Denied {
    /// The code of the answer.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::NoRight => Code::ContextNotFound,
            Self::OtherRight => Code::OperationDenied,
        }
    }
}

/// Whoever holds the home folder: commands on the machine itself, never a connection.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    epoch: u64,
}

impl Owner {
    pub(crate) const fn new() -> Self {
        Self { epoch: 0 }
    }

    /// The owner, acting under this epoch.
    #[must_use]
    pub const fn at(self, epoch: u64) -> Self {
        Self { epoch }
    }

    /// A permit for one operation on one key, or on [`KeyId::NONE`].
    pub const fn permit(&self, key: KeyId, operation: Operation) -> Permit {
        let nobody = (PrincipalId::NONE, TenantId::NONE);
        Permit::for_principal(nobody, key, operation, self.epoch)
    }
}
