//! One server thread's way through a request: decide, call custody, record, answer (design 7.29).
//!
//! A worker belongs to one thread. What threads share is the [`Shared`] state, read without a lock.
//! Whatever a request hands out is wrapped in [`Recorded`] together with the place of its audit
//! record, and comes out only when that record has been written.

mod admission;
mod entry;
mod expected;
mod performed;
mod records;
mod watched;
mod work;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use keywright_audit::RecordType;
use keywright_audit::field::PathList;
use keywright_audit::record::Facts;
use keywright_audit::refusals::Refusals;
use keywright_audit::writer::{Ticket, Writer, Written};
use keywright_clock::{MonotonicTime, WallTime};
use keywright_custody::Key;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::{Code, KeyVersion, Operation, RequestId};

pub use admission::TooFast;
pub(crate) use entry::{Entry, Outcome, Refusal};
pub use expected::Expected;
pub use performed::{Done, Performed};
pub use watched::{Then, Told};
pub(crate) use work::Queue;

use crate::counting::Tallies;
use crate::desk::{self, ContextOrder, Desk, OrderDone, Ordering};
use crate::life::Author;
use crate::metrics::Counters;
use crate::published::{Local, Seen};
use crate::recorded::Recorded;
use crate::shared::Shared;
use crate::{Caller, Snapshot};
use entry::reference;
use records::Owed;
use watched::Watched;

/// The use cases of one server thread.
pub struct Worker {
    shared: Arc<Shared>,
    /// The snapshot, as this thread saw it last.
    seen: RefCell<Seen<Snapshot>>,
    writer: RefCell<Writer>,
    random: RefCell<RandomStream>,
    /// Where both clocks stood when the running job first asked for the date.
    clocks: Cell<Option<(MonotonicTime, WallTime)>>,
    refusals: RefCell<Refusals>,
    /// Counted refusals whose records are not written yet.
    owed: RefCell<Vec<Owed>>,
    /// Connections whose records wait for the next flush, and where to say that one was lost.
    connections: RefCell<Vec<(Ticket, Rc<Cell<bool>>)>>,
    counters: Counters,
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
    /// Requests whose record somebody wants to know of.
    watched: Watched,
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
    /// When the rest of it was there, by which its record is dated.
    pub arrived: MonotonicTime,
    /// Bytes of its body.
    pub bytes_in: u64,
}

impl Worker {
    /// A worker for the current thread.
    #[must_use]
    pub fn new(shared: Arc<Shared>, writer: Writer) -> Rc<Self> {
        let counters = shared.metrics().thread();
        counters.beat(shared.clock().monotonic());
        let seen = RefCell::new(shared.published().reader());
        Rc::new(Self {
            shared,
            seen,
            writer: RefCell::new(writer),
            random: RefCell::new(RandomStream::unseeded()),
            clocks: Cell::default(),
            refusals: RefCell::default(),
            owed: RefCell::default(),
            connections: RefCell::default(),
            counters,
            tallies: RefCell::default(),
            wants_sync: Cell::new(false),
            left_behind: Cell::new(false),
            finished: Cell::new(false),
            written: Cell::default(),
            watched: Watched::default(),
        })
    }

    /// The state that all workers share.
    #[must_use]
    pub const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The newest snapshot, to keep for as long as a request needs it.
    pub(crate) fn snapshot(&self) -> Rc<Local<Snapshot>> {
        self.seen.borrow_mut().look(self.shared.published())
    }

    /// A new request's id.
    ///
    /// # Errors
    /// [`Code::Internal`] if there is no randomness.
    pub fn request_id(&self) -> Result<RequestId, Code> {
        let bytes = self.random.borrow_mut().array();
        bytes.map(RequestId::from_bytes).map_err(|_| Code::Internal)
    }

    /// Random bytes for a caller who may have them, `length` of them for all items together;
    /// `outcomes` says how each item of the request fares.
    pub fn random(
        &self,
        call: Call<'_>,
        length: usize,
        outcomes: &[Code],
    ) -> Recorded<Result<SecretBytes, Code>> {
        let snapshot = self.snapshot();
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
        let snapshot = self.snapshot();
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
        let snapshot = self.snapshot();
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
        let snapshot = self.snapshot();
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
        let snapshot = self.snapshot();
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

    /// An operation that concerns no context and hands out nothing but what `make` says.
    pub fn plain<T>(
        &self,
        call: Call<'_>,
        operation: Operation,
        needs_right: Need,
        make: impl FnOnce(&Snapshot) -> T,
    ) -> Recorded<Result<T, Code>> {
        let snapshot = self.snapshot();
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
        let snapshot = self.snapshot();
        self.begin(&call, operation, &snapshot).refuse(code, None)
    }

    /// The random stream of the running job.
    pub(crate) fn with_random<T>(&self, draw: impl FnOnce(&mut RandomStream) -> T) -> T {
        draw(&mut self.random.borrow_mut())
    }

    /// The date at a moment of the running job, which looks at the wall clock once, until its flush: every request has
    /// read the other clock already.
    fn date(&self, moment: MonotonicTime) -> WallTime {
        let (then, date) = self.clocks.get().unwrap_or_else(|| {
            let clock = self.shared.clock();
            let both = (clock.monotonic(), clock.wall());
            self.clocks.set(Some(both));
            both
        });
        let nanos = date.unix_nanos().saturating_add(moment.nanos());
        WallTime::from_unix_nanos(nanos.saturating_sub(then.nanos()))
    }

    pub(crate) fn begin<'a>(
        &'a self,
        call: &Call<'_>,
        operation: Operation,
        snapshot: &Snapshot,
    ) -> Entry<'a> {
        let mut facts = Facts::new(RecordType::Request, operation, self.date(call.arrived));
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
            worked: None,
            spent: None,
            open: true,
        }
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
