//! What a body may be. Everything else is one code, and shows nothing of the body.

use keywright_api::error::Refusal;
use keywright_api::request::{
    Body, DatakeyItem, OpenItem, RandomItem, SealItem, Sink, TokenItem, ValueItem, parse,
};
use keywright_api::{Binary, Codec, Limits};
use keywright_types::{Code, RequestId};

fn seal(body: &str) -> Result<Body<SealItem<'_>>, Refusal> {
    parse(body.as_bytes(), &Limits::DEFAULT)
}

#[test]
fn one_item_and_a_batch_are_told_apart() {
    let one = seal(r#"{"plaintext":"SGVsbG8=","aad":"cm93"}"#).unwrap();
    assert!(!one.is_batch());
    assert_eq!(one.items()[0].plaintext.text(), "SGVsbG8=");
    assert_eq!(one.items()[0].aad.as_ref().unwrap().text(), "cm93");
    let batch =
        seal(r#" { "items" : [ {"plaintext":"YQ=="}, {"aad":"","plaintext":""} ] } "#).unwrap();
    assert!(batch.is_batch());
    assert_eq!(batch.items().len(), 2);
    assert_eq!(batch.items()[0].plaintext.decode().unwrap(), b"a");
    assert!(batch.items()[0].aad.is_none());
    let batch_of_one = seal(r#"{"items":[{"plaintext":""}]}"#).unwrap();
    assert!(batch_of_one.is_batch());
}

/// What a sink was told, in order.
#[derive(Debug, Default, PartialEq)]
struct Heard(Vec<String>);

impl Sink<SealItem<'_>> for Heard {
    fn batch(&mut self, items: usize) {
        self.0.push(format!("batch of {items}"));
    }

    fn take(&mut self, item: SealItem<'_>) {
        let text = item.plaintext.decode().unwrap();
        self.0.push(String::from_utf8(text).unwrap());
    }
}

fn heard(codec: Codec, body: &[u8], items: usize) -> (Vec<String>, Result<(), Refusal>) {
    let mut limits = Limits::DEFAULT;
    limits.items = items;
    let mut heard = Heard::default();
    let read = codec.read_into(body, &limits, &mut heard);
    (heard.0, read)
}

#[test]
fn items_are_handed_on_as_they_are_read_and_a_batch_is_said_before() {
    let item = |text: &'static [u8]| SealItem {
        plaintext: Binary::new(text),
        aad: None,
    };
    for codec in [Codec::Json, Codec::Cbor] {
        let one = codec.encode(&Body::One(item(b"a"))).unwrap();
        assert_eq!(heard(codec, &one, 2), (vec!["a".to_owned()], Ok(())));
        for texts in [&[&b"a"[..]][..], &[b"a", b"b"]] {
            let many = Body::Many(texts.iter().map(|text| item(text)).collect());
            let (told, read) = heard(codec, &codec.encode(&many).unwrap(), 2);
            assert_eq!(read, Ok(()));
            // JSON does not say how many are to come.
            let announced = match codec {
                Codec::Cbor => texts.len(),
                Codec::Json => 0,
            };
            assert_eq!(told[0], format!("batch of {announced}"));
            assert_eq!(told[1..], ["a", "b"][..texts.len()]);
        }
    }
}

#[test]
fn whatever_was_handed_on_a_body_is_refused_as_a_whole_and_as_it_is_when_it_is_kept() {
    let cbor = |items: &[u8]| [b"\xa1\x65items", items].concat();
    let (a, b) = (b"\xa1\x69plaintext\x41a", b"\xa1\x69plaintext\x41b");
    let bodies = [
        (Codec::Json, br#"{"items":[]}"#.to_vec(), 0),
        (
            Codec::Json,
            br#"{"items":[{"plaintext":"YQ=="},{}]}"#.to_vec(),
            1,
        ),
        (
            Codec::Json,
            br#"{"items":[{"plaintext":"YQ=="}],"x":1}"#.to_vec(),
            1,
        ),
        (
            Codec::Json,
            br#"{"items":[{"plaintext":"YQ=="}]} x"#.to_vec(),
            1,
        ),
        (Codec::Json, br#"{"plaintext":"YQ=="} x"#.to_vec(), 1),
        (
            Codec::Json,
            br#"{"plaintext":"YQ==","items":[]}"#.to_vec(),
            0,
        ),
        (
            Codec::Json,
            br#"{"items":[{"plaintext":"YQ=="},{"plaintext":"YQ=="},{"plaintext":"YQ=="}]}"#
                .to_vec(),
            2,
        ),
        (Codec::Cbor, cbor(b"\x80"), 0),
        (Codec::Cbor, cbor(&[&b"\x82"[..], a, b"\xa0"].concat()), 1),
        (Codec::Cbor, cbor(&[&b"\x82"[..], a].concat()), 1),
        (Codec::Cbor, cbor(&[&b"\x81"[..], a, b"\x00"].concat()), 1),
        (Codec::Cbor, cbor(&[&b"\x83"[..], a, b, a].concat()), 2),
    ];
    for (codec, body, taken) in bodies {
        let (told, read) = heard(codec, &body, 2);
        let refusal = read.unwrap_err();
        let items = told.iter().filter(|what| !what.starts_with("batch"));
        assert_eq!(items.count(), taken, "{told:?}");
        let mut limits = Limits::DEFAULT;
        limits.items = 2;
        let kept = codec.read::<SealItem<'_>>(&body, &limits);
        assert_eq!(kept.err().as_ref(), Some(&refusal));
        let code = match taken {
            2 => Code::TooManyItems,
            _ => Code::RequestMalformed,
        };
        assert_eq!(refusal.code(), code);
    }
}

#[test]
fn fields_are_borrowed_from_the_body() {
    let body = r#"{"items":[{"plaintext":"SGVsbG8=","aad":"cm93"}]}"#;
    let request = seal(body).unwrap();
    let inside = |text: &str| body.as_bytes().as_ptr_range().contains(&text.as_ptr());
    assert!(inside(&request.items()[0].plaintext.text()));
    assert!(inside(&request.items()[0].aad.as_ref().unwrap().text()));
}

#[test]
fn escapes_that_json_allows_are_understood() {
    let request = seal(r#"{"pl\u0061intext":"\/\u002B8=","aad":null}"#).unwrap();
    assert_eq!(request.items()[0].plaintext.decode().unwrap(), [0xFF, 0xEF]);
    assert!(request.items()[0].aad.is_none());
    assert!(
        seal(r#"{"it\u0065ms":[{"plaintext":""}]}"#)
            .unwrap()
            .is_batch()
    );
}

#[test]
fn other_bodies_are_malformed() {
    let bodies = [
        "",
        " ",
        "null",
        "true",
        "1",
        "\"x\"",
        "[]",
        "{}",
        "{",
        "}",
        "{\"plaintext\"",
        "{\"plaintext\":}",
        r#"{"plaintext":"YQ=="} x"#,
        r#"{"plaintext":"YQ=="}{}"#,
        r#"{"plaintext":"YQ==",}"#,
        r#"{"plaintext":null}"#,
        r#"{"plaintext":1}"#,
        r#"{"plaintext":["YQ=="]}"#,
        r#"{"plaintext":{}}"#,
        r#"{"Plaintext":"YQ=="}"#,
        r#"{"plaintext":"YQ==","plaintext":"YQ=="}"#,
        r#"{"plaintext":"YQ==","aad":"","aad":""}"#,
        r#"{"plaintext":"YQ==","nonce":"YQ=="}"#,
        r#"{"plaintext":"YQ==","context":"a"}"#,
        r#"{"plaintext":"YQ==","key_version":1}"#,
        r#"{"ciphertext":"YQ=="}"#,
        r#"{"aad":"YQ=="}"#,
        r#"{"plaintext":"YQ==","aad":7}"#,
        r#"{"items":null}"#,
        r#"{"items":{}}"#,
        r#"{"items":[]}"#,
        r#"{"items":"YQ=="}"#,
        r#"{"items":[null]}"#,
        r#"{"items":["YQ=="]}"#,
        r#"{"items":[{}]}"#,
        r#"{"items":[[]]}"#,
        r#"{"items":[{"plaintext":"YQ=="},{}]}"#,
        r#"{"items":[{"plaintext":"YQ==","x":1}]}"#,
        r#"{"items":[{"plaintext":"YQ=="}],"plaintext":"YQ=="}"#,
        r#"{"plaintext":"YQ==","items":[{"plaintext":"YQ=="}]}"#,
        r#"{"items":[{"plaintext":"YQ=="}],"items":[{"plaintext":"YQ=="}]}"#,
        r#"{"items":[{"plaintext":"YQ=="}],"aad":""}"#,
        r#"{"items":[{"items":[{"plaintext":""}]}]}"#,
        "{\"plaintext\":\"a\nb\"}",
        r#"{"plaintext":"\ud800"}"#,
        "\u{feff}{\"plaintext\":\"\"}",
    ];
    for body in bodies {
        let refusal = seal(body).map(drop).expect_err(body);
        assert_eq!(refusal.code(), Code::RequestMalformed, "{body}");
    }
    let deep = format!("{{\"items\":{}", "[".repeat(100_000));
    assert_eq!(
        seal(&deep).map(drop).unwrap_err().code(),
        Code::RequestMalformed
    );
}

#[test]
fn bytes_that_are_no_text_are_malformed_and_their_place_is_named() {
    let body = b"{\n  \"plaintext\":\"\xFF\"}";
    let refusal = parse::<SealItem<'_>>(body, &Limits::DEFAULT)
        .map(drop)
        .unwrap_err();
    assert_eq!(refusal.code(), Code::RequestMalformed);
    let message = refusal.message(&Limits::DEFAULT);
    assert!(message.ends_with("(line 2, column 16)"), "{message}");
}

#[test]
fn a_refusal_names_the_form_and_the_place_and_nothing_of_the_body() {
    for body in [
        r#"{"items":"CANARY"}"#,
        r#"{"CANARY":1}"#,
        r#"{"plaintext":CANARY}"#,
        r#"{"plaintext":"x","CANARY":"CANARY"}"#,
        r#"{"items":[{"plaintext":{"CANARY":"CANARY"}}]}"#,
        "CANARY",
    ] {
        let refusal = seal(body).map(drop).expect_err(body);
        let answer = refusal.body(
            Codec::Json,
            &Limits::DEFAULT,
            RequestId::from_bytes([1; 16]),
        );
        let answer = String::from_utf8(answer).unwrap();
        assert!(!answer.contains("CANARY"), "{answer}");
        assert!(
            answer.contains("`plaintext` and optional `aad`, or `items`"),
            "{answer}"
        );
        assert!(answer.contains("(line 1, column "), "{answer}");
        assert!(!format!("{refusal:?}").contains("CANARY"));
    }
}

#[test]
fn binary_fields_print_their_length_only() {
    let request = seal(r#"{"plaintext":"Q0FOQVJZ","aad":"\u0051"}"#).unwrap();
    let printed = format!("{request:?}");
    assert!(printed.contains("Binary(8 characters)"), "{printed}");
    assert!(!printed.contains("Q0FOQVJZ"), "{printed}");
}

#[test]
fn whether_a_field_is_base64_is_a_matter_of_the_item() {
    let request = seal(r#"{"items":[{"plaintext":"!"},{"plaintext":"YQ=="}]}"#).unwrap();
    assert!(request.items()[0].plaintext.decode().is_err());
    assert!(request.items()[1].plaintext.decode().is_ok());
    for wrong in ["YQ", "YQ=", "YR==", "YQ==\n", " YQ==", "_-==", "YQ==YQ=="] {
        let mut out = vec![7];
        assert!(
            Binary::from_text(wrong).decode_into(&mut out).is_err(),
            "{wrong}"
        );
        assert_eq!(out, [7]);
    }
}

#[test]
fn the_bound_before_decoding_is_never_below_the_truth() {
    for length in 0..50 {
        let field = Binary::encode(&vec![0; length]);
        assert!(
            field.bytes_at_most() >= length && field.bytes_at_most() <= length + 2,
            "{length}"
        );
    }
}

#[test]
fn limits_are_exact() {
    let mut limits = Limits::DEFAULT;
    limits.items = 3;
    let batch = |count: usize| {
        format!(
            "{{\"items\":[{}]}}",
            vec![r#"{"bytes":1}"#; count].join(",")
        )
    };
    let read = |body: &str, limits: &Limits| {
        parse::<RandomItem>(body.as_bytes(), limits)
            .map(|request| request.items().len())
            .map_err(|r| r.code())
    };
    assert_eq!(read(&batch(3), &limits), Ok(3));
    assert_eq!(read(&batch(4), &limits), Err(Code::TooManyItems));
    assert_eq!(read(&batch(10_000), &Limits::DEFAULT), Ok(10_000));
    assert_eq!(
        read(&batch(10_001), &Limits::DEFAULT),
        Err(Code::TooManyItems)
    );
    let body = batch(3);
    limits.body_bytes = body.len();
    assert_eq!(read(&body, &limits), Ok(3));
    limits.body_bytes = body.len() - 1;
    assert_eq!(read(&body, &limits), Err(Code::BodyTooLarge));
    // A malformed item within the limit is malformed, also if more would follow.
    limits = Limits::DEFAULT;
    limits.items = 3;
    let broken = batch(4).replacen("\"bytes\"", "\"byte\"", 1);
    assert_eq!(read(&broken, &limits), Err(Code::RequestMalformed));
}

#[test]
fn an_empty_object_asks_for_one_data_key_with_its_plain_form() {
    let read = |body: &'static str| parse::<DatakeyItem<'_>>(body.as_bytes(), &Limits::DEFAULT);
    let one = read("{}").unwrap();
    assert!(!one.is_batch() && one.items()[0].plain && one.items()[0].aad.is_none());
    assert!(!read(r#"{"plain":false}"#).unwrap().items()[0].plain);
    assert_eq!(
        read(r#"{"items":[{},{"plain":false,"aad":"YQ=="}]}"#)
            .unwrap()
            .items()
            .len(),
        2
    );
    for wrong in [
        r#"{"plain":1}"#,
        r#"{"plain":"true"}"#,
        r#"{"plain":null}"#,
        r#"{"items":[]}"#,
        r#"{"bytes":32}"#,
    ] {
        assert_eq!(
            read(wrong).map(drop).unwrap_err().code(),
            Code::RequestMalformed,
            "{wrong}"
        );
    }
}

#[test]
fn a_count_of_random_bytes_is_a_whole_number() {
    let read = |body: &'static str| parse::<RandomItem>(body.as_bytes(), &Limits::DEFAULT);
    // Outside 1 to 65,536 is `value_invalid`, which the use case decides.
    for (body, bytes) in [
        (r#"{"bytes":0}"#, 0),
        (r#"{"bytes":65537}"#, 65_537),
        (r#"{"bytes":18446744073709551615}"#, u64::MAX),
    ] {
        assert_eq!(read(body).unwrap().items()[0].bytes, bytes);
    }
    for wrong in [
        r#"{"bytes":-1}"#,
        r#"{"bytes":1.5}"#,
        r#"{"bytes":"16"}"#,
        r#"{"bytes":18446744073709551616}"#,
        "{}",
    ] {
        assert_eq!(
            read(wrong).map(drop).unwrap_err().code(),
            Code::RequestMalformed,
            "{wrong}"
        );
    }
}

#[test]
fn what_a_client_writes_the_server_reads() {
    let items = || {
        (0..5_u8).map(|index| OpenItem {
            ciphertext: Binary::encode(&vec![index; usize::from(index) * 7]),
            aad: (index % 2 == 0).then(|| Binary::encode(&[index])),
        })
    };
    let written = serde_json::to_vec(&Body::Many(items().collect())).unwrap();
    let read = parse::<OpenItem<'_>>(&written, &Limits::DEFAULT).unwrap();
    assert!(read.is_batch());
    for (read, sent) in read.items().iter().zip(items()) {
        assert_eq!(read.ciphertext.decode(), sent.ciphertext.decode());
        let aad = |item: &OpenItem<'_>| item.aad.as_ref().map(|aad| aad.decode().unwrap());
        assert_eq!(aad(read), aad(&sent));
    }
    let written = serde_json::to_vec(&Body::One(RandomItem { bytes: 16 })).unwrap();
    assert_eq!(written, br#"{"bytes":16}"#);
}

#[test]
fn a_token_without_its_version_is_refused_and_told_what_is_missing() {
    let good = r#"{"token":"4111","key_version":3,"tweak":{"a":"b","c":""}}"#;
    let request: Body<TokenItem<'_>> = parse(good.as_bytes(), &Limits::DEFAULT).unwrap();
    let item = &request.items()[0];
    assert_eq!(
        (item.token.expose(), item.key_version.number()),
        ("4111", 3)
    );
    let cells: Vec<_> = item.tweak.as_ref().unwrap().iter().collect();
    assert_eq!(cells, [("a", "b"), ("c", "")]);
    for bad in [
        r#"{"token":"4111"}"#,
        r#"{"items":[{"token":"4111","key_version":1},{"token":"4111"}]}"#,
        r#"{"token":"4111","key_version":null}"#,
        r#"{"token":"4111","key_version":"1"}"#,
        r#"{"token":"4111","key_version":-1}"#,
        r#"{"token":"4111","key_version":4294967296}"#,
        r#"{"token":"4111","key_version":1.5}"#,
    ] {
        let refused = parse::<TokenItem<'_>>(bad.as_bytes(), &Limits::DEFAULT);
        let refused = refused.map(drop).expect_err(bad);
        assert_eq!(refused.code(), Code::RequestMalformed);
        let message = refused.message(&Limits::DEFAULT);
        assert!(
            message.contains("the `key_version` that tokenize answered"),
            "{message}"
        );
        assert!(!message.contains("4111"), "{message}");
    }
}

#[test]
fn tweaks_are_objects_of_texts_without_a_column_twice() {
    for bad in [
        r#"{"value":"1","tweak":[]}"#,
        r#"{"value":"1","tweak":"a"}"#,
        r#"{"value":"1","tweak":{"a":1}}"#,
        r#"{"value":"1","tweak":{"a":null}}"#,
        r#"{"value":"1","tweak":{"a":"1","a":"2"}}"#,
        r#"{"value":"1","tweak":{"a":"1","\u0061":"2"}}"#,
        r#"{"value":1}"#,
        r#"{"value":"1","key_version":1}"#,
        r#"{"tweak":{}}"#,
    ] {
        assert!(
            parse::<ValueItem<'_>>(bad.as_bytes(), &Limits::DEFAULT).is_err(),
            "{bad}"
        );
    }
    let many: Vec<_> = (0..65).map(|n| format!("\"c{n}\":\"x\"")).collect();
    let body = |count: usize| format!(r#"{{"value":"1","tweak":{{{}}}}}"#, many[..count].join(","));
    let read = |count| parse::<ValueItem<'_>>(body(count).as_bytes(), &Limits::DEFAULT).is_ok();
    assert!(read(64) && !read(65));
    let escaped = r#"{"value":"\u0034\"1","tweak":null}"#;
    let request: Body<ValueItem<'_>> = parse(escaped.as_bytes(), &Limits::DEFAULT).unwrap();
    assert_eq!(request.items()[0].value.expose(), "4\"1");
    assert!(request.items()[0].tweak.is_none());
    let shown = format!("{request:?}");
    assert!(
        !shown.contains("4\\\"1") && shown.contains("Text(3 bytes)"),
        "{shown}"
    );
}
