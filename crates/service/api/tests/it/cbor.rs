//! The binary form: what it reads is RFC 8949 in one spelling, and everything else is refused in its place.

use std::collections::BTreeMap;
use std::fmt;

use keywright_api::answer::SealAnswer;
use keywright_api::error::Refusal;
use keywright_api::request::{
    Body, DatakeyItem, RandomItem, SealItem, SignItem, SignatureForm, TokenItem,
};
use keywright_api::{Binary, Codec, Limits};
use keywright_encoding::hex;
use keywright_types::{Code, RequestId};
use serde::de::{Deserialize, IgnoredAny};

fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

fn seal(body: &[u8]) -> Result<Body<SealItem<'_>>, Refusal> {
    Codec::Cbor.read(body, &Limits::DEFAULT)
}

fn refused(body: &[u8]) -> Refusal {
    let told = hex::encode(body);
    seal(body).map(drop).expect_err(&told)
}

// === RFC 8949 ===

fn both_ways<T>(value: &T, written: &str)
where
    T: serde::Serialize + for<'de> Deserialize<'de> + PartialEq + fmt::Debug,
{
    let written = bytes(written);
    assert_eq!(Codec::Cbor.encode(value).unwrap(), written, "{value:?}");
    assert_eq!(&Codec::Cbor.decode::<T>(&written).unwrap(), value);
}

#[test]
fn the_examples_of_rfc_8949_appendix_a_that_bodies_can_hold_are_read_and_written() {
    for (number, written) in [
        (0_u64, "00"),
        (1, "01"),
        (10, "0a"),
        (23, "17"),
        (24, "1818"),
        (25, "1819"),
        (100, "1864"),
        (1000, "1903e8"),
        (1_000_000, "1a000f4240"),
        (1_000_000_000_000, "1b000000e8d4a51000"),
        (u64::MAX, "1bffffffffffffffff"),
    ] {
        both_ways(&number, written);
    }
    both_ways(&false, "f4");
    both_ways(&true, "f5");
    both_ways(&None::<u64>, "f6");
    for (text, written) in [
        ("", "60"),
        ("a", "6161"),
        ("IETF", "6449455446"),
        ("\"\\", "62225c"),
        ("\u{fc}", "62c3bc"),
        ("\u{6c34}", "63e6b0b4"),
        ("\u{10151}", "64f0908591"),
    ] {
        both_ways(&text.to_owned(), written);
    }
    both_ways(&Vec::<u64>::new(), "80");
    both_ways(&vec![1_u64, 2, 3], "83010203");
    both_ways(
        &(1..=25_u64).collect::<Vec<_>>(),
        "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
    );
    both_ways(&BTreeMap::<String, u64>::new(), "a0");
    let letters = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        pairs.iter().map(owned).collect()
    };
    let five = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D"), ("e", "E")];
    both_ways(
        &letters(&five),
        "a56161614161626142616361436164614461656145",
    );
    for (given, written) in [(&[][..], "40"), (&[1, 2, 3, 4], "4401020304")] {
        assert_eq!(
            Codec::Cbor.encode(&Binary::new(given)).unwrap(),
            bytes(written)
        );
        let written = bytes(written);
        let read: Binary<'_> = Codec::Cbor.decode(&written).unwrap();
        assert_eq!(read.decode().unwrap(), given);
    }
}

#[test]
fn the_examples_of_appendix_a_that_no_body_holds_are_refused_everywhere() {
    for written in [
        // Negative and large numbers.
        "20",
        "29",
        "3863",
        "3903e7",
        "3bffffffffffffffff",
        "c249010000000000000000",
        // Floating-point numbers.
        "f90000",
        "f93c00",
        "fb3ff199999999999a",
        "fa47c35000",
        "f97e00",
        "fb7ff0000000000000",
        // Other simple values.
        "f7",
        "f0",
        "f8ff",
        // Tags.
        "c074323031332d30332d32315432303a30343a30305a",
        "c11a514b67b0",
        "d74401020304",
        "d818456449455446",
        // Names that are no texts.
        "a201020304",
        // Indefinite lengths.
        "5f42010243030405ff",
        "7f657374726561646d696e67ff",
        "9fff",
        "9f018202039f0405ffff",
        "83018202039f0405ff",
        "bf61610161629f0203ffff",
        "bf6346756ef563416d7421ff",
    ] {
        let read = Codec::Cbor.decode::<IgnoredAny>(&bytes(written));
        assert!(read.is_err(), "{written}");
        assert_eq!(refused(&bytes(written)).code(), Code::RequestMalformed);
    }
}

/// What RFC 8949, appendix F, calls not well-formed, kind by kind.
const NOT_WELL_FORMED: [(&str, &str); 9] = [
    (
        "end of input in a head",
        "18 19 1a 1b 1901 1a0102 1b01020304050607 38 58 78 98 9a01ff00 b8 d8 f8 f900 fa0000 fb000000",
    ),
    (
        "definite-length strings with short data",
        "41 61 5affffffff00 5bffffffffffffffff010203 7affffffff00 7b7fffffffffffffff010203",
    ),
    (
        "definite-length maps and arrays not closed with enough items",
        "81 818181818181818181 8200 a1 a20102 a100 a2000000",
    ),
    ("tag number not followed by tag content", "c0"),
    (
        "indefinite-length strings not closed by a break",
        "5f4100 7f6100",
    ),
    (
        "reserved additional information",
        "1c 1d 1e 3c 5c 7c 9c bc dc fc",
    ),
    (
        "reserved two-byte encodings of simple values",
        "f800 f801 f818 f81f",
    ),
    (
        "break in the wrong place",
        "ff 81ff 8200ff a1ff a1ff00 a100ff a20000ff",
    ),
    ("integers and tags of indefinite length", "1f 3f df"),
];

#[test]
fn what_appendix_f_calls_not_well_formed_is_refused() {
    for (kind, all) in NOT_WELL_FORMED {
        for written in all.split(' ') {
            let read = Codec::Cbor.decode::<IgnoredAny>(&bytes(written));
            assert!(read.is_err(), "{kind}: {written}");
        }
    }
}

// === what a request may be ===

#[test]
fn one_item_and_a_batch_are_told_apart_and_borrowed() {
    let written = b"\xa2\x69plaintext\x45Hello\x63aad\x43row";
    let alone = seal(written).unwrap();
    assert!(!alone.is_batch());
    assert_eq!(alone.items()[0].plaintext.decode().unwrap(), b"Hello");
    let aad = alone.items()[0].aad.as_ref().unwrap();
    assert_eq!(aad.decode().unwrap(), b"row");
    assert_eq!(format!("{aad:?}"), "Binary(3 bytes)");
    let null = seal(b"\xa2\x63aad\xf6\x69plaintext\x40").unwrap();
    assert!(null.items()[0].aad.is_none());
    let batch = seal(b"\xa1\x65items\x82\xa1\x69plaintext\x41a\xa1\x69plaintext\x40").unwrap();
    assert!(batch.is_batch());
    assert_eq!(batch.items()[0].plaintext.decode().unwrap(), b"a");
    assert_eq!(batch.items()[1].plaintext.decode().unwrap(), b"");
    let of_one = seal(b"\xa1\x65items\x81\xa1\x69plaintext\x40").unwrap();
    assert!(of_one.is_batch());
}

#[test]
fn other_bodies_are_malformed_and_where_is_told() {
    // Each with the offset of the item that is wrong.
    let bodies: [(&[u8], usize); 40] = [
        (b"", 0),
        (b"{\"plaintext\":\"\"}", 0),
        (b"\xf6", 0),
        (b"\x40", 0),
        (b"\x80", 0),
        (b"\x81\xa1\x69plaintext\x40", 0),
        (b"\xa0", 0),
        (b"\xa1\x63aad\x40", 5),
        // The wrong type: text, number, array, map, null.
        (b"\xa1\x69plaintext\x60", 11),
        (b"\xa1\x69plaintext\x64QUJD", 11),
        (b"\xa1\x69plaintext\x00", 11),
        (b"\xa1\x69plaintext\x81\x40", 11),
        (b"\xa1\x69plaintext\xa0", 11),
        (b"\xa1\x69plaintext\xf6", 11),
        (b"\xa2\x69plaintext\x40\x63aad\x63row", 16),
        // Names: unknown, in another spelling, bytes, a number, twice.
        (b"\xa1\x69Plaintext\x40", 1),
        (b"\xa2\x69plaintext\x40\x65nonce\x40", 12),
        (b"\xa1\x49plaintext\x40", 1),
        (b"\xa1\x00\x40", 1),
        (b"\xa2\x69plaintext\x40\x69plaintext\x40", 12),
        (b"\xa3\x69plaintext\x40\x63aad\x40\x63aad\x40", 17),
        // More or fewer than the head says.
        (b"\xa2\x69plaintext\x40", 12),
        (b"\xa1\x69plaintext\x40\x00", 12),
        (b"\xa1\x69plaintext\x40\xa1\x69plaintext\x40", 12),
        (b"\xa1\x69plaintext\x42a", 11),
        (b"\xa1\x69plaintext\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 11),
        (b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x69plaintext\x40", 20),
        // Longer heads than it takes, and indefinite lengths.
        (b"\xa1\x69plaintext\x58\x01a", 11),
        (b"\xa1\x69plaintext\x59\x00\x01a", 11),
        (b"\xb8\x01\x69plaintext\x40", 0),
        (b"\xa1\x78\x09plaintext\x40", 1),
        (b"\xbf\x69plaintext\x40\xff", 0),
        (b"\xa1\x69plaintext\x5f\x41a\xff", 11),
        // No text, a tag, a floating-point number.
        (b"\xa1\x69plaintex\xff\x40", 1),
        (b"\xa1\x69plaintext\xd7\x40", 11),
        (b"\xa1\x69plaintext\xf9\x3c\x00", 11),
        // Batches.
        (b"\xa1\x65items\x80", 7),
        (b"\xa1\x65items\xa0", 7),
        (b"\xa2\x65items\x81\xa1\x69plaintext\x40\x63aad\x40", 20),
        (b"\xa1\x65items\x81\xa1\x65items\x80", 9),
    ];
    for (body, offset) in bodies {
        let refusal = refused(body);
        let told = hex::encode(body);
        assert_eq!(refusal.code(), Code::RequestMalformed, "{told}");
        let message = refusal.message(&Limits::DEFAULT);
        assert!(
            message.contains("`plaintext` and optional `aad`"),
            "{message}"
        );
        let end = format!("(offset {offset} of the CBOR)");
        assert!(message.ends_with(&end), "{told}: {message}");
    }
}

#[test]
fn a_refusal_shows_nothing_of_the_body() {
    for body in [
        &b"\xa1\x66CANARY\x40"[..],
        b"\xa1\x69plaintext\x66CANARY",
        b"\xa2\x69plaintext\x46CANARY\x66CANARY\x46CANARY",
        b"CANARY",
    ] {
        let refusal = refused(body);
        let answer = refusal.body(Codec::Cbor, &Limits::DEFAULT, RequestId::NONE);
        assert!(!answer.windows(6).any(|six| six == b"CANARY"));
        assert!(!format!("{refusal:?}").contains("CANARY"));
    }
}

#[test]
fn deep_and_long_bodies_end_early() {
    let deep = [&b"\xa1\x65items"[..], &[0x81; 100_000]].concat();
    assert_eq!(refused(&deep).code(), Code::RequestMalformed);
    // What a client passes over has an end as well.
    for head in [0x81, 0xa1] {
        let more = if head == 0xa1 { &b"\x61a"[..] } else { b"" };
        let nested = |depth: usize| {
            let mut whole = [&[head][..], more].concat().repeat(depth);
            whole.push(0);
            Codec::Cbor.decode::<IgnoredAny>(&whole).is_ok()
        };
        assert!(nested(16) && !nested(17) && !nested(100_000));
    }
    // A head alone takes no memory and no time.
    for body in [
        &b"\xa1\x65items\x9b\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"\xa1\x65items\x9a\x00\x00\x27\x10\xa1\x69plaintext\x40",
    ] {
        assert_eq!(refused(body).code(), Code::RequestMalformed);
    }
}

#[test]
fn limits_are_exact_as_in_json() {
    let mut limits = Limits::DEFAULT;
    limits.items = 3;
    let batch = |count: usize| {
        let items = (0..count).map(|_| RandomItem { bytes: 1 }).collect();
        Codec::Cbor.encode(&Body::Many(items)).unwrap()
    };
    let read = |body: &[u8], limits: &Limits| {
        let read = Codec::Cbor.read::<RandomItem>(body, limits);
        read.map(|read| read.items().len()).map_err(|r| r.code())
    };
    assert_eq!(read(&batch(3), &limits), Ok(3));
    assert_eq!(read(&batch(4), &limits), Err(Code::TooManyItems));
    assert_eq!(read(&batch(10_000), &Limits::DEFAULT), Ok(10_000));
    let more = read(&batch(10_001), &Limits::DEFAULT);
    assert_eq!(more, Err(Code::TooManyItems));
    limits.body_bytes = batch(3).len();
    assert_eq!(read(&batch(3), &limits), Ok(3));
    limits.body_bytes -= 1;
    assert_eq!(read(&batch(3), &limits), Err(Code::BodyTooLarge));
    // A malformed item within the limit is malformed, also if more would follow.
    limits = Limits::DEFAULT;
    limits.items = 3;
    let mut broken = batch(4);
    broken[14] ^= 1;
    assert_eq!(read(&broken, &limits), Err(Code::RequestMalformed));
}

#[test]
fn members_of_every_type_have_theirs_and_no_other() {
    let limits = &Limits::DEFAULT;
    let data_key = |body: &'static [u8]| Codec::Cbor.read::<DatakeyItem<'_>>(body, limits);
    let made = data_key(b"\xa0").unwrap();
    assert!(made.items()[0].plain && made.items()[0].aad.is_none());
    assert!(!data_key(b"\xa1\x65plain\xf4").unwrap().items()[0].plain);
    for wrong in [
        &b"\xa1\x65plain\x01"[..],
        b"\xa1\x65plain\x64true",
        b"\xa1\x65plain\xf6",
        b"\xa1\x65bytes\x18\x20",
    ] {
        assert!(data_key(wrong).is_err());
    }
    let token = |body: &'static [u8]| Codec::Cbor.read::<TokenItem<'_>>(body, limits);
    let read = token(b"\xa3\x65token\x641234\x6bkey_version\x07\x65tweak\xa1\x61a\x61b").unwrap();
    let item = &read.items()[0];
    assert_eq!(
        (item.token.expose(), item.key_version.number()),
        ("1234", 7)
    );
    let cells: Vec<_> = item.tweak.as_ref().unwrap().iter().collect();
    assert_eq!(cells, [("a", "b")]);
    for wrong in [
        &b"\xa1\x65token\x641234"[..],
        b"\xa2\x65token\x441234\x6bkey_version\x07",
        b"\xa2\x65token\x641234\x6bkey_version\x617",
        b"\xa2\x65token\x641234\x6bkey_version\x1b\x00\x00\x00\x01\x00\x00\x00\x00",
        b"\xa2\x65token\x641234\x6bkey_version\x20",
        b"\xa3\x65token\x641234\x6bkey_version\x07\x65tweak\xa2\x61a\x61b\x61a\x61c",
        b"\xa3\x65token\x641234\x6bkey_version\x07\x65tweak\xa1\x61a\x41b",
        b"\xa3\x65token\x641234\x6bkey_version\x07\x65tweak\x80",
    ] {
        assert!(token(wrong).is_err());
    }
    let sign = |body: &'static [u8]| Codec::Cbor.read::<SignItem<'_>>(body, limits);
    let read = sign(b"\xa2\x67message\x41a\x64form\x67schnorr").unwrap();
    assert_eq!(read.items()[0].form, Some(SignatureForm::Schnorr));
    for wrong in [
        &b"\xa2\x67message\x41a\x64form\x67Schnorr"[..],
        b"\xa2\x67message\x41a\x64form\x47schnorr",
        b"\xa2\x67message\x41a\x64form\x00",
        b"\xa2\x67message\x41a\x64form\xa1\x67schnorr\xf6",
    ] {
        assert!(sign(wrong).is_err());
    }
}

#[test]
fn a_name_that_an_answer_may_have_and_nobody_knows_is_a_text_all_the_same() {
    let answer = |name: &[u8]| {
        let mut body = b"\xa3\x6aciphertext\x41c\x6bkey_version\x01".to_vec();
        body.extend_from_slice(name);
        body.push(0xF6);
        Codec::Cbor
            .decode::<SealAnswer<'_>>(&body)
            .map(|answer| answer.key_version.number())
            .ok()
    };
    assert_eq!(answer(b"\x63new"), Some(1));
    assert_eq!(answer(b"\x64\xc3\xa9te"), Some(1));
    for no_text in [
        &b"\x64\xc3\xa9t\xc3"[..],
        b"\x61\xff",
        b"\x63\xed\xa0\x80",
        b"\x43new",
        b"\x00",
        b"\x80",
    ] {
        assert_eq!(answer(no_text), None, "{no_text:x?}");
    }
}
