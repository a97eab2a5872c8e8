//! What the authority writes and what it does not.

use std::net::IpAddr;
use std::time::Duration;

use keywright_clock::WallTime;
use keywright_network::ca::{DAY, TestAuthority};
use keywright_tls::issue::{Authority, ClientSubject, Reason, Revoked};
use keywright_tls::{Error, describe_certificate};

use crate::wire::{NOW, hours, judge};

#[test]
fn an_authority_read_back_is_the_same_authority() {
    let authority = TestAuthority::new(NOW);
    let again = Authority::from_pem(
        authority.certificate_pem().as_bytes(),
        authority.authority().key_pem().expose(),
    )
    .unwrap();
    assert_eq!(again.certificate_pem(), authority.certificate_pem());
    assert_eq!(again.spki_sha256(), authority.authority().spki_sha256());
    let again = TestAuthority::over(again, NOW);
    assert!(judge(&authority, &again.trading()).is_ok());
    assert!(judge(&again, &authority.trading()).is_ok());
    let list = again.crl_pem();
    assert!(
        authority
            .authority()
            .read_revocation_list(list.as_bytes())
            .is_ok()
    );
}

#[test]
fn an_authority_with_the_key_of_another_is_refused() {
    let (one, two) = (TestAuthority::new(NOW), TestAuthority::new(NOW));
    let mixed = Authority::from_pem(
        one.certificate_pem().as_bytes(),
        two.authority().key_pem().expose(),
    );
    assert!(matches!(mixed, Err(Error::KeyMismatch)));
}

#[test]
fn serial_numbers_are_positive_sixteen_bytes_and_differ() {
    let authority = TestAuthority::new(NOW);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..64 {
        let issued = authority.trading();
        assert_eq!(issued.serial.len(), 16);
        assert!((0x40..0x80).contains(&issued.serial[0]));
        let summary = describe_certificate(issued.certificate_pem.as_bytes()).unwrap();
        assert_eq!(
            summary.serial,
            keywright_encoding::hex::encode(&issued.serial)
        );
        assert!(seen.insert(issued.serial));
    }
}

#[test]
fn a_leaf_ends_with_its_authority_and_begins_five_minutes_early() {
    let authority = Authority::create("Short", NOW, hours(2)).unwrap();
    let server = authority
        .issue_server(&["localhost"], &[], NOW, hours(10))
        .unwrap();
    let summary = describe_certificate(server.certificate_pem.as_bytes()).unwrap();
    assert_eq!(summary.not_after, NOW.plus(hours(2)));
    assert_eq!(summary.not_before.plus(Duration::from_secs(300)), NOW);
    let after = authority.issue_server(&["localhost"], &[], NOW.plus(hours(2)), hours(1));
    assert!(matches!(after, Err(Error::Validity)));
}

#[test]
fn an_empty_validity_is_refused() {
    assert!(matches!(
        Authority::create("A", NOW, Duration::ZERO),
        Err(Error::Validity)
    ));
    let authority = Authority::create("A", NOW, DAY).unwrap();
    let list = authority.revocation_list(&[], 1, NOW, NOW);
    assert!(matches!(list, Err(Error::Validity)));
}

#[test]
fn names_that_verification_would_refuse_are_not_issued() {
    let authority = Authority::create("A", NOW, DAY).unwrap();
    let long = "x".repeat(65);
    for text in ["", "a\0", "a\nb", "\u{85}", long.as_str()] {
        assert!(matches!(
            Authority::create(text, NOW, DAY),
            Err(Error::SubjectText)
        ));
        for (common_name, unit) in [(text, "Trading"), ("trading-1", text)] {
            let subject = ClientSubject {
                common_name,
                organizational_unit: Some(unit),
                principal: None,
            };
            let issued = authority.issue_client(&subject, NOW, DAY);
            assert!(matches!(issued, Err(Error::SubjectText)), "{text:?}");
        }
    }
    for name in ["", "a b", "*.example", "exa\u{e9}mple", "a\0b", "-a-."] {
        let issued = authority.issue_server(&[name], &[], NOW, DAY);
        assert!(matches!(issued, Err(Error::ServerNames)), "{name:?}");
    }
    assert!(matches!(
        authority.issue_server(&[], &[], NOW, DAY),
        Err(Error::ServerNames)
    ));
}

#[test]
fn the_description_shows_what_was_issued() {
    let authority = TestAuthority::new(NOW);
    let server = authority.server();
    let summary = describe_certificate(server.certificate_pem.as_bytes()).unwrap();
    assert_eq!(summary.subject, "CN=localhost");
    assert_eq!(summary.issuer, "CN=Test CA");
    assert_eq!(summary.dns, ["localhost"]);
    let loopback: [IpAddr; 2] = ["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    assert_eq!(summary.addresses, loopback);
    assert!(summary.uris.is_empty());
    let root = describe_certificate(authority.certificate_pem().as_bytes()).unwrap();
    assert_eq!(root.spki_sha256, authority.authority().spki_sha256());
}

#[test]
fn a_list_read_back_holds_what_was_put_in() {
    let authority = Authority::create("A", NOW, DAY).unwrap();
    let revoked: Vec<Revoked> = Reason::ALL
        .into_iter()
        .zip(1..)
        .map(|(reason, number)| Revoked {
            serial: vec![0x40 + number, 0, 0xff],
            at: WallTime::from_unix_seconds(NOW.unix_seconds() - u64::from(number)),
            reason,
        })
        .collect();
    let mut given = revoked.clone();
    given.push(Revoked {
        reason: Reason::Superseded,
        ..revoked[0].clone()
    });
    let pem = authority
        .revocation_list(&given, u64::MAX, NOW, NOW.plus(DAY))
        .unwrap();
    let list = authority.read_revocation_list(pem.as_bytes()).unwrap();
    assert_eq!(list.number, u64::MAX);
    assert_eq!((list.this_update, list.next_update), (NOW, NOW.plus(DAY)));
    assert_eq!(
        list.revoked, revoked,
        "the first entry of a serial number stands"
    );
    let empty = authority
        .revocation_list(&[], 1, NOW, NOW.plus(DAY))
        .unwrap();
    assert!(
        authority
            .read_revocation_list(empty.as_bytes())
            .unwrap()
            .revoked
            .is_empty()
    );
}

#[test]
fn a_serial_with_a_high_first_bit_survives_a_list() {
    let authority = Authority::create("A", NOW, DAY).unwrap();
    let entry = Revoked {
        serial: vec![0xff, 1],
        at: NOW,
        reason: Reason::Unspecified,
    };
    let pem = authority.revocation_list(std::slice::from_ref(&entry), 1, NOW, NOW.plus(DAY));
    let list = authority
        .read_revocation_list(pem.unwrap().as_bytes())
        .unwrap();
    assert_eq!(list.revoked, [entry]);
}

#[test]
fn a_list_of_another_authority_is_not_read() {
    let (one, two) = (TestAuthority::new(NOW), TestAuthority::new(NOW));
    let read = one
        .authority()
        .read_revocation_list(two.crl_pem().as_bytes());
    assert!(matches!(read, Err(Error::RevocationListSignature { .. })));
}

#[test]
fn reasons_have_names_that_read_back() {
    for reason in Reason::ALL {
        assert_eq!(reason.name().parse(), Ok(reason));
    }
    for word in ["", "Superseded", "certificate-hold", "superseded "] {
        assert!(word.parse::<Reason>().is_err());
    }
}

#[test]
fn debug_shows_no_key() {
    let authority = TestAuthority::new(NOW);
    let issued = authority.trading();
    let identity = keywright_network::ca::client_identity(&issued).unwrap();
    let key = keywright_tls::private_key(issued.key_pem.expose()).unwrap();
    let shown = format!("{authority:?} {issued:?} {identity:?} {key:?}");
    let pem = String::from_utf8(issued.key_pem.expose().to_vec()).unwrap();
    for line in pem.lines().skip(1).take(2) {
        assert!(!shown.contains(&line[..16]));
    }
    assert!(!shown.contains("PRIVATE KEY"), "{shown}");
}
