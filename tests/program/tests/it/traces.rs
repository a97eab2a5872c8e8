//! Traces by option: what a collector is told of real requests, what it is not, and that no collector, whatever it does,
//! is felt by a caller.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use keywright_clock::Clock;
use keywright_holders::Slow;
use keywright_home::{Finding, HomeError};
use keywright_network::collector::{Collector, Manners, TAKES};
use keywright_tls::Protocol;
use serde_json::Value;

use crate::fixture::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A home whose node sends to this collector, with more in the section.
pub(crate) fn telling(home: Home, collector: &Collector, more: &str) -> Home {
    let section = format!(
        "[telemetry]\nendpoint = \"http://{}\"\n{more}\n\n[log]",
        collector.address()
    );
    home.configure("[log]", &section)
}

/// One span, its attributes by name.
struct Told {
    span: Value,
    attributes: BTreeMap<String, String>,
}

impl Told {
    fn is(&self, key: &str, value: &str) {
        let said = self.attributes.get(key).map(String::as_str);
        assert_eq!(said, Some(value), "{key}: {:?}", self.attributes);
    }

    fn lacks(&self, key: &str) {
        assert!(!self.attributes.contains_key(key), "{:?}", self.attributes);
    }

    fn nanos(&self, key: &str) -> u64 {
        self.span[key].as_str().unwrap().parse().unwrap()
    }
}

fn attributes(all: &Value) -> BTreeMap<String, String> {
    let all = all.as_array().unwrap().iter();
    let all = all.map(|one| {
        let value = one["value"].as_object().unwrap().values().next().unwrap();
        let key = one["key"].as_str().unwrap();
        (key.to_owned(), value.as_str().unwrap().to_owned())
    });
    all.collect()
}

/// Every span that came, in order.
fn told(collector: &Collector) -> Vec<Told> {
    let mut all = Vec::new();
    for received in collector.received() {
        let body: Value = serde_json::from_slice(&received.body).unwrap();
        let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        all.extend(spans.as_array().unwrap().iter().map(|span| Told {
            attributes: attributes(&span["attributes"]),
            span: span.clone(),
        }));
    }
    all
}

fn traced(wire: &Wire, path: &str, parent: &str, body: String) -> Request<Full<Bytes>> {
    let request = wire.request(Method::POST, path);
    let request = request.header("traceparent", parent);
    request.body(Full::new(body.into())).unwrap()
}

fn recorded() -> String {
    format!("00-{TRACE}-{PARENT}-01")
}

fn one() -> String {
    item(&[("plaintext", b"x")])
}

#[test]
fn a_span_has_the_callers_trace_and_what_the_record_says() {
    let collector = Collector::start(TAKES);
    let more = "ratio = 0.0\nparents_per_s = 1000\nservice_name = \"keys\"\nresource = { \"deployment.environment.name\" = \"test\" }";
    let site = Site::over(telling(Home::demo(), &collector, more));
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let path = path(EXCHANGE, "encrypt");
        let batch = batch([one(), "{\"plaintext\":\"!\"}".to_owned(), one()]);
        for body in [one(), batch, "{}".to_owned()] {
            let request = traced(&wire, &path, &recorded(), body);
            wire.send_request(request).unwrap();
        }
        // No parent, and nothing left to chance.
        wire.post(&path, one());
    }
    let requests = site.stop().requests();
    let told = told(&collector);
    assert_eq!((told.len(), requests.len()), (6, 8));
    let mut ids: Vec<_> = told
        .iter()
        .map(|one| one.span["spanId"].to_string())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6, "{ids:?}");
    for one in &told {
        let record = requests.iter().find(|record| {
            let id = one.attributes.get("keywright.request");
            record["request"].as_str() == id.map(String::as_str)
        });
        let record = record.unwrap_or_else(|| panic!("{:?}", one.attributes));
        assert_eq!(one.span["traceId"], TRACE);
        assert_eq!(one.span["parentSpanId"], PARENT);
        assert_ne!(one.span["spanId"], PARENT);
        assert_eq!(one.span["name"], "/v1/contexts/{context}/encrypt");
        assert_eq!(one.span["kind"], 2);
        one.is("http.route", "/v1/contexts/{context}/encrypt");
        one.is("http.request.method", "POST");
        one.is("keywright.operation", record["operation"].as_str().unwrap());
        one.is("keywright.code", record["outcome"].as_str().unwrap());
        one.is("keywright.items", &record["items"].to_string());
        assert!(one.nanos("startTimeUnixNano") <= one.nanos("endTimeUnixNano"));
    }
    for (place, status, items, failed) in [
        (0, "200", "1", "0"),
        (1, "200", "3", "1"),
        (2, "400", "0", "0"),
    ] {
        for one in [&told[place], &told[place + 3]] {
            one.is("http.response.status_code", status);
            one.is("keywright.items", items);
            one.is("keywright.items.failed", failed);
        }
    }
    told[2].lacks("keywright.holder_ns");
    let body: Value = serde_json::from_slice(&collector.received()[0].body).unwrap();
    let whose = attributes(&body["resourceSpans"][0]["resource"]["attributes"]);
    assert_eq!(whose["service.name"], "keys");
    assert_eq!(whose["service.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(whose["deployment.environment.name"], "test");
}

#[test]
fn names_are_templates_and_what_leads_nowhere_has_none() {
    let collector = Collector::start(TAKES);
    let home = telling(Home::demo(), &collector, "ratio = 1.0");
    let home = home.configure("vault_transit = false", "vault_transit = true");
    let home = home.configure("seed = false", "seed = true");
    let site = Site::over(home);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let asked = [
        (
            Method::POST,
            "/v1/contexts/secret-name/encrypt",
            "/v1/contexts/{context}/encrypt",
        ),
        (
            Method::POST,
            "/v1/transit/encrypt/secret-name",
            "/v1/transit/encrypt/{name}",
        ),
        (Method::GET, "/v1/health", "/v1/health"),
        (Method::POST, "/decrypt", "/decrypt"),
        (Method::GET, "/decrypt", "unrouted"),
        (Method::GET, "/v1/secret-name", "unrouted"),
        (Method::GET, "/v1/transit/secret-name/x", "unrouted"),
        (Method::DELETE, "/v1/health", "unrouted"),
    ];
    let statuses = asked.clone().map(|(method, path, _)| {
        let got = wire.send(method, path, one()).unwrap();
        got.status.to_string()
    });
    assert!(statuses.contains(&"200".to_owned()) && statuses.contains(&"405".to_owned()));
    let odd = Method::from_bytes(b"SECRETNAME").unwrap();
    wire.send(odd, "/v1/health", "").unwrap();
    site.stop();
    let told = told(&collector);
    assert_eq!(told.len(), asked.len() + 1);
    for ((one, status), (method, path, name)) in told.iter().zip(&statuses).zip(&asked) {
        assert_eq!(one.span["name"], *name, "{path}");
        one.is("http.request.method", method.as_str());
        one.is("http.response.status_code", status);
        // Its own trace, which nobody else began.
        assert_eq!(one.span["traceId"], one.attributes["keywright.request"]);
        assert!(one.span.get("parentSpanId").is_none());
        match *name {
            "unrouted" => one.lacks("http.route"),
            name => one.is("http.route", name),
        }
    }
    told[asked.len()].is("http.request.method", "_OTHER");
    for received in collector.received() {
        let text = String::from_utf8(received.body).unwrap().to_lowercase();
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn phases_are_those_that_the_holder_took_and_a_request_that_was_given_up_says_so() {
    let collector = Collector::start(TAKES);
    let home = telling(Home::demo(), &collector, "ratio = 1.0");
    let wait = Duration::from_millis(400);
    let site = Site::with_holder(home, |holder| Arc::new(Slow::new(holder, wait)));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let got = wire.post(&path(EXCHANGE, "encrypt"), one());
    assert_eq!(got.status, 200);
    // Nobody waits for the second: its client goes away while the holder works.
    let tls = site
        .home
        .tls(Some(site.home.identity(TRADING)), Protocol::Http1);
    let whole = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{}",
        path(EXCHANGE, "encrypt"),
        one().len(),
        one()
    );
    let short = Duration::from_millis(100);
    assert!(raw(site.address(), tls, whole.as_bytes(), short).is_none());
    site.stop();
    let told = told(&collector);
    assert_eq!(told.len(), 2);
    let held: u64 = told[0].attributes["keywright.holder_ns"].parse().unwrap();
    let took = told[0].nanos("endTimeUnixNano") - told[0].nanos("startTimeUnixNano");
    assert!(held >= 400_000_000 && took >= held, "{held} of {took}");
    assert!(told[0].attributes.contains_key("keywright.queue_ns"));
    told[1].is("keywright.code", "interrupted");
    told[1].lacks("http.response.status_code");
    assert_eq!(told[1].span["status"]["code"], 2);
}

#[test]
fn a_stream_has_one_span_that_ends_with_it() {
    let collector = Collector::start(TAKES);
    let site = Site::over(telling(Home::demo(), &collector, "ratio = 1.0"));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let got = wire.post(&path(EXCHANGE, "encrypt/stream"), vec![7; 1 << 20]);
    assert_eq!(got.status, 200);
    wire.post(&path("nobody", "encrypt/stream"), "x");
    site.stop();
    let told = told(&collector);
    assert_eq!(told.len(), 2);
    for (one, code, status) in [
        (&told[0], "ok", "200"),
        (&told[1], "context_not_found", "404"),
    ] {
        assert_eq!(one.span["name"], "/v1/contexts/{context}/encrypt/stream");
        one.is("keywright.operation", "encrypt");
        one.is("keywright.code", code);
        one.is("http.response.status_code", status);
    }
}

#[test]
fn nothing_is_sent_where_traces_are_off_or_nobody_asks_for_one() {
    let collector = Collector::start(TAKES);
    for home in [
        Home::demo(),
        telling(Home::demo(), &collector, "ratio = 0.0"),
        telling(Home::demo(), &collector, "ratio = 0.0\nparents_per_s = 0"),
    ] {
        let site = Site::over(home);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let zeros = "0".repeat(32);
        for parent in [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{PARENT}-00"),
            format!("00-{TRACE}-{PARENT}-1"),
            format!("00-{TRACE}-{PARENT}-01-more"),
            format!("00-{TRACE}-{PARENT}-01, 00-{TRACE}-{PARENT}-01"),
            format!("ff-{TRACE}-{PARENT}-01"),
            format!("00-{zeros}-{PARENT}-01"),
            format!("00-{TRACE}-0000000000000000-01"),
            recorded().to_uppercase(),
            recorded().replace('-', ""),
            "x".repeat(4000),
        ] {
            let request = traced(&wire, &path(EXCHANGE, "encrypt"), &parent, one());
            assert_eq!(wire.send_request(request).unwrap().status, 200, "{parent}");
        }
        let page = wire.get("/metrics");
        let page = String::from_utf8(page.body.to_vec()).unwrap();
        for result in ["dropped", "lost", "sent"] {
            let sample = format!("keywright_spans_total{{result=\"{result}\"}} 0\n");
            assert!(page.contains(&sample), "{page}");
        }
        site.stop();
    }
    assert_eq!(
        (collector.received().len(), collector.connections()),
        (0, 0)
    );
}

#[test]
fn callers_who_have_everything_recorded_are_believed_so_often_a_second_only() {
    let collector = Collector::start(TAKES);
    let home = telling(Home::demo(), &collector, "ratio = 0.0\nparents_per_s = 2");
    let site = Site::over(home);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let clock = Clock::system();
    let begun = clock.monotonic();
    for _ in 0..300 {
        let request = traced(&wire, &path(EXCHANGE, "encrypt"), &recorded(), one());
        assert_eq!(wire.send_request(request).unwrap().status, 200);
    }
    let most = 2 + 2 * (clock.monotonic().since(begun).as_secs() + 1);
    site.stop();
    let sent = told(&collector).len() as u64;
    assert!((2..=most).contains(&sent), "{sent} of {most}");
}

/// What the page says became of spans: dropped, lost, sent.
fn fates(wire: &mut Wire) -> [u64; 3] {
    let page = wire.get("/metrics");
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    ["dropped", "lost", "sent"].map(|result| {
        let name = format!("keywright_spans_total{{result=\"{result}\"}} ");
        let line = page.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap().parse().unwrap()
    })
}

#[test]
fn no_collector_is_felt_by_a_caller_and_what_it_costs_is_counted() {
    let clock = Clock::system();
    for manners in [
        Manners::Hangs,
        Manners::Dawdles,
        Manners::HangsUp,
        Manners::Answers("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"),
    ] {
        let collector = Collector::start(manners);
        let more = "ratio = 1.0\nqueue = 4\ntimeout_ms = 60000";
        let site = Site::over(telling(Home::demo(), &collector, more));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealing = path(EXCHANGE, "encrypt");
        let begun = clock.monotonic();
        for _ in 0..100 {
            assert_eq!(wire.post(&sealing, one()).status, 200, "{manners:?}");
        }
        let took = clock.monotonic().since(begun);
        assert!(took < Duration::from_secs(20), "{manners:?}: {took:?}");
        // More than the queue holds, faster than it is looked at.
        std::thread::sleep(Duration::from_millis(600));
        let waiting: Vec<_> = (0..40).map(|_| wire.post(&sealing, one()).status).collect();
        assert!(waiting.iter().all(|status| *status == 200));
        let [dropped, _, sent] = fates(&mut wire);
        assert!(dropped > 0 && sent == 0, "{manners:?}: {dropped}, {sent}");
        let begun = clock.monotonic();
        drop(wire);
        let home = site.stop();
        let took = clock.monotonic().since(begun);
        assert!(took < Duration::from_secs(10), "{manners:?}: {took:?}");
        home.verify();
    }
}

#[test]
fn a_check_says_whether_somebody_listens_and_a_start_needs_a_readable_authority() {
    let found = |home: &Home| {
        let checks = keywright_home::check(&home.config(), &Clock::system(), None);
        let check = checks.into_iter().find(|check| check.what == "telemetry");
        check.unwrap().found
    };
    let collector = Collector::start(TAKES);
    let home = telling(Home::demo(), &collector, "");
    assert!(matches!(found(&home), Ok(Finding::Good(_))));
    drop(collector);
    assert!(matches!(found(&home), Ok(Finding::Notice(_))));
    let section = "[telemetry]\nendpoint = \"https://localhost:1\"\nauthorities = \"keywright.toml\"\n\n[log]";
    let home = Home::demo().configure("[log]", section);
    assert!(matches!(found(&home), Err(HomeError::Tls(_))));
    let node = home.open().unwrap();
    assert!(matches!(
        node.serve(Some(loopback())),
        Err(HomeError::Tls(_))
    ));
    node.shutdown().unwrap();
    let home = Home::demo().configure("[log]", &section.replace("keywright.toml", "none.pem"));
    let error = home.open().unwrap_err().to_string();
    assert!(error.starts_with("telemetry.authorities names"), "{error}");
}
