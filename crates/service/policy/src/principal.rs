//! A principal of a compiled policy, with its rights spelled out.

use std::sync::Arc;

use keywright_types::map::NameMap;
use keywright_types::{GroupId, Name, Operation, Plane, PrincipalId, TenantId};

use crate::RateLimit;
use crate::path::PathGrant;

/// Who acts: what a certificate is mapped to.
#[derive(Debug)]
pub struct Principal {
    pub(crate) id: PrincipalId,
    pub(crate) tenant: TenantId,
    pub(crate) name: Name,
    pub(crate) plane: Plane,
    pub(crate) group: Option<GroupId>,
    pub(crate) heirs: Box<[PrincipalId]>,
    pub(crate) legacy_cn: Box<[String]>,
    pub(crate) legacy_ou: Box<[String]>,
    /// Rights on contexts that grants name.
    pub(crate) exact: NameMap<Rights>,
    /// Rights on every context of the tenant.
    pub(crate) any: Rights,
    /// Rights to operations that concern no context.
    pub(crate) without_context: Rights,
    /// What grants with paths allow and deny.
    pub(crate) paths: Box<[PathGrant]>,
    /// How fast it may ask.
    pub(crate) limit: Option<Arc<RateLimit>>,
}

impl Principal {
    /// The id that data, audit and limits bind to.
    #[must_use]
    pub const fn id(&self) -> PrincipalId {
        self.id
    }

    /// The one tenant.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The name, for people.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Where it is served.
    #[must_use]
    pub const fn plane(&self) -> Plane {
        self.plane
    }

    /// The group, if there is one.
    #[must_use]
    pub const fn group(&self) -> Option<GroupId> {
        self.group
    }

    /// Who else may open what is bound to this principal.
    #[must_use]
    pub const fn heirs(&self) -> &[PrincipalId] {
        &self.heirs
    }

    /// Former common names, for the reader of the seed service's ciphertexts and nothing else.
    #[must_use]
    pub const fn legacy_cn(&self) -> &[String] {
        &self.legacy_cn
    }

    /// Former organisational units, for the same reader.
    #[must_use]
    pub const fn legacy_ou(&self) -> &[String] {
        &self.legacy_ou
    }

    /// How fast it may ask, if the policy says it.
    #[must_use]
    pub const fn limit(&self) -> Option<&Arc<RateLimit>> {
        self.limit.as_ref()
    }

    /// What may be done on the context of this name, in this principal's tenant.
    pub(crate) fn on(&self, context: &str) -> Rights {
        self.exact
            .get(context)
            .map_or(self.any, |exact| exact.and(self.any))
    }
}

/// Operations granted and refused, one bit for each number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) allow: u64,
    pub(crate) deny: u64,
    /// Granted for some keys of a tree only.
    pub(crate) paths: u64,
}

impl Rights {
    /// Both sets of grants together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            allow: self.allow | other.allow,
            deny: self.deny | other.deny,
            paths: self.paths | other.paths,
        }
    }

    /// Whether anything is left once the refusals are taken away.
    pub(crate) const fn any_left(self) -> bool {
        (self.allow | self.paths) & !self.deny != 0
    }

    /// Whether the operation is left for keys of a tree: everywhere, or at some paths.
    pub(crate) const fn permits_in_tree(self, operation: Operation) -> Option<bool> {
        match (
            self.permits(operation),
            self.paths & !self.deny & bit(operation),
        ) {
            (true, _) => Some(true),
            (false, 0) => None,
            (false, _) => Some(false),
        }
    }

    /// Whether the operation is left.
    pub(crate) const fn permits(self, operation: Operation) -> bool {
        self.allow & !self.deny & bit(operation) != 0
    }
}

/// The bit of an operation; a number that has none is never granted.
pub(crate) const fn bit(operation: Operation) -> u64 {
    match operation.number() {
        number @ 0..=63 => 1 << number,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_bit_of_its_own() {
        let mut seen = 0;
        for &operation in Operation::ALL {
            assert_eq!(bit(operation).count_ones(), 1, "{operation}");
            assert_eq!(bit(operation) & seen, 0, "{operation}");
            seen |= bit(operation);
        }
    }

    #[test]
    fn what_is_denied_is_not_left() {
        let both = Rights {
            allow: bit(Operation::Encrypt),
            deny: bit(Operation::Encrypt),
            paths: 0,
        };
        assert!(!both.permits(Operation::Encrypt));
        assert!(!both.any_left());
    }
}
