//! What a caller asks for, and what comes back.

use std::collections::BTreeSet;

use keywright_types::{KeyId, KeyVersion, TenantId};

use crate::engine::{check_caller_row, check_length};
use crate::{Error, Row, Table};

/// How the keys of counters begin that [`Store::reserve`](crate::Store::reserve) hands out from.
pub(crate) const RESERVATION: &[u8] = b"reserve/";

/// The state epoch (design 7.15): rises with each change on which access depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an epoch is one number")]
pub struct Epoch(pub u64);

/// What a transaction left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The epoch after it.
    pub epoch: Epoch,
    /// The rows it wrote, with their MACs, in the order of the orders: what the audit record needs.
    pub rows: Vec<(Table, Row)>,
}

/// Rows of several tables at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The epoch of that moment.
    pub epoch: Epoch,
    /// The rows of each question, in the order in which they were asked.
    pub rows: Vec<Vec<Row>>,
}

/// Writes that happen together or not at all, and raise the epoch by one.
///
/// A revision is compared and set: a write whose row has changed since fails the whole transaction
/// with [`Error::Conflict`]. One row may be named once.
#[derive(Debug, Default)]
#[must_use = "nothing is written before `Store::transact`"]
pub struct Transaction {
    pub(crate) orders: Vec<Order>,
    pub(crate) keep_epoch: bool,
    pub(crate) scrub: bool,
}

#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) table: Table,
    pub(crate) key: Vec<u8>,
    pub(crate) expected: u64,
    pub(crate) change: Change,
}

#[derive(Debug)]
pub(crate) enum Change {
    Delete,
    Insert { tenant: TenantId, body: Vec<u8> },
    Require,
    Update { body: Vec<u8> },
}

impl Transaction {
    /// A transaction that writes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row that must not exist.
    pub fn insert(
        self,
        table: Table,
        key: impl Into<Vec<u8>>,
        tenant: TenantId,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        let body = body.into();
        self.order(table, key.into(), 0, Change::Insert { tenant, body })
    }

    /// Gives the row that is at `expected_revision` a new body. Its tenant stays.
    pub fn update(
        self,
        table: Table,
        key: impl Into<Vec<u8>>,
        expected_revision: u64,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        let body = body.into();
        self.order(
            table,
            key.into(),
            expected_revision,
            Change::Update { body },
        )
    }

    /// Removes the row that is at `expected_revision`.
    pub fn delete(self, table: Table, key: impl Into<Vec<u8>>, expected_revision: u64) -> Self {
        self.order(table, key.into(), expected_revision, Change::Delete)
    }

    /// Lets the transaction fail unless the row is at `expected_revision`; 0 means there is none.
    pub fn require(self, table: Table, key: impl Into<Vec<u8>>, expected_revision: u64) -> Self {
        self.order(table, key.into(), expected_revision, Change::Require)
    }

    /// Opens the counter of a key version for [`Store::reserve`](crate::Store::reserve), which will
    /// hand out numbers from `first` on. Without this, the first reservation opens it at 0 and for
    /// no tenant.
    pub fn open_counter(
        mut self,
        key: KeyId,
        version: KeyVersion,
        tenant: TenantId,
        first: u64,
    ) -> Self {
        self.orders.push(Order {
            table: Table::Counters,
            key: counter_key(key, version),
            expected: 0,
            change: Change::Insert {
                tenant,
                body: first.to_be_bytes().to_vec(),
            },
        });
        self
    }

    /// Leaves the epoch as it is: for counters and heads, on which no decision depends.
    pub const fn keep_epoch(mut self) -> Self {
        self.keep_epoch = true;
        self
    }

    /// Has what the changed rows held before overwritten on the disk: for a secret that is destroyed. Copies that
    /// the file system or the device keeps are out of reach.
    pub const fn scrub(mut self) -> Self {
        self.scrub = true;
        self
    }

    fn order(mut self, table: Table, key: Vec<u8>, expected: u64, change: Change) -> Self {
        self.orders.push(Order {
            table,
            key,
            expected,
            change,
        });
        self
    }

    /// Refuses what no state of the database could make right.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut named = BTreeSet::new();
        for order in &self.orders {
            let table = order.table;
            if !named.insert((table, order.key.as_slice())) {
                return Err(Error::RepeatedRow { table });
            }
            order.check()?;
        }
        Ok(())
    }
}

impl Order {
    fn check(&self) -> Result<(), Error> {
        let table = self.table;
        match &self.change {
            Change::Require => Ok(()),
            Change::Delete if table.is_permanent() => Err(Error::Permanent { table }),
            Change::Delete => check_caller_row(table, &self.key),
            // `insert` and `open_counter` both come here; a counter's body tells them apart by form.
            Change::Insert { body, .. } if self.opens_counter() => {
                check_length(table, &self.key, body)
            }
            Change::Insert { body, .. } | Change::Update { body } => {
                check_caller_row(table, &self.key)?;
                check_length(table, &self.key, body)
            }
        }
    }

    /// Whether this is a well-formed new counter.
    fn opens_counter(&self) -> bool {
        self.table == Table::Counters
            && self.key.len() == RESERVATION.len() + 20
            && self.key.starts_with(RESERVATION)
            && matches!(&self.change, Change::Insert { body, .. } if body.len() == 8)
    }
}

/// The key of the counter of one key version.
pub(crate) fn counter_key(key: KeyId, version: KeyVersion) -> Vec<u8> {
    [RESERVATION, key.as_bytes(), &version.number().to_be_bytes()].concat()
}
