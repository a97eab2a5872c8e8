//! What answers say. Foreign bytes: nothing here trusts their form.

use bytes::Bytes;
use keywright_api::answer::{
    BatchAnswer, DatakeyAnswer, DatakeyOpenAnswer, ItemResult, OpenAnswer, RandomAnswer, SealAnswer,
};
use keywright_api::{Codec, Unreadable};
use keywright_measure::ledger::Outcome;
use keywright_measure::{Fault, FaultPhase};
use serde::de::{Deserialize, IgnoredAny};

use crate::http::{Reply, service_fault};

/// The ciphertexts of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sealed {
    /// One for each item.
    Done(Vec<String>),
    Failed(Fault),
}

pub(super) fn unreadable() -> Fault {
    Fault::new(FaultPhase::Operation, "unreadable_answer")
}

/// The fault of an answer that is no success, or has a failed item. A quick look: a success is believed
/// that ends like one.
pub(super) fn failure(reply: &Reply, items: usize) -> Option<Fault> {
    if !reply.status.is_success() {
        return Some(service_fault(reply));
    }
    let none_failed = GOOD_ENDS.iter().any(|end| reply.body.ends_with(end));
    if items <= 1 || none_failed {
        return None;
    }
    let Ok(batch) = read::<BatchAnswer<IgnoredAny>>(reply) else {
        return Some(unreadable());
    };
    batch.items.into_iter().find_map(failed)
}

/// How an answer to a batch ends of which no item failed, in JSON and in CBOR.
const GOOD_ENDS: [&[u8]; 2] = [br#""failed":0}"#, b"\x66failed\x00"];

/// An answer, in the form it came in.
fn read<'a, T: Deserialize<'a>>(reply: &'a Reply) -> Result<T, Unreadable> {
    Codec::of_answer(&reply.body).decode(&reply.body)
}

/// The fault of a failed item.
fn failed<T>(item: ItemResult<T>) -> Option<Fault> {
    match item {
        ItemResult::Done(_) => None,
        ItemResult::Failed(error) => Some(Fault::new(FaultPhase::Service, error.code)),
    }
}

/// The ciphertexts of an answer to so many items.
pub(super) fn sealed(reply: &Reply, items: usize) -> Sealed {
    if let Some(fault) = failure(reply, items) {
        return Sealed::Failed(fault);
    }
    if items <= 1 {
        return match read::<SealAnswer<'_>>(reply) {
            Ok(answer) => Sealed::Done(vec![answer.ciphertext.text().into_owned()]),
            Err(_) => Sealed::Failed(unreadable()),
        };
    }
    let Ok(batch) = read::<BatchAnswer<SealAnswer<'_>>>(reply) else {
        return Sealed::Failed(unreadable());
    };
    let mut ciphertexts = Vec::with_capacity(items);
    for item in batch.items {
        match item {
            ItemResult::Done(answer) => ciphertexts.push(answer.ciphertext.text().into_owned()),
            failure @ ItemResult::Failed(_) => {
                return Sealed::Failed(failed(failure).unwrap_or_else(unreadable));
            }
        }
    }
    match ciphertexts.len() == items {
        true => Sealed::Done(ciphertexts),
        false => Sealed::Failed(unreadable()),
    }
}

/// Whether an answer holds these plaintexts, as base64.
pub(super) fn opened(reply: &Reply, plain: &[String]) -> Outcome {
    if let Some(fault) = failure(reply, plain.len()) {
        return Outcome::Failed(fault);
    }
    let right = match plain {
        [plain] => {
            read::<OpenAnswer<'_>>(reply).is_ok_and(|answer| answer.plaintext.text() == *plain)
        }
        many => read::<BatchAnswer<OpenAnswer<'_>>>(reply).is_ok_and(|batch| same(&batch, many)),
    };
    match right {
        true => Outcome::Verified,
        false => Outcome::Wrong,
    }
}

fn same(batch: &BatchAnswer<OpenAnswer<'_>>, plain: &[String]) -> bool {
    let item = |(item, plain): (&ItemResult<OpenAnswer<'_>>, &String)| match item {
        ItemResult::Done(answer) => answer.plaintext.text() == *plain,
        ItemResult::Failed(_) => false,
    };
    batch.items.len() == plain.len() && batch.items.iter().zip(plain).all(item)
}

/// Whether a stream was opened to these bytes.
pub(super) fn streamed(reply: &Reply, plain: Option<&Bytes>) -> Outcome {
    if let Some(fault) = failure(reply, 1) {
        return Outcome::Failed(fault);
    }
    match plain == Some(&reply.body) {
        true => Outcome::Verified,
        false => Outcome::Wrong,
    }
}

/// What an answer to the question about a ciphertext says of it. One that cannot be opened is wrong; a
/// refusal for another reason says nothing.
pub(super) fn asked(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Failed(fault) if is_about_the_ciphertext(&fault) => Outcome::Wrong,
        Outcome::Failed(_) => Outcome::Unchecked,
        other => other,
    }
}

fn is_about_the_ciphertext(fault: &Fault) -> bool {
    let codes = [
        "base64_invalid",
        "ciphertext_malformed",
        "decryption_failed",
    ];
    fault.phase() == FaultPhase::Service && codes.contains(&fault.code())
}

/// A data key: its wrapped and its plain form.
pub(super) fn data_key(reply: &Reply) -> Result<(String, String), Fault> {
    if let Some(fault) = failure(reply, 1) {
        return Err(fault);
    }
    let answer = read::<DatakeyAnswer<'_>>(reply).map_err(|_| unreadable())?;
    let plain = answer.plaintext.as_ref().ok_or_else(unreadable)?;
    Ok((
        answer.ciphertext.text().into_owned(),
        plain.text().into_owned(),
    ))
}

/// Whether an answer holds this data key.
pub(super) fn data_key_opened(reply: &Reply, plain: &[String]) -> Outcome {
    if let Some(fault) = failure(reply, 1) {
        return Outcome::Failed(fault);
    }
    let answer = read::<DatakeyOpenAnswer<'_>>(reply);
    match answer.is_ok_and(|answer| plain == [answer.plaintext.text().into_owned()]) {
        true => Outcome::Verified,
        false => Outcome::Wrong,
    }
}

/// Whether an answer holds so many bytes that are not those of the answer before, which they replace.
pub(super) fn random(reply: &Reply, bytes: usize, before: &mut Vec<u8>) -> Outcome {
    let answer = read::<RandomAnswer<'_>>(reply);
    let Some(random) = answer.ok().and_then(|answer| answer.random.decode().ok()) else {
        return Outcome::Failed(unreadable());
    };
    let right = random.len() == bytes && random != *before;
    *before = random;
    match right {
        true => Outcome::Verified,
        false => Outcome::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use keywright_api::Limits;
    use keywright_api::error::Refusal;
    use keywright_api::write::{self, Batch, Done};
    use keywright_types::{Code, KeyVersion, RequestId};

    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply {
            status: StatusCode::from_u16(status).unwrap(),
            body: Bytes::from(body.to_owned()),
        }
    }

    #[test]
    fn a_stream_is_right_if_it_opens_to_its_bytes_and_to_nothing_else() {
        let body = Bytes::from_static(b"bytes");
        let outcome = |status, text, plain| streamed(&reply(status, text), plain);
        assert_eq!(outcome(200, "bytes", Some(&body)), Outcome::Verified);
        for (text, plain) in [("byte", Some(&body)), ("", Some(&body)), ("bytes", None)] {
            assert_eq!(outcome(200, text, plain), Outcome::Wrong);
        }
        let refused = outcome(
            400,
            r#"{"error":{"code":"decryption_failed"}}"#,
            Some(&body),
        );
        assert!(matches!(refused, Outcome::Failed(_)));
    }

    fn plain(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn one_item_is_compared_to_the_letter() {
        let good = reply(200, r#"{"plaintext":"QUJD","key_version":1}"#);
        assert_eq!(opened(&good, &plain(&["QUJD"])), Outcome::Verified);
        assert_eq!(opened(&good, &plain(&["QUJE"])), Outcome::Wrong);
        assert_eq!(opened(&reply(200, "{}"), &plain(&["QUJD"])), Outcome::Wrong);
        assert_eq!(
            opened(&reply(200, "\u{0}"), &plain(&["QUJD"])),
            Outcome::Wrong
        );
    }

    #[test]
    fn a_batch_is_right_only_as_a_whole_and_in_order() {
        let item = |text| format!(r#"{{"plaintext":"{text}","key_version":1}}"#);
        let batch = |a, b| {
            let body = format!(r#"{{"items":[{},{}],"failed":0}}"#, item(a), item(b));
            opened(&reply(200, &body), &plain(&["QQ==", "Qg=="]))
        };
        assert_eq!(batch("QQ==", "Qg=="), Outcome::Verified);
        assert_eq!(batch("Qg==", "QQ=="), Outcome::Wrong);
        let short = format!(r#"{{"items":[{}],"failed":0}}"#, item("QQ=="));
        let plain = plain(&["QQ==", "Qg=="]);
        assert_eq!(opened(&reply(200, &short), &plain), Outcome::Wrong);
        let error = r#"{"error":{"code":"decryption_failed","message":""}}"#;
        let failed = format!(r#"{{"items":[{},{error}],"failed":1}}"#, item("QQ=="));
        let fault = Fault::new(FaultPhase::Service, "decryption_failed");
        assert_eq!(opened(&reply(200, &failed), &plain), Outcome::Failed(fault));
    }

    #[test]
    fn answers_in_cbor_say_the_same() {
        let cbor = |status, body: Vec<u8>| Reply {
            status: StatusCode::from_u16(status).unwrap(),
            body: Bytes::from(body),
        };
        let version = KeyVersion::FIRST;
        let plaintext = b"ABC";
        let opening = Done::Opened { plaintext, version };
        let one = cbor(200, write::one(Codec::Cbor, &opening));
        assert_eq!(opened(&one, &plain(&["QUJD"])), Outcome::Verified);
        assert_eq!(opened(&one, &plain(&["QUJE"])), Outcome::Wrong);
        let batch = |second| {
            let mut batch = Batch::new(Codec::Cbor, 2, 0);
            batch.push(Ok(opening));
            batch.push(second);
            opened(&cbor(200, batch.finish()), &plain(&["QUJD", "QUJD"]))
        };
        assert_eq!(batch(Ok(opening)), Outcome::Verified);
        let fault = Fault::new(FaultPhase::Service, "decryption_failed");
        let failed = batch(Err(Code::DecryptionFailed));
        assert_eq!(failed, Outcome::Failed(fault));
        let refusal = Refusal::new(Code::Overloaded);
        let body = refusal.body(Codec::Cbor, &Limits::DEFAULT, RequestId::NONE);
        let fault = failure(&cbor(503, body), 1).unwrap();
        assert_eq!(fault.to_string(), "service: overloaded");
        let mut both = Batch::new(Codec::Cbor, 2, 0);
        let sealing = Done::Sealed {
            ciphertext: b"A",
            version,
        };
        (0..2).for_each(|_| both.push(Ok(sealing)));
        let both = cbor(200, both.finish());
        assert!(matches!(sealed(&both, 2), Sealed::Done(all) if all == ["QQ==", "QQ=="]));
    }

    #[test]
    fn a_refusal_has_the_services_code_and_else_the_status() {
        let body = r#"{"error":{"code":"overloaded","message":"later"}}"#;
        let fault = failure(&reply(503, body), 1).unwrap();
        assert_eq!(fault.to_string(), "service: overloaded");
        let fault = failure(&reply(502, "<html>"), 1).unwrap();
        assert_eq!(fault.to_string(), "status: 502");
        assert_eq!(failure(&reply(200, "anything"), 1), None);
    }

    #[test]
    fn ciphertexts_must_be_as_many_as_items() {
        let one = r#"{"ciphertext":"QQ==","key_version":1}"#;
        let two = format!(r#"{{"items":[{one},{one}],"failed":0}}"#);
        assert!(matches!(sealed(&reply(200, one), 1), Sealed::Done(all) if all == ["QQ=="]));
        assert!(matches!(sealed(&reply(200, &two), 2), Sealed::Done(all) if all.len() == 2));
        for (body, items) in [(two.as_str(), 3), (one, 2), ("[]", 1), ("", 2)] {
            assert!(matches!(
                sealed(&reply(200, body), items),
                Sealed::Failed(_)
            ));
        }
    }

    #[test]
    fn only_a_ciphertext_that_cannot_be_opened_is_wrong() {
        let failed = |code: &'static str| Outcome::Failed(Fault::new(FaultPhase::Service, code));
        assert_eq!(asked(failed("decryption_failed")), Outcome::Wrong);
        assert_eq!(asked(failed("overloaded")), Outcome::Unchecked);
        assert_eq!(asked(Outcome::Wrong), Outcome::Wrong);
    }

    #[test]
    fn random_bytes_must_have_their_length_and_not_repeat() {
        let mut before = Vec::new();
        let three = reply(200, r#"{"random":"QUJD"}"#);
        assert_eq!(random(&three, 3, &mut before), Outcome::Verified);
        assert_eq!(random(&three, 3, &mut before), Outcome::Wrong);
        let other = reply(200, r#"{"random":"QUJE"}"#);
        assert_eq!(random(&other, 4, &mut before), Outcome::Wrong);
        assert!(matches!(
            random(&reply(200, "{}"), 3, &mut before),
            Outcome::Failed(_)
        ));
    }
}
