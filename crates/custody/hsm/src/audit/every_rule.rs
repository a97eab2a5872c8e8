//! Each rule that is built in fires where it should, and a good key is none of its business.

use super::evaluate::Truth;
use super::facts::{Fact, Facts, Value};
use super::field::FIELDS;
use super::rules::RuleSet;

#[expect(clippy::fn_params_excessive_bools, reason = "the value of a flag")]
fn flag(value: bool) -> Fact {
    Fact::Known(Value::Flag(value))
}

fn number(value: i64) -> Fact {
    Fact::Known(Value::Number(value))
}

fn text(value: &str) -> Fact {
    Fact::Known(Value::Text(value.to_owned()))
}

/// A field by its name, so that a misspelt one fails.
fn put(facts: &mut Facts, name: &str, fact: Fact) {
    let field = FIELDS.iter().find(|field| field.name == name);
    facts.put(
        field.unwrap_or_else(|| panic!("{name} is no field")).name,
        fact,
    );
}

fn with(mut facts: Facts, changes: &[(&str, Fact)]) -> Facts {
    for (name, fact) in changes {
        put(&mut facts, name, fact.clone());
    }
    facts
}

fn key(class: &str, kind: &str, bits: i64) -> Facts {
    let clear = [
        "decrypt",
        "encrypt",
        "wrap",
        "unwrap",
        "derive",
        "extractable",
        "modifiable",
        "label_is_odd",
        "pair_differs",
    ];
    let mut facts = Facts::empty();
    for name in clear {
        put(&mut facts, name, flag(false));
    }
    for name in [
        "sensitive",
        "always_sensitive",
        "never_extractable",
        "private",
        "local",
        "sign",
        "has_public",
        "has_private",
    ] {
        put(&mut facts, name, flag(true));
    }
    with(
        facts,
        &[
            ("class", text(class)),
            ("key_type", text(kind)),
            ("bits", number(bits)),
            ("id", text("0a1b")),
            ("label", text("payroll")),
            ("same_id", number(0)),
            ("same_label", number(0)),
            ("guards_all", flag(true)),
        ],
    )
}

fn private() -> Facts {
    with(
        key("private", "rsa", 4096),
        &[
            ("public_exponent", number(65537)),
            ("exponent_is_even", flag(false)),
            ("shared_factor", flag(false)),
            ("roca", flag(false)),
        ],
    )
}

fn public() -> Facts {
    let facts = with(
        private(),
        &[("class", text("public")), ("verify", flag(true))],
    );
    with(
        facts,
        &[
            ("sensitive", Fact::Absent),
            ("extractable", Fact::Absent),
            ("private", flag(false)),
            ("sign", Fact::Absent),
        ],
    )
}

fn secret() -> Facts {
    with(
        key("secret", "aes", 256),
        &[
            ("sign", flag(false)),
            ("encrypt", flag(true)),
            ("decrypt", flag(true)),
        ],
    )
}

fn certificate() -> Facts {
    with(
        Facts::empty(),
        &[
            ("class", text("certificate")),
            ("id", text("0a1b")),
            ("has_private", flag(true)),
            ("days_to_end", number(100)),
        ],
    )
}

fn token() -> Facts {
    let mut facts = with(
        Facts::empty(),
        &[("class", text("token")), ("label", text("signing"))],
    );
    for name in [
        "pin_to_be_changed",
        "pin_count_low",
        "pin_final_try",
        "pin_locked",
        "so_pin_to_be_changed",
        "so_pin_count_low",
        "so_pin_final_try",
        "so_pin_locked",
    ] {
        put(&mut facts, name, flag(false));
    }
    facts
}

/// The rules that fire.
fn fires(facts: &Facts) -> Vec<String> {
    let rules = RuleSet::builtin();
    let fire = rules
        .rules()
        .iter()
        .filter(|rule| rule.condition.holds(facts) == Truth::Yes);
    fire.map(|rule| rule.id.clone()).collect()
}

fn bad() -> Vec<(&'static str, Facts)> {
    let list = |name: &str| Fact::Known(Value::List(vec![name.to_owned()]));
    let mut all = keys(&list);
    all.extend([
        (
            "MissingPublicKey",
            with(private(), &[("has_public", flag(false))]),
        ),
        (
            "MissingPrivateKey",
            with(public(), &[("has_private", flag(false))]),
        ),
        (
            "PairMismatch",
            with(public(), &[("pair_differs", flag(true))]),
        ),
        ("DuplicateId", with(secret(), &[("same_id", number(1))])),
        (
            "DuplicateLabel",
            with(public(), &[("same_label", number(2))]),
        ),
        ("NoKeyId", with(secret(), &[("id", text(""))])),
        ("NoKeyId", with(secret(), &[("id", Fact::Absent)])),
        ("OddLabel", with(secret(), &[("label_is_odd", flag(true))])),
        ("ExpiredKey", with(secret(), &[("days_to_end", number(-1))])),
        (
            "NotYetValid",
            with(secret(), &[("days_since_start", number(-1))]),
        ),
        (
            "KeyTooOld",
            with(secret(), &[("days_since_start", number(2000))]),
        ),
        (
            "CertificateExpired",
            with(certificate(), &[("days_to_end", number(-1))]),
        ),
        (
            "CertificateWithoutKey",
            with(certificate(), &[("has_private", flag(false))]),
        ),
        (
            "TokenPinState",
            with(token(), &[("pin_final_try", flag(true))]),
        ),
        (
            "TokenPinState",
            with(token(), &[("so_pin_locked", flag(true))]),
        ),
        (
            "TokenPinState",
            with(token(), &[("pin_count_low", flag(true))]),
        ),
        ("TokenPinState", with(token(), &[("label", text("token"))])),
        (
            "BenchResidue",
            with(secret(), &[("label", text("keywright-bench-0011"))]),
        ),
    ]);
    all
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn keys(list: &dyn Fn(&str) -> Fact) -> Vec<(&'static str, Facts)> {
    vec![
        (
            "ExtractablePrivateKey",
            with(private(), &[("extractable", flag(true))]),
        ),
        (
            "NonSensitivePrivateKey",
            with(private(), &[("sensitive", flag(false))]),
        ),
        (
            "ExtractableSecretKey",
            with(secret(), &[("extractable", flag(true))]),
        ),
        (
            "NonSensitiveSecretKey",
            with(secret(), &[("sensitive", flag(false))]),
        ),
        (
            "NotAlwaysSensitive",
            with(private(), &[("always_sensitive", flag(false))]),
        ),
        (
            "ExtractableAfterCreation",
            with(secret(), &[("never_extractable", flag(false))]),
        ),
        ("ImportedKey", with(secret(), &[("local", flag(false))])),
        (
            "ModifiablePrivateKey",
            with(private(), &[("modifiable", flag(true))]),
        ),
        (
            "PublicPrivateFlag",
            with(secret(), &[("private", flag(false))]),
        ),
        (
            "WrapAndDecrypt",
            with(secret(), &[("wrap", flag(true)), ("encrypt", flag(false))]),
        ),
        (
            "UnwrapAndEncrypt",
            with(secret(), &[("unwrap", flag(true))]),
        ),
        ("MixedUsage", with(private(), &[("decrypt", flag(true))])),
        ("MixedUsage", with(secret(), &[("sign", flag(true))])),
        (
            "UntrustedWrappingKey",
            with(
                public(),
                &[("wrap", flag(true)), ("guards_all", flag(false))],
            ),
        ),
        (
            "WeakMechanismAllowed",
            with(private(), &[("allowed_mechanisms", list("CKM_RSA_PKCS"))]),
        ),
        ("WeakRsa", with(private(), &[("bits", number(1024))])),
        ("WeakRsa", with(private(), &[("bits", number(2048))])),
        (
            "WeakRsa",
            with(private(), &[("public_exponent", number(3))]),
        ),
        (
            "WeakRsa",
            with(private(), &[("exponent_is_even", flag(true))]),
        ),
        (
            "WeakCurve",
            with(key("private", "ec", 192), &[("curve", text("p192"))]),
        ),
        (
            "WeakCurve",
            with(key("private", "ec", 256), &[("curve", text("unknown"))]),
        ),
        (
            "WeakSymmetric",
            with(key("secret", "des", 64), &[("sign", flag(false))]),
        ),
        ("WeakSymmetric", key("secret", "des3", 192)),
        ("WeakSymmetric", key("secret", "generic_secret", 80)),
        (
            "SharedModulus",
            with(private(), &[("shared_factor", flag(true))]),
        ),
        ("KnownWeakKey", with(public(), &[("roca", flag(true))])),
    ]
}

#[test]
fn each_rule_fires_and_is_silent() {
    for good in [
        private(),
        public(),
        secret(),
        certificate(),
        token(),
        key("private", "ec", 256),
    ] {
        assert_eq!(fires(&good), [""; 0], "{}", good.class());
    }
    for (rule, facts) in bad() {
        assert_eq!(fires(&facts), [rule], "{rule}");
    }
    let cases = bad();
    for rule in RuleSet::builtin().rules() {
        let tried = cases.iter().filter(|(id, _)| *id == rule.id);
        assert!(
            tried
                .clone()
                .any(|(_, facts)| rule.condition.holds(facts) == Truth::Yes),
            "{}: {}",
            rule.id,
            rule.when
        );
    }
}

#[test]
fn an_attribute_that_cannot_be_read_is_no_pass() {
    let facts = with(
        private(),
        &[(
            "extractable",
            Fact::Unreadable("CKR_DEVICE_ERROR".to_owned()),
        )],
    );
    let rules = RuleSet::builtin();
    let unknown = rules
        .rules()
        .iter()
        .filter(|rule| rule.condition.holds(&facts) == Truth::Unknown("extractable"));
    let unknown: Vec<_> = unknown.map(|rule| rule.id.as_str()).collect();
    assert!(unknown.contains(&"ExtractablePrivateKey"), "{unknown:?}");
    // A key that must have it and has not tells nothing either.
    let facts = with(private(), &[("sensitive", Fact::Absent)]);
    let rule = rules
        .rules()
        .iter()
        .find(|rule| rule.id == "NonSensitivePrivateKey")
        .unwrap();
    assert_eq!(rule.condition.holds(&facts), Truth::Unknown("sensitive"));
}
