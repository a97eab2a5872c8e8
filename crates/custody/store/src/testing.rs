//! Engines for the tests of the floors above: one in memory, one that fails on order.
//!
//! Not for service: what [`MemoryEngine`] holds ends with the process.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::epoch_row;
use crate::{Engine, Error, Row, Table, Write};

/// An engine in memory. Clones share the rows, so that a store can be started again on them.
#[derive(Clone, Debug, Default)]
pub struct MemoryEngine(Arc<Mutex<Rows>>);

type Rows = BTreeMap<(Table, Vec<u8>), Row>;

impl MemoryEngine {
    /// An engine without rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy that goes its own way: an older state to come back to.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.rows().clone())))
    }

    /// Puts a row in place as an intruder would, past all checks.
    pub fn overwrite(&self, table: Table, row: Row) {
        self.rows().insert((table, row.key.clone()), row);
    }

    /// Takes a row away as an intruder would.
    pub fn remove(&self, table: Table, key: &[u8]) {
        self.rows().remove(&(table, key.to_vec()));
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for MemoryEngine {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error> {
        Ok(self.rows().get(&(table, key.to_vec())).cloned())
    }

    fn range(
        &self,
        table: Table,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, Error> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded((table, after.to_vec())),
            _ => Bound::Included((table, prefix.to_vec())),
        };
        Ok(self
            .rows()
            .range((start, Bound::Unbounded))
            .take_while(|((found, key), _)| *found == table && key.starts_with(prefix))
            .take(limit)
            .map(|(_, row)| row.clone())
            .collect())
    }

    fn apply(&mut self, writes: &[Write], new_epoch: u64) -> Result<(), Error> {
        let epoch = self.epoch()?;
        let mut rows = self.rows();
        if new_epoch < epoch {
            return Err(Error::Conflict { table: Table::Meta });
        }
        // The writes name different rows, so all can be checked before the first is done.
        writes.iter().try_for_each(|write| check(&rows, write))?;
        for write in writes {
            match write {
                Write::Delete { table, key, .. } => drop(rows.remove(&(*table, key.clone()))),
                Write::Put { table, row, .. } => {
                    rows.insert((*table, row.key.clone()), row.clone());
                }
                Write::Require { .. } => {}
            }
        }
        if new_epoch > epoch {
            let row = epoch_row(new_epoch);
            rows.insert((Table::Meta, row.key.clone()), row);
        }
        Ok(())
    }
}

fn check(rows: &Rows, write: &Write) -> Result<(), Error> {
    let (table, key, expected) = match write {
        Write::Put {
            table,
            row,
            expected,
        } => (*table, &row.key, *expected),
        Write::Delete {
            table,
            key,
            expected,
        }
        | Write::Require {
            table,
            key,
            expected,
        } => (*table, key, *expected),
    };
    let found = rows.get(&(table, key.clone()));
    let is_insert = matches!(write, Write::Put { expected: 0, .. });
    let is_missing_delete = matches!(write, Write::Delete { .. }) && found.is_none();
    match found.map_or(0, |row| row.revision) {
        revision if revision == expected && !is_missing_delete => Ok(()),
        _ if is_insert => Err(Error::Exists { table }),
        _ => Err(Error::Conflict { table }),
    }
}

/// An engine that works until its [`Faults`] say otherwise.
pub struct FaultyEngine {
    engine: Box<dyn Engine>,
    faults: Faults,
}

/// Orders the faults of a [`FaultyEngine`], also after a store has taken it.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    applies: u64,
    planned: BTreeMap<u64, Fault>,
    broken: Option<Error>,
}

#[derive(Debug)]
enum Fault {
    /// Nothing was written.
    Before(Error),
    /// All was written, but the answer was lost.
    After(Error),
}

impl FaultyEngine {
    /// Wraps an engine.
    #[must_use]
    pub fn new(engine: Box<dyn Engine>) -> (Self, Faults) {
        let faults = Faults::default();
        let handle = faults.clone();
        (Self { engine, faults }, handle)
    }
}

impl fmt::Debug for FaultyEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyEngine")
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

impl Faults {
    /// Lets the `nth` apply from now (1 is the next) fail without having written anything.
    pub fn fail_apply(&self, nth: u64, error: Error) {
        self.plan_at(nth, Fault::Before(error));
    }

    /// Lets the `nth` apply from now write everything and then report a failure.
    pub fn fail_apply_after_commit(&self, nth: u64, error: Error) {
        self.plan_at(nth, Fault::After(error));
    }

    /// Lets everything fail, reads too, until [`Faults::heal`].
    pub fn break_all(&self, error: Error) {
        self.plan().broken = Some(error);
    }

    /// Forgets all faults that were ordered.
    pub fn heal(&self) {
        let mut plan = self.plan();
        plan.broken = None;
        plan.planned.clear();
    }

    /// How many applies there have been.
    #[must_use]
    pub fn applies(&self) -> u64 {
        self.plan().applies
    }

    fn plan_at(&self, nth: u64, fault: Fault) {
        let mut plan = self.plan();
        let at = plan.applies.saturating_add(nth);
        plan.planned.insert(at, fault);
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> Result<(), Error> {
        self.plan().broken.clone().map_or(Ok(()), Err)
    }

    /// Counts an apply and takes the fault that was ordered for it.
    fn next(&self) -> Option<Fault> {
        let mut plan = self.plan();
        plan.applies += 1;
        let now = plan.applies;
        plan.planned.remove(&now)
    }
}

impl Engine for FaultyEngine {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error> {
        self.faults.check()?;
        self.engine.get(table, key)
    }

    fn range(
        &self,
        table: Table,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, Error> {
        self.faults.check()?;
        self.engine.range(table, prefix, after, limit)
    }

    fn apply(&mut self, writes: &[Write], new_epoch: u64) -> Result<(), Error> {
        let fault = self.faults.next();
        self.faults.check()?;
        match fault {
            Some(Fault::Before(error)) => Err(error),
            Some(Fault::After(error)) => {
                self.engine.apply(writes, new_epoch)?;
                Err(error)
            }
            None => self.engine.apply(writes, new_epoch),
        }
    }
}
