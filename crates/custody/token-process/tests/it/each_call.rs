//! A fault in each call that a module gets, from being loaded to destroying a key: in this process those that a process
//! survives, in a child all of them. What is answered is right, what is refused has an error of its own, and the token is
//! back afterwards.

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::{
    HolderError, HolderOperation, Identity, KeyHolder, KeyMaterial, NO_DEADLINE, NewKey, Usage,
};
use keywright_fault_module::FUNCTIONS;
use keywright_pkcs11::{
    Copies, Error, LogIn, Module, Pin, PoolOptions, SessionPool, TokenHolder, TokenQuery,
};
use keywright_policy::Policy;
use keywright_token_process::{Settings, StartError, TokenProcess};
use keywright_tokens::{Faults, Kind, Store, on_each};
use keywright_types::{Algorithm, Code, KeySpec, Operation, Purpose};

use crate::child;
use crate::scene::{
    BACK, holder, identity, kill, one_with, open, seal, settings, spec, start_through, within,
};

/// What is called when a token is opened, or a key is looked for that was not used in this connection.
const WHEN_OPENED: [&str; 11] = [
    "C_Initialize",
    "C_GetSlotList",
    "C_GetTokenInfo",
    "C_OpenSession",
    "C_Login",
    "C_GetMechanismInfo",
    "C_GetSessionInfo",
    "C_FindObjectsInit",
    "C_FindObjects",
    "C_FindObjectsFinal",
    "C_GetAttributeValue",
];

/// What the work itself calls.
const AT_WORK: [&str; 12] = [
    "C_EncryptInit",
    "C_Encrypt",
    "C_DecryptInit",
    "C_Decrypt",
    "C_SignInit",
    "C_Sign",
    "C_VerifyInit",
    "C_Verify",
    "C_DeriveKey",
    "C_GenerateKeyPair",
    "C_DestroyObject",
    "C_CloseSession",
];

/// CKR_GENERAL_ERROR, _DEVICE_ERROR.
const CODES: [u64; 2] = [0x05, 0x30];

/// Keys of every kind, and what they made while all was well.
struct Keys {
    seals: Arc<KeyMaterial>,
    macs: Arc<KeyMaterial>,
    signs: Arc<KeyMaterial>,
    agrees: Arc<KeyMaterial>,
    old: Vec<u8>,
    mac: Vec<u8>,
    public: Vec<u8>,
    peer: Vec<u8>,
    secret: Vec<u8>,
}

const TEXT: &[u8] = b"from before";

fn of(purpose: Purpose, algorithm: Algorithm) -> KeySpec {
    KeySpec {
        purpose,
        algorithm,
        ..spec()
    }
}

fn try_make(
    holder: &dyn KeyHolder,
    key: u8,
    spec: KeySpec,
) -> Result<Arc<KeyMaterial>, HolderError> {
    let identity = Identity {
        spec,
        ..identity(key)
    };
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    let parent = None;
    let made = holder.generate(&permit, NewKey { identity, parent });
    made.map(Arc::new)
}

/// One item of a key that makes no envelopes.
fn used(
    holder: &dyn KeyHolder,
    operation: HolderOperation,
    key: &Arc<KeyMaterial>,
    (payload, proof): (&[u8], &[u8]),
) -> Answered {
    let usage = Usage {
        proof,
        ..Usage::default()
    };
    let mut aad = Vec::new();
    usage.put(&mut aad);
    one_with(holder, operation, (key, payload, &aad), NO_DEADLINE)
}

type Answered = Result<Result<Vec<u8>, Code>, HolderError>;

impl Keys {
    fn new(holder: &dyn KeyHolder) -> Self {
        let make = |key, spec| try_make(holder, key, spec).unwrap();
        let seals = make(1, spec());
        let macs = make(2, of(Purpose::Mac, Algorithm::HmacSha256));
        let signs = make(3, of(Purpose::Sign, Algorithm::EcdsaP256));
        let agrees = make(4, of(Purpose::Agree, Algorithm::EcdhP256));
        let ask = |operation, key, payload| {
            used(holder, operation, key, (payload, b""))
                .unwrap()
                .unwrap()
        };
        let public = ask(HolderOperation::PublicKey, &signs, b"");
        // lp(the point) + ...
        let peer = ask(HolderOperation::PublicKey, &agrees, b"")[4..37].to_vec();
        Self {
            old: seal(holder, &seals, TEXT).unwrap(),
            mac: ask(HolderOperation::Mac, &macs, TEXT),
            secret: ask(HolderOperation::Agree, &agrees, &peer),
            seals,
            macs,
            signs,
            agrees,
            public,
            peer,
        }
    }

    /// Does everything once. Whether all was done.
    fn work(&self, holder: &dyn KeyHolder, fresh: u8) -> bool {
        use HolderOperation as H;
        let right = |answered: Answered, expected: &[u8]| match answered {
            Ok(Ok(bytes)) => {
                assert_eq!(bytes, expected, "another answer");
                true
            }
            refusal => refused(&refusal),
        };
        let mut whole = right(open(holder, &self.seals, &self.old), TEXT);
        whole &= match crate::scene::one(holder, H::Seal, &self.seals, b"new") {
            Ok(Ok(sealed)) => right(open(holder, &self.seals, &sealed), b"new"),
            refusal => refused(&refusal),
        };
        whole &= right(used(holder, H::Mac, &self.macs, (TEXT, b"")), &self.mac);
        whole &= right(
            used(holder, H::VerifyMac, &self.macs, (TEXT, &self.mac)),
            &[1],
        );
        whole &= match used(holder, H::Sign, &self.signs, (TEXT, b"")) {
            Ok(Ok(signature)) => right(
                used(holder, H::Verify, &self.signs, (TEXT, &signature)),
                &[1],
            ),
            refusal => refused(&refusal),
        };
        whole &= right(
            used(holder, H::PublicKey, &self.signs, (b"", b"")),
            &self.public,
        );
        whole &= right(
            used(holder, H::Agree, &self.agrees, (&self.peer, b"")),
            &self.secret,
        );
        whole &= holder.check_key(&self.seals).is_ok() && holder.probe().is_ok();
        whole & comes_and_goes(holder, fresh)
    }
}

/// A key that is made and destroyed. What a fault leaves behind is in nobody's way: its number is not used again.
fn comes_and_goes(holder: &dyn KeyHolder, fresh: u8) -> bool {
    let key = match try_make(holder, fresh, of(Purpose::Sign, Algorithm::EcdsaP256)) {
        Ok(key) => key,
        // It was made when this was asked for the first time.
        Err(HolderError::Leftover) => return true,
        Err(error) => return refused(&Err(error)),
    };
    let permit = Policy::owner().permit(key.key(), Operation::KeyDestroy);
    match holder.destroy(&permit, &key) {
        Ok(()) => {
            let gone = used(holder, HolderOperation::Sign, &key, (TEXT, b""));
            assert!(!matches!(gone, Ok(Ok(_))), "a destroyed key signs");
            true
        }
        Err(error) => refused(&Err(error)),
    }
}

/// False, if it is a refusal that there may be.
fn refused(refusal: &Answered) -> bool {
    match refusal {
        Err(HolderError::Unavailable | HolderError::KeyRejected | HolderError::Full) => false,
        Ok(Err(Code::HolderUnavailable)) => false,
        other => panic!("{other:?}"),
    }
}

/// How long a call may take in a child; hangs are bounded by it.
const PATIENCE: Duration = Duration::from_secs(2);

struct Apart {
    faults: Faults,
    process: Arc<TokenProcess>,
    holder: keywright_token_process::ChildHolder,
    keys: Keys,
    fresh: std::cell::Cell<u8>,
}

impl Apart {
    /// On the token whose functions can be stood in for one by one.
    fn new(store: &Store) -> Option<Self> {
        if store.kind() != Kind::SoftHsm {
            return None;
        }
        let faults = Faults::before(store);
        let process = start_through(store, faults.module(), PATIENCE);
        let holder = holder(&process);
        Some(Self {
            keys: Keys::new(&holder),
            faults,
            process,
            holder,
            fresh: std::cell::Cell::new(10),
        })
    }

    fn work(&self) -> bool {
        self.keys.work(&self.holder, self.fresh.get())
    }

    /// Another child, whose module has the fault from its first call on. Whether the fault has happened.
    fn meets(&self, words: &str) -> bool {
        self.fresh.set(self.fresh.get().wrapping_add(1).max(10));
        let id = self.process.id().unwrap();
        self.faults.plant(words);
        kill(id);
        within(BACK, || self.process.id().is_some_and(|new| new != id));
        if self.faults.waits() {
            self.work();
        }
        !self.faults.waits()
    }

    fn is_well_again(&self) {
        self.faults.mend();
        self.fresh.set(self.fresh.get().wrapping_add(1).max(10));
        within(BACK, || self.work());
    }
}

#[test]
fn a_crash_in_each_call_of_a_child_costs_what_was_asked_and_nothing_else() {
    on_each(|store| {
        let Some(apart) = Apart::new(store) else {
            return;
        };
        let met = FUNCTIONS.iter().filter(|function| {
            let met = apart.meets(&format!("{function} 0 once crash"));
            apart.is_well_again();
            met
        });
        let mut met: Vec<_> = met.copied().collect();
        let mut known = [&WHEN_OPENED[..], &AT_WORK[..]].concat();
        met.sort_unstable();
        known.sort_unstable();
        assert_eq!(met, known, "the calls that a module gets");
    });
}

#[test]
fn a_failure_of_each_call_of_a_child_is_a_refusal_and_no_answer() {
    on_each(|store| {
        let Some(apart) = Apart::new(store) else {
            return;
        };
        for function in [&WHEN_OPENED[..], &AT_WORK[..]].concat() {
            for code in CODES {
                assert!(apart.meets(&format!("{function} 0 once fail {code}")));
                apart
                    .faults
                    .plant(&format!("{function} 0 always fail {code}"));
                apart.work();
                apart.is_well_again();
            }
        }
    });
}

#[test]
fn a_hang_in_each_call_of_a_childs_work_ends_with_the_patience_of_its_keeper() {
    on_each(|store| {
        let Some(apart) = Apart::new(store) else {
            return;
        };
        for function in AT_WORK {
            assert!(
                apart.meets(&format!("{function} 0 once hang")),
                "{function}"
            );
            apart.is_well_again();
        }
    });
}

/// Opening has a time of its own, so one call stands for all here: before the first child says that its token is open, and
/// in one that comes after another.
#[test]
fn a_hang_while_a_token_is_opened_ends_that_child_and_the_next_opens_it() {
    on_each(|store| {
        let Some(apart) = Apart::new(store) else {
            return;
        };
        assert!(apart.meets("C_Login 0 once hang"));
        apart.is_well_again();
        apart.faults.plant("C_OpenSession 0 always hang");
        let through = Settings {
            module: apart.faults.module().to_path_buf(),
            ..settings(store)
        };
        let started = TokenProcess::start(child::program("token_process"), through);
        assert!(matches!(started.map(drop), Err(StartError::Hung)));
        apart.is_well_again();
    });
}

fn try_pool(store: &Store, faults: &Faults) -> Result<Arc<SessionPool>, Error> {
    let token = &store.tokens()[0];
    SessionPool::open(
        Module::load(faults.module())?,
        &TokenQuery::label(token.label()),
        LogIn::Pin(Pin::from_line(token.user_pin().as_bytes().to_vec())),
        PoolOptions {
            copies: Copies::Never,
            ..PoolOptions::default()
        },
        Clock::system(),
    )
}

#[test]
fn a_failure_of_each_call_in_this_process_is_a_refusal_and_no_answer() {
    on_each(|store| {
        if store.kind() != Kind::SoftHsm {
            return;
        }
        let faults = Faults::before(store);
        let pool = try_pool(store, &faults).unwrap();
        let keys = Keys::new(&TokenHolder::new(pool, Clock::system()));
        let mut fresh = 10;
        for function in [&WHEN_OPENED[..], &AT_WORK[..]].concat() {
            for code in CODES {
                fresh += 2;
                faults.plant(&format!("{function} 0 once fail {code}"));
                // One that fails to open is opened again, as a node is started again.
                let pool = try_pool(store, &faults).or_else(|_| try_pool(store, &faults));
                let holder = TokenHolder::new(pool.unwrap(), Clock::system());
                if faults.waits() {
                    keys.work(&holder, fresh);
                }
                assert!(!faults.waits(), "{function} was not called");
                faults.plant(&format!("{function} 0 always fail {code}"));
                keys.work(&holder, fresh);
                faults.mend();
                within(BACK, || keys.work(&holder, fresh + 1));
            }
        }
    });
}
