//! One row for every code, with a sentence that helps and a status that fits.

use std::collections::HashSet;

use http::StatusCode;
use keywright_api::error::{Refusal, entry};
use keywright_api::route::{COMMON, ROUTES};
use keywright_api::{Limits, MAX_AAD, MAX_RANDOM, MAX_RANDOM_TOTAL, MAX_TWEAK};
use keywright_types::Code;

#[test]
fn every_code_has_its_own_row() {
    let mut sentences = HashSet::new();
    for &code in Code::ALL {
        assert_eq!(entry(code).code(), code, "{code} has no row");
        assert!(
            sentences.insert(entry(code).sentence()),
            "{code}: the sentence is another's"
        );
    }
}

#[test]
fn sentences_are_plain_lower_case_and_need_no_escaping() {
    for &code in Code::ALL {
        let sentence = entry(code).sentence();
        assert!(sentence.is_ascii(), "{code}");
        assert!(!sentence.contains(['"', '\\', '\n']), "{code}: {sentence}");
        assert!(!sentence.ends_with('.'), "{code}: {sentence}");
        assert!(
            sentence.starts_with(|c: char| c.is_ascii_lowercase()),
            "{code}: {sentence}"
        );
        assert!(
            serde_json::to_string(sentence).unwrap() == format!("\"{sentence}\""),
            "{code}"
        );
    }
}

#[test]
fn retry_after_comes_exactly_with_429_and_503() {
    for &code in Code::ALL {
        let entry = entry(code);
        let temporary = [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ];
        assert_eq!(
            entry.retry_after().is_some(),
            temporary.contains(&entry.status()),
            "{code}"
        );
        assert!(
            entry.retry_after().is_none_or(|seconds| seconds > 0),
            "{code}"
        );
    }
}

#[test]
fn statuses_are_the_ones_that_were_decided() {
    for (status, codes) in [
        (200, "ok"),
        (
            400,
            "request_malformed base64_invalid aad_too_large ciphertext_malformed decryption_failed unsupported name_invalid handshake_failed value_invalid value_unfit tweak_invalid path_invalid digest_invalid peer_key_invalid",
        ),
        (
            403,
            "operation_denied principal_unknown principal_ambiguous certificate_revoked certificate_expired certificate_missing certificate_untrusted certificate_malformed approval_missing token_refused",
        ),
        (404, "context_not_found route_not_found version_not_found"),
        (405, "method_not_allowed"),
        (408, "request_timeout"),
        (
            409,
            "key_version_unavailable name_taken state_conflict no_active_version key_in_use not_yet_due clock_uncertain",
        ),
        (413, "body_too_large too_many_items"),
        (429, "rate_limited"),
        (500, "internal interrupted"),
        (
            503,
            "holder_unavailable audit_unavailable overloaded deadline_exceeded store_unavailable shutting_down",
        ),
    ] {
        let all = Code::ALL
            .iter()
            .filter(|&&code| entry(code).status().as_u16() == status);
        let all: Vec<_> = all.map(|code| code.name()).collect();
        assert_eq!(all.join(" "), codes, "{status}");
    }
}

#[test]
fn sentences_name_the_limits_in_force() {
    let mut limits = Limits::DEFAULT;
    limits.items = 77;
    limits.body_bytes = 4321;
    let message = |code| Refusal::new(code).message(&limits);
    assert!(message(Code::TooManyItems).contains("more than 77 items"));
    assert!(message(Code::BodyTooLarge).contains("more than 4321 bytes"));
    assert!(message(Code::AadTooLarge).contains(&MAX_AAD.to_string()));
    assert!(message(Code::TweakInvalid).contains(&MAX_TWEAK.to_string()));
    assert!(message(Code::ValueInvalid).contains(&format!("1 to {MAX_RANDOM} bytes")));
    assert!(message(Code::TooManyItems).contains(&format!("{} MiB", MAX_RANDOM_TOTAL >> 20)));
    for &code in Code::ALL {
        assert!(!message(code).contains(['{', '}']), "{code}");
    }
}

#[test]
fn sentences_of_single_items_have_nothing_to_fill_in() {
    for code in ROUTES.iter().flat_map(|route| route.item_codes) {
        assert!(!entry(*code).sentence().contains('{'), "{code}");
    }
}

#[test]
fn the_sentence_of_a_hidden_context_fits_one_that_is_not_there() {
    // Design 7.28: the two answer alike, so the words must not choose between them.
    let sentence = entry(Code::ContextNotFound).sentence();
    for telling in ["exist", "denied", "allow", "forbid", "permit"] {
        assert!(!sentence.contains(telling), "{sentence}");
    }
}

#[test]
fn every_code_that_can_reach_a_client_belongs_to_a_route() {
    let answered: HashSet<Code> = ROUTES.iter().flat_map(|route| route.codes()).collect();
    let elsewhere = [
        // No answer of an error.
        Code::Ok,
        // TLS refuses first; the audit log has these.
        Code::CertificateMissing,
        Code::CertificateUntrusted,
        Code::HandshakeFailed,
        // Orders of administration that have no route.
        Code::NameInvalid,
        Code::NameTaken,
        Code::Interrupted,
        // Routes for Vault's clients alone.
        Code::TokenRefused,
    ];
    for &code in Code::ALL {
        assert_ne!(
            answered.contains(&code),
            elsewhere.contains(&code),
            "{code}"
        );
    }
}

#[test]
fn no_route_lists_a_code_twice() {
    for route in &ROUTES {
        let codes: Vec<_> = route.codes().collect();
        let distinct: HashSet<_> = codes.iter().collect();
        assert_eq!(distinct.len(), codes.len(), "{}", route.path);
    }
    assert!(COMMON.contains(&Code::AuditUnavailable));
}
