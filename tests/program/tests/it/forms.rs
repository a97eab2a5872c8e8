//! Items in CBOR: an independent reader and writer of it against a real service, and what the log has of them, which is
//! what it has of the same items in JSON.

use std::process::Command;

use bytes::Bytes;
use http::{Method, header};
use http_body_util::Full;
use keywright_api::answer::{BatchAnswer, ErrorAnswer, OpenAnswer, RandomAnswer, SealAnswer};
use keywright_api::request::{Body, OpenItem, RandomItem, SealItem};
use keywright_api::{Binary, Codec};
use keywright_types::{Algorithm, Operation, Purpose};
use serde_json::Value;

use crate::fixture::*;
use crate::transit::{python, repository};
use crate::uses::{allow, make, spec};

const FORMS: [Codec; 2] = [Codec::Json, Codec::Cbor];

#[test]
fn cbor2_writes_what_is_read_and_reads_what_is_answered() {
    let Some(python) = python("cbor2", "import cbor2, requests") else {
        return;
    };
    let site = Site::start();
    let signing = [Operation::Sign, Operation::Verify, Operation::PublicKey];
    let codes = [Operation::Mac, Operation::MacVerify];
    for (context, purpose, algorithm, operations) in [
        ("edwards", Purpose::Sign, Algorithm::Ed25519, &signing[..]),
        ("nist", Purpose::Sign, Algorithm::EcdsaP256, &signing),
        ("codes", Purpose::Mac, Algorithm::HmacSha256, &codes),
    ] {
        make(site.node(), context, spec(purpose, algorithm), None);
        allow(&site, context, operations, &[]);
    }
    let asked = Command::new(python)
        .args(["-B", "-I"])
        .arg(repository().join("tests/program/clients/cbor.py"))
        .arg(site.address().to_string())
        .arg(site.home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let errors = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.success(), "{said}{errors}");
    assert_eq!(said.lines().count(), 7, "{said}");
    site.stop().verify();
}

/// Asks in one form.
fn ask(wire: &mut Wire, codec: Codec, path: &str, body: Vec<u8>) -> Got {
    let request = wire
        .request(Method::POST, path)
        .header(header::CONTENT_TYPE, codec.media_type())
        .body(Full::new(Bytes::from(body)));
    let got = wire.send_request(request.unwrap()).unwrap();
    assert_eq!(got.header("content-type"), Some(codec.media_type()));
    assert_eq!(Codec::of_answer(&got.body), codec);
    got
}

fn open<'a>(ciphertext: &'a [u8], aad: &'a [u8]) -> OpenItem<'a> {
    OpenItem {
        ciphertext: Binary::new(ciphertext),
        aad: Some(Binary::new(aad)),
    }
}

/// What a record says of a request, without when, which, and how long its body was.
fn said(record: &Value) -> Value {
    let mut said = record.clone();
    let members = said.as_object_mut().unwrap();
    for own in [
        "sequence",
        "time",
        "request",
        "bytes_in",
        "duration_ns",
        "file",
    ] {
        members.remove(own);
    }
    said
}

#[test]
fn the_record_of_a_request_is_the_same_in_both_forms() {
    for protocol in BOTH {
        let site = Site::start();
        let mut wire = site.wire(TRADING, protocol);
        let sealed = seal(&mut wire, EXCHANGE, b"message", b"row 7");
        let decrypt = path(EXCHANGE, "decrypt");
        let before = 1;
        let bodies = [
            Body::One(open(&sealed, b"row 7")),
            Body::One(open(&sealed, b"row 8")),
            Body::One(open(b"no envelope", b"")),
            Body::Many(vec![
                open(&sealed, b"row 7"),
                open(b"no envelope", b""),
                open(&sealed, b"row 8"),
            ]),
        ];
        let mut asked = 0;
        for body in &bodies {
            for codec in FORMS {
                ask(&mut wire, codec, &decrypt, codec.encode(body).unwrap());
                asked += 1;
            }
        }
        for place in [path("nothing", "decrypt"), path(EXCHANGE, "encrypt")] {
            for codec in FORMS {
                let body = codec.encode(&bodies[0]).unwrap();
                assert!(ask(&mut wire, codec, &place, body).status >= 400);
                asked += 1;
            }
        }
        drop(wire);
        let home = site.stop();
        let records = home.requests();
        assert_eq!(records.len(), before + asked);
        for two in records[before..].chunks(2) {
            assert_eq!(said(&two[0]), said(&two[1]));
        }
        home.verify();
    }
}

#[test]
fn every_item_of_a_batch_has_its_own_result_in_its_place() {
    let site = Site::start();
    for (protocol, codec) in BOTH.into_iter().flat_map(|p| FORMS.map(|codec| (p, codec))) {
        let mut wire = site.wire(TRADING, protocol);
        let plain: Vec<Vec<u8>> = (0..200_u8).map(|n| vec![n; usize::from(n)]).collect();
        let items = plain.iter().map(|plain| SealItem {
            plaintext: Binary::new(plain),
            aad: None,
        });
        let body = codec.encode(&Body::Many(items.collect())).unwrap();
        let got = ask(&mut wire, codec, &path(EXCHANGE, "encrypt"), body);
        let sealed: BatchAnswer<SealAnswer<'_>> = codec.decode(&got.body).unwrap();
        assert_eq!((sealed.items.len(), sealed.failed), (200, 0));
        let results = sealed.items.into_iter().map(|item| item.into_result());
        let mut sealed: Vec<_> = results
            .map(|item| item.unwrap().ciphertext.decode().unwrap())
            .collect();
        sealed[100].truncate(60);
        let items = sealed.iter().map(|sealed| open(sealed, b""));
        let body = codec.encode(&Body::Many(items.collect())).unwrap();
        // Asked in one form and answered in the other.
        let other = FORMS[usize::from(codec == Codec::Json)];
        let request = wire
            .request(Method::POST, &path(EXCHANGE, "decrypt"))
            .header(header::CONTENT_TYPE, codec.media_type())
            .header(header::ACCEPT, other.media_type())
            .body(Full::new(Bytes::from(body)));
        let got = wire.send_request(request.unwrap()).unwrap();
        assert_eq!(got.header("content-type"), Some(other.media_type()));
        let opened: BatchAnswer<OpenAnswer<'_>> = other.decode(&got.body).unwrap();
        assert_eq!(opened.failed, 1);
        for (place, (item, plain)) in opened.items.into_iter().zip(&plain).enumerate() {
            match item.into_result() {
                Ok(item) => assert_eq!(&item.plaintext.decode().unwrap(), plain),
                Err(error) => {
                    assert_eq!((place, error.code.as_str()), (100, "ciphertext_malformed"))
                }
            }
        }
    }
    site.stop().verify();
}

#[test]
fn a_refusal_has_the_same_status_code_and_sentence_in_both_forms() {
    let home = Home::demo()
        .configure("items = 10000", "items = 3")
        .configure("body_bytes = 16777216", "body_bytes = 20000");
    let site = Site::over(home);
    let mut wire = site.wire(TRADING, BOTH[0]);
    let item = |plaintext, aad| SealItem {
        plaintext: Binary::new(plaintext),
        aad: Some(Binary::new(aad)),
    };
    let long = [7; 20_000];
    let encrypt = path(EXCHANGE, "encrypt");
    let nothing = path("nothing", "encrypt");
    for (path, body, status, code) in [
        (&encrypt, Body::One(item(&long, b"")), 413, "body_too_large"),
        (
            &encrypt,
            Body::Many((0..4).map(|_| item(b"", b"")).collect()),
            413,
            "too_many_items",
        ),
        (
            &nothing,
            Body::One(item(b"", b"")),
            404,
            "context_not_found",
        ),
        (
            &"/v1/nothing".to_owned(),
            Body::One(item(b"", b"")),
            404,
            "route_not_found",
        ),
        (
            &path(EXCHANGE, "datakey"),
            Body::One(item(b"", b"")),
            400,
            "request_malformed",
        ),
    ] {
        let mut sentences = FORMS.map(|codec| {
            let got = ask(&mut wire, codec, path, codec.encode(&body).unwrap());
            assert_eq!(got.status, status, "{code}");
            let answer: ErrorAnswer = codec.decode(&got.body).unwrap();
            assert_eq!(answer.error.code, code);
            assert!(answer.error.request.is_some());
            answer.error.message
        });
        for sentence in &mut sentences {
            // Where it is wrong has a name in each form.
            let end = sentence.find(" (").unwrap_or(sentence.len());
            sentence.truncate(end);
        }
        assert_eq!(sentences[0], sentences[1]);
    }
    site.stop().verify();
}

#[test]
fn a_wrong_method_is_refused_in_the_form_that_was_asked_for_and_a_route_without_items_has_one() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, BOTH[0]);
    let encrypt = path(EXCHANGE, "encrypt");
    let request = |method, path: &str| {
        wire.request(method, path)
            .header(header::ACCEPT, Codec::Cbor.media_type())
            .body(Full::new(Bytes::new()))
            .unwrap()
    };
    let (wrong, health) = (
        request(Method::GET, &encrypt),
        request(Method::GET, "/v1/health"),
    );
    let got = wire.send_request(wrong).unwrap();
    assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
    let answer: ErrorAnswer = Codec::Cbor.decode(&got.body).unwrap();
    assert_eq!(answer.error.code, "method_not_allowed");
    let got = wire.send_request(health).unwrap();
    assert_eq!(got.header("content-type"), Some("application/json"));
    assert_eq!(got.json()["status"], "ready");
    site.stop().verify();
}

#[test]
fn random_bytes_come_in_both_forms() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, BOTH[0]);
    for codec in FORMS {
        let body = codec.encode(&Body::One(RandomItem { bytes: 65_536 }));
        let got = ask(&mut wire, codec, "/v1/random", body.unwrap());
        let answer: RandomAnswer<'_> = codec.decode(&got.body).unwrap();
        assert_eq!(answer.random.decode().unwrap().len(), 65_536);
    }
    site.stop();
}
