//! How fast a principal may ask: a token bucket, and what each operation costs.
//!
//! A document's `[[limit]]` says it for principals, for each member of groups, or, naming nobody, for
//! everybody of a tenant. The one that names a principal counts before its group's, and that before the
//! one for everybody; they do not add up.
//!
//! Not here: how full a bucket is. That is no state of the policy, and outlives one.

use std::collections::{BTreeMap, HashMap, HashSet};

use keywright_types::{Name, Operation};
use serde::{Deserialize, Serialize};

use crate::document::PrincipalEntry;
use crate::error::{Entry, Problem};
use crate::{Error, MAX_BURST, MAX_COST, MAX_RATE, PolicyDocument, Scope};

/// How fast some principals may ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as PolicyDocument")]
pub struct LimitEntry {
    /// The tenant of everybody named here; `default` if it is not written.
    #[serde(default = "Name::default_tenant")]
    pub tenant: Name,
    /// Principals. With no principals and no groups it is for everybody of the tenant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub principals: Vec<Name>,
    /// Groups: each of their members has a bucket of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Name>,
    /// Units a second that the bucket is filled with.
    pub per_second: u32,
    /// Units that the bucket holds; as many as a second brings if it is not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// What an item of an operation costs, in units; 1 where nothing is written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<Operation, u32>,
}

/// The limit of one principal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    per_second: u32,
    burst: u32,
    /// Those that are not 1.
    costs: Box<[(Operation, u32)]>,
}

impl RateLimit {
    fn new(entry: &LimitEntry) -> Self {
        let costs = entry
            .costs
            .iter()
            .map(|(operation, cost)| (*operation, *cost));
        Self {
            per_second: entry.per_second,
            burst: entry.burst.unwrap_or(entry.per_second),
            costs: costs.filter(|(_, cost)| *cost != 1).collect(),
        }
    }

    /// Units a second.
    #[must_use]
    pub const fn per_second(&self) -> u32 {
        self.per_second
    }

    /// Units that may be spent at once after a time of rest.
    #[must_use]
    pub const fn burst(&self) -> u32 {
        self.burst
    }

    /// Units for `items` items of an operation.
    #[must_use]
    pub fn price(&self, operation: Operation, items: u64) -> u64 {
        let mut costs = self.costs.iter();
        let cost = costs.find(|(one, _)| *one == operation);
        items.saturating_mul(cost.map_or(1, |(_, cost)| u64::from(*cost)))
    }
}

// === checking ===

/// Whether every limit can be kept, and nobody has two that count alike.
pub(crate) fn check(
    document: &PolicyDocument,
    known: impl Fn(&LimitEntry) -> Result<(), Problem>,
) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for (index, entry) in document.limits.iter().enumerate() {
        numbers(entry)
            .and_then(|()| known(entry))
            .and_then(|()| once(entry, &mut seen))
            .map_err(|problem| Error::Content {
                line: None,
                entry: Entry::Limit(index),
                problem,
            })?;
    }
    Ok(())
}

fn numbers(entry: &LimitEntry) -> Result<(), Problem> {
    let within = |key, value, low, most| match (low..=most).contains(&value) {
        true => Ok(()),
        false => Err(Problem::OutOfRange { key, low, most }),
    };
    within("per_second", entry.per_second, 1, MAX_RATE)?;
    within("burst", entry.burst.unwrap_or(1), 1, MAX_BURST)?;
    for (&operation, &cost) in &entry.costs {
        // What no request asks for costs nobody anything.
        if Scope::of(operation) == Scope::Installation && operation != Operation::Unrouted {
            return Err(Problem::NotLimited { operation });
        }
        within("costs", cost, 0, MAX_COST)?;
    }
    Ok(())
}

/// For whom a limit is, inside its tenant.
#[derive(PartialEq, Eq, Hash)]
enum For<'a> {
    Everybody,
    Group(&'a Name),
    Principal(&'a Name),
}

fn once<'a>(entry: &'a LimitEntry, seen: &mut HashSet<(&'a Name, For<'a>)>) -> Result<(), Problem> {
    let mut add = |key, whom, name: Option<&Name>| match seen.insert((&entry.tenant, whom)) {
        true => Ok(()),
        false => Err(Problem::LimitTwice {
            key,
            name: name.cloned(),
        }),
    };
    if entry.principals.is_empty() && entry.groups.is_empty() {
        return add("per_second", For::Everybody, None);
    }
    for name in &entry.principals {
        add("principals", For::Principal(name), Some(name))?;
    }
    for name in &entry.groups {
        add("groups", For::Group(name), Some(name))?;
    }
    Ok(())
}

// === compiling ===

/// The limits of a document, to be found for each principal.
pub(crate) struct Limits<'a>(HashMap<(&'a Name, For<'a>), RateLimit>);

impl<'a> Limits<'a> {
    pub(crate) fn of(document: &'a PolicyDocument) -> Self {
        let mut all = HashMap::new();
        for entry in &document.limits {
            let limit = RateLimit::new(entry);
            let principals = entry.principals.iter().map(For::Principal);
            for whom in principals.chain(entry.groups.iter().map(For::Group)) {
                all.insert((&entry.tenant, whom), limit.clone());
            }
            if entry.principals.is_empty() && entry.groups.is_empty() {
                all.insert((&entry.tenant, For::Everybody), limit);
            }
        }
        Self(all)
    }

    pub(crate) fn find(&self, principal: &'a PrincipalEntry) -> Option<RateLimit> {
        let tenant = &principal.tenant;
        let named = self.0.get(&(tenant, For::Principal(&principal.name)));
        let of_group = || {
            let group = principal.group.as_ref()?;
            self.0.get(&(tenant, For::Group(group)))
        };
        let of_all = || self.0.get(&(tenant, For::Everybody));
        named.or_else(of_group).or_else(of_all).cloned()
    }
}
