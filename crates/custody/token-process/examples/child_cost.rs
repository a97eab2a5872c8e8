//! What the child costs: AES-GCM of 32 bytes through the holder, once with the module in this process and once with it
//! in a child, on the same token.
//!
//! Blocks of both take turns, ABBA, within one run, so that a drift of the machine falls on both. The bar: the child
//! adds less than 15 microseconds to an operation, by the medians of the blocks. The exit code is 3 if it is missed, 4
//! if a token is not here. With more threads than one, each with a channel, the figure is the time of one operation as
//! a thread sees it; it has no bar.
//!
//! Each token is measured in a process of its own, on a store of its own that is gone afterwards.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for whoever measures: what goes wrong ends it"
)]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_custody::{
    HolderOperation, Identity, Items, KeyHolder, KeyMaterial, NO_DEADLINE, NewKey, Request,
    Versions,
};
use keywright_envelope::Binding;
use keywright_pkcs11::{
    Copies, LogIn, Module, Pin, PoolOptions, SessionPool, TokenHolder, TokenQuery,
};
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_token_process::{ChildHolder, Memory, Program, Settings, TokenProcess};
use keywright_tokens::{Kind, Store, USER_PIN};
use keywright_types::{Algorithm, Custody, KeyId, KeySpec, KeyVersion, Operation, TenantId};

/// Operations of a block, and quartets of blocks.
const BLOCK: u32 = 400;
const QUARTETS: usize = 100;
const BAR_NS: f64 = 15_000.0;
const LABEL: &str = "keywright";
const CHILD: &str = "--as-child";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    match &words[..] {
        [_, word] if word == CHILD => {
            keywright_token_process::run().unwrap();
            return ExitCode::SUCCESS;
        }
        [_, on, module] if on == "--on" => return ExitCode::from(measure(Path::new(module))),
        _ => {}
    }
    let mut worst = 0;
    for kind in Kind::ALL {
        let code = match Store::new(kind, &[LABEL]) {
            Ok(store) => again(&store, &words[0]),
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
fn again(store: &Store, program: &str) -> u8 {
    let module = store.tokens()[0].module().to_path_buf();
    let mut command: Command = store.command(program);
    let status = command.arg("--on").arg(module).status().unwrap();
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}

fn measure(path: &Path) -> u8 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let here: Arc<dyn KeyHolder> = Arc::new(TokenHolder::new(pool(path), Clock::system()));
    let process = TokenProcess::start(Program::this(CHILD), settings(path)).unwrap();
    let apart: Arc<dyn KeyHolder> = Arc::new(ChildHolder::new(process, Clock::system()));
    let key = made(here.as_ref());
    // The same key as each of them comes to know it.
    let keys = [&key, &Arc::new(alike(&key))].map(Arc::clone);
    let mut missed = false;
    for count in [1, threads.min(4)] {
        let both = [(&here, &keys[0]), (&apart, &keys[1])];
        let [here, apart] = compare(both, count);
        let cost = apart - here;
        println!(
            "{name}: AES-256-GCM, 32 bytes, {count} thread{}: {:.2} us in this process, {:.2} us in the child: {:+.2} us",
            if count == 1 { "" } else { "s" },
            here / 1e3,
            apart / 1e3,
            cost / 1e3
        );
        missed |= count == 1 && cost >= BAR_NS;
        if threads == 1 {
            break;
        }
    }
    if missed { 3 } else { 0 }
}

/// Nanoseconds of one operation with each: the medians of the blocks.
fn compare(both: [(&Arc<dyn KeyHolder>, &Arc<KeyMaterial>); 2], threads: usize) -> [f64; 2] {
    for (holder, key) in both {
        block(holder, key, threads);
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..QUARTETS {
        for side in [0, 1, 1, 0] {
            let (holder, key) = both[side];
            times[side].push(block(holder, key, threads));
        }
    }
    times.map(|mut blocks| {
        blocks.sort_by(f64::total_cmp);
        blocks[blocks.len() / 2]
    })
}

/// One block on each of so many threads; nanoseconds of an operation as a thread sees it.
fn block(holder: &Arc<dyn KeyHolder>, key: &Arc<KeyMaterial>, threads: usize) -> f64 {
    let clock = Clock::system();
    let begun = clock.monotonic();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut random = RandomStream::unseeded();
                (0..BLOCK).for_each(|_| seal(holder.as_ref(), key, &mut random));
            });
        }
    });
    let taken = clock.monotonic().since(begun);
    taken.as_secs_f64() * 1e9 / f64::from(BLOCK)
}

fn seal(holder: &dyn KeyHolder, key: &Arc<KeyMaterial>, random: &mut RandomStream) {
    let mut items = Items::with_capacity(1, 64);
    items.push_slices(0, &[7; 32], b"").unwrap();
    let permit = Policy::owner().permit(key.key(), Operation::Encrypt);
    let request = Request {
        operation: HolderOperation::Seal,
        versions: Versions::from_iter([Arc::clone(key)]),
        binding: Binding::None,
        deadline_ns: NO_DEADLINE,
    };
    let reply = holder.perform(&permit, &request, items, random).unwrap();
    assert!(reply.byte_len() > 32);
}

fn pool(path: &Path) -> Arc<SessionPool> {
    let options = PoolOptions {
        copies: Copies::WhereAllowed,
        ..PoolOptions::default()
    };
    let pin = Pin::from_line(USER_PIN.as_bytes().to_vec());
    SessionPool::open(
        Module::load(path).unwrap(),
        &TokenQuery::label(LABEL),
        LogIn::Pin(pin),
        options,
        Clock::system(),
    )
    .unwrap()
}

fn settings(path: &Path) -> Settings {
    Settings {
        module: path.to_path_buf(),
        query: TokenQuery::label(LABEL),
        pin: SecretBytes::from_vec(USER_PIN.as_bytes().to_vec()),
        sessions: 4,
        copies: Copies::WhereAllowed,
        memory: Memory::LeaveAlone,
        patience: Duration::from_secs(10),
    }
}

fn identity() -> Identity {
    Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([1; 16]),
        version: KeyVersion::FIRST,
        spec: KeySpec {
            algorithm: Algorithm::TokenGcm12,
            custody: Custody::Token,
            ..KeySpec::seal()
        },
        created: WallTime::from_unix_millis(1_700_000_000_000),
    }
}

fn made(holder: &dyn KeyHolder) -> Arc<KeyMaterial> {
    let permit = Policy::owner().permit(identity().key, Operation::ContextCreate);
    let new = NewKey {
        identity: identity(),
        parent: None,
    };
    Arc::new(holder.generate(&permit, new).unwrap())
}

fn alike(key: &KeyMaterial) -> KeyMaterial {
    KeyMaterial::new(identity(), key.sealed().to_vec(), None)
}
