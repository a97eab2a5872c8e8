//! A service without its server: everything real but the disk of the log, the engine of the store and
//! the clock, which do as they are told.

use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};

use keywright_audit::check::CheckKey;
use keywright_audit::log::{Identity, Keys, Log, Settings as LogSettings};
use keywright_audit::show::{Filter, show};
use keywright_audit::testing::{self, Faults as LogFaults};
use keywright_clock::{Clock, Hand, WallTime};
use keywright_custody::KeyHolder;
use keywright_encoding::{base64, hex};
use keywright_keystore::{Keystore, Root};
use keywright_network::ca::TestAuthority;
use keywright_password::Profile;
use keywright_policy::PolicyDocument;
use keywright_primitives::mac::MacKey;
use keywright_primitives::signature::SigningKey;
use keywright_secret::{Secret, SecretBytes};
use keywright_service::{
    Admin, Call, Caller, DataOperation, Done, Prepared, Settings, Shared, Snapshot, Worker, settle,
};
use keywright_store::Store;
use keywright_store::testing::{Faults as StoreFaults, FaultyEngine, MemoryEngine};
use keywright_tls::{CertificateDer, ClientTrust};
use keywright_types::{
    BindingKind, Code, InstallationId, KeySpec, KeyVersion, Name, NodeId, PrincipalId, RequestId,
};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const START: WallTime = WallTime::from_unix_seconds(1_800_000_000);

static AUTHORITY: LazyLock<TestAuthority> = LazyLock::new(|| TestAuthority::new(START));
static ROOT: LazyLock<Root> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let password = SecretBytes::from_vec(b"p".to_vec());
    Root::create(&folder.path().join("root"), &password, Profile::Fast).unwrap()
});

pub(crate) fn authority() -> &'static TestAuthority {
    &AUTHORITY
}

/// Clients of the policy: number, name, unit.
pub(crate) const TRADING: (u8, &str, &str) = (1, "trading-1", "Trading");
pub(crate) const TRADING_TOO: (u8, &str, &str) = (2, "trading-2", "Trading");
pub(crate) const WEB: (u8, &str, &str) = (3, "web-1", "Web");
pub(crate) const NOBODY: (u8, &str, &str) = (9, "nobody", "Web");

pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) hand: Hand,
    pub(crate) clock: Clock,
    pub(crate) log: Option<Log>,
    pub(crate) log_faults: LogFaults,
    pub(crate) engine: MemoryEngine,
    pub(crate) store: Store,
    pub(crate) store_faults: StoreFaults,
    pub(crate) admin: Admin,
}

/// What the rows of all houses are under.
pub(crate) fn row_key() -> MacKey {
    MacKey::new(&[7; 32])
}

/// The keystore over the root of all houses.
pub(crate) fn keystore(clock: &Clock) -> Arc<dyn KeyHolder> {
    Arc::new(Keystore::new(&ROOT, 64, clock.clone()).unwrap())
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

impl House {
    /// A house with contexts, clients and a policy.
    pub(crate) fn new() -> Self {
        Self::with(|holder| holder)
    }

    pub(crate) fn with(wrap: impl FnOnce(Arc<dyn KeyHolder>) -> Arc<dyn KeyHolder>) -> Self {
        let house = Self::empty(wrap);
        house.admin.create_tenant(&name("default")).unwrap();
        for (context, binding) in [
            ("desk", BindingKind::Group),
            ("own", BindingKind::Principal),
            ("open", BindingKind::None),
        ] {
            house.create(context, binding).unwrap();
        }
        house.admin.apply_policy(policy()).unwrap();
        house
    }

    pub(crate) fn empty(wrap: impl FnOnce(Arc<dyn KeyHolder>) -> Arc<dyn KeyHolder>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::open(folder, MemoryEngine::new(), wrap)
    }

    pub(crate) fn open(
        folder: TempDir,
        engine: MemoryEngine,
        wrap: impl FnOnce(Arc<dyn KeyHolder>) -> Arc<dyn KeyHolder>,
    ) -> Self {
        Self::open_at(START, (folder, engine), wrap, |_, clock| {
            authority().trust(clock)
        })
    }

    /// Opens log and store as a start at this time of day does, unfinished orders included.
    pub(crate) fn open_at(
        now: WallTime,
        (folder, engine): (TempDir, MemoryEngine),
        wrap: impl FnOnce(Arc<dyn KeyHolder>) -> Arc<dyn KeyHolder>,
        trust: impl FnOnce(&Store, &Clock) -> Arc<ClientTrust>,
    ) -> Self {
        let (clock, hand) = Clock::simulated(now);
        let (faulty, store_faults) = FaultyEngine::new(Box::new(engine.clone()));
        let store = Store::start(Box::new(faulty), row_key(), &clock).unwrap();
        let log_faults = LogFaults::default();
        let mut log = testing::open(log_settings(folder.path(), &clock), &log_faults).unwrap();
        settle(&mut log, &store, &clock).unwrap();
        let snapshot = Snapshot::load(&store, trust(&store, &clock)).unwrap();
        let holder = wrap(keystore(&clock));
        let shared = Shared::new(snapshot, holder, clock.clone(), Settings::default()).unwrap();
        let admin = Admin::new(shared, store.clone(), log.writer().unwrap());
        let log = Some(log);
        Self {
            folder,
            hand,
            clock,
            log,
            log_faults,
            engine,
            store,
            store_faults,
            admin,
        }
    }

    /// Ends as a killed process would, and starts again on what is left.
    pub(crate) fn crash(mut self) -> Self {
        testing::crash(self.log.take().unwrap());
        let (folder, engine) = self.end();
        Self::open(folder, engine, |holder| holder)
    }

    /// What is left where the log has ended.
    pub(crate) fn end(self) -> (TempDir, MemoryEngine) {
        let Self {
            folder,
            engine,
            admin,
            store,
            ..
        } = self;
        drop(admin);
        store.shutdown();
        (folder, engine)
    }

    pub(crate) fn create(
        &self,
        context: &str,
        binding: BindingKind,
    ) -> Result<(), keywright_service::AdminError> {
        let made =
            self.admin
                .create_context(&name("default"), &name(context), KeySpec::seal(), binding);
        made.map(drop)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.admin.shared().snapshot().epoch
    }

    pub(crate) fn worker(&self) -> Rc<Worker> {
        let writer = self.log.as_ref().unwrap().writer().unwrap();
        Worker::new(Arc::clone(self.admin.shared()), writer)
    }

    pub(crate) fn caller(&self, client: (u8, &str, &str)) -> Caller {
        let snapshot = self.admin.shared().snapshot();
        Caller::identify(&chain(client), 5, &snapshot, self.clock.wall()).unwrap()
    }

    pub(crate) fn call<'a>(&self, caller: &'a Caller) -> Call<'a> {
        let started = self.clock.monotonic();
        Call {
            caller,
            request: RequestId::from_bytes([6; 16]),
            started,
            arrived: started,
            bytes_in: 10,
        }
    }

    /// One whole request of an inline holder: asked, flushed, released.
    pub(crate) fn ask(
        &self,
        worker: &Worker,
        client: (u8, &str, &str),
        (context, operation): (&str, DataOperation),
        items: &[&[u8]],
    ) -> Result<Vec<(Code, Vec<u8>)>, Code> {
        let caller = self.caller(client);
        let recorded =
            at_once(worker.perform(self.call(&caller), context, operation, prepared(items)));
        worker.flush();
        recorded.release(worker)?.map(|done| results(&done))
    }

    /// What one item came to.
    pub(crate) fn one(
        &self,
        worker: &Worker,
        client: (u8, &str, &str),
        asked: (&str, DataOperation),
        item: &[u8],
    ) -> Result<Vec<u8>, Code> {
        let (code, payload) = self.ask(worker, client, asked, &[item])?.remove(0);
        if code == Code::Ok {
            Ok(payload)
        } else {
            Err(code)
        }
    }

    /// Every record of these types, in the order of their files.
    pub(crate) fn records(&self, types: &[&str]) -> Vec<Value> {
        let all = show(self.folder.path(), Filter::default()).unwrap();
        let all = all.map(|record| record.unwrap());
        all.filter(|record| types.iter().any(|kind| record["type"] == **kind))
            .collect()
    }

    pub(crate) fn last(&self, kind: &str) -> Value {
        self.records(&[kind]).pop().unwrap()
    }
}

/// The key of the log's check frames.
pub(crate) fn check_key() -> CheckKey {
    CheckKey::from_bytes(&[4; 32])
}

pub(crate) fn log_settings(folder: &Path, clock: &Clock) -> LogSettings {
    let identity = Identity {
        installation: InstallationId::from_bytes([1; 16]),
        node: NodeId::from_bytes([2; 16]),
    };
    let signer = SigningKey::from_seed(&Secret::from_fill(|seed| seed.fill(3))).unwrap();
    let keys = Keys {
        signer,
        version: KeyVersion::FIRST,
        check: check_key(),
    };
    let mut settings = LogSettings::new(folder.to_owned(), identity, clock.clone(), keys);
    settings.reserve = 64 << 10;
    settings
}

pub(crate) fn prepared(items: &[&[u8]]) -> Prepared {
    let mut prepared = Prepared::with_capacity(items.len(), 64);
    for item in items {
        let payload = |out: &mut Vec<u8>| {
            out.extend_from_slice(item);
            Ok(())
        };
        prepared.push(payload, |_| Ok(()));
    }
    prepared
}

pub(crate) fn results(done: &Done) -> Vec<(Code, Vec<u8>)> {
    done.iter()
        .map(|item| (item.code, item.payload.to_vec()))
        .collect()
}

/// The value of a future that waits for nothing.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("this waits"),
    }
}

pub(crate) fn field<'a>(record: &'a Value, name: &str) -> Option<&'a Value> {
    let fields = record["fields"].as_array().unwrap();
    fields
        .iter()
        .find(|field| field["name"] == name)
        .map(|field| &field["value"])
}

pub(crate) const fn principal(number: u8) -> PrincipalId {
    PrincipalId::from_bytes([number; 16])
}

pub(crate) fn issued((number, name, unit): (u8, &str, &str)) -> keywright_tls::issue::Issued {
    authority().client(name, unit, Some(principal(number)))
}

fn chain(client: (u8, &str, &str)) -> Vec<CertificateDer<'static>> {
    chain_of(&issued(client).certificate_pem)
}

pub(crate) fn chain_of(pem: &str) -> Vec<CertificateDer<'static>> {
    let lines = pem
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with('-'));
    vec![base64::decode(&lines.collect::<String>()).unwrap().into()]
}

/// `desk` for both traders, `own` for the first and for Web, `open` for all, but Web only seals there.
fn policy() -> PolicyDocument {
    let anchor = hex::encode(&authority().authority().spki_sha256());
    let mut text = String::from("version = 1\n");
    for unit in ["Trading", "Web"] {
        text += &format!("[[group]]\nname = \"{unit}\"\n");
    }
    for (number, name, unit) in [TRADING, TRADING_TOO, WEB] {
        let id = principal(number);
        text += &format!(
            "[[principal]]\nid = \"{id}\"\nname = \"{name}\"\ngroup = \"{unit}\"\n\
             [[principal.rule]]\nanchors = [\"{anchor}\"]\nsan_uri = \"keywright:principal:{id}\"\n"
        );
    }
    for (who, contexts, operations) in [
        ("\"trading-1\", \"trading-2\"", "desk", ALL),
        ("\"trading-1\", \"web-1\"", "own", ALL),
        ("\"trading-1\"", "open", ALL),
        ("\"web-1\"", "open", "\"encrypt\""),
    ] {
        text += &format!(
            "[[grant]]\nprincipals = [{who}]\ncontexts = [\"{contexts}\"]\noperations = [{operations}]\n"
        );
    }
    text += "[[grant]]\nprincipals = [\"trading-1\"]\noperations = [\"random\"]\n";
    PolicyDocument::parse(&text).unwrap()
}

const ALL: &str = "\"encrypt\", \"decrypt\", \"rewrap\", \"datakey\", \"datakey-open\"";
