//! The frame of every order that changes state (design 7.29).
//!
//! Record the order and sync it; prepare everything that can fail; commit one transaction, which raises
//! the epoch; record the end with the changed rows and sync it; publish the next snapshot. Nothing is
//! left to fail between the commit and its record but the log itself. An end that could not be recorded
//! is owed: the next order records it first or is not carried out, so that after a crash only the last
//! order can be without an end, and the epoch alone says whether it took place ([`settle`]).

use std::sync::{Arc, MutexGuard, PoisonError};

use keywright_audit::field::{Field, Row as RowField};
use keywright_audit::log::Log;
use keywright_audit::record::{Facts, Record};
use keywright_audit::writer::{Order, Writer};
use keywright_audit::{AuditError, Room};
use keywright_clock::{Clock, MonotonicTime};
use keywright_custody::rows;
use keywright_primitives::hash::sha256;
use keywright_store::{Error as StoreError, Row, Store, Table, Transaction};
use keywright_tls::ClientTrust;
use keywright_types::{Code, Name, Operation};

use crate::{Admin, AdminError, Snapshot};

/// What is to be done, as its first record tells it.
pub(crate) struct Intent<'a> {
    pub(crate) facts: Facts,
    pub(crate) fields: &'a [Field<'a>],
    /// The trust that the order puts in force, if it is about that.
    pub(crate) trust: Option<Arc<ClientTrust>>,
}

/// Everything ready for the commit, and the snapshot that follows from it.
pub(crate) struct Prepared<T> {
    pub(crate) answer: T,
    pub(crate) transaction: Transaction,
    pub(crate) next: Snapshot,
}

/// The hand that writes, and the order whose end it owes.
#[derive(Debug)]
pub(crate) struct Hand {
    writer: Writer,
    owed: Option<Begun>,
}

/// An order that is recorded as begun.
#[derive(Debug)]
struct Begun {
    order: Order,
    facts: Facts,
    started: MonotonicTime,
    /// What is recorded if nothing was changed.
    failure: Code,
    /// What is believed if something was.
    trust: Arc<ClientTrust>,
}

/// What a transaction changed.
struct Changed {
    epoch: u64,
    rows: Vec<(Table, Row)>,
}

impl Hand {
    pub(crate) const fn new(writer: Writer) -> Self {
        Self { writer, owed: None }
    }
}

impl Admin {
    /// Carries out one order. `prepare` gets the snapshot to be, at the epoch to be, and must not write.
    pub(crate) fn carry_out<T>(
        &self,
        intent: Intent<'_>,
        prepare: impl FnOnce(Snapshot) -> Result<Prepared<T>, AdminError>,
    ) -> Result<(T, u64), AdminError> {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.ready(&mut hand)?;
        // Owed from the start: should a holder panic, the next order ends this one first.
        hand.owed = Some(self.begin(&mut hand, intent, &snapshot)?);
        let prepared = self.draft(&snapshot).and_then(prepare);
        let begun = hand.owed.take().ok_or(AuditError::Unavailable)?;
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let failure = error.code();
                // What the caller is told is why; an end that is owed refuses the next order.
                drop(self.record_end(&mut hand, Begun { failure, ..begun }, None));
                return Err(error);
            }
        };
        let Prepared {
            answer,
            transaction,
            next,
        } = prepared;
        let (begun, changed) = self.commit(&mut hand, transaction, begun)?;
        let (epoch, trust) = (changed.epoch, Arc::clone(&begun.trust));
        let recorded = self.record_end(&mut hand, begun, Some(&changed));
        // The store is the truth: what is committed is published even where it cannot be acknowledged.
        if next.epoch == epoch {
            self.shared.publish(next);
        } else {
            self.publish_from_store(trust)?;
        }
        recorded?;
        Ok((answer, epoch))
    }

    /// The snapshot to start from, after an end that is still owed was recorded.
    fn ready(&self, hand: &mut MutexGuard<'_, Hand>) -> Result<Arc<Snapshot>, AdminError> {
        if let Some(begun) = hand.owed.take() {
            match self.changed_since(begun.facts.epoch) {
                Ok(changed) => self.record_end(hand, begun, changed.as_ref())?,
                Err(error) => {
                    hand.owed = Some(begun);
                    return Err(error.into());
                }
            }
        }
        let snapshot = self.shared.snapshot();
        if snapshot.epoch != self.store.epoch() {
            self.publish_from_store(Arc::clone(&snapshot.trust))?;
        }
        Ok(self.shared.snapshot())
    }

    fn begin(
        &self,
        hand: &mut MutexGuard<'_, Hand>,
        intent: Intent<'_>,
        snapshot: &Snapshot,
    ) -> Result<Begun, AdminError> {
        let Intent {
            facts,
            fields,
            trust,
        } = intent;
        let clock = self.shared.clock();
        let facts = Facts {
            epoch: snapshot.epoch,
            time: clock.wall(),
            ..facts
        };
        let started = clock.monotonic();
        let order = hand
            .writer
            .begin_order(&Record { facts, fields }, room_for(facts.operation))?;
        let trust = trust.unwrap_or_else(|| Arc::clone(&snapshot.trust));
        Ok(Begun {
            order,
            facts,
            started,
            failure: Code::Internal,
            trust,
        })
    }

    /// `snapshot` as it will be at the next epoch, before the order's own change.
    fn draft(&self, snapshot: &Snapshot) -> Result<Snapshot, AdminError> {
        let mut next = Snapshot::clone(snapshot);
        next.epoch += 1;
        next.policy = Arc::new(next.compile_policy(&self.store)?);
        Ok(next)
    }

    /// Commits, and finds out what happened where the store lost its answer. The order is ended here
    /// if nothing was changed, and owed if even that is unknown.
    fn commit(
        &self,
        hand: &mut MutexGuard<'_, Hand>,
        transaction: Transaction,
        begun: Begun,
    ) -> Result<(Begun, Changed), AdminError> {
        let error = match self.store.commit(transaction) {
            Ok(committed) => {
                let changed = Changed {
                    epoch: committed.epoch.0,
                    rows: committed.rows,
                };
                return Ok((begun, changed));
            }
            Err(error) => error,
        };
        let found = self.changed_since(begun.facts.epoch);
        let error = AdminError::from(rows::explain(error));
        let begun = Begun {
            failure: error.code(),
            ..begun
        };
        match found {
            Ok(Some(changed)) => Ok((begun, changed)),
            Ok(None) => {
                drop(self.record_end(hand, begun, None));
                Err(error)
            }
            Err(_) => {
                hand.owed = Some(begun);
                Err(error)
            }
        }
    }

    /// What was committed after `epoch`, which only one transaction can have been.
    fn changed_since(&self, epoch: u64) -> Result<Option<Changed>, StoreError> {
        // Asking for a moment makes the store find out about a commit that got no answer.
        let now = self.store.snapshot(&[])?.epoch.0;
        if now == epoch {
            return Ok(None);
        }
        Ok(Some(Changed {
            epoch: now,
            rows: rows_of(&self.store, now)?,
        }))
    }

    fn record_end(
        &self,
        hand: &mut MutexGuard<'_, Hand>,
        begun: Begun,
        changed: Option<&Changed>,
    ) -> Result<(), AuditError> {
        let clock = self.shared.clock();
        let Begun {
            order,
            facts,
            started,
            failure,
            trust,
        } = begun;
        let mut after = Facts {
            time: clock.wall(),
            duration: clock.monotonic().since(started),
            ..facts
        };
        after.outcome = if changed.is_some() { Code::Ok } else { failure };
        after.epoch = changed.map_or(facts.epoch, |changed| changed.epoch);
        let rows = changed.map_or(&[][..], |changed| &changed.rows);
        let ended = with_fields(rows, |fields| {
            order.finish(
                &mut hand.writer,
                &Record {
                    facts: after,
                    fields,
                },
            )
        });
        ended.map_err(|(order, error)| {
            hand.owed = Some(Begun {
                order,
                facts,
                started,
                failure,
                trust,
            });
            error
        })
    }

    fn publish_from_store(&self, trust: Arc<ClientTrust>) -> Result<(), AdminError> {
        self.shared.publish(Snapshot::load(&self.store, trust)?);
        Ok(())
    }
}

/// Settles the orders that a crash left without an end (design 7.29): call it before anything is served.
///
/// Orders are serial, each raises the epoch in its one transaction, and none begins while the end of
/// another is owed. So only the newest can have been carried out, and it was if the epoch is the one after its own. A
/// store that is further than that carried out orders of which the log lacks the records: what became of this one is
/// not known then, and it is not recorded as carried out. The log tells only of orders that a signed head or a check
/// frame proves.
///
/// # Errors
/// [`AdminError::Audit`], [`AdminError::Store`]: the node must not start.
pub fn settle(log: &mut Log, store: &Store, clock: &Clock) -> Result<(), AdminError> {
    let mut unfinished = log.take_unfinished();
    if unfinished.is_empty() {
        return Ok(());
    }
    unfinished.sort_by_key(|(begun, _)| (begun.facts().epoch, begun.facts().time));
    let newest = unfinished.len() - 1;
    let mut writer = log.writer()?;
    for (index, (begun, order)) in unfinished.into_iter().enumerate() {
        let mut facts = Facts {
            time: clock.wall(),
            outcome: Code::Interrupted,
            ..*begun.facts()
        };
        let mut rows = Vec::new();
        if index == newest && facts.epoch.checked_add(1) == Some(store.epoch()) {
            (facts.outcome, facts.epoch) = (Code::Ok, store.epoch());
            rows = rows_of(store, facts.epoch)?;
        }
        with_fields(&rows, |fields| {
            order.settle(&mut writer, &Record { facts, fields })
        })
        .map_err(|(_, error)| error)?;
    }
    Ok(())
}

/// The rows that the transaction of `epoch` wrote and that have not been written again since.
fn rows_of(store: &Store, epoch: u64) -> Result<Vec<(Table, Row)>, StoreError> {
    let mut rows = Vec::new();
    for table in ORDERED {
        let of_epoch = store
            .range(table, &[])?
            .into_iter()
            .filter(|row| row.epoch == epoch);
        rows.extend(of_epoch.map(|row| (table, row)));
    }
    Ok(rows)
}

/// Calls `use_them` with the rows as fields of a record (design 7.15).
fn with_fields<R>(rows: &[(Table, Row)], use_them: impl FnOnce(&[Field<'_>]) -> R) -> R {
    let names: Vec<Option<Name>> = rows
        .iter()
        .map(|(table, _)| table.name().parse().ok())
        .collect();
    let bodies: Vec<_> = rows
        .iter()
        .map(|(table, row)| rows::recorded(*table, &row.body))
        .collect();
    let fields: Vec<_> = rows
        .iter()
        .zip(names.iter().zip(&bodies))
        .map(|((_, row), (table, body))| field(row, table, body))
        .collect();
    use_them(&fields)
}

fn field<'a>(row: &'a Row, table: &'a Option<Name>, body: &'a [u8]) -> Field<'a> {
    match table {
        Some(table) if body.len() <= LONGEST_RECORDED_ROW => Field::Row(RowField {
            table: table.into(),
            key: &row.key,
            row: body,
            mac: &row.mac,
        }),
        _ => Field::OrderDigest(sha256(&row.body)),
    }
}

/// Revoking must be possible, and on record, on a full disk too (design 7.36).
const fn room_for(operation: Operation) -> Room {
    match operation {
        Operation::PkiRevoke | Operation::KeySuspend => Room::Reserved,
        _ => Room::Ordinary,
    }
}

/// The tables that orders write.
const ORDERED: [Table; 6] = [
    Table::Tenants,
    Table::Names,
    Table::Keys,
    Table::KeyVersions,
    Table::Policies,
    Table::Approvals,
];
/// A longer row, which only a very large policy is, stands in its record as a digest.
const LONGEST_RECORDED_ROW: usize = 256 << 10;
