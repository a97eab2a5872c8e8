//! The child's life: killed under load, killed in a loop, ended with its keeper; and what of it can be seen.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::{HolderError, KeyHolder as _};
use keywright_token_process::{Cause, Notice};
use keywright_tokens::{Faults, Kind, USER_PIN, on_each};

use crate::scene::{
    BACK, holder, kill, lives, made, open, seal, settings, start, start_through, within,
};

#[test]
fn a_child_that_is_killed_under_load_is_back_within_its_time_and_nothing_is_wrong() {
    on_each(|store| {
        let process = start(settings(store));
        let holder = holder(&process);
        let key = made(&holder, 1);
        let old = seal(&holder, &key, b"from before").unwrap();
        let (stop, good, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let opened = open(&holder, &key, &old);
                        match opened {
                            Ok(text) => {
                                assert_eq!(text, Ok(b"from before".to_vec()));
                                good.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(error) => {
                                assert_eq!(error, HolderError::Unavailable);
                                refused.fetch_add(1, Ordering::Relaxed);
                                std::thread::sleep(Duration::from_millis(5));
                            }
                        }
                    }
                });
            }
            for _ in 0..3 {
                let before = good.load(Ordering::Relaxed);
                within(BACK, || good.load(Ordering::Relaxed) > before + 8);
                let id = process.id().unwrap();
                kill(id);
                let back = within(BACK, || process.id().is_some_and(|new| new != id));
                assert!(back < BACK, "back after {back:?}");
                assert!(!lives(id));
            }
            let before = good.load(Ordering::Relaxed);
            within(BACK, || good.load(Ordering::Relaxed) > before + 8);
            stop.store(true, Ordering::Relaxed);
        });
        assert!(refused.into_inner() > 0, "nobody noticed");
        let sealed = seal(&holder, &key, b"after").unwrap();
        assert_eq!(open(&holder, &key, &sealed), Ok(Ok(b"after".to_vec())));
    });
}

#[test]
fn an_idle_child_that_is_killed_is_there_again_before_anybody_asks() {
    on_each(|store| {
        let process = start(settings(store));
        let told = Arc::new(Mutex::new(Vec::new()));
        let notices = Arc::clone(&told);
        process.tell(Box::new(move |notice| {
            notices.lock().unwrap().push(notice.clone());
        }));
        let id = process.id().unwrap();
        kill(id);
        within(BACK, || process.id().is_some_and(|new| new != id));
        within(BACK, || {
            *told.lock().unwrap() == [Notice::Lost(Cause::Ended), Notice::Back]
        });
        holder(&process).probe().unwrap();
    });
}

#[test]
fn a_child_that_cannot_start_again_is_tried_ever_more_seldom_and_comes_back_when_it_can() {
    on_each(|store| {
        if store.kind() != Kind::SoftHsm {
            return;
        }
        let faults = Faults::before(store);
        let process = start_through(store, faults.module(), Duration::from_secs(10));
        let holder = holder(&process);
        let key = made(&holder, 1);
        let old = seal(&holder, &key, b"old").unwrap();
        let tries = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&tries);
        process.tell(Box::new(move |notice| {
            if matches!(notice, Notice::NotBack(_)) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        }));
        faults.plant("C_Initialize 0 always crash");
        kill(process.id().unwrap());
        within(BACK, || tries.load(Ordering::Relaxed) >= 2);
        let (clock, before) = (Clock::system(), tries.load(Ordering::Relaxed));
        let begun = clock.monotonic();
        while clock.monotonic().since(begun) < Duration::from_secs(2) {
            // Whoever asks is told at once, and starts nothing.
            let asked = clock.monotonic();
            assert_eq!(seal(&holder, &key, b"x"), Err(HolderError::Unavailable));
            assert!(clock.monotonic().since(asked) < Duration::from_secs(5));
            std::thread::sleep(Duration::from_millis(20));
        }
        let more = tries.load(Ordering::Relaxed) - before;
        assert!(more <= 5, "{more} starts in two seconds");
        faults.mend();
        within(BACK, || holder.probe().is_ok());
        assert_eq!(open(&holder, &key, &old), Ok(Ok(b"old".to_vec())));
    });
}

#[test]
fn a_log_in_that_is_refused_is_not_tried_again() {
    on_each(|store| {
        if store.kind() != Kind::SoftHsm {
            return;
        }
        let faults = Faults::before(store);
        let process = start_through(store, faults.module(), Duration::from_secs(10));
        let told = Arc::new(Mutex::new(Vec::new()));
        let notices = Arc::clone(&told);
        process.tell(Box::new(move |notice| {
            notices.lock().unwrap().push(notice.clone());
        }));
        // CKR_PIN_INCORRECT
        faults.plant("C_Login 0 always fail 160");
        kill(process.id().unwrap());
        within(BACK, || {
            matches!(told.lock().unwrap().last(), Some(Notice::Refused(_)))
        });
        faults.mend();
        std::thread::sleep(Duration::from_millis(600));
        assert_eq!(holder(&process).probe(), Err(HolderError::Unavailable));
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 2, "{told:?}");
        let Some(Notice::Refused(why)) = told.last() else {
            panic!("{told:?}");
        };
        assert!(
            why.contains("CKR_PIN_INCORRECT") && !why.contains(USER_PIN),
            "{why}"
        );
    });
}

#[test]
fn a_child_ends_with_its_keeper() {
    on_each(|store| {
        let process = start(settings(store));
        let holder = holder(&process);
        holder.probe().unwrap();
        let id = process.id().unwrap();
        drop((process, holder));
        assert!(!lives(id));
    });
}

#[test]
fn a_child_whose_module_hangs_ends_with_its_keeper_all_the_same() {
    on_each(|store| {
        if store.kind() != Kind::SoftHsm {
            return;
        }
        let faults = Faults::before(store);
        let process = start_through(store, faults.module(), Duration::from_secs(30));
        let holder = Arc::new(holder(&process));
        let id = process.id().unwrap();
        faults.plant("C_Finalize 0 always hang");
        drop((process, holder));
        assert!(!lives(id));
    });
}

#[test]
fn the_pin_is_in_no_place_where_others_look_and_no_core_is_written() {
    on_each(|store| {
        let process = start(settings(store));
        let id = process.id().unwrap();
        let read = |name: &str| std::fs::read(format!("/proc/{id}/{name}")).unwrap_or_default();
        for name in ["cmdline", "environ", "comm"] {
            let text = read(name);
            let found = text
                .windows(USER_PIN.len())
                .any(|part| part == USER_PIN.as_bytes());
            assert!(!found, "the PIN is in {name}");
        }
        let limits = String::from_utf8(read("limits")).unwrap();
        let core = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"));
        let words: Vec<_> = core.unwrap().split_whitespace().collect();
        assert_eq!(words[4..6], ["0", "0"], "{words:?}");
        // A signal to the service's group is not for it, and a polite one it leaves to the service.
        let polite = std::process::Command::new("kill")
            .args(["-TERM", &id.to_string()])
            .status();
        assert!(polite.unwrap().success());
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(process.id(), Some(id));
        holder(&process).probe().unwrap();
    });
}
