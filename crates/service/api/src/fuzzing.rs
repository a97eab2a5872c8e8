//! The promises of requests over arbitrary bytes, as one function that the fuzz target and a plain test
//! both call.

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use keywright_types::{Code, Name, RequestId};
use serde::Serialize;

use crate::answer::{BatchAnswer, ErrorAnswer, OpenAnswer};
use crate::error::Refusal;
use crate::orders::{ApproveOrder, KeyOrder, RotateOrder, parse_order};
use crate::request::{
    AgreeItem, Body, DatakeyItem, MacItem, MacVerifyItem, OpenItem, PathItem, PublicKeyItem,
    RandomItem, RewrapItem, SealItem, SignItem, TokenItem, ValueItem, VerifyItem,
};
use crate::route::{RouteMatch, match_route};
use crate::seed;
use crate::vault::LoginToken;
use crate::vault::answer::Refused;
use crate::vault::{request as vault, route};
use crate::{Codec, Codecs, Limits};

/// Small, so that the limits are met too.
const LIMITS: Limits = Limits {
    body_bytes: 1 << 16,
    items: 8,
};

/// Where what was accepted in one form may be longer in the other.
const WIDER: Limits = Limits {
    body_bytes: 1 << 20,
    items: 8,
};

/// One body in one form as one kind of item. What is read again borrows from elsewhere, which no generic function
/// over the item's type can say.
macro_rules! body {
    ($codec:expr, $data:expr, $item:ty) => {
        match $codec.read::<$item>($data, &LIMITS) {
            Ok(request) => {
                let written = accepted($codec, &request).unwrap_or_default();
                for form in [Codec::Cbor, Codec::Json] {
                    // A text that is no base64 has no other form.
                    let Some(there) = accepted(form, &request) else {
                        continue;
                    };
                    let again = form.read::<$item>(&there, &WIDER);
                    let again = again.map(|again| accepted($codec, &again).unwrap_or_default());
                    assert!(
                        again.as_ref() == Ok(&written),
                        "a request means something else when written"
                    );
                }
            }
            Err(refusal) => refused(refusal),
        }
    };
}

/// One body in one form as every kind of item.
macro_rules! bodies {
    ($codec:expr, $data:expr) => {
        body!($codec, $data, SealItem<'_>);
        body!($codec, $data, OpenItem<'_>);
        body!($codec, $data, RewrapItem<'_>);
        body!($codec, $data, DatakeyItem<'_>);
        body!($codec, $data, RandomItem);
        body!($codec, $data, ValueItem<'_>);
        body!($codec, $data, TokenItem<'_>);
        body!($codec, $data, SignItem<'_>);
        body!($codec, $data, VerifyItem<'_>);
        body!($codec, $data, AgreeItem<'_>);
        body!($codec, $data, PublicKeyItem<'_>);
        body!($codec, $data, PathItem<'_>);
        body!($codec, $data, MacItem<'_>);
        body!($codec, $data, MacVerifyItem<'_>);
    };
}

/// The same for the body of a route that takes one order.
macro_rules! order {
    ($data:expr, $order:ty) => {
        match parse_order::<$order>($data, &LIMITS) {
            Ok(order) => {
                let written = serde_json::to_vec(&order).unwrap_or_default();
                let again = parse_order::<$order>(&written, &LIMITS);
                assert!(
                    again == Ok(order),
                    "an order means something else when written"
                );
            }
            Err(refusal) => refused(refusal),
        }
    };
}

/// Reads `data` as the body of every route and as a path, and checks that
///
/// * what is accepted has between one item and the limit, and means the same when written again, be it in CBOR;
/// * what is refused has one of three codes, and the answer shows nothing of the body;
/// * a path leads to a context only by a valid name, and only as it is written.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn request(data: &[u8]) {
    order!(data, KeyOrder);
    order!(data, RotateOrder);
    order!(data, ApproveOrder);
    bodies!(Codec::Json, data);
    if let Ok(text) = std::str::from_utf8(data) {
        path(text);
    }
}

/// Reads `data` as the body of every route of items in CBOR, and as an answer to a client, and checks that
///
/// * what is accepted has between one item and the limit, and means the same when written again, be it in JSON;
/// * what is refused has one of three codes, and the answer shows nothing of the body;
/// * an error that a client reads is the same when it is written again.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn cbor(data: &[u8]) {
    bodies!(Codec::Cbor, data);
    let batch: Result<BatchAnswer<OpenAnswer<'_>>, _> = Codec::Cbor.decode(data);
    let count = batch.map_or(0, |batch| batch.items.len());
    assert!(count <= data.len(), "more results than bytes");
    if let Ok(error) = Codec::Cbor.decode::<ErrorAnswer>(data) {
        let written = Codec::Cbor.encode(&error).unwrap_or_default();
        let again = Codec::Cbor.decode::<ErrorAnswer>(&written);
        assert!(
            again == Ok(error),
            "an error means something else when written"
        );
    }
}

/// Reads `data` as the header fields of a request, a line each, and checks that
///
/// * the forms of request and answer do not depend on the order of the fields, on a field that is there twice where it
///   may be, or on one that says nothing about them;
/// * without the two fields that do, both are JSON.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn headers(data: &[u8]) {
    let fields = data.split(|byte| *byte == b'\n').filter_map(field);
    let mut fields: Vec<_> = fields.take(64).collect();
    let forms = |fields: &[(HeaderName, HeaderValue)]| {
        let fields = fields.iter().cloned();
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(name, value);
        }
        Codecs::of(&map)
    };
    let found = forms(&fields);
    fields.reverse();
    assert_eq!(forms(&fields), found, "the order of fields has a meaning");
    let accepted = fields
        .iter()
        .find(|(name, _)| *name == http::header::ACCEPT);
    if let Some(again) = accepted.cloned() {
        fields.push(again);
        assert_eq!(forms(&fields), found, "a field means more the second time");
    }
    let other = HeaderValue::from_static("application/cbor");
    fields.push((HeaderName::from_static("x-accept"), other));
    assert_eq!(forms(&fields), found, "another field has a meaning");
    let ours = [http::header::ACCEPT, http::header::CONTENT_TYPE];
    fields.retain(|(name, _)| !ours.contains(name));
    assert_eq!(forms(&fields), Codecs::JSON, "a form that nobody asked for");
}

/// A line as a field, if it can be one.
fn field(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    let value = value.get(1..)?.trim_ascii();
    let name = HeaderName::from_bytes(name).ok()?;
    Some((name, HeaderValue::from_bytes(value).ok()?))
}

/// Reads `data` as the body of every route for Vault's clients, as a path of them, and as `vault:v1:...`, and checks
/// that
///
/// * what is accepted has between one item and the limit;
/// * what is refused has one of three codes, and the answer shows nothing of the body;
/// * a path leads to a key only by a valid name, and only as it is written;
/// * a version and a token of a login have one spelling.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn transit(data: &[u8]) {
    macro_rules! items {
        ($body:ty) => {
            match vault::parse::<$body>(data, &LIMITS).and_then(|mut body| body.take("k", &LIMITS))
            {
                Ok(asked) => {
                    let count = asked.items.len();
                    assert!((1..=LIMITS.items).contains(&count), "{count} items");
                    assert!(asked.batch || count == 1, "{count} items and no batch");
                }
                Err(refused) => refused_there(&refused),
            }
        };
    }
    macro_rules! plain {
        ($body:ty) => {
            if let Err(refused) = vault::parse::<$body>(data, &LIMITS) {
                refused_there(&refused);
            }
        };
    }
    items!(vault::EncryptBody<'_>);
    items!(vault::DecryptBody<'_>);
    items!(vault::RewrapBody<'_>);
    items!(vault::SignBody<'_>);
    items!(vault::VerifyBody<'_>);
    items!(vault::HmacBody<'_>);
    plain!(vault::DatakeyBody<'_>);
    plain!(vault::RandomBody<'_>);
    plain!(vault::NothingBody);
    plain!(vault::LoginBody<'_>);
    if let Ok(text) = std::str::from_utf8(data) {
        transit_path(text);
        if let Some(read) = vault::Versioned::read(text) {
            let again = format!("vault:v{}:{}", read.version.number(), read.encoded);
            assert_eq!(again, text, "another spelling of a version");
        }
        if let Some(token) = LoginToken::read(text) {
            assert_eq!(token.expose(), text, "another spelling of a token");
        }
    }
}

/// Reads `data` as the bodies of the routes for clients of the seed service, and checks that
///
/// * what is accepted is so again with bytes behind it, and with its field in capitals;
/// * what is refused has one of two codes, and the answer shows nothing of the body;
/// * base64 says the same with line ends in it and without, and is decoded wholly or not at all.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn seed(data: &[u8]) {
    let known = [Code::RequestMalformed, Code::BodyTooLarge];
    let longer = [data, b" and more"].concat();
    let decrypt = seed::DecryptBody::parse(data, &LIMITS);
    if let Err(code) = &decrypt {
        assert!(known.contains(code), "{code}");
    }
    if let (Ok(body), Ok(again)) = (&decrypt, seed::DecryptBody::parse(&longer, &LIMITS)) {
        for (one, other) in [
            (&body.context, &again.context),
            (&body.ciphertext, &again.ciphertext),
            (&body.key_id, &again.key_id),
        ] {
            assert_eq!(one.expose(), other.expose(), "what stands behind counts");
        }
    }
    match seed::EncryptBody::parse(data, &LIMITS) {
        Ok(body) => lenient(body.plaintext.expose()),
        Err(code) => assert!(known.contains(&code), "{code}"),
    }
}

fn lenient(text: &str) {
    let (mut out, mut plain) = (vec![7], Vec::new());
    let without: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let strict = keywright_encoding::base64::decode_into(&without, &mut plain);
    match seed::decode_into(text, &mut out) {
        Ok(()) => {
            assert_eq!(strict, Ok(()), "accepted for its line ends");
            assert_eq!(out.get(1..), Some(plain.as_slice()), "line ends count");
        }
        Err(_) => {
            assert!(strict.is_err(), "refused for its line ends");
            assert_eq!(out, [7], "half a message");
        }
    }
}

fn refused_there(refused: &Refused) {
    let known = [
        Code::RequestMalformed,
        Code::BodyTooLarge,
        Code::TooManyItems,
    ];
    assert!(known.contains(&refused.code()), "{}", refused.code());
    let body = refused.body(&LIMITS, RequestId::NONE);
    assert!(body.is_ascii(), "foreign bytes in an answer");
}

fn transit_path(text: &str) {
    for method in [Method::GET, Method::POST] {
        let route::RouteMatch::Found(found) = route::match_route(&method, text, Some("list=true"))
        else {
            continue;
        };
        assert!(
            found.name.is_empty() || Name::is_valid(found.name),
            "a key without a name"
        );
        let mut written = found.route.path.replace("{name}", found.name);
        for part in ["{kind}", "{hash}", "{bytes}"] {
            written = written.replace(part, found.word);
        }
        assert_eq!(written, text, "a folded path");
    }
}

fn accepted<T: Serialize>(codec: Codec, request: &Body<T>) -> Option<Vec<u8>> {
    let count = request.items().len();
    assert!((1..=LIMITS.items).contains(&count), "{count} items");
    codec.encode(request).ok()
}

fn refused(refusal: Refusal) {
    let known = [
        Code::RequestMalformed,
        Code::BodyTooLarge,
        Code::TooManyItems,
    ];
    assert!(known.contains(&refusal.code()), "{}", refusal.code());
    assert!(
        refusal.message(&LIMITS).is_ascii(),
        "foreign bytes in an answer"
    );
}

fn path(text: &str) {
    let RouteMatch::Found { route, context } = match_route(&Method::POST, text) else {
        return;
    };
    assert_eq!(
        context.is_some(),
        route.takes_context(),
        "a context where none belongs"
    );
    let context = context.unwrap_or("context");
    assert!(Name::is_valid(context), "a context without a name");
    assert_eq!(
        route.path.to_string().replace("{context}", context),
        text,
        "a folded path"
    );
}
