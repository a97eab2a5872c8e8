//! What must not be in a log is not, whatever is called and whatever it answers.

use std::path::Path;

use cryptoki_sys::*;
use keywright_pkcs11_names::{Named as _, ParameterValue, ReturnCode};

use crate::caller::{self, in_another, records, table};
use crate::world::{CANARY, LABEL, World, call_all};

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every function of the newest table, with every code.
fn call_everything() {
    let (recorder, fake, _) = caller::loaded();
    let list = table(recorder.interface(2).pFunctionList.cast_const());
    let mut world = World::new();
    for code in ReturnCode::all() {
        fake.answer(code.number());
        call_all(&list, &mut world, |_| {});
    }
    fake.answer(CKR_OK);
}

#[test]
fn no_pin_key_or_datum_is_in_a_log_whatever_is_called() {
    let test = "secrets::no_pin_key_or_datum_is_in_a_log_whatever_is_called";
    let folder = tempfile::tempdir().unwrap();
    for clear in ["", "1"] {
        let log = folder.path().join(format!("log{clear}"));
        let environment = [
            ("KEYWRIGHT_P11_LOG", log.as_path()),
            ("KEYWRIGHT_P11_WRITE", Path::new("now")),
            ("KEYWRIGHT_P11_CLEAR_LABELS", Path::new(clear)),
        ];
        if in_another(test, &environment, call_everything).is_none() {
            return;
        }
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.lines().count() > 104 * 105);
        // Any six bytes of it, as text or in hexadecimal.
        for part in CANARY.windows(6) {
            let plain = String::from_utf8_lossy(part);
            assert!(!text.contains(&*plain), "{plain}");
            assert!(
                !text.to_ascii_lowercase().contains(&hexadecimal(part)),
                "{plain}"
            );
        }
        let label = String::from_utf8_lossy(LABEL);
        assert_eq!(
            text.contains(&*label),
            !clear.is_empty(),
            "labels in clear: {clear:?}"
        );
        assert_eq!(text.contains(&hexadecimal(LABEL)), !clear.is_empty());
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "two runs whose records are compared field by field"
)]
fn templates_leave_kinds_lengths_and_tags_that_are_equal_within_a_log_only() {
    let test = "secrets::templates_leave_kinds_lengths_and_tags_that_are_equal_within_a_log_only";
    let folder = tempfile::tempdir().unwrap();
    let mut tags = Vec::new();
    for number in ["1", "2"] {
        let log = folder.path().join(number);
        let done = in_another(test, &[("KEYWRIGHT_P11_LOG", &log)], || {
            let (_, fake, list) = caller::loaded();
            fake.answer(CKR_OK);
            let mut world = World::new();
            call_all(&list, &mut world, |_| {});
        });
        if done.is_none() {
            return;
        }
        let records = records(&log);
        let created = records
            .iter()
            .find(|one| one.func == "C_CreateObject")
            .unwrap();
        let attributes: Vec<_> = created
            .template
            .iter()
            .map(|one| (one.attr.to_string(), one.len, one.redacted))
            .collect();
        let expected = [
            ("CKA_CLASS", 8, false),
            ("CKA_VALUE", 32, true),
            ("CKA_PRIVATE_EXPONENT", 32, true),
            ("CKA_LABEL", 16, true),
            ("CKA_ID", 16, true),
            ("CKA_SEED", 32, true),
            ("0x80000005", 32, true),
            ("0x00007777", 32, true),
        ]
        .map(|(name, length, redacted)| (name.to_owned(), length, redacted));
        assert_eq!(attributes, expected);
        assert_eq!(
            created.template[0].value,
            Some(ParameterValue::Number(CKO_SECRET_KEY))
        );
        let of = |func: &str, index: usize| {
            let record = records.iter().find(|one| one.func == func).unwrap();
            let Some(ParameterValue::Text(tag)) = &record.template[index].value else {
                panic!("no tag")
            };
            tag.to_string()
        };
        assert_eq!(of("C_CreateObject", 3), of("C_FindObjectsInit", 3));
        assert_ne!(
            of("C_CreateObject", 3),
            of("C_CreateObject", 4),
            "a label is no id"
        );
        let initialised = records
            .iter()
            .find(|one| one.func == "C_EncryptInit")
            .unwrap();
        let mechanism = initialised.mech.as_ref().unwrap();
        assert_eq!(mechanism.name, "CKM_AES_CBC");
        assert!(
            matches!(&mechanism.params["iv_tag"], ParameterValue::Text(tag) if tag.len() == 16)
        );
        tags.push(of("C_CreateObject", 3));
    }
    assert_ne!(
        tags[0], tags[1],
        "the key of the tags is the same in two logs"
    );
}

#[test]
fn a_call_that_was_turned_away_has_its_arguments_left_alone() {
    let test = "secrets::a_call_that_was_turned_away_has_its_arguments_left_alone";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let done = in_another(test, &[("KEYWRIGHT_P11_LOG", &log)], || {
        let (_, fake, list) = caller::loaded();
        fake.answer(CKR_SESSION_HANDLE_INVALID);
        crate::world::call_with_nonsense(&list);
    });
    if done.is_some() {
        let records = records(&log);
        assert_eq!(records.len(), 1 + 4);
        for record in &records[1..] {
            assert!(
                record.mech.is_none() && record.template.is_empty(),
                "{record:?}"
            );
            assert_eq!(record.out_len, None);
        }
    }
}
