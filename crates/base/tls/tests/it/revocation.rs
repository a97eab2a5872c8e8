//! Missing, wrong, old and doubled revocation data: access never widens.

use keywright_network::ca::{DAY, LIST_LIFE, TestAuthority};
use keywright_tls::issue::{Authority, Reason, Revoked, hostile};
use keywright_tls::{ClientTrust, Error, Older, Refusal, Role, revocation_lists};

use crate::wire::{NOW, chain, clock};

fn load(anchors: &str, lists: &str) -> Result<ClientTrust, Error> {
    ClientTrust::new(anchors.as_bytes(), lists.as_bytes(), clock().0)
}

#[test]
fn an_anchor_without_a_list_is_refused() {
    let (first, second) = (
        TestAuthority::named("A", NOW),
        TestAuthority::named("B", NOW),
    );
    for lists in [String::new(), "no list here\n".to_owned()] {
        let loaded = load(first.certificate_pem(), &lists);
        assert!(matches!(
            loaded,
            Err(Error::AnchorWithoutRevocationList { position: 1 })
        ));
    }
    let anchors = [first.certificate_pem(), second.certificate_pem()].concat();
    let loaded = load(&anchors, &first.crl_pem());
    assert!(matches!(
        loaded,
        Err(Error::AnchorWithoutRevocationList { position: 2 })
    ));
    let loaded = load(&anchors, &second.crl_pem());
    assert!(matches!(
        loaded,
        Err(Error::AnchorWithoutRevocationList { position: 1 })
    ));
    assert!(load(&anchors, &[first.crl_pem(), second.crl_pem()].concat()).is_ok());
}

#[test]
fn a_list_cut_at_any_line_is_refused() {
    let authority = TestAuthority::new(NOW);
    let pem = authority.crl_pem();
    for count in 0..pem.lines().count() {
        let cut: String = pem
            .lines()
            .take(count)
            .flat_map(|line| [line, "\n"])
            .collect();
        assert!(load(authority.certificate_pem(), &cut).is_err(), "{count}");
    }
}

#[test]
fn a_tampered_list_is_refused_at_every_byte() {
    let authority = TestAuthority::new(NOW);
    let good = revocation_lists(authority.crl_pem().as_bytes())
        .unwrap()
        .remove(0)
        .to_vec();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x01;
        let loaded = load(authority.certificate_pem(), &hostile::pem("X509 CRL", &bad));
        assert!(loaded.is_err(), "byte {at}");
    }
    let mut unsigned = good.clone();
    *unsigned.last_mut().unwrap() ^= 0x01;
    let loaded = load(
        authority.certificate_pem(),
        &hostile::pem("X509 CRL", &unsigned),
    );
    assert!(matches!(
        loaded,
        Err(Error::RevocationListSignature { position: 1 })
    ));
}

#[test]
fn a_list_by_another_authority_of_the_same_name_is_refused() {
    let (authority, other) = (TestAuthority::new(NOW), TestAuthority::new(NOW));
    let loaded = load(authority.certificate_pem(), &other.crl_pem());
    assert!(matches!(
        loaded,
        Err(Error::RevocationListSignature { position: 1 })
    ));
}

#[test]
fn two_lists_of_one_issuer_are_refused_in_either_order() {
    let authority = TestAuthority::new(NOW);
    let client = authority.trading();
    let (old, new) = (
        authority.crl_pem(),
        authority.crl_with(&[&client.serial], 2),
    );
    for lists in [[old.clone(), new.clone()], [new, old]] {
        let loaded = load(authority.certificate_pem(), &lists.concat());
        assert!(matches!(
            loaded,
            Err(Error::RevocationListDuplicate { position: 2 })
        ));
    }
}

#[test]
fn an_expired_list_refuses_everybody_from_its_last_second_on() {
    let authority = TestAuthority::new(NOW);
    let trust = authority.trust(&clock().0);
    let good = chain(&authority.trading());
    let end = NOW.plus(LIST_LIFE);
    assert_eq!(trust.expires(), end);
    let before = keywright_clock::WallTime::from_unix_seconds(end.unix_seconds() - 1);
    assert!(trust.verify(&good, before).is_ok());
    assert_eq!(
        trust.verify(&good, end),
        Err(Refusal::RevocationListExpired)
    );
    assert_eq!(
        trust.verify(&good, end.plus(DAY)),
        Err(Refusal::RevocationListExpired)
    );
    let revoked = trust.verify(&chain(authority.revoked()), end);
    assert!(revoked.is_err());
}

#[test]
fn an_answer_holds_until_the_first_of_what_it_rests_on_runs_out() {
    let seconds = |time: keywright_clock::WallTime| time.unix_seconds();
    // (anchor, authority between, leaf, list of the anchor, list of the one between), in days
    for (days, first) in [
        ([100, 50, 30, 40, 40], 30 * 86_400 + 1),
        ([100, 20, 30, 40, 40], 20 * 86_400 + 1),
        ([10, 20, 30, 40, 40], 10 * 86_400 + 1),
        ([100, 50, 30, 5, 40], 5 * 86_400),
        ([100, 50, 30, 40, 4], 4 * 86_400),
    ] {
        let [anchor, between, leaf, list, below] = days.map(|count| count * DAY);
        let root = Authority::create_unconstrained("Root", NOW, anchor).unwrap();
        let middle = root.create_intermediate("Middle", NOW, between).unwrap();
        let subject = keywright_tls::issue::ClientSubject {
            common_name: "trading-1",
            organizational_unit: None,
            principal: None,
        };
        let mut path = chain(&middle.issue_client(&subject, NOW, leaf).unwrap());
        path.extend(keywright_tls::certificates(middle.certificate_pem().as_bytes()).unwrap());
        // The list of somebody else who runs out first has no part in it.
        let other = root.create_intermediate("Other", NOW, between).unwrap();
        let lists = [
            root.revocation_list(&[], 1, NOW, NOW.plus(list)).unwrap(),
            middle
                .revocation_list(&[], 1, NOW, NOW.plus(below))
                .unwrap(),
            other.revocation_list(&[], 1, NOW, NOW.plus(DAY)).unwrap(),
        ];
        let trust = load(root.certificate_pem(), &lists.concat()).unwrap();
        let (credential, until) = trust.verify_until(&path, NOW).unwrap();
        assert_eq!(trust.verify(&path, NOW), Ok(credential));
        assert_eq!(seconds(until) - seconds(NOW), first, "{days:?}");
        let last = keywright_clock::WallTime::from_unix_seconds(seconds(until) - 1);
        assert_eq!(trust.verify_until(&path, last).unwrap().1, until);
        assert!(trust.verify_until(&path, until).is_err(), "{days:?}");
    }
}

#[test]
fn a_new_list_takes_effect_and_revokes_one_certificate_not_its_name() {
    let authority = TestAuthority::new(NOW);
    let (old, new) = (authority.trading(), authority.trading());
    let list = authority.crl_with(&[&old.serial], 2);
    let trust = load(authority.certificate_pem(), &list).unwrap();
    assert_eq!(trust.verify(&chain(&old), NOW), Err(Refusal::Revoked));
    assert!(trust.verify(&chain(&new), NOW).is_ok());
    assert!(
        authority
            .trust(&clock().0)
            .verify(&chain(&old), NOW)
            .is_ok()
    );
}

#[test]
fn a_list_does_not_reach_another_authority() {
    let (first, second) = (
        TestAuthority::named("A", NOW),
        TestAuthority::named("B", NOW),
    );
    let client = second.trading();
    let anchors = [first.certificate_pem(), second.certificate_pem()].concat();
    let lists = [first.crl_with(&[&client.serial], 2), second.crl_pem()].concat();
    let trust = load(&anchors, &lists).unwrap();
    assert!(trust.verify(&chain(&client), NOW).is_ok());
}

#[test]
fn an_anchor_that_is_no_authority_is_refused() {
    let authority = TestAuthority::new(NOW);
    for leaf in [authority.trading(), authority.server()] {
        let loaded = load(&leaf.certificate_pem, &authority.crl_pem());
        assert!(matches!(
            loaded,
            Err(Error::AnchorNotAuthority { position: 1 })
        ));
    }
    let claims = authority.hostile(&hostile::Recipe {
        purpose: hostile::Purpose::Authority,
        ..authority.recipe("Test CA")
    });
    // A basic constraint alone is not enough: this one may not sign certificates.
    let loaded = load(&claims.certificate_pem, &authority.crl_pem());
    assert!(matches!(
        loaded,
        Err(Error::AnchorNotAuthority { position: 1 })
    ));
}

#[test]
fn no_anchor_is_refused() {
    let authority = TestAuthority::new(NOW);
    let loaded = load("", &authority.crl_pem());
    assert!(matches!(loaded, Err(Error::Empty(Role::ClientAnchors))));
    let loaded = load(&authority.crl_pem(), &authority.crl_pem());
    assert!(matches!(loaded, Err(Error::Empty(Role::ClientAnchors))));
}

/// root, the authority under it, a client of that.
fn three_steps() -> (
    Authority,
    TestAuthority,
    Vec<rustls::pki_types::CertificateDer<'static>>,
) {
    let root = Authority::create_unconstrained("Root", NOW, 100 * DAY).unwrap();
    let middle = root.create_intermediate("Middle", NOW, 50 * DAY).unwrap();
    let middle = TestAuthority::over(middle, NOW);
    let mut path = chain(&middle.trading());
    path.extend(keywright_tls::certificates(middle.certificate_pem().as_bytes()).unwrap());
    (root, middle, path)
}

#[test]
fn an_authority_between_needs_a_list_of_its_own() {
    let (root, middle, path) = three_steps();
    let list = root.revocation_list(&[], 1, NOW, NOW.plus(DAY)).unwrap();
    let without = load(root.certificate_pem(), &list).unwrap();
    assert_eq!(without.verify(&path, NOW), Err(Refusal::RevocationUnknown));
    let lists = [list.clone(), middle.crl_pem()].concat();
    let with = load(root.certificate_pem(), &lists).unwrap();
    let credential = with.verify(&path, NOW).unwrap();
    assert_eq!(credential.anchor, root.spki_sha256());
    // The leaf alone leads nowhere.
    assert_eq!(with.verify(&path[..1], NOW), Err(Refusal::UnknownIssuer));
    // A list that claims to come from the middle is found out when it is used.
    let impostor = TestAuthority::named("Middle", NOW);
    let trust = load(root.certificate_pem(), &[list, impostor.crl_pem()].concat()).unwrap();
    assert_eq!(trust.verify(&path, NOW), Err(Refusal::RevocationUnknown));
}

#[test]
fn a_revoked_authority_between_takes_its_clients_along() {
    let (root, middle, path) = three_steps();
    let summary = keywright_tls::describe_certificate(middle.certificate_pem().as_bytes()).unwrap();
    let serial = keywright_encoding::hex::decode(&summary.serial).unwrap();
    let revoked = Revoked {
        serial,
        at: NOW,
        reason: Reason::KeyCompromise,
    };
    let list = root
        .revocation_list(&[revoked], 2, NOW, NOW.plus(DAY))
        .unwrap();
    let trust = load(root.certificate_pem(), &[list, middle.crl_pem()].concat()).unwrap();
    assert_eq!(trust.verify(&path, NOW), Err(Refusal::Revoked));
}

#[test]
fn the_path_length_of_an_anchor_is_enforced() {
    let root = Authority::create("Root", NOW, 100 * DAY).unwrap();
    let middle = TestAuthority::over(root.create_intermediate("Middle", NOW, DAY).unwrap(), NOW);
    let list = root.revocation_list(&[], 1, NOW, NOW.plus(DAY)).unwrap();
    let trust = load(root.certificate_pem(), &[list, middle.crl_pem()].concat()).unwrap();
    let mut path = chain(&middle.trading());
    path.extend(keywright_tls::certificates(middle.certificate_pem().as_bytes()).unwrap());
    assert_eq!(trust.verify(&path, NOW), Err(Refusal::UnknownIssuer));
}

#[test]
fn a_renewed_anchor_with_the_same_key_shares_the_list() {
    let authority = TestAuthority::new(NOW);
    let twice = [authority.certificate_pem(), authority.certificate_pem()].concat();
    let trust = load(&twice, &authority.crl_pem()).unwrap();
    assert!(trust.verify(&chain(&authority.trading()), NOW).is_ok());
    assert_eq!(
        trust.verify(&chain(authority.revoked()), NOW),
        Err(Refusal::Revoked)
    );
}

#[test]
fn hostile_lists_by_the_thousand_never_widen_access() {
    let authority = TestAuthority::new(NOW);
    let good = revocation_lists(authority.crl_pem().as_bytes())
        .unwrap()
        .remove(0);
    let mut refused = 0;
    for mutant in keywright_mutate::mutations(&[&good], 3000, 12) {
        let unchanged = mutant == *good;
        let loaded = load(
            authority.certificate_pem(),
            &hostile::pem("X509 CRL", &mutant),
        );
        assert_eq!(loaded.is_ok(), unchanged);
        refused += usize::from(loaded.is_err());
    }
    assert!(refused > 2500, "{refused}");
}

#[test]
fn an_older_list_of_the_same_key_is_known_as_older() {
    let authority = TestAuthority::new(NOW);
    let with = |number| {
        load(
            authority.certificate_pem(),
            &authority.crl_with(&[], number),
        )
        .unwrap()
    };
    let current = with(0x1_00);
    assert_eq!(with(0xff).older_than(&current), Some(Older::RevocationList));
    assert_eq!(with(1).older_than(&current), Some(Older::RevocationList));
    assert_eq!(with(0x1_00).older_than(&current), None);
    assert_eq!(with(0x1_01).older_than(&current), None);
    // Another authority counts for itself, under the same name too.
    let other = TestAuthority::new(NOW);
    let other = load(other.certificate_pem(), &other.crl_with(&[], 1)).unwrap();
    assert_eq!(other.older_than(&current), None);
}
