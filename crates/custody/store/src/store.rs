//! The handle: each call is a message to the store thread and waits for its answer.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_primitives::mac::MacKey;
use keywright_types::{KeyId, KeyVersion};

use crate::integrity::Integrity;
use crate::worker::Worker;
use crate::{Committed, Engine, Epoch, Error, Image, Row, Snapshot, Table, Transaction};

/// The store. Clones are handles of one store, which stops when the last of them is dropped.
///
/// Calls block until the thread has answered, writes until they are on the disk: asynchronous
/// callers put them where blocking is allowed. Orders are served in the order in which they arrive,
/// so a caller finds its own writes.
///
/// ```
/// use keywright_clock::Clock;
/// use keywright_primitives::mac::MacKey;
/// use keywright_store::{Store, Table, Transaction, testing::MemoryEngine};
/// use keywright_types::TenantId;
///
/// let engine = Box::new(MemoryEngine::new());
/// let store = Store::start(engine, MacKey::new(&[7; 32]), &Clock::system())?;
/// let create = Transaction::new().insert(Table::Keys, b"key", TenantId::NONE, b"active");
/// assert_eq!(store.transact(create)?.0, 1);
///
/// let row = store.get(Table::Keys, b"key")?.unwrap();
/// let retire = || Transaction::new().update(Table::Keys, b"key", row.revision, b"retired");
/// assert_eq!(store.transact(retire())?.0, 2);
/// assert!(store.transact(retire()).is_err(), "the row has changed since it was read");
/// # Ok::<(), keywright_store::Error>(())
/// ```
#[derive(Clone)]
pub struct Store(Arc<Inner>);

/// What the check of all rows at start found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The rows whose MACs hold.
    pub rows: u64,
    /// How long it took.
    pub took: Duration,
}

struct Inner {
    // Without a bound, because every sender waits for its answer: the queue is never longer than
    // the number of calling threads.
    sender: Sender<Message>,
    epoch: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
    thread_id: ThreadId,
    verification: Verification,
    clock: Clock,
    observer: OnceLock<Observer>,
}

/// Is told how long each write took, and what became of it.
pub type Observer = Box<dyn Fn(Duration, Result<(), &Error>) + Send + Sync>;

enum Message {
    Stop,
    Work(Box<dyn FnOnce(&mut Worker) + Send>),
}

impl Store {
    /// Checks all rows and starts the store thread.
    ///
    /// The caller then compares [`Store::epoch`] with the newest signed audit head: that is the only
    /// sign of a file that was put back as a whole.
    ///
    /// # Errors
    /// [`Error::RowAltered`], [`Error::SetAltered`], [`Error::SummaryAltered`] or [`Error::Corrupt`]
    /// if the rows are not what was last written under this key; whatever the engine meets.
    pub fn start(engine: Box<dyn Engine>, row_key: MacKey, clock: &Clock) -> Result<Self, Error> {
        let epoch = Arc::new(AtomicU64::new(0));
        let begin = clock.monotonic();
        let worker = Worker::start(engine, Integrity::new(row_key), Arc::clone(&epoch))?;
        let verification = Verification {
            rows: worker.rows(),
            took: clock.monotonic().since(begin),
        };
        let (sender, receiver) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || serve(worker, &receiver))?;
        Ok(Self(Arc::new(Inner {
            sender,
            epoch,
            thread_id: thread.thread().id(),
            thread: Mutex::new(Some(thread)),
            verification,
            clock: clock.clone(),
            observer: OnceLock::new(),
        })))
    }

    /// The row with this key.
    ///
    /// # Errors
    /// [`Error::RowAltered`] if it does not fit its MAC, [`Error::Io`], [`Error::Corrupt`],
    /// [`Error::Stopped`], [`Error::Reentrant`].
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error> {
        let key = key.to_vec();
        self.call(move |worker| worker.get(table, &key))
    }

    /// All rows whose keys begin with `prefix`, by key, at one moment.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn range(&self, table: Table, prefix: &[u8]) -> Result<Vec<Row>, Error> {
        let prefix = prefix.to_vec();
        self.call(move |worker| worker.range(table, &prefix))
    }

    /// The rows under several prefixes and the epoch, all at one moment.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn snapshot(&self, questions: &[(Table, &[u8])]) -> Result<Snapshot, Error> {
        let questions: Vec<_> = questions
            .iter()
            .map(|(table, prefix)| (*table, prefix.to_vec()))
            .collect();
        self.call(move |worker| worker.snapshot(&questions))
    }

    /// Every row at one moment, those of `meta` included, each under its MAC: what a backup holds.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn image(&self) -> Result<Image, Error> {
        self.call(Worker::image)
    }

    /// Commits a transaction. When this returns, it is on the disk and all watchers have been called.
    ///
    /// # Errors
    /// [`Error::Conflict`] or [`Error::Exists`] if a row is not at its expected revision;
    /// [`Error::Permanent`], [`Error::RepeatedRow`], [`Error::ReservedRow`] or [`Error::TooLong`] for
    /// what is never allowed; [`Error::Full`] or [`Error::Io`] if the disk refused, which leaves the
    /// old state and a usable store; else as [`Store::get`].
    pub fn transact(&self, transaction: Transaction) -> Result<Epoch, Error> {
        self.commit(transaction).map(|committed| committed.epoch)
    }

    /// As [`Store::transact`], and returns the rows that were written, for the audit record.
    ///
    /// # Errors
    /// As [`Store::transact`].
    pub fn commit(&self, transaction: Transaction) -> Result<Committed, Error> {
        self.observed(move |worker| worker.transact(transaction))
    }

    /// Has `observer` told of every transaction and reservation from now on, on the thread that ordered it and
    /// before that goes on. The first observer stays; whether this is it.
    #[must_use = "an observer that came second is told of nothing"]
    pub fn observe(&self, observer: Observer) -> bool {
        self.0.observer.set(observer).is_ok()
    }

    /// The state epoch. Asks nobody, so that every request can read it.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.0.epoch.load(Ordering::Acquire)
    }

    /// Has `watcher` called with each epoch after the returned one, in order, by the store thread.
    ///
    /// It is called before the transaction is answered, and the thread waits for it: it must be
    /// short. It cannot call the store ([`Error::Reentrant`]), and a handle kept in it would keep the
    /// store alive for ever. A watcher that panics stops the store.
    ///
    /// # Errors
    /// [`Error::Stopped`], [`Error::Reentrant`].
    pub fn watch(&self, watcher: Box<dyn Fn(u64) + Send>) -> Result<u64, Error> {
        self.call(move |worker| Ok(worker.watch(watcher)))
    }

    /// Reserves the next `block` numbers of a version's usage counter.
    ///
    /// They are reserved on the disk before they are handed out and never handed out again; a crash
    /// wastes those not yet used (design 7.19). The epoch stays.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if fewer than `block` numbers are left below 2^64; else as
    /// [`Store::transact`], and then no number was handed out.
    pub fn reserve(
        &self,
        key: KeyId,
        version: KeyVersion,
        block: u64,
    ) -> Result<Range<u64>, Error> {
        self.observed(move |worker| worker.reserve(key, version, block))
    }

    /// The first number of a version's usage counter that is not reserved yet.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn reserved(&self, key: KeyId, version: KeyVersion) -> Result<u64, Error> {
        self.call(move |worker| worker.reserved(key, version))
    }

    /// What the check at start found.
    #[must_use]
    pub fn verification(&self) -> Verification {
        self.0.verification
    }

    /// Finishes what was ordered before, closes the database and waits for that. All handles answer
    /// [`Error::Stopped`] from then on.
    pub fn shutdown(&self) {
        self.0.stop();
    }

    /// A write.
    fn observed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let begun = self.0.clock.monotonic();
        let done = self.call(work);
        if let Some(observer) = self.0.observer.get() {
            let took = self.0.clock.monotonic().since(begun);
            observer(took, done.as_ref().map(|_| ()));
        }
        done
    }

    fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        if self.0.is_own_thread() {
            return Err(Error::Reentrant);
        }
        let (reply, answer) = mpsc::sync_channel(1);
        let work = Message::Work(Box::new(move |worker| {
            // A caller that no longer waits cannot exist: it is blocked on the line below.
            let _ = reply.send(work(worker));
        }));
        self.0.sender.send(work).map_err(|_| Error::Stopped)?;
        answer.recv().map_err(|_| Error::Stopped)?
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn is_own_thread(&self) -> bool {
        thread::current().id() == self.thread_id
    }

    fn stop(&self) {
        // The thread is gone already if this fails.
        let _ = self.sender.send(Message::Stop);
        if self.is_own_thread() {
            return;
        }
        // The lock is kept while joining, so that a second caller returns after the end as well.
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // A panic of a watcher has been printed by the panic hook; its callers saw `Stopped`.
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(mut worker: Worker, receiver: &Receiver<Message>) {
    while let Ok(Message::Work(work)) = receiver.recv() {
        work(&mut worker);
    }
}
