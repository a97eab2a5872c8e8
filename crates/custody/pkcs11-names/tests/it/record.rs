//! A record is a line of JSON that reads back as itself; other tools' lines are understood; nothing secret fits in.

use keywright_pkcs11_names::{
    AttributeSummary, AttributeType, CallRecord, Function, KeySummary, MechanismSummary,
    MechanismType, ParameterValue, ReturnCode,
};

fn full() -> CallRecord<'static> {
    let mut record = CallRecord::new(Function::named("C_EncryptInit").unwrap(), ReturnCode::OK);
    record.seq = Some(7);
    record.ts = "2026-11-20T12:00:00.000000001Z".into();
    record.pid = Some(10);
    record.tid = Some(11);
    record.dur_ns = Some(1234);
    record.session = Some(1);
    record.op_id = Some(3);
    let mut mechanism = MechanismSummary::new(MechanismType::AES_GCM);
    mechanism
        .params
        .insert("iv_len".into(), ParameterValue::Number(12));
    mechanism
        .params
        .insert("iv_tag".into(), ParameterValue::Text("00ff".into()));
    record.mech = Some(mechanism);
    record.key = Some(KeySummary::new(4));
    record.template = vec![AttributeSummary::of(AttributeType::SIGN, &[1], |_| {
        String::new()
    })];
    record
}

#[test]
fn a_record_is_read_back_as_it_was_written() {
    for record in [
        full(),
        CallRecord::new(
            Function::named("C_Login").unwrap(),
            ReturnCode::new(0x8000_0001),
        ),
    ] {
        let line = serde_json::to_string(&record).unwrap();
        assert!(!line.contains('\n') && !line.contains("null"), "{line}");
        let read: CallRecord<'_> = serde_json::from_str(&line).unwrap();
        assert_eq!(read, record);
        assert_eq!(read.into_owned(), record);
    }
}

#[test]
fn the_fields_are_those_of_the_schema() {
    let value = serde_json::to_value(full()).unwrap();
    assert_eq!(value["v"], "1.0");
    assert_eq!(value["func"], "C_EncryptInit");
    assert_eq!(value["rv"], 0);
    assert_eq!(value["rv_name"], "CKR_OK");
    assert_eq!(value["mech"]["value"], 0x1087);
    assert_eq!(value["mech"]["name"], "CKM_AES_GCM");
    assert_eq!(value["mech"]["params"]["iv_len"], 12);
    assert_eq!(value["mech"]["params"]["iv_tag"], "00ff");
    assert_eq!(value["template"][0]["attr"], "CKA_SIGN");
    assert_eq!(value["template"][0]["value"], true);
    for absent in [
        "slot_id",
        "in_len",
        "size_query",
        "blocking",
        "dur_ms",
        "hint",
        "dropped",
    ] {
        assert!(value.get(absent).is_none(), "{absent}");
    }
}

#[test]
fn lines_of_another_tool_are_understood_as_far_as_they_are_true() {
    let line = r#"{"ts":"2025-01-01T00:00:00Z","pid":1,"tid":2,"func":"C_Sign","rv":40,"rv_name":"CKR_X",
        "dur_ms":0.25,"mech":"RsaPkcs","template_summary":"x","unheard":[1]}"#;
    let record: CallRecord<'_> = serde_json::from_str(line).unwrap();
    assert!(!record.is_ours());
    assert_eq!(record.duration_ns(), Some(250_000));
    assert_eq!(
        record.mech.as_ref().unwrap().value,
        Some(MechanismType::RSA_PKCS)
    );
    assert_eq!(record.function(), Function::named("C_Sign"));
    let record: CallRecord<'_> =
        serde_json::from_str(r#"{"func":"C_Vendor","mech":"what is that"}"#).unwrap();
    assert_eq!(
        (record.function(), record.rv, record.duration_ns()),
        (None, None, None)
    );
    assert_eq!(record.mech.unwrap().value, None);
}

#[test]
fn what_is_no_record_is_refused() {
    for line in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"func":1}"#,
        r#"{"func":"C_Sign","rv":-1}"#,
        r#"{"func":"C_Sign","rv":"OK"}"#,
    ] {
        assert!(
            serde_json::from_str::<CallRecord<'_>>(line).is_err(),
            "{line}"
        );
    }
}

#[test]
fn waiting_calls_are_marked() {
    let blocking = |name: &str, rv| CallRecord::new(Function::named(name).unwrap(), rv).blocking;
    assert!(blocking("C_WaitForSlotEvent", ReturnCode::OK));
    assert!(blocking("C_Sign", ReturnCode::PENDING));
    assert!(!blocking("C_Sign", ReturnCode::OK));
}
