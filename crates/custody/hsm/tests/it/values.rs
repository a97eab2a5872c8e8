//! The secrets of keys that a token gives away.

use keywright_encoding::hex;
use keywright_hsm::inspection::{InspectReport, inspect};
use keywright_hsm::{KeyChoice, Secrets};
use keywright_pkcs11::Template;
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};
use keywright_tokens::on_each;

use crate::diff::desk;

/// A key whose value may be read.
fn open(class: ObjectClass, kind: KeyType, secret: &[u8]) -> Template {
    Template::new()
        .class(class)
        .key_type(kind)
        .label("open")
        .yes(AttributeType::TOKEN)
        .yes(AttributeType::PRIVATE)
        .yes(AttributeType::EXTRACTABLE)
        .no(AttributeType::SENSITIVE)
        .bytes(AttributeType::VALUE, secret)
}

fn value(report: &InspectReport) -> &str {
    let attributes = &report.objects[0].attributes;
    let value = attributes.iter().find(|one| one.name == "CKA_VALUE");
    &value.unwrap().value
}

#[test]
fn a_readable_secret_is_told_by_its_length() {
    on_each(|store| {
        let desk = desk(store);
        let session = desk.session();
        let secret = [0x5a; 32];
        // prime256v1
        let parameters = [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
        let ec = open(ObjectClass::PRIVATE_KEY, KeyType::EC, &secret)
            .bytes(AttributeType::EC_PARAMS, &parameters)
            .yes(AttributeType::SIGN);
        let aes = open(ObjectClass::SECRET_KEY, KeyType::AES, &secret).yes(AttributeType::ENCRYPT);
        let key = KeyChoice::label("open");
        for template in [ec, aes] {
            let object = session.create_object(&template).unwrap();
            let hidden = inspect(&desk, &key, (None, Secrets::Hide)).unwrap();
            assert_eq!(value(&hidden), "readable (32 bytes)");
            let document = format!("{hidden:?}");
            assert!(!document.contains("5a5a"), "{document}");
            let shown = inspect(&desk, &key, (None, Secrets::Reveal)).unwrap();
            assert_eq!(value(&shown), hex::encode(&secret));
            session.destroy_object(object).unwrap();
        }
    });
}
