//! Each finding is made where it is true, and in a log of good habits there is none.

use keywright_calls::{Report, Severity};

use crate::made::{ECDSA, Log, Made, report};

const GCM: &str = ",\"mech\":{\"value\":4231,\"name\":\"CKM_AES_GCM\",\"params\":{\"iv_tag\":\"aa\"}},\"key\":{\"handle\":2}";
const OTHER: &str = ",\"mech\":{\"value\":4231,\"name\":\"CKM_AES_GCM\",\"params\":{\"iv_tag\":\"bb\"}},\"key\":{\"handle\":2}";
const CBC: &str = ",\"mech\":{\"value\":4226,\"name\":\"CKM_AES_CBC\",\"params\":{\"iv_tag\":\"aa\"}},\"key\":{\"handle\":2}";

/// What a good program does: one login, one search, a hundred signatures, everything closed.
fn good() -> Log {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_GetSlotList", "C_OpenSession", "C_Login"]);
    log.calls(&["C_FindObjectsInit", "C_FindObjects", "C_FindObjectsFinal"]);
    for _ in 0..100 {
        log.sign();
    }
    log
}

fn ended(mut log: Log) -> Report {
    log.calls(&["C_Logout", "C_CloseSession", "C_Finalize"]);
    log.report()
}

#[track_caller]
fn finds(report: &Report, code: &str, severity: Severity) {
    let found = report.findings.iter().find(|one| one.code == code);
    let found = found.unwrap_or_else(|| panic!("no {code} in {:?}", report.findings));
    assert_eq!(found.severity, severity);
    assert!(found.count > 0 && !found.happened.is_empty() && !found.advice.is_empty());
}

#[test]
fn a_log_of_good_habits_has_no_finding() {
    let report = ended(good());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.limits.is_empty());
}

#[test]
fn nonce_reuse_found() {
    let mut log = good();
    for more in [GCM, OTHER] {
        log.call(Made::of("C_EncryptInit").more(more))
            .calls(&["C_Encrypt"]);
    }
    // Decryption has the nonce of the encryption, and a refused beginning used none.
    log.call(Made::of("C_DecryptInit").more(GCM))
        .calls(&["C_Decrypt"]);
    log.call(Made::of("C_EncryptInit").more(GCM).rv(0x60));
    assert!(log.report().findings.is_empty());
    log.call(Made::of("C_EncryptInit").more(GCM));
    let report = log.report();
    finds(&report, "nonce-reuse", Severity::Critical);
    assert_eq!((report.nonces.seen, report.nonces.reused), (3, 1));
    assert_eq!(report.findings[0].line, Some(215));
    // Another process has other keys under the same handles.
    let mut two = good();
    two.call(Made::of("C_EncryptInit").more(GCM));
    two.pid = 1;
    two.call(Made::of("C_EncryptInit").more(GCM));
    assert_eq!(two.report().nonces.reused, 0);
    let mut weak = good();
    weak.call(Made::of("C_EncryptInit").more(CBC))
        .call(Made::of("C_EncryptInit").more(CBC));
    finds(&weak.report(), "iv-reuse", Severity::Medium);
}

#[test]
fn nonces_of_messages_are_those_of_the_key_that_their_operation_began_with() {
    let message =
        ",\"mech\":{\"value\":4231,\"name\":\"CKM_AES_GCM\",\"params\":{\"iv_tag\":\"aa\"}}";
    let begin = [
        ",\"mech\":{\"value\":4231,\"name\":\"CKM_AES_GCM\"},\"key\":{\"handle\":2}",
        ",\"mech\":{\"value\":4231,\"name\":\"CKM_AES_GCM\"},\"key\":{\"handle\":3}",
    ];
    let mut log = good();
    for more in begin {
        log.call(Made::of("C_MessageEncryptInit").more(more));
        log.call(Made::of("C_EncryptMessage").more(message));
        log.calls(&["C_MessageEncryptFinal"]);
    }
    assert_eq!(log.report().nonces.reused, 0);
    log.call(Made::of("C_MessageEncryptInit").more(begin[0]));
    log.call(Made::of("C_EncryptMessage").more(message));
    let report = log.report();
    finds(&report, "nonce-reuse", Severity::Critical);
    let encrypting = report
        .operations
        .iter()
        .find(|row| row.operation == "encrypt");
    assert_eq!(encrypting.unwrap().completed, 3);
}

#[test]
fn a_login_after_a_wrong_pin_is_found_and_the_wrong_pin_alone_is_not() {
    let mut log = good();
    log.call(Made::of("C_Login").rv(0xa0).more(",\"user_type\":1"));
    assert!(log.report().findings.is_empty());
    // Of the security officer, which is another PIN.
    log.call(Made::of("C_Login").more(",\"user_type\":0"));
    assert!(log.report().findings.is_empty());
    log.pid = 9;
    log.call(Made::of("C_Login").more(",\"user_type\":1"));
    let report = log.report();
    finds(&report, "retry-after-wrong-pin", Severity::High);
    assert_eq!(
        (report.logins.wrong_pin, report.logins.after_wrong_pin),
        (1, 1)
    );
}

#[test]
fn logins_sessions_and_searches_for_each_operation_are_found() {
    let mut log = Log::default();
    log.calls(&["C_Initialize"]);
    for _ in 0..20 {
        log.calls(&[
            "C_OpenSession",
            "C_Login",
            "C_FindObjectsInit",
            "C_FindObjects",
            "C_FindObjectsFinal",
        ]);
        log.sign().calls(&["C_CloseSession"]);
    }
    let report = log.report();
    finds(&report, "login-per-operation", Severity::Medium);
    finds(&report, "session-per-operation", Severity::Low);
    finds(&report, "search-per-operation", Severity::Low);
    assert_eq!(report.ratios.searches_per_operation, Some(1.0));
}

#[test]
fn asking_for_the_length_each_time_is_found() {
    let mut log = good();
    for _ in 0..100 {
        log.call(Made::of("C_SignInit").more(ECDSA));
        log.call(Made::of("C_Sign").more(",\"size_query\":true"));
        log.calls(&["C_Sign"]);
    }
    let report = ended(log);
    // A third of all calls is not yet a habit, and most programs ask for attributes in two steps.
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession", "C_Login"]);
    for _ in 0..50 {
        log.call(Made::of("C_SignInit").more(ECDSA));
        log.call(Made::of("C_Sign").more(",\"size_query\":true"));
        log.calls(&["C_Sign"]);
    }
    finds(&ended(log), "size-query-doubling", Severity::Low);
}

#[test]
fn sessions_left_open_and_lost_tokens_and_bursts_are_found() {
    let mut log = good();
    log.call(Made::of("C_OpenSession").session(5))
        .calls(&["C_Finalize"]);
    finds(&log.report(), "session-leak", Severity::Medium);
    let mut log = good();
    log.call(Made::of("C_Sign").rv(0x32));
    finds(&log.report(), "token-lost", Severity::High);
    let mut log = good();
    for _ in 0..12 {
        log.call(Made::of("C_Sign").rv(0x91));
    }
    finds(&log.report(), "error-burst", Severity::Medium);
    // What was asked for is no failure.
    let mut log = good();
    for _ in 0..50 {
        log.call(Made::of("C_GetAttributeValue").rv(0x12));
    }
    assert!(log.report().findings.is_empty());
}

#[test]
fn legacy_mechanisms_are_found_where_they_work_and_not_where_they_are_asked_about() {
    let mut log = good();
    log.call(
        Made::of("C_GetMechanismInfo").more(",\"mech\":{\"value\":309,\"name\":\"CKM_DES3_CBC\"}"),
    );
    log.call(Made::of("C_SignInit").more(",\"mech\":{\"value\":1,\"name\":\"CKM_RSA_PKCS\"}"))
        .calls(&["C_Sign"]);
    assert!(log.report().findings.is_empty());
    log.call(Made::of("C_DecryptInit").more(",\"mech\":{\"value\":1,\"name\":\"CKM_RSA_PKCS\"}"));
    log.call(Made::of("C_DigestInit").more(",\"mech\":{\"value\":528,\"name\":\"CKM_MD5\"}"));
    let report = log.report();
    finds(&report, "legacy-mechanism", Severity::Medium);
    assert_eq!(report.findings.len(), 2);
}

#[test]
fn what_the_recorder_could_not_write_is_said() {
    let mut log = good();
    log.call(Made::of("C_Sign").more(",\"dropped\":12"));
    let text = log.text().to_owned()
        + "{\"v\":\"1.0\",\"func\":\"recorder:end\",\"rv\":0,\"dropped\":3}\n";
    let report = report(text.as_bytes());
    finds(&report, "records-missing", Severity::Low);
    assert_eq!(report.source.dropped_records, 15);
    assert!(!report.by_function.contains_key("recorder:end"));
}
