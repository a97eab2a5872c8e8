//! A module that fails, stalls, hangs or crashes in the middle of its work, in the child: each kind at each function
//! that the work calls. No answer is ever wrong; what is refused is refused with its own error; the token is back.

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::{HolderError, HolderOperation, KeyHolder as _, KeyMaterial};
use keywright_token_process::ChildHolder;
use keywright_tokens::{Faults, Kind, Store, on_each};
use keywright_types::Code;

use crate::scene::{BACK, made, one_until, open, seal, start_through, try_made, within};

/// How long a call may take here; hangs are bounded by it.
const PATIENCE: Duration = Duration::from_secs(1);

/// A deadline that leaves the child time to be asked, also on a machine that does much else.
const SOON: Duration = Duration::from_secs(1);

/// How long a call may take where its deadline comes first.
const LONGER: Duration = Duration::from_secs(5);

/// Functions that sealing, opening, and doing so for the first time in a connection call.
const FUNCTIONS: [&str; 9] = [
    "C_EncryptInit",
    "C_Encrypt",
    "C_DecryptInit",
    "C_Decrypt",
    "C_OpenSession",
    "C_FindObjectsInit",
    "C_FindObjects",
    "C_FindObjectsFinal",
    "C_GetSessionInfo",
];

/// CKR_HOST_MEMORY, _GENERAL_ERROR, _DEVICE_ERROR, _KEY_HANDLE_INVALID, _SESSION_HANDLE_INVALID, a vendor's own.
const CODES: [u64; 6] = [0x02, 0x05, 0x30, 0x60, 0xB3, 0x8000_0001];

struct Bench {
    /// The one of deadlines.
    clock: Clock,
    faults: Faults,
    process: Arc<keywright_token_process::TokenProcess>,
    holder: ChildHolder,
    keys: [Arc<KeyMaterial>; 2],
    old: [Vec<u8>; 2],
}

const TEXTS: [&[u8]; 2] = [b"under the first", b"under the other"];

impl Bench {
    /// On the token whose functions can be stood in for one by one.
    fn new(store: &Store) -> Option<Self> {
        Self::patient(store, PATIENCE)
    }

    fn patient(store: &Store, patience: Duration) -> Option<Self> {
        if store.kind() != Kind::SoftHsm {
            return None;
        }
        let faults = Faults::before(store);
        let process = start_through(store, faults.module(), patience);
        let clock = Clock::system();
        let holder = ChildHolder::new(Arc::clone(&process), clock.clone());
        let keys = [made(&holder, 1), made(&holder, 2)];
        let old = [0, 1].map(|at: usize| seal(&holder, &keys[at], TEXTS[at]).unwrap());
        Some(Self {
            clock,
            faults,
            process,
            holder,
            keys,
            old,
        })
    }

    /// Seals and opens under both keys. Whether all was done; what was done is right, what was not is refused.
    fn work(&self) -> bool {
        let mut whole = true;
        for (at, (key, old)) in self.keys.iter().zip(&self.old).enumerate() {
            match open(&self.holder, key, old) {
                Ok(Ok(text)) => assert_eq!(text, TEXTS[at], "another text"),
                refusal => {
                    assert_refused(&refusal);
                    whole = false;
                }
            }
            match crate::scene::one(&self.holder, HolderOperation::Seal, key, b"new") {
                Ok(Ok(sealed)) => match open(&self.holder, key, &sealed) {
                    Ok(Ok(text)) => assert_eq!(text, b"new"),
                    refusal => {
                        assert_refused(&refusal);
                        whole = false;
                    }
                },
                refusal => {
                    assert_refused(&refusal);
                    whole = false;
                }
            }
        }
        // Never under the other key.
        let crossed = open(&self.holder, &self.keys[0], &self.old[1]);
        assert!(!matches!(crossed, Ok(Ok(_))), "keys were mixed up");
        whole
    }
}

fn assert_refused(refusal: &Result<Result<Vec<u8>, Code>, HolderError>) {
    match refusal {
        Err(HolderError::Unavailable | HolderError::KeyRejected | HolderError::Full) => {}
        Ok(Err(Code::HolderUnavailable)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_crash_in_any_call_costs_operations_until_the_token_is_back_and_nothing_else() {
    on_each(|store| {
        let Some(bench) = Bench::new(store) else {
            return;
        };
        for function in FUNCTIONS {
            for what in ["crash", "wild"] {
                let before = bench.process.id();
                bench.faults.plant(&format!("{function} 0 once {what}"));
                while bench.faults.waits() && bench.work() {
                    // What is known in this connection calls fewer functions: another connection calls them all.
                    let id = bench.process.id().unwrap();
                    crate::scene::kill(id);
                    within(BACK, || bench.process.id().is_some_and(|new| new != id));
                }
                assert!(!bench.faults.waits(), "{function} was not called");
                bench.faults.mend();
                within(BACK, || bench.work());
                assert_ne!(bench.process.id(), before, "{function} {what}");
            }
        }
    });
}

#[test]
fn a_hang_in_any_call_ends_with_the_patience_of_its_keeper() {
    on_each(|store| {
        let Some(bench) = Bench::new(store) else {
            return;
        };
        let clock = Clock::system();
        for function in ["C_EncryptInit", "C_Encrypt", "C_Decrypt", "C_DecryptInit"] {
            let before = bench.process.id();
            bench.faults.plant(&format!("{function} 0 once hang"));
            let begun = clock.monotonic();
            assert!(!bench.work(), "{function} did not hang");
            assert!(!bench.faults.waits());
            within(BACK, || bench.work());
            assert!(clock.monotonic().since(begun) >= PATIENCE);
            assert_ne!(bench.process.id(), before, "{function}");
        }
    });
}

#[test]
fn while_one_call_hangs_others_are_answered() {
    on_each(|store| {
        let Some(bench) = Bench::new(store) else {
            return;
        };
        bench.faults.plant("C_Encrypt 0 once stall 300");
        std::thread::scope(|threads| {
            let slow = threads.spawn(|| seal(&bench.holder, &bench.keys[0], b"x").is_ok());
            within(BACK, || !bench.faults.waits());
            for _ in 0..5 {
                let opened = open(&bench.holder, &bench.keys[1], &bench.old[1]);
                assert_eq!(opened, Ok(Ok(TEXTS[1].to_vec())));
            }
            assert!(slow.join().unwrap(), "it was only slow");
        });
    });
}

#[test]
fn an_answer_that_comes_after_its_deadline_is_not_waited_for_and_the_child_stays() {
    on_each(|store| {
        let Some(bench) = Bench::patient(store, LONGER) else {
            return;
        };
        let (clock, id) = (&bench.clock, bench.process.id());
        bench.faults.plant("C_Encrypt 0 once stall 3500");
        let soon = clock.monotonic().plus(SOON).nanos();
        let begun = clock.monotonic();
        let late = one_until(
            &bench.holder,
            HolderOperation::Seal,
            (&bench.keys[0], b"x"),
            soon,
        );
        assert_eq!(late, Err(HolderError::DeadlineExceeded));
        assert!(!bench.faults.waits(), "it was not asked");
        assert!(clock.monotonic().since(begun) < Duration::from_millis(3400));
        within(BACK, || bench.work());
        std::thread::sleep(LONGER + Duration::from_millis(200));
        assert_eq!(bench.process.id(), id, "its answer came, so it stays");
        assert!(bench.work());
    });
}

#[test]
fn a_late_answer_that_never_comes_ends_the_child() {
    on_each(|store| {
        let Some(bench) = Bench::patient(store, LONGER) else {
            return;
        };
        let (clock, id) = (&bench.clock, bench.process.id());
        bench.faults.plant("C_Encrypt 0 once hang");
        let soon = clock.monotonic().plus(SOON).nanos();
        let late = one_until(
            &bench.holder,
            HolderOperation::Seal,
            (&bench.keys[0], b"x"),
            soon,
        );
        assert_eq!(late, Err(HolderError::DeadlineExceeded));
        assert!(!bench.faults.waits(), "it was not asked");
        within(BACK, || bench.process.id() != id && bench.work());
    });
}

#[test]
fn a_call_that_fails_with_any_code_gives_no_wrong_answer_and_is_over_when_the_token_is_well() {
    on_each(|store| {
        let Some(bench) = Bench::new(store) else {
            return;
        };
        for function in FUNCTIONS {
            for code in CODES {
                bench
                    .faults
                    .plant(&format!("{function} 0 once fail {code}"));
                bench.work();
                bench
                    .faults
                    .plant(&format!("{function} 0 always fail {code}"));
                bench.work();
                bench.faults.mend();
                within(BACK, || bench.work());
            }
        }
    });
}

#[test]
fn a_key_that_is_made_while_the_module_crashes_is_made_whole_or_not_at_all() {
    on_each(|store| {
        let Some(bench) = Bench::new(store) else {
            return;
        };
        for (number, function) in [
            "C_GenerateKey",
            "C_EncryptInit",
            "C_Encrypt",
            "C_FindObjects",
        ]
        .into_iter()
        .enumerate()
        {
            let key = 10 + u8::try_from(number).unwrap();
            bench.faults.plant(&format!("{function} 0 once crash"));
            let made = try_made(&bench.holder, key);
            assert_eq!(made.map(drop), Err(HolderError::Unavailable), "{function}");
            bench.faults.mend();
            within(BACK, || bench.holder.probe().is_ok());
            // An object that the crash left behind is not taken for the new key.
            match try_made(&bench.holder, key) {
                Ok(key) => {
                    let sealed = seal(&bench.holder, &key, b"x").unwrap();
                    assert_eq!(open(&bench.holder, &key, &sealed), Ok(Ok(b"x".to_vec())));
                }
                Err(error) => assert_eq!(error, HolderError::Leftover, "{function}"),
            }
            assert!(bench.work());
        }
    });
}
