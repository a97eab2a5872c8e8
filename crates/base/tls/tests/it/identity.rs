//! What a certificate is read as (design 7.25).

use std::fs;
use std::path::Path;

use keywright_clock::WallTime;
use keywright_mutate::{mutants, mutations};
use keywright_network::ca::{LEAF_LIFE, TestAuthority};
use keywright_primitives::hash::sha256;
use keywright_tls::issue::hostile::{Attribute, Purpose, Recipe, Text};
use keywright_tls::{Refusal, describe_certificate, fuzzing};
use keywright_types::PrincipalId;

use crate::wire::{NOW, chain, judge};

#[test]
fn every_field_is_taken_from_the_verified_certificate() {
    let authority = TestAuthority::new(NOW);
    let id = PrincipalId::from_bytes([0xAB; 16]);
    let client = authority.client("trading-1", "Trading", Some(id));
    let credential = judge(&authority, &client).unwrap();
    let summary = describe_certificate(client.certificate_pem.as_bytes()).unwrap();
    assert_eq!(credential.anchor, authority.authority().spki_sha256());
    assert_eq!(credential.leaf_key, summary.spki_sha256);
    assert_eq!(credential.leaf, sha256(&chain(&client)[0]));
    assert_eq!(credential.serial, client.serial);
    assert_eq!(credential.subject, "OU=Trading,CN=trading-1");
    assert_eq!(credential.common_name.as_deref(), Some("trading-1"));
    assert_eq!(credential.organizational_unit.as_deref(), Some("Trading"));
    assert_eq!(
        credential.san_uris,
        [format!("keywright:principal:{}", "ab".repeat(16))]
    );
    assert!(credential.san_dns.is_empty());
    assert_eq!(credential.not_after, NOW.plus(LEAF_LIFE).unix_seconds());
}

#[test]
fn one_key_under_two_authorities_differs_in_its_anchor() {
    let (first, second) = (
        TestAuthority::named("A", NOW),
        TestAuthority::named("B", NOW),
    );
    let client = first.trading();
    let mut recipe = second.recipe("trading-1");
    recipe.key = Some(&client.key_pem);
    let twin = second.hostile(&recipe);
    let (one, two) = (
        judge(&first, &client).unwrap(),
        judge(&second, &twin).unwrap(),
    );
    assert_eq!(one.leaf_key, two.leaf_key);
    assert_ne!(one.anchor, two.anchor);
    assert_ne!(one.leaf, two.leaf);
    // And neither is believed under the anchor of the other.
    assert_eq!(judge(&second, &client), Err(Refusal::UnknownIssuer));
    assert_eq!(judge(&first, &twin), Err(Refusal::UnknownIssuer));
}

#[test]
fn one_name_with_two_keys_differs_in_its_key() {
    let authority = TestAuthority::new(NOW);
    let one = judge(&authority, &authority.trading()).unwrap();
    let two = judge(&authority, &authority.trading()).unwrap();
    assert_eq!(one.common_name, two.common_name);
    assert_ne!(one.leaf_key, two.leaf_key);
    assert_ne!(one.serial, two.serial);
}

#[test]
fn the_first_unit_in_der_order_counts() {
    let authority = TestAuthority::new(NOW);
    for (first, second) in [("Trading", "2FA"), ("2FA", "Trading")] {
        let unit = |text| (Attribute::OrganizationalUnit, Text::Utf8(text));
        let client = authority.hostile(&Recipe {
            subject: vec![unit(first), unit(second)],
            ..authority.recipe("")
        });
        let credential = judge(&authority, &client).unwrap();
        assert_eq!(credential.organizational_unit.as_deref(), Some(first));
        assert_eq!(credential.common_name, None);
        assert_eq!(credential.subject, format!("OU={first},OU={second}"));
    }
}

#[test]
fn two_common_names_are_refused_even_when_they_are_the_same() {
    let authority = TestAuthority::new(NOW);
    let name = (Attribute::CommonName, Text::Utf8("trading-1"));
    let client = authority.hostile(&Recipe {
        subject: vec![name, name],
        ..authority.recipe("")
    });
    assert_eq!(judge(&authority, &client), Err(Refusal::SeveralCommonNames));
}

#[test]
fn control_characters_are_refused_wherever_they_stand() {
    let authority = TestAuthority::new(NOW);
    let kinds = [
        Attribute::CommonName,
        Attribute::OrganizationalUnit,
        Attribute::Organization,
    ];
    for text in [
        "a\0b",
        "\0",
        "a\nb",
        "\r\n",
        "\u{1b}[2J",
        "a\u{7f}",
        "a\u{85}b",
    ] {
        for kind in kinds {
            let client = authority.hostile(&Recipe {
                subject: vec![(kind, Text::Utf8(text))],
                ..authority.recipe("")
            });
            assert_eq!(
                judge(&authority, &client),
                Err(Refusal::ControlCharacter),
                "{text:?}"
            );
        }
        let mut recipe = authority.recipe("trading-1");
        if text.is_ascii() {
            recipe.uris = vec![text];
            assert_eq!(
                judge(&authority, &authority.hostile(&recipe)),
                Err(Refusal::ControlCharacter)
            );
            (recipe.uris, recipe.dns) = (Vec::new(), vec![text]);
            // Path building does not get upset about names it was not asked to compare.
            assert_eq!(
                judge(&authority, &authority.hostile(&recipe)),
                Err(Refusal::ControlCharacter)
            );
        }
    }
}

#[test]
fn a_name_with_more_than_one_reading_is_refused() {
    let authority = TestAuthority::new(NOW);
    for kind in [Attribute::CommonName, Attribute::OrganizationalUnit] {
        for text in [
            Text::Bmp("trading-1"),
            Text::Teletex("trading-1"),
            Text::Utf8(""),
        ] {
            let client = authority.hostile(&Recipe {
                subject: vec![(kind, text)],
                ..authority.recipe("")
            });
            assert_eq!(judge(&authority, &client), Err(Refusal::UnreadableName));
        }
    }
}

#[test]
fn text_is_neither_folded_nor_normalised() {
    let authority = TestAuthority::new(NOW);
    for name in [
        "Trading-1",
        "trading-1 ",
        "trading\u{2010}1",
        "e\u{301}",
        "\u{e9}",
    ] {
        let client = authority.hostile(&authority.recipe(name));
        let credential = judge(&authority, &client).unwrap();
        assert_eq!(credential.common_name.as_deref(), Some(name));
    }
}

#[test]
fn alternative_names_of_both_kinds_come_in_order() {
    let authority = TestAuthority::new(NOW);
    let mut recipe = authority.recipe("trading-1");
    recipe.uris = vec!["keywright:principal:0", "spiffe://b/a"];
    recipe.dns = vec!["b.example", "a.example"];
    let credential = judge(&authority, &authority.hostile(&recipe)).unwrap();
    assert_eq!(credential.san_uris, recipe.uris);
    assert_eq!(credential.san_dns, recipe.dns);
}

#[test]
fn damaged_alternative_names_are_refused() {
    let authority = TestAuthority::new(NOW);
    let cases: [&[u8]; 5] = [
        // A URI that is not UTF-8, one that is not ASCII, an empty one, a cut list, no list.
        b"\x30\x04\x86\x02\xff\xfe",
        b"\x30\x04\x86\x02\xc3\xa9",
        b"\x30\x02\x86\x00",
        b"\x30\x08\x86\x02ab",
        b"\x04\x02ab",
    ];
    for der in cases {
        let mut recipe = authority.recipe("trading-1");
        recipe.alternative_names_der = Some(der);
        let refusal = judge(&authority, &authority.hostile(&recipe)).unwrap_err();
        assert_eq!(
            refusal.code(),
            keywright_types::Code::CertificateMalformed,
            "{der:02x?}"
        );
    }
}

#[test]
fn the_subject_for_logs_is_printable_ascii_and_bounded() {
    let authority = TestAuthority::new(NOW);
    let organization = |text| Recipe {
        subject: vec![(Attribute::Organization, text)],
        ..authority.recipe("")
    };
    let client = authority.hostile(&organization(Text::Utf8("a,CN=root\\\"\u{202e}\u{fc}#+;")));
    let subject = judge(&authority, &client).unwrap().subject;
    assert_eq!(subject, r#"O=a\,CN\=root\\\"\u{202e}\u{fc}\#\+\;"#);

    let client = authority.hostile(&organization(Text::Bmp("ab")));
    assert_eq!(judge(&authority, &client).unwrap().subject, "O=#00610062");

    let long = "\u{1f511}".repeat(64);
    let client = authority.hostile(&organization(Text::Utf8(&long)));
    let subject = judge(&authority, &client).unwrap().subject;
    assert!(
        subject.len() <= 256 && subject.len() > 240,
        "{}",
        subject.len()
    );
    assert!(subject.ends_with('}'), "cut between two escapes");
}

#[test]
fn certificates_that_are_not_for_clients_are_refused() {
    let authority = TestAuthority::new(NOW);
    for purpose in [
        Purpose::Server,
        Purpose::Unstated,
        Purpose::ClientWithoutSignature,
        Purpose::Authority,
    ] {
        let client = authority.hostile(&Recipe {
            purpose,
            ..authority.recipe("trading-1")
        });
        assert_eq!(
            judge(&authority, &client),
            Err(Refusal::WrongPurpose),
            "{purpose:?}"
        );
    }
}

#[test]
fn validity_includes_its_first_and_its_last_second() {
    let authority = TestAuthority::new(NOW);
    let second = NOW.unix_seconds();
    let between = |from: u64, to: u64| {
        judge(
            &authority,
            &authority.hostile(&Recipe {
                not_before: WallTime::from_unix_seconds(from),
                not_after: WallTime::from_unix_seconds(to),
                ..authority.recipe("trading-1")
            }),
        )
        .map(|credential| credential.not_after)
    };
    assert_eq!(between(second, second), Ok(second));
    assert_eq!(between(second - 9, second - 1), Err(Refusal::Expired));
    assert_eq!(between(second + 1, second + 9), Err(Refusal::NotYetValid));
    assert_eq!(between(second + 1, second - 1), Err(Refusal::Malformed));
}

#[test]
fn no_chain_a_long_chain_and_noise_are_refused() {
    let authority = TestAuthority::new(NOW);
    let trust = authority.trust(&crate::wire::clock().0);
    let good = chain(&authority.trading()).remove(0);
    assert_eq!(trust.verify(&[], NOW), Err(Refusal::Missing));
    assert_eq!(
        trust.verify(&vec![good.clone(); 9], NOW),
        Err(Refusal::Malformed)
    );
    for noise in [
        &b""[..],
        b"\x30\x00",
        b"\x30\x84\xff\xff\xff\xff",
        &good[..good.len() - 1],
    ] {
        assert_eq!(trust.verify(&[noise.into()], NOW), Err(Refusal::Malformed));
    }
}

#[test]
fn no_damage_to_a_single_byte_survives() {
    let authority = TestAuthority::new(NOW);
    let trust = authority.trust(&crate::wire::clock().0);
    let good = chain(&authority.trading()).remove(0).to_vec();
    let accepted: Vec<usize> = (0..good.len())
        .filter(|at| {
            let mut bad = good.clone();
            bad[*at] ^= 0x01;
            trust.verify(&[bad.into()], NOW).is_ok()
        })
        .collect();
    assert!(accepted.is_empty(), "{accepted:?}");
}

#[test]
fn hostile_bytes_by_the_thousand_are_refused_without_a_panic() {
    let authority = TestAuthority::new(NOW);
    let trust = authority.trust(&crate::wire::clock().0);
    let good = chain(&authority.trading()).remove(0);
    let odd = chain(&authority.two_common_names()).remove(0);
    let seeds: [&[u8]; 2] = [&good, &odd];
    let mut refused = 0;
    for mutant in mutations(&seeds, 4000, 11) {
        let unchanged = mutant == *good;
        let pem = keywright_tls::issue::hostile::pem("CERTIFICATE", &mutant);
        let _ = describe_certificate(pem.as_bytes());
        let verdict = trust.verify(&[mutant.into()], NOW);
        assert_eq!(verdict.is_ok(), unchanged);
        refused += usize::from(verdict.is_err());
    }
    assert!(refused > 3000, "{refused}");
}

#[test]
fn damaged_certificates_name_nobody_or_somebody_by_a_clean_name_whoever_signed_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/tls_identity");
    let files = fs::read_dir(folder).unwrap();
    let mut corpus: Vec<_> = files
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 5, "the corpus is gone");
    let authority = TestAuthority::new(NOW);
    corpus.push(chain(&authority.trading()).remove(0).to_vec());
    corpus.push(chain(&authority.two_common_names()).remove(0).to_vec());
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let named = seeds.iter().filter(|seed| fuzzing::identity(seed)).count();
    assert!(named >= 3, "{named} of the corpus name somebody");
    let mutants = mutations(&seeds, mutants(), 12);
    let accepted = mutants.filter(|mutant| fuzzing::identity(mutant)).count();
    // Nothing is signed here: a damage to a name is read as another name.
    assert!(accepted > 100, "{accepted} mutants were read");
}
