//! The record of one request, from its beginning to its end, and the decision that it tells of.

use std::time::Duration;

use keywright_audit::Reason;
use keywright_audit::batch::{Batch, Detail, Summary};
use keywright_audit::field::{Field, PathList};
use keywright_audit::record::Facts;
use keywright_clock::MonotonicTime;
use keywright_custody::{HolderError, Key, Reply};
use keywright_policy::{ContextRef, Denied, PathRights, Permit, Principal};
use keywright_types::{Code, KeyVersion, Operation, Purpose};

use super::Worker;
use super::performed::{Done, Kept, Performed, outcome};
use crate::metrics::{Place, Spent};
use crate::plan::DataOperation;
use crate::recorded::Recorded;
use crate::{Identified, Snapshot};

/// A decision that was taken for a caller on a context.
pub(crate) struct Decided<'a> {
    pub(crate) key: &'a Key,
    pub(crate) permit: Permit,
    /// Which keys it is for, where the context is a tree.
    pub(super) paths: Option<PathRights<'a>>,
}

/// A refusal, and the reason that only the log may know.
pub(crate) type Refusal = (Code, Option<Reason>);

/// The record of one request, from its beginning to its end.
///
/// It is written whatever happens: a request that is cancelled while a device works for it leaves
/// a record that says so.
pub(crate) struct Entry<'a> {
    pub(super) worker: &'a Worker,
    pub(crate) facts: Facts,
    pub(super) started: MonotonicTime,
    /// Who asks, looked at once: the record and the decision name the same.
    pub(super) principal: Result<Identified, Code>,
    /// Which keys of a tree it is for.
    pub(super) paths: PathList,
    /// When the holder was done, where nothing but the record is left to do.
    pub(super) worked: Option<MonotonicTime>,
    /// Where its time went, if a holder worked.
    pub(super) spent: Option<Spent>,
    pub(super) open: bool,
}

impl Entry<'_> {
    pub(crate) fn principal(&self) -> Result<Identified, Refusal> {
        self.principal.clone().map_err(|code| (code, None))
    }

    #[inline]
    pub(crate) fn decide<'s>(
        &mut self,
        snapshot: &'s Snapshot,
        context: &str,
    ) -> Result<Decided<'s>, Refusal> {
        let principal = self.principal.as_deref().map_err(|code| (*code, None))?;
        let key = snapshot.keyring.find(principal.tenant(), context);
        let key = key.ok_or((Code::ContextNotFound, Some(Reason::ContextUnknown)))?;
        match authorize(snapshot, principal, (key, self.facts.operation)) {
            Ok((permit, paths)) => {
                (self.facts.key, self.facts.epoch) = (key.id(), permit.epoch());
                Ok(Decided { key, permit, paths })
            }
            Err(denied @ Denied::NoRight) => Err((denied.code(), Some(Reason::ContextHidden))),
            Err(denied) => {
                self.facts.key = key.id();
                Err((denied.code(), Some(Reason::PolicyDenied)))
            }
        }
    }

    pub(super) fn decide_tenant(&self, snapshot: &Snapshot) -> Result<Permit, Refusal> {
        let permit = snapshot
            .policy
            .authorize_tenant(&*self.principal()?, self.facts.operation);
        permit.map_err(|denied| (denied.code(), Some(Reason::PolicyDenied)))
    }

    pub(crate) fn refuse<T>(
        mut self,
        code: Code,
        reason: Option<Reason>,
    ) -> Recorded<Result<T, Code>> {
        self.facts.outcome = code;
        self.facts.failed = self.facts.items;
        let fields = reason.map(Field::Reason);
        self.close(Err(code), fields.as_slice())
    }

    /// Writes nothing: whoever takes the facts makes the record.
    pub(crate) fn leave(mut self) -> (Facts, MonotonicTime) {
        self.open = false;
        (self.facts, self.started)
    }

    pub(super) fn finish<T>(mut self, value: T) -> Recorded<Result<T, Code>> {
        self.close(Ok(value), &[])
    }

    /// Ends a request that a holder on this thread worked for from then to then.
    #[inline]
    pub(super) fn done_here<'p>(
        mut self,
        times: (MonotonicTime, MonotonicTime),
        reply: Result<Reply, HolderError>,
        (kept, operation): (Kept, DataOperation),
    ) -> Performed<'p> {
        let spent = self.worked_here(times);
        let done = outcome(reply, kept, spent);
        Performed::ready(self.finish_items(done, operation))
    }

    // Inlined, so that the entry, which was just written in parts, stays where it is.
    #[inline]
    pub(super) fn finish_items(
        mut self,
        done: Result<Done, Code>,
        operation: DataOperation,
    ) -> Recorded<Result<Done, Code>> {
        match done {
            Ok(done) => self.finish_done(done, operation),
            Err(code) => self.refuse(code, None),
        }
    }

    fn finish_done(
        &mut self,
        done: Done,
        operation: DataOperation,
    ) -> Recorded<Result<Done, Code>> {
        self.facts.bytes_out = done.byte_len() as u64;
        self.tally(operation, &done);
        if operation.hands_out_keys() {
            self.worker.wants_sync.set(true);
        }
        let mut items = done
            .iter()
            .map(|item| (item.version, item.code, item.message));
        match (items.len(), items.next()) {
            (1, Some(only)) => {
                drop(items);
                let reason = done.kept().refused.reason(0);
                self.finish_one(done, only, reason)
            }
            (_, first) => {
                let summary = summary(self.detail(), first.into_iter().chain(items));
                self.finish_summed(done, &summary)
            }
        }
    }

    fn tally(&self, operation: DataOperation, done: &Done) {
        let outcomes = done
            .iter()
            .map(|item| (item.version, item.code, item.message));
        let of = (self.facts.key, operation.use_of_key(), self.facts.time);
        let mut tallies = self.worker.tallies.borrow_mut();
        tallies.count(of, outcomes, &done.kept().noted);
    }

    /// The record of a single item says itself how the item ended.
    fn finish_one<T>(
        &mut self,
        value: T,
        (version, code, message): Outcome,
        reason: Option<Reason>,
    ) -> Recorded<Result<T, Code>> {
        self.facts.version = version;
        self.facts.outcome = code;
        self.facts.failed = u32::from(code != Code::Ok);
        let named = (message != [0; 16]).then_some(Field::MessageId(message));
        let paths = std::mem::take(&mut self.paths);
        if let Some(path) = paths.field() {
            return match reason.map(Field::Reason) {
                Some(reason) => self.close(Ok(value), &[path, reason]),
                None => self.close(Ok(value), &[path]),
            };
        }
        match (named, reason.map(Field::Reason)) {
            (Some(named), Some(reason)) => self.close(Ok(value), &[named, reason]),
            (one, other) => self.close(Ok(value), one.or(other).as_slice()),
        }
    }

    /// One record for a batch: groups and a digest over every item (design 7.31).
    pub(super) fn finish_batch<T>(
        mut self,
        value: T,
        mut items: impl ExactSizeIterator<Item = Outcome>,
    ) -> Recorded<Result<T, Code>> {
        match (items.len(), items.next()) {
            (1, Some(only)) => self.finish_one(value, only, None),
            (_, first) => {
                let summary = summary(self.detail(), first.into_iter().chain(items));
                self.finish_summed(value, &summary)
            }
        }
    }

    fn finish_summed<T>(&mut self, value: T, summary: &Summary) -> Recorded<Result<T, Code>> {
        self.facts.failed = summary.failed();
        let paths = std::mem::take(&mut self.paths);
        let [groups, digest] = summary.fields();
        // What keys of a tree make has no message id: there is never both.
        match paths.field().or(summary.ids()) {
            Some(more) => self.close(Ok(value), &[groups, digest, more]),
            None => self.close(Ok(value), &[groups, digest]),
        }
    }

    fn detail(&self) -> Detail {
        self.worker.shared.items_recorded()
    }

    fn close<T>(
        &mut self,
        result: Result<T, Code>,
        fields: &[Field<'_>],
    ) -> Recorded<Result<T, Code>> {
        self.open = false;
        self.facts.duration = self.took();
        let worker = self.worker;
        worker.count_request(&self.facts, self.spent);
        Recorded::new(result, worker.append(self.facts, fields))
    }

    /// Notes what a holder on this thread worked.
    fn worked_here(&mut self, (begun, ended): (MonotonicTime, MonotonicTime)) -> Spent {
        self.worked = Some(ended);
        let spent = Spent {
            queue: Duration::ZERO,
            holder: ended.since(begun),
        };
        self.worker.counters.note_holder(Place::Thread, spent);
        self.spent = Some(spent);
        spent
    }

    fn took(&self) -> Duration {
        let now = || self.worker.shared.clock().monotonic();
        self.worked.unwrap_or_else(now).since(self.started)
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if self.open {
            self.facts.outcome = Code::Interrupted;
            self.facts.failed = self.facts.items;
            drop(self.close::<()>(Err(Code::Interrupted), &[]));
            self.worker.leave_behind();
        }
    }
}

/// Version, result and message of one item.
pub(crate) type Outcome = (KeyVersion, Code, [u8; 16]);

fn summary(detail: Detail, items: impl Iterator<Item = Outcome>) -> Summary {
    let mut batch = Batch::recording(detail);
    items.for_each(|(version, code, message)| batch.add(version, code, &message));
    batch.finish()
}

/// What the policy says of an operation on a context, and for which keys where that is a tree.
pub(super) fn authorize<'s>(
    snapshot: &'s Snapshot,
    principal: &Principal,
    (key, operation): (&'s Key, Operation),
) -> Result<(Permit, Option<PathRights<'s>>), Denied> {
    let (policy, context) = (&snapshot.policy, reference(key));
    match key.spec().purpose {
        Purpose::Tree => policy
            .authorize_in_tree(principal, context, operation)
            .map(|(permit, paths)| (permit, Some(paths))),
        _ => policy
            .authorize(principal, context, operation)
            .map(|permit| (permit, None)),
    }
}

pub(super) fn reference(key: &Key) -> ContextRef<'_> {
    ContextRef::new(key.tenant(), key.name().as_str(), key.id())
}
