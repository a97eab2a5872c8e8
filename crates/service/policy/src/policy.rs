//! The compiled policy: immutable, asked on every request.

use std::collections::HashMap;
use std::sync::Arc;

use keywright_types::map::IdMap;
use keywright_types::{
    BindingKind, Code, Credential, KeyId, Name, Operation, PrincipalId, TenantId,
};

use crate::check::has_control;
use crate::principal::bit;
use crate::{
    Denied, Error, Fact, Fingerprint, Owner, PathRights, Permit, PolicyDocument, Principal, compile,
};

/// Who may do what, at one epoch.
///
/// Questions about a [`Principal`] are answered by the entry this policy has under its id, never by
/// the value that was handed in: one kept from an older policy has today's rights, or none.
#[derive(Debug)]
pub struct Policy {
    pub(crate) epoch: u64,
    pub(crate) principals: IdMap<PrincipalId, Arc<Principal>>,
    pub(crate) rules: HashMap<(Fingerprint, Fact), PrincipalId>,
}

/// A context that exists: its tenant, its name, and the key it is.
#[derive(Clone, Copy, Debug)]
pub struct ContextRef<'a> {
    tenant: TenantId,
    name: &'a str,
    key: KeyId,
}

impl<'a> ContextRef<'a> {
    /// The context as the keyring has it.
    #[must_use]
    pub const fn new(tenant: TenantId, name: &'a str, key: KeyId) -> Self {
        Self { tenant, name, key }
    }
}

/// Why a certificate is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever refuses a connection must face each reason"
)]
pub enum Unidentified {
    /// More than one principal matches.
    #[error("more than one principal matches this certificate")]
    Ambiguous,
    /// A name in it has control characters.
    #[error("a name in this certificate has control characters")]
    Malformed,
    /// No principal matches.
    #[error("no principal matches this certificate")]
    Unknown,
}

impl Unidentified {
    /// The code of the answer.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::Ambiguous => Code::PrincipalAmbiguous,
            Self::Malformed => Code::CertificateMalformed,
            Self::Unknown => Code::PrincipalUnknown,
        }
    }
}

impl Policy {
    /// Checks a document and makes it a policy. `tenants` answers the id of a tenant that exists.
    ///
    /// # Errors
    /// If the entries do not fit together, an id is missing, or a tenant does not exist.
    pub fn compile(
        document: &PolicyDocument,
        tenants: impl Fn(&Name) -> Option<TenantId>,
        epoch: u64,
    ) -> Result<Self, Error> {
        compile::policy(document, tenants, epoch)
    }

    /// The policy of nobody: everything is denied.
    #[must_use]
    pub fn empty(epoch: u64) -> Self {
        Self {
            epoch,
            principals: IdMap::default(),
            rules: HashMap::new(),
        }
    }

    /// Whoever holds the home folder. For commands on the machine itself; no connection reaches it.
    #[must_use]
    pub const fn owner() -> Owner {
        Owner::new()
    }

    /// The epoch it was made for.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The one principal whose rules this certificate matches.
    ///
    /// # Errors
    /// If none or more than one match, or if a name in it has control characters.
    pub fn identify(&self, credential: &Credential) -> Result<&Arc<Principal>, Unidentified> {
        if texts(credential).any(has_control) {
            return Err(Unidentified::Malformed);
        }
        let anchor = Fingerprint::from_bytes(credential.anchor);
        let mut found = None;
        for fact in facts(credential) {
            match (self.rules.get(&(anchor, fact)), found) {
                (Some(id), Some(before)) if id != before => return Err(Unidentified::Ambiguous),
                (Some(id), _) => found = Some(id),
                (None, _) => {}
            }
        }
        found
            .and_then(|id| self.principals.get(id))
            .ok_or(Unidentified::Unknown)
    }

    /// The principal with this id.
    #[must_use]
    pub fn principal(&self, id: PrincipalId) -> Option<Arc<Principal>> {
        self.principals.get(&id).cloned()
    }

    /// Every principal, in no order.
    pub fn principals(&self) -> impl Iterator<Item = &Arc<Principal>> {
        self.principals.values()
    }

    /// A permit for `operation` on `context`.
    ///
    /// # Errors
    /// [`Denied::NoRight`] if the caller holds no right at all there, which includes every context of
    /// another tenant; [`Denied::OtherRight`] if it holds another one.
    pub fn authorize(
        &self,
        who: &Principal,
        context: ContextRef<'_>,
        operation: Operation,
    ) -> Result<Permit, Denied> {
        let who = self.principals.get(&who.id).ok_or(Denied::NoRight)?;
        if who.tenant != context.tenant {
            return Err(Denied::NoRight);
        }
        let rights = who.on(context.name);
        if rights.permits(operation) {
            let holder = (who.id, who.tenant);
            return Ok(Permit::for_principal(
                holder,
                context.key,
                operation,
                self.epoch,
            ));
        }
        Err(if rights.any_left() {
            Denied::OtherRight
        } else {
            Denied::NoRight
        })
    }

    /// A permit for `operation` on keys of the tree that `context` is, and which keys these are.
    ///
    /// # Errors
    /// As [`Policy::authorize`]; whether a path is among those that are allowed is asked of the rights.
    pub fn authorize_in_tree<'p>(
        &'p self,
        who: &Principal,
        context: ContextRef<'p>,
        operation: Operation,
    ) -> Result<(Permit, PathRights<'p>), Denied> {
        let who = self.principals.get(&who.id).ok_or(Denied::NoRight)?;
        if who.tenant != context.tenant {
            return Err(Denied::NoRight);
        }
        let rights = who.on(context.name);
        let Some(everywhere) = rights.permits_in_tree(operation) else {
            return Err(match rights.any_left() {
                true => Denied::OtherRight,
                false => Denied::NoRight,
            });
        };
        let holder = (who.id, who.tenant);
        let permit = Permit::for_principal(holder, context.key, operation, self.epoch);
        let paths = PathRights {
            grants: &who.paths,
            context: context.name,
            operation: bit(operation),
            everywhere,
        };
        Ok((permit, paths))
    }

    /// A permit for an operation that concerns no context.
    ///
    /// # Errors
    /// [`Denied::OtherRight`]: there is no context whose existence could show.
    pub fn authorize_tenant(
        &self,
        who: &Principal,
        operation: Operation,
    ) -> Result<Permit, Denied> {
        let who = self.principals.get(&who.id).ok_or(Denied::OtherRight)?;
        if !who.without_context.permits(operation) {
            return Err(Denied::OtherRight);
        }
        let holder = (who.id, who.tenant);
        Ok(Permit::for_principal(
            holder,
            KeyId::NONE,
            operation,
            self.epoch,
        ))
    }

    /// Whether the caller may know that the context exists: it holds some right on it.
    #[must_use]
    pub fn may_know(&self, who: &Principal, context: ContextRef<'_>) -> bool {
        self.principals
            .get(&who.id)
            .is_some_and(|who| who.tenant == context.tenant && who.on(context.name).any_left())
    }

    /// Whether the caller may open what is bound to `id` (design 7.7): the principal itself, a member
    /// of the group, or an heir. Heirs do not inherit from heirs.
    #[must_use]
    pub fn may_open(&self, who: &Principal, binding: BindingKind, id: &[u8; 16]) -> bool {
        let Some(who) = self.principals.get(&who.id) else {
            return false;
        };
        match binding {
            BindingKind::None => true,
            BindingKind::Principal => {
                let bound = PrincipalId::from_bytes(*id);
                let heir_of = |bound: &Arc<Principal>| bound.heirs.contains(&who.id);
                bound == who.id || self.principals.get(&bound).is_some_and(heir_of)
            }
            BindingKind::Group => who.group.is_some_and(|group| group.as_bytes() == id),
            _ => false,
        }
    }
}

/// Every text of the certificate that a rule could compare.
fn texts(credential: &Credential) -> impl Iterator<Item = &str> {
    let subject = [&credential.common_name, &credential.organizational_unit];
    let names = credential.san_uris.iter().chain(&credential.san_dns);
    subject
        .into_iter()
        .flatten()
        .chain(names)
        .map(String::as_str)
}

/// Every fact the certificate shows.
fn facts(credential: &Credential) -> impl Iterator<Item = Fact> {
    let subject = match (&credential.common_name, &credential.organizational_unit) {
        (Some(common_name), Some(organizational_unit)) => Some(Fact::Subject {
            common_name: common_name.clone(),
            organizational_unit: organizational_unit.clone(),
        }),
        _ => None,
    };
    let uris = credential.san_uris.iter().cloned().map(Fact::SanUri);
    let dns = credential.san_dns.iter().cloned().map(Fact::SanDns);
    let key = Fact::LeafKey(Fingerprint::from_bytes(credential.leaf_key));
    subject.into_iter().chain([key]).chain(uris).chain(dns)
}
