//! What the store promises, one module for each promise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here is a failed test, in the functions that tests share as well"
)]
#![expect(
    clippy::cast_possible_truncation,
    reason = "bodies are filled with the low byte of a number"
)]

mod child;
mod concurrency;
mod counters;
mod engines;
mod epoch;
mod faults;
mod file;
mod kill;
mod rules;
mod tampering;
mod torn;

use std::path::Path;

use keywright_clock::Clock;
use keywright_primitives::mac::MacKey;
use keywright_store::{Engine, Error, SqliteEngine, Store, testing::MemoryEngine};
use keywright_types::{KeyId, TenantId};
use tempfile::TempDir;

const TENANT: TenantId = TenantId::from_bytes([3; 16]);
const KEY: KeyId = KeyId::from_bytes([4; 16]);

fn row_key() -> MacKey {
    MacKey::new(&[0x42; 32])
}

fn start(engine: impl Engine + 'static) -> Result<Store, Error> {
    Store::start(Box::new(engine), row_key(), &Clock::system())
}

fn open(path: &Path) -> Result<Store, Error> {
    start(SqliteEngine::open(path)?)
}

fn memory() -> Store {
    start(MemoryEngine::new()).unwrap()
}

/// A store of each engine, for what must hold on all of them. The folder lives as long as it does.
fn each_store(check: impl Fn(Store)) {
    check(memory());
    let folder = TempDir::new().unwrap();
    check(open(&folder.path().join("store.db")).unwrap());
}
