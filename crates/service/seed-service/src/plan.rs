//! What follows from the files: contexts, keys to read with, groups, principals, grants, and whom to revoke.

use std::fmt;

use keywright_custody::ReaderDetail;
use keywright_custody::reader::{FormerName, NonceLen};
use keywright_policy::{
    ContextPattern, Effect, Fact, Fingerprint, Grant, GroupEntry, Legacy, PolicyDocument,
    PrincipalEntry, Rule,
};
use keywright_types::{BindingKind, Name, Operation, Plane};

use crate::files::{Config, Key, Metadata, Revocations, RevokedClient};
use crate::{Client, Error, File, Manifest, Renamed};

/// Everything that a plan is made of.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever plans must bring each part"
)]
pub struct Given<'a> {
    /// Its configuration.
    pub config: &'a Config,
    /// Its key metadata.
    pub metadata: &'a Metadata,
    /// Its list of revoked clients.
    pub revocations: &'a Revocations,
    /// Its clients.
    pub manifest: &'a Manifest,
    /// The keys of the authorities that issue their certificates.
    pub anchors: &'a [Fingerprint],
    /// How long the nonces of its ciphertexts are.
    pub nonce: NonceLen,
    /// The tenant that all of it goes to.
    pub tenant: &'a Name,
}

/// What is to be done.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan {
    /// Contexts, each with the keys to read with.
    pub contexts: Vec<PlannedContext>,
    /// Groups, principals and grants to add to the policy.
    pub policy: PolicyDocument,
    /// Clients that were revoked. None of them is a principal.
    pub revoked: Vec<RevokedClient>,
    /// What whoever moves should know.
    pub warnings: Vec<Warning>,
}

/// A context to make.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedContext {
    /// Its name.
    pub name: Name,
    /// What its new envelopes are bound to.
    pub binding: BindingKind,
    /// The keys that the context had there.
    pub readers: Vec<ReaderDetail>,
}

/// Something that is not as it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Checksums of the key metadata are those of labels.
    Checksums,
    /// A context of a type that was never used.
    NotAes(String),
    /// A context without a key to read with.
    NoVersions(String),
    /// A unit may use a context that there is not.
    NoContext {
        /// The unit.
        unit: String,
        /// The context.
        context: String,
    },
    /// A unit of which no client is listed.
    NoClients(String),
    /// A client is revoked, and becomes no principal.
    Revoked(String),
    /// A revoked client has something that is no serial number.
    OddSerial(String),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksums => f.write_str(
                "the checksums of the key metadata are those of the labels and say nothing of the keys: they are not \
                 looked at",
            ),
            Self::NotAes(context) => write!(f, "{context:?} is not of type aes, and is left out, as there"),
            Self::NoVersions(context) => {
                write!(f, "{context:?} has no version in the key metadata: nothing old opens in it")
            }
            Self::NoContext { unit, context } => {
                write!(f, "{unit:?} may use {context:?}, which there is not: it gets no grant for it")
            }
            Self::NoClients(unit) => write!(f, "no client of {unit:?} is listed: nobody uses its grants"),
            Self::Revoked(name) => write!(f, "{name:?} is revoked, and becomes no principal"),
            Self::OddSerial(name) => {
                write!(f, "what stands as the serial number of {name:?} is none: its certificate is in no list")
            }
        }
    }
}

impl Plan {
    /// Makes the plan, or says what keeps it from being whole.
    ///
    /// # Errors
    /// [`Error`].
    pub fn make(given: &Given<'_>) -> Result<Self, Error> {
        known(given)?;
        let mut plan = Self {
            contexts: Vec::new(),
            policy: PolicyDocument::default(),
            revoked: given.revocations.revoked.clone(),
            warnings: Vec::new(),
        };
        plan.add_contexts(given)?;
        plan.add_units(given)?;
        plan.add_clients(given)?;
        plan.policy.check()?;
        let odd = plan.revoked.iter().filter(|one| one.odd_serial);
        let odd = odd.map(|one| Warning::OddSerial(one.common_name.clone()));
        plan.warnings.extend(odd);
        Ok(plan)
    }

    fn add_contexts(&mut self, given: &Given<'_>) -> Result<(), Error> {
        let versions = &given.metadata.contexts;
        if versions.iter().any(|one| one.has_checksums) {
            self.warnings.push(Warning::Checksums);
        }
        for key in &given.config.keys {
            if !key.is_aes {
                self.warnings.push(Warning::NotAes(key.context.clone()));
                continue;
            }
            let name = renamed(&key.context, &given.manifest.contexts)?;
            let folded = name.case_folded();
            if self
                .contexts
                .iter()
                .any(|one| one.name.case_folded() == folded)
            {
                return Err(Error::SameName(key.context.clone()));
            }
            let own = versions.iter().find(|one| one.context == key.context);
            let labels = own.map_or(&[][..], |one| &one.labels);
            if labels.is_empty() {
                self.warnings.push(Warning::NoVersions(key.context.clone()));
            }
            let readers = labels.iter().map(|label| reader(key, label, given.nonce));
            self.contexts.push(PlannedContext {
                binding: match key.name {
                    FormerName::CommonName => BindingKind::Principal,
                    FormerName::OrganizationalUnit => BindingKind::Group,
                },
                readers: readers.collect::<Result<_, _>>()?,
                name,
            });
        }
        Ok(())
    }

    /// A group for each unit, and a grant for what it may use.
    fn add_units(&mut self, given: &Given<'_>) -> Result<(), Error> {
        for (unit, contexts) in &given.config.mappings {
            let group = renamed(unit, &given.manifest.units)?;
            let clients = &given.manifest.clients;
            if !clients
                .iter()
                .any(|client| client.organizational_unit == *unit)
            {
                self.warnings.push(Warning::NoClients(unit.clone()));
            }
            self.policy.groups.push(GroupEntry {
                id: None,
                name: group.clone(),
                tenant: given.tenant.clone(),
            });
            let mut patterns = Vec::new();
            for context in contexts {
                let name = renamed(context, &given.manifest.contexts);
                let known = name.ok().filter(|name| self.has(name));
                match known {
                    Some(name) => patterns.push(ContextPattern::Exact(name)),
                    None => self.warnings.push(Warning::NoContext {
                        unit: unit.clone(),
                        context: context.clone(),
                    }),
                }
            }
            if !patterns.is_empty() {
                self.policy.grants.push(Grant {
                    tenant: given.tenant.clone(),
                    principals: Vec::new(),
                    groups: vec![group],
                    effect: Effect::Allow,
                    operations: RIGHTS.to_vec(),
                    contexts: patterns,
                    paths: Vec::new(),
                });
            }
        }
        Ok(())
    }

    fn has(&self, name: &Name) -> bool {
        self.contexts.iter().any(|context| context.name == *name)
    }

    fn add_clients(&mut self, given: &Given<'_>) -> Result<(), Error> {
        for client in &given.manifest.clients {
            let revoked = |one: &RevokedClient| one.common_name == client.common_name;
            if self.revoked.iter().any(revoked) {
                let warning = Warning::Revoked(client.common_name.clone());
                self.warnings.push(warning);
                continue;
            }
            self.policy.principals.push(principal(client, given)?);
        }
        Ok(())
    }
}

fn principal(client: &Client, given: &Given<'_>) -> Result<PrincipalEntry, Error> {
    let unit = &client.organizational_unit;
    if !given.config.mappings.iter().any(|(known, _)| known == unit) {
        return Err(Error::Unknown(unit.clone()));
    }
    Ok(PrincipalEntry {
        id: None,
        name: client.name.clone(),
        tenant: given.tenant.clone(),
        group: Some(renamed(unit, &given.manifest.units)?),
        heirs: Vec::new(),
        legacy_cn: Legacy(client.former_common_names.clone()),
        legacy_ou: Legacy(client.former_organizational_units.clone()),
        plane: Plane::Data,
        rules: vec![Rule {
            anchors: given.anchors.to_vec(),
            fact: Fact::Subject {
                common_name: client.common_name.clone(),
                organizational_unit: unit.clone(),
            },
        }],
    })
}

fn reader(key: &Key, label: &str, nonce: NonceLen) -> Result<ReaderDetail, Error> {
    let reader = ReaderDetail {
        label: label.to_owned(),
        context: key.context.clone(),
        name: key.name,
        nonce,
        object: None,
    };
    match reader.check() {
        Ok(()) => Ok(reader),
        Err(bad) => Err(Error::Label(label.to_owned(), bad)),
    }
}

/// Refuses versions of which nobody says how they read, and names that are in none of the files.
fn known(given: &Given<'_>) -> Result<(), Error> {
    let Given {
        config, manifest, ..
    } = given;
    let is_key = |name: &String| config.keys.iter().any(|key| key.context == *name);
    let is_unit = |name: &String| config.mappings.iter().any(|(unit, _)| unit == name);
    let mut versions = given.metadata.contexts.iter().map(|one| &one.context);
    if let Some(other) = versions.find(|name| !is_key(name)) {
        return Err(Error::KeyWithoutMode(other.clone()));
    }
    let mut contexts = manifest.contexts.iter().map(|renamed| &renamed.former);
    let mut units = manifest.units.iter().map(|renamed| &renamed.former);
    let unknown = contexts.find(|name| !is_key(name));
    match unknown.or_else(|| units.find(|name| !is_unit(name))) {
        Some(name) => Err(Error::Unknown(name.clone())),
        None => twice(given),
    }
}

/// Refuses two certificates of one subject, which would be of no principal at all.
fn twice(given: &Given<'_>) -> Result<(), Error> {
    let subjects = given.manifest.clients.iter();
    let mut subjects: Vec<_> = subjects
        .map(|client| (&client.common_name, &client.organizational_unit))
        .collect();
    subjects.sort();
    let twice = subjects.windows(2).find(|pair| pair.first() == pair.last());
    match twice.and_then(<[_]>::first) {
        Some((name, _)) => Err(Error::Twice {
            file: File::Clients,
            place: format!("the client {name}"),
        }),
        None => Ok(()),
    }
}

fn renamed(former: &str, names: &[Renamed]) -> Result<Name, Error> {
    let given = names.iter().find(|renamed| renamed.former == former);
    match given {
        Some(renamed) => Ok(renamed.name.clone()),
        None => former.parse().map_err(|_| Error::Name(former.to_owned())),
    }
}

/// The policy in force with what is to be added. What stands there already stays as it is; what stands there and is
/// something else is refused.
///
/// # Errors
/// [`Error::Differs`], [`Error::Policy`].
pub fn merged(
    mut current: PolicyDocument,
    additions: &PolicyDocument,
) -> Result<PolicyDocument, Error> {
    for group in &additions.groups {
        let known = |one: &&GroupEntry| one.name == group.name && one.tenant == group.tenant;
        if current.groups.iter().find(known).is_none() {
            current.groups.push(group.clone());
        }
    }
    for principal in &additions.principals {
        let known =
            |one: &&PrincipalEntry| one.name == principal.name && one.tenant == principal.tenant;
        match current.principals.iter().find(known) {
            None => current.principals.push(principal.clone()),
            Some(one) => {
                let same = PrincipalEntry {
                    id: one.id,
                    ..principal.clone()
                };
                if *one != same {
                    let name = principal.name.clone();
                    return Err(Error::Differs {
                        kind: "principal",
                        name,
                    });
                }
            }
        }
    }
    for grant in &additions.grants {
        if !current.grants.contains(grant) {
            current.grants.push(grant.clone());
        }
    }
    current.check()?;
    Ok(current)
}

/// What a unit of that service could do with a context, and what moves its data.
const RIGHTS: [Operation; 3] = [Operation::Encrypt, Operation::Decrypt, Operation::Rewrap];
