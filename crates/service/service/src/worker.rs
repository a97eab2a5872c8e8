//! One server thread's way through a request: decide, call custody, record, answer (design 7.29).
//!
//! A worker belongs to one thread. What threads share is the [`Shared`] state, read without a lock.
//! Whatever a request hands out is wrapped in [`Recorded`] together with the place of its audit
//! record, and comes out only when that record has been written.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use keywright_audit::batch::{Batch, Summary};
use keywright_audit::field::{Field, PathList};
use keywright_audit::record::{Facts, Record};
use keywright_audit::refusals::{Counted, Refusals, Whom};
use keywright_audit::writer::{Ticket, Writer, Written};
use keywright_audit::{Reason, RecordType};
use keywright_clock::{MonotonicTime, WallTime};
use keywright_custody::{HolderError, Items, Key, NO_DEADLINE, Placement, Reply, ReplyItem};
use keywright_policy::{ContextRef, Denied, PathRights, Permit, Principal};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::{
    Code, KeyId, KeyVersion, Operation, PrincipalId, Purpose, RequestId, TenantId,
};

use crate::counting::Tallies;
use crate::desk::{self, ContextOrder, Desk, OrderDone, Ordering};
use crate::life::Author;
use crate::meter::{Meter, Wait};
use crate::metrics::{Counters, Ended, Place, Spent};
use crate::plan::{DataOperation, Noted, Plan, Prepared, Refused, UseOfKey, plan};
use crate::pool::Worked;
use crate::readers;
use crate::recorded::Recorded;
use crate::shared::Shared;
use crate::{Caller, Snapshot};

/// The use cases of one server thread.
pub struct Worker {
    shared: Arc<Shared>,
    writer: RefCell<Writer>,
    random: RefCell<RandomStream>,
    refusals: RefCell<Refusals>,
    /// Counted refusals whose records are not written yet.
    owed: RefCell<Vec<Owed>>,
    /// Connections whose records wait for the next flush, and where to say that one was lost.
    connections: RefCell<Vec<(Ticket, Rc<Cell<bool>>)>>,
    counters: Arc<Counters>,
    /// Uses of keys that are not handed over yet.
    tallies: RefCell<Tallies>,
    /// Whether an answer that waits for the next flush hands out key material.
    wants_sync: Cell<bool>,
    /// Whether a cancelled request left a record that nobody waits for.
    left_behind: Cell<bool>,
    /// Whether nobody flushes any more: what comes now is flushed at once.
    finished: Cell<bool>,
    /// How far the last flushes went, the newest first.
    written: Cell<[Option<Written>; 4]>,
}

/// A counted refusal, kept until its record is written.
struct Owed {
    counted: Counted,
    /// The record's place in the log; none before it could be appended, and after it was lost.
    ticket: Option<Ticket>,
}

/// One request of one caller.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain facts of a request")]
pub struct Call<'a> {
    /// Who asks.
    pub caller: &'a Caller,
    /// The request's id, in answers and records.
    pub request: RequestId,
    /// When its head was read.
    pub started: MonotonicTime,
    /// Bytes of its body.
    pub bytes_in: u64,
}

/// What came of the items of a request.
#[derive(Debug)]
pub struct Done {
    reply: Reply,
    refused: Refused,
    noted: Noted,
    spent: Spent,
}

impl Done {
    /// The results in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ReplyItem<'_>> {
        self.reply.iter().enumerate().map(|(index, mut item)| {
            item.code = self.refused.code(index, item.code);
            if item.code != Code::Ok {
                item.payload = &[];
            }
            item
        })
    }

    /// Bytes of all payloads.
    #[must_use]
    pub const fn byte_len(&self) -> usize {
        self.reply.byte_len()
    }

    /// Where the time went.
    #[must_use]
    pub const fn spent(&self) -> Spent {
        self.spent
    }
}

/// A decision that was taken for a caller on a context.
pub(crate) struct Decided<'a> {
    pub(crate) key: &'a Key,
    pub(crate) permit: Permit,
    /// Which keys it is for, where the context is a tree.
    paths: Option<PathRights<'a>>,
}

/// A request that its caller's limit does not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFast(Wait);

impl TooFast {
    /// Whole seconds after which the caller may come back, at least one.
    #[must_use]
    pub fn retry_after(self) -> u32 {
        self.0.seconds()
    }
}

/// A refusal, and the reason that only the log may know.
pub(crate) type Refusal = (Code, Option<Reason>);

impl Worker {
    /// A worker for the current thread.
    #[must_use]
    pub fn new(shared: Arc<Shared>, writer: Writer) -> Rc<Self> {
        let counters = shared.metrics().thread();
        counters.beat(shared.clock().monotonic());
        Rc::new(Self {
            shared,
            writer: RefCell::new(writer),
            random: RefCell::new(RandomStream::unseeded()),
            refusals: RefCell::default(),
            owed: RefCell::default(),
            connections: RefCell::default(),
            counters,
            tallies: RefCell::default(),
            wants_sync: Cell::new(false),
            left_behind: Cell::new(false),
            finished: Cell::new(false),
            written: Cell::default(),
        })
    }

    /// The state that all workers share.
    #[must_use]
    pub const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// A new request's id.
    ///
    /// # Errors
    /// [`Code::Internal`] if there is no randomness.
    pub fn request_id(&self) -> Result<RequestId, Code> {
        let bytes = self.random.borrow_mut().array();
        bytes.map(RequestId::from_bytes).map_err(|_| Code::Internal)
    }

    /// Lets a request in, if its caller's limit does: it pays for one item. One that is not let in is
    /// counted in the log, and needs no record of its own.
    ///
    /// # Errors
    /// [`TooFast`], and when to come back.
    pub fn admit(&self, caller: &Caller, operation: Operation) -> Result<(), TooFast> {
        self.charge(caller, operation, |meter, now| meter.enter(operation, now))
    }

    /// Takes what the items of a request cost, once they are known; the first is paid for.
    ///
    /// # Errors
    /// [`TooFast`] if the caller owes something already.
    pub fn charge_items(
        &self,
        caller: &Caller,
        operation: Operation,
        items: usize,
    ) -> Result<(), TooFast> {
        let more = (items as u64).saturating_sub(1);
        if more == 0 {
            return Ok(());
        }
        self.charge(caller, operation, |meter, now| {
            meter.more((operation, more), now)
        })
    }

    fn charge(
        &self,
        caller: &Caller,
        operation: Operation,
        take: impl FnOnce(&Meter, MonotonicTime) -> Result<(), Wait>,
    ) -> Result<(), TooFast> {
        let asked = caller.metered(|meter, principal| {
            let now = self.shared.clock().monotonic();
            let whom = Whom::Principal(principal.tenant(), principal.id());
            take(meter, now).map_err(|wait| (wait, whom))
        });
        let Some(Err((wait, whom))) = asked else {
            return Ok(());
        };
        self.note_counted(operation, Code::RateLimited, whom);
        Err(TooFast(wait))
    }

    /// Counts a request that is refused because there is too much to do already.
    pub fn note_overload(&self, caller: &Caller, operation: Operation) {
        let snapshot = self.shared.snapshot();
        let principal = caller.principal(&snapshot, self.shared.clock().wall());
        // Somebody who is nobody any more is told so by the end of the connection.
        let nobody = (TenantId::NONE, PrincipalId::NONE);
        let (tenant, id) = principal.map_or(nobody, |one| (one.tenant(), one.id()));
        let whom = Whom::Principal(tenant, id);
        self.note_counted(operation, Code::Overloaded, whom);
    }

    fn note_counted(&self, operation: Operation, code: Code, whom: Whom) {
        self.counters.count_refused(operation, code);
        self.note_refused(whom, code);
    }

    /// Does `operation` on a context for each item: at once, unless the holder waits for a device.
    ///
    /// The work is begun by this call, not by the first poll of what it returns.
    pub fn perform(
        &self,
        call: Call<'_>,
        context: &str,
        operation: DataOperation,
        items: Prepared,
    ) -> Performed<'_> {
        let snapshot = self.shared.snapshot();
        let mut entry = self.begin(&call, operation.operation(), &snapshot);
        entry.facts.items = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let Decided { key, permit, paths } = match entry.decide(&snapshot, context) {
            Ok(decided) => decided,
            Err((code, reason)) => return Performed::ready(entry.refuse(code, reason)),
        };
        let deadline = self.deadline(&call);
        let planned = entry.principal.as_deref().map_err(|code| *code);
        let planned = planned.and_then(|principal| {
            let items = match items.labels.is_empty() {
                true => items,
                false => {
                    let credential = call.caller.credential();
                    readers::settle(items, key, (principal, credential.as_deref()))?
                }
            };
            let rights = (&*snapshot.policy, principal, paths);
            plan(operation, key, rights, items, deadline)
        });
        match planned {
            Ok((plan, items)) => self.hand_over(entry, (operation, permit), plan, items),
            Err(code) => {
                self.note_idle(key, code, entry.facts.time);
                Performed::ready(entry.refuse(code, None))
            }
        }
    }

    /// Random bytes for a caller who may have them, `length` of them for all items together;
    /// `outcomes` says how each item of the request fares.
    pub fn random(
        &self,
        call: Call<'_>,
        length: usize,
        outcomes: &[Code],
    ) -> Recorded<Result<SecretBytes, Code>> {
        let snapshot = self.shared.snapshot();
        let mut entry = self.begin(&call, Operation::Random, &snapshot);
        entry.facts.items = u32::try_from(outcomes.len()).unwrap_or(u32::MAX);
        let made = entry.decide_tenant(&snapshot).and_then(|_| {
            let mut bytes = SecretBytes::zeroed(length);
            let filled = self.random.borrow_mut().fill(bytes.expose_mut());
            filled.map(|()| bytes).map_err(|_| (Code::Internal, None))
        });
        match made {
            Ok(bytes) => {
                entry.facts.bytes_out = bytes.len() as u64;
                let items = outcomes
                    .iter()
                    .map(|code| (KeyVersion::NONE, *code, [0; 16]));
                entry.finish_batch(bytes, items)
            }
            Err((code, reason)) => entry.refuse(code, reason),
        }
    }

    /// The contexts that a caller may know of.
    pub fn contexts(&self, call: Call<'_>) -> Recorded<Result<Vec<Arc<Key>>, Code>> {
        let snapshot = self.shared.snapshot();
        let entry = self.begin(&call, Operation::ContextList, &snapshot);
        match entry.principal() {
            Ok(principal) => {
                let mut keys: Vec<_> = snapshot
                    .keyring
                    .iter()
                    .filter(|key| snapshot.policy.may_know(&principal, reference(key)))
                    .cloned()
                    .collect();
                keys.sort_by(|a, b| a.name().cmp(b.name()));
                entry.finish(keys)
            }
            Err((code, reason)) => entry.refuse(code, reason),
        }
    }

    /// One context with its versions, for a caller who may list them.
    pub fn describe(&self, call: Call<'_>, context: &str) -> Recorded<Result<Arc<Key>, Code>> {
        let snapshot = self.shared.snapshot();
        let mut entry = self.begin(&call, Operation::KeyList, &snapshot);
        match entry.decide(&snapshot, context).map(drop) {
            Ok(()) => {
                let tenant = entry.facts.tenant;
                let key = snapshot.keyring.find(tenant, context).cloned();
                match key {
                    Some(key) => entry.finish(key),
                    None => entry.refuse(Code::Internal, None),
                }
            }
            Err((code, reason)) => entry.refuse(code, reason),
        }
    }

    /// What a context is, for a caller who holds some right on it. It decides nothing and uses no key, so it leaves no
    /// record: the operation that follows does.
    #[must_use]
    pub fn known_key(&self, caller: &Caller, context: &str) -> Option<Arc<Key>> {
        let snapshot = self.shared.snapshot();
        let now = self.shared.clock().wall();
        let principal = caller.principal(&snapshot, now).ok()?;
        let key = snapshot.keyring.find(principal.tenant(), context)?;
        let known = snapshot.policy.may_know(&principal, reference(key));
        known.then(|| Arc::clone(key))
    }

    /// Has an order about a context carried out for a caller who may give it. The order has records of its own,
    /// under the same request.
    pub async fn order(
        &self,
        call: Call<'_>,
        context: &str,
        (operation, what): (Operation, Ordering),
        desk: &Desk,
    ) -> Recorded<Result<OrderDone, Code>> {
        let (entry, given) = self.hand_in(&call, context, (operation, what), desk);
        match given {
            Err((code, reason)) => entry.refuse(code, reason),
            Ok(answer) => match answer.await.unwrap_or(Err(Code::Internal)) {
                Ok(done) => entry.finish(done),
                Err(code) => entry.refuse(code, None),
            },
        }
    }

    fn hand_in(
        &self,
        call: &Call<'_>,
        context: &str,
        (operation, what): (Operation, Ordering),
        desk: &Desk,
    ) -> (Entry<'_>, Result<desk::Answer, Refusal>) {
        let snapshot = self.shared.snapshot();
        let mut entry = self.begin(call, operation, &snapshot);
        let decided = entry.decide(&snapshot, context);
        let given = decided.map(|decided| (decided.key.tenant(), decided.key.name().clone()));
        let given = given.and_then(|(tenant, context)| {
            let author = Author {
                principal: entry.facts.principal,
                connection: entry.facts.connection,
                request: entry.facts.request,
            };
            let order = ContextOrder {
                author,
                tenant,
                context,
                what,
            };
            desk.give(order).map_err(|code| (code, None))
        });
        (entry, given)
    }

    /// Whether the holder works now. One that waits for a device is asked on its pool; where that has no room,
    /// the device is at work.
    pub async fn holder_works(&self) -> bool {
        let Some(pool) = self.shared.pool() else {
            return self.shared.holder().probe().is_ok();
        };
        match pool.probe() {
            Ok(answer) => matches!(answer.await, Ok(Ok(()))),
            Err(error) => error == HolderError::Full,
        }
    }

    /// An operation that concerns no context and hands out nothing but what `make` says.
    pub fn plain<T>(
        &self,
        call: Call<'_>,
        operation: Operation,
        needs_right: Need,
        make: impl FnOnce(&Snapshot) -> T,
    ) -> Recorded<Result<T, Code>> {
        let snapshot = self.shared.snapshot();
        let entry = self.begin(&call, operation, &snapshot);
        let decided = match needs_right {
            Need::Grant => entry.decide_tenant(&snapshot).map(drop),
            Need::Identity => entry.principal().map(drop),
        };
        match decided {
            Ok(()) => entry.finish(make(&snapshot)),
            Err((code, reason)) => entry.refuse(code, reason),
        }
    }

    /// Stands for a request whose body is still on its way: if the client goes away before
    /// [`Expected::arrived`], a record says so.
    pub const fn expect<'a>(&'a self, call: Call<'a>, operation: Operation) -> Expected<'a> {
        Expected {
            worker: self,
            call,
            operation,
            arrived: false,
        }
    }

    /// Records a request that was refused before it could be understood.
    pub fn refuse<T>(
        &self,
        call: Call<'_>,
        operation: Operation,
        code: Code,
    ) -> Recorded<Result<T, Code>> {
        let snapshot = self.shared.snapshot();
        self.begin(&call, operation, &snapshot).refuse(code, None)
    }

    /// Counts a connection or request that never got an identity.
    pub fn note_refused(&self, whom: Whom, reason: Code) {
        self.counters.note_refused(reason);
        self.refusals.borrow_mut().note(reason, whom);
    }

    /// Appends the record of `caller`'s connection. Whether it could be: a connection without a record
    /// must not go on. If the record is lost later, with a flush that fails, the standing of `caller`
    /// ends.
    #[must_use = "a connection without a record must not go on"]
    pub fn note_connection(&self, caller: &Caller, facts: Facts, fields: &[Field<'_>]) -> bool {
        let ticket = self.append(facts, fields);
        if let Some(ticket) = ticket {
            let noted = (ticket, caller.unrecorded());
            self.connections.borrow_mut().push(noted);
            self.counters.note_opened();
        }
        ticket.is_some()
    }

    /// Counts the end of a connection that [`Worker::note_connection`] let in.
    pub fn note_closed(&self) {
        self.counters.note_closed();
    }

    /// Appends the counted refusals of past seconds; call it once a second. Whether there is anything
    /// to flush that no request waits for: these, or the record of a request that was cancelled.
    pub fn drain_refusals(&self) -> bool {
        self.counters.beat(self.shared.clock().monotonic());
        self.hand_over_tallies();
        self.append_counted(Refusals::drain) | self.left_behind.replace(false)
    }

    /// The last records of this worker, when its thread ends.
    pub fn finish(&self) {
        self.hand_over_tallies();
        self.append_counted(Refusals::drain_all);
        self.flush();
        // There may have been older ones that had to go first.
        if self.append_counted(Refusals::drain_all) {
            self.flush();
        }
        self.counters.ended();
        // What still runs ends with its thread, and its record is the last of it.
        self.finished.set(true);
    }

    /// A request that found no version to seal with asked for the newest one.
    pub(crate) fn note_idle(&self, key: &Key, code: Code, now: WallTime) {
        let newest = key.versions().last();
        if let (Code::NoActiveVersion, Some(newest)) = (code, newest) {
            let noted = Noted {
                closed: vec![newest.number()],
                sources: Vec::new(),
            };
            self.count_uses((key.id(), None, now), std::iter::empty(), &noted);
        }
    }

    pub(crate) fn count_uses(
        &self,
        of: (KeyId, Option<UseOfKey>, WallTime),
        outcomes: impl Iterator<Item = Outcome>,
        noted: &Noted,
    ) {
        self.tallies.borrow_mut().count(of, outcomes, noted);
    }

    /// Counts a request whose record has these facts.
    pub(crate) fn count_request(&self, facts: &Facts) {
        let items = u64::from(facts.items.max(1));
        self.counters
            .count(facts.operation, facts.outcome, items, facts.duration);
    }

    /// There is a record that nobody waits for.
    pub(crate) fn leave_behind(&self) {
        self.left_behind.set(true);
        if self.finished.get() {
            self.flush();
        }
    }

    /// The random stream of the running job.
    pub(crate) fn with_random<T>(&self, draw: impl FnOnce(&mut RandomStream) -> T) -> T {
        draw(&mut self.random.borrow_mut())
    }

    fn hand_over_tallies(&self) {
        self.shared.uses().gather(&mut self.tallies.borrow_mut());
    }

    /// Appends what is owed, and what `drain` finds once nothing is. Until then later refusals go on
    /// adding up where their room is bounded.
    fn append_counted(&self, drain: fn(&mut Refusals, WallTime) -> Vec<Counted>) -> bool {
        let mut owed = self.owed.borrow_mut();
        if owed.is_empty() {
            let counted = drain(&mut self.refusals.borrow_mut(), self.shared.clock().wall());
            let epoch = self.shared.snapshot().epoch;
            owed.extend(counted.into_iter().map(|counted| Owed {
                counted: counted.at_epoch(epoch),
                ticket: None,
            }));
        }
        let mut writer = self.writer.borrow_mut();
        for one in owed.iter_mut().filter(|one| one.ticket.is_none()) {
            one.ticket = writer.append(&one.counted.record()).ok();
        }
        !owed.is_empty()
    }

    /// After a flush nothing is pending. What it did not write is lost: counts are appended again,
    /// connections end.
    fn settle(&self, written: Option<Written>) {
        let covers = |ticket| written.is_some_and(|written| written.covers(ticket));
        let mut owed = self.owed.borrow_mut();
        owed.retain_mut(|one| !one.ticket.take().is_some_and(covers));
        for (ticket, unrecorded) in self.connections.borrow_mut().drain(..) {
            unrecorded.set(!covers(ticket));
        }
    }

    /// Writes every record appended so far, once, and ends the job whose answers wait for it.
    ///
    /// Whether it worked; a request whose record is not written answers 503 and hands out nothing.
    pub fn flush(&self) -> bool {
        self.random.borrow_mut().end_job();
        let begun = self.shared.clock().monotonic();
        let mut writer = self.writer.borrow_mut();
        let written = if self.wants_sync.replace(false) {
            writer.sync()
        } else {
            writer.commit()
        };
        let took = self.shared.clock().monotonic().since(begun);
        self.counters.note_audit(took, Ended::of(&written));
        self.settle(written.as_ref().ok().copied());
        let Ok(written) = written else { return false };
        // A writer may have gone on to a new file before all answers of the last turns have left.
        let [newest, second, third, _] = self.written.get();
        self.written.set([Some(written), newest, second, third]);
        true
    }

    /// Until when a holder may work for `call`. What is done on this thread is done at once.
    fn deadline(&self, call: &Call<'_>) -> u64 {
        match self.shared.pool() {
            Some(_) => {
                let timeout = self.shared.settings().request_timeout;
                call.started.plus(timeout).nanos()
            }
            None => NO_DEADLINE,
        }
    }

    pub(crate) fn begin<'a>(
        &'a self,
        call: &Call<'_>,
        operation: Operation,
        snapshot: &Snapshot,
    ) -> Entry<'a> {
        let mut facts = Facts::new(RecordType::Request, operation, self.shared.clock().wall());
        facts.epoch = snapshot.epoch;
        facts.request = call.request;
        facts.connection = call.caller.connection();
        facts.bytes_in = call.bytes_in;
        let principal = call.caller.principal(snapshot, facts.time);
        if let Ok(principal) = &principal {
            facts.principal = principal.id();
            facts.tenant = principal.tenant();
        }
        Entry {
            worker: self,
            facts,
            started: call.started,
            principal,
            paths: PathList::new(),
            open: true,
        }
    }

    fn hand_over<'a>(
        &'a self,
        mut entry: Entry<'a>,
        (operation, permit): (DataOperation, Permit),
        plan: Plan,
        items: Items,
    ) -> Performed<'a> {
        let Plan {
            mut request,
            refused,
            paths,
            noted,
        } = plan;
        let answer = move |reply: Result<Reply, HolderError>, spent| {
            let done = reply.map(|reply| Done {
                reply,
                refused,
                noted,
                spent,
            });
            done.map_err(HolderError::code)
        };
        entry.paths = paths;
        if request.versions.is_empty() {
            // Every item is refused already: no key is wanted, so no holder is asked.
            let done = answer(Ok(unopened(&items)), Spent::default());
            return Performed::ready(entry.finish_items(done, operation));
        }
        let holder = self.shared.holder();
        let begun = self.shared.clock().monotonic();
        if let Some(pool) = self.shared.pool()
            && holder.placement_of(&request) == Placement::Pool
        {
            let mut random = self.random.borrow_mut();
            let now = holder.perform_now(&permit, &request, items, &mut random);
            drop(random);
            let items = match now {
                Ok(reply) => {
                    let done = answer(reply, self.worked_here(begun));
                    return Performed::ready(entry.finish_items(done, operation));
                }
                Err(items) => items,
            };
            let waiting = match pool.submit(permit, request, items) {
                Ok(waiting) => waiting,
                Err(error) => return Performed::ready(entry.refuse(error.code(), None)),
            };
            return Performed::waiting(async move {
                let Worked { reply, spent } = waiting.await.unwrap_or(Worked::NOTHING);
                self.counters.note_holder(Place::Pool, spent);
                entry.finish_items(answer(reply, spent), operation)
            });
        }
        request.deadline_ns = NO_DEADLINE;
        let mut random = self.random.borrow_mut();
        let reply = holder.perform(&permit, &request, items, &mut random);
        drop(random);
        let done = answer(reply, self.worked_here(begun));
        Performed::ready(entry.finish_items(done, operation))
    }

    /// Notes work of a holder on this thread that began then.
    fn worked_here(&self, begun: MonotonicTime) -> Spent {
        let spent = Spent {
            queue: Duration::ZERO,
            holder: self.shared.clock().monotonic().since(begun),
        };
        self.counters.note_holder(Place::Thread, spent);
        spent
    }

    pub(crate) fn append(&self, facts: Facts, fields: &[Field<'_>]) -> Option<Ticket> {
        self.writer
            .borrow_mut()
            .append(&Record { facts, fields })
            .ok()
    }

    /// Whether this record has been written.
    pub(crate) fn has_written(&self, ticket: Ticket) -> bool {
        self.written
            .get()
            .iter()
            .flatten()
            .any(|written| written.covers(ticket))
    }
}

/// A request on its way. Holders in this process are done before this is returned; only those that wait
/// for a device cost an allocation and a second look.
#[must_use = "a request that nobody waits for is recorded as interrupted"]
pub struct Performed<'a>(Progress<'a>);

enum Progress<'a> {
    Ready(Option<Answered>),
    Waiting(Pin<Box<dyn Future<Output = Answered> + 'a>>),
}

/// The results of the items, or why there are none.
type Answered = Recorded<Result<Done, Code>>;

impl<'a> Performed<'a> {
    const fn ready(recorded: Answered) -> Self {
        Self(Progress::Ready(Some(recorded)))
    }

    fn waiting(work: impl Future<Output = Answered> + 'a) -> Self {
        Self(Progress::Waiting(Box::pin(work)))
    }
}

impl Future for Performed<'_> {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            // Polled again after it was ready, against the rules of futures: it never wakes again.
            Progress::Ready(recorded) => recorded.take().map_or(Poll::Pending, Poll::Ready),
            Progress::Waiting(work) => work.as_mut().poll(context),
        }
    }
}

impl fmt::Debug for Performed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Performed")
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

/// What an operation without a context demands of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third demand would need a rule of its own"
)]
pub enum Need {
    /// A grant of this operation.
    Grant,
    /// To be a principal at all.
    Identity,
}

/// A request whose body is still on its way.
#[derive(Debug)]
#[must_use = "dropped, it records that the client went away"]
pub struct Expected<'a> {
    worker: &'a Worker,
    call: Call<'a>,
    operation: Operation,
    arrived: bool,
}

impl Expected<'_> {
    /// The body is there, or is refused: what follows makes the record.
    pub fn arrived(mut self) {
        self.arrived = true;
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        if !self.arrived {
            let snapshot = self.worker.shared.snapshot();
            // An entry that nobody closes is recorded as interrupted.
            drop(self.worker.begin(&self.call, self.operation, &snapshot));
        }
    }
}

/// The record of one request, from its beginning to its end.
///
/// It is written whatever happens: a request that is cancelled while a device works for it leaves
/// a record that says so.
pub(crate) struct Entry<'a> {
    worker: &'a Worker,
    pub(crate) facts: Facts,
    started: MonotonicTime,
    /// Who asks, looked at once: the record and the decision name the same.
    principal: Result<Arc<Principal>, Code>,
    /// Which keys of a tree it is for.
    paths: PathList,
    open: bool,
}

impl Entry<'_> {
    pub(crate) fn principal(&self) -> Result<Arc<Principal>, Refusal> {
        self.principal.clone().map_err(|code| (code, None))
    }

    pub(crate) fn decide<'s>(
        &mut self,
        snapshot: &'s Snapshot,
        context: &str,
    ) -> Result<Decided<'s>, Refusal> {
        let principal = self.principal.as_deref().map_err(|code| (*code, None))?;
        let key = snapshot.keyring.find(principal.tenant(), context);
        let key = key.ok_or((Code::ContextNotFound, Some(Reason::ContextUnknown)))?;
        let (policy, operation) = (&snapshot.policy, self.facts.operation);
        let decided = match key.spec().purpose {
            Purpose::Tree => policy
                .authorize_in_tree(principal, reference(key), operation)
                .map(|(permit, paths)| (permit, Some(paths))),
            _ => policy
                .authorize(principal, reference(key), operation)
                .map(|permit| (permit, None)),
        };
        match decided {
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

    fn decide_tenant(&self, snapshot: &Snapshot) -> Result<Permit, Refusal> {
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

    fn finish<T>(mut self, value: T) -> Recorded<Result<T, Code>> {
        self.close(Ok(value), &[])
    }

    fn finish_items(
        mut self,
        done: Result<Done, Code>,
        operation: DataOperation,
    ) -> Recorded<Result<Done, Code>> {
        let done = match done {
            Ok(done) => done,
            Err(code) => return self.refuse(code, None),
        };
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
                let reason = done.refused.reason(0);
                self.finish_one(done, only, reason)
            }
            (_, first) => {
                let summary = summary(first.into_iter().chain(items));
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
        tallies.count(of, outcomes, &done.noted);
    }

    /// The record of a single item says itself how the item ended.
    fn finish_one<T>(
        mut self,
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
    fn finish_batch<T>(
        self,
        value: T,
        mut items: impl ExactSizeIterator<Item = Outcome>,
    ) -> Recorded<Result<T, Code>> {
        match (items.len(), items.next()) {
            (1, Some(only)) => self.finish_one(value, only, None),
            (_, first) => self.finish_summed(value, &summary(first.into_iter().chain(items))),
        }
    }

    fn finish_summed<T>(mut self, value: T, summary: &Summary) -> Recorded<Result<T, Code>> {
        self.facts.failed = summary.failed();
        let paths = std::mem::take(&mut self.paths);
        let [groups, digest] = summary.fields();
        match paths.field() {
            Some(path) => self.close(Ok(value), &[groups, digest, path]),
            None => self.close(Ok(value), &[groups, digest]),
        }
    }

    fn close<T>(
        &mut self,
        result: Result<T, Code>,
        fields: &[Field<'_>],
    ) -> Recorded<Result<T, Code>> {
        self.open = false;
        self.facts.duration = self.took();
        let worker = self.worker;
        worker.count_request(&self.facts);
        Recorded::new(result, worker.append(self.facts, fields))
    }

    fn took(&self) -> Duration {
        self.worker.shared.clock().monotonic().since(self.started)
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

fn summary(items: impl Iterator<Item = Outcome>) -> Summary {
    let mut batch = Batch::new();
    items.for_each(|(version, code, message)| batch.add(version, code, &message));
    batch.finish()
}

/// The reply for items that no version of the context can open.
fn unopened(items: &Items) -> Reply {
    let mut reply = Reply::with_capacity(items.len(), 0);
    for item in items.iter() {
        reply.push_unopened(KeyVersion::NONE, Code::DecryptionFailed, item.payload);
    }
    reply
}

fn reference(key: &Key) -> ContextRef<'_> {
    ContextRef::new(key.tenant(), key.name().as_str(), key.id())
}
