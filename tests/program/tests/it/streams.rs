//! Streams of any length over the service: right at every edge, in constant memory, and never whole where
//! they are not.

use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Request;
use http_body_util::Full;
use keywright_client::{Error, Pieces};
use keywright_envelope::stream::{CHUNK_LEN, Prefix, SEALED_CHUNK_LEN, StreamOpener};
use keywright_envelope::{Aad, Identity, derive};
use keywright_policy::LimitEntry;
use keywright_secret::SecretBytes;
use keywright_service::NewContext;
use keywright_tls::Protocol;
use keywright_types::{BindingKind, KeyId, KeySpec, Kind, Name, Suite};

use crate::fixture::*;

/// Header with a binding, salt, commitment.
const PREFIX: usize = Prefix::MAX_LEN;

fn text(length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| u8::try_from(i % 251).unwrap())
        .collect()
}

fn sealed(site: &Site, context: &str, aad: Option<&[u8]>, plaintext: &[u8]) -> Vec<u8> {
    let (client, mut out) = (client_of(site, context), Vec::new());
    let ends = (Cursor::new(plaintext.to_vec()), &mut out);
    let done = client.encrypt_stream(&name(context), aad, ends).unwrap();
    assert_eq!(done.bytes_in, plaintext.len() as u64);
    assert_eq!(done.bytes_out, out.len() as u64);
    out
}

/// What opening comes to, and what was given out before.
fn opened(
    site: &Site,
    context: &str,
    aad: Option<&[u8]>,
    stream: &[u8],
) -> (Result<u64, Error>, Vec<u8>) {
    let (client, mut out) = (client_of(site, context), Vec::new());
    let ends = (Cursor::new(stream.to_vec()), &mut out);
    let done = client.decrypt_stream(&name(context), aad, ends);
    (done.map(|done| done.bytes_out), out)
}

fn client_of(site: &Site, context: &str) -> keywright_client::blocking::Client {
    site.client(if context == TWO_FACTOR { WEB } else { TRADING })
}

/// The code of a refusal.
fn refusal(result: &Result<u64, Error>) -> Option<&'static str> {
    result.as_ref().err()?.code().map(|code| code.name())
}

/// Begins and ends of streams in the log: their outcomes.
fn ends(home: &Home) -> (usize, Vec<String>) {
    let records = home.records();
    let begun: Vec<_> = records
        .iter()
        .filter(|one| one["type"] == "stream-begin")
        .collect();
    let outcomes = begun.iter().map(|begin| {
        let same = |one: &&serde_json::Value| {
            one["type"] == "request" && one["request"] == begin["request"]
        };
        let found: Vec<_> = records.iter().filter(same).collect();
        assert_eq!(found.len(), 1, "one end for each beginning");
        assert_eq!(field(found[0], "message-id"), field(begin, "message-id"));
        assert_eq!(found[0]["version"], begin["version"]);
        found[0]["outcome"].as_str().unwrap().to_owned()
    });
    (begun.len(), outcomes.collect())
}

#[test]
fn streams_of_every_edge_come_back_over_both_protocols() {
    let site = Site::start();
    let lengths = [
        0,
        1,
        CHUNK_LEN - 1,
        CHUNK_LEN,
        CHUNK_LEN + 1,
        3 * CHUNK_LEN,
        3 * CHUNK_LEN + 5,
        1_000_000,
    ];
    for protocol in BOTH {
        let identity = site.home.identity(TRADING);
        let client = site.client_of(Some(identity), protocol).unwrap();
        for length in lengths {
            let (plaintext, mut stream, mut back) = (text(length), Vec::new(), Vec::new());
            let ends = (Cursor::new(plaintext.clone()), &mut stream);
            let done = client.encrypt_stream(&name(EXCHANGE), Some(b"row 7"), ends);
            assert_eq!(done.unwrap().key_version.number(), 1);
            // The last chunk is shorter than a whole one, and may be empty.
            let chunks = length / CHUNK_LEN + 1;
            assert_eq!(stream.len(), PREFIX + length + 16 * chunks, "{length}");
            let ends = (Cursor::new(stream), &mut back);
            let done = client.decrypt_stream(&name(EXCHANGE), Some(b"row 7"), ends);
            assert_eq!(done.unwrap().bytes_out, length as u64);
            assert!(back == plaintext, "{protocol:?} {length}");
        }
    }
    let home = site.stop();
    let (begun, outcomes) = ends(&home);
    assert_eq!(begun, 2 * 2 * lengths.len());
    assert!(outcomes.iter().all(|outcome| outcome == "ok"));
    let bytes = |which: &str| {
        let requests = home.requests().into_iter();
        let sealed = requests.filter(|one| one["operation"] == "encrypt");
        sealed.map(|one| one[which].as_u64().unwrap()).sum::<u64>()
    };
    let total: usize = lengths.iter().sum();
    assert_eq!(bytes("bytes_in"), 2 * total as u64);
    assert!(bytes("bytes_out") > 2 * total as u64);
    home.verify();
}

#[test]
fn who_has_the_same_key_opens_the_stream_without_the_service() {
    let site = Site::start();
    let secret = SecretBytes::from_vec(vec![0x5E; 32]);
    let new = NewContext {
        secret: Some(&secret),
        ..NewContext::new(KeySpec::seal(), BindingKind::None)
    };
    let tenant = Name::default_tenant();
    let admin = site.node().admin();
    let made = admin
        .create_context_with(&tenant, &name("lake"), new)
        .unwrap();
    site.change_policy(|document| {
        let mut grant = document.grants[0].clone();
        grant.contexts = vec![keywright_policy::ContextPattern::Exact(name("lake"))];
        document.grants.push(grant);
    });
    let plaintext = text(5 * CHUNK_LEN + 9);
    let (client, mut stream) = (site.client(TRADING), Vec::new());
    let ends = (Cursor::new(plaintext.clone()), &mut stream);
    client
        .encrypt_stream(&name("lake"), Some(b"aad"), ends)
        .unwrap();

    let identity = Identity {
        suite: Suite::Chunked,
        kind: Kind::Message,
        key: made.id,
        version: made.version,
    };
    let (sealing, opening) = derive(&[0x5E; 32], identity).unwrap();
    let unbound = PREFIX - 16;
    let prefix = Prefix::parse(&stream[..unbound]).unwrap();
    let aad = Aad::EMPTY.caller(b"aad").unwrap();
    let mut opener = StreamOpener::new(&opening, &prefix, &aad).unwrap();
    let mut back = Vec::new();
    opener.update(&stream[unbound..], &mut back).unwrap();
    opener.finish(&mut back).unwrap();
    assert!(back == plaintext);

    // And the other way.
    let mut random = keywright_primitives::random::RandomStream::new().unwrap();
    let mut foreign = Vec::new();
    let binding = keywright_envelope::Binding::None;
    let sealer = keywright_envelope::stream::StreamSealer::new(
        &sealing,
        binding,
        &aad,
        &mut random,
        &mut foreign,
    );
    let mut sealer = sealer.unwrap();
    sealer.update(&plaintext, &mut foreign).unwrap();
    sealer.finish(&mut foreign).unwrap();
    let (done, back) = opened(&site, "lake", Some(b"aad"), &foreign);
    assert_eq!(done.unwrap(), plaintext.len() as u64);
    assert!(back == plaintext);
}

/// So many bytes, and how many of them were read.
struct Source(Arc<AtomicU64>, u64);

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = self.1 - self.0.load(Ordering::SeqCst);
        let count = usize::try_from(left).unwrap().min(buffer.len());
        buffer[..count].fill(7);
        self.0.fetch_add(count as u64, Ordering::SeqCst);
        Ok(count)
    }
}

/// Counts what comes, and how far behind what was read it is at most.
struct Sink {
    read: Arc<AtomicU64>,
    written: u64,
    most_between: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let read = self.read.load(Ordering::SeqCst);
        self.most_between = self.most_between.max(read.saturating_sub(self.written));
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The most memory that a process has had, in KiB.
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits: String = line.unwrap().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn a_hundred_mebibytes_pass_in_constant_memory() {
    const TOTAL: u64 = 100 << 20;
    let home = Home::demo();
    let served = Served::start(&home.path());
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let client =
        keywright_client::blocking::Client::connect(settings(served.address, tls)).unwrap();
    let pass = |total: u64| {
        let read = Arc::new(AtomicU64::new(0));
        let mut sink = Sink {
            read: Arc::clone(&read),
            written: 0,
            most_between: 0,
        };
        let ends = (Source(Arc::clone(&read), total), &mut sink);
        let done = client.encrypt_stream(&name(EXCHANGE), None, ends).unwrap();
        assert_eq!(done.bytes_in, total);
        assert_eq!(sink.written, done.bytes_out);
        sink.most_between
    };
    pass(4 << 20);
    let before = peak_memory(served.id());
    let between = pass(TOTAL);
    let grown = peak_memory(served.id()) - before;
    assert!(grown < 16 << 10, "the service took {grown} KiB for 100 MiB");
    assert!(between < 16 << 20, "{between} bytes were under way");
    served.stop();
    home.verify();
}

#[test]
fn a_client_that_reads_nothing_stops_the_stream_and_nobody_else() {
    let site = Site::start();
    let tls = site
        .home
        .tls(Some(site.home.identity(TRADING)), Protocol::Http2);
    let settings = settings(site.address(), tls);
    let taken = block(async {
        let client = keywright_client::Client::connect(settings).await.unwrap();
        let (feed, pieces) = Pieces::with_room(1);
        let context = name(EXCHANGE);
        let received = client.encrypt_stream(&context, None, pieces).await.unwrap();
        let mut taken = 0_u64;
        let piece = bytes::Bytes::from(vec![7; 64 << 10]);
        while let Ok(given) =
            tokio::time::timeout(Duration::from_secs(1), feed.give(piece.clone())).await
        {
            given.unwrap();
            taken += 64 << 10;
            assert!(taken < 64 << 20, "nothing holds it up");
        }
        // Others are answered meanwhile, on the same connection.
        client.health().await.unwrap();
        drop((feed, received));
        taken
    });
    // Its own window for the answer, the service's for the request, and a few buffers.
    assert!(taken < 8 << 20, "{taken}");
    let home = site.stop();
    assert_eq!(ends(&home), (1, vec!["interrupted".to_owned()]));
}

#[test]
fn a_cut_stream_never_ends_as_a_whole_one_does() {
    let site = Site::start();
    let plaintext = text(3 * CHUNK_LEN + 100);
    let stream = sealed(&site, EXCHANGE, None, &plaintext);
    for length in [0, 1, 25, 26, 41, PREFIX - 1] {
        let (done, out) = opened(&site, EXCHANGE, None, &stream[..length]);
        assert_eq!(refusal(&done), Some("ciphertext_malformed"), "{length}");
        assert!(out.is_empty());
    }
    let cuts = [
        PREFIX,
        PREFIX + 1,
        PREFIX + 16,
        PREFIX + SEALED_CHUNK_LEN - 1,
        PREFIX + SEALED_CHUNK_LEN,
        PREFIX + 2 * SEALED_CHUNK_LEN,
        PREFIX + 3 * SEALED_CHUNK_LEN,
        PREFIX + 3 * SEALED_CHUNK_LEN + 15,
        stream.len() - 1,
    ];
    for length in cuts {
        let (done, out) = opened(&site, EXCHANGE, None, &stream[..length]);
        assert!(matches!(done, Err(Error::BrokenOff)), "{length}: {done:?}");
        assert!(plaintext.starts_with(&out) && out.len() < plaintext.len());
    }
    // One that goes on behind its end is no better.
    let mut longer = stream.clone();
    longer.push(0);
    assert!(matches!(
        opened(&site, EXCHANGE, None, &longer).0,
        Err(Error::BrokenOff)
    ));
    let home = site.stop();
    let (begun, outcomes) = ends(&home);
    let failed = outcomes.iter().filter(|one| *one == "decryption_failed");
    assert_eq!((begun, failed.count()), (cuts.len() + 2, cuts.len() + 1));
    home.verify();
}

#[test]
fn a_flipped_bit_is_found_before_its_chunk_is_given_out() {
    let site = Site::start();
    let plaintext = text(2 * CHUNK_LEN + 100);
    let stream = sealed(&site, EXCHANGE, Some(b"aad"), &plaintext);
    for place in [0, 3, 4, 5, 6, 22, 26, 42, 66, PREFIX - 1] {
        let mut flipped = stream.clone();
        flipped[place] ^= 1;
        let (done, out) = opened(&site, EXCHANGE, Some(b"aad"), &flipped);
        let code = refusal(&done);
        let fine = ["ciphertext_malformed", "decryption_failed"];
        assert!(
            code.is_some_and(|code| fine.contains(&code)),
            "{place}: {done:?}"
        );
        assert!(out.is_empty(), "{place}");
    }
    for (place, whole) in [
        (PREFIX, 0),
        (PREFIX + SEALED_CHUNK_LEN - 1, 0),
        (PREFIX + SEALED_CHUNK_LEN, 1),
        (PREFIX + 2 * SEALED_CHUNK_LEN, 2),
        (stream.len() - 1, 2),
    ] {
        let mut flipped = stream.clone();
        flipped[place] ^= 1;
        let (done, out) = opened(&site, EXCHANGE, Some(b"aad"), &flipped);
        assert!(matches!(done, Err(Error::BrokenOff)), "{place}: {done:?}");
        assert!(
            out.len() <= whole * CHUNK_LEN && plaintext.starts_with(&out),
            "{place}"
        );
    }
    // Chunks that change their places, and one that is there twice.
    let chunk = |n: usize| PREFIX + n * SEALED_CHUNK_LEN..PREFIX + (n + 1) * SEALED_CHUNK_LEN;
    let mut exchanged = stream.clone();
    exchanged[chunk(0)].copy_from_slice(&stream[chunk(1)]);
    exchanged[chunk(1)].copy_from_slice(&stream[chunk(0)]);
    let mut twice = stream[..PREFIX + SEALED_CHUNK_LEN].to_vec();
    twice.extend_from_slice(&stream[PREFIX..]);
    for wrong in [exchanged, twice] {
        let done = opened(&site, EXCHANGE, Some(b"aad"), &wrong).0;
        assert!(matches!(done, Err(Error::BrokenOff)), "{done:?}");
    }
}

#[test]
fn what_is_not_the_callers_or_not_a_stream_does_not_begin() {
    let site = Site::start();
    let plaintext = text(1000);
    let stream = sealed(&site, EXCHANGE, Some(b"aad"), &plaintext);
    for aad in [None, Some(&b""[..]), Some(b"aae")] {
        let (done, out) = opened(&site, EXCHANGE, aad, &stream);
        assert_eq!(refusal(&done), Some("decryption_failed"));
        assert!(out.is_empty());
    }
    // Of another context, by somebody who has rights there.
    let (done, _) = opened(&site, TWO_FACTOR, Some(b"aad"), &stream);
    assert_eq!(refusal(&done), Some("decryption_failed"));
    // A message is no stream, and a stream no message.
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let message = seal(&mut wire, EXCHANGE, b"text", b"");
    let (done, _) = opened(&site, EXCHANGE, None, &message);
    assert_eq!(refusal(&done), Some("ciphertext_malformed"));
    let got = wire.post(
        &path(EXCHANGE, "decrypt"),
        item(&[("ciphertext", &stream), ("aad", b"aad")]),
    );
    assert_eq!(got.status, 400);
    // An unknown key.
    let mut unknown = stream.clone();
    unknown[6..22].copy_from_slice(KeyId::from_bytes([9; 16]).as_bytes());
    let (done, _) = opened(&site, EXCHANGE, Some(b"aad"), &unknown);
    assert_eq!(refusal(&done), Some("decryption_failed"));
    let home = site.stop();
    assert_eq!(ends(&home).0, 1, "none of these began");
    home.verify();
}

#[test]
fn a_right_is_looked_at_before_the_body() {
    let site = Site::start();
    let mut wire = site.wire(WEB, Protocol::Http2);
    for action in ["encrypt/stream", "decrypt/stream"] {
        let got = wire.post(&path(EXCHANGE, action), "whatever");
        assert_eq!(
            (got.status, got.code().as_str()),
            (404, "context_not_found")
        );
    }
    site.change_policy(|document| {
        for grant in &mut document.grants {
            grant.operations.retain(|one| one.name() != "decrypt");
        }
    });
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let got = wire.post(&path(EXCHANGE, "decrypt/stream"), "whatever");
    assert_eq!((got.status, got.code().as_str()), (403, "operation_denied"));
    for (values, code) in [
        (vec!["not base64"], "base64_invalid"),
        (vec!["YQ==", "YQ=="], "request_malformed"),
    ] {
        let request = values.iter().fold(
            wire.request(http::Method::POST, &path(EXCHANGE, "encrypt/stream")),
            |request, value| request.header("keywright-aad", *value),
        );
        let request: Request<Full<bytes::Bytes>> = request.body(Full::default()).unwrap();
        let got = wire.send_request(request).unwrap();
        assert_eq!((got.status, got.code().as_str()), (400, code));
    }
    site.stop().verify();
}

#[test]
fn a_client_that_goes_away_leaves_a_record_that_says_so() {
    let site = Site::start();
    let tls = site
        .home
        .tls(Some(site.home.identity(TRADING)), Protocol::Http2);
    let settings = settings(site.address(), tls);
    block(async {
        let client = keywright_client::Client::connect(settings).await.unwrap();
        let context = name(EXCHANGE);
        // Its request is broken off, then its answer is not wanted any more.
        for drop_answer in [false, true] {
            let (feed, pieces) = Pieces::with_room(1);
            let mut received = client.encrypt_stream(&context, None, pieces).await.unwrap();
            feed.give(vec![7; 100_000]).await.unwrap();
            received.next().await.unwrap().unwrap();
            match drop_answer {
                true => drop(received),
                false => {
                    drop(feed);
                    let ended = loop {
                        match received.next().await {
                            Ok(Some(_)) => {}
                            other => break other,
                        }
                    };
                    assert!(ended.is_err(), "{ended:?}");
                }
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    });
    let home = site.stop();
    let (begun, outcomes) = ends(&home);
    assert_eq!(begun, 2);
    assert_eq!(outcomes, ["interrupted", "interrupted"]);
    home.verify();
}

#[test]
fn a_stream_is_opened_under_the_version_that_sealed_it_for_as_long_as_that_opens() {
    let site = Site::start();
    let plaintext = text(40_000);
    let old = sealed(&site, EXCHANGE, None, &plaintext);
    let admin = site.node().admin();
    admin
        .rotate(&Name::default_tenant(), &name(EXCHANGE))
        .unwrap();
    let new = sealed(&site, EXCHANGE, None, &plaintext);
    for stream in [&old, &new] {
        assert!(opened(&site, EXCHANGE, None, stream).1 == plaintext);
    }
    let of = |stream: &[u8]| u32::from_be_bytes(stream[22..26].try_into().unwrap());
    assert_eq!((of(&old), of(&new)), (1, 2));
}

#[test]
fn a_long_stream_pays_as_it_comes() {
    let site = Site::start();
    site.change_policy(|document| {
        document.limits.push(LimitEntry {
            tenant: Name::default_tenant(),
            principals: vec![name(TRADING)],
            groups: Vec::new(),
            per_second: 1,
            burst: Some(4),
            costs: std::collections::BTreeMap::new(),
        });
    });
    // Sixteen units, of which there are four: it is not cut, and the next one waits.
    sealed(&site, EXCHANGE, None, &text(1 << 20));
    let (done, _) = opened(&site, EXCHANGE, None, b"whatever");
    assert_eq!(refusal(&done), Some("rate_limited"));
}
