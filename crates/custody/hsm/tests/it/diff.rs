//! Keys compared by attributes that no command of these sets: dates, and the mechanisms that are allowed.

use keywright_hsm::expected::Expected;
use keywright_hsm::inspection::{DiffReport, KeyMaterial, diff, diff_expected, inspect};
use keywright_hsm::{Access, Caution, Desk, KeyChoice, Login, Module, Pin, Secrets, TokenChoice};
use keywright_pkcs11::{Curve, KeyPlan, PairKind, Purpose, Template};
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};
use keywright_tokens::{Store, on_each};

pub(crate) fn desk(store: &Store) -> Desk {
    let at = &store.tokens()[0];
    let module = Module::load(at.module()).unwrap();
    let choice = TokenChoice {
        label: Some(at.label()),
        ..TokenChoice::default()
    };
    let token = choice.find(&module).unwrap();
    let pin = Pin::from_line(at.user_pin().as_bytes().to_vec());
    Desk::open(&token, Access::Write, Some(Login::Pin(pin)), Caution::Guard).unwrap()
}

/// Numbers of mechanisms as an attribute holds them.
fn list(mechanisms: &[u64]) -> Vec<u8> {
    mechanisms
        .iter()
        .flat_map(|one| one.to_ne_bytes())
        .collect()
}

const SHA256_HMAC: u64 = 0x251;
const SHA512_HMAC: u64 = 0x271;

fn make(desk: &Desk, label: &str, more: Template) {
    let template = Template::new()
        .class(ObjectClass::SECRET_KEY)
        .key_type(KeyType::GENERIC_SECRET)
        .label(label)
        .yes(AttributeType::TOKEN)
        // SoftHSM 2.6.1 cannot read the dates of private objects, which it keeps encrypted.
        .no(AttributeType::PRIVATE)
        .no(AttributeType::SENSITIVE)
        .yes(AttributeType::EXTRACTABLE)
        .yes(AttributeType::SIGN)
        .bytes(AttributeType::VALUE, &[7; 32]);
    desk.session().create_object(&template.and(more)).unwrap();
}

fn dates(start: &[u8], end: &[u8]) -> Template {
    Template::new()
        .bytes(AttributeType::START_DATE, start)
        .bytes(AttributeType::END_DATE, end)
}

fn allowed(mechanisms: &[u64]) -> Template {
    Template::new().bytes(AttributeType::ALLOWED_MECHANISMS, &list(mechanisms))
}

/// The differences, each with its weight and both values.
fn found(report: &DiffReport) -> Vec<[&str; 4]> {
    assert_eq!(report.identical, report.differences.is_empty());
    let all = report.differences.iter();
    all.map(|one| {
        [
            one.attribute.as_str(),
            one.severity,
            &one.key1_value,
            &one.key2_value,
        ]
    })
    .collect()
}

#[test]
fn dates_and_allowed_mechanisms_are_compared() {
    on_each(|store| {
        let desk = desk(store);
        make(&desk, "plain", Template::new());
        make(&desk, "dated", dates(b"20260101", b"20301231"));
        make(&desk, "narrow", allowed(&[SHA256_HMAC]));
        make(&desk, "wide", allowed(&[SHA256_HMAC, SHA512_HMAC]));
        make(&desk, "turned", allowed(&[SHA512_HMAC, SHA256_HMAC]));
        let compare = |one: &str, other: &str| {
            let (one, other) = (KeyChoice::label(one), KeyChoice::label(other));
            diff((&desk, &one), (&desk, &other), None).unwrap()
        };
        assert_eq!(found(&compare("plain", "plain")), [[""; 4]; 0]);
        assert_eq!(
            found(&compare("plain", "dated")),
            [
                ["CKA_START_DATE", "LOW", "absent", "2026-01-01"],
                ["CKA_END_DATE", "LOW", "absent", "2030-12-31"],
            ]
        );
        let narrow = "CKM_SHA256_HMAC";
        let wide = "CKM_SHA256_HMAC, CKM_SHA512_HMAC";
        assert_eq!(
            found(&compare("narrow", "wide")),
            [["CKA_ALLOWED_MECHANISMS", "CRITICAL", narrow, wide]]
        );
        assert_eq!(
            found(&compare("plain", "narrow")),
            [["CKA_ALLOWED_MECHANISMS", "CRITICAL", "absent", narrow]]
        );
        // The order of the list means nothing.
        assert_eq!(found(&compare("wide", "turned")), [[""; 4]; 0]);
    });
}

#[test]
fn a_key_is_held_against_what_is_expected_of_it() {
    on_each(|store| {
        let desk = desk(store);
        make(
            &desk,
            "key",
            dates(b"20260101", b"").and(allowed(&[SHA256_HMAC])),
        );
        let key = KeyChoice::label("key");
        let hold = |text: &str| {
            let expected = Expected::read(text).unwrap();
            diff_expected((&desk, &key), (&expected, "file"), (None, Secrets::Hide)).unwrap()
        };
        let fits = hold(
            "CKA_CLASS = \"CKO_SECRET_KEY\"\nCKA_KEY_TYPE = \"CKK_GENERIC_SECRET\"\nCKA_SIGN = true\n\
             CKA_START_DATE = \"2026-01-01\"\nCKA_END_DATE = \"absent\"\nCKA_MODULUS = \"absent\"\n\
             CKA_ALLOWED_MECHANISMS = [\"CKM_SHA256_HMAC\"]\nCKA_LABEL = \"key\"\n",
        );
        assert_eq!(found(&fits), [[""; 4]; 0]);
        assert_eq!(
            (fits.comparison.len(), fits.key2_label.as_str()),
            (8, "file")
        );
        for (text, difference) in [
            (
                "CKA_SIGN = false",
                ["CKA_SIGN", "CRITICAL", "true", "false"],
            ),
            (
                "CKA_START_DATE = \"2026-01-02\"",
                ["CKA_START_DATE", "LOW", "2026-01-01", "2026-01-02"],
            ),
            (
                "CKA_END_DATE = \"2026-01-02\"",
                ["CKA_END_DATE", "LOW", "absent", "2026-01-02"],
            ),
            (
                "CKA_MODULUS = \"00\"",
                ["CKA_MODULUS", "LOW", "absent", "00"],
            ),
            ("CKA_LABEL = \"KEY\"", ["CKA_LABEL", "LOW", "key", "KEY"]),
            (
                "CKA_ALLOWED_MECHANISMS = [\"CKM_SHA512_HMAC\", \"CKM_SHA256_HMAC\"]",
                [
                    "CKA_ALLOWED_MECHANISMS",
                    "CRITICAL",
                    "CKM_SHA256_HMAC",
                    "CKM_SHA256_HMAC, CKM_SHA512_HMAC",
                ],
            ),
        ] {
            assert_eq!(found(&hold(text)), [difference], "{text}");
        }
        // Of another class there is no such key.
        let other = Expected::read("CKA_CLASS = \"CKO_PRIVATE_KEY\"").unwrap();
        let missing =
            diff_expected((&desk, &key), (&other, "file"), (None, Secrets::Hide)).unwrap_err();
        assert!(missing.to_string().contains("no private key"), "{missing}");
    });
}

#[test]
fn keys_with_equal_attributes_are_told_apart_by_their_values() {
    on_each(|store| {
        let desk = desk(store);
        make(&desk, "one", Template::new());
        make(&desk, "same", Template::new());
        let other = Template::new()
            .class(ObjectClass::SECRET_KEY)
            .key_type(KeyType::GENERIC_SECRET)
            .label("other")
            .yes(AttributeType::TOKEN)
            .no(AttributeType::PRIVATE)
            .no(AttributeType::SENSITIVE)
            .yes(AttributeType::EXTRACTABLE)
            .yes(AttributeType::SIGN)
            .bytes(AttributeType::VALUE, &[8; 32]);
        desk.session().create_object(&other).unwrap();
        let compare = |one: &str, other: &str| {
            let (one, other) = (KeyChoice::label(one), KeyChoice::label(other));
            diff((&desk, &one), (&desk, &other), None).unwrap()
        };
        let same = compare("one", "same");
        assert_eq!(
            (same.key_material, same.identical),
            (Some(KeyMaterial::Same), true)
        );
        let different = compare("one", "other");
        assert_eq!(different.key_material, Some(KeyMaterial::Different));
        let shown = "readable (32 bytes)";
        assert_eq!(found(&different), [["CKA_VALUE", "LOW", shown, shown]]);
    });
}

#[test]
fn private_keys_are_told_apart_by_their_public_halves() {
    on_each(|store| {
        let desk = desk(store);
        let session = desk.session();
        let kind = PairKind::Curve(Curve::P256);
        for (label, id) in [("one", [1]), ("other", [2])] {
            let plan = KeyPlan::new(Purpose::Sign).label(label).id(&id);
            session.generate_pair(kind, &plan).unwrap();
        }
        let compare = |other: &str| {
            let (one, other) = (KeyChoice::label("one"), KeyChoice::label(other));
            let class = Some(ObjectClass::PRIVATE_KEY);
            diff((&desk, &one), (&desk, &other), class).unwrap()
        };
        assert_eq!(compare("one").key_material, Some(KeyMaterial::Same));
        assert!(compare("one").identical);
        assert_eq!(compare("other").key_material, Some(KeyMaterial::Different));
        assert!(!compare("other").identical);
    });
}

#[test]
fn a_private_data_object_is_shown_only_where_secrets_are() {
    on_each(|store| {
        let desk = desk(store);
        for (label, private) in [
            ("hidden", Template::new().yes(AttributeType::PRIVATE)),
            ("open", Template::new().no(AttributeType::PRIVATE)),
        ] {
            let template = Template::new()
                .class(ObjectClass::DATA)
                .label(label)
                .bytes(AttributeType::VALUE, b"hunter2");
            desk.session()
                .create_object(&template.and(private))
                .unwrap();
        }
        let value = |label: &str, secrets| {
            let report = inspect(&desk, &KeyChoice::label(label), (None, secrets)).unwrap();
            let attributes = &report.objects[0].attributes;
            let value = attributes.iter().find(|one| one.name == "CKA_VALUE");
            value.unwrap().value.clone()
        };
        let plain = keywright_encoding::hex::encode(b"hunter2");
        assert_eq!(value("hidden", Secrets::Hide), "readable (7 bytes)");
        assert_eq!(value("hidden", Secrets::Reveal), plain);
        assert_eq!(value("open", Secrets::Hide), plain);
    });
}
