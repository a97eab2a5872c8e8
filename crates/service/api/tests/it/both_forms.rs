//! JSON and CBOR say the same: of requests, of answers of every kind, and of refusals.

use std::fmt;

use keywright_api::answer::{BatchAnswer, ErrorAnswer, OpenAnswer};
use keywright_api::error::Refusal;
use keywright_api::request::{Body, OpenItem, RewrapItem, ValueItem};
use keywright_api::write::{Batch, Done, one};
use keywright_api::{Binary, Codec, Limits, Text, Tweak};
use keywright_clock::WallTime;
use keywright_encoding::{base64, hex};
use keywright_types::{Code, DataKeyId, KeyVersion, RequestId};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What CBOR says, as JSON says it: bytes as base64.
#[derive(Debug, PartialEq)]
struct Told(Value);

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(value.into())
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(value.into())
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(text.into())
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value, E> {
                Ok(base64::encode(bytes).into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                let mut items = Vec::new();
                while let Some(Told(item)) = list.next_element()? {
                    items.push(item);
                }
                Ok(items.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut members = Map::new();
                while let Some((name, Told(value))) = map.next_entry::<String, Told>()? {
                    assert!(members.insert(name, value).is_none(), "a name twice");
                }
                Ok(members.into())
            }
        }

        deserializer.deserialize_any(Any).map(Self)
    }
}

fn same(json: &[u8], cbor: &[u8]) {
    let json: Value = serde_json::from_slice(json).unwrap();
    let Told(cbor) = Codec::Cbor.decode(cbor).unwrap();
    assert_eq!(json, cbor);
}

/// Bytes of every length that a head can tell apart.
fn lengths() -> impl Iterator<Item = Vec<u8>> {
    let lengths = [0, 1, 23, 24, 64, 255, 256, 4096, 65_535, 65_536, 100_000];
    lengths.into_iter().map(|length| {
        let byte = |place: usize| u8::try_from(place * 7 % 256).unwrap();
        (0..length).map(byte).collect()
    })
}

#[test]
fn what_a_client_writes_says_the_same_in_both_forms() {
    for bytes in lengths() {
        for aad in [None, Some(&bytes[..])] {
            let item = || RewrapItem {
                ciphertext: Binary::new(&bytes),
                aad: aad.map(Binary::new),
                key_id: Some(Text::new("kw1.\u{fc}\".1")),
            };
            for body in [Body::One(item()), Body::Many(vec![item(), item()])] {
                let [json, cbor] = [Codec::Json, Codec::Cbor].map(|c| c.encode(&body).unwrap());
                same(&json, &cbor);
                // What was read in one form is written in the other.
                let read: Body<RewrapItem<'_>> = Codec::Json.read(&json, &Limits::DEFAULT).unwrap();
                assert_eq!(Codec::Cbor.encode(&read).unwrap(), cbor);
                let read: Body<RewrapItem<'_>> = Codec::Cbor.read(&cbor, &Limits::DEFAULT).unwrap();
                assert_eq!(Codec::Json.encode(&read).unwrap(), json);
            }
        }
    }
    let item = ValueItem {
        value: Text::new("\u{1}\"\u{1F600}"),
        tweak: Some(Tweak::new(vec![(Text::new("a"), Text::new("\\"))])),
    };
    let body = Body::One(item);
    let [json, cbor] = [Codec::Json, Codec::Cbor].map(|codec| codec.encode(&body).unwrap());
    same(&json, &cbor);
}

#[test]
fn a_text_that_is_no_base64_has_no_binary_form() {
    let item = OpenItem {
        ciphertext: Binary::from_text("!"),
        aad: None,
    };
    assert!(Codec::Cbor.encode(&item).is_err());
    assert!(Codec::Json.encode(&item).is_ok());
}

/// An answer of every kind.
fn answers<'a>(bytes: &'a [u8], text: &'a str, version: KeyVersion) -> Vec<Done<'a>> {
    let mut all = about_messages(bytes, version);
    all.extend(about_texts(text, version));
    all.extend(about_keys(bytes, text, version));
    all
}

fn about_messages(bytes: &[u8], version: KeyVersion) -> Vec<Done<'_>> {
    let id = DataKeyId::from_bytes([0xAB; 16]);
    let not_after = WallTime::from_unix_seconds(1_800_000_000);
    let datakey = |plaintext| Done::Datakey {
        id,
        plaintext,
        ciphertext: bytes,
        version,
        not_after,
    };
    vec![
        datakey(None),
        datakey(Some(&[7; 32])),
        Done::DatakeyOpened {
            id,
            plaintext: bytes,
            version,
            not_after,
        },
        Done::Opened {
            plaintext: bytes,
            version,
        },
        Done::Random(bytes),
        Done::Sealed {
            ciphertext: bytes,
            version,
        },
    ]
}

fn about_texts(text: &str, version: KeyVersion) -> [Done<'_>; 4] {
    [
        Done::Detokenized {
            value: text,
            version,
        },
        Done::Masked {
            masked: text,
            version,
        },
        Done::Tokenized {
            token: text,
            version,
        },
        Done::Xpub {
            xpub: text,
            version,
        },
    ]
}

fn about_keys<'a>(bytes: &'a [u8], text: &'a str, version: KeyVersion) -> Vec<Done<'a>> {
    let verified = |valid| Done::Verified { valid, version };
    vec![
        Done::Agreed {
            secret: bytes,
            version,
        },
        Done::Exported {
            private_key: bytes,
            scheme: "slip10-ed25519",
            seed: text,
            version,
        },
        Done::Mac {
            mac: bytes,
            version,
        },
        Done::PublicKey {
            public_key: bytes,
            jwk: r#"{"crv":"P-256","kty":"EC","x":"AA","y":"BB"}"#,
            pem: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
            version,
        },
        Done::Signed {
            signature: bytes,
            version,
        },
        verified(true),
        verified(false),
    ]
}

#[test]
fn every_answer_says_the_same_in_both_forms_alone_and_in_batches() {
    let versions = [0, 23, 24, 255, 256, 65_536, u32::MAX].map(|number| (vec![7; 9], number));
    for (bytes, number) in lengths().map(|bytes| (bytes, 1)).chain(versions) {
        let text = "\u{0}\"\\\u{7f}\u{fc}\u{1F600}";
        let answers = answers(&bytes, text, KeyVersion::from_number(number));
        for done in &answers {
            same(&one(Codec::Json, done), &one(Codec::Cbor, done));
        }
        // Announced rightly, and wrongly in both directions.
        for announced in [0, answers.len() + 1, 30, 70_000] {
            let [json, cbor] = [Codec::Json, Codec::Cbor].map(|codec| {
                let mut batch = Batch::new(codec, announced, 0);
                answers.iter().for_each(|done| batch.push(Ok(*done)));
                batch.push(Err(Code::DecryptionFailed));
                assert_eq!((batch.count(), batch.failed()), (answers.len() + 1, 1));
                batch.finish()
            });
            same(&json, &cbor);
        }
    }
    let [json, cbor] = [Codec::Json, Codec::Cbor].map(|codec| Batch::new(codec, 0, 0).finish());
    same(&json, &cbor);
}

#[test]
fn an_answer_is_in_the_shortest_form_byte_for_byte() {
    let version = KeyVersion::FIRST;
    let opened = |plaintext| Done::Opened { plaintext, version };
    let alone = one(Codec::Cbor, &opened(b"Hello"));
    assert_eq!(alone, b"\xa2\x69plaintext\x45Hello\x6bkey_version\x01");
    let mut batch = Batch::new(Codec::Cbor, 2, 0);
    batch.push(Ok(opened(b"")));
    batch.push(Err(Code::DecryptionFailed));
    let written = batch.finish();
    let front = b"\xa2\x65items\x82\xa2\x69plaintext\x40\x6bkey_version\x01\xa1\x65error\xa2\x64code\x71decryption_failed\x67message\x78";
    assert!(written.starts_with(front), "{}", hex::encode(&written));
    assert!(written.ends_with(b"\x66failed\x01"));
    let read: BatchAnswer<OpenAnswer<'_>> = Codec::Cbor.decode(&written).unwrap();
    assert_eq!((read.items.len(), read.failed), (2, 1));
}

#[test]
fn every_refusal_says_the_same_in_both_forms() {
    for &code in Code::ALL {
        for id in [RequestId::NONE, RequestId::from_bytes([5; 16])] {
            let refusal = Refusal::new(code);
            let body = |codec| refusal.body(codec, &Limits::DEFAULT, id);
            let (json, cbor) = (body(Codec::Json), body(Codec::Cbor));
            same(&json, &cbor);
            assert_eq!(Codec::of_answer(&cbor), Codec::Cbor);
            let read: ErrorAnswer = Codec::Cbor.decode(&cbor).unwrap();
            assert_eq!(read.error.code(), Some(code));
        }
    }
}

#[test]
fn a_client_passes_over_what_a_newer_server_adds() {
    let newer = b"\xa3\x65items\x81\xa3\x63new\x81\xa1\x61x\xf6\x69plaintext\x41a\x6bkey_version\x01\x66failed\x00\x64more\xf5";
    let answer: BatchAnswer<OpenAnswer<'_>> = Codec::Cbor.decode(newer).unwrap();
    assert_eq!(answer.items.len(), 1);
    for wrong in [
        &b"\xa2\x65items\x81\xa0\x66failed\x00"[..],
        b"\xa2\x65items\x81\xf6\x66failed\x00",
        b"\xa2\x65items\x81\xa1\x65error\xa0\x66failed\x01",
        b"\xa2\x65items\x81\xa2\x69plaintext\x61a\x6bkey_version\x01\x66failed\x00",
        b"\xa1\x65items\x80",
    ] {
        assert!(
            Codec::Cbor
                .decode::<BatchAnswer<OpenAnswer<'_>>>(wrong)
                .is_err()
        );
    }
}

#[test]
fn what_hands_out_secrets_prints_none_of_them() {
    let done = Done::Opened {
        plaintext: b"CANARY",
        version: KeyVersion::FIRST,
    };
    let mut batch = Batch::new(Codec::Cbor, 1, 0);
    batch.push(Ok(done));
    let written = one(Codec::Cbor, &done);
    let answer: OpenAnswer<'_> = Codec::Cbor.decode(&written).unwrap();
    for printed in [format!("{batch:?}"), format!("{answer:?}")] {
        assert!(
            !printed.contains("CANARY") && !printed.contains("67, 65"),
            "{printed}"
        );
    }
}
