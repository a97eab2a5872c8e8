//! Documents and certificates the other modules share.

use keywright_policy::{ContextRef, Policy, PolicyDocument, Principal};
use keywright_types::{Credential, KeyId, Name, PrincipalId, TenantId};
use std::sync::Arc;

pub(crate) const DEFAULT: TenantId = TenantId::from_bytes([0xD0; 16]);
pub(crate) const OTHER: TenantId = TenantId::from_bytes([0xD1; 16]);
pub(crate) const KEY: KeyId = KeyId::from_bytes([0x4B; 16]);

/// Two tenants: `default` and `other`.
pub(crate) fn tenants(name: &Name) -> Option<TenantId> {
    match name.as_str() {
        "default" => Some(DEFAULT),
        "other" => Some(OTHER),
        _ => None,
    }
}

/// Parses, fills in ids 1, 2, 3, ... and compiles.
pub(crate) fn policy(text: &str) -> Policy {
    let document = document(text);
    Policy::compile(&document, tenants, 7).unwrap()
}

pub(crate) fn document(text: &str) -> PolicyDocument {
    let mut document = PolicyDocument::parse(&format!("version = 1\n{text}")).unwrap();
    let mut next = 0;
    document.complete(|| {
        next += 1;
        [next; 16]
    });
    document
}

pub(crate) fn who(policy: &Policy, name: &str) -> Arc<Principal> {
    let found: Vec<_> = policy
        .principals()
        .filter(|p| p.name().as_str() == name)
        .collect();
    assert_eq!(found.len(), 1, "{name}");
    Arc::clone(found[0])
}

pub(crate) fn id(policy: &Policy, name: &str) -> PrincipalId {
    who(policy, name).id()
}

pub(crate) fn context(name: &str) -> ContextRef<'_> {
    ContextRef::new(DEFAULT, name, KEY)
}

/// A certificate that shows nothing but its anchor and a key nobody names.
pub(crate) fn bare(anchor: u8) -> Credential {
    Credential {
        anchor: [anchor; 32],
        leaf_key: [0xEE; 32],
        leaf: [0xEF; 32],
        serial: vec![1],
        subject: "CN=for logs only".into(),
        common_name: None,
        organizational_unit: None,
        san_uris: vec![],
        san_dns: vec![],
        not_after: u64::MAX,
    }
}

/// The certificate of the seed's kind: a common name and organisational unit.
pub(crate) fn named(anchor: u8, cn: &str, ou: &str) -> Credential {
    Credential {
        common_name: Some(cn.into()),
        organizational_unit: Some(ou.into()),
        ..bare(anchor)
    }
}

pub(crate) fn with_uri(anchor: u8, uris: &[&str]) -> Credential {
    Credential {
        san_uris: uris.iter().map(|&uri| uri.to_owned()).collect(),
        ..bare(anchor)
    }
}

pub(crate) fn with_dns(anchor: u8, names: &[&str]) -> Credential {
    Credential {
        san_dns: names.iter().map(|&name| name.to_owned()).collect(),
        ..bare(anchor)
    }
}
