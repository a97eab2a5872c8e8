//! Requests that use keys otherwise than for messages: signatures, tokens of values; and a home with contexts for them.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::Method;
use keywright_api::Binary;
use keywright_api::answer::{
    BatchAnswer, ItemResult, SignAnswer, TokenAnswer, ValueAnswer, VerifyAnswer,
};
use keywright_clock::Clock;
use keywright_custody::{Detail, FormatDetail, Rules, TreeDetail};
use keywright_home::{CONFIG_FILE, HomeError, MemoryPlan, Node, Order};
use keywright_measure::ledger::Outcome;
use keywright_measure::stats::random::Generator;
use keywright_measure::{Fault, TargetError};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_types::{Algorithm, BindingKind, KeySpec, Name, Operation, Purpose};
use serde_json::from_slice;

use super::inputs::Entry;
use super::judge::{failure, unreadable};
use super::{Kind, Shape, home};
use crate::http::{Endpoint, Reply};

const ED25519: &str = "bench-ed25519";
const P256: &str = "bench-p256";
const P384: &str = "bench-p384";
const ML_DSA_65: &str = "bench-ml-dsa-65";
const RSA_2048_PSS: &str = "bench-rsa-2048-pss";
const WALLET: &str = "bench-wallet";
const CARDS: &str = "bench-cards";
/// Who works in them: the first client of the demonstration.
const CLIENT: &str = "trading-1";

/// Where the key of a wallet lies that signs: the account of a usual wallet, and one address of it.
const PATH: &str = "m/44'/501'/7'/0'";

/// Different requests in a ring, of one item and of many.
const RING: u32 = 128;
const BATCHES: u32 = 8;

/// The home in this folder, with contexts that sign and make tokens. Made if it is missing.
///
/// # Errors
/// [`TargetError::System`] if it cannot be made.
pub fn uses_home(folder: &Path) -> Result<PathBuf, TargetError> {
    let own = folder.join("uses");
    let home = home(&own)?;
    // A home of an earlier version lacks some of the contexts, under another mark.
    let whole = own.join("whole-2");
    if whole.exists() {
        return Ok(home);
    }
    let system = |error: HomeError| TargetError::System(format!("no contexts: {error}"));
    let node = Node::open(
        &home.join(CONFIG_FILE),
        Clock::system(),
        MemoryPlan::LeaveAlone,
    );
    let node = node.map_err(system)?;
    add_contexts(&node).map_err(system)?;
    node.shutdown().map_err(system)?;
    fs::write(whole, "").map_err(|error| TargetError::System(error.to_string()))?;
    Ok(home)
}

/// Adds the contexts that operations other than on messages work in, where its first client may do all of it.
///
/// # Errors
/// [`HomeError`].
pub fn add_contexts(node: &Node) -> Result<(), HomeError> {
    let wallet = Detail::Tree(TreeDetail {
        seed: "raw".to_owned(),
        soft_children: false,
    });
    let cards = Detail::Format(FormatDetail {
        format: card_format(),
        // A format that keeps digits keeps them in its tweak as well.
        tweak: "column kept".to_owned(),
        column: CARDS.to_owned(),
        small_domain: false,
        mask: None,
    });
    let signing = [Operation::Sign, Operation::Verify];
    let tokens = [Operation::Tokenize, Operation::Detokenize];
    let mut document = node.admin().policy()?.unwrap_or_default();
    for (context, algorithm) in [
        (ED25519, Algorithm::Ed25519),
        (P256, Algorithm::EcdsaP256),
        (P384, Algorithm::EcdsaP384),
        (ML_DSA_65, Algorithm::MlDsa65),
        (RSA_2048_PSS, Algorithm::Rsa2048Pss),
    ] {
        let kind = (Purpose::Sign, algorithm, None);
        document.grants.push(add(node, context, kind, &signing)?);
    }
    let wallet = (Purpose::Tree, Algorithm::Slip10Ed25519, Some(wallet));
    document.grants.push(add(node, WALLET, wallet, &signing)?);
    let cards = (Purpose::Tokenise, Algorithm::Ff1Aes128, Some(cards));
    document.grants.push(add(node, CARDS, cards, &tokens)?);
    node.admin().apply_policy(document)?;
    Ok(())
}

/// Adds one context; gives what lets the client work in it.
fn add(
    node: &Node,
    context: &str,
    (purpose, algorithm, detail): (Purpose, Algorithm, Option<Detail>),
    operations: &[Operation],
) -> Result<Grant, HomeError> {
    let name: Name = context.parse()?;
    let spec = KeySpec {
        purpose,
        algorithm,
        ..KeySpec::seal()
    };
    node.carry_out(Order::ContextCreate {
        tenant: Name::default_tenant(),
        name: name.clone(),
        binding: BindingKind::None,
        spec,
        rules: Rules::default(),
        detail,
        secret: None,
    })?;
    Ok(Grant {
        tenant: Name::default_tenant(),
        principals: vec![CLIENT.parse()?],
        groups: Vec::new(),
        effect: Effect::Allow,
        operations: operations.to_vec(),
        contexts: vec![ContextPattern::Exact(name)],
        paths: Vec::new(),
    })
}

/// The text of the format of card numbers whose last four digits stay, as a context has it.
fn card_format() -> String {
    let format = keywright_format::Format::parse("card(keep=last4)");
    format.map_or_else(|_| String::new(), |format| format.canonical().to_owned())
}

/// The context that a kind works in, if it has one of its own.
pub(super) const fn context_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::NullSign | Kind::SignEd25519 => Some(ED25519),
        Kind::SignMlDsa65 => Some(ML_DSA_65),
        Kind::SignP256 => Some(P256),
        Kind::SignP384 => Some(P384),
        Kind::SignRsa2048Pss => Some(RSA_2048_PSS),
        Kind::SignHd => Some(WALLET),
        Kind::NullTokenize | Kind::Tokenize => Some(CARDS),
        _ => None,
    }
}

const fn path_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::SignHd => Some(PATH),
        _ => None,
    }
}

/// Requests for signatures over random messages.
pub(super) fn signatures(
    endpoint: &Endpoint,
    shape: Shape,
    path: &str,
    random: &mut Generator,
) -> Result<Vec<Entry>, TargetError> {
    (0..RING)
        .map(|_| {
            let message = message(shape.bytes, random);
            let body = match path_of(shape.kind) {
                Some(place) => format!(r#"{{"message":"{message}","path":"{place}"}}"#),
                None => format!(r#"{{"message":"{message}"}}"#),
            };
            Ok(Entry {
                request: endpoint.prepare(Method::POST, path, body)?,
                plain: vec![message],
                answer: None,
            })
        })
        .collect()
}

/// Requests for tokens of random card numbers.
pub(super) fn tokens(
    endpoint: &Endpoint,
    shape: Shape,
    path: &str,
    random: &mut Generator,
) -> Result<Vec<Entry>, TargetError> {
    (0..BATCHES)
        .map(|_| {
            let plain: Vec<_> = (0..shape.items).map(|_| card(random)).collect();
            let body = super::inputs::body("value", "", &plain);
            Ok(Entry {
                request: endpoint.prepare(Method::POST, path, body)?,
                plain,
                answer: None,
            })
        })
        .collect()
}

fn message(bytes: u32, random: &mut Generator) -> String {
    let mut message = Vec::with_capacity(bytes as usize + 8);
    while message.len() < bytes as usize {
        message.extend_from_slice(&random.next_u64().to_le_bytes());
    }
    message.truncate(bytes as usize);
    Binary::new(&message).text().into_owned()
}

/// A number of 16 digits whose check digit fits.
fn card(random: &mut Generator) -> String {
    let mut text = format!("4{:014}", random.next_u64() % 100_000_000_000_000);
    let doubled = |(place, digit): (usize, u8)| {
        let digit = u32::from(digit - b'0');
        match place % 2 {
            0 if digit > 4 => 2 * digit - 9,
            0 => 2 * digit,
            _ => digit,
        }
    };
    let sum: u32 = text.bytes().enumerate().map(doubled).sum();
    text.push(char::from_digit((10 - sum % 10) % 10, 10).unwrap_or('0'));
    text
}

/// The body that asks whether the signature of an answer fits its message.
pub(super) fn verification(kind: Kind, reply: &Reply, message: &str) -> Result<Bytes, Fault> {
    if let Some(fault) = failure(reply, 1) {
        return Err(fault);
    }
    let signed: SignAnswer<'_> = from_slice(&reply.body).map_err(|_| unreadable())?;
    let (signature, version) = (signed.signature.text(), signed.key_version);
    let path = path_of(kind).map_or_else(String::new, |path| format!(r#","path":"{path}""#));
    let body = format!(
        r#"{{"message":"{message}","signature":"{signature}","key_version":{version}{path}}}"#
    );
    Ok(body.into())
}

/// Whether a signature fits.
pub(super) fn verified(reply: &Reply) -> Outcome {
    if let Some(fault) = failure(reply, 1) {
        return Outcome::Failed(fault);
    }
    let answer = from_slice::<VerifyAnswer>(&reply.body);
    match answer.is_ok_and(|answer| answer.valid) {
        true => Outcome::Verified,
        false => Outcome::Wrong,
    }
}

/// The body that asks for the values of an answer's tokens.
pub(super) fn values(reply: &Reply, items: usize) -> Result<Bytes, Fault> {
    if let Some(fault) = failure(reply, items) {
        return Err(fault);
    }
    let batch: BatchAnswer<TokenAnswer<'_>> = from_slice(&reply.body).map_err(|_| unreadable())?;
    let mut texts = Vec::with_capacity(items);
    for item in batch.items {
        let token = item.into_result().map_err(|_| unreadable())?;
        texts.push(format!(
            r#"{{"token":"{}","key_version":{}}}"#,
            token.token.expose(),
            token.key_version
        ));
    }
    match texts.len() == items {
        true => Ok(format!(r#"{{"items":[{}]}}"#, texts.join(",")).into()),
        false => Err(unreadable()),
    }
}

/// Whether an answer holds these values.
pub(super) fn same_values(reply: &Reply, plain: &[String]) -> Outcome {
    if let Some(fault) = failure(reply, plain.len()) {
        return Outcome::Failed(fault);
    }
    let Ok(batch) = from_slice::<BatchAnswer<ValueAnswer<'_>>>(&reply.body) else {
        return Outcome::Wrong;
    };
    let same = |(item, plain): (&ItemResult<ValueAnswer<'_>>, &String)| match item {
        ItemResult::Done(value) => value.value.expose() == plain,
        ItemResult::Failed(_) => false,
    };
    match batch.items.len() == plain.len() && batch.items.iter().zip(plain).all(same) {
        true => Outcome::Verified,
        false => Outcome::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn reply(body: &str) -> Reply {
        Reply {
            status: StatusCode::OK,
            body: Bytes::from(body.to_owned()),
        }
    }

    #[test]
    fn cards_have_sixteen_digits_and_pass_the_check() {
        let mut random = Generator::new(1);
        for _ in 0..1000 {
            let card = card(&mut random);
            assert_eq!(card.len(), 16);
            let sum: u32 = card
                .bytes()
                .rev()
                .enumerate()
                .map(|(place, digit)| {
                    let digit = u32::from(digit - b'0');
                    match (place % 2, 2 * digit) {
                        (0, _) => digit,
                        (_, twice) => twice / 10 + twice % 10,
                    }
                })
                .sum();
            assert_eq!(sum % 10, 0, "{card}");
        }
    }

    #[test]
    fn a_signature_is_asked_about_with_its_message_version_and_path() {
        let signed = reply(r#"{"signature":"QUJD","key_version":3}"#);
        let body = verification(Kind::SignHd, &signed, "bQ==").unwrap();
        let body: serde_json::Value = from_slice(&body).unwrap();
        assert_eq!(body["message"], "bQ==");
        assert_eq!(body["signature"], "QUJD");
        assert_eq!(body["key_version"], 3);
        assert_eq!(body["path"], PATH);
        let body = verification(Kind::SignP256, &signed, "bQ==").unwrap();
        let body: serde_json::Value = from_slice(&body).unwrap();
        assert!(body.get("path").is_none());
        assert!(verification(Kind::SignP256, &reply("{}"), "").is_err());
        let right = reply(r#"{"valid":true,"key_version":3}"#);
        assert_eq!(verified(&right), Outcome::Verified);
        let wrong = reply(r#"{"valid":false,"key_version":3}"#);
        assert_eq!(verified(&wrong), Outcome::Wrong);
        assert_eq!(verified(&reply("x")), Outcome::Wrong);
    }

    #[test]
    fn tokens_are_asked_about_all_together_and_compared_in_order() {
        let two =
            r#"{"items":[{"token":"1","key_version":1},{"token":"2","key_version":1}],"failed":0}"#;
        let body = values(&reply(two), 2).unwrap();
        let body: serde_json::Value = from_slice(&body).unwrap();
        assert_eq!(body["items"][1]["token"], "2");
        assert!(values(&reply(two), 3).is_err());
        let plain = ["1".to_owned(), "2".to_owned()];
        let answer = |a, b| {
            let item = |text| format!(r#"{{"value":"{text}","key_version":1}}"#);
            reply(&format!(
                r#"{{"items":[{},{}],"failed":0}}"#,
                item(a),
                item(b)
            ))
        };
        assert_eq!(same_values(&answer("1", "2"), &plain), Outcome::Verified);
        assert_eq!(same_values(&answer("2", "1"), &plain), Outcome::Wrong);
        let unread = same_values(&reply("[]"), &plain);
        assert_eq!(unread, Outcome::Failed(unreadable()));
    }
}
