//! Which thread a request runs on: a key that is in memory waits for no device.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use keywright_clock::MonotonicTime;
use keywright_custody::{
    AtOnce, HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Placement, Reply,
    Request,
};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_service::{Caller, DataOperation, PoolSize};
use keywright_types::{Code, KeySpec, Operation};

use crate::house::{House, TRADING, WEB, at_once, prepared, results};

/// Says of each request where it is to run, and checks where it does.
struct Mixed {
    inner: Arc<dyn KeyHolder>,
    waits: AtomicBool,
    quick: AtomicBool,
    home: ThreadId,
    elsewhere: AtomicUsize,
    probed_elsewhere: AtomicUsize,
    /// Nothing is done while somebody has it.
    door: Mutex<()>,
}

impl Mixed {
    fn is_elsewhere(&self) -> usize {
        usize::from(std::thread::current().id() != self.home)
    }
}

impl KeyHolder for Mixed {
    fn name(&self) -> &'static str {
        "mixed"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.inner.supports(spec, operation)
    }

    fn placement(&self) -> Placement {
        Placement::Pool
    }

    fn placement_of(&self, _: &[Arc<KeyMaterial>]) -> Placement {
        if self.waits.load(Ordering::SeqCst) {
            Placement::Pool
        } else {
            Placement::Inline
        }
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        self.inner.generate(permit, new)
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        self.elsewhere
            .fetch_add(self.is_elsewhere(), Ordering::SeqCst);
        drop(self.door.lock());
        self.inner.perform(permit, request, items, random)
    }

    fn perform_now(
        &self,
        permit: &Permit,
        (request, now): (&Request, MonotonicTime),
        items: Items,
        random: &mut RandomStream,
    ) -> Result<AtOnce, Items> {
        if !self.quick.load(Ordering::SeqCst) {
            return Err(items);
        }
        Ok(AtOnce {
            reply: self.perform(permit, request, items, random),
            ended: now.plus(WORKED),
        })
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.probed_elsewhere
            .fetch_add(self.is_elsewhere(), Ordering::SeqCst);
        self.inner.probe()
    }
}

/// How long the holder says that it worked at once, which is longer than any test takes.
const WORKED: Duration = Duration::from_secs(1_000_000);

fn house() -> (House, Arc<Mixed>) {
    let mut made = None;
    let house = House::with(|inner| {
        let mixed = Arc::new(Mixed {
            inner,
            waits: AtomicBool::new(false),
            quick: AtomicBool::new(false),
            home: std::thread::current().id(),
            elsewhere: AtomicUsize::new(0),
            probed_elsewhere: AtomicUsize::new(0),
            door: Mutex::default(),
        });
        made = Some(Arc::clone(&mixed));
        mixed
    });
    (house, made.unwrap())
}

#[test]
fn each_request_runs_where_its_key_wants_it() {
    let (house, holder) = house();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    let (context, operation) = ("desk", DataOperation::Encrypt);
    let inline = worker.perform(house.call(&caller), context, operation, prepared(&[b"x"]));
    let inline = at_once(inline);
    assert_eq!(holder.elsewhere.load(Ordering::SeqCst), 0);
    holder.waits.store(true, Ordering::SeqCst);
    let waiting = worker.perform(house.call(&caller), context, operation, prepared(&[b"x"]));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let waiting = runtime.block_on(waiting);
    assert_eq!(holder.elsewhere.load(Ordering::SeqCst), 1);
    worker.flush();
    for done in [inline, waiting] {
        let done = done.release(&worker).unwrap().unwrap();
        assert_eq!(results(&done)[0].0, Code::Ok);
    }
}

#[test]
fn a_holder_that_waits_is_probed_on_its_pool_and_not_on_the_servers_thread() {
    let (house, holder) = house();
    let worker = house.worker();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert!(runtime.block_on(worker.holder_works()));
    assert_eq!(holder.probed_elsewhere.load(Ordering::SeqCst), 1);
}

#[test]
fn a_device_that_is_quick_is_used_at_once_and_one_that_ceases_to_be_is_waited_for_elsewhere() {
    let (house, holder) = house();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    holder.waits.store(true, Ordering::SeqCst);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for (quick, elsewhere) in [(true, 0), (false, 1), (true, 1)] {
        holder.quick.store(quick, Ordering::SeqCst);
        let (context, operation) = ("desk", DataOperation::Encrypt);
        let done = worker.perform(house.call(&caller), context, operation, prepared(&[b"x"]));
        let done = if quick {
            at_once(done)
        } else {
            runtime.block_on(done)
        };
        assert_eq!(holder.elsewhere.load(Ordering::SeqCst), elsewhere);
        worker.flush();
        let done = done.release(&worker).unwrap().unwrap();
        assert_eq!(results(&done)[0].0, Code::Ok);
        // A holder that works at once says itself when it was done.
        assert_eq!(done.spent().holder == WORKED, quick, "{:?}", done.spent());
    }
}

#[test]
fn a_full_line_is_told_to_those_who_may_stand_in_it_and_to_nobody_else() {
    let (house, holder) = house();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    let backed_up = |who: &Caller, operation, context| worker.is_backed_up(who, operation, context);
    holder.waits.store(true, Ordering::SeqCst);
    assert!(!backed_up(&caller, Operation::Encrypt, "desk"));

    let shut = holder.door.lock().unwrap();
    let ask = || {
        let (context, operation) = ("desk", DataOperation::Encrypt);
        worker.perform(house.call(&caller), context, operation, prepared(&[b"x"]))
    };
    let PoolSize { threads, queue } = PoolSize::default();
    let mut taken: Vec<_> = (0..threads).map(|_| ask()).collect();
    // Each thread has one, so that what comes now stays in the line.
    while holder.elsewhere.load(Ordering::SeqCst) < threads {
        std::thread::yield_now();
    }
    for _ in 0..queue {
        assert!(!backed_up(&caller, Operation::Encrypt, "desk"));
        taken.push(ask());
    }
    assert!(backed_up(&caller, Operation::Encrypt, "desk"));
    assert!(backed_up(&caller, Operation::Decrypt, "desk"));
    // No right to it, no context of that name, nobody's context: the decision says so, and not the line.
    assert!(!backed_up(&caller, Operation::Sign, "desk"));
    assert!(!backed_up(&caller, Operation::Encrypt, "nothing"));
    let other = house.caller(WEB);
    assert!(!backed_up(&other, Operation::Encrypt, "desk"));
    // Who needs no device is not kept from what is in memory.
    holder.waits.store(false, Ordering::SeqCst);
    assert!(!backed_up(&caller, Operation::Encrypt, "desk"));

    drop(shut);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for done in taken {
        let done = runtime.block_on(done);
        worker.flush();
        let done = done.release(&worker).unwrap().unwrap();
        assert_eq!(results(&done)[0].0, Code::Ok);
    }
    holder.waits.store(true, Ordering::SeqCst);
    assert!(!backed_up(&caller, Operation::Encrypt, "desk"));
}
