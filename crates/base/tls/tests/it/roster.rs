//! Certificates that are let in or kept out by what they are: `deny` wins, `allow` keeps out the rest, and nothing of
//! it makes anybody good whom their authority does not vouch for.

use std::fs;
use std::path::Path;

use keywright_encoding::hex;
use keywright_mutate::{mutants, mutations};
use keywright_network::ca::{DAY, TestAuthority};
use keywright_tls::issue::{Authority, Issued};
use keywright_tls::{ClientTrust, Older, Refusal, Roster, describe_certificate, fuzzing};

use crate::wire::{NOW, chain, clock};

/// Key, serial number and issuer of a certificate, as a list names them.
struct Known {
    key: String,
    serial: String,
    issuer: String,
}

fn known(issued: &Issued, authority: &TestAuthority) -> Known {
    let summary = describe_certificate(issued.certificate_pem.as_bytes()).unwrap();
    Known {
        key: hex::encode(&summary.spki_sha256),
        serial: summary.serial,
        issuer: hex::encode(&authority.authority().spki_sha256()),
    }
}

fn roster(lines: &str) -> Roster {
    Roster::parse(format!("keywright-clients 1\nnumber 1\n{lines}\n").as_bytes()).unwrap()
}

fn judge(authority: &TestAuthority, lines: &str, issued: &Issued) -> Result<(), Refusal> {
    let (anchors, lists) = (authority.certificate_pem(), authority.crl_pem());
    let trust = ClientTrust::new(anchors.as_bytes(), lists.as_bytes(), clock().0).unwrap();
    let trust = trust.with_roster(roster(lines));
    trust.verify(&chain(issued), NOW).map(drop)
}

#[test]
fn whoever_is_denied_by_any_mark_is_refused_and_nobody_else() {
    let authority = TestAuthority::new(NOW);
    let (kept_out, other) = (authority.trading(), authority.web_2fa());
    let Known {
        key,
        serial,
        issuer,
    } = known(&kept_out, &authority);
    let elsewhere = "00".repeat(31) + "01";
    for line in [
        format!("deny key {key}"),
        format!("deny serial {serial}"),
        format!("deny serial 00{serial}"),
        format!("deny issuer {issuer} serial {serial}"),
        // To be let in as well helps nobody.
        format!(
            "allow key {key}\ndeny serial {serial}\nallow serial {}",
            known(&other, &authority).serial
        ),
    ] {
        assert_eq!(
            judge(&authority, &line, &kept_out),
            Err(Refusal::Denied),
            "{line}"
        );
        assert_eq!(judge(&authority, &line, &other), Ok(()), "{line}");
    }
    for line in [
        String::new(),
        format!("deny key {issuer}"),
        format!("deny serial {serial}00"),
        format!("deny issuer {elsewhere} serial {serial}"),
        format!(
            "deny issuer {issuer} serial {}",
            known(&other, &authority).serial
        ),
    ] {
        assert_eq!(judge(&authority, &line, &kept_out), Ok(()), "{line}");
    }
}

#[test]
fn one_who_is_allowed_keeps_out_the_rest() {
    let authority = TestAuthority::new(NOW);
    let (let_in, other) = (authority.trading(), authority.web_2fa());
    let Known {
        key,
        serial,
        issuer,
    } = known(&let_in, &authority);
    for line in [
        format!("allow key {key}"),
        format!("allow serial {serial}"),
        format!("allow issuer {issuer} serial {serial}"),
    ] {
        assert_eq!(judge(&authority, &line, &let_in), Ok(()), "{line}");
        assert_eq!(
            judge(&authority, &line, &other),
            Err(Refusal::NotAllowed),
            "{line}"
        );
    }
}

#[test]
fn nobody_is_good_because_the_list_names_them() {
    let authority = TestAuthority::new(NOW);
    let stranger = TestAuthority::named("Other CA", NOW).trading();
    for (issued, refusal) in [
        (authority.revoked(), Refusal::Revoked),
        (&authority.expired(), Refusal::Expired),
        (&authority.without_purpose(), Refusal::WrongPurpose),
        (&stranger, Refusal::UnknownIssuer),
    ] {
        let line = format!("allow key {}", known(issued, &authority).key);
        assert_eq!(judge(&authority, &line, issued), Err(refusal));
    }
}

#[test]
fn the_issuer_is_the_authority_that_signed_and_not_the_one_above() {
    let root = Authority::create_unconstrained("Root", NOW, 100 * DAY).unwrap();
    let root = TestAuthority::over(root, NOW);
    let middle = root
        .authority()
        .create_intermediate("Middle", NOW, 50 * DAY);
    let middle = TestAuthority::over(middle.unwrap(), NOW);
    let leaf = middle.trading();
    let mut path = chain(&leaf);
    path.extend(keywright_tls::certificates(middle.certificate_pem().as_bytes()).unwrap());
    let lists = [root.crl_pem(), middle.crl_pem()].concat();
    let judge = |authority: &TestAuthority| {
        let Known { serial, issuer, .. } = known(&leaf, authority);
        let anchors = root.certificate_pem().as_bytes();
        let trust = ClientTrust::new(anchors, lists.as_bytes(), clock().0).unwrap();
        let trust = trust.with_roster(roster(&format!("deny issuer {issuer} serial {serial}")));
        trust.verify(&path, NOW).map(drop)
    };
    assert_eq!(judge(&middle), Err(Refusal::Denied));
    assert_eq!(judge(&root), Ok(()));
}

#[test]
fn what_was_remembered_reads_as_it_was_with_a_list_and_without() {
    let authority = TestAuthority::new(NOW);
    let issued = authority.trading();
    let (anchors, lists) = (authority.certificate_pem(), authority.crl_pem());
    let line = format!(
        "keywright-clients 1\nnumber 9\ndeny key {}\n",
        known(&issued, &authority).key
    );
    for (roster, expected) in [
        (None, Ok(())),
        (Some(line.as_bytes()), Err(Refusal::Denied)),
    ] {
        let text = ClientTrust::text(&[anchors.as_bytes(), lists.as_bytes()], roster);
        let trust = ClientTrust::from_text(&text, clock().0).unwrap();
        assert_eq!(trust.verify(&chain(&issued), NOW).map(drop), expected);
    }
    let text = ClientTrust::text(
        &[anchors.as_bytes(), lists.as_bytes()],
        Some(b"keywright-clients 1\nnumber x\n"),
    );
    assert!(
        ClientTrust::from_text(&text, clock().0).is_err(),
        "half of it is none of it"
    );
}

#[test]
fn an_older_list_must_not_come_after_the_one_in_force() {
    let authority = TestAuthority::new(NOW);
    let (anchors, lists) = (authority.certificate_pem(), authority.crl_pem());
    let with = |text: Option<&str>| {
        let trust = ClientTrust::new(anchors.as_bytes(), lists.as_bytes(), clock().0).unwrap();
        match text {
            Some(text) => trust.with_roster(Roster::parse(text.as_bytes()).unwrap()),
            None => trust,
        }
    };
    let current = with(Some("keywright-clients 1\nnumber 5\ndeny serial 01\n"));
    for (text, older) in [
        (
            Some("keywright-clients 1\nnumber 4\ndeny serial 01\n"),
            Some(Older::Roster {
                given: 4,
                in_force: 5,
            }),
        ),
        (
            Some("keywright-clients 1\nnumber 5\n"),
            Some(Older::SameNumber(5)),
        ),
        (
            Some("keywright-clients 1\nnumber 5\ndeny serial 01\n"),
            None,
        ),
        (Some("keywright-clients 1\nnumber 6\n"), None),
        // The configuration says that there is a list; who can change that can change everything.
        (None, None),
    ] {
        assert_eq!(with(text).older_than(&current), older, "{text:?}");
    }
    assert_eq!(current.older_than(&with(None)), None);
}

#[test]
fn damaged_lists_are_refused_or_mean_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/tls_roster");
    let mut corpus: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 5, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::roster(seed));
    for mutant in mutations(&seeds, mutants(), 31) {
        fuzzing::roster(&mutant);
    }
}
