//! The committed vectors of the second implementation: verified, and made again from what they say.

use keywright_primitives::signature::{SigningKey, VerifyingKey as PublicKey};
use keywright_secret::Secret;
use keywright_token::{
    Audience, Binder, Channel, Check, Claims, DenySet, IssuingKey, KeyId, Narrowing, Next, Reason,
    RevocationId, Scope, Skew, UnixSeconds, VerifyingKeys, attenuate_into, delegate_into, hazmat,
};
use keywright_vectors::golden::{Case, Golden};
use keywright_vectors::{Error, Record, Tally};

pub(crate) const FILE: &str = "token/tokens.json";

fn seconds(fields: &Record, name: &str) -> Option<UnixSeconds> {
    fields.field(name)?;
    Some(UnixSeconds::new(fields.number(name).unwrap()).unwrap())
}

fn words<'a>(fields: &'a Record, name: &str) -> Option<&'a str> {
    fields.field(name)?.as_str()
}

fn issuer(fields: &Record) -> Result<IssuingKey, Error> {
    let id = KeyId::new(fields.array("key_id")?);
    let secret = Secret::copy_from(&fields.hex("secret")?).unwrap();
    Ok(match fields.text("suite")? {
        "blake3" => IssuingKey::blake3(id, &secret),
        "hmac-sha-256" => IssuingKey::hmac_sha256(id, &secret),
        "ed25519" => IssuingKey::ed25519(id, &secret).unwrap(),
        other => panic!("unknown suite {other}"),
    })
}

/// The seeds that README.md states, found by their public keys.
fn holder(public: &[u8]) -> SigningKey {
    HOLDERS
        .iter()
        .map(|seed| keywright_encoding::hex::decode(seed).unwrap())
        .map(|seed| SigningKey::from_seed(&Secret::copy_from(&seed).unwrap()).unwrap())
        .find(|key| key.verifying_key().as_bytes() == public)
        .unwrap()
}

/// The token made of what the case says about it.
fn made(case: &Case) -> Result<Vec<u8>, Error> {
    let (fields, said) = (&case.fields, case.fields.object("claims")?);
    let key = issuer(fields)?;
    let mut claims = Claims::until(seconds(&said, "expires").unwrap());
    if let Some(begin) = seconds(&said, "not_before") {
        claims = claims.not_before(begin);
    }
    if let Some(name) = words(&said, "audience") {
        claims = claims.audience(name).unwrap();
    }
    if let Some(scope) = words(&said, "scope") {
        claims = claims.scope(Scope::parse(scope).unwrap());
    }
    if let Some(name) = words(&said, "subject") {
        claims = claims.subject(name).unwrap();
    }
    let data = words(&said, "data").map(|_| said.hex("data").unwrap());
    if let Some(data) = &data {
        claims = claims.data(data).unwrap();
    }
    let mut named = words(&said, "delegate").map(|_| said.array("delegate").unwrap());
    let first = named.map(PublicKey::from_bytes);
    if let Some(first) = &first {
        claims = claims.delegate(first);
    }
    let binder = fields
        .truth("bound")?
        .then(|| fields.array("binder").unwrap());
    let binder = binder.map(|bytes| Binder::from_bytes(&bytes));
    let id = RevocationId::from_bytes(fields.array("id")?);
    let mut token = Vec::new();
    hazmat::issue_with_id(&key, &claims, binder.as_ref(), id, &mut token).unwrap();
    let mut branches = Vec::new();
    for block in fields.list("blocks")? {
        let mut longer = Vec::new();
        branches.push(with_block(&token, &block, &mut named, &mut longer).to_string());
        token = longer;
    }
    let stated = fields.object("permits")?;
    let stated = stated.field("branches").unwrap().as_array().unwrap();
    assert!(stated.iter().eq(branches.iter()), "{}", fields.name());
    Ok(token)
}

fn with_block(
    token: &[u8],
    block: &Record,
    named: &mut Option<[u8; 32]>,
    out: &mut Vec<u8>,
) -> RevocationId {
    let mut narrowing = Narrowing::new();
    if let Some(end) = seconds(block, "expires") {
        narrowing = narrowing.until(end);
    }
    if let Some(begin) = seconds(block, "not_before") {
        narrowing = narrowing.not_before(begin);
    }
    if let Some(name) = words(block, "audience") {
        narrowing = narrowing.audience(name).unwrap();
    }
    if let Some(scope) = words(block, "scope") {
        narrowing = narrowing.scope(Scope::parse(scope).unwrap());
    }
    let Some(public) = named.take() else {
        return attenuate_into(token, &narrowing, out).unwrap();
    };
    *named = block.array("next").ok();
    let next = named.map(PublicKey::from_bytes);
    let next = next.as_ref().map_or(Next::Nobody, Next::Key);
    delegate_into(token, &holder(&public), &narrowing, next, out).unwrap()
}

fn verify(case: &Case, token: &[u8]) -> Result<Result<bool, Reason>, Error> {
    let fields = &case.fields;
    let audience = match fields.text("audience")? {
        "" => Audience::Any,
        name => Audience::Is(name),
    };
    let binder = fields
        .array("binder")
        .ok()
        .map(|bytes| Binder::from_bytes(&bytes));
    let channel = match (fields.text("channel")?, &binder) {
        ("offered", Some(binder)) => Channel::Offered(binder),
        ("required", Some(binder)) => Channel::Required(binder),
        (word, _) => {
            assert_eq!(word, "unbound");
            Channel::Unbound
        }
    };
    let mut denied = DenySet::new();
    for id in fields.field("denied").unwrap().as_array().unwrap() {
        let id = keywright_encoding::hex::decode_array(id.as_str().unwrap()).unwrap();
        denied.insert(RevocationId::from_bytes(id), UnixSeconds::MAX);
    }
    let check = Check::at(seconds(fields, "now").unwrap(), audience)
        .skew(Skew::seconds(fields.number("skew")?).unwrap())
        .channel(channel)
        .wanting(Scope::parse(fields.text("wanted")?).unwrap());
    let keys = VerifyingKeys::of(issuer(fields)?.verifying_key().unwrap());
    let verified = match keys.verify(token, &check, &denied) {
        Ok(verified) => verified,
        Err(rejected) => return Ok(Err(rejected.reason_for_audit())),
    };
    let permits = fields.object("permits")?;
    let begin = verified.not_before().map_or(0, UnixSeconds::number);
    Ok(Ok(verified.expires().number()
        == permits.number::<u64>("expires")?
        && begin == permits.number::<u64>("not_before")?
        && verified.audience().unwrap_or_default()
            == permits.text("audience")?
        && verified.scope().as_str() == permits.text("scope")?
        && verified.subject().unwrap_or_default()
            == permits.text("subject")?
        && verified.data().unwrap_or_default()
            == permits.hex("data")?
        && verified.is_bound() == fields.truth("bound")?
        && verified.id().as_bytes() == &fields.array("id")?))
}

fn judge(case: &Case) -> Result<bool, Error> {
    let token = case.fields.hex("token")?;
    Ok(match verify(case, &token)? {
        Ok(right) => case.valid && right && made(case)? == token,
        Err(reason) => !case.valid && reason.name() == case.fields.text("reason")?,
    })
}

/// The must-fail table is the greater part of this file.
#[test]
fn t42_every_token_is_made_again_byte_for_byte_and_every_other_is_refused_for_its_reason() {
    let golden = Golden::load(FILE).unwrap();
    let mut tally = Tally::new("golden-token");
    for case in golden.cases() {
        tally.check(case.fields.name(), judge(case).unwrap());
    }
    assert_eq!(tally.total(), 479);
    tally.finish().unwrap();
}

/// SHAKE256("holder n", 32).
const HOLDERS: [&str; 9] = [
    "4cc2540fc034bc7ad9a8cadd7b2c0a85db0a967f3bf5d3cd28ab97e4747738c9",
    "5bfa8bebd09123ff84be93697d7ac7dce26fba31be3b0b539ad62bce7be13513",
    "459776642ccf7b5a6aae7e41a73a68a0a4c252a4809ff917685f05c2be06b7ad",
    "5081ecf28f5984306c26f61bc490e1270e43d2a924d59f04ca7f807c11a12951",
    "510b521da15b02e0752debb2ae415da800ef8f2e4b14daa842a11133fc109831",
    "58e1fbbe840c10407a2dafa89a847670edf6c88496c7a3490d0a70fd26bd3d58",
    "4f4b46c267588fc19118980e24b44777d156d25641eb3e8bdde514a4374554f7",
    "8a73fb02c87f662215efcc4078fc99a24ffe7e61307b1b0b8b9aa71d4c83b22a",
    "05067b0fa6f4b626ef68a3a37b0adb55781e7cd8fb36d20e471cd5c697c5bc80",
];
