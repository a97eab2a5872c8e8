//! The promises of policy documents over arbitrary bytes, as one function that the fuzz target and a
//! plain test both call.

use keywright_types::{Credential, Name, TenantId};

use crate::{Fact, Policy, PolicyDocument, Unidentified};

/// Reads `data` as a policy document, as TOML and as JSON, and checks that what is accepted
///
/// * reads back as the same document from both of its forms;
/// * compiles, and gives every rule's certificates to its own principal.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn document(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        match PolicyDocument::parse(text) {
            Ok(document) => accepted(document),
            Err(error) => assert!(!error.to_string().is_empty(), "an error without words"),
        }
    }
    if let Ok(document) = PolicyDocument::from_json(data) {
        accepted(document);
    }
}

fn accepted(mut document: PolicyDocument) {
    let toml = document.to_toml().map(|text| PolicyDocument::parse(&text));
    assert!(
        matches!(toml, Ok(Ok(again)) if again == document),
        "TOML gave another document"
    );
    let json = document
        .to_json()
        .map(|bytes| PolicyDocument::from_json(&bytes));
    assert!(
        matches!(json, Ok(Ok(again)) if again == document),
        "JSON gave another document"
    );
    // Counted down from the top, so that ids the document has already are not met.
    let mut next = u128::MAX;
    document.complete(|| {
        next -= 1;
        next.to_be_bytes()
    });
    let Ok(policy) = Policy::compile(&document, one_tenant, 1) else {
        return;
    };
    for entry in &document.principals {
        for rule in &entry.rules {
            for anchor in &rule.anchors {
                let credential = showing(*anchor.as_bytes(), &rule.fact);
                match policy.identify(&credential) {
                    Ok(who) => assert_eq!(Some(who.id()), entry.id, "another's certificate"),
                    // The unused facts of the certificate are constants that a rule may name too.
                    Err(reason) => assert_eq!(reason, Unidentified::Ambiguous, "nobody's"),
                }
            }
        }
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that `Policy::compile` asks for"
)]
fn one_tenant(_: &Name) -> Option<TenantId> {
    Some(TenantId::from_bytes([1; 16]))
}

fn showing(anchor: [u8; 32], fact: &Fact) -> Credential {
    let mut credential = Credential {
        anchor,
        leaf_key: [0; 32],
        leaf: [0; 32],
        serial: Vec::new(),
        subject: String::new(),
        common_name: None,
        organizational_unit: None,
        san_uris: Vec::new(),
        san_dns: Vec::new(),
        not_after: 0,
    };
    match fact {
        Fact::LeafKey(key) => credential.leaf_key = *key.as_bytes(),
        Fact::SanDns(name) => credential.san_dns.push(name.clone()),
        Fact::SanUri(uri) => credential.san_uris.push(uri.clone()),
        Fact::Subject {
            common_name,
            organizational_unit,
        } => {
            credential.common_name = Some(common_name.clone());
            credential.organizational_unit = Some(organizational_unit.clone());
        }
    }
    credential
}
