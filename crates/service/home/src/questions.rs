//! What the policy in force comes to: whether somebody may do something, and who may.
//!
//! The answer is the decision of the code that serves requests, on the snapshot that it serves from; the grants that
//! are listed beside it are for people to find the reason.

use keywright_api::route::{ROUTES, Route};
use keywright_policy::{
    ContextPattern, ContextRef, Denied, Effect, Grant, PolicyDocument, Principal, Scope,
};
use keywright_service::Snapshot;
use keywright_types::{Code, Name, Operation, Purpose};
use serde::{Deserialize, Serialize};

use crate::{Answer, HomeError, Node};

/// How far a right goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Reach {
    /// All of the context.
    Everywhere,
    /// Nowhere.
    Nowhere,
    /// Some keys of a tree, by their paths.
    SomePaths,
}

impl Reach {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Nowhere => "nowhere",
            Self::SomePaths => "some-paths",
        }
    }
}

/// A grant that concerns a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reason {
    /// Its place in the policy, from 1.
    pub grant: usize,
    /// Whether it allows or denies.
    pub effect: Effect,
    /// The paths that it is about; none for all keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// Somebody who may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Able {
    /// The principal.
    pub principal: Name,
    /// How far.
    pub reach: Reach,
}

/// What is asked about.
pub(crate) struct Asked<'a> {
    pub(crate) tenant: &'a Name,
    pub(crate) operation: Operation,
    pub(crate) context: Option<&'a Name>,
}

impl Node {
    /// Whether `who` may, with the grants that concern it.
    pub(crate) fn explain(&self, who: &Name, asked: &Asked<'_>) -> Result<Answer, HomeError> {
        let tenant = self.admin().tenant(asked.tenant)?;
        let snapshot = self.admin().shared().snapshot();
        let mut principals = snapshot.policy.principals();
        let principal = principals.find(|one| one.tenant() == tenant.id && one.name() == who);
        let principal = principal.ok_or_else(|| HomeError::PrincipalUnknown(who.to_string()))?;
        let (code, reach) = self.decide(&snapshot, principal, asked);
        let document = self.admin().policy()?.unwrap_or_default();
        Ok(Answer::Explained {
            code: code.name().to_owned(),
            reach,
            reasons: reasons(&document, who, asked),
        })
    }

    /// Who may.
    pub(crate) fn who_can(&self, asked: &Asked<'_>) -> Result<Answer, HomeError> {
        let tenant = self.admin().tenant(asked.tenant)?;
        let snapshot = self.admin().shared().snapshot();
        let ours = snapshot
            .policy
            .principals()
            .filter(|one| one.tenant() == tenant.id);
        let able = ours.filter_map(|principal| {
            let (code, reach) = self.decide(&snapshot, principal, asked);
            (code == Code::Ok).then(|| Able {
                principal: principal.name().clone(),
                reach,
            })
        });
        let mut principals: Vec<_> = able.collect();
        principals.sort_by(|a, b| a.principal.cmp(&b.principal));
        Ok(Answer::WhoCan { principals })
    }
}

impl Node {
    /// The decision that a request would meet, at the listener where this principal is served.
    fn decide(&self, snapshot: &Snapshot, who: &Principal, asked: &Asked<'_>) -> (Code, Reach) {
        let of = |route: &&Route| route.operation == asked.operation;
        let elsewhere = !ROUTES
            .iter()
            .filter(of)
            .any(|route| route.is_on(who.plane()));
        let routed = ROUTES.iter().any(|route| of(&route));
        match self.config().admin {
            Some(_) if routed && elsewhere => (Code::RouteNotFound, Reach::Nowhere),
            _ => decide(snapshot, who, asked),
        }
    }
}

/// The decision of the policy.
fn decide(snapshot: &Snapshot, who: &Principal, asked: &Asked<'_>) -> (Code, Reach) {
    let denied = |denied: Denied| (denied.code(), Reach::Nowhere);
    let allowed = (Code::Ok, Reach::Everywhere);
    if asks_for_identity_alone(asked.operation) {
        return allowed;
    }
    match Scope::of(asked.operation) {
        Scope::Installation => (Code::OperationDenied, Reach::Nowhere),
        Scope::Tenant => snapshot
            .policy
            .authorize_tenant(who, asked.operation)
            .map_or_else(denied, |_| allowed),
        Scope::Context => {
            let name = asked.context.map_or("", Name::as_str);
            let Some(key) = snapshot.keyring.find(who.tenant(), name) else {
                return (Code::ContextNotFound, Reach::Nowhere);
            };
            let context = ContextRef::new(key.tenant(), key.name().as_str(), key.id());
            let policy = &snapshot.policy;
            match policy.authorize(who, context, asked.operation) {
                Ok(_) => allowed,
                Err(_) if key.spec().purpose == Purpose::Tree => policy
                    .authorize_in_tree(who, context, asked.operation)
                    .map_or_else(denied, |_| (Code::Ok, Reach::SomePaths)),
                Err(error) => denied(error),
            }
        }
    }
}

/// Routes that ask for no grant: whoever is a principal may call them.
const fn asks_for_identity_alone(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::HealthRead | Operation::ContextList | Operation::ApiRead
    )
}

/// The grants that name this principal, or its group, with the operation and the context.
fn reasons(document: &PolicyDocument, who: &Name, asked: &Asked<'_>) -> Vec<Reason> {
    let mut entries = document.principals.iter();
    let entry = entries.find(|entry| entry.tenant == *asked.tenant && entry.name == *who);
    let group = entry.and_then(|entry| entry.group.as_ref());
    let concerns = |grant: &Grant| {
        let named = grant.principals.contains(who)
            || group.is_some_and(|group| grant.groups.contains(group));
        let about = match asked.context {
            None => grant.contexts.is_empty(),
            Some(context) => grant.contexts.iter().any(|pattern| match pattern {
                ContextPattern::Any => true,
                ContextPattern::Exact(name) => name == context,
            }),
        };
        grant.tenant == *asked.tenant
            && named
            && about
            && grant.operations.contains(&asked.operation)
    };
    let grants = document.grants.iter().enumerate();
    let grants = grants.filter(|(_, grant)| concerns(grant));
    grants
        .map(|(place, grant)| Reason {
            grant: place + 1,
            effect: grant.effect,
            paths: grant.paths.iter().map(ToString::to_string).collect(),
        })
        .collect()
}
