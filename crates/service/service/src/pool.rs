//! Threads for holders that wait for a device (design 5), and for work that takes the processor long.
//!
//! The queue is bounded. When it is full a request is refused at once, so that those that were taken
//! are answered in a known time; nothing waits in a line that nobody can see.

mod line;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use keywright_clock::{Clock, MonotonicTime};
use keywright_custody::{HolderError, Items, KeyHolder, Reply, Request};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use tokio::sync::oneshot;

use self::line::{Line, Refused};
use crate::allowance::Claim;
use crate::metrics::Spent;
use crate::streams::{Start, Started};

/// How many threads, and how many requests may wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "two numbers that an operator chooses together"
)]
pub struct PoolSize {
    /// Threads; in front of a device each has one session of it.
    pub threads: usize,
    /// Requests that may wait; one more is refused.
    pub queue: usize,
}

impl Default for PoolSize {
    fn default() -> Self {
        Self {
            threads: 4,
            queue: 128,
        }
    }
}

impl PoolSize {
    /// For work that only the processor is waited for: more threads than cores would only divide it differently.
    #[must_use]
    pub fn one_per_core() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            ..Self::default()
        }
    }
}

/// What a thread is given.
enum Job {
    /// One request, with what it takes along.
    Perform(Queued, oneshot::Sender<Worked>),
    /// To begin a stream.
    Stream(Start, oneshot::Sender<Result<Started, HolderError>>),
    /// To see whether the holder works.
    Probe(oneshot::Sender<Result<(), HolderError>>),
}

/// What a thread does for a request, and what it has to take first.
pub(crate) struct Work {
    pub(crate) permit: Permit,
    pub(crate) request: Request,
    pub(crate) items: Items,
    pub(crate) claim: Option<Claim>,
}

struct Queued {
    work: Work,
    since: MonotonicTime,
}

/// What came of a request on the pool, and where its time went.
pub(crate) struct Worked {
    pub(crate) reply: Result<Reply, HolderError>,
    pub(crate) spent: Spent,
}

impl Worked {
    /// Of a request whose thread is gone.
    pub(crate) const NOTHING: Self = Self {
        reply: Err(HolderError::Unavailable),
        spent: Spent {
            queue: std::time::Duration::ZERO,
            holder: std::time::Duration::ZERO,
        },
    };
}

/// A bounded pool of threads in front of one holder.
pub(crate) struct Pool {
    line: Arc<Line<Job>>,
    clock: Clock,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// The threads are called after what they are for.
    pub(crate) fn start(
        name: &str,
        holder: &Arc<dyn KeyHolder>,
        size: PoolSize,
        clock: &Clock,
    ) -> std::io::Result<Self> {
        let line = Arc::new(Line::new(size.queue));
        let threads = (0..size.threads.max(1))
            .map(|index| {
                let (line, holder) = (Arc::clone(&line), Arc::clone(holder));
                let clock = clock.clone();
                let name = format!("{name}-{index}");
                Builder::new()
                    .name(name)
                    .spawn(move || work(&line, holder.as_ref(), &clock))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            line,
            clock: clock.clone(),
            threads,
        })
    }

    /// Hands a request to the pool. `Err` at once if its queue is full.
    pub(crate) fn submit(&self, work: Work) -> Result<oneshot::Receiver<Worked>, HolderError> {
        let (answer, receiver) = oneshot::channel();
        let since = self.clock.monotonic();
        self.hand_in(Job::Perform(Queued { work, since }, answer))?;
        Ok(receiver)
    }

    /// Has a thread begin a stream. `Err` at once if the queue is full.
    pub(crate) fn start_stream(
        &self,
        start: Start,
    ) -> Result<oneshot::Receiver<Result<Started, HolderError>>, HolderError> {
        let (answer, receiver) = oneshot::channel();
        self.hand_in(Job::Stream(start, answer))?;
        Ok(receiver)
    }

    /// Has a thread look whether the holder works. `Err` at once if the queue is full.
    pub(crate) fn probe(&self) -> Result<oneshot::Receiver<Result<(), HolderError>>, HolderError> {
        let (answer, receiver) = oneshot::channel();
        self.hand_in(Job::Probe(answer))?;
        Ok(receiver)
    }

    /// Whether a request would be refused now.
    pub(crate) fn is_full(&self) -> bool {
        self.line.is_full()
    }

    fn hand_in(&self, job: Job) -> Result<(), HolderError> {
        self.line.join(job).map_err(|refused| match refused {
            Refused::Full => HolderError::Full,
            Refused::Closed => HolderError::Unavailable,
        })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // The threads finish what is queued and end.
        self.line.close();
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

fn work(line: &Line<Job>, holder: &dyn KeyHolder, clock: &Clock) {
    let mut random = RandomStream::unseeded();
    while let Some(job) = line.next() {
        match job {
            Job::Perform(work, answer) => perform(work, answer, (holder, clock), &mut random),
            Job::Stream(start, answer) if !answer.is_closed() => {
                let begin = || start.run(holder, &mut random);
                let begun = catch_unwind(AssertUnwindSafe(begin));
                random.end_job();
                drop(answer.send(begun.unwrap_or(Err(HolderError::Unavailable))));
            }
            // Nobody waits any more.
            Job::Stream(..) => {}
            Job::Probe(answer) => {
                let probed = catch_unwind(AssertUnwindSafe(|| holder.probe()));
                // Whoever asked may have gone.
                let _ = answer.send(probed.unwrap_or(Err(HolderError::Unavailable)));
            }
        }
    }
}

fn perform(
    Queued { work, since }: Queued,
    answer: oneshot::Sender<Worked>,
    (holder, clock): (&dyn KeyHolder, &Clock),
    random: &mut RandomStream,
) {
    // Nobody waits any more: the caller's request was cancelled.
    if answer.is_closed() {
        return;
    }
    let Work {
        permit,
        request,
        items,
        claim,
    } = work;
    let begun = clock.monotonic();
    // A panic ends its request and not the thread: a pool that shrinks would end as none.
    let done = catch_unwind(AssertUnwindSafe(|| {
        claim.map_or(Ok(()), |claim| claim.take())?;
        holder.perform(&permit, &request, items, random)
    }));
    // Nothing random is kept for the next (design 7.24).
    random.end_job();
    let spent = Spent {
        queue: begun.since(since),
        holder: clock.monotonic().since(begun),
    };
    let reply = done.unwrap_or(Err(HolderError::Unavailable));
    drop(answer.send(Worked { reply, spent }));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex, MutexGuard};

    use keywright_custody::{HolderOperation, KeyMaterial, NewKey, Placement, Versions};
    use keywright_envelope::Binding;
    use keywright_types::{KeyId, KeySpec, Operation};

    use super::*;

    /// A device behind a door: a request waits in front of it until it is opened.
    #[derive(Default)]
    struct Door {
        open: Mutex<bool>,
        opened: Condvar,
        inside: AtomicUsize,
        done: AtomicUsize,
    }

    impl Door {
        fn lock(&self) -> MutexGuard<'_, bool> {
            self.open.lock().unwrap()
        }

        fn open(&self) {
            *self.lock() = true;
            self.opened.notify_all();
        }

        fn wait_for_one_inside(&self) {
            while self.inside.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
        }
    }

    impl KeyHolder for Door {
        fn name(&self) -> &'static str {
            "door"
        }

        fn supports(&self, _: &KeySpec, _: HolderOperation) -> bool {
            true
        }

        fn placement(&self) -> Placement {
            Placement::Pool
        }

        fn generate(&self, _: &Permit, _: NewKey) -> Result<KeyMaterial, HolderError> {
            Err(HolderError::Unavailable)
        }

        fn perform(
            &self,
            _: &Permit,
            request: &Request,
            _: Items,
            _: &mut RandomStream,
        ) -> Result<Reply, HolderError> {
            self.inside.fetch_add(1, Ordering::SeqCst);
            drop(self.opened.wait_while(self.lock(), |open| !*open).unwrap());
            assert_ne!(request.deadline_ns, PANICS, "on purpose");
            self.done.fetch_add(1, Ordering::SeqCst);
            Ok(Reply::default())
        }

        fn probe(&self) -> Result<(), HolderError> {
            Ok(())
        }
    }

    const PANICS: u64 = 13;

    type Answer = oneshot::Receiver<Worked>;

    fn pool(threads: usize, queue: usize) -> (Arc<Door>, Pool) {
        let door = Arc::new(Door::default());
        let holder: Arc<dyn KeyHolder> = Arc::clone(&door) as _;
        (
            door,
            Pool::start(
                "holder",
                &holder,
                PoolSize { threads, queue },
                &Clock::system(),
            )
            .unwrap(),
        )
    }

    fn submit_with(pool: &Pool, deadline_ns: u64) -> Result<Answer, HolderError> {
        let permit = keywright_policy::Policy::owner().permit(KeyId::NONE, Operation::Encrypt);
        let (operation, binding) = (HolderOperation::Seal, Binding::None);
        let request = Request {
            operation,
            versions: Versions::new(),
            binding,
            deadline_ns,
        };
        pool.submit(Work {
            permit,
            request,
            items: Items::default(),
            claim: None,
        })
    }

    fn submit(pool: &Pool) -> Result<Answer, HolderError> {
        submit_with(pool, 0)
    }

    #[test]
    fn a_full_queue_refuses_at_once_and_those_taken_are_answered() {
        let (door, pool) = pool(1, 2);
        let mut taken = vec![submit(&pool).unwrap()];
        door.wait_for_one_inside();
        taken.extend([submit(&pool).unwrap(), submit(&pool).unwrap()]);
        assert!(pool.is_full());
        for _ in 0..100 {
            assert_eq!(submit(&pool).err(), Some(HolderError::Full));
        }
        door.open();
        for answer in taken {
            assert!(answer.blocking_recv().unwrap().reply.is_ok());
        }
        assert!(
            submit(&pool)
                .unwrap()
                .blocking_recv()
                .unwrap()
                .reply
                .is_ok()
        );
    }

    #[test]
    fn what_waited_is_told_apart_from_what_worked() {
        let (door, pool) = pool(1, 4);
        let first = submit(&pool).unwrap();
        door.wait_for_one_inside();
        let second = submit(&pool).unwrap();
        let wait = std::time::Duration::from_millis(20);
        std::thread::sleep(wait);
        door.open();
        let (first, second) = (first.blocking_recv(), second.blocking_recv());
        let (first, second) = (first.unwrap().spent, second.unwrap().spent);
        assert!(
            first.holder >= wait && first.queue < first.holder,
            "{first:?}"
        );
        assert!(
            second.queue >= wait && second.holder < second.queue,
            "{second:?}"
        );
    }

    #[test]
    fn a_request_that_nobody_waits_for_never_reaches_the_device() {
        let (door, pool) = pool(1, 8);
        let first = submit(&pool).unwrap();
        door.wait_for_one_inside();
        let dropped: Vec<_> = (0..4).map(|_| submit(&pool).unwrap()).collect();
        let last = submit(&pool).unwrap();
        drop(dropped);
        door.open();
        assert!(first.blocking_recv().unwrap().reply.is_ok());
        assert!(last.blocking_recv().unwrap().reply.is_ok());
        assert_eq!(door.done.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_probe_takes_its_place_in_the_queue_and_is_refused_where_that_is_full() {
        let (door, pool) = pool(1, 2);
        let first = submit(&pool).unwrap();
        door.wait_for_one_inside();
        let (second, probe) = (submit(&pool).unwrap(), pool.probe().unwrap());
        assert_eq!(pool.probe().err(), Some(HolderError::Full));
        door.open();
        assert!(first.blocking_recv().unwrap().reply.is_ok());
        assert!(second.blocking_recv().unwrap().reply.is_ok());
        assert_eq!(probe.blocking_recv().unwrap(), Ok(()));
    }

    #[test]
    fn a_pool_that_is_dropped_finishes_what_it_has_taken() {
        let (door, pool) = pool(2, 8);
        let taken: Vec<_> = (0..6).map(|_| submit(&pool).unwrap()).collect();
        door.open();
        drop(pool);
        assert_eq!(door.done.load(Ordering::SeqCst), 6);
        for answer in taken {
            assert!(answer.blocking_recv().unwrap().reply.is_ok());
        }
    }

    #[test]
    fn a_panic_costs_its_request_and_no_thread() {
        let (door, pool) = pool(1, 4);
        door.open();
        for _ in 0..3 {
            let answer = submit_with(&pool, PANICS).unwrap().blocking_recv().unwrap();
            assert_eq!(answer.reply.err(), Some(HolderError::Unavailable));
        }
        assert!(
            submit(&pool)
                .unwrap()
                .blocking_recv()
                .unwrap()
                .reply
                .is_ok()
        );
    }
}
