//! What an operator may tell a node, whether it is running or not.

use keywright_policy::PolicyDocument;
use keywright_types::{BindingKind, ContextId, KeySpec, KeyVersion, Name, State};
use serde::{Deserialize, Serialize};

use crate::{HomeError, Node};

/// One order. It travels as JSON over the control socket of a running node.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Order {
    /// Make a context.
    ContextCreate {
        /// Its tenant.
        tenant: Name,
        /// Its name.
        name: Name,
        /// What its envelopes are bound to.
        binding: BindingKind,
        /// What is fixed about its key.
        spec: KeySpec,
    },
    /// Say which contexts a tenant has; with a name, only that one.
    Contexts {
        /// The tenant.
        tenant: Name,
        /// One context, or all.
        name: Option<Name>,
    },
    /// Make a new version active.
    KeyRotate {
        /// The tenant.
        tenant: Name,
        /// The context.
        name: Name,
    },
    /// Put a policy in force, given as the text of its document.
    PolicyApply {
        /// The document.
        text: String,
    },
    /// Say which policy is in force.
    PolicyShow,
    /// Read the revocation list again.
    TrustReload,
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Answer {
    /// A context was made.
    ContextCreated {
        /// Its id.
        id: ContextId,
        /// Its first version.
        version: KeyVersion,
    },
    /// The contexts asked for.
    Contexts {
        /// In order of their names.
        contexts: Vec<ContextState>,
    },
    /// A key was rotated.
    KeyRotated {
        /// The version that is active now.
        version: KeyVersion,
    },
    /// A policy or revocation list is in force.
    InForce {
        /// The epoch that it is in force from.
        epoch: u64,
    },
    /// The policy in force, as a document.
    Policy {
        /// Its text.
        text: String,
    },
    /// The order was refused.
    Refused {
        /// The stable code.
        code: String,
        /// Why, for people.
        sentence: String,
        /// What to do, for people.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        advice: String,
    },
}

/// One context as the store has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextState {
    /// Its name.
    pub name: Name,
    /// Its id.
    pub id: ContextId,
    /// What its envelopes are bound to.
    pub binding: BindingKind,
    /// What is fixed about its key.
    pub spec: KeySpec,
    /// Its versions, oldest first.
    pub versions: Vec<VersionState>,
}

/// One version of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VersionState {
    /// Its number.
    pub version: KeyVersion,
    /// Its state.
    pub state: State,
    /// When it was made (RFC 3339).
    pub created: String,
    /// When it stopped sealing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
}

impl Node {
    /// Carries out one order.
    ///
    /// # Errors
    /// [`HomeError`]; nothing is changed.
    pub fn carry_out(&self, order: Order) -> Result<Answer, HomeError> {
        let admin = self.admin();
        match order {
            Order::ContextCreate {
                tenant,
                name,
                binding,
                spec,
            } => {
                let made = admin.create_context(&tenant, &name, spec, binding)?;
                Ok(Answer::ContextCreated {
                    id: made.id,
                    version: made.version,
                })
            }
            Order::Contexts { tenant, name } => self.contexts(&tenant, name.as_ref()),
            Order::KeyRotate { tenant, name } => Ok(Answer::KeyRotated {
                version: admin.rotate(&tenant, &name)?,
            }),
            Order::PolicyApply { text } => {
                let document =
                    PolicyDocument::parse(&text).map_err(keywright_service::AdminError::from)?;
                Ok(Answer::InForce {
                    epoch: admin.apply_policy(document)?,
                })
            }
            Order::PolicyShow => {
                let document = admin.policy()?;
                let text = document.map_or(Ok(String::new()), |document| document.to_toml());
                Ok(Answer::Policy {
                    text: text.map_err(keywright_service::AdminError::from)?,
                })
            }
            Order::TrustReload => Ok(Answer::InForce {
                epoch: self.reload_trust()?,
            }),
        }
    }

    fn contexts(&self, tenant: &Name, name: Option<&Name>) -> Result<Answer, HomeError> {
        let admin = self.admin();
        let tenant = admin.tenant(tenant)?;
        let keys = match name {
            Some(name) => vec![admin.find(&tenant, name)?],
            None => {
                let snapshot = admin.shared().snapshot_owned();
                snapshot
                    .keyring
                    .iter()
                    .filter(|key| key.tenant() == tenant.id)
                    .cloned()
                    .collect()
            }
        };
        let mut contexts: Vec<_> = keys.iter().map(|key| state_of(key)).collect();
        contexts.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Answer::Contexts { contexts })
    }
}

fn state_of(key: &keywright_custody::Key) -> ContextState {
    let versions = key.versions().iter().map(|version| VersionState {
        version: version.number(),
        state: version.state(),
        created: version.material().created().rfc3339(),
        retired: version.retired().map(keywright_clock::WallTime::rfc3339),
    });
    ContextState {
        name: key.name().clone(),
        id: key.id(),
        binding: key.binding(),
        spec: *key.spec(),
        versions: versions.collect(),
    }
}
