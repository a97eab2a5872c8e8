//! What an operator may tell a node, whether it is running or not.

use keywright_clock::WallTime;
use keywright_custody::lifecycle::Order as Life;
use keywright_custody::rows::life::Target;
use keywright_custody::tally::Tally;
use keywright_custody::{Detail, Key, ReaderDetail, Rules, Version};
use keywright_encoding::base64;
use keywright_policy::PolicyDocument;
use keywright_secret::SecretBytes;
use keywright_service::{Admin, AdminError, Author, LifeOrder, NewContext, NewRules};
use keywright_types::{BindingKind, ContextId, KeySpec, KeyVersion, Name, Operation, State};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

use crate::backup::{BackedUp, SlotText};
use crate::questions::Asked;
use crate::{Able, HomeError, Kind, Node, Reach, Reason, Recipient, Reloaded};

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
        /// What rotates it, and what its destruction needs.
        #[serde(default, skip_serializing_if = "Rules::is_default")]
        rules: Rules,
        /// What is fixed besides, if its purpose needs that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Detail>,
        /// The secret of its first version, if it is brought in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<Imported>,
    },
    /// Make a context whose first secret is brought in wrapped.
    ContextImport {
        /// Its tenant.
        tenant: Name,
        /// Its name.
        name: Name,
        /// What its envelopes are bound to.
        binding: BindingKind,
        /// What is fixed about its key.
        spec: KeySpec,
        /// What rotates it, and what its destruction needs.
        #[serde(default, skip_serializing_if = "Rules::is_default")]
        rules: Rules,
        /// What is fixed besides, if its purpose needs that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Detail>,
        /// The secret.
        wrapped: Wrapped,
    },
    /// Bring in a key of the seed service, to open what that one sealed under it.
    ReaderImport {
        /// The tenant.
        tenant: Name,
        /// The context.
        name: Name,
        /// How it reads.
        reader: ReaderDetail,
        /// The key; nothing where it is in the token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wrapped: Option<Wrapped>,
    },
    /// Make a key to which another can be wrapped. It is kept in the memory of the node alone.
    ImportBegin,
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
    /// Carry out an order about versions of a context's key.
    KeyLife {
        /// The tenant.
        tenant: Name,
        /// The context.
        name: Name,
        /// What is ordered.
        life: Life,
        /// The version; every one that it concerns if it is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<KeyVersion>,
        /// Whether a destruction takes place although the version was used lately.
        #[serde(default)]
        despite_use: bool,
    },
    /// Change the rules of a context.
    ContextSet {
        /// The tenant.
        tenant: Name,
        /// The context.
        name: Name,
        /// What changes.
        rules: RuleChanges,
    },
    /// Give out the key of a context that is no wallet, sealed to recipients.
    KeyExport {
        /// The tenant.
        tenant: Name,
        /// The context.
        name: Name,
        /// The version; the active one if it is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<KeyVersion>,
        /// To whom.
        recipients: Vec<Recipient>,
    },
    /// Give out the seed of a wallet, sealed to recipients.
    SeedExport {
        /// The tenant.
        tenant: Name,
        /// The wallet.
        name: Name,
        /// To whom.
        recipients: Vec<Recipient>,
    },
    /// Write a backup.
    BackupCreate {
        /// The file, which must not exist, with an absolute path.
        to: PathBuf,
        /// The data key of the file, whose slots are made.
        key: Imported,
        /// The slots.
        slots: Vec<SlotText>,
    },
    /// Say that the clock is right after it jumped.
    ClockConfirm,
    /// Put a policy in force, given as the text of its document.
    PolicyApply {
        /// The document.
        text: String,
    },
    /// Say whether a principal may do something, and which grants that follows from.
    PolicyExplain {
        /// The tenant.
        tenant: Name,
        /// The principal.
        principal: Name,
        /// What it would do.
        operation: Operation,
        /// Where, if the operation concerns a context.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Name>,
    },
    /// Say which policy is in force.
    PolicyShow,
    /// Say who may do something.
    PolicyWhoCan {
        /// The tenant.
        tenant: Name,
        /// What.
        operation: Operation,
        /// Where, if the operation concerns a context.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Name>,
    },
    /// Read certificate, key, anchors, revocation lists and log level again.
    Reload,
    /// Read the revocation list again.
    TrustReload,
}

/// Changes of rules, as they travel; what is missing stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct RuleChanges {
    /// Whether destruction needs two approvals; never taken back.
    pub two_approvals: Option<bool>,
    /// Days from the order to a destruction.
    pub destroy_after_days: Option<u16>,
    /// Days without use before a destruction.
    pub quiet_days: Option<u16>,
    /// When it is rotated.
    pub rotation: Option<Rotation>,
    /// After how many uses of a version it is rotated; 0 for never.
    pub rotate_after_uses: Option<u64>,
    /// After how many uses of a version it makes nothing new; 0 for never.
    pub refuse_after_uses: Option<u64>,
    /// Versions below this do not open.
    pub min_open: Option<KeyVersion>,
    /// The campaign.
    pub campaign: Option<CampaignOrder>,
}

/// When a key is rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Rotation {
    /// By hand.
    ByHand,
    /// So many days after the last time.
    EveryDays(u16),
}

/// What is done about a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum CampaignOrder {
    /// It begins: so many ciphertexts are to be moved.
    Open(u64),
    /// It ends, done or not.
    Close,
}

impl From<RuleChanges> for NewRules {
    fn from(changes: RuleChanges) -> Self {
        Self {
            two_approvals: changes.two_approvals,
            destroy_after_days: changes.destroy_after_days,
            quiet_days: changes.quiet_days,
            rotate_after_days: changes.rotation.map(|rotation| match rotation {
                Rotation::ByHand => None,
                Rotation::EveryDays(days) => Some(days),
            }),
            rotate_after_uses: changes.rotate_after_uses.map(or_never),
            refuse_after_uses: changes.refuse_after_uses.map(or_never),
            min_open: changes.min_open,
            campaign: changes.campaign.map(|order| match order {
                CampaignOrder::Open(total) => Some(total),
                CampaignOrder::Close => None,
            }),
        }
    }
}

const fn or_never(uses: u64) -> Option<u64> {
    match uses {
        0 => None,
        uses => Some(uses),
    }
}

/// A wrapped secret as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct Wrapped {
    /// The import key that it is wrapped to.
    pub import: String,
    /// The wrapped bytes, as base64.
    pub key: String,
    /// What says that it is the key that was meant, in hexadecimal.
    pub check: String,
}

/// The words of a new seed on their way to whoever ordered it: shown by nothing else, wiped.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Words(String);

impl Words {
    fn new(words: &SecretBytes) -> Self {
        // Words are ASCII.
        Self(String::from_utf8_lossy(words.expose()).into_owned())
    }

    /// The words, a space between two.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        keywright_secret::wipe(&mut std::mem::take(&mut self.0).into_bytes());
    }
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Words")
    }
}

/// A secret on its way from a file to the holder: base64 in the order, shown by nothing, wiped.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Imported(String);

impl Imported {
    /// This secret.
    #[must_use]
    pub fn new(secret: &SecretBytes) -> Self {
        Self(base64::encode(secret.expose()))
    }

    pub(crate) fn open(&self) -> Result<SecretBytes, HomeError> {
        let bytes = base64::decode(&self.0)
            .map_err(|_| AdminError::Holder(keywright_custody::HolderError::SecretLength))?;
        Ok(SecretBytes::from_vec(bytes))
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        keywright_secret::wipe(&mut std::mem::take(&mut self.0).into_bytes());
    }
}

impl std::fmt::Debug for Imported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Imported")
    }
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
        /// The words of its seed, where it is a tree whose private keys may leave. They are kept nowhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<Words>,
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
    /// A key of the seed service was brought in.
    ReaderImported {
        /// The version that opens what that service sealed under it.
        version: KeyVersion,
    },
    /// A key was made to which another can be wrapped.
    ImportBegun {
        /// How the import names it.
        id: String,
        /// The public key, as PEM.
        public_key: String,
        /// When it is forgotten (RFC 3339).
        not_after: String,
    },
    /// A seed or a key, sealed to its recipients.
    SeedSealed {
        /// The file, as base64.
        file: String,
    },
    /// A backup was written.
    BackedUp(BackedUp),
    /// Versions changed their state.
    KeyChanged {
        /// The versions, and what they are now.
        versions: Vec<Moved>,
    },
    /// Rules, a policy or a revocation list are in force.
    InForce {
        /// The epoch that it is in force from.
        epoch: u64,
    },
    /// What was read again.
    Reloaded(Reloaded),
    /// What a request would be answered with.
    Explained {
        /// The stable code: `ok` if it is allowed.
        code: String,
        /// How far the right goes.
        reach: Reach,
        /// The grants that concern it.
        reasons: Vec<Reason>,
    },
    /// Who may.
    WhoCan {
        /// In order of their names.
        principals: Vec<Able>,
    },
    /// The policy in force, as a document.
    Policy {
        /// Its text.
        text: String,
    },
    /// The order was refused.
    Refused {
        /// The stable code, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// What kind of failure it is, if it has none.
        #[serde(default)]
        kind: Kind,
        /// Why, for people.
        sentence: String,
        /// What to do, for people.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        advice: String,
    },
}

/// A version whose state changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Moved {
    /// Its number.
    pub version: KeyVersion,
    /// What it is now.
    pub state: State,
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
    /// What is fixed besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// What rotates it, and what its destruction needs.
    #[serde(default)]
    pub rules: Rules,
    /// Versions below this do not open.
    pub min_open: KeyVersion,
    /// How many ciphertexts its campaign has moved, where one is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<u64>,
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
    /// From when on it may be destroyed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// What keeps it from being destroyed, once that day has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// When it was destroyed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destroyed: Option<String>,
    /// The public key of a destroyed version that had one, as a JSON Web Key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// How it reads, if it was brought in from the seed service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<ReaderDetail>,
    /// How often and how lately it was used.
    #[serde(default)]
    pub uses: Tally,
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
                rules,
                detail,
                secret,
            } => {
                let secret = secret.as_ref().map(Imported::open).transpose()?;
                let new = NewContext {
                    detail: detail.map(Arc::new),
                    secret: secret.as_ref(),
                    rules,
                    ..NewContext::new(spec, binding)
                };
                let (made, words) = admin.create_wallet(&tenant, &name, new)?;
                Ok(Answer::ContextCreated {
                    id: made.id,
                    version: made.version,
                    words: words.as_ref().map(Words::new),
                })
            }
            Order::Contexts { tenant, name } => self.contexts(&tenant, name.as_ref()),
            Order::KeyRotate { tenant, name } => Ok(Answer::KeyRotated {
                version: admin.rotate(&tenant, &name)?,
            }),
            Order::KeyLife {
                tenant,
                name,
                life,
                version,
                despite_use,
            } => {
                let order = LifeOrder {
                    order: life,
                    target: version.map_or(Target::All, Target::One),
                    despite_use,
                };
                self.change_life(&Author::owner(), (&tenant, &name), order)
            }
            Order::ContextSet {
                tenant,
                name,
                rules,
            } => Ok(Answer::InForce {
                epoch: admin.set_rules(&Author::owner(), (&tenant, &name), &rules.into())?,
            }),
            other => self.move_secrets(other),
        }
    }

    /// Orders that bring secrets in or let them out.
    fn move_secrets(&self, order: Order) -> Result<Answer, HomeError> {
        match order {
            Order::ContextImport {
                tenant,
                name,
                binding,
                spec,
                rules,
                detail,
                wrapped,
            } => {
                let new = NewContext {
                    detail: detail.map(Arc::new),
                    rules,
                    ..NewContext::new(spec, binding)
                };
                self.import((&tenant, &name), new, &wrapped)
            }
            Order::ReaderImport {
                tenant,
                name,
                reader,
                wrapped,
            } => self.import_reader((&tenant, &name), reader, wrapped.as_ref()),
            Order::ImportBegin => self.begin_import(),
            Order::KeyExport {
                tenant,
                name,
                version,
                recipients,
            } => self.export_key((&tenant, &name), version, &recipients),
            Order::BackupCreate { to, key, slots } => self.back_up(&to, &key, &slots),
            Order::SeedExport {
                tenant,
                name,
                recipients,
            } => self.export_seed((&tenant, &name), &recipients),
            about_the_node => self.about_node(about_the_node),
        }
    }

    /// Orders and questions about policy, trust and clock.
    fn about_node(&self, order: Order) -> Result<Answer, HomeError> {
        let admin = self.admin();
        match order {
            Order::ClockConfirm => Ok(Answer::InForce {
                epoch: admin.confirm_clock(&Author::owner())?,
            }),
            Order::Reload => self.reload().map(Answer::Reloaded),
            Order::TrustReload => Ok(Answer::InForce {
                epoch: self.reload_trust()?,
            }),
            Order::PolicyApply { text } => {
                let document = PolicyDocument::parse(&text).map_err(AdminError::from)?;
                Ok(Answer::InForce {
                    epoch: admin.apply_policy(document)?,
                })
            }
            Order::PolicyExplain {
                tenant,
                principal,
                operation,
                context,
            } => {
                let asked = Asked {
                    tenant: &tenant,
                    operation,
                    context: context.as_ref(),
                };
                self.explain(&principal, &asked)
            }
            Order::PolicyWhoCan {
                tenant,
                operation,
                context,
            } => self.who_can(&Asked {
                tenant: &tenant,
                operation,
                context: context.as_ref(),
            }),
            Order::PolicyShow => {
                let document = admin.policy()?;
                let text = document.map_or(Ok(String::new()), |document| document.to_toml());
                Ok(Answer::Policy {
                    text: text.map_err(AdminError::from)?,
                })
            }
            // The others are carried out where this is called.
            _ => Err(AdminError::Unsupported.into()),
        }
    }

    fn change_life(
        &self,
        author: &Author,
        named: (&Name, &Name),
        order: LifeOrder,
    ) -> Result<Answer, HomeError> {
        let changed = self.admin().change_life(author, named, order)?.into_iter();
        let versions = changed.map(|(version, state)| Moved { version, state });
        Ok(Answer::KeyChanged {
            versions: versions.collect(),
        })
    }

    fn contexts(&self, tenant: &Name, name: Option<&Name>) -> Result<Answer, HomeError> {
        let admin = self.admin();
        let tenant = admin.tenant(tenant)?;
        let keys = match name {
            Some(name) => vec![admin.find(&tenant, name)?],
            None => {
                let snapshot = admin.shared().snapshot();
                snapshot
                    .keyring
                    .iter()
                    .filter(|key| key.tenant() == tenant.id)
                    .cloned()
                    .collect()
            }
        };
        let mut contexts: Vec<_> = keys.iter().map(|key| state_of(admin, key)).collect();
        contexts.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Answer::Contexts { contexts })
    }
}

fn state_of(admin: &Admin, key: &Key) -> ContextState {
    let rules = key.rules();
    let moved = rules.campaign.as_ref();
    ContextState {
        name: key.name().clone(),
        id: key.id(),
        binding: key.binding(),
        spec: *key.spec(),
        detail: key.detail().map(|detail| Detail::clone(detail)),
        moved: moved.map(|campaign| campaign.moved(admin.rewrapped(key))),
        rules: rules.clone(),
        min_open: key.min_open(),
        versions: key
            .versions()
            .iter()
            .map(|version| version_of(admin, key, version))
            .collect(),
    }
}

fn version_of(admin: &Admin, key: &Key, version: &Version) -> VersionState {
    let (life, text) = (version.life(), |time: Option<WallTime>| {
        time.map(WallTime::rfc3339)
    });
    let now = admin.shared().clock().wall();
    let come = version.state() == State::DestroyScheduled && life.due.is_some_and(|due| due <= now);
    let kept = come.then(|| admin.destroyable(key, version, (now, false)));
    VersionState {
        version: version.number(),
        state: version.state(),
        created: version.material().created().rfc3339(),
        retired: text(life.retired),
        due: text(life.due),
        kept: kept.and_then(Result::err).map(|error| error.to_string()),
        destroyed: text(life.destroyed),
        public_key: life.public_key.as_deref().map(str::to_owned),
        reader: version.material().reader().cloned(),
        uses: admin.shared().uses().of(key.id(), version.number()),
    }
}
