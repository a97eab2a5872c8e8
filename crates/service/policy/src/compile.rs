//! From a document to a policy: names become ids, grants become rights of principals.

use std::collections::HashMap;
use std::sync::Arc;

use keywright_types::map::NameMap;
use keywright_types::{GroupId, Name, PrincipalId, TenantId};

use crate::document::{ContextPattern, Effect, Grant, PrincipalEntry};
use crate::error::{Entry, Problem};
use crate::limit::Limits;
use crate::path::PathGrant;
use crate::principal::{Rights, bit};
use crate::{Error, MAX_RIGHTS, Policy, PolicyDocument, Principal, Scope, check};

/// A tenant and a name of the document.
type Named<'a> = (&'a Name, &'a Name);

pub(crate) fn policy(
    document: &PolicyDocument,
    tenants: impl Fn(&Name) -> Option<TenantId>,
    epoch: u64,
) -> Result<Policy, Error> {
    check::entries(document)?;
    let groups = group_ids(document, &tenants)?;
    let ids = principal_ids(document)?;
    let rights = rights(document)?;
    let limits = Limits::of(document);
    let mut policy = Policy::empty(epoch);
    for ((index, entry), rights) in document.principals.iter().enumerate().zip(rights) {
        let tenant = tenant(&tenants, &entry.tenant, Entry::Principal(index))?;
        let id = ids[&(&entry.tenant, &entry.name)];
        for rule in &entry.rules {
            for anchor in &rule.anchors {
                policy.rules.insert((*anchor, rule.fact.clone()), id);
            }
        }
        let group = entry.group.as_ref();
        let principal = Principal {
            id,
            tenant,
            name: entry.name.clone(),
            plane: entry.plane,
            group: group.and_then(|name| groups.get(&(&entry.tenant, name)).copied()),
            heirs: heir_ids(entry, &ids),
            legacy_cn: entry.legacy_cn.0.clone().into(),
            legacy_ou: entry.legacy_ou.0.clone().into(),
            exact: rights.exact,
            any: rights.any,
            without_context: rights.without_context,
            paths: rights.paths.into(),
            limit: limits.find(entry).map(Arc::new),
        };
        policy.principals.insert(id, Arc::new(principal));
    }
    Ok(policy)
}

fn refuse(entry: Entry, problem: Problem) -> Error {
    Error::Content {
        line: None,
        entry,
        problem,
    }
}

fn tenant(
    tenants: impl Fn(&Name) -> Option<TenantId>,
    name: &Name,
    entry: Entry,
) -> Result<TenantId, Error> {
    tenants(name).filter(|id| !id.is_none()).ok_or_else(|| {
        let tenant = name.clone();
        refuse(entry, Problem::UnknownTenant { tenant })
    })
}

// === names become ids ===

fn group_ids<'a>(
    document: &'a PolicyDocument,
    tenants: impl Fn(&Name) -> Option<TenantId>,
) -> Result<HashMap<Named<'a>, GroupId>, Error> {
    let entries = document.groups.iter().enumerate();
    entries
        .map(|(index, entry)| {
            tenant(&tenants, &entry.tenant, Entry::Group(index))?;
            let id = entry
                .id
                .ok_or_else(|| refuse(Entry::Group(index), Problem::NoId))?;
            Ok(((&entry.tenant, &entry.name), id))
        })
        .collect()
}

fn principal_ids(document: &PolicyDocument) -> Result<HashMap<Named<'_>, PrincipalId>, Error> {
    let entries = document.principals.iter().enumerate();
    entries
        .map(|(index, entry)| {
            let id = entry
                .id
                .ok_or_else(|| refuse(Entry::Principal(index), Problem::NoId))?;
            Ok(((&entry.tenant, &entry.name), id))
        })
        .collect()
}

fn heir_ids(entry: &PrincipalEntry, ids: &HashMap<Named<'_>, PrincipalId>) -> Box<[PrincipalId]> {
    let heirs = entry.heirs.iter();
    heirs
        .filter_map(|heir| ids.get(&(&entry.tenant, heir)).copied())
        .collect()
}

// === grants become rights ===

/// What the grants come to for one principal.
#[derive(Clone, Default)]
struct Collected {
    exact: NameMap<Rights>,
    any: Rights,
    without_context: Rights,
    paths: Vec<PathGrant>,
}

impl Collected {
    /// Adds a grant; answers how many entries it may have cost.
    fn add(&mut self, grant: &Grant, rights: Rights) -> usize {
        // The operations of a grant are all of one scope, and contexts are there exactly if needed.
        if grant.contexts.is_empty() {
            self.without_context = self.without_context.and(rights);
        }
        for pattern in &grant.contexts {
            match pattern {
                ContextPattern::Any => self.any = self.any.and(rights),
                ContextPattern::Exact(name) => {
                    let exact = self.exact.entry(name.clone()).or_default();
                    *exact = exact.and(rights);
                }
            }
        }
        self.add_paths(grant);
        grant.contexts.len() * grant.paths.len().max(1)
    }

    fn add_paths(&mut self, grant: &Grant) {
        let operations = grant.operations.iter().copied().map(bit);
        let operations = operations.fold(0, |all, one| all | one);
        for pattern in &grant.paths {
            let contexts = grant.contexts.iter().map(|context| match context {
                ContextPattern::Any => None,
                ContextPattern::Exact(name) => Some(name.clone()),
            });
            self.paths.extend(contexts.map(|context| PathGrant {
                context,
                operations,
                denies: grant.effect == Effect::Deny,
                pattern: pattern.clone(),
            }));
        }
    }
}

/// The rights of each principal, in the order of the document.
fn rights(document: &PolicyDocument) -> Result<Vec<Collected>, Error> {
    let mut all = vec![Collected::default(); document.principals.len()];
    let mut by_name: HashMap<Named<'_>, usize> = HashMap::new();
    let mut by_group: HashMap<Named<'_>, Vec<usize>> = HashMap::new();
    for (index, entry) in document.principals.iter().enumerate() {
        by_name.insert((&entry.tenant, &entry.name), index);
        if let Some(group) = &entry.group {
            by_group
                .entry((&entry.tenant, group))
                .or_default()
                .push(index);
        }
    }
    let mut pairs = 0;
    for (index, grant) in document.grants.iter().enumerate() {
        let granted = rights_of(grant);
        let named = grant.principals.iter();
        let named = named.filter_map(|name| by_name.get(&(&grant.tenant, name)));
        let members = grant.groups.iter();
        let members = members.filter_map(|name| by_group.get(&(&grant.tenant, name)));
        for &who in named.chain(members.flatten()) {
            pairs += all[who].add(grant, granted);
            if pairs > MAX_RIGHTS {
                return Err(refuse(Entry::Grant(index), Problem::TooManyRights));
            }
        }
    }
    Ok(all)
}

fn rights_of(grant: &Grant) -> Rights {
    let operations = grant.operations.iter().copied();
    // Checked before; here it holds even if a check should ever be lost.
    let grantable = operations.filter(|&one| Scope::of(one) != Scope::Installation);
    let bits = grantable.map(bit).fold(0, |all, one| all | one);
    let none = Rights::default();
    match (grant.effect, grant.paths.is_empty()) {
        (Effect::Allow, true) => Rights {
            allow: bits,
            ..none
        },
        (Effect::Allow, false) => Rights {
            paths: bits,
            ..none
        },
        (Effect::Deny, true) => Rights { deny: bits, ..none },
        // It takes away some keys, not the operation.
        (Effect::Deny, false) => none,
    }
}
