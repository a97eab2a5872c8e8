//! A token in a child, with keys in it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_custody::{
    HolderError, HolderOperation, Identity, Items, KeyHolder, KeyMaterial, NO_DEADLINE, NewKey,
    Request, Versions,
};
use keywright_envelope::Binding;
use keywright_pkcs11::{Copies, TokenQuery};
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_token_process::{ChildHolder, Memory, Settings, TokenProcess};
use keywright_tokens::Store;
use keywright_types::{Algorithm, Code, Custody, KeyId, KeySpec, KeyVersion, Operation, TenantId};

use crate::child;

/// How long a token may take to be back; what is asserted is ten times that.
pub(crate) const BACK: Duration = Duration::from_secs(5);

pub(crate) fn settings(store: &Store) -> Settings {
    let token = &store.tokens()[0];
    Settings {
        module: token.module().to_path_buf(),
        query: TokenQuery::label(token.label()),
        pin: SecretBytes::from_vec(token.user_pin().as_bytes().to_vec()),
        sessions: 4,
        copies: Copies::Never,
        memory: Memory::LeaveAlone,
        patience: Duration::from_secs(10),
    }
}

pub(crate) fn start(settings: Settings) -> Arc<TokenProcess> {
    TokenProcess::start(child::program("token_process"), settings).unwrap()
}

/// A token with another module in front of its own.
pub(crate) fn start_through(store: &Store, module: &Path, patience: Duration) -> Arc<TokenProcess> {
    start(Settings {
        module: module.to_path_buf(),
        patience,
        ..settings(store)
    })
}

pub(crate) fn holder(process: &Arc<TokenProcess>) -> ChildHolder {
    ChildHolder::new(Arc::clone(process), Clock::system())
}

pub(crate) fn spec() -> KeySpec {
    KeySpec {
        algorithm: Algorithm::TokenGcm12,
        custody: Custody::Token,
        ..KeySpec::seal()
    }
}

pub(crate) fn identity(key: u8) -> Identity {
    Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([key; 16]),
        version: KeyVersion::FIRST,
        spec: spec(),
        created: WallTime::from_unix_millis(1_700_000_000_000),
    }
}

pub(crate) fn try_made(holder: &dyn KeyHolder, key: u8) -> Result<Arc<KeyMaterial>, HolderError> {
    let identity = identity(key);
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    let new = NewKey {
        identity,
        parent: None,
    };
    holder.generate(&permit, new).map(Arc::new)
}

pub(crate) fn made(holder: &dyn KeyHolder, key: u8) -> Arc<KeyMaterial> {
    try_made(holder, key).unwrap()
}

/// One item, whole.
pub(crate) fn one(
    holder: &dyn KeyHolder,
    operation: HolderOperation,
    key: &Arc<KeyMaterial>,
    payload: &[u8],
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    one_until(holder, operation, (key, payload), NO_DEADLINE)
}

pub(crate) fn one_until(
    holder: &dyn KeyHolder,
    operation: HolderOperation,
    (key, payload): (&Arc<KeyMaterial>, &[u8]),
    deadline_ns: u64,
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    one_with(holder, operation, (key, payload, b"aad"), deadline_ns)
}

pub(crate) fn one_with(
    holder: &dyn KeyHolder,
    operation: HolderOperation,
    (key, payload, aad): (&Arc<KeyMaterial>, &[u8], &[u8]),
    deadline_ns: u64,
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    let mut items = Items::default();
    items.push_slices(0, payload, aad).unwrap();
    let permit = Policy::owner().permit(key.key(), operation.permitted_by());
    let request = Request {
        operation,
        versions: Versions::from_iter([Arc::clone(key)]),
        binding: Binding::None,
        deadline_ns,
    };
    let reply = holder.perform(&permit, &request, items, &mut RandomStream::unseeded())?;
    let item = reply.iter().next().unwrap();
    Ok(match item.code {
        Code::Ok => Ok(item.payload.to_vec()),
        code => Err(code),
    })
}

pub(crate) fn seal(
    holder: &dyn KeyHolder,
    key: &Arc<KeyMaterial>,
    text: &[u8],
) -> Result<Vec<u8>, HolderError> {
    one(holder, HolderOperation::Seal, key, text).map(Result::unwrap)
}

pub(crate) fn open(
    holder: &dyn KeyHolder,
    key: &Arc<KeyMaterial>,
    sealed: &[u8],
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    one(holder, HolderOperation::Open, key, sealed)
}

/// Whether it is done within ten times `limit`; in what time it was.
pub(crate) fn within(limit: Duration, mut done: impl FnMut() -> bool) -> Duration {
    let clock = Clock::system();
    let begun = clock.monotonic();
    while !done() {
        let taken = clock.monotonic().since(begun);
        assert!(taken < limit * 10, "not done after {taken:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    clock.monotonic().since(begun)
}

/// SIGKILL, by the id.
pub(crate) fn kill(id: u32) {
    let killed = std::process::Command::new("kill")
        .args(["-9", &id.to_string()])
        .status();
    assert!(killed.unwrap().success());
}

/// Whether there is a process of this id that has not ended.
pub(crate) fn lives(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat"));
    status.is_ok_and(|text| {
        let state = text.rsplit(')').next().unwrap_or_default();
        !state.trim_start().starts_with('Z')
    })
}
