//! A home whose door for clients of the seed service is open, and the golden vectors V1 to V3 of key-service.md 1.4.

use keywright_custody::ReaderDetail;
use keywright_custody::reader::{FormerName, NonceLen};
use keywright_encoding::{base64, hex};
use keywright_home::{Answer, HomeError, Order, Wrapped};
use keywright_policy::{Fact, Fingerprint, Legacy, PrincipalEntry, Rule};
use keywright_types::KeyVersion;
use serde_json::{Value, json};

use crate::fixture::*;
use crate::imports::{begin, check_of, wrap};

/// A ciphertext of the seed service, made by a running copy of it.
pub(super) struct Vector {
    pub(super) label: &'static str,
    pub(super) context: &'static str,
    pub(super) name: FormerName,
    /// The first byte of the key; the others follow it.
    pub(super) key: u8,
    pub(super) text: &'static [u8],
    sealed: &'static str,
}

pub(super) const V1: Vector = Vector {
    label: "kek-exchange-key-v1",
    context: EXCHANGE,
    name: FormerName::OrganizationalUnit,
    key: 0x80,
    text: b"Hello World!",
    sealed: "b763a5b36915013f91f112b435c6c10dee78becf75894ea95dcba06572c1b2d533fb92460bbfbc6a98c9ccb2",
};
pub(super) const V2: Vector = Vector {
    label: "kek-2fa-v1",
    context: TWO_FACTOR,
    name: FormerName::CommonName,
    key: 0xa0,
    text: b"SecretCode",
    sealed: "ccc5343ba45492c58805ecc878bd0ef3bb68a76a6de7f1c2731a43f3f404d8d7a0bafa663d3b746c7179",
};
pub(super) const V3: Vector = Vector {
    text: b"",
    sealed: "2600c9c4087fc6e200033ac7ecbf4b0d4ea4db236d7ee0c24324d1d8e6975426",
    ..V2
};

impl Vector {
    pub(super) fn sealed(&self) -> Vec<u8> {
        hex::decode(self.sealed).unwrap()
    }

    pub(super) fn secret(&self) -> [u8; 32] {
        key_from(self.key)
    }

    pub(super) fn reader(&self) -> ReaderDetail {
        ReaderDetail {
            label: self.label.to_owned(),
            context: self.context.to_owned(),
            name: self.name,
            nonce: NonceLen::Sixteen,
            object: None,
        }
    }
}

/// The bytes from `first` on, 32 of them.
pub(super) fn key_from(first: u8) -> [u8; 32] {
    std::array::from_fn(|index| first + u8::try_from(index).unwrap())
}

/// The demonstration with the door open.
pub(super) fn open_home() -> Home {
    Home::demo().configure("seed = false", "seed = true")
}

/// The same, served, with the keys of all vectors brought in.
pub(super) fn open_site() -> Site {
    let site = Site::over(open_home());
    for vector in [V1, V2] {
        import(&site, vector.context, vector.reader(), &vector.secret()).unwrap();
    }
    site
}

/// Brings a key in, wrapped.
pub(super) fn import(
    site: &Site,
    context: &str,
    reader: ReaderDetail,
    secret: &[u8; 32],
) -> Result<KeyVersion, HomeError> {
    let key = begin(site);
    let wrapped = Wrapped {
        import: key.id,
        key: base64::encode(&wrap(&key.pem, secret)),
        check: hex::encode(&check_of(secret)),
    };
    order(site, context, reader, Some(wrapped))
}

pub(super) fn order(
    site: &Site,
    context: &str,
    reader: ReaderDetail,
    wrapped: Option<Wrapped>,
) -> Result<KeyVersion, HomeError> {
    let order = Order::ReaderImport {
        tenant: name("default"),
        name: name(context),
        reader,
        wrapped,
    };
    match site.node().carry_out(order)? {
        Answer::ReaderImported { version } => Ok(version),
        other => panic!("{other:?}"),
    }
}

/// A principal in a unit's group, as a certificate with this name and unit shows it; it may do what the trader may in
/// every context. Its certificate is issued once.
pub(super) fn join(site: &Site, client: &str, (cn, unit): (&str, &str), former: &[&str]) {
    let pki = site.home.pki();
    let anchor = Fingerprint::from_bytes(pki.authority().spki_sha256());
    let clients = site.home.path().join("clients");
    let now = keywright_clock::Clock::system().wall();
    if !clients.join(format!("{cn}.pem")).exists() {
        pki.issue_client(&clients, (cn, Some(unit)), None, now)
            .unwrap();
    }
    let former = Legacy(former.iter().map(|name| (*name).to_owned()).collect());
    site.change_policy(|document| {
        document
            .principals
            .retain(|entry| entry.name.as_str() != client);
        document.principals.push(PrincipalEntry {
            id: None,
            name: name(client),
            tenant: name("default"),
            plane: keywright_types::Plane::default(),
            group: Some(name(unit)),
            heirs: Vec::new(),
            legacy_cn: former,
            legacy_ou: Legacy::default(),
            rules: vec![Rule {
                anchors: vec![anchor],
                fact: Fact::Subject {
                    common_name: cn.to_owned(),
                    organizational_unit: unit.to_owned(),
                },
            }],
        });
        for grant in &mut document.grants {
            grant.principals.retain(|one| one.as_str() != client);
            if !grant.contexts.is_empty() {
                grant.principals.push(name(client));
            }
        }
    });
}

/// What is asked of `/decrypt`.
pub(super) fn asked(context: &str, sealed: &[u8], label: &str) -> Value {
    json!({ "context": context, "ciphertext": base64::encode(sealed), "key_id": label })
}

pub(super) fn decrypt(wire: &mut Wire, context: &str, sealed: &[u8], label: &str) -> Got {
    wire.post("/decrypt", asked(context, sealed, label).to_string())
}

/// The one answer to everything that does not open, byte for byte.
pub(super) fn refused(code: &str) -> String {
    format!("{{\"error\":\"decryption failed\",\"code\":\"{code}\"}}\n")
}

#[track_caller]
pub(super) fn assert_opaque(got: &Got, what: &str) {
    assert_eq!(got.status, 400, "{what}");
    let body = String::from_utf8_lossy(&got.body);
    assert_eq!(body, refused("decryption_failed"), "{what}");
}

#[track_caller]
pub(super) fn assert_opens(got: &Got, text: &[u8]) {
    let body = String::from_utf8_lossy(&got.body);
    let expected = format!("{{\"plaintext\":\"{}\"}}\n", base64::encode(text));
    assert_eq!((got.status, body.as_ref()), (200, expected.as_str()));
}
