//! Arguments, codes and absences pass unchanged, and the log has the true code of each call.

use std::path::Path;

use cryptoki_sys::*;
use keywright_pkcs11_names::{Function, Named as _, ReturnCode};

use crate::caller::{self, in_another, records, table};
use crate::world::{World, call_all};

#[test]
fn every_function_of_every_table_passes_its_arguments_and_all_105_codes() {
    let test = "transparency::every_function_of_every_table_passes_its_arguments_and_all_105_codes";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let environment = [
        ("KEYWRIGHT_P11_LOG", log.as_path()),
        ("KEYWRIGHT_P11_WRITE", Path::new("now")),
    ];
    let codes: Vec<u64> = ReturnCode::all()
        .map(|code| code.number())
        .chain([0x8000_0001, 0x7fff_ffff_ffff])
        .collect();
    assert_eq!(codes.len(), 107);
    let done = in_another(test, &environment, || {
        let (recorder, fake, _) = caller::loaded();
        let mut world = World::new();
        for flags in 0..3 {
            fake.answer(CKR_OK);
            let list = table(recorder.interface(flags).pFunctionList.cast_const());
            for &code in &codes {
                fake.answer(code);
                call_all(&list, &mut world, |call| {
                    let Some(answer) = call.answer else { return };
                    assert_eq!(answer, code, "{}", call.name);
                    let seen = fake.seen();
                    assert_eq!(seen[0], call.name.len(), "{}", call.name);
                    assert_eq!(&seen[1..], call.given, "{}", call.name);
                });
            }
        }
    });
    if done.is_none() {
        return;
    }
    let mut records = records(&log).into_iter();
    // The table of the beginning.
    assert_eq!(records.next().unwrap().func, "C_GetFunctionList");
    for functions in [68, 92, 104] {
        assert_eq!(records.next().unwrap().func, "C_GetInterface");
        for &code in &codes {
            for function in Function::all().take(functions) {
                let record = records.next().unwrap();
                assert_eq!(record.function(), Some(function));
                assert_eq!(record.rv.unwrap().number(), code, "{function}");
                assert!(record.dur_ns.is_some() && record.dropped.is_none());
            }
        }
    }
    assert!(records.next().is_none(), "a call that nobody made");
}

#[test]
fn symbols_reach_the_module_as_tables_do() {
    let test = "transparency::symbols_reach_the_module_as_tables_do";
    in_another(test, &[], || {
        let (recorder, fake, _) = caller::loaded();
        fake.answer(0x1234);
        let symbols = crate::world::by_symbol(recorder);
        let mut calls = 0;
        call_all(&symbols, &mut World::new(), |call| {
            assert_eq!(call.answer, Some(0x1234), "{}", call.name);
            assert_eq!(&fake.seen()[1..], call.given, "{}", call.name);
            calls += 1;
        });
        assert_eq!(calls, 104);
    });
}

#[test]
fn a_library_that_was_closed_and_loaded_again_goes_on() {
    let test = "transparency::a_library_that_was_closed_and_loaded_again_goes_on";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let done = in_another(test, &[("KEYWRIGHT_P11_LOG", &log)], || {
        for _ in 0..3 {
            let (recorder, fake, list) = caller::loaded();
            fake.answer(CKR_OK);
            call_all(&list, &mut World::new(), |call| {
                assert!(call.answer.is_none_or(|answer| answer == CKR_OK));
            });
            recorder.close();
        }
    });
    if done.is_some() {
        assert_eq!(records(&log).len(), 3 * (1 + 68));
    }
}
