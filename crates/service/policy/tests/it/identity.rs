//! Exactly one principal must match a certificate, byte for byte (design 7.25, W5).

use keywright_policy::Unidentified;
use keywright_types::{Code, Credential};

use crate::setting::{bare, named, policy, who, with_dns, with_uri};

/// `uri`, `dns`, `subject` and `key`: one principal for each kind of fact, under anchor aa; `subject`
/// also under bb.
fn four() -> keywright_policy::Policy {
    let (aa, bb, key) = ("aa".repeat(32), "bb".repeat(32), "cc".repeat(32));
    policy(&format!(
        r#"
        [[principal]]
        name = "uri"
        [[principal.rule]]
        anchors = ["{aa}"]
        san_uri = "keywright:principal:0102"
        [[principal]]
        name = "dns"
        [[principal.rule]]
        anchors = ["{aa}"]
        san_dns = "host.example"
        [[principal]]
        name = "subject"
        [[principal.rule]]
        anchors = ["{aa}", "{bb}"]
        common_name = "trading-1"
        organizational_unit = "Trading"
        [[principal]]
        name = "key"
        tenant = "other"
        [[principal.rule]]
        anchors = ["{aa}"]
        leaf_key = "{key}"
        "#
    ))
}

#[test]
fn each_kind_of_fact_finds_its_principal() {
    let policy = four();
    let found = |credential: &Credential| policy.identify(credential).unwrap().name().to_string();
    assert_eq!(
        found(&with_uri(0xAA, &["other:uri", "keywright:principal:0102"])),
        "uri"
    );
    assert_eq!(found(&with_dns(0xAA, &["host.example"])), "dns");
    assert_eq!(found(&named(0xAA, "trading-1", "Trading")), "subject");
    assert_eq!(found(&named(0xBB, "trading-1", "Trading")), "subject");
    let key = Credential {
        leaf_key: [0xCC; 32],
        ..bare(0xAA)
    };
    assert_eq!(found(&key), "key");
}

#[test]
fn a_renewed_certificate_of_the_same_name_is_the_same_principal() {
    let policy = four();
    let old = named(0xAA, "trading-1", "Trading");
    let new = Credential {
        leaf_key: [1; 32],
        leaf: [2; 32],
        serial: vec![3],
        ..old.clone()
    };
    assert_eq!(
        policy.identify(&old).unwrap().id(),
        policy.identify(&new).unwrap().id()
    );
}

#[test]
fn what_is_not_equal_byte_for_byte_is_unknown() {
    let policy = four();
    let strangers = [
        bare(0xAA),
        // The same facts under another anchor.
        with_uri(0xBB, &["keywright:principal:0102"]),
        with_dns(0xBB, &["host.example"]),
        named(0xAC, "trading-1", "Trading"),
        Credential {
            leaf_key: [0xCC; 32],
            ..bare(0xBB)
        },
        // Folding, prefixes, suffixes, wildcards, trailing dots and spaces.
        with_uri(0xAA, &["keywright:principal:010"]),
        with_uri(0xAA, &["keywright:principal:01020"]),
        with_uri(0xAA, &["KEYWRIGHT:principal:0102"]),
        with_dns(0xAA, &["HOST.example"]),
        with_dns(0xAA, &["host.example."]),
        with_dns(0xAA, &["*.example"]),
        with_dns(0xAA, &["a.host.example"]),
        named(0xAA, "Trading-1", "Trading"),
        named(0xAA, "trading-1", "trading"),
        named(0xAA, "trading-1 ", "Trading"),
        named(0xAA, "Trading", "trading-1"),
        named(0xAA, "trading-1", ""),
        named(0xAA, "trading-1Trading", ""),
        named(0xAA, "*", "*"),
        // Half a fact, and a fact of another kind.
        Credential {
            organizational_unit: None,
            ..named(0xAA, "trading-1", "Trading")
        },
        Credential {
            common_name: None,
            ..named(0xAA, "trading-1", "Trading")
        },
        with_dns(0xAA, &["keywright:principal:0102"]),
        with_uri(0xAA, &["host.example"]),
        named(0xAA, "host.example", "host.example"),
        // The serial, the whole leaf and the printed subject identify nobody.
        Credential {
            leaf: [0xCC; 32],
            subject: "CN=trading-1,OU=Trading".into(),
            ..bare(0xAA)
        },
    ];
    for stranger in strangers {
        assert_eq!(
            policy.identify(&stranger).unwrap_err(),
            Unidentified::Unknown,
            "{stranger:?}"
        );
    }
}

#[test]
fn a_certificate_of_two_principals_is_refused_whichever_facts_they_are() {
    let policy = four();
    let uri_and_dns = Credential {
        san_dns: vec!["host.example".into()],
        ..with_uri(0xAA, &["keywright:principal:0102"])
    };
    let subject_and_key = Credential {
        leaf_key: [0xCC; 32],
        ..named(0xAA, "trading-1", "Trading")
    };
    let subject_and_dns = Credential {
        san_dns: vec!["x".into(), "host.example".into()],
        ..named(0xAA, "trading-1", "Trading")
    };
    for both in [uri_and_dns, subject_and_key, subject_and_dns] {
        assert_eq!(
            policy.identify(&both).unwrap_err(),
            Unidentified::Ambiguous,
            "{both:?}"
        );
    }
}

#[test]
fn two_rules_of_one_principal_may_both_match() {
    let aa = "aa".repeat(32);
    let policy = policy(&format!(
        "[[principal]]\nname = \"a\"\n\
         [[principal.rule]]\nanchors = [\"{aa}\"]\nsan_dns = \"x\"\n\
         [[principal.rule]]\nanchors = [\"{aa}\"]\nsan_uri = \"y\"\n"
    ));
    let both = Credential {
        san_uris: vec!["y".into()],
        ..with_dns(0xAA, &["x"])
    };
    assert_eq!(policy.identify(&both).unwrap().id(), who(&policy, "a").id());
}

#[test]
fn a_control_character_in_any_name_refuses_the_certificate() {
    let policy = four();
    let good = with_uri(0xAA, &["keywright:principal:0102"]);
    assert!(policy.identify(&good).is_ok());
    for control in ["\0", "a\0b", "a\n", "\r", "\u{7f}", "\u{85}", "\u{1b}[31m"] {
        let control = control.to_owned();
        let bad = [
            Credential {
                common_name: Some(control.clone()),
                ..good.clone()
            },
            Credential {
                organizational_unit: Some(control.clone()),
                ..good.clone()
            },
            Credential {
                san_dns: vec!["fine".into(), control.clone()],
                ..good.clone()
            },
            Credential {
                san_uris: vec!["keywright:principal:0102".into(), control],
                ..good.clone()
            },
        ];
        for bad in bad {
            assert_eq!(
                policy.identify(&bad).unwrap_err(),
                Unidentified::Malformed,
                "{bad:?}"
            );
        }
    }
}

#[test]
fn nobody_is_known_to_an_empty_policy() {
    let policy = keywright_policy::Policy::empty(1);
    assert_eq!(
        policy.identify(&named(1, "a", "b")).unwrap_err(),
        Unidentified::Unknown
    );
    assert_eq!(policy.principals().count(), 0);
}

#[test]
fn each_refusal_has_its_code() {
    assert_eq!(Unidentified::Unknown.code(), Code::PrincipalUnknown);
    assert_eq!(Unidentified::Ambiguous.code(), Code::PrincipalAmbiguous);
    assert_eq!(Unidentified::Malformed.code(), Code::CertificateMalformed);
}
