//! Seals of keys in a token: counted before they are made, rotated in time, and refused at the end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use keywright_clock::{Clock, MonotonicTime, WallTime};
use keywright_custody::budget::{Budget, Counted, SealLimits, Spent};
use keywright_custody::rows;
use keywright_custody::{
    AtOnce, Description, HolderError, HolderOperation, Identity, Items, KeyHolder, KeyMaterial,
    NO_DEADLINE, NewKey, Placement, Reply, Request, Rules, Versions,
};
use keywright_envelope::Binding;
use keywright_policy::{Permit, Policy};
use keywright_primitives::mac::MacKey;
use keywright_primitives::random::RandomStream;
use keywright_store::testing::{Faults, FaultyEngine, MemoryEngine};
use keywright_store::{Error as StoreError, Store};
use keywright_types::{
    Algorithm, BindingKind, Code, Custody, KeyId, KeySpec, KeyVersion, Operation, TenantId,
};

const KEY: KeyId = KeyId::from_bytes([7; 16]);
const FIRST: KeyVersion = KeyVersion::FIRST;

/// Does nothing, and says how often it was asked.
#[derive(Default)]
struct Idle {
    performed: Arc<AtomicU64>,
}

impl KeyHolder for Idle {
    fn name(&self) -> &'static str {
        "idle"
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
        _: &Request,
        _: Items,
        _: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        self.performed.fetch_add(1, Ordering::SeqCst);
        Ok(Reply::default())
    }

    fn perform_now(
        &self,
        permit: &Permit,
        (request, now): (&Request, MonotonicTime),
        items: Items,
        random: &mut RandomStream,
    ) -> Result<AtOnce, Items> {
        Ok(AtOnce {
            reply: self.perform(permit, request, items, random),
            ended: now,
        })
    }

    fn probe(&self) -> Result<(), HolderError> {
        Ok(())
    }
}

struct Scene {
    holder: Counted<Idle>,
    store: Store,
    faults: Faults,
    performed: Arc<AtomicU64>,
    spent: Arc<Mutex<Vec<Spent>>>,
}

impl Scene {
    fn new(engine: &MemoryEngine, limits: SealLimits) -> Self {
        let (faulty, faults) = FaultyEngine::new(Box::new(engine.clone()));
        let key = MacKey::new(&[5; 32]);
        let store = Store::start(Box::new(faulty), key, &Clock::system()).unwrap();
        let spent = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&spent);
        let on_spent = Box::new(move |one| told.lock().unwrap().push(one));
        let idle = Idle::default();
        let performed = Arc::clone(&idle.performed);
        Self {
            holder: Counted::new(idle, Budget::new(store.clone(), limits, on_spent)),
            store,
            faults,
            performed,
            spent,
        }
    }

    fn ask(&self, operation: HolderOperation, count: usize) -> Result<(), HolderError> {
        self.ask_of(&in_token(FIRST), operation, count)
    }

    fn seal(&self, count: usize) -> Result<(), HolderError> {
        self.ask(HolderOperation::Seal, count)
    }

    fn ask_of(
        &self,
        key: &Arc<KeyMaterial>,
        operation: HolderOperation,
        count: usize,
    ) -> Result<(), HolderError> {
        let permit = Policy::owner().permit(KEY, operation.permitted_by());
        self.ask_as(&permit, key, operation, count)
    }

    fn ask_as(
        &self,
        permit: &Permit,
        key: &Arc<KeyMaterial>,
        operation: HolderOperation,
        count: usize,
    ) -> Result<(), HolderError> {
        let mut items = Items::default();
        for _ in 0..count {
            items.push_slices(0, b"x", b"").unwrap();
        }
        let request = Request {
            operation,
            versions: Versions::from_iter([Arc::clone(key)]),
            binding: Binding::None,
            deadline_ns: NO_DEADLINE,
        };
        let mut random = RandomStream::unseeded();
        self.holder
            .perform(permit, &request, items, &mut random)
            .map(drop)
    }

    fn reserved(&self) -> u64 {
        self.store.reserved(KEY, FIRST).unwrap()
    }

    fn performed(&self) -> u64 {
        self.performed.load(Ordering::SeqCst)
    }

    fn spent(&self) -> Vec<u32> {
        let spent = self.spent.lock().unwrap();
        assert!(spent.iter().all(|one| one.key == KEY));
        spent.iter().map(|one| one.version.number()).collect()
    }
}

fn material(version: KeyVersion, spec: KeySpec) -> Arc<KeyMaterial> {
    let identity = Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KEY,
        version,
        spec,
        created: WallTime::from_unix_millis(1),
    };
    Arc::new(KeyMaterial::new(identity, Vec::new(), None))
}

fn token_spec() -> KeySpec {
    KeySpec {
        algorithm: Algorithm::TokenGcm12,
        custody: Custody::Token,
        ..KeySpec::seal()
    }
}

fn in_token(version: KeyVersion) -> Arc<KeyMaterial> {
    material(version, token_spec())
}

#[test]
fn seals_are_reserved_on_the_disk_before_they_are_made() {
    let scene = Scene::new(&MemoryEngine::new(), SealLimits::lower(10, 1000, 2000));
    assert_eq!(scene.reserved(), 0);
    scene.seal(1).unwrap();
    assert_eq!(scene.reserved(), 10);
    scene.seal(9).unwrap();
    assert_eq!(scene.reserved(), 10, "one block is used up, no more");
    scene.seal(1).unwrap();
    assert_eq!(scene.reserved(), 20);
    scene.seal(35).unwrap();
    assert_eq!(
        scene.reserved(),
        46,
        "a batch beyond a block reserves what it needs"
    );
    let before = scene.performed();
    scene.faults.break_all(StoreError::Full);
    assert_eq!(scene.seal(1), Err(HolderError::Store));
    assert_eq!(HolderError::Store.code(), Code::StoreUnavailable);
    assert_eq!(
        scene.performed(),
        before,
        "nothing is sealed that is not counted"
    );
    scene.faults.heal();
    scene.seal(1).unwrap();
}

#[test]
fn a_crash_loses_what_was_reserved_and_never_counts_down() {
    let engine = MemoryEngine::new();
    let limits = SealLimits::lower(10, 25, 40);
    let first = Scene::new(&engine, limits);
    first.seal(3).unwrap();
    drop(first.holder);
    first.store.shutdown();
    let second = Scene::new(&engine, limits);
    second.seal(1).unwrap();
    assert_eq!(
        second.reserved(),
        20,
        "eleven are counted where four were made"
    );
    second.store.shutdown();
    let third = Scene::new(&engine, limits);
    third.seal(1).unwrap();
    assert_eq!(third.spent(), [] as [u32; 0]);
    third.store.shutdown();
    let fourth = Scene::new(&engine, limits);
    fourth.seal(1).unwrap();
    assert_eq!(fourth.spent(), [1], "thirty-one");
    fourth.store.shutdown();
    let fifth = Scene::new(&engine, limits);
    assert_eq!(
        fifth.seal(1),
        Err(HolderError::SealLimit),
        "four blocks are gone"
    );
    assert_eq!(fifth.performed(), 0);
}

#[test]
fn a_version_is_due_at_its_limit_and_said_to_be_once_a_block() {
    let scene = Scene::new(&MemoryEngine::new(), SealLimits::lower(4, 10, 100));
    scene.seal(9).unwrap();
    assert!(scene.spent().is_empty(), "one below");
    scene.seal(1).unwrap();
    assert_eq!(scene.spent(), [1]);
    scene.seal(1).unwrap();
    scene.seal(1).unwrap();
    assert_eq!(scene.spent(), [1]);
    let before = scene.spent().len();
    scene.seal(8).unwrap();
    assert!(scene.spent().len() > before, "whoever goes on is reminded");
}

#[test]
fn at_the_end_nothing_is_sealed_and_everything_opens() {
    let scene = Scene::new(&MemoryEngine::new(), SealLimits::lower(16, 20, 32));
    scene.seal(30).unwrap();
    for operation in [
        HolderOperation::Seal,
        HolderOperation::MakeDataKey,
        HolderOperation::Reseal,
    ] {
        assert_eq!(scene.ask(operation, 3), Err(HolderError::SealLimit));
    }
    assert_eq!(HolderError::SealLimit.code(), Code::NoActiveVersion);
    scene.seal(2).unwrap();
    let (reserved, performed) = (scene.reserved(), scene.performed());
    for _ in 0..10 {
        assert_eq!(scene.seal(1), Err(HolderError::SealLimit));
    }
    assert_eq!(
        scene.reserved(),
        reserved,
        "the store is not asked any more"
    );
    assert_eq!(scene.performed(), performed);
    scene.ask(HolderOperation::Open, 5).unwrap();
    scene.ask(HolderOperation::OpenDataKey, 5).unwrap();
    let second = in_token(KeyVersion::from_number(2));
    scene.ask_of(&second, HolderOperation::Seal, 1).unwrap();
}

#[test]
fn what_opens_what_is_wrapped_and_what_is_not_permitted_costs_nothing() {
    let scene = Scene::new(&MemoryEngine::new(), SealLimits::lower(4, 10, 20));
    scene.ask(HolderOperation::Open, 50).unwrap();
    let wrapped = material(FIRST, KeySpec::seal());
    scene.ask_of(&wrapped, HolderOperation::Seal, 50).unwrap();
    let foreign = Policy::owner().permit(KeyId::from_bytes([8; 16]), Operation::Encrypt);
    let refused = scene.ask_as(&foreign, &in_token(FIRST), HolderOperation::Seal, 1);
    assert_eq!(refused, Err(HolderError::PermitMismatch));
    assert_eq!((scene.reserved(), scene.performed()), (0, 2));
}

#[test]
fn threads_together_seal_exactly_as_often_as_they_may() {
    let scene = Scene::new(&MemoryEngine::new(), SealLimits::lower(8, 500, 1001));
    let made = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                loop {
                    match scene.seal(1) {
                        Ok(()) => made.fetch_add(1, Ordering::SeqCst),
                        Err(error) => return assert_eq!(error, HolderError::SealLimit),
                    };
                }
            });
        }
    });
    assert_eq!(made.into_inner(), 1001);
    assert_eq!(scene.performed(), 1001);
    assert!(scene.spent().len() <= 2 + 501 / 8);
}

#[test]
fn limits_are_only_ever_lowered() {
    let standard = SealLimits::STANDARD;
    assert_eq!(SealLimits::lower(u64::MAX, u64::MAX, u64::MAX), standard);
    assert_eq!(SealLimits::lower(1 << 16, 1 << 30, 1 << 31), standard);
    assert_ne!(SealLimits::lower(0, 1, 1), standard);
}

#[test]
fn a_new_version_in_a_token_is_counted_from_its_check_value_on() {
    let scene = Scene::new(&MemoryEngine::new(), SealLimits::lower(10, 100, 200));
    let spec = token_spec();
    let first = in_token(FIRST);
    let description = Description {
        id: KEY,
        tenant: first.tenant(),
        name: "k".parse().unwrap(),
        spec,
        detail: None,
        binding: BindingKind::None,
        min_open: FIRST,
        rules: Rules::default(),
    };
    scene
        .store
        .transact(rows::create_key(&description, &first))
        .unwrap();
    assert_eq!(scene.reserved(), 1);
    scene.seal(1).unwrap();
    assert_eq!(scene.reserved(), 11);
    assert!(rows::has_version(&scene.store, KEY, FIRST).unwrap());
    assert!(!rows::has_version(&scene.store, KEY, KeyVersion::from_number(2)).unwrap());
}

/// As `Scene::seal`, for work that waits for nothing: nothing if it was left to the pool.
fn seal_now(scene: &Scene, permit: &Permit, count: usize) -> Option<Result<(), HolderError>> {
    let mut items = Items::default();
    for _ in 0..count {
        items.push_slices(0, b"x", b"").unwrap();
    }
    let request = Request {
        operation: HolderOperation::Seal,
        versions: Versions::from_iter([in_token(FIRST)]),
        binding: Binding::None,
        deadline_ns: NO_DEADLINE,
    };
    let mut random = RandomStream::unseeded();
    let done = scene.holder.perform_now(
        permit,
        (&request, Clock::system().monotonic()),
        items,
        &mut random,
    );
    match done {
        Ok(done) => Some(done.reply.map(drop)),
        Err(items) => {
            assert_eq!(items.len(), count, "items come back");
            None
        }
    }
}

#[test]
fn work_that_waits_for_nothing_counts_and_never_asks_the_disk() {
    let scene = Scene::new(&MemoryEngine::default(), SealLimits::lower(10, 25, 35));
    let permit = Policy::owner().permit(KEY, Operation::Encrypt);
    assert_eq!(seal_now(&scene, &permit, 1), None, "nothing is reserved");
    assert_eq!((scene.reserved(), scene.performed()), (0, 0));
    scene.seal(4).unwrap();
    assert_eq!(seal_now(&scene, &permit, 6), Some(Ok(())));
    assert_eq!(seal_now(&scene, &permit, 1), None, "the block is used up");
    assert_eq!(scene.reserved(), 10);
    scene.seal(10).unwrap();
    scene.seal(4).unwrap();
    assert_eq!(
        seal_now(&scene, &permit, 1),
        None,
        "the seal from which on it is due"
    );
    assert!(scene.spent().is_empty());
    scene.seal(1).unwrap();
    assert_eq!(scene.spent(), [1]);
    assert_eq!(seal_now(&scene, &permit, 5), Some(Ok(())));
    let foreign = Policy::owner().permit(KeyId::from_bytes([9; 16]), Operation::Encrypt);
    assert_eq!(
        seal_now(&scene, &foreign, 1),
        Some(Err(HolderError::PermitMismatch))
    );
    scene.seal(5).unwrap();
    assert_eq!(seal_now(&scene, &permit, 1), None);
    assert_eq!(scene.seal(1), Err(HolderError::SealLimit));
}
