//! The document a person writes and the store keeps.
//!
//! TOML for people, JSON in the store; both refuse unknown keys. An entry without an id gets one when
//! the document is applied: the one its name has already ([`PolicyDocument::adopt_ids`]), else a new
//! one ([`PolicyDocument::complete`]).

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use keywright_types::{GroupId, Name, Operation, Plane, PrincipalId};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Entry, Problem};
use crate::place::Places;
use crate::{Error, LimitEntry, MAX_DOCUMENT, PathPattern, Rule, Scope, check};

/// Groups, principals, grants and limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain record that callers fill in; `Policy::compile` checks it"
)]
pub struct PolicyDocument {
    /// The version of the document's form.
    pub version: DocumentVersion,
    /// Groups of principals.
    #[serde(default, rename = "group", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupEntry>,
    /// Principals.
    #[serde(default, rename = "principal", skip_serializing_if = "Vec::is_empty")]
    pub principals: Vec<PrincipalEntry>,
    /// What they may and may not do.
    #[serde(default, rename = "grant", skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// How fast they may do it.
    #[serde(default, rename = "limit", skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitEntry>,
}

/// A group inside one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as PolicyDocument")]
pub struct GroupEntry {
    /// The id that data binds to; filled in when the document is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<GroupId>,
    /// The name.
    pub name: Name,
    /// The tenant; `default` if it is not written.
    #[serde(default = "Name::default_tenant")]
    pub tenant: Name,
}

/// A principal, and how its certificates are recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as PolicyDocument")]
pub struct PrincipalEntry {
    /// The id that data, audit and limits bind to; filled in when the document is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PrincipalId>,
    /// The name.
    pub name: Name,
    /// The tenant; `default` if it is not written.
    #[serde(default = "Name::default_tenant")]
    pub tenant: Name,
    /// Where it is served, by a node that has a listener for its administration: there, or with everybody else.
    #[serde(default, skip_serializing_if = "Plane::is_default")]
    pub plane: Plane,
    /// The group, of the same tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Name>,
    /// Principals of the same tenant that may open what is bound to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heirs: Vec<Name>,
    /// Former common names.
    #[serde(default, skip_serializing_if = "Legacy::is_empty")]
    pub legacy_cn: Legacy,
    /// Former organisational units.
    #[serde(default, skip_serializing_if = "Legacy::is_empty")]
    pub legacy_ou: Legacy,
    /// What its certificates show. Without a rule no certificate is this principal's.
    #[serde(default, rename = "rule", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// What some principals and groups of one tenant may, or may not, do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as PolicyDocument")]
pub struct Grant {
    /// The tenant of everything named here; `default` if it is not written.
    #[serde(default = "Name::default_tenant")]
    pub tenant: Name,
    /// Principals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub principals: Vec<Name>,
    /// Groups, for each of their members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Name>,
    /// Whether it allows or denies.
    #[serde(default)]
    pub effect: Effect,
    /// Operations, all of them on contexts or none.
    #[serde(deserialize_with = "operations")]
    pub operations: Vec<Operation>,
    /// Contexts; left out for operations that concern none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<ContextPattern>,
    /// Which keys of trees it is about; left out for all of them, and for contexts that are no trees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathPattern>,
}

/// As the list's own reader, but the answer to a slip of the pen names the slip.
fn operations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Operation>, D::Error> {
    let names = <Vec<Cow<'de, str>>>::deserialize(deserializer)?;
    let known = |name: &Cow<'de, str>| {
        name.parse().map_err(|_| {
            let grantable = Operation::ALL.iter().copied();
            let grantable = grantable.filter(|&one| Scope::of(one) != Scope::Installation);
            let all: Vec<_> = grantable.map(Operation::name).collect();
            let name = name.escape_default();
            de::Error::custom(format!(
                "unknown operation `{name}`; there are {}",
                all.join(", ")
            ))
        })
    };
    names.iter().map(known).collect()
}

/// What a grant does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between the two")]
pub enum Effect {
    /// Gives a right.
    #[default]
    Allow,
    /// Takes a right away, whatever else gives it.
    Deny,
}

/// Contexts in a grant: `*` alone, or one exact name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there are no other patterns (design 7.28)"
)]
pub enum ContextPattern {
    /// Every context of the tenant.
    Any,
    /// The context of this name.
    Exact(Name),
}

impl fmt::Display for ContextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exact(name) => name.fmt(f),
        }
    }
}

impl Serialize for ContextPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContextPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        match &*text {
            "*" => Ok(Self::Any),
            name => name.parse().map(Self::Exact).map_err(|_| {
                de::Error::custom(
                    "a context is an exact name, or `*` alone for all; there are no patterns",
                )
            }),
        }
    }
}

/// The version of the document's form: 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentVersion;

impl Serialize for DocumentVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

impl<'de> Deserialize<'de> for DocumentVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match i64::deserialize(deserializer)? {
            1 => Ok(Self),
            _ => Err(de::Error::custom("this program reads version 1")),
        }
    }
}

/// Former names: written as one text or as a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a list with two spellings")]
pub struct Legacy(pub Vec<String>);

impl Legacy {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Legacy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => serializer.serialize_str(one),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Legacy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Legacy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Legacy, E> {
                Ok(Legacy(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Legacy, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(Legacy(texts))
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}

// === reading and writing ===

impl PolicyDocument {
    /// Reads and checks what a person wrote.
    ///
    /// # Errors
    /// With the line and the key, for anything that is not a policy document or whose entries do not
    /// fit together. Tenants are looked up by [`crate::Policy::compile`] only.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_DOCUMENT {
            return Err(Error::TooLong);
        }
        let document: Self = toml::from_str(text).map_err(|error| Places::syntax(text, &error))?;
        document
            .check()
            .map_err(|error| Places::locate(text, error))?;
        Ok(document)
    }

    /// Reads and checks what the store keeps.
    ///
    /// # Errors
    /// As [`Self::parse`], without a line where entries do not fit together.
    pub fn from_json(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > MAX_DOCUMENT {
            return Err(Error::TooLong);
        }
        let document: Self = serde_json::from_slice(bytes).map_err(|error| Error::Stored {
            line: error.line(),
            column: error.column(),
        })?;
        document.check()?;
        Ok(document)
    }

    /// The document for people. [`Self::parse`] gives back the same document.
    ///
    /// # Errors
    /// [`Error::Write`], if a text cannot be written.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|_| Error::Write)
    }

    /// The document for the store. [`Self::from_json`] gives back the same document.
    ///
    /// # Errors
    /// [`Error::Write`], if a text cannot be written.
    pub fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|_| Error::Write)
    }

    /// Whether the entries fit together, but for the tenants and for ids that are still missing.
    ///
    /// # Errors
    /// [`Error::Content`] for the first entry that does not.
    pub fn check(&self) -> Result<(), Error> {
        check::entries(self)
    }

    // === ids ===

    /// Takes over the ids that the names have in the document now in force, so that applying the
    /// same text again binds nobody to a new id.
    ///
    /// # Errors
    /// If an entry gives a name another id than it has, or an id to another name (design 7.3).
    pub fn adopt_ids(&mut self, current: &Self) -> Result<(), Error> {
        let groups = Ids::of(current.groups.iter().map(|e| (&e.tenant, &e.name, e.id)));
        for (index, entry) in self.groups.iter_mut().enumerate() {
            entry.id = groups
                .settle(&entry.tenant, &entry.name, entry.id)
                .map_err(|problem| content(Entry::Group(index), problem))?;
        }
        let principals = Ids::of(
            current
                .principals
                .iter()
                .map(|e| (&e.tenant, &e.name, e.id)),
        );
        for (index, entry) in self.principals.iter_mut().enumerate() {
            entry.id = principals
                .settle(&entry.tenant, &entry.name, entry.id)
                .map_err(|problem| content(Entry::Principal(index), problem))?;
        }
        Ok(())
    }

    /// Gives a fresh id to every entry that has none. `fresh` answers 16 random bytes each time.
    pub fn complete(&mut self, mut fresh: impl FnMut() -> [u8; 16]) {
        for entry in &mut self.groups {
            entry.id.get_or_insert_with(|| GroupId::from_bytes(fresh()));
        }
        for entry in &mut self.principals {
            entry
                .id
                .get_or_insert_with(|| PrincipalId::from_bytes(fresh()));
        }
    }
}

const fn content(entry: Entry, problem: Problem) -> Error {
    Error::Content {
        line: None,
        entry,
        problem,
    }
}

/// The ids of the entries in force, both ways.
struct Ids<'a, I> {
    by_name: HashMap<(&'a Name, &'a Name), I>,
    by_id: HashMap<I, (&'a Name, &'a Name)>,
}

impl<'a, I: Copy + Eq + std::hash::Hash> Ids<'a, I> {
    fn of(entries: impl Iterator<Item = (&'a Name, &'a Name, Option<I>)> + Clone) -> Self {
        let known = entries.filter_map(|(tenant, name, id)| Some(((tenant, name), id?)));
        Self {
            by_name: known.clone().collect(),
            by_id: known.map(|(name, id)| (id, name)).collect(),
        }
    }

    /// The id this entry has from now on.
    fn settle(&self, tenant: &Name, name: &Name, given: Option<I>) -> Result<Option<I>, Problem> {
        let known = self.by_name.get(&(tenant, name)).copied();
        let Some(given) = given else {
            return Ok(known);
        };
        if known.is_some_and(|known| known != given) {
            return Err(Problem::IdChanged { name: name.clone() });
        }
        match self.by_id.get(&given) {
            Some(&(_, other)) if known.is_none() => Err(Problem::IdMoved {
                name: other.clone(),
            }),
            _ => Ok(Some(given)),
        }
    }
}
