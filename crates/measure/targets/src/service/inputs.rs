//! Inputs: requests made once, in rings, with what their answers must hold.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use keywright_api::request::Body;
use keywright_api::{Binary, Codec};
use keywright_measure::stats::random::Generator;
use keywright_measure::{Fault, FaultPhase, TargetError};

use super::access::NAME;
use super::judge::{self, Sealed};
use super::{Shape, Tenant};
use crate::http::{Endpoint, Lines, Prepared, Reply, service_fault};

/// Requests that are sent in turn.
#[derive(Debug, Default)]
pub(super) struct Ring {
    entries: Vec<Entry>,
    next: usize,
}

/// A request and what belongs to it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) request: Prepared,
    /// The plaintexts of its items, as base64.
    pub(super) plain: Vec<String>,
    /// The whole answer, where it is always the same.
    pub(super) answer: Option<Bytes>,
}

impl Ring {
    pub(super) const fn new(entries: Vec<Entry>) -> Self {
        Self { entries, next: 0 }
    }

    pub(super) const fn restart(&mut self) {
        self.next = 0;
    }

    /// The place of the next one.
    pub(super) const fn turn(&mut self) -> u32 {
        let place = self.next;
        self.next += 1;
        if self.next >= self.entries.len() {
            self.next = 0;
        }
        #[expect(clippy::cast_possible_truncation, reason = "rings are short")]
        {
            place as u32
        }
    }

    pub(super) fn entry(&self, place: u32) -> Option<&Entry> {
        self.entries.get(place as usize)
    }
}

/// Different requests of one item in a ring; batches have fewer, with as many different items at least.
const RING: u32 = 128;
const BATCHES: u32 = 8;
/// Different bodies of streams, which are long.
const STREAMS: u32 = 8;

/// The path of an action in a client's context.
pub(super) fn path(tenant: &Tenant, action: &str) -> String {
    format!("/v1/contexts/{}/{action}", tenant.context())
}

/// Encryptions of random plaintexts.
pub(super) fn encryptions(
    endpoint: &Endpoint,
    shape: Shape,
    (path, fixed): (&str, &str),
    random: &mut Generator,
) -> Result<Vec<Entry>, TargetError> {
    let rounds = if shape.items > 1 { BATCHES } else { RING };
    (0..rounds)
        .map(|_| {
            let plain: Vec<String> = (0..shape.items.max(1))
                .map(|_| plaintext(shape.bytes, random))
                .collect();
            Ok(Entry {
                request: items(endpoint, (path, shape.codec), ("plaintext", fixed), &plain)?,
                plain,
                answer: None,
            })
        })
        .collect()
}

/// A request with one binary field an item, in either form. What is fixed is put into JSON alone, for servers that
/// read nothing else.
fn items(
    endpoint: &Endpoint,
    (path, codec): (&str, Codec),
    (field, fixed): (&str, &str),
    items: &[String],
) -> Result<Prepared, TargetError> {
    if codec == Codec::Json {
        return endpoint.prepare(Method::POST, path, body(field, fixed, items));
    }
    let whole = match items {
        [one] => Body::One(member(field, one)),
        many => Body::Many(many.iter().map(|text| member(field, text)).collect()),
    };
    let body = codec.encode(&whole);
    let body = body.map_err(|_| TargetError::Load("an input has no binary form"))?;
    let form = HeaderValue::from_static(codec.media_type());
    let request = endpoint.prepare(Method::POST, path, body)?;
    Ok(request.with_header(CONTENT_TYPE, form))
}

fn member<'a>(field: &'a str, text: &'a str) -> BTreeMap<&'a str, Binary<'a>> {
    BTreeMap::from([(field, Binary::from_text(text))])
}

/// The body of a request with one binary field an item; `fixed` stands before it in each.
pub(super) fn body<T: AsRef<str>>(field: &str, fixed: &str, items: &[T]) -> String {
    let item = |text: &T| format!(r#"{{{fixed}"{field}":"{}"}}"#, text.as_ref());
    match items {
        [one] => item(one),
        many => {
            let items: Vec<_> = many.iter().map(item).collect();
            format!(r#"{{"items":[{}]}}"#, items.join(","))
        }
    }
}

/// Bodies of random bytes that are sealed as streams.
pub(super) fn streams(
    endpoint: &Endpoint,
    shape: Shape,
    path: &str,
    random: &mut Generator,
) -> Result<Vec<Entry>, TargetError> {
    (0..STREAMS)
        .map(|_| {
            Ok(Entry {
                request: endpoint.prepare(Method::POST, path, raw(shape.bytes, random))?,
                plain: vec![String::new()],
                answer: None,
            })
        })
        .collect()
}

/// The same, sealed by the service: requests with the streams, and what they must be answered with.
pub(super) fn over_streams(
    lines: &mut Lines,
    group: u32,
    plain: Vec<Entry>,
    path: &str,
) -> Result<Vec<Entry>, TargetError> {
    plain
        .into_iter()
        .map(|entry| {
            let sealed = succeed(lines, group, &entry.request)?.body;
            Ok(Entry {
                request: lines.endpoint().prepare(Method::POST, path, sealed)?,
                answer: Some(entry.request.body().clone()),
                ..entry
            })
        })
        .collect()
}

fn plaintext(bytes: u32, random: &mut Generator) -> String {
    Binary::new(&raw(bytes, random)).text().into_owned()
}

fn raw(bytes: u32, random: &mut Generator) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes as usize + 8);
    while plain.len() < bytes as usize {
        plain.extend_from_slice(&random.next_u64().to_le_bytes());
    }
    plain.truncate(bytes as usize);
    plain
}

/// The same plaintexts, encrypted by the service: requests with their ciphertexts, for `action`.
pub(super) fn over_ciphertexts(
    lines: &mut Lines,
    group: u32,
    encryptions: Vec<Entry>,
    (path, codec): (&str, Codec),
) -> Result<Vec<Entry>, TargetError> {
    encryptions
        .into_iter()
        .map(|entry| {
            let reply = succeed(lines, group, &entry.request)?;
            let Sealed::Done(ciphertexts) = judge::sealed(&reply, entry.plain.len()) else {
                return Err(failed("an encryption was answered with something else"));
            };
            let field = ("ciphertext", "");
            Ok(Entry {
                request: items(lines.endpoint(), (path, codec), field, &ciphertexts)?,
                ..entry
            })
        })
        .collect()
}

/// Asks each once and remembers the answers.
pub(super) fn remember_answers(
    lines: &mut Lines,
    entries: &mut [Entry],
) -> Result<(), TargetError> {
    for entry in entries {
        entry.answer = Some(succeed(lines, 0, &entry.request)?.body);
    }
    Ok(())
}

/// An answer that must be a success.
pub(super) fn succeed(
    lines: &mut Lines,
    group: u32,
    request: &Prepared,
) -> Result<Reply, TargetError> {
    let reply = lines.ask(group, request)?;
    if reply.status.is_success() {
        return Ok(reply);
    }
    Err(refused(&service_fault(&reply)))
}

/// A service that does not know the caller is told from one that fails.
fn refused(fault: &Fault) -> TargetError {
    let caller = fault.phase() == FaultPhase::Service
        && (fault.code().starts_with("principal_")
            || fault.code().starts_with("certificate_")
            || matches!(fault.code(), "operation_denied" | "context_not_found"));
    if caller {
        return TargetError::Authentication {
            target: NAME.to_owned(),
            reason: fault.to_string(),
        };
    }
    failed(&fault.to_string())
}

fn failed(reason: &str) -> TargetError {
    TargetError::Failed {
        target: NAME.to_owned(),
        operation: "what the inputs need".to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use keywright_api::Limits;
    use keywright_api::request::SealItem;
    use keywright_tls::Protocol;

    use super::*;

    #[test]
    fn bodies_have_one_item_or_a_list() {
        assert_eq!(body("a", "", &["x"]), r#"{"a":"x"}"#);
        assert_eq!(body("a", r#""b":1,"#, &["x"]), r#"{"b":1,"a":"x"}"#);
        let two = body("a", "", &["x", "y"]);
        assert_eq!(two, r#"{"items":[{"a":"x"},{"a":"y"}]}"#);
    }

    #[test]
    fn a_request_holds_the_same_items_in_both_forms() {
        let identities = Vec::new();
        let endpoint = Endpoint::new("s", "https://localhost", identities, Protocol::Http2);
        let endpoint = endpoint.unwrap();
        for plain in [&["QUJD"][..], &["QUJD", ""]] {
            let plain: Vec<String> = plain.iter().map(|text| (*text).to_owned()).collect();
            for codec in [Codec::Json, Codec::Cbor] {
                let asked = items(&endpoint, ("/p", codec), ("plaintext", ""), &plain).unwrap();
                let read: Body<SealItem<'_>> = codec.read(asked.body(), &Limits::DEFAULT).unwrap();
                assert_eq!(read.is_batch(), plain.len() > 1);
                let texts = read.items().iter();
                let texts: Vec<_> = texts.map(|item| item.plaintext.text()).collect();
                assert_eq!(texts, plain, "{codec:?}");
            }
        }
        let no_base64 = ["!".to_owned()];
        let refused = items(
            &endpoint,
            ("/p", Codec::Cbor),
            ("plaintext", ""),
            &no_base64,
        );
        assert!(matches!(refused, Err(TargetError::Load(_))));
    }

    #[test]
    fn plaintexts_have_their_length_and_follow_from_the_seed() {
        let of = |seed| plaintext(12, &mut Generator::new(seed));
        assert_eq!(of(1).len(), 16);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(plaintext(0, &mut Generator::new(1)), "");
    }

    #[test]
    fn an_unknown_caller_is_told_from_a_failure() {
        let refused = |code: &'static str| refused(&Fault::new(FaultPhase::Service, code));
        for code in [
            "principal_unknown",
            "certificate_revoked",
            "operation_denied",
        ] {
            assert!(matches!(refused(code), TargetError::Authentication { .. }));
        }
        assert!(matches!(
            refused("no_active_version"),
            TargetError::Failed { .. }
        ));
    }
}
