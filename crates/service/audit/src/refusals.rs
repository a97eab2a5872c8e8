//! Refusals that are counted, not listed (design 7.36).
//!
//! A flood of handshakes must not fill the log, and must not be lost from it either: one record per
//! reason, principal or address prefix, and second, at most [`RECORDS_PER_DRAIN`] a second, whose
//! counts add up to all. When more networks than that take part, the rest is counted by reason alone.

use std::collections::BTreeMap;
use std::net::IpAddr;

use keywright_clock::WallTime;
use keywright_types::{Code, Operation, PrincipalId, TenantId};

use crate::RecordType;
use crate::field::{Field, Prefix};
use crate::record::{Facts, Record};

/// Most records that one second yields.
pub const RECORDS_PER_DRAIN: usize = 100;

/// Who was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a refused caller has an identity or an address"
)]
pub enum Whom {
    /// Nobody we know: the network it came from.
    Network(Prefix),
    /// A principal, above its rate.
    Principal(TenantId, PrincipalId),
}

impl From<IpAddr> for Whom {
    fn from(address: IpAddr) -> Self {
        Self::Network(Prefix::of(address))
    }
}

/// Counts of the running second. Its memory is bounded, whatever comes.
#[derive(Debug, Default)]
pub struct Refusals {
    counts: BTreeMap<(Code, Option<Whom>), u64>,
    named: usize,
    second: Option<u64>,
}

impl Refusals {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one refusal.
    pub fn note(&mut self, reason: Code, whom: Whom) {
        if let Some(count) = self.counts.get_mut(&(reason, Some(whom))) {
            *count = count.saturating_add(1);
            return;
        }
        // One place per reason stays free for what is counted without a name.
        let free = self.named < RECORDS_PER_DRAIN.saturating_sub(Code::ALL.len());
        self.named += usize::from(free);
        let count = self
            .counts
            .entry((reason, free.then_some(whom)))
            .or_insert(0);
        *count = count.saturating_add(1);
    }

    /// The records of the time since the last drain, once a second has begun that is not the last
    /// drain's; else none.
    pub fn drain(&mut self, now: WallTime) -> Vec<Counted> {
        if self.second == Some(now.unix_seconds()) {
            return Vec::new();
        }
        self.drain_all(now)
    }

    /// The records of the time since the last drain, whatever the second: for shutdown.
    pub fn drain_all(&mut self, now: WallTime) -> Vec<Counted> {
        self.second = Some(now.unix_seconds());
        self.named = 0;
        std::mem::take(&mut self.counts)
            .into_iter()
            .flat_map(|((reason, whom), count)| Counted::split(reason, whom, count, now))
            .collect()
    }
}

/// One counted record.
#[derive(Clone, Debug)]
pub struct Counted {
    facts: Facts,
    fields: Vec<Field<'static>>,
}

impl Counted {
    /// The record; `facts.items` is the count.
    #[must_use]
    pub fn record(&self) -> Record<'_> {
        Record {
            facts: self.facts,
            fields: &self.fields,
        }
    }

    /// Sets the epoch, which the counter does not know.
    #[must_use]
    pub const fn at_epoch(mut self, epoch: u64) -> Self {
        self.facts.epoch = epoch;
        self
    }

    /// One record, unless the count is beyond what a record can say.
    fn split(
        reason: Code,
        whom: Option<Whom>,
        count: u64,
        now: WallTime,
    ) -> impl Iterator<Item = Self> {
        let mut left = count;
        std::iter::from_fn(move || {
            let items = u32::try_from(left).unwrap_or(u32::MAX);
            left -= u64::from(items);
            (items > 0).then(|| Self::new(reason, whom, items, now))
        })
    }

    fn new(reason: Code, whom: Option<Whom>, items: u32, now: WallTime) -> Self {
        let mut facts = Facts::new(RecordType::Refused, Operation::Connect, now);
        (facts.outcome, facts.items, facts.failed) = (reason, items, items);
        let mut fields = Vec::new();
        match whom {
            Some(Whom::Network(prefix)) => fields.push(Field::AddressPrefix(prefix)),
            Some(Whom::Principal(tenant, principal)) => {
                facts.operation = Operation::Unrouted;
                (facts.tenant, facts.principal) = (tenant, principal);
            }
            None => {}
        }
        Self { facts, fields }
    }
}
