//! Work that takes the processor long runs beside the server's threads, in a line of its own that is bounded.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use keywright_home::{Answer, Order};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_tls::Protocol;
use keywright_types::{Algorithm, BindingKind, KeySpec, Operation, Purpose};

use crate::fixture::*;

const SLOW: &str = "slow";
const QUICK: &str = "quick";
/// So many signatures of RSA-4096 take seconds wherever this runs, and a hundred small requests do not.
const MANY: usize = 500;

/// One server thread, one thread for long work, and this much room in front of it.
fn site(queue: usize, more: (&str, &str)) -> Site {
    let home = Home::demo()
        .configure("threads = 0", "threads = 1")
        .configure("long_threads = 0", "long_threads = 1")
        .configure("long_queue = 128", &format!("long_queue = {queue}"))
        .configure(more.0, more.1);
    let site = Site::over(home);
    for (context, algorithm) in [(SLOW, Algorithm::Rsa4096Pss), (QUICK, Algorithm::EcdsaP256)] {
        let made = site.node().carry_out(Order::ContextCreate {
            tenant: name("default"),
            name: name(context),
            binding: BindingKind::None,
            spec: KeySpec {
                purpose: Purpose::Sign,
                algorithm,
                ..KeySpec::seal()
            },
            rules: keywright_custody::Rules::default(),
            detail: None,
            secret: None,
        });
        assert!(
            matches!(made, Ok(Answer::ContextCreated { .. })),
            "{made:?}"
        );
    }
    site.change_policy(|document| {
        document.grants.push(Grant {
            tenant: name("default"),
            principals: vec![name(TRADING)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: vec![Operation::Sign, Operation::Verify],
            contexts: [SLOW, QUICK]
                .map(|one| ContextPattern::Exact(name(one)))
                .to_vec(),
            paths: Vec::new(),
        });
    });
    site
}

const NOTHING: (&str, &str) = ("version = 1", "version = 1");

fn single() -> String {
    item(&[("message", b"order 4711")])
}

fn many(items: usize) -> String {
    batch((0..items).map(|_| single()))
}

/// Whether all of so many items are done.
fn all_done(got: &Got, items: usize) -> bool {
    let json = got.json();
    let results = json["items"].as_array();
    results.is_some_and(|results| {
        results.len() == items && results.iter().all(|one| one["signature"].is_string())
    })
}

#[test]
fn while_long_batches_run_small_requests_on_the_same_core_are_answered() {
    let site = site(8, NOTHING);
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let batches: Vec<_> = (0..2)
            .map(|_| {
                let (mut wire, done) = (site.wire(TRADING, Protocol::Http2), &done);
                scope.spawn(move || {
                    let got = wire.post(&path(SLOW, "sign"), many(MANY));
                    done.fetch_add(1, Ordering::SeqCst);
                    all_done(&got, MANY)
                })
            })
            .collect();
        let mut wire = site.wire(TRADING, Protocol::Http2);
        while done.load(Ordering::SeqCst) == 0 {
            seal(&mut wire, EXCHANGE, b"x", b"");
        }
        // The second batch begins where the first has ended, and is as long: some hundreds of these on a quiet machine.
        for _ in 0..5 {
            seal(&mut wire, EXCHANGE, b"x", b"");
            assert_eq!(wire.post(&path(QUICK, "sign"), single()).code(), "ok");
        }
        assert_eq!(
            done.load(Ordering::SeqCst),
            1,
            "small requests waited for a batch"
        );
        assert!(batches.into_iter().all(|one| one.join().unwrap()));
    });
    site.stop().verify();
}

#[test]
fn where_the_line_is_full_long_work_is_refused_at_once_and_short_work_goes_on() {
    const ASKED: usize = 5;
    let site = site(1, NOTHING);
    let ended = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..ASKED {
            let (mut wire, ended) = (site.wire(TRADING, Protocol::Http2), &ended);
            scope.spawn(move || {
                let got = wire.post(&path(SLOW, "sign"), many(MANY));
                let again = got.header("retry-after").is_some();
                ended.lock().unwrap().push((got.code(), got.status, again));
            });
        }
        let mut wire = site.wire(TRADING, Protocol::Http2);
        while ended.lock().unwrap().is_empty() {
            assert_eq!(wire.post(&path(QUICK, "sign"), single()).code(), "ok");
        }
    });
    let ended = ended.into_inner().unwrap();
    let served = ended.iter().filter(|(code, ..)| code == "ok").count();
    // One is at work and one waits; the thread may not have taken the first when the others come.
    assert!((1..=2).contains(&served), "{ended:?}");
    let refused = ("overloaded".to_owned(), 503, true);
    // Nobody who is refused has waited for anybody who is served.
    assert!(
        ended[..ASKED - served].iter().all(|one| *one == refused),
        "{ended:?}"
    );
    let home = site.stop();
    let recorded = home.requests();
    let of = |code: &str| recorded.iter().filter(|one| one["outcome"] == code).count();
    assert_eq!(of("overloaded"), ASKED - served);
    home.verify();
}

#[test]
fn a_batch_that_nobody_waits_for_any_more_gives_its_thread_back() {
    let site = site(4, ("request_timeout_s = 60", "request_timeout_s = 2"));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    // Half a minute of work, of which two seconds are waited for.
    let got = wire.post(&path(SLOW, "sign"), many(10_000));
    assert_eq!(got.code(), "deadline_exceeded");
    let got = wire.post(&path(SLOW, "sign"), single());
    assert_eq!(got.code(), "ok", "{got:?}");
    site.stop().verify();
}
