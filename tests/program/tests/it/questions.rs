//! What the policy is said to come to is what requests meet.

use keywright_api::route::{ROUTES, Verb};
use keywright_home::{Answer, Order, Reach};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_tls::Protocol;
use keywright_types::{Code, Operation};

use crate::fixture::*;
use crate::life::grant;

fn explained(site: &Site, who: &str, operation: Operation, context: Option<&str>) -> (Code, Reach) {
    let order = Order::PolicyExplain {
        tenant: name("default"),
        principal: name(who),
        operation,
        context: context.map(name),
    };
    match site.node().carry_out(order).unwrap() {
        Answer::Explained {
            code,
            reach,
            reasons,
        } => {
            assert_eq!(code == "ok", reach != Reach::Nowhere);
            // Whatever is allowed by a grant has a grant that says so; health and the like ask for none.
            let free = ["health-read", "context-list", "api-read"].contains(&operation.name());
            assert!(
                code != "ok" || free || !reasons.is_empty(),
                "{who} {operation}"
            );
            (code.parse().unwrap(), reach)
        }
        other => panic!("{other:?}"),
    }
}

fn able(site: &Site, operation: Operation, context: Option<&str>) -> Vec<String> {
    let order = Order::PolicyWhoCan {
        tenant: name("default"),
        operation,
        context: context.map(name),
    };
    match site.node().carry_out(order).unwrap() {
        Answer::WhoCan { principals } => principals
            .iter()
            .map(|one| one.principal.to_string())
            .collect(),
        other => panic!("{other:?}"),
    }
}

/// A policy with a refusal in it, so that more than the presence of a grant decides.
fn site() -> Site {
    let site = Site::start();
    grant(&site, WEB, EXCHANGE, &["encrypt", "decrypt", "key-list"]);
    let refusal = Grant {
        tenant: name("default"),
        principals: vec![name(WEB)],
        groups: Vec::new(),
        effect: Effect::Deny,
        operations: vec![Operation::Decrypt],
        contexts: vec![ContextPattern::Any],
        paths: Vec::new(),
    };
    site.change_policy(|document| document.grants.push(refusal));
    site
}

#[test]
fn every_route_answers_every_client_as_the_policy_was_explained() {
    let site = site();
    for client in [TRADING, WEB] {
        let mut wire = site.wire(client, Protocol::Http2);
        for route in &ROUTES {
            let contexts: &[Option<&str>] = match route.takes_context() {
                true => &[Some(EXCHANGE), Some(TWO_FACTOR), Some("nowhere")],
                false => &[None],
            };
            for context in contexts {
                let path = route.path.to_string();
                let path = path.replace("{context}", context.unwrap_or_default());
                let got = match route.verb {
                    Verb::Get => wire.get(&path),
                    // Well formed for some routes and not for others: right and form are told apart by the code.
                    Verb::Post => wire.post(&path, body_of(route.operation).to_owned()),
                };
                let refused = match got.status {
                    403 => Code::OperationDenied,
                    404 if got.code() == "context_not_found" => Code::ContextNotFound,
                    _ => Code::Ok,
                };
                let (code, _) = explained(&site, client, route.operation, *context);
                assert_eq!(refused, code, "{client} {path}");
                let listed = able(&site, route.operation, *context);
                assert_eq!(
                    listed.iter().any(|one| one == client),
                    code == Code::Ok,
                    "{client} {path}"
                );
            }
        }
    }
    site.stop();
}

/// A body that is understood, so that the right is what decides; it asks for nothing that works.
pub(crate) const fn body_of(operation: Operation) -> &'static str {
    match operation {
        Operation::DeterministicEncrypt | Operation::Encrypt => r#"{"plaintext":""}"#,
        Operation::Decrypt
        | Operation::DeterministicDecrypt
        | Operation::Rewrap
        | Operation::DatakeyOpen => r#"{"ciphertext":""}"#,
        Operation::Datakey => "{}",
        Operation::Tokenize => r#"{"value":"1"}"#,
        Operation::Detokenize | Operation::Mask => r#"{"token":"1","key_version":1}"#,
        Operation::Sign => r#"{"message":""}"#,
        Operation::Verify => r#"{"message":"","signature":"","key_version":1}"#,
        Operation::Agree => r#"{"public_key":""}"#,
        Operation::PublicKey => "{}",
        Operation::Xpub | Operation::KeyExport => r#"{"path":"m"}"#,
        Operation::Mac => r#"{"message":""}"#,
        Operation::MacVerify => r#"{"message":"","mac":"","key_version":1}"#,
        Operation::KeyRotate => "{}",
        Operation::KeyApprove => r#"{"order":"destroy","version":9}"#,
        Operation::Random => r#"{"bytes":1}"#,
        _ => r#"{"version":9}"#,
    }
}

#[test]
fn a_principal_that_is_not_there_is_said_to_be() {
    let site = Site::start();
    let order = Order::PolicyExplain {
        tenant: name("default"),
        principal: name("nobody"),
        operation: Operation::Encrypt,
        context: Some(name(EXCHANGE)),
    };
    assert!(site.node().carry_out(order).is_err());
    assert!(able(&site, Operation::PolicyApply, None).is_empty());
    site.stop();
}
