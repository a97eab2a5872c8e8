//! What the server writes is what the client's types read.

use keywright_api::answer::{
    AgreeAnswer, BatchAnswer, DatakeyAnswer, DatakeyOpenAnswer, ErrorAnswer, HealthAnswer,
    ItemResult, KeyExportAnswer, MacAnswer, MaskAnswer, OpenAnswer, PublicKeyAnswer, RandomAnswer,
    SealAnswer, SignAnswer, TokenAnswer, ValueAnswer, VerifyAnswer, XpubAnswer,
};
use keywright_api::error::{Refusal, entry};
use keywright_api::write::{Batch, Done};
use keywright_api::{Codec, Limits, MAX_RANDOM};
use keywright_clock::WallTime;
use keywright_types::{Code, DataKeyId, KeyVersion, RequestId};

const ID: DataKeyId = DataKeyId::from_bytes([0xAB; 16]);
const TIME: WallTime = WallTime::from_unix_seconds(1_800_000_000);

fn one(done: &Done<'_>) -> Vec<u8> {
    keywright_api::write::one(Codec::Json, done)
}

fn version(number: u32) -> KeyVersion {
    KeyVersion::from_number(number)
}

#[test]
fn a_sealed_message_reads_back_at_every_length_and_version() {
    for length in (0..100).chain([4096, 100_000]) {
        for number in [0, 1, 9, 10, 99, 100, 4_294_967_295] {
            let ciphertext = vec![0xA7; length];
            let done = Done::Sealed {
                ciphertext: &ciphertext,
                version: version(number),
            };
            let written = one(&done);
            let answer: SealAnswer<'_> = serde_json::from_slice(&written).unwrap();
            assert_eq!(answer.ciphertext.decode().unwrap(), ciphertext);
            assert_eq!(answer.key_version, version(number));
        }
    }
}

#[test]
fn every_kind_of_item_reads_back() {
    let written = one(&Done::Opened {
        plaintext: b"Hello",
        version: version(3),
    });
    assert_eq!(written, br#"{"plaintext":"SGVsbG8=","key_version":3}"#);
    let answer: OpenAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!(
        (answer.plaintext.decode().unwrap(), answer.key_version),
        (b"Hello".to_vec(), version(3))
    );

    let bytes = vec![9; usize::try_from(MAX_RANDOM).unwrap()];
    let written = one(&Done::Random(&bytes));
    let answer: RandomAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!(answer.random.decode().unwrap(), bytes);

    for plaintext in [Some(&[7; 32][..]), None] {
        let done = Done::Datakey {
            id: ID,
            plaintext,
            ciphertext: b"wrapped",
            version: version(1),
            not_after: TIME,
        };
        let written = one(&done);
        let answer: DatakeyAnswer<'_> = serde_json::from_slice(&written).unwrap();
        assert_eq!(answer.id, ID);
        assert_eq!(
            answer.plaintext.map(|p| p.decode().unwrap()),
            plaintext.map(<[u8]>::to_vec)
        );
        assert_eq!(answer.ciphertext.decode().unwrap(), b"wrapped");
        assert_eq!(
            (answer.key_version, answer.not_after.as_str()),
            (version(1), "2027-01-15T08:00:00Z")
        );
    }

    let done = Done::DatakeyOpened {
        id: ID,
        plaintext: &[7; 32],
        version: version(2),
        not_after: TIME,
    };
    let written = one(&done);
    let answer: DatakeyOpenAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!(answer.plaintext.decode().unwrap(), [7; 32]);
    assert_eq!(
        (answer.id, answer.key_version, answer.not_after.as_str()),
        (ID, version(2), "2027-01-15T08:00:00Z")
    );
}

#[test]
fn the_room_of_one_item_is_never_too_little() {
    // The largest fields that can occur; a buffer that had to grow would have more room than it asked for.
    let plaintext = [7; 32];
    for length in 0..200 {
        let ciphertext = vec![1; length];
        let done = Done::Datakey {
            id: ID,
            plaintext: Some(&plaintext),
            ciphertext: &ciphertext,
            version: version(u32::MAX),
            not_after: WallTime::from_unix_seconds(u64::MAX / 1_000_000_000),
        };
        let written = one(&done);
        assert!(
            written.capacity() < (length + 32) / 3 * 4 + 300,
            "{length}: {}",
            written.capacity()
        );
    }
}

#[test]
fn a_batch_keeps_order_and_counts_its_errors() {
    for capacity in [0, 100, 1 << 20] {
        let mut batch = Batch::new(Codec::Json, 0, capacity);
        for index in 0..1000_u32 {
            let bytes = index.to_be_bytes();
            batch.push(match index % 3 {
                0 => Err(Code::DecryptionFailed),
                _ => Ok(Done::Opened {
                    plaintext: &bytes,
                    version: version(index),
                }),
            });
        }
        assert_eq!((batch.count(), batch.failed()), (1000, 334));
        let written = batch.finish();
        let answer: BatchAnswer<OpenAnswer<'_>> = serde_json::from_slice(&written).unwrap();
        assert_eq!((answer.items.len(), answer.failed), (1000, 334));
        for (index, item) in (0_u32..).zip(answer.items) {
            match (index % 3, item.into_result()) {
                (0, Err(error)) => {
                    assert_eq!(error.code(), Some(Code::DecryptionFailed));
                    assert_eq!(error.message, entry(Code::DecryptionFailed).sentence());
                    assert_eq!(error.request, None);
                }
                (_, Ok(opened)) => {
                    assert_eq!(opened.plaintext.decode().unwrap(), index.to_be_bytes());
                    assert_eq!(opened.key_version, version(index));
                }
                (_, other) => panic!("{index}: {other:?}"),
            }
        }
    }
}

#[test]
fn the_smallest_batches_are_whole_json() {
    assert_eq!(
        Batch::new(Codec::Json, 0, 0).finish(),
        br#"{"items":[],"failed":0}"#
    );
    let mut batch = Batch::new(Codec::Json, 0, 0);
    batch.push(Ok(Done::Random(b"")));
    assert_eq!(batch.finish(), br#"{"items":[{"random":""}],"failed":0}"#);
}

#[test]
fn every_code_is_json_also_as_an_item() {
    let mut batch = Batch::new(Codec::Json, 0, 0);
    Code::ALL.iter().for_each(|&code| batch.push(Err(code)));
    let written = batch.finish();
    let answer: BatchAnswer<OpenAnswer<'_>> = serde_json::from_slice(&written).unwrap();
    for (&code, item) in Code::ALL.iter().zip(answer.items) {
        assert_eq!(item.into_result().unwrap_err().code(), Some(code));
    }
}

#[test]
fn a_client_passes_over_what_a_newer_server_adds() {
    let newer = r#"{"items":[{"new":[1],"plaintext":"YQ==","key_version":1},{"error":{"code":"from_the_future","message":"m","x":1},"hint":{}}],"failed":1,"more":null}"#;
    let answer: BatchAnswer<OpenAnswer<'_>> = serde_json::from_str(newer).unwrap();
    assert!(matches!(&answer.items[0], ItemResult::Done(item) if item.plaintext.text() == "YQ=="));
    match &answer.items[1] {
        ItemResult::Failed(error) => assert_eq!(
            (error.code.as_str(), error.code()),
            ("from_the_future", None)
        ),
        other @ ItemResult::Done(_) => panic!("{other:?}"),
    }
}

#[test]
fn an_item_that_is_neither_is_refused_by_the_client() {
    for item in [
        "{}",
        "null",
        r#"{"plaintext":"YQ=="}"#,
        r#"{"error":{}}"#,
        r#"{"error":null}"#,
        "[]",
    ] {
        let answer = format!("{{\"items\":[{item}],\"failed\":0}}");
        assert!(
            serde_json::from_str::<BatchAnswer<OpenAnswer<'_>>>(&answer).is_err(),
            "{item}"
        );
    }
}

#[test]
fn a_refusal_reads_back_with_the_request_id() {
    let id = RequestId::from_bytes([5; 16]);
    for &code in Code::ALL {
        let refusal = Refusal::new(code);
        let body = refusal.body(Codec::Json, &Limits::DEFAULT, id);
        let answer: ErrorAnswer = serde_json::from_slice(&body).unwrap();
        assert_eq!(answer.error.code(), Some(code));
        assert_eq!(answer.error.request, Some(id));
        assert_eq!(answer.error.message, refusal.message(&Limits::DEFAULT));
    }
}

#[test]
fn what_hands_out_secrets_prints_none_of_them() {
    let done = Done::Opened {
        plaintext: b"CANARY",
        version: version(1),
    };
    let mut batch = Batch::new(Codec::Json, 0, 0);
    batch.push(Ok(done));
    let written = one(&done);
    let answer: OpenAnswer<'_> = serde_json::from_slice(&written).unwrap();
    for printed in [
        format!("{done:?}"),
        format!("{batch:?}"),
        format!("{answer:?}"),
    ] {
        assert!(
            !printed.contains("CANARY") && !printed.contains("Q0FOQVJZ"),
            "{printed}"
        );
        assert!(!printed.contains("67, 65, 78"), "{printed}");
    }
}

#[test]
fn health_has_the_words_that_are_documented() {
    let text = r#"{"status":"degraded","holder":"failed","unfit_keys":2,"audit":"ok","store":"ok","certificates":"failed","clock":"uncertain","memory":"unlocked","epoch":7}"#;
    let answer: HealthAnswer = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&answer).unwrap(), text);
    // Of a server that does not count them.
    let older = text.replace("\"unfit_keys\":2,", "");
    let answer: HealthAnswer = serde_json::from_str(&older).unwrap();
    assert_eq!(answer.unfit_keys, 0);
}

#[test]
fn texts_of_every_character_read_back() {
    let all: String = (0..=0x2FF_u32).filter_map(char::from_u32).collect();
    let texts = [
        "",
        "4111111111111111",
        "\"",
        "\\",
        "a\"b\\c\u{0}\n\u{1f}\u{7f}\u{2028}",
        "\u{1F600} und so",
        &all,
    ];
    for text in texts {
        let version = version(7);
        let written = [
            one(&Done::Tokenized {
                token: text,
                version,
            }),
            one(&Done::Detokenized {
                value: text,
                version,
            }),
            one(&Done::Masked {
                masked: text,
                version,
            }),
        ];
        let token: TokenAnswer<'_> = serde_json::from_slice(&written[0]).unwrap();
        let value: ValueAnswer<'_> = serde_json::from_slice(&written[1]).unwrap();
        let masked: MaskAnswer<'_> = serde_json::from_slice(&written[2]).unwrap();
        let read = [&token.token, &value.value, &masked.masked];
        assert!(read.iter().all(|one| one.expose() == text), "{text:?}");
        assert_eq!(
            [token.key_version, value.key_version, masked.key_version],
            [version; 3]
        );
    }
}

#[test]
fn a_batch_of_texts_that_all_need_escapes_is_whole() {
    let mut batch = Batch::new(Codec::Json, 0, 0);
    let text = "\u{1}\"".repeat(300);
    for _ in 0..50 {
        batch.push(Ok(Done::Tokenized {
            token: &text,
            version: version(1),
        }));
    }
    let written = batch.finish();
    let answer: BatchAnswer<TokenAnswer<'_>> = serde_json::from_slice(&written).unwrap();
    assert_eq!(answer.items.len(), 50);
    for item in answer.items {
        assert_eq!(item.into_result().unwrap().token.expose(), text);
    }
}

#[test]
fn what_was_done_with_keys_reads_back() {
    let version = version(9);
    let written = one(&Done::Signed {
        signature: &[7; 65],
        version,
    });
    let signed: SignAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!(signed.signature.decode().unwrap(), [7; 65]);
    for valid in [true, false] {
        let written = one(&Done::Verified { valid, version });
        let read: VerifyAnswer = serde_json::from_slice(&written).unwrap();
        assert_eq!((read.valid, read.key_version), (valid, version));
    }
    let written = one(&Done::Agreed {
        secret: &[1; 32],
        version,
    });
    let agreed: AgreeAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!(agreed.secret.decode().unwrap(), [1; 32]);
    let pem = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    let written = one(&Done::PublicKey {
        public_key: &[2; 33],
        jwk: r#"{"crv":"P-256","kty":"EC","x":"AA","y":"BB"}"#,
        pem,
        version,
    });
    let key: PublicKeyAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!((key.pem.as_str(), key.jwk["y"].as_str()), (pem, "BB"));
    assert_eq!(key.public_key.decode().unwrap(), [2; 33]);
    let written = one(&Done::Xpub {
        xpub: "xpub1",
        version,
    });
    let xpub: XpubAnswer = serde_json::from_slice(&written).unwrap();
    assert_eq!((xpub.xpub.as_str(), xpub.key_version), ("xpub1", version));
    let written = one(&Done::Exported {
        private_key: &[3; 32],
        scheme: "slip10-ed25519",
        seed: "raw",
        version,
    });
    let out: KeyExportAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!(
        (out.scheme.as_str(), out.seed.as_str()),
        ("slip10-ed25519", "raw")
    );
    assert_eq!(out.private_key.decode().unwrap(), [3; 32]);
    let written = one(&Done::Mac {
        mac: &[4; 16],
        version,
    });
    let mac: MacAnswer<'_> = serde_json::from_slice(&written).unwrap();
    assert_eq!(mac.mac.decode().unwrap(), [4; 16]);
}
