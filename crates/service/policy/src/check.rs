//! Whether the entries of a document fit together.
//!
//! Everything that can be decided without the store is decided here, so that a person hears of it
//! with a line number; `Policy::compile` runs it again, because a document may come from anywhere.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use keywright_types::{Name, Operation};

use crate::document::{ContextPattern, Grant, GroupEntry, Legacy, PrincipalEntry};
use crate::error::{Entry, Problem};
use crate::{
    Error, Fact, Fingerprint, MAX_FACT, MAX_LEGACY_NAMES, PolicyDocument, Rule, Scope, limit,
    takes_paths,
};

pub(crate) fn entries(document: &PolicyDocument) -> Result<(), Error> {
    let names = Names::of(document);
    each(&document.groups, Entry::Group, group(document))?;
    each(
        &document.principals,
        Entry::Principal,
        principal(document, &names),
    )?;
    rules(&document.principals)?;
    each(&document.grants, Entry::Grant, |_, entry| {
        grant(entry, &names)
    })?;
    limit::check(document, |entry| {
        for name in &entry.principals {
            names.principal("principals", &entry.tenant, name)?;
        }
        let groups = &mut entry.groups.iter();
        groups.try_for_each(|name| names.group("groups", &entry.tenant, name))
    })
}

fn each<T>(
    list: &[T],
    place: impl Fn(usize) -> Entry,
    mut check: impl FnMut(usize, &T) -> Result<(), Problem>,
) -> Result<(), Error> {
    list.iter().enumerate().try_for_each(|(index, item)| {
        check(index, item).map_err(|problem| Error::Content {
            line: None,
            entry: place(index),
            problem,
        })
    })
}

/// The names that entries may refer to, each inside its tenant.
struct Names<'a> {
    groups: HashSet<(&'a Name, &'a Name)>,
    principals: HashSet<(&'a Name, &'a Name)>,
}

impl<'a> Names<'a> {
    fn of(document: &'a PolicyDocument) -> Self {
        let groups = document.groups.iter();
        let principals = document.principals.iter();
        Self {
            groups: groups.map(|entry| (&entry.tenant, &entry.name)).collect(),
            principals: principals
                .map(|entry| (&entry.tenant, &entry.name))
                .collect(),
        }
    }

    fn group(&self, key: &'static str, tenant: &Name, name: &Name) -> Result<(), Problem> {
        let known = self.groups.contains(&(tenant, name));
        known.then_some(()).ok_or_else(|| Problem::UnknownGroup {
            key,
            tenant: tenant.clone(),
            name: name.clone(),
        })
    }

    fn principal(&self, key: &'static str, tenant: &Name, name: &Name) -> Result<(), Problem> {
        let known = self.principals.contains(&(tenant, name));
        known
            .then_some(())
            .ok_or_else(|| Problem::UnknownPrincipal {
                key,
                tenant: tenant.clone(),
                name: name.clone(),
            })
    }
}

/// Ids and names of one kind of entry, none of them twice.
struct Distinct<I> {
    ids: HashSet<I>,
    names: HashSet<(Name, Name)>,
}

impl<I: Copy + Default + Eq + Hash> Distinct<I> {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            ids: HashSet::with_capacity(capacity),
            names: HashSet::with_capacity(capacity),
        }
    }

    fn add(&mut self, id: Option<I>, tenant: &Name, name: &Name) -> Result<(), Problem> {
        if id == Some(I::default()) {
            return Err(Problem::NilId);
        }
        if id.is_some_and(|id| !self.ids.insert(id)) {
            return Err(Problem::IdTwice);
        }
        if !self.names.insert((tenant.clone(), name.case_folded())) {
            return Err(Problem::NameTwice { name: name.clone() });
        }
        Ok(())
    }
}

fn group(document: &PolicyDocument) -> impl FnMut(usize, &GroupEntry) -> Result<(), Problem> {
    let mut distinct = Distinct::with_capacity(document.groups.len());
    move |_, entry| distinct.add(entry.id, &entry.tenant, &entry.name)
}

fn principal<'a>(
    document: &PolicyDocument,
    names: &'a Names<'a>,
) -> impl FnMut(usize, &PrincipalEntry) -> Result<(), Problem> + 'a {
    let mut distinct = Distinct::with_capacity(document.principals.len());
    move |_, entry| {
        distinct.add(entry.id, &entry.tenant, &entry.name)?;
        if let Some(group) = &entry.group {
            names.group("group", &entry.tenant, group)?;
        }
        heirs(entry, names)?;
        legacy("legacy_cn", &entry.legacy_cn)?;
        legacy("legacy_ou", &entry.legacy_ou)
    }
}

fn heirs(entry: &PrincipalEntry, names: &Names<'_>) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for heir in &entry.heirs {
        if *heir == entry.name {
            return Err(Problem::OwnHeir);
        }
        if !seen.insert(heir) {
            return Err(Problem::HeirTwice { heir: heir.clone() });
        }
        names.principal("heirs", &entry.tenant, heir)?;
    }
    Ok(())
}

fn legacy(key: &'static str, names: &Legacy) -> Result<(), Problem> {
    if names.0.len() > MAX_LEGACY_NAMES {
        return Err(Problem::TooManyLegacyNames { key });
    }
    let malformed = |text: &String| text.is_empty() || has_control(text);
    match names.0.iter().any(malformed) {
        true => Err(Problem::LegacyMalformed { key }),
        false => Ok(()),
    }
}

// === rules ===

fn rules(principals: &[PrincipalEntry]) -> Result<(), Error> {
    let mut owners = HashMap::new();
    for (index, entry) in principals.iter().enumerate() {
        let place = |rule| Entry::Rule(index, rule);
        each(&entry.rules, place, |_, rule| {
            one_rule(rule, (index, entry), &mut owners)
        })?;
    }
    Ok(())
}

/// Which principal each pair of anchor and fact leads to.
type Owners<'a> = HashMap<(Fingerprint, Fact), (usize, &'a Name)>;

fn one_rule<'a>(
    rule: &Rule,
    (index, entry): (usize, &'a PrincipalEntry),
    owners: &mut Owners<'a>,
) -> Result<(), Problem> {
    if rule.anchors.is_empty() {
        return Err(Problem::NoAnchor);
    }
    let mut seen = HashSet::new();
    if !rule.anchors.iter().all(|anchor| seen.insert(anchor)) {
        return Err(Problem::AnchorTwice);
    }
    rule.fact
        .texts()
        .try_for_each(|(key, text)| fact_text(key, text))?;
    for anchor in &rule.anchors {
        let owner = (index, &entry.name);
        match owners.insert((*anchor, rule.fact.clone()), owner) {
            Some((other, by)) if other != index => {
                return Err(Problem::FactTaken {
                    key: rule.fact.key(),
                    by: by.clone(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

fn fact_text(key: &'static str, text: &str) -> Result<(), Problem> {
    match text {
        "" => Err(Problem::FactEmpty { key }),
        _ if text.len() > MAX_FACT => Err(Problem::FactTooLong { key }),
        _ if has_control(text) => Err(Problem::FactControl { key }),
        // A subject or a URI may hold a star; in a DNS name whoever writes one expects it to match.
        _ if key == "san_dns" && text.contains('*') => Err(Problem::FactWildcard { key }),
        _ => Ok(()),
    }
}

/// Control characters pass for nothing in a name: some tools cut at NUL, others hide a line.
pub(crate) fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

// === grants ===

fn grant(grant: &Grant, names: &Names<'_>) -> Result<(), Problem> {
    if grant.principals.is_empty() && grant.groups.is_empty() {
        return Err(Problem::GrantToNobody);
    }
    for name in &grant.principals {
        names.principal("principals", &grant.tenant, name)?;
    }
    for name in &grant.groups {
        names.group("groups", &grant.tenant, name)?;
    }
    operations(&grant.operations)?;
    contexts(grant)?;
    paths(grant)
}

fn paths(grant: &Grant) -> Result<(), Problem> {
    if grant.paths.is_empty() {
        return Ok(());
    }
    let mut operations = grant.operations.iter().copied();
    if let Some(operation) = operations.find(|&one| !takes_paths(one)) {
        return Err(Problem::PathsNotTaken { operation });
    }
    let mut seen = HashSet::new();
    match grant.paths.iter().find(|path| !seen.insert(*path)) {
        Some(path) => Err(Problem::PathTwice { path: path.clone() }),
        None => Ok(()),
    }
}

fn operations(operations: &[Operation]) -> Result<(), Problem> {
    if operations.is_empty() {
        return Err(Problem::NoOperation);
    }
    let mut seen = HashSet::new();
    for &operation in operations {
        if Scope::of(operation) == Scope::Installation {
            return Err(Problem::NotGrantable { operation });
        }
        if !seen.insert(operation) {
            return Err(Problem::OperationTwice { operation });
        }
    }
    let first = |scope| {
        operations
            .iter()
            .copied()
            .find(|&one| Scope::of(one) == scope)
    };
    match (first(Scope::Context), first(Scope::Tenant)) {
        (Some(with), Some(without)) => Err(Problem::ScopesMixed { with, without }),
        _ => Ok(()),
    }
}

/// The operations are all of one scope by now.
fn contexts(grant: &Grant) -> Result<(), Problem> {
    for &operation in &grant.operations {
        match (Scope::of(operation), grant.contexts.is_empty()) {
            (Scope::Context, true) => return Err(Problem::ContextsMissing { operation }),
            (Scope::Tenant, false) => return Err(Problem::ContextsNotTaken { operation }),
            _ => {}
        }
    }
    if grant.contexts.len() > 1 && grant.contexts.contains(&ContextPattern::Any) {
        return Err(Problem::AnyBesideNames);
    }
    let mut seen = HashSet::new();
    for pattern in &grant.contexts {
        if let ContextPattern::Exact(name) = pattern
            && !seen.insert(name)
        {
            return Err(Problem::ContextTwice {
                context: name.clone(),
            });
        }
    }
    Ok(())
}
