//! What the store thread does: the engine, the row key and the running summary belong to it alone.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keywright_types::{KeyId, KeyVersion, TenantId};

use crate::engine::{SUMMARY_KEY, next_revision};
use crate::integrity::{Integrity, Summary};
use crate::transaction::{Change, Order, counter_key};
use crate::{Committed, Engine, Epoch, Error, Image, Row, Snapshot, Table, Transaction, Write};

/// Rows that are read at a time.
const PAGE: usize = 512;

/// What is called with each new epoch.
pub(crate) type Watcher = Box<dyn Fn(u64) + Send>;

pub(crate) struct Worker {
    engine: Box<dyn Engine>,
    integrity: Integrity,
    summary: Summary,
    /// What holds if the last apply took place although it was answered with an error.
    in_doubt: Option<Summary>,
    epoch: Arc<AtomicU64>,
    watchers: Vec<Watcher>,
}

impl Worker {
    /// Checks every row and the summary; writes the first summary of a new store.
    pub(crate) fn start(
        mut engine: Box<dyn Engine>,
        integrity: Integrity,
        epoch: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        let summary = match engine.get(Table::Meta, SUMMARY_KEY)? {
            Some(row) => verify(&*engine, &integrity, &row)?,
            None => begin(&mut *engine, &integrity)?,
        };
        epoch.store(summary.epoch, Ordering::Release);
        Ok(Self {
            engine,
            integrity,
            summary,
            in_doubt: None,
            epoch,
            watchers: Vec::new(),
        })
    }

    /// The number of rows of all protected tables.
    pub(crate) fn rows(&self) -> u64 {
        self.summary.rows()
    }

    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error> {
        let row = self.engine.get(table, key)?;
        if let Some(row) = &row {
            self.integrity.check_row(table, row)?;
        }
        Ok(row)
    }

    pub(crate) fn range(&self, table: Table, prefix: &[u8]) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        each_row(&*self.engine, table, prefix, |row| {
            self.integrity.check_row(table, &row)?;
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    pub(crate) fn snapshot(&mut self, questions: &[(Table, Vec<u8>)]) -> Result<Snapshot, Error> {
        // An apply in doubt may have left rows that are newer than the epoch known here.
        self.settle()?;
        let rows = questions
            .iter()
            .map(|(table, prefix)| self.range(*table, prefix))
            .collect::<Result<_, _>>()?;
        Ok(Snapshot {
            epoch: Epoch(self.summary.epoch),
            rows,
        })
    }

    /// Every row, those of `meta` included, at one moment.
    pub(crate) fn image(&mut self) -> Result<Image, Error> {
        // An apply in doubt may have left rows that the summary does not know.
        self.settle()?;
        let mut rows = Vec::new();
        for table in Table::ALL {
            rows.extend(self.range(table, b"")?.into_iter().map(|row| (table, row)));
        }
        Image::new(rows)
    }

    pub(crate) fn watch(&mut self, watcher: Watcher) -> u64 {
        self.watchers.push(watcher);
        self.summary.epoch
    }

    pub(crate) fn transact(&mut self, transaction: Transaction) -> Result<Committed, Error> {
        transaction.check()?;
        self.commit(transaction)
    }

    /// Reserves the next `block` numbers of a counter. What is not used before a crash is wasted.
    pub(crate) fn reserve(
        &mut self,
        key: KeyId,
        version: KeyVersion,
        block: u64,
    ) -> Result<Range<u64>, Error> {
        let table = Table::Counters;
        let row_key = counter_key(key, version);
        let row = self.get(table, &row_key)?;
        let first = row.as_ref().map_or(Ok(0), counter_value)?;
        let end = first.checked_add(block).ok_or(Error::Exhausted { table })?;
        if block == 0 {
            return Ok(first..first);
        }
        let body = end.to_be_bytes();
        let transaction = match row {
            Some(row) => Transaction::new().update(table, row_key, row.revision, body),
            None => Transaction::new().insert(table, row_key, TenantId::NONE, body),
        };
        self.commit(transaction.keep_epoch())?;
        Ok(first..end)
    }

    /// The first number of a counter that is not reserved yet.
    pub(crate) fn reserved(&self, key: KeyId, version: KeyVersion) -> Result<u64, Error> {
        self.get(Table::Counters, &counter_key(key, version))?
            .as_ref()
            .map_or(Ok(0), counter_value)
    }

    fn commit(&mut self, transaction: Transaction) -> Result<Committed, Error> {
        self.settle()?;
        let mut next = self.summary.clone();
        if !transaction.keep_epoch {
            next.epoch = next_revision(Table::Meta, next.epoch)?;
        }
        let mut writes = Vec::with_capacity(transaction.orders.len() + 1);
        let mut rows = Vec::new();
        for order in transaction.orders {
            let table = order.table;
            let write = self.plan(order, &mut next)?;
            if let Write::Put { row, .. } = &write {
                rows.push((table, row.clone()));
            }
            writes.push(write);
        }
        if next != self.summary {
            next.revision = next_revision(Table::Meta, next.revision)?;
            writes.push(Write::Put {
                table: Table::Meta,
                row: next.to_row(&self.integrity),
                expected: self.summary.revision,
            });
        }
        let epoch = Epoch(next.epoch);
        self.apply(&writes, next)?;
        if transaction.scrub {
            // It is committed: what a failure leaves in the log goes when the log is next written from its start.
            drop(self.engine.scrub());
        }
        Ok(Committed { epoch, rows })
    }

    /// Turns an order into a write and counts it into `next`.
    fn plan(&self, order: Order, next: &mut Summary) -> Result<Write, Error> {
        let Order {
            table,
            key,
            expected,
            change,
        } = order;
        let (tenant, body) = match change {
            Change::Require => {
                return Ok(Write::Require {
                    table,
                    key,
                    expected,
                });
            }
            Change::Delete => {
                next.remove(
                    &self.integrity,
                    table,
                    &self.current(table, &key, expected)?,
                );
                return Ok(Write::Delete {
                    table,
                    key,
                    expected,
                });
            }
            Change::Insert { tenant, body } => (tenant, body),
            Change::Update { body } => {
                let old = self.current(table, &key, expected)?;
                next.remove(&self.integrity, table, &old);
                (old.tenant, body)
            }
        };
        let mut row = Row {
            key,
            tenant,
            revision: next_revision(table, expected)?,
            epoch: next.epoch,
            body,
            mac: [0; 32],
        };
        if table != Table::Meta {
            row.mac = self.integrity.row_mac(table, &row)?;
        }
        next.add(&self.integrity, table, &row);
        Ok(Write::Put {
            table,
            row,
            expected,
        })
    }

    /// The row, if it is at the expected revision.
    fn current(&self, table: Table, key: &[u8], expected: u64) -> Result<Row, Error> {
        self.get(table, key)?
            .filter(|row| row.revision == expected)
            .ok_or(Error::Conflict { table })
    }

    fn apply(&mut self, writes: &[Write], next: Summary) -> Result<(), Error> {
        match self.engine.apply(writes, next.epoch) {
            Ok(()) => {
                self.adopt(next);
                Ok(())
            }
            Err(error @ (Error::Conflict { .. } | Error::Exists { .. })) => Err(error),
            Err(error) => {
                self.in_doubt = Some(next);
                // A second failure here is met again, and answered, by the next transaction.
                let _ = self.settle();
                Err(error)
            }
        }
    }

    /// Finds out whether an apply that was answered with an error took place after all.
    ///
    /// A lost answer of a commit can mean either. Going on from the wrong one of the two summaries
    /// would turn a passing fault into a store that does not start again.
    fn settle(&mut self) -> Result<(), Error> {
        let Some(candidate) = &self.in_doubt else {
            return Ok(());
        };
        let found = self.engine.get(Table::Meta, SUMMARY_KEY)?;
        let epoch = self.engine.epoch()?;
        let is = |summary: &Summary| {
            epoch == summary.epoch && found.as_ref() == Some(&summary.to_row(&self.integrity))
        };
        if is(&self.summary) {
            self.in_doubt = None;
        } else if is(candidate) {
            let candidate = candidate.clone();
            self.in_doubt = None;
            self.adopt(candidate);
        } else {
            return Err(Error::Corrupt);
        }
        Ok(())
    }

    fn adopt(&mut self, next: Summary) {
        let raised = next.epoch > self.summary.epoch;
        self.summary = next;
        if raised {
            self.epoch.store(self.summary.epoch, Ordering::Release);
            for watcher in &self.watchers {
                watcher(self.summary.epoch);
            }
        }
    }
}

/// The first start: there must be nothing that a summary would have vouched for.
fn begin(engine: &mut dyn Engine, integrity: &Integrity) -> Result<Summary, Error> {
    if engine.epoch()? != 0 {
        return Err(Error::SummaryAltered);
    }
    for table in Table::PROTECTED {
        if !engine.range(table, b"", None, 1)?.is_empty() {
            return Err(Error::SetAltered { table });
        }
    }
    let summary = Summary::empty(0, 1);
    let write = Write::Put {
        table: Table::Meta,
        row: summary.to_row(integrity),
        expected: 0,
    };
    engine.apply(&[write], 0)?;
    Ok(summary)
}

pub(crate) fn verify(
    engine: &dyn Engine,
    integrity: &Integrity,
    row: &Row,
) -> Result<Summary, Error> {
    let mut summary = Summary::empty(engine.epoch()?, row.revision);
    summary.check_head(integrity, row)?;
    for table in Table::PROTECTED {
        let mut last: Option<Vec<u8>> = None;
        each_row(engine, table, b"", |row| {
            // A search tree whose keys are out of order hides rows from a look-up, not from a walk.
            if last.as_ref().is_some_and(|last| *last >= row.key) {
                return Err(Error::Corrupt);
            }
            integrity.check_row(table, &row)?;
            if row.epoch > summary.epoch {
                return Err(Error::SummaryAltered);
            }
            summary.add(integrity, table, &row);
            last = Some(row.key);
            Ok(())
        })?;
    }
    summary.check_tables(integrity, row)?;
    Ok(summary)
}

/// Walks all rows under a prefix, a page at a time.
fn each_row(
    engine: &dyn Engine,
    table: Table,
    prefix: &[u8],
    mut visit: impl FnMut(Row) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = engine.range(table, prefix, after.as_deref(), PAGE)?;
        let is_last = page.len() < PAGE;
        after = page.last().map(|row| row.key.clone());
        page.into_iter().try_for_each(&mut visit)?;
        if is_last {
            return Ok(());
        }
    }
}

fn counter_value(row: &Row) -> Result<u64, Error> {
    let bytes = row.body.as_slice().try_into().map_err(|_| Error::Corrupt)?;
    Ok(u64::from_be_bytes(bytes))
}
