//! An orderly stop under load: what was accepted is answered and recorded, nothing is answered in half.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use keywright_encoding::base64;
use keywright_envelope::Envelope;
use keywright_holders::Slow;
use keywright_tls::Protocol;
use serde_json::Value;

use crate::fixture::*;

/// The message ids of answered requests until the server says goodbye.
fn until_goodbye(mut wire: Wire, stopping: &AtomicBool) -> BTreeSet<String> {
    let mut answered = BTreeSet::new();
    loop {
        let body = item(&[("plaintext", b"under way")]);
        match wire.send(Method::POST, &path(EXCHANGE, "encrypt"), body) {
            Ok(got) if got.status == 200 => {
                let sealed = got.binary("ciphertext");
                let id = Envelope::parse(&sealed).unwrap().message_id();
                answered.insert(keywright_encoding::hex::encode(id.as_bytes()));
            }
            // A refusal must be whole, too.
            Ok(got) => assert_eq!(got.code(), "shutting_down"),
            Err(error) => {
                assert!(stopping.load(Ordering::SeqCst), "before the stop: {error}");
                let whole = [
                    "canceled",
                    "closed",
                    "GOAWAY",
                    "not a result of an error",
                    "not ready",
                ];
                assert!(
                    whole.iter().any(|word| error.contains(word)),
                    "cut in half: {error}"
                );
                return answered;
            }
        }
    }
}

/// Stops a site while eight clients use it.
fn stop_under_load(site: Site) -> (BTreeSet<String>, Home) {
    let stopping = AtomicBool::new(false);
    let wires: Vec<_> = (0..8).map(|n| site.wire(TRADING, BOTH[n % 2])).collect();
    std::thread::scope(|scope| {
        let stopping = &stopping;
        let clients: Vec<_> = wires
            .into_iter()
            .map(|wire| scope.spawn(move || until_goodbye(wire, stopping)))
            .collect();
        std::thread::sleep(Duration::from_millis(700));
        stopping.store(true, Ordering::SeqCst);
        let home = site.stop();
        let answered = clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect();
        (answered, home)
    })
}

fn check((answered, home): (BTreeSet<String>, Home)) {
    assert!(answered.len() > 8, "{}", answered.len());
    let recorded: BTreeSet<String> = home
        .requests()
        .iter()
        .filter(|record| record["outcome"] == "ok")
        .filter_map(|record| {
            field(record, "message-id")
                .and_then(Value::as_str)
                .map(str::to_owned)
        })
        .collect();
    assert_eq!(recorded, answered, "answers and records are the same");
    let report = home.verify();
    assert_eq!(
        (report.unsigned, report.cut),
        (0, 0),
        "the last head states everything"
    );
    home.open().unwrap().shutdown().unwrap();
}

#[test]
fn a_stop_under_load_answers_and_records_what_it_accepted() {
    check(stop_under_load(Site::start()));
}

#[test]
fn a_stop_waits_for_a_holder_that_is_slow() {
    let slow = |holder| Arc::new(Slow::new(holder, Duration::from_millis(50))) as Arc<_>;
    check(stop_under_load(Site::with_holder(Home::demo(), slow)));
}

#[test]
fn a_batch_that_is_running_at_the_stop_comes_whole() {
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let slow =
        |holder| Arc::new(Slow::counted(holder, Duration::from_millis(800), counted)) as Arc<_>;
    let site = Site::with_holder(Home::demo(), slow);
    let mut wire = site.wire(TRADING, Protocol::Http1);
    let asked = std::thread::spawn(move || {
        let one = item(&[("plaintext", b"x")]);
        wire.post(
            &path(EXCHANGE, "encrypt"),
            batch((0..5000).map(|_| one.clone())),
        )
    });
    while begun.load(Ordering::Relaxed) == 0 {
        assert!(!asked.is_finished(), "it was not given to the holder");
        std::thread::sleep(Duration::from_millis(10));
    }
    let home = site.stop();
    let got = asked.join().unwrap();
    assert_eq!(got.status, 200);
    let items = got.json()["items"].as_array().unwrap().len();
    let last = got.json()["items"][items - 1]["ciphertext"]
        .as_str()
        .map(base64::decode);
    assert!(items == 5000 && last.unwrap().is_ok());
    assert_eq!(home.requests()[0]["items"], 5000);
}

#[test]
fn a_node_whose_control_socket_was_deleted_still_stops() {
    let site = Site::start();
    std::fs::remove_file(site.home.path().join(keywright_home::control::SOCKET)).unwrap();
    let (done, stopped) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(site.stop()));
    let home = stopped
        .recv_timeout(Duration::from_secs(10))
        .expect("the stop hangs");
    home.verify();
}
