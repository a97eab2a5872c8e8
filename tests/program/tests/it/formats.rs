//! Tokens of values over real TLS: made, made back, masked, one and many, and what is refused.

use std::sync::Arc;

use keywright_client::{Batching, Token, Value};
use keywright_custody::Detail;
use keywright_format::{Column, Format, FormatKey, Mask, Scope, Settings, TweakPolicy};
use keywright_home::{Answer, Imported, Node, Order};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_secret::{Secret, SecretBytes};
use keywright_service::format_detail;
use keywright_types::{Algorithm, BindingKind, Code, Custody, KeySpec, Operation, Origin, Purpose};
use serde_json::{Value as Json, json};

use crate::fixture::*;

const CARDS: &str = "cards";
const CARD: &str = "4111111111111111";

fn spec() -> KeySpec {
    KeySpec {
        purpose: Purpose::Tokenise,
        algorithm: Algorithm::Ff1Aes256,
        ..KeySpec::seal()
    }
}

pub(crate) fn cards(tweak: &str, mask: Option<&str>) -> Detail {
    let format = Format::parse("card(keep=last4)").unwrap();
    let settings = Settings::new(TweakPolicy::parse(tweak).unwrap());
    let mask = mask.map(|mask| Mask::parse(mask).unwrap());
    Detail::Format(format_detail(&format, (settings, "card_number"), mask.as_ref()).unwrap())
}

fn order(context: &str, spec: KeySpec, detail: Option<Detail>) -> Order {
    Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec,
        rules: keywright_custody::Rules::default(),
        detail,
        secret: None,
    }
}

pub(crate) fn create(node: &Arc<Node>, context: &str, detail: Detail) {
    let made = node
        .carry_out(order(context, spec(), Some(detail)))
        .unwrap();
    assert!(matches!(made, Answer::ContextCreated { .. }));
}

fn grant(site: &Site, client: &str, context: &str, operations: &[Operation]) {
    site.change_policy(|document| {
        document.grants.push(Grant {
            tenant: name("default"),
            principals: vec![name(client)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: operations.to_vec(),
            contexts: vec![ContextPattern::Exact(name(context))],
            paths: Vec::new(),
        });
    });
}

const ALL: [Operation; 3] = [Operation::Tokenize, Operation::Detokenize, Operation::Mask];

/// A site with a context of cards on which trading-1 may do everything.
fn site() -> Site {
    let site = Site::start();
    create(site.node(), CARDS, cards("column", Some("last4")));
    grant(&site, TRADING, CARDS, &ALL);
    site
}

fn post(wire: &mut Wire, action: &str, body: &Json) -> Got {
    wire.post(&path(CARDS, action), body.to_string())
}

#[test]
fn a_value_becomes_a_token_and_the_token_the_value_alone_and_in_batches() {
    let site = site();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let made = post(&mut wire, "tokenize", &json!({ "value": CARD }));
        assert_eq!((made.status, &made.json()["key_version"]), (200, &json!(1)));
        let token = made.json()["token"].as_str().unwrap().to_owned();
        assert!(token.ends_with("1111") && token.len() == 16 && token != CARD);
        let asked = json!({ "token": token, "key_version": 1 });
        let back = post(&mut wire, "detokenize", &asked);
        assert_eq!(back.json(), json!({ "value": CARD, "key_version": 1 }));
        let masked = post(&mut wire, "mask", &asked);
        assert_eq!(
            masked.json(),
            json!({ "masked": "************1111", "key_version": 1 })
        );
        let many = post(
            &mut wire,
            "tokenize",
            &json!({ "items": [{ "value": CARD }, { "value": "4111" }, { "value": CARD }] }),
        );
        let many = many.json();
        assert_eq!(
            (&many["failed"], &many["items"][0]["token"]),
            (&json!(1), &json!(token))
        );
        assert_eq!(many["items"][1]["error"]["code"], "value_unfit");
        assert_eq!(many["items"][2], many["items"][0]);
    }
    site.stop();
}

#[test]
fn the_library_takes_ten_thousand_cards_and_gives_them_back_in_order() {
    let site = site();
    let client = site.client(TRADING);
    let values: Vec<String> = (0..10_000).map(card).collect();
    let items: Vec<_> = values
        .iter()
        .map(|value| Value { value, tweak: &[] })
        .collect();
    let context = name(CARDS);
    let made = client.tokenize_items(&context, &items, Batching::default());
    let made: Vec<_> = made.unwrap().into_iter().map(Result::unwrap).collect();
    let tokens: Vec<_> = made
        .iter()
        .map(|one| Token {
            token: &one.token,
            key_version: one.key_version,
            tweak: &[],
        })
        .collect();
    let back = client.detokenize_items(&context, &tokens, Batching::default());
    for (back, value) in back.unwrap().into_iter().zip(&values) {
        assert_eq!(back.unwrap().text(), value);
    }
    let masked = client.mask_items(&context, &tokens[..3], Batching::default());
    for (masked, value) in masked.unwrap().into_iter().zip(&values) {
        let last = &value[value.len() - 4..];
        assert_eq!(masked.unwrap().masked, format!("************{last}"));
    }
    let one = client.tokenize(&context, items[7]).unwrap();
    assert_eq!(one.token, made[7].token);
    let back = client.detokenize(&context, tokens[7]).unwrap();
    assert_eq!(back.text(), values[7]);
    assert_eq!(client.mask(&context, tokens[7]).unwrap().masked.len(), 16);
    drop(client);
    let home = site.stop();
    let batches = home.requests();
    let tokenized: u64 = batches
        .iter()
        .filter(|one| one["operation"] == "tokenize")
        .map(|one| one["items"].as_u64().unwrap())
        .sum();
    assert_eq!(tokenized, 10_001);
}

/// A card number that passes the check.
fn card(number: u32) -> String {
    let body = format!("41111111{number:07}");
    let digits = body.bytes().rev().enumerate();
    let sum: u32 = digits
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0') << (1 - place % 2);
            digit / 10 + digit % 10
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

#[test]
fn a_key_that_was_brought_in_gives_the_tokens_of_the_files() {
    let site = Site::start();
    let secret = SecretBytes::from_vec(vec![0x5C; 32]);
    let imported = KeySpec {
        origin: Origin::Imported,
        ..spec()
    };
    let mut made = order(CARDS, imported, Some(cards("column", None)));
    if let Order::ContextCreate { secret: place, .. } = &mut made {
        *place = Some(Imported::new(&secret));
    }
    site.node().carry_out(made).unwrap();
    grant(&site, TRADING, CARDS, &ALL);
    // What `protect` does with the same key, a rule of the same format, and the same column.
    let format = Format::parse("card(keep=last4)").unwrap();
    let master = Secret::from_fill(|bytes: &mut [u8; 32]| bytes.fill(0x5C));
    let key = FormatKey::derive(&master, &format, Settings::new(TweakPolicy::default())).unwrap();
    let mut column = Column::new(&key, Scope::column("card_number"));
    let client = site.client(TRADING);
    for number in 0..20 {
        let value = card(number);
        let expected = column.protect_one(value.as_bytes(), &[]).unwrap();
        let item = Value {
            value: &value,
            tweak: &[],
        };
        let token = client.tokenize(&name(CARDS), item).unwrap().token;
        assert_eq!(token.as_bytes(), expected);
    }
    drop(client);
    site.stop();
}

#[test]
fn after_a_rotation_old_tokens_come_back_under_the_version_they_name() {
    let site = site();
    let mut wire = site.wire(TRADING, BOTH[0]);
    let token = |wire: &mut Wire| {
        let made = post(wire, "tokenize", &json!({ "value": CARD })).json();
        (
            made["token"].as_str().unwrap().to_owned(),
            made["key_version"].clone(),
        )
    };
    let (first, one) = token(&mut wire);
    let node = site.node();
    node.admin().rotate(&name("default"), &name(CARDS)).unwrap();
    let (second, two) = token(&mut wire);
    assert_eq!((one, two), (json!(1), json!(2)));
    assert_ne!(first, second);
    let both = json!({ "items": [
        { "token": first, "key_version": 1 },
        { "token": second, "key_version": 2 },
        { "token": first, "key_version": 2 },
        { "token": first, "key_version": 3 },
        { "token": first, "key_version": 0 },
    ] });
    let back = post(&mut wire, "detokenize", &both).json();
    let value = |place: usize| back["items"][place]["value"].clone();
    assert_eq!((value(0), value(1)), (json!(CARD), json!(CARD)));
    // No error, and another card: this is why there is no default.
    let wrong = value(2);
    assert!(
        wrong
            .as_str()
            .is_some_and(|wrong| wrong != CARD && wrong.ends_with("1111"))
    );
    for place in [3, 4] {
        assert_eq!(back["items"][place]["error"]["code"], "version_not_found");
    }
    assert_eq!(back["failed"], 2);
    let alone = json!({ "token": first, "key_version": 9 });
    let refused = post(&mut wire, "detokenize", &alone);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "version_not_found")
    );
    // After a restart the rows say the same.
    drop(wire);
    let site = Site::over(site.stop());
    let mut wire = site.wire(TRADING, BOTH[1]);
    let back = post(
        &mut wire,
        "detokenize",
        &json!({ "token": first, "key_version": 1 }),
    );
    assert_eq!(back.json()["value"], CARD);
    site.stop();
}

#[test]
fn a_token_without_its_version_is_refused_with_the_field_that_is_missing() {
    let site = site();
    let mut wire = site.wire(TRADING, BOTH[0]);
    for action in ["detokenize", "mask"] {
        let refused = post(&mut wire, action, &json!({ "token": CARD }));
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "request_malformed")
        );
        let message = refused.json()["error"]["message"].to_string();
        assert!(
            message.contains("`key_version`") && !message.contains(CARD),
            "{message}"
        );
    }
    site.stop();
}

#[test]
fn policy_tells_making_showing_and_masking_apart() {
    let site = Site::start();
    create(site.node(), CARDS, cards("column", Some("last4")));
    let bodies = [
        ("tokenize", json!({ "value": CARD })),
        ("detokenize", json!({ "token": CARD, "key_version": 1 })),
        ("mask", json!({ "token": CARD, "key_version": 1 })),
    ];
    let ask = |site: &Site| -> Vec<String> {
        let mut wire = site.wire(WEB, BOTH[0]);
        let asked = bodies.iter();
        asked
            .map(|(action, body)| post(&mut wire, action, body).code())
            .collect()
    };
    let none = ["context_not_found"; 3];
    assert_eq!(ask(&site), none);
    for (only, operation) in ALL.iter().enumerate() {
        site.change_policy(|document| {
            let mine = |grant: &Grant| grant.contexts == [ContextPattern::Exact(name(CARDS))];
            document.grants.retain(|grant| !mine(grant));
        });
        grant(&site, WEB, CARDS, &[*operation]);
        let mut expected = ["operation_denied"; 3];
        expected[only] = "ok";
        assert_eq!(ask(&site), expected, "{operation}");
    }
    site.stop();
}

#[test]
fn contexts_of_another_kind_refuse_and_say_so() {
    let site = site();
    grant(
        &site,
        TRADING,
        CARDS,
        &[Operation::Encrypt, Operation::Datakey],
    );
    grant(&site, TRADING, EXCHANGE, &ALL);
    let mut wire = site.wire(TRADING, BOTH[0]);
    for (context, action, body) in [
        (CARDS, "encrypt", item(&[("plaintext", b"x")])),
        (CARDS, "datakey", "{}".to_owned()),
        (EXCHANGE, "tokenize", json!({ "value": CARD }).to_string()),
        (
            EXCHANGE,
            "mask",
            json!({ "token": CARD, "key_version": 1 }).to_string(),
        ),
    ] {
        let refused = wire.post(&path(context, action), body);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "unsupported"),
            "{context} {action}"
        );
    }
    // A format without a mask shows nothing instead of the value.
    create(site.node(), "plain", cards("column", None));
    grant(&site, TRADING, "plain", &ALL);
    let body = json!({ "token": CARD, "key_version": 1 }).to_string();
    let refused = wire.post(&path("plain", "mask"), body);
    assert_eq!(refused.code(), "unsupported");
    site.stop();
}

#[test]
fn cells_of_other_columns_are_parts_of_the_tweak() {
    let site = Site::start();
    create(site.node(), CARDS, cards("column row(customer)", None));
    grant(&site, TRADING, CARDS, &ALL);
    let mut wire = site.wire(TRADING, BOTH[0]);
    let of = |customer: &str| json!({ "value": CARD, "tweak": { "customer": customer } });
    let mut token = |customer: &str| {
        let made = post(&mut wire, "tokenize", &of(customer));
        made.json()["token"].as_str().unwrap().to_owned()
    };
    let (first, second) = (token("17"), token("18"));
    assert_eq!(token("17"), first);
    assert_ne!(first, second);
    let back = |tweak: Json| json!({ "token": first, "key_version": 1, "tweak": tweak });
    let good = post(&mut wire, "detokenize", &back(json!({ "customer": "17" })));
    assert_eq!(good.json()["value"], CARD);
    let long = "x".repeat(17_000);
    for bad in [
        json!({}),
        json!({ "Customer": "17" }),
        json!({ "customer": "17", "more": "1" }),
        json!({ "customer": long }),
    ] {
        let refused = post(&mut wire, "detokenize", &back(bad));
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "tweak_invalid")
        );
    }
    let contexts = wire.get("/v1/contexts").json();
    let listed = contexts["contexts"].as_array().unwrap();
    let cards = listed.iter().find(|one| one["name"] == CARDS).unwrap();
    assert_eq!(cards["purpose"], "tokenise");
    assert_eq!(cards["format"]["tweak"], "column row(customer) kept");
    assert!(
        cards["format"]["format"]
            .as_str()
            .unwrap()
            .starts_with("card@1(")
    );
    site.stop();
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn neither_values_nor_tokens_nor_tweaks_are_in_the_log_or_in_an_error() {
    let site = Site::start();
    create(
        site.node(),
        CARDS,
        cards("column row(customer)", Some("last4")),
    );
    grant(&site, TRADING, CARDS, &ALL);
    let mut wire = site.wire(TRADING, BOTH[0]);
    let good = card(3_141_592);
    let asked = json!({ "value": good, "tweak": { "customer": "customer-0815" } });
    let token = post(&mut wire, "tokenize", &asked).json()["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let back =
        json!({ "token": token, "key_version": 1, "tweak": { "customer": "customer-0815" } });
    assert_eq!(
        post(&mut wire, "detokenize", &back).json()["value"],
        good.as_str()
    );
    post(&mut wire, "mask", &back);
    let mut told = String::new();
    for body in [
        json!({ "value": "secret-quince", "tweak": { "customer": "customer-0815" } }),
        json!({ "value": good, "tweak": { "client": "customer-0815" } }),
        json!({ "value": good, "secret-quince": "customer-0815" }),
    ] {
        let refused = post(&mut wire, "tokenize", &body);
        assert_eq!(refused.status, 400);
        told.push_str(&refused.json().to_string());
    }
    drop(wire);
    let home = site.stop();
    home.verify();
    told.push_str(&Json::from(home.records()).to_string());
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(home.path().join("audit")).unwrap() {
        bytes.extend(std::fs::read(entry.unwrap().path()).unwrap());
    }
    // Letters, where a part is looked for: four digits are in some time or number by chance.
    for canary in [&good, &token, "secret-quince", "customer-0815", "quince"] {
        assert!(!told.contains(canary), "{canary}");
        let found = bytes
            .windows(canary.len())
            .any(|part| part == canary.as_bytes());
        assert!(!found, "{canary} in the log");
    }
    let requests = home.requests();
    let of = |operation: &str| -> Vec<&Json> {
        let mut of = requests.iter().collect::<Vec<_>>();
        of.retain(|one| one["operation"] == operation);
        of
    };
    assert_eq!(
        (
            of("tokenize").len(),
            of("detokenize").len(),
            of("mask").len()
        ),
        (4, 1, 1)
    );
    let first = of("tokenize")[0];
    assert_eq!(
        (&first["version"], &first["outcome"]),
        (&json!(1), &json!("ok"))
    );
    assert!(field(first, "message-id").is_none());
}

#[test]
fn two_tenants_with_the_same_names_see_nothing_of_each_other() {
    let site = site();
    let admin = site.node().admin();
    admin.create_tenant(&name("mirror")).unwrap();
    let mut theirs = order(CARDS, spec(), Some(cards("column", Some("last4"))));
    let mut hidden = order("hidden", spec(), Some(cards("column", None)));
    for one in [&mut theirs, &mut hidden] {
        if let Order::ContextCreate { tenant, .. } = one {
            *tenant = name("mirror");
        }
    }
    site.node().carry_out(theirs).unwrap();
    site.node().carry_out(hidden).unwrap();
    // The other tenant's client: the same authority, another name.
    site.change_policy(|document| {
        let mut web = document
            .principals
            .iter()
            .find(|one| one.name == name(WEB))
            .unwrap()
            .clone();
        document.principals.retain(|one| one.name != name(WEB));
        (web.tenant, web.group, web.id) = (name("mirror"), None, None);
        document.principals.push(web);
        for grant in &mut document.grants {
            grant.principals.retain(|one| *one != name(WEB));
        }
        document
            .grants
            .retain(|grant| !(grant.principals.is_empty() && grant.groups.is_empty()));
        document.grants.push(Grant {
            tenant: name("mirror"),
            principals: vec![name(WEB)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: ALL.to_vec(),
            contexts: vec![ContextPattern::Any],
            paths: Vec::new(),
        });
    });
    let [mut ours, mut mirror] = [TRADING, WEB].map(|client| site.wire(client, BOTH[0]));
    let value = json!({ "value": CARD });
    let token = post(&mut ours, "tokenize", &value).json()["token"].clone();
    let other = post(&mut mirror, "tokenize", &value).json()["token"].clone();
    assert_ne!(token, other, "a key for each tenant");
    let asked = json!({ "token": token, "key_version": 1 });
    assert_eq!(post(&mut ours, "detokenize", &asked).json()["value"], CARD);
    assert_ne!(
        post(&mut mirror, "detokenize", &asked).json()["value"],
        CARD
    );
    let ask = |wire: &mut Wire, context: &str| {
        let got = wire.post(&path(context, "tokenize"), value.to_string());
        (got.status, got.json()["error"]["message"].clone())
    };
    assert_eq!(ask(&mut mirror, "hidden").0, 200);
    assert_eq!(ask(&mut ours, "hidden"), ask(&mut ours, "never-made"));
    assert_eq!(ask(&mut ours, "hidden").0, 404);
    site.stop();
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_cannot_be_kept_is_refused_when_the_context_is_made() {
    let site = Site::start();
    let node = site.node();
    let good = || cards("column", None);
    let edited = |edit: fn(&mut keywright_custody::FormatDetail)| {
        let Detail::Format(mut format) = good() else {
            panic!("a format");
        };
        edit(&mut format);
        Some(Detail::Format(format))
    };
    let token = KeySpec {
        custody: Custody::Token,
        ..spec()
    };
    let seals = KeySpec {
        algorithm: Algorithm::Xaes256Gcm,
        ..spec()
    };
    let cases = [
        (
            token,
            Some(good()),
            Code::Unsupported,
            "cannot stay in a token",
        ),
        (
            seals,
            Some(good()),
            Code::Unsupported,
            "no algorithm of keys",
        ),
        (spec(), None, Code::Unsupported, "does not support"),
        (
            KeySpec::seal(),
            Some(good()),
            Code::Unsupported,
            "does not support",
        ),
        (
            spec(),
            edited(|one| one.format = "card(keep=last4)".into()),
            Code::Unsupported,
            "does not support",
        ),
        (
            spec(),
            edited(|one| one.format = "cart".into()),
            Code::ValueInvalid,
            "unknown name",
        ),
        (
            spec(),
            edited(|one| one.tweak = "caller".into()),
            Code::ValueInvalid,
            "the service does not",
        ),
        (
            spec(),
            edited(|one| one.tweak = "none".into()),
            Code::ValueInvalid,
            "empty",
        ),
        (
            spec(),
            edited(|one| one.mask = Some("last(999)".into())),
            Code::ValueInvalid,
            "range",
        ),
    ];
    for (spec, detail, code, says) in cases {
        let shown = format!("{detail:?}");
        let refused = node.carry_out(order("new", spec, detail)).unwrap_err();
        let keywright_home::HomeError::Admin(error) = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(error.code(), code, "{shown}: {error}");
        assert!(error.to_string().contains(says), "{shown}: {error}");
    }
    let bound = Order::ContextCreate {
        tenant: name("default"),
        name: name("new"),
        binding: BindingKind::Group,
        spec: spec(),
        rules: keywright_custody::Rules::default(),
        detail: Some(good()),
        secret: None,
    };
    assert!(node.carry_out(bound).is_err());
    let mut short = order("new", spec(), Some(good()));
    if let Order::ContextCreate { secret, .. } = &mut short {
        *secret = Some(Imported::new(&SecretBytes::from_vec(vec![1; 16])));
    }
    assert!(node.carry_out(short).is_err());
    // The name was not used up by any of them.
    create(node, "new", good());
    site.stop();
}
