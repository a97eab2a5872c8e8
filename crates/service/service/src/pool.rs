//! Threads for holders that wait for a device (design 5).
//!
//! The queue is bounded. When it is full a request is refused at once, so that those that were taken
//! are answered in a known time; nothing waits in a line that nobody can see.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use keywright_custody::{HolderError, Items, KeyHolder, Reply, Request};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use tokio::sync::oneshot;

/// How many threads, and how many requests may wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that an operator chooses together")]
pub struct PoolSize {
    /// Threads, each with one session of the device.
    pub threads: usize,
    /// Requests that may wait; one more is refused.
    pub queue: usize,
}

impl Default for PoolSize {
    fn default() -> Self {
        Self { threads: 4, queue: 128 }
    }
}

/// What one request takes with it to a thread.
struct Job {
    permit: Permit,
    request: Request,
    items: Items,
    answer: oneshot::Sender<Result<Reply, HolderError>>,
}

/// A bounded pool of threads in front of one holder.
pub(crate) struct Pool {
    queue: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    pub(crate) fn start(holder: &Arc<dyn KeyHolder>, size: PoolSize) -> std::io::Result<Self> {
        let (queue, jobs) = sync_channel(size.queue.max(1));
        let jobs = Arc::new(Mutex::new(jobs));
        let threads = (0..size.threads.max(1))
            .map(|index| {
                let (jobs, holder) = (Arc::clone(&jobs), Arc::clone(holder));
                let name = format!("holder-{index}");
                Builder::new().name(name).spawn(move || work(&jobs, holder.as_ref()))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { queue: Some(queue), threads })
    }

    /// Hands a request to the pool. `Err` at once if its queue is full.
    pub(crate) fn submit(
        &self,
        permit: Permit,
        request: Request,
        items: Items,
    ) -> Result<oneshot::Receiver<Result<Reply, HolderError>>, HolderError> {
        let (answer, receiver) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(HolderError::Unavailable)?;
        match queue.try_send(Job { permit, request, items, answer }) {
            Ok(()) => Ok(receiver),
            Err(TrySendError::Full(_)) => Err(HolderError::Full),
            Err(TrySendError::Disconnected(_)) => Err(HolderError::Unavailable),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Without a sender the threads finish what is queued and end.
        self.queue = None;
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} threads)", self.threads.len())
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, holder: &dyn KeyHolder) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { permit, request, items, answer }) = next else { return };
        // Nobody waits any more: the caller's request was cancelled.
        if answer.is_closed() {
            continue;
        }
        // A panic ends its request and not the thread: a pool that shrinks would end as none.
        let done = catch_unwind(AssertUnwindSafe(|| {
            holder.perform(&permit, &request, items, &mut RandomStream::unseeded())
        }));
        drop(answer.send(done.unwrap_or(Err(HolderError::Unavailable))));
    }
}
