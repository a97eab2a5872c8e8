//! Which mechanism the messages of a session are under: a call with a message does not say it, and what its
//! parameter is depends on it.
//!
//! Known from the calls that begin such operations. A lock, which is only ever tried: where another thread has it,
//! or had it when this process was forked, the parameter is not looked at.

use std::collections::HashMap;
use std::sync::Mutex;

use cryptoki_sys::*;

/// Mechanisms whose messages are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Gcm,
    Ccm,
    Chacha,
    Other,
}

/// Whether messages are sealed or opened: a session may do both at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Seal,
    Open,
}

/// By session, as far as this process has begun such operations.
static KNOWN: Mutex<Option<HashMap<(CK_SESSION_HANDLE, Way), Sort>>> = Mutex::new(None);
/// More sessions than this are not remembered.
const MOST: usize = 4096;

impl Sort {
    pub(super) const fn of(mechanism: CK_MECHANISM_TYPE) -> Self {
        match mechanism {
            CKM_AES_GCM => Self::Gcm,
            CKM_AES_CCM => Self::Ccm,
            CKM_CHACHA20_POLY1305 | CKM_SALSA20_POLY1305 => Self::Chacha,
            _ => Self::Other,
        }
    }

    /// The mechanism that the record names; of others it names none.
    pub(super) const fn mechanism(self) -> CK_MECHANISM_TYPE {
        match self {
            Self::Gcm => CKM_AES_GCM,
            Self::Ccm => CKM_AES_CCM,
            Self::Chacha => CKM_CHACHA20_POLY1305,
            Self::Other => CKM_VENDOR_DEFINED,
        }
    }
}

/// Takes note of the mechanism under which messages follow.
pub(super) fn begun(session: CK_SESSION_HANDLE, way: Way, mechanism: CK_MECHANISM_TYPE) {
    let Ok(mut known) = KNOWN.try_lock() else {
        return;
    };
    let known = known.get_or_insert_default();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert((session, way), Sort::of(mechanism));
}

/// The sort of the messages of a session.
pub(super) fn sort(session: CK_SESSION_HANDLE, way: Way) -> Option<Sort> {
    let known = KNOWN.try_lock().ok()?;
    known.as_ref()?.get(&(session, way)).copied()
}
