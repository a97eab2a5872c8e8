//! Orders about the life of key versions (design 7.16, 7.17, 7.23): suspend, resume, retire, destroy; the rules
//! of a context; approvals; and what the node does by itself when its time has come.

use std::sync::{Arc, PoisonError};

use keywright_audit::record::Facts;
use keywright_clock::WallTime;
use keywright_custody::lifecycle::Order;
use keywright_custody::rows::approvals::{self, Ordered};
use keywright_custody::rows::life::{self, Change, Target};
use keywright_custody::rows::{self, Tenant};
use keywright_custody::{Campaign, Key, Rules, Version, tally};
use keywright_encoding::Reader;
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_store::Transaction;
use keywright_types::{
    ApprovalId, Custody, KeyVersion, Name, Operation, PrincipalId, Purpose, RequestId, State,
    VersionLabel,
};

use crate::order::{Intent, Prepared};
use crate::{Admin, AdminError, Snapshot};

/// Who gives an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts of a request")]
pub struct Author {
    /// The principal; none for whoever holds the home folder.
    pub principal: PrincipalId,
    /// The connection by which it came; 0 for none.
    pub connection: u64,
    /// The request, where it was one: its records are found together.
    pub request: RequestId,
}

impl Author {
    /// Whoever holds the home folder, or the node by itself.
    #[must_use]
    pub fn owner() -> Self {
        Self::default()
    }
}

/// An order about versions of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the parts of an order")]
pub struct LifeOrder {
    /// What is ordered.
    pub order: Order,
    /// Of which versions.
    pub target: Target,
    /// Whether a destruction takes place although the version was used lately.
    pub despite_use: bool,
}

impl LifeOrder {
    /// What a grant must name, and what is recorded; `None` for an order that nobody gives by itself.
    #[must_use]
    pub const fn operation(&self) -> Option<Operation> {
        Some(match self.order {
            Order::Suspend => Operation::KeySuspend,
            Order::Resume => Operation::KeyResume,
            Order::Retire => Operation::KeyRetire,
            Order::ScheduleDestroy => Operation::KeyScheduleDestroy,
            Order::CancelDestroy => Operation::KeyCancelDestroy,
            Order::Destroy => Operation::KeyDestroy,
            _ => return None,
        })
    }

    /// Whether a context that asks for approvals asks for them here.
    fn needs_approvals(&self, rules: &Rules) -> bool {
        let grave = match self.order {
            Order::ScheduleDestroy => true,
            Order::Destroy => self.despite_use,
            _ => false,
        };
        rules.two_approvals && grave
    }

    fn parameters(&self, rules: &Rules) -> Vec<u8> {
        match self.order {
            Order::ScheduleDestroy => rules.destroy_after_days.to_be_bytes().to_vec(),
            _ => vec![u8::from(self.despite_use)],
        }
    }

    const fn covers(&self, version: KeyVersion) -> bool {
        match self.target {
            Target::All => true,
            Target::One(one) => one.number() == version.number(),
        }
    }

    const fn version(&self) -> KeyVersion {
        match self.target {
            Target::All => KeyVersion::NONE,
            Target::One(version) => version,
        }
    }
}

/// Changes of a context's rules; what is missing stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new rule must be faced wherever rules are changed"
)]
pub struct NewRules {
    /// Whether destruction needs two approvals; never taken back.
    pub two_approvals: Option<bool>,
    /// Days from the order to a destruction.
    pub destroy_after_days: Option<u16>,
    /// Days without use before a destruction.
    pub quiet_days: Option<u16>,
    /// Days between rotations, or none.
    pub rotate_after_days: Option<Option<u16>>,
    /// Uses of a version after which it is rotated, or none.
    pub rotate_after_uses: Option<Option<u64>>,
    /// Uses of a version after which it makes nothing new, or none.
    pub refuse_after_uses: Option<Option<u64>>,
    /// Versions below this do not open.
    pub min_open: Option<KeyVersion>,
    /// How many ciphertexts a campaign is to move; none ends the campaign.
    pub campaign: Option<Option<u64>>,
}

/// A context, by the names of its tenant and its own.
type Named<'a> = (&'a Name, &'a Name);

impl Admin {
    /// Carries out an order about versions of a key. What became of them, the newest last.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn change_life(
        &self,
        author: &Author,
        named: Named<'_>,
        order: LifeOrder,
    ) -> Result<Vec<(KeyVersion, State)>, AdminError> {
        let operation = order.operation().ok_or(AdminError::Unsupported)?;
        let facts = self.facts_about(author, operation, named, order.version())?;
        let intent = Intent {
            facts,
            fields: &[],
            trust: None,
        };
        let changed = self.carry_out(intent, |mut next| {
            let (tenant, key) = self.current(&next, named)?;
            let now = self.shared.clock().wall();
            self.check_life(&key, &order, now)?;
            let held = next.keyring.find(tenant.id, named.1.as_str()).cloned();
            let held = held.ok_or(AdminError::ContextUnknown)?;
            let unused = self.unused(&key);
            let public_keys = match order.order {
                Order::Destroy => self.public_keys(&held, &order),
                _ => Vec::new(),
            };
            let change = Change {
                order: order.order,
                target: order.target,
                now,
                due: Some(now.plus(key.rules().destroy_after())),
                unused: &unused,
                public_keys: &public_keys,
            };
            let changed = life::change(&self.store, (&key, &tenant.wrapping_key), &change)?;
            let by = (author.principal, now);
            let mut transaction = self.spend(&key, &order, by, changed.transaction)?;
            if order.order == Order::Destroy {
                // The holder first, the state after it (design 7.17): what a crash leaves is ordered again.
                for (version, _) in &changed.versions {
                    self.destroy_held(&held, *version, next.epoch)?;
                }
                transaction = transaction.scrub();
            }
            next.keyring = next.keyring.with(Arc::new(changed.key));
            Ok(Prepared {
                answer: changed.versions,
                transaction,
                next,
            })
        });
        changed.map(|(versions, _)| versions)
    }

    /// Gives the word of `author` for exactly this order as the rows are now; it lives for a day.
    ///
    /// # Errors
    /// [`AdminError::Unsupported`] for whoever is no principal; else as [`Admin::change_life`].
    pub fn approve(
        &self,
        author: &Author,
        named: Named<'_>,
        order: LifeOrder,
    ) -> Result<ApprovalId, AdminError> {
        let operation = order.operation().ok_or(AdminError::Unsupported)?;
        let facts = self.facts_about(author, Operation::KeyApprove, named, order.version())?;
        let id = ApprovalId::from_bytes(RandomStream::new()?.array()?);
        let fields = [keywright_audit::field::Field::Approval(id)];
        let intent = Intent {
            facts,
            fields: &fields,
            trust: None,
        };
        let approved = self.carry_out(intent, |next| {
            let (tenant, key) = self.current(&next, named)?;
            if author.principal.is_none() {
                return Err(AdminError::Unsupported);
            }
            let parameters = order.parameters(key.rules());
            let ordered = Ordered {
                operation,
                key: key.id(),
                target: order.target,
                parameters: &parameters,
            };
            let digest = approvals::digest(&self.store, &ordered)?;
            let (who, now) = ((author.principal, tenant.id), self.shared.clock().wall());
            let transaction = approvals::approve(&self.store, &digest, who, (id, now))?;
            Ok(Prepared {
                answer: (),
                transaction,
                next,
            })
        });
        approved.map(|((), _)| id)
    }

    /// Changes the rules of a context.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn set_rules(
        &self,
        author: &Author,
        named: Named<'_>,
        new: &NewRules,
    ) -> Result<u64, AdminError> {
        let facts = self.facts_about(author, Operation::ContextSet, named, KeyVersion::NONE)?;
        let intent = Intent {
            facts,
            fields: &[],
            trust: None,
        };
        let set = self.carry_out(intent, |mut next| {
            let (_, key) = self.current(&next, named)?;
            let rules = self.rules_after(&key, new);
            check_rotation(&key, &rules)?;
            let min_open = new.min_open.unwrap_or_else(|| key.min_open());
            let (transaction, key) = life::set_rules(&self.store, &key, &rules, min_open)?;
            next.keyring = next.keyring.with(Arc::new(key));
            Ok(Prepared {
                answer: (),
                transaction,
                next,
            })
        });
        set.map(|((), epoch)| epoch)
    }

    // === what the node does by itself ===

    /// Begins counting where the store left off; once, before anything is served.
    ///
    /// # Errors
    /// [`AdminError::Rows`].
    pub fn remember_uses(&self) -> Result<(), AdminError> {
        self.shared.uses().remember(tally::load(&self.store)?);
        Ok(())
    }

    /// Puts what was counted since the last time into the store.
    ///
    /// # Errors
    /// [`AdminError::Rows`]; it is tried again with the next.
    pub fn save_uses(&self) -> Result<(), AdminError> {
        let saving = &self.shared.uses().saving;
        let _saving = saving.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = self.shared.uses().take_fresh();
        if fresh.is_empty() {
            return Ok(());
        }
        let saved = tally::save(&self.store, &fresh);
        if saved.is_err() {
            self.shared.uses().keep_fresh(fresh);
        }
        Ok(saved?)
    }

    /// Rotates every key whose active version is as old as its context's rule says; those that were, and those that
    /// could not be.
    #[must_use = "what failed is tried again"]
    pub fn rotate_due(&self) -> Vec<(Name, Result<KeyVersion, AdminError>)> {
        let now = self.shared.clock().wall();
        let snapshot = self.shared.snapshot();
        let due = snapshot.keyring.iter().filter(|key| is_old(key, now));
        due.filter_map(|key| {
            let tenant = snapshot.tenants.get(&key.tenant())?;
            let rotated = self.rotate_as(&Author::owner(), &tenant.name, key.name());
            Some((key.name().clone(), rotated))
        })
        .collect()
    }

    /// Destroys every version whose day has come and that nothing keeps; those that were destroyed, and those that
    /// could not be.
    #[must_use = "what failed is tried again"]
    pub fn destroy_due(&self) -> Vec<(VersionLabel, Result<(), AdminError>)> {
        let now = self.shared.clock().wall();
        let snapshot = self.shared.snapshot();
        let scheduled = snapshot.keyring.iter().flat_map(|key| {
            let versions = key.versions().iter();
            let versions = versions.filter(|one| one.state() == State::DestroyScheduled);
            versions.map(move |version| (key, version))
        });
        let due: Vec<_> = scheduled
            .filter(|(key, version)| self.destroyable(key, version, (now, false)).is_ok())
            .collect();
        due.into_iter()
            .filter_map(|(key, version)| {
                let tenant = snapshot.tenants.get(&key.tenant())?;
                let order = LifeOrder {
                    order: Order::Destroy,
                    target: Target::One(version.number()),
                    despite_use: false,
                };
                let named = (&tenant.name, key.name());
                let done = self.change_life(&Author::owner(), named, order);
                let label = VersionLabel {
                    key: key.id(),
                    version: version.number(),
                };
                Some((label, done.map(drop)))
            })
            .collect()
    }

    /// Whether a scheduled version may be destroyed now (design 7.17).
    ///
    /// # Errors
    /// [`AdminError::NotYetDue`], [`AdminError::KeyInUse`], [`AdminError::ClockUncertain`].
    pub fn destroyable(
        &self,
        key: &Key,
        version: &Version,
        (now, despite_use): (WallTime, bool),
    ) -> Result<(), AdminError> {
        let life = version.life();
        if life.due.is_none_or(|due| now < due) {
            return Err(AdminError::NotYetDue);
        }
        self.check_clock()?;
        if despite_use {
            return Ok(());
        }
        let tally = self.shared.uses().of(key.id(), version.number());
        let quiet_from = WallTime::from_unix_millis(tally.last_use_ms).plus(key.rules().quiet());
        let scheduled = life.scheduled.map_or(0, WallTime::unix_millis);
        let used = tally.last_use_ms > 0 && quiet_from > now;
        let asked = tally.refused > 0 && tally.last_refused_ms >= scheduled;
        let campaign = key.rules().campaign;
        let moving = campaign.is_some_and(|campaign| !campaign.is_done(self.rewrapped(key)));
        match used || asked || moving {
            true => Err(AdminError::KeyInUse),
            false => Ok(()),
        }
    }

    /// How many ciphertexts were moved from all versions of a key.
    #[must_use]
    pub fn rewrapped(&self, key: &Key) -> u64 {
        let uses = self.shared.uses();
        let moved = key.versions().iter();
        let moved = moved.map(|version| uses.of(key.id(), version.number()).rewrapped);
        moved.fold(0, u64::saturating_add)
    }

    // === parts ===

    /// The facts of an order, by whom and in which request.
    pub(crate) fn facts_of(
        &self,
        author: &Author,
        operation: Operation,
    ) -> Result<Facts, AdminError> {
        let mut facts = self.facts(operation, &mut RandomStream::new()?)?;
        facts.principal = author.principal;
        facts.connection = author.connection;
        if !author.request.is_none() {
            facts.request = author.request;
        }
        Ok(facts)
    }

    /// The same, about a version of a key; an order about what does not exist is recorded without a key.
    pub(crate) fn facts_about(
        &self,
        author: &Author,
        operation: Operation,
        (tenant, name): Named<'_>,
        version: KeyVersion,
    ) -> Result<Facts, AdminError> {
        let mut facts = self.facts_of(author, operation)?;
        let found = self
            .tenant(tenant)
            .and_then(|tenant| self.find(&tenant, name));
        (facts.tenant, facts.key) =
            found.map_or_else(|_| Default::default(), |key| (key.tenant(), key.id()));
        facts.version = version;
        Ok(facts)
    }

    fn current<'s>(
        &self,
        next: &'s Snapshot,
        (tenant, name): Named<'_>,
    ) -> Result<(&'s Tenant, Key), AdminError> {
        let tenant = next.tenant(tenant).ok_or(AdminError::TenantUnknown)?;
        let known = next.keyring.find(tenant.id, name.as_str());
        let known = known.ok_or(AdminError::ContextUnknown)?;
        Ok((tenant, rows::load_key(&self.store, tenant, known.id())?))
    }

    fn check_life(&self, key: &Key, order: &LifeOrder, now: WallTime) -> Result<(), AdminError> {
        if order.order != Order::Destroy {
            return Ok(());
        }
        let scheduled = key.versions().iter().filter(|version| {
            order.covers(version.number()) && version.state() == State::DestroyScheduled
        });
        for version in scheduled {
            self.destroyable(key, version, (now, order.despite_use))?;
        }
        Ok(())
    }

    fn unused(&self, key: &Key) -> Vec<KeyVersion> {
        let uses = self.shared.uses();
        let numbers = key.versions().iter().map(Version::number);
        let unused = numbers.filter(|number| uses.of(key.id(), *number) == tally::Tally::default());
        unused.collect()
    }

    fn spend(
        &self,
        key: &Key,
        order: &LifeOrder,
        (author, now): (PrincipalId, WallTime),
        transaction: Transaction,
    ) -> Result<Transaction, AdminError> {
        let Some(operation) = order
            .operation()
            .filter(|_| order.needs_approvals(key.rules()))
        else {
            return Ok(transaction);
        };
        let parameters = order.parameters(key.rules());
        let ordered = Ordered {
            operation,
            key: key.id(),
            target: order.target,
            parameters: &parameters,
        };
        let digest = approvals::digest(&self.store, &ordered)?;
        let spent = approvals::spend(&self.store, &digest, (author, now), transaction)?;
        spent.ok_or(AdminError::ApprovalMissing)
    }

    fn destroy_held(&self, held: &Key, version: KeyVersion, epoch: u64) -> Result<(), AdminError> {
        let version = held.version(version).ok_or(rows::Error::NoVersion)?;
        let permit = Policy::owner()
            .at(epoch)
            .permit(held.id(), Operation::KeyDestroy);
        Ok(self.shared.holder().destroy(&permit, version.material())?)
    }

    /// Public keys stay where private ones go. One that the holder cannot show any more keeps no destruction up.
    fn public_keys(&self, held: &Key, order: &LifeOrder) -> Vec<(KeyVersion, Arc<str>)> {
        if !matches!(held.spec().purpose, Purpose::Sign | Purpose::Agree) {
            return Vec::new();
        }
        let versions = held.versions().iter();
        let versions = versions.filter(|version| {
            order.covers(version.number()) && version.state() == State::DestroyScheduled
        });
        versions
            .filter_map(|version| Some((version.number(), self.public_key(version)?)))
            .collect()
    }

    fn public_key(&self, version: &Version) -> Option<Arc<str>> {
        let shown = self.public_forms(version.material())?;
        let mut reader = Reader::new(&shown);
        let (_, jwk) = (reader.lp().ok()?, reader.lp().ok()?);
        std::str::from_utf8(jwk).ok().map(Arc::from)
    }

    fn rules_after(&self, key: &Key, new: &NewRules) -> Rules {
        let mut rules = key.rules().clone();
        let NewRules {
            two_approvals,
            destroy_after_days,
            quiet_days,
            rotate_after_days,
            rotate_after_uses,
            refuse_after_uses,
            min_open: _,
            campaign,
        } = *new;
        rules.two_approvals = two_approvals.unwrap_or(rules.two_approvals);
        rules.destroy_after_days = destroy_after_days.unwrap_or(rules.destroy_after_days);
        rules.quiet_days = quiet_days.unwrap_or(rules.quiet_days);
        rules.rotate_after_days = rotate_after_days.unwrap_or(rules.rotate_after_days);
        rules.rotate_after_uses = rotate_after_uses.unwrap_or(rules.rotate_after_uses);
        rules.refuse_after_uses = refuse_after_uses.unwrap_or(rules.refuse_after_uses);
        if let Some(campaign) = campaign {
            rules.campaign = campaign.map(|total| Campaign {
                total,
                moved_before: self.rewrapped(key),
                opened_ms: self.shared.clock().wall().unix_millis(),
            });
        }
        rules
    }
}

/// Refuses a rule that rotates what is rotated by hand, or never (design 7.18), and one that limits uses which are
/// limited already (7.19) or make nothing new.
fn check_rotation(key: &Key, rules: &Rules) -> Result<(), AdminError> {
    let by_itself = rules.rotate_after_days.is_some() || rules.rotate_after_uses.is_some();
    let limited = rules.use_limits().is_some();
    if limited && (key.spec().custody == Custody::Token || key.spec().purpose == Purpose::Agree) {
        return Err(AdminError::Unsupported);
    }
    let moves = rules.campaign.is_some();
    match key.spec().purpose {
        Purpose::Tree if by_itself => Err(AdminError::OneSeed),
        Purpose::Tokenise | Purpose::Deterministic if by_itself => Err(AdminError::ByHandOnly),
        Purpose::Seal => Ok(()),
        // Nothing of other purposes can be sealed again.
        _ if moves => Err(AdminError::Unsupported),
        _ => Ok(()),
    }
}

fn is_old(key: &Key, now: WallTime) -> bool {
    let active = key.active().and_then(Version::activated);
    let after = key.rules().rotate_after();
    active
        .zip(after)
        .is_some_and(|(activated, after)| activated.plus(after) <= now)
}
