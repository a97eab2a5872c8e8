//! Collectors that take spans, that do not, and that are not there.

use std::borrow::Cow;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_network::ca::TestAuthority;
use keywright_network::collector::{Collector, Manners, TAKES, Wrap};
use keywright_telemetry::{
    Count, Endpoint, Exporting, FLUSH, Fate, Plain, Resource, Sampling, Settings, Span, SpanId,
    TraceId, Tracer,
};
use keywright_tls::{Protocol, client_config};
use keywright_types::RequestId;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;

/// What became of spans.
#[derive(Default)]
struct Fates {
    dropped: AtomicU64,
    lost: AtomicU64,
    sent: AtomicU64,
}

impl Fates {
    fn count(self: &Arc<Self>) -> Count {
        let fates = Arc::clone(self);
        Arc::new(move |fate, spans| {
            let counter = match fate {
                Fate::Dropped => &fates.dropped,
                Fate::Lost => &fates.lost,
                Fate::Sent => &fates.sent,
            };
            counter.fetch_add(spans, Ordering::Relaxed);
        })
    }

    /// Dropped, lost, sent.
    fn all(&self) -> [u64; 3] {
        [&self.dropped, &self.lost, &self.sent].map(|one| one.load(Ordering::Relaxed))
    }

    fn until(&self, wanted: [u64; 3]) {
        let clock = Clock::system();
        let started = clock.monotonic();
        while self.all() != wanted {
            let waited = clock.monotonic().since(started);
            assert!(waited < Duration::from_secs(20), "{:?}", self.all());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn settings(url: &str) -> Settings {
    Settings {
        endpoint: Endpoint::parse(url).unwrap(),
        plain: Plain::Loopback,
        tls: None,
        timeout: Duration::from_secs(10),
        sampling: Sampling::new(1.0, 0),
        queue: 2048,
        resource: Resource::default(),
    }
}

fn start(settings: Settings) -> (Tracer, Exporting, Arc<Fates>) {
    let fates = Arc::new(Fates::default());
    let (tracer, exporting) = Exporting::start(settings, fates.count()).unwrap();
    (tracer, exporting, fates)
}

fn to(collector: &Collector) -> Settings {
    settings(&format!("http://{}", collector.address()))
}

fn span(number: u16) -> Box<Span> {
    let mut id = [1; 8];
    id[..2].copy_from_slice(&number.to_be_bytes());
    let at = WallTime::from_unix_seconds(1_700_000_000);
    Box::new(Span {
        trace: TraceId::new([1; 16]).unwrap(),
        id: SpanId::new(id).unwrap(),
        parent: None,
        start: at,
        end: at.plus(Duration::from_micros(5)),
        method: "GET",
        route: Some(Cow::Borrowed("/v1/health")),
        status: Some(200),
        request: RequestId::from_bytes([2; 16]),
        told: None,
    })
}

/// The ids of the spans that came, each once.
fn ids(collector: &Collector) -> Vec<String> {
    let mut ids = Vec::new();
    for received in collector.received() {
        assert!(received.head.starts_with("POST /v1/traces HTTP/1.1\r\n"));
        let body: Value = serde_json::from_slice(&received.body).unwrap();
        let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
        let spans = spans.as_array().unwrap().clone();
        assert!(!spans.is_empty());
        ids.extend(
            spans
                .iter()
                .map(|one| one["spanId"].as_str().unwrap().to_owned()),
        );
    }
    ids.sort();
    ids.dedup();
    ids
}

#[test]
fn every_span_comes_in_batches_over_one_connection_and_the_last_at_the_end() {
    let collector = Collector::start(TAKES);
    let (tracer, exporting, fates) = start(to(&collector));
    (0..1300).for_each(|number| tracer.give(span(number)));
    fates.until([0, 0, 1300]);
    tracer.give(span(1300));
    exporting.stop();
    assert_eq!(fates.all(), [0, 0, 1301]);
    assert_eq!(ids(&collector).len(), 1301);
    assert!(collector.received().len() <= 8);
    // One while it works, and one for what is left when it stops.
    assert!(collector.connections() <= 2, "{}", collector.connections());
    // Nobody takes any more.
    tracer.give(span(1));
    assert_eq!(fates.all(), [1, 0, 1301]);
}

#[test]
fn what_does_not_fit_the_queue_is_dropped_at_once_and_counted() {
    let collector = Collector::start(Manners::Hangs);
    let clock = Clock::system();
    let (tracer, exporting, fates) = start(Settings {
        queue: 10,
        timeout: Duration::from_secs(60),
        ..to(&collector)
    });
    let begun = clock.monotonic();
    (0..1000).for_each(|number| tracer.give(span(number)));
    // The collector would hold it up for a minute.
    assert!(clock.monotonic().since(begun) < Duration::from_secs(10));
    let [dropped, ..] = fates.all();
    // The thread may have emptied the queue once.
    assert!((980..=990).contains(&dropped), "{dropped}");
    exporting.stop();
    assert_eq!(fates.all(), [dropped, 1000 - dropped, 0]);
}

#[test]
fn a_collector_that_does_not_take_spans_loses_them_and_is_left_alone_for_a_while() {
    for manners in [
        Manners::Answers("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"),
        Manners::Answers("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"),
        Manners::Answers(
            "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n",
        ),
        Manners::Answers("SSH-2.0-x\r\n\r\n"),
        Manners::Answers("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"),
        Manners::HangsUp,
        Manners::Hangs,
        Manners::Dawdles,
    ] {
        let collector = Collector::start(manners);
        let (tracer, exporting, fates) = start(Settings {
            timeout: Duration::from_millis(300),
            ..to(&collector)
        });
        tracer.give(span(1));
        fates.until([0, 1, 0]);
        let connections = collector.connections();
        assert_eq!(connections, 1, "{manners:?}");
        tracer.give(span(2));
        std::thread::sleep(Duration::from_millis(600));
        assert_eq!(collector.connections(), connections, "{manners:?}");
        exporting.stop();
        assert_eq!(fates.all(), [0, 2, 0], "{manners:?}");
    }
}

#[test]
fn stopping_waits_for_no_collector_longer_than_it_says() {
    for manners in [Manners::Hangs, Manners::Dawdles] {
        let collector = Collector::start(manners);
        let (tracer, exporting, fates) = start(Settings {
            timeout: Duration::from_secs(60),
            ..to(&collector)
        });
        (0..1000).for_each(|number| tracer.give(span(number)));
        std::thread::sleep(Duration::from_millis(400));
        let clock = Clock::system();
        let begun = clock.monotonic();
        exporting.stop();
        let took = clock.monotonic().since(begun);
        assert!(took < FLUSH + Duration::from_secs(10), "{took:?}");
        assert_eq!(fates.all(), [0, 1000, 0]);
    }
}

#[test]
fn nobody_there_costs_spans_alone_and_whoever_comes_back_has_the_next() {
    let place = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = place.local_addr().unwrap();
    drop(place);
    let (tracer, exporting, fates) = start(settings(&format!("http://{address}")));
    tracer.give(span(1));
    fates.until([0, 1, 0]);
    drop((tracer, exporting));
    let (tracer, exporting, fates) = start(settings("http://name.invalid"));
    tracer.give(span(1));
    exporting.stop();
    assert_eq!(fates.all()[2], 0);
}

#[test]
fn a_name_that_is_not_this_machine_gets_nothing_in_the_plain() {
    // An address that is this machine's and not loopback stands for another's: nothing is sent there.
    let collector = Collector::start(TAKES);
    let port = collector.address().port();
    let (tracer, exporting, fates) = start(settings(&format!("http://0.0.0.0:{port}")));
    tracer.give(span(1));
    exporting.stop();
    assert_eq!((fates.all(), collector.connections()), ([0, 1, 0], 0));
    let (tracer, exporting, fates) = start(Settings {
        plain: Plain::Anywhere,
        ..settings(&format!("http://0.0.0.0:{port}"))
    });
    tracer.give(span(1));
    exporting.stop();
    assert_eq!(fates.all(), [0, 0, 1]);
}

/// TLS of a server that asks nobody for a certificate.
fn tls(authority: &TestAuthority) -> Wrap {
    let issued = authority.server();
    let chain = CertificateDer::pem_slice_iter(issued.certificate_pem.as_bytes());
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(issued.key_pem.expose()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    Arc::new(move |stream| {
        let tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        Box::new(rustls::StreamOwned::new(tls, stream))
    })
}

#[test]
fn over_tls_only_the_collector_of_the_named_authority_is_believed() {
    let clock = Clock::system();
    let [ours, theirs] = [0, 1].map(|_| TestAuthority::new(clock.wall()));
    let collector = Collector::start_within(TAKES, tls(&ours));
    let port = collector.address().port();
    let under = |authority: &TestAuthority, host: &str| {
        let roots = authority.certificate_pem();
        let tls = client_config(roots.as_bytes(), None, &[Protocol::Http1], &clock).unwrap();
        let (tracer, exporting, fates) = start(Settings {
            tls: Some(tls),
            timeout: Duration::from_secs(5),
            ..settings(&format!("https://{host}:{port}"))
        });
        tracer.give(span(7));
        exporting.stop();
        fates.all()
    };
    assert_eq!(under(&theirs, "localhost"), [0, 1, 0]);
    // The same place by a name that its certificate does not have.
    assert_eq!(under(&ours, "[::ffff:127.0.0.1]"), [0, 1, 0]);
    assert!(collector.received().is_empty());
    assert_eq!(under(&ours, "localhost"), [0, 0, 1]);
    assert_eq!(under(&ours, "127.0.0.1"), [0, 0, 1]);
    assert_eq!(ids(&collector).len(), 1);
    // Without TLS there is nothing to be said to it.
    let (tracer, exporting, fates) = start(to(&collector));
    tracer.give(span(1));
    exporting.stop();
    assert_eq!((fates.all(), collector.received().len()), ([0, 1, 0], 2));
}
