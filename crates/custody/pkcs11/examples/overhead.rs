//! What the layer costs: AES-GCM of 32 bytes and RSA-2048 signatures through `keywright-pkcs11`, against a plain
//! loop on the raw binding, with the same token, the same session, the same key, and a fresh nonce for every
//! call in both.
//!
//! Blocks of both take turns, ABBA, within one run, so that a drift of the machine falls on both. The bar: at
//! most 300 ns a call or 5 %, whichever is more. The exit code is 3 if it is missed, 4 if a token is not here.
//! Beside it stands, without a bar, what the holder of keys adds to the layer: permit, session, envelope, pace.
//!
//! Each token is measured in a process of its own, on a store of its own that is gone afterwards.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for whoever measures: what goes wrong ends it"
)]
#![expect(
    unsafe_code,
    reason = "the raw binding is what the layer is held against"
)]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::ptr::null_mut;
use std::sync::Arc;

use cryptoki_sys as ck;
use keywright_clock::{Clock, WallTime, nanos};
use keywright_custody::{
    HolderOperation, Identity, Items, KeyHolder as _, KeyMaterial, NO_DEADLINE, NewKey, Request,
    Versions,
};
use keywright_envelope::Binding;
use keywright_pkcs11::{
    Copies, Credential, Hash, KeyPlan, LogIn, Mechanism, Module, ObjectHandle, PairKind, Pin,
    PoolOptions, Purpose, SecretKind, Session, SessionPool, TokenHolder, TokenQuery, User,
};
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_tokens::{Kind, Store, USER_PIN};
use keywright_types::{Algorithm, Custody, KeyId, KeySpec, KeyVersion, Operation, TenantId};

/// Calls of a block, and quartets of blocks.
const SEAL: (u32, usize) = (400, 250);
const SIGN: (u32, usize) = (20, 100);
/// The bar: so many nanoseconds, or this share of the plain loop.
const NANOSECONDS: f64 = 300.0;
const SHARE: f64 = 0.05;

const LABEL: &str = "keywright";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, on, module] = &words[..]
        && on == "--on"
    {
        return ExitCode::from(measure(Path::new(module)));
    }
    let mut worst = 0;
    for kind in Kind::ALL {
        let code = match Store::new(kind, &[LABEL]) {
            Ok(store) => child(&store, &words[0]),
            Err(missing) => {
                println!("{}: not measured: {missing}", kind.name());
                4
            }
        };
        // A missed bar counts for more than one that was not measured.
        worst = match (worst, code) {
            (3, _) | (_, 3) => 3,
            (worst, code) => worst.max(code),
        };
    }
    ExitCode::from(worst)
}

/// The token reads where its store is from the environment, once a process.
fn child(store: &Store, program: &str) -> u8 {
    let module = store.tokens()[0].module().to_path_buf();
    let mut command: Command = store.command(program);
    let status = command.arg("--on").arg(module).status().unwrap();
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}

fn measure(path: &Path) -> u8 {
    let module = Module::load(path).unwrap();
    let token = module.find_token(&TokenQuery::label(LABEL)).unwrap();
    let session = token.open().unwrap();
    let pin = Pin::from_line(USER_PIN.as_bytes().to_vec());
    session.login(User::User, Credential::Pin(&pin)).unwrap();
    let plan = |purpose| KeyPlan::new(purpose).in_session();
    let aes = session
        .generate_secret(SecretKind::Aes { len: 32 }, &plan(Purpose::Encrypt))
        .unwrap();
    let rsa = session
        .generate_pair(PairKind::Rsa { bits: 2048 }, &plan(Purpose::Sign))
        .unwrap();
    let raw = Raw::load(path, &session);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut nonces = Nonces(0);
    let sealing = compare(
        SEAL,
        |nonces| layer_seal(&session, aes, nonces),
        |nonces| raw.seal(aes, nonces),
        &mut nonces,
    );
    let signing = compare(
        SIGN,
        |_| layer_sign(&session, rsa.private),
        |_| raw.sign(rsa.private),
        &mut nonces,
    );
    let good = [
        ("AES-256-GCM, 32 bytes", sealing),
        ("RSA-2048 signature", signing),
    ]
    .map(|(what, pair)| pair.holds(&format!("{name}: {what}")));
    let held = Held::new(&module);
    let mut random = RandomStream::unseeded();
    let holding = compare(
        SEAL,
        |_| held.seal(&mut random),
        |nonces| layer_seal(&session, aes, nonces),
        &mut nonces,
    );
    let (holder, layer) = (median(holding.layer), median(holding.plain));
    println!(
        "{name}: AES-256-GCM, 32 bytes: {holder:.0} ns with the holder, {layer:.0} ns with the layer alone"
    );
    if good == [true, true] { 0 } else { 3 }
}

/// Never the same nonce twice under the key, whoever seals.
struct Nonces(u64);

impl Nonces {
    fn draw(&mut self) -> [u8; 12] {
        self.0 += 1;
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.0.to_be_bytes());
        nonce
    }
}

const TEXT: [u8; 32] = [7; 32];

fn layer_seal(session: &Session, key: ObjectHandle, nonces: &mut Nonces) -> usize {
    let nonce = nonces.draw();
    let mechanism = Mechanism::AesGcm {
        nonce: &nonce,
        aad: &[],
    };
    let mut out = Vec::new();
    session.encrypt(&mechanism, key, &TEXT, &mut out).unwrap();
    out.len()
}

fn layer_sign(session: &Session, key: ObjectHandle) -> usize {
    let mut out = Vec::new();
    let mechanism = Mechanism::RsaPkcs1Hash(Hash::Sha256);
    session.sign(&mechanism, key, &TEXT, &mut out).unwrap();
    out.len()
}

/// The holder of keys, with a key that it has copied into the session.
struct Held {
    holder: TokenHolder,
    clock: Clock,
    key: Arc<KeyMaterial>,
}

impl Held {
    fn new(module: &Module) -> Self {
        let options = PoolOptions {
            copies: Copies::WhereAllowed,
            ..PoolOptions::default()
        };
        let pin = LogIn::Pin(Pin::from_line(USER_PIN.as_bytes().to_vec()));
        let query = TokenQuery::label(LABEL);
        let pool = SessionPool::open(module.clone(), &query, pin, options, Clock::system());
        let clock = Clock::system();
        let holder = TokenHolder::new(pool.unwrap(), clock.clone());
        let identity = Identity {
            tenant: TenantId::from_bytes([1; 16]),
            key: KeyId::from_bytes([2; 16]),
            version: KeyVersion::FIRST,
            spec: KeySpec {
                algorithm: Algorithm::TokenGcm12,
                custody: Custody::Token,
                ..KeySpec::seal()
            },
            created: WallTime::from_unix_millis(0),
        };
        let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
        let parent = None;
        let key = holder.generate(&permit, NewKey { identity, parent });
        let key = Arc::new(key.unwrap());
        Self { holder, clock, key }
    }

    /// As the service asks: at once, else as its pool would.
    fn seal(&self, random: &mut RandomStream) -> usize {
        let mut items = Items::default();
        items.push_slices(0, &TEXT, &[]).unwrap();
        let permit = Policy::owner().permit(self.key.key(), Operation::Encrypt);
        let request = Request {
            operation: HolderOperation::Seal,
            versions: Versions::from_iter([Arc::clone(&self.key)]),
            binding: Binding::None,
            deadline_ns: NO_DEADLINE,
        };
        let now = self.clock.monotonic();
        let reply = match self
            .holder
            .perform_now(&permit, (&request, now), items, random)
        {
            Ok(done) => done.reply,
            Err(items) => self.holder.perform(&permit, &request, items, random),
        };
        reply.unwrap().byte_len()
    }
}

/// The module's functions, as its table has them, and a session of it. Modules need not export the functions
/// themselves.
struct Raw {
    list: ck::CK_FUNCTION_LIST,
    session: u64,
    _library: ck::Pkcs11,
}

impl Raw {
    /// The library is loaded already, so this is the same one, initialised and logged in.
    fn load(path: &Path, session: &Session) -> Self {
        // SAFETY: the file is the module that has been loaded before.
        let library = unsafe { ck::Pkcs11::new(path.as_os_str()) }.unwrap();
        let mut list = null_mut();
        // SAFETY: the function writes a pointer to its table, which stays as long as the module is loaded.
        let list = unsafe {
            assert_eq!(library.C_GetFunctionList(&raw mut list), ck::CKR_OK);
            *list
        };
        Self {
            list,
            session: session.number(),
            _library: library,
        }
    }

    fn seal(&self, key: ObjectHandle, nonces: &mut Nonces) -> usize {
        let mut nonce = nonces.draw();
        let mut parameters = ck::CK_GCM_PARAMS {
            pIv: nonce.as_mut_ptr(),
            ulIvLen: 12,
            ulIvBits: 96,
            pAAD: null_mut(),
            ulAADLen: 0,
            ulTagBits: 128,
        };
        let mut mechanism = ck::CK_MECHANISM {
            mechanism: ck::CKM_AES_GCM,
            pParameter: (&raw mut parameters).cast(),
            ulParameterLen: size_of::<ck::CK_GCM_PARAMS>() as u64,
        };
        let (mut text, mut out) = (TEXT, vec![0; 64]);
        let mut length = out.len() as u64;
        // SAFETY: the pointers are those of values that outlive the calls, with their lengths.
        let codes = unsafe {
            [
                self.list.C_EncryptInit.unwrap()(self.session, &raw mut mechanism, key.number()),
                self.list.C_Encrypt.unwrap()(
                    self.session,
                    text.as_mut_ptr(),
                    text.len() as u64,
                    out.as_mut_ptr(),
                    &raw mut length,
                ),
            ]
        };
        assert_eq!(codes, [ck::CKR_OK; 2]);
        usize::try_from(length).unwrap()
    }

    fn sign(&self, key: ObjectHandle) -> usize {
        let mut mechanism = ck::CK_MECHANISM {
            mechanism: ck::CKM_SHA256_RSA_PKCS,
            pParameter: null_mut(),
            ulParameterLen: 0,
        };
        let (mut text, mut out) = (TEXT, vec![0; 256]);
        let mut length = out.len() as u64;
        // SAFETY: as above.
        let codes = unsafe {
            [
                self.list.C_SignInit.unwrap()(self.session, &raw mut mechanism, key.number()),
                self.list.C_Sign.unwrap()(
                    self.session,
                    text.as_mut_ptr(),
                    text.len() as u64,
                    out.as_mut_ptr(),
                    &raw mut length,
                ),
            ]
        };
        assert_eq!(codes, [ck::CKR_OK; 2]);
        usize::try_from(length).unwrap()
    }
}

/// Nanoseconds a call of the layer and of the plain loop, quartet by quartet.
struct Pair {
    layer: Vec<f64>,
    plain: Vec<f64>,
}

fn compare(
    (calls, quartets): (u32, usize),
    mut layer: impl FnMut(&mut Nonces) -> usize,
    mut plain: impl FnMut(&mut Nonces) -> usize,
    nonces: &mut Nonces,
) -> Pair {
    let clock = Clock::system();
    let mut block = |call: &mut dyn FnMut(&mut Nonces) -> usize| {
        let begun = clock.monotonic();
        for _ in 0..calls {
            std::hint::black_box(call(nonces));
        }
        nanos(clock.monotonic().since(begun)) as f64 / f64::from(calls)
    };
    // What comes first pays for cold caches, and does not count.
    block(&mut layer);
    block(&mut plain);
    let mut pair = Pair {
        layer: Vec::new(),
        plain: Vec::new(),
    };
    for _ in 0..quartets {
        let first = block(&mut layer);
        let others = [block(&mut plain), block(&mut plain)];
        let last = block(&mut layer);
        pair.layer.push(f64::midpoint(first, last));
        pair.plain.push(f64::midpoint(others[0], others[1]));
    }
    pair
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl Pair {
    /// Says what was found, and whether the bar holds for the median of the differences.
    fn holds(self, what: &str) -> bool {
        let differences = self.layer.iter().zip(&self.plain);
        let more = median(differences.map(|(layer, plain)| layer - plain).collect());
        let (layer, plain) = (median(self.layer), median(self.plain));
        let bar = NANOSECONDS.max(SHARE * plain);
        let holds = more <= bar;
        println!(
            "{what}: {layer:.0} ns with the layer, {plain:.0} ns without, {more:+.0} ns a call; bar {bar:.0} ns: {}",
            if holds { "holds" } else { "missed" }
        );
        holds
    }
}
