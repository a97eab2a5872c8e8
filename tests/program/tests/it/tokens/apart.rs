//! The token's module in a child process: its crash costs what is done in the token, for a moment, and nothing else.
//! And the same faults with the module in the service's process, as far as a process survives them.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{TokenProgram, run_tokens_as};
use keywright_tls::Protocol;
use keywright_tokens::{Faults, Kind, Store, on_each};

use super::scene::{VAULT, home_rooted, home_with, open, pin_file, try_seal, with_vault};
use crate::fixture::*;

/// How long a token may take to be back; where a module is not well for a while, what is asserted is ten times that.
const BACK: Duration = Duration::from_secs(5);

#[test]
#[ignore = "a role: the tests here start it, with a socket as its input"]
fn token_process() {
    // Started by hand it has no service, and says so.
    drop(keywright_home::run_token_process());
}

/// Nodes of this process start this program in the role above.
pub(crate) fn as_this_program() {
    let test = "tokens::apart::token_process";
    let words = ["--exact", test, "--include-ignored", "--nocapture"];
    run_tokens_as(TokenProgram {
        file: std::env::current_exe().unwrap(),
        words: words.map(Into::into).to_vec(),
    });
}

const CHILD: &str = "process = \"child\"\ncall_timeout_s = 1";

/// A home whose token has the module with faults in front of it.
fn faulty(store: &Store, more: &str) -> (Home, Faults) {
    let faults = Faults::before(store);
    let own = store.tokens()[0].module().display().to_string();
    let home = home_with(store, more).configure(&own, &faults.module().display().to_string());
    (home, faults)
}

fn within(limit: Duration, mut done: impl FnMut() -> bool) -> Duration {
    let clock = Clock::system();
    let begun = clock.monotonic();
    while !done() {
        let taken = clock.monotonic().since(begun);
        assert!(taken < limit * 10, "not done after {taken:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    clock.monotonic().since(begun)
}

/// The children of a process that run a token's module.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let about = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let mut words = about.rsplit(')').next()?.split_whitespace();
        let (state, above) = (words.next()?, words.next()?);
        (state != "Z" && above == parent.to_string()).then_some(id)
    });
    processes.collect()
}

fn lives(id: u32) -> bool {
    let about = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = about.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with('Z')
}

fn kill(id: u32) {
    let id = id.to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &id])
        .status();
    assert!(killed.unwrap().success());
}

/// What clients saw.
#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    good: AtomicU64,
    refused: AtomicU64,
    wrapped: AtomicU64,
}

impl Seen {
    /// In the token, until told to stop. Every answer is right or the stable refusal.
    fn in_token(&self, mut wire: Wire, old: &[u8]) {
        while !self.stop.load(Ordering::Relaxed) {
            let made = try_seal(&mut wire, VAULT, b"text");
            let opened = made.and_then(|sealed| open(&mut wire, VAULT, &sealed));
            let before = open(&mut wire, VAULT, old);
            for (result, expected) in [(opened, &b"text"[..]), (before, b"from before")] {
                match result {
                    Ok(text) => {
                        assert_eq!(text, expected);
                        self.good.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(code) => {
                        assert_eq!(code, "holder_unavailable");
                        self.refused.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
            }
        }
    }

    /// Under a key in memory, until told to stop. No answer is anything but right.
    fn in_memory(&self, mut wire: Wire) {
        while !self.stop.load(Ordering::Relaxed) {
            let sealed = try_seal(&mut wire, EXCHANGE, b"wrapped").unwrap();
            let opened = open(&mut wire, EXCHANGE, &sealed);
            assert_eq!(opened.as_deref(), Ok(&b"wrapped"[..]));
            self.wrapped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// In what time some answers came.
    fn goes_on(&self) -> Duration {
        let before = self.good.load(Ordering::Relaxed);
        within(BACK, || self.good.load(Ordering::Relaxed) > before + 8)
    }
}

/// W18: the module's memory errors cost the operations in the token, until it is back.
#[test]
fn a_child_that_is_killed_under_load_costs_token_operations_only_and_is_back() {
    on_each(|store| {
        as_this_program();
        let site = with_vault(Site::over(home_with(store, CHILD)));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let old = seal(&mut wire, VAULT, b"from before", b"");
        let seen = Seen::default();
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| seen.in_token(site.wire(TRADING, Protocol::Http2), &old));
            }
            threads.spawn(|| seen.in_memory(site.wire(TRADING, Protocol::Http2)));
            for _ in 0..3 {
                seen.goes_on();
                let wrapped = seen.wrapped.load(Ordering::Relaxed);
                let child = children(std::process::id());
                assert_eq!(child.len(), 1, "{child:?}");
                kill(child[0]);
                let gone = within(BACK, || {
                    let now = children(std::process::id());
                    now.len() == 1 && now != child
                });
                let back = gone + seen.goes_on();
                assert!(back < BACK, "back after {back:?}");
                assert!(seen.wrapped.load(Ordering::Relaxed) > wrapped);
            }
            seen.stop.store(true, Ordering::Relaxed);
        });
        assert!(seen.refused.load(Ordering::Relaxed) > 0, "nobody noticed");
        within(BACK, || wire.get("/v1/health").json()["status"] == "ready");
        drop(wire);
        let home = site.stop();
        within(BACK, || children(std::process::id()).is_empty());
        home.verify();
        let refused: Vec<_> = home
            .requests()
            .into_iter()
            .filter(|record| record["outcome"] != "ok")
            .collect();
        assert!(!refused.is_empty());
        for record in refused {
            assert_eq!(record["outcome"], "holder_unavailable", "{record}");
        }
    });
}

/// Where the module of a test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Here,
    Apart,
}

impl Where {
    const fn line(self) -> &'static str {
        match self {
            Self::Here => "session_copies = false",
            Self::Apart => "session_copies = false\nprocess = \"child\"\ncall_timeout_s = 1",
        }
    }
}

/// Every fault that a process survives: no wrong answer, a stable code, no key mixed up, back when it is over.
fn survives(store: &Store, place: Where, faults_in_words: &[&str]) {
    if store.kind() != Kind::SoftHsm {
        return;
    }
    as_this_program();
    let (home, faults) = faulty(store, place.line());
    let site = with_vault(Site::over(home));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let old = seal(&mut wire, VAULT, b"from before", b"");
    let wrapped = seal(&mut wire, EXCHANGE, b"wrapped", b"");
    for words in faults_in_words {
        faults.plant(words);
        for _ in 0..3 {
            match open(&mut wire, VAULT, &old) {
                Ok(text) => assert_eq!(text, b"from before", "{words}"),
                Err(code) => assert!(stable(&code), "{words}: {code}"),
            }
            match try_seal(&mut wire, VAULT, b"new") {
                Ok(sealed) => match open(&mut wire, VAULT, &sealed) {
                    Ok(text) => assert_eq!(text, b"new", "{words}"),
                    Err(code) => assert!(stable(&code), "{words}: {code}"),
                },
                Err(code) => assert!(stable(&code), "{words}: {code}"),
            }
            // A key in memory needs no token.
            let opened = open(&mut wire, EXCHANGE, &wrapped);
            assert_eq!(opened.as_deref(), Ok(&b"wrapped"[..]), "{words}");
        }
        faults.mend();
        within(BACK, || {
            open(&mut wire, VAULT, &old).as_deref() == Ok(&b"from before"[..])
                && try_seal(&mut wire, VAULT, b"x").is_ok()
        });
    }
    drop(wire);
    let home = site.stop();
    home.verify();
    // What was refused is told by its code, and no record says of a refusal that it was an answer.
    for record in home.requests() {
        let outcome = record["outcome"].as_str().unwrap();
        assert!(outcome == "ok" || stable(outcome), "{record}");
    }
}

/// Never `decryption_failed`: a token that has one code for itself and for a ciphertext that does not open is asked for
/// the key's check value, and once more.
fn stable(code: &str) -> bool {
    ["holder_unavailable", "deadline_exceeded"].contains(&code)
}

/// CKR_DEVICE_ERROR, _GENERAL_ERROR, _SESSION_HANDLE_INVALID, _KEY_HANDLE_INVALID, _DEVICE_REMOVED.
const FAILS: [&str; 10] = [
    "C_Encrypt 0 once fail 48",
    "C_Encrypt 0 always fail 48",
    "C_EncryptInit 0 always fail 96",
    "C_Decrypt 0 once fail 5",
    "C_Decrypt 0 always fail 5",
    "C_DecryptInit 0 always fail 179",
    "C_OpenSession 0 always fail 50",
    "C_FindObjectsInit 0 always fail 48",
    "C_GetSessionInfo 0 always fail 179",
    "* 0 always fail 50",
];

#[test]
fn calls_that_fail_in_this_process_give_no_wrong_answer_and_the_token_is_back() {
    on_each(|store| survives(store, Where::Here, &FAILS));
}

#[test]
fn calls_that_fail_in_a_child_give_no_wrong_answer_and_the_token_is_back() {
    on_each(|store| survives(store, Where::Apart, &FAILS));
}

#[test]
fn calls_that_take_their_time_in_this_process_hold_up_no_other_context() {
    let slow = ["C_Encrypt 0 once stall 400", "C_Decrypt 0 once stall 400"];
    on_each(|store| survives(store, Where::Here, &slow));
}

/// W18.
#[test]
fn calls_that_crash_or_hang_in_a_child_give_no_wrong_answer_and_the_token_is_back() {
    let faults = [
        "C_Encrypt 0 once crash",
        "C_EncryptInit 0 once wild",
        "C_Decrypt 0 once wild",
        "C_DecryptInit 1 once crash",
        "C_GetSessionInfo 0 once wild",
        "C_Encrypt 0 once hang",
        "C_DecryptInit 0 once hang",
        "C_GetSessionInfo 0 once hang",
    ];
    on_each(|store| survives(store, Where::Apart, &faults));
}

#[test]
fn an_order_whose_module_crashes_changes_nothing_and_works_when_it_is_back() {
    on_each(|store| {
        use super::scene::{rotate, states};
        if store.kind() != Kind::SoftHsm {
            return;
        }
        as_this_program();
        let (home, faults) = faulty(store, CHILD);
        let site = with_vault(Site::over(home));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let old = seal(&mut wire, VAULT, b"old", b"");
        faults.plant("C_GenerateKey 0 once crash");
        assert!(rotate(&site, VAULT).is_err());
        assert_eq!(states(&site, VAULT).len(), 1);
        within(BACK, || rotate(&site, VAULT).is_ok());
        assert_eq!(states(&site, VAULT).len(), 2);
        assert_eq!(open(&mut wire, VAULT, &old).as_deref(), Ok(&b"old"[..]));
        drop(wire);
        site.stop().verify();
    });
}

#[test]
fn a_crash_loop_is_told_by_health_and_metrics_and_is_over_when_the_module_is_well() {
    on_each(|store| {
        if store.kind() != Kind::SoftHsm {
            return;
        }
        as_this_program();
        let (home, faults) = faulty(store, CHILD);
        let site = with_vault(Site::over(home));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        faults.plant("C_Initialize 0 always crash");
        kill(children(std::process::id())[0]);
        within(BACK, || wire.get("/v1/health").status == 503);
        let health = wire.get("/v1/health").json();
        assert_eq!(health["holder"], "failed", "{health}");
        let refused = wire.post(&path(VAULT, "encrypt"), item(&[("plaintext", b"x")]));
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (503, "holder_unavailable")
        );
        assert!(refused.header("retry-after").is_some());
        // Metrics say what was seen when it was last looked at.
        within(BACK, || {
            let metrics = wire.get("/metrics");
            let text = String::from_utf8_lossy(&metrics.body).into_owned();
            [
                "keywright_ready 0",
                "keywright_component_up{component=\"holder\"} 0",
            ]
            .iter()
            .all(|told| text.lines().any(|line| line == *told))
        });
        faults.mend();
        within(BACK, || try_seal(&mut wire, VAULT, b"x").is_ok());
        within(BACK, || wire.get("/v1/health").json()["status"] == "ready");
        drop(wire);
        site.stop().verify();
    });
}

#[test]
fn a_root_key_in_a_childs_token_opens_the_home_and_keys_in_memory_outlive_the_child() {
    on_each(|store| {
        as_this_program();
        let home = home_rooted(store)
            .configure("process = \"service\"", "process = \"child\"")
            .configure("call_timeout_s = 10", "call_timeout_s = 1");
        let site = Site::over(home);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = seal(&mut wire, EXCHANGE, b"x", b"");
        let child = children(std::process::id());
        kill(child[0]);
        for _ in 0..50 {
            let opened = open(&mut wire, EXCHANGE, &sealed);
            assert_eq!(opened.as_deref(), Ok(&b"x"[..]));
        }
        within(BACK, || wire.get("/v1/health").json()["status"] == "ready");
        drop(wire);
        site.stop().verify();
    });
}

/// A node as a process of its own, whose child is that program too.
fn served(store: &Store, home: &Home) -> Served {
    let (variable, value) = store.environment();
    let mut command = Served::command(&home.path());
    Served::run(command.env(variable, value))
}

#[test]
fn a_node_that_is_killed_leaves_no_child_and_one_that_stops_ends_it() {
    on_each(|store| {
        as_this_program();
        let site = with_vault(Site::over(home_with(store, CHILD)));
        let home = site.stop();
        let node = served(store, &home);
        let child = children(node.id());
        assert_eq!(child.len(), 1, "{child:?}");
        node.kill();
        within(BACK, || !lives(child[0]));
        let node = served(store, &home);
        let child = children(node.id());
        kill(child[0]);
        within(BACK, || {
            let now = children(node.id());
            now.len() == 1 && now != child
        });
        // There is a child before its token is open.
        let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
        let mut wire = Wire::connect(node.address, tls).unwrap();
        within(BACK, || try_seal(&mut wire, VAULT, b"x").is_ok());
        drop(wire);
        let child = children(node.id());
        let told = node.stop();
        assert!(!lives(child[0]));
        assert!(told.contains("the token's process ended"), "{told}");
        assert!(told.contains("the token's process is back"), "{told}");
        home.verify();
    });
}

#[test]
fn a_child_that_cannot_open_the_token_keeps_the_node_from_starting_and_says_why() {
    on_each(|store| {
        as_this_program();
        let refusal = |home: &Home| home.open().map(drop).unwrap_err().to_string();
        let home = home_with(store, CHILD);
        let label = format!("label = {:?}", store.tokens()[0].label());
        let other = home_with(store, CHILD).configure(&label, "label = \"another\"");
        assert!(refusal(&other).contains("no token matches"));
        let pin = pin_file(store);
        let right = fs::read(&pin).unwrap();
        fs::write(&pin, "wrong-9999\n").unwrap();
        let told = refusal(&home);
        assert!(
            told.contains("C_Login") && !told.contains("wrong-9999"),
            "{told}"
        );
        fs::write(&pin, "\n").unwrap();
        assert!(refusal(&home).contains("is empty"));
        fs::write(&pin, &right).unwrap();
        home.open().unwrap();
        for wrong in ["call_timeout_s = 0", "call_timeout_s = 601"] {
            let home = home_with(store, wrong);
            assert!(refusal(&home).contains("token.call_timeout_s"));
        }
        let home = home_with(store, "process = \"thread\"");
        assert!(refusal(&home).contains("process"));
    });
}
