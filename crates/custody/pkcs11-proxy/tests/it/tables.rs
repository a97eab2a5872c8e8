//! Tables and symbols: what is absent in the module is absent here, and everything else leads through the recorder.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use cryptoki_sys::*;
use keywright_pkcs11_names::Function;

use crate::caller::{self, Library, in_another, table};
use crate::world::present;

const HOLES: (&str, &str) = ("FAKE_HOLES", "1");

fn environment() -> Vec<(&'static str, &'static Path)> {
    vec![
        (HOLES.0, Path::new(HOLES.1)),
        ("KEYWRIGHT_P11_LOG", Path::new("/dev/null")),
    ]
}

#[test]
fn tables_of_68_92_and_104_functions_have_the_modules_version_and_gaps() {
    let test = "tables::tables_of_68_92_and_104_functions_have_the_modules_version_and_gaps";
    in_another(test, &environment(), || {
        let (recorder, fake, _) = caller::loaded();
        for (flags, functions) in [(0, 68), (1, 92), (2, 104)] {
            let [ours, real] = [recorder, fake].map(|library| library.interface(flags));
            assert_eq!(ours.flags, real.flags);
            assert_eq!(ours.pInterfaceName, real.pInterfaceName);
            assert_ne!(ours.pFunctionList, real.pFunctionList);
            let [ours, real] =
                [ours, real].map(|interface| table(interface.pFunctionList.cast_const()));
            assert_eq!(
                (ours.version.major, ours.version.minor),
                (real.version.major, real.version.minor)
            );
            let mut there = 0;
            for ((name, ours), (_, real)) in present(&ours).into_iter().zip(present(&real)) {
                assert_eq!(ours.is_some(), real.is_some(), "{name}");
                assert!(
                    ours.is_none() || ours != real,
                    "{name} leads past the recorder"
                );
                there += usize::from(ours.is_some());
            }
            assert_eq!(there, functions - functions / 9);
        }
    });
}

#[test]
fn a_table_is_the_same_each_time_and_by_each_way() {
    let test = "tables::a_table_is_the_same_each_time_and_by_each_way";
    in_another(test, &environment(), || {
        let (recorder, fake, _) = caller::loaded();
        let (_, list) = recorder.function_list();
        assert_eq!(recorder.function_list().1, list);
        let listed = recorder.interfaces();
        let real = fake.interfaces();
        assert_eq!(listed.len(), real.len());
        assert_eq!(listed[0].pFunctionList.cast(), list);
        for (flags, (listed, real)) in (0..).zip(listed.iter().zip(&real)) {
            assert_eq!(
                recorder.interface(flags).pFunctionList,
                listed.pFunctionList
            );
            assert_eq!(listed.flags, real.flags);
            assert_eq!(listed.pInterfaceName, real.pInterfaceName);
            // A vendor's table is not of the standard: it stays the vendor's.
            assert_eq!(listed.pFunctionList == real.pFunctionList, flags == 3);
        }
    });
}

#[test]
fn the_symbols_are_the_functions_of_the_standard_and_nothing_else() {
    let listed = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(caller::recorder())
        .output()
        .unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let exported: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    let standard: BTreeSet<_> = Function::all().map(Function::name).collect();
    assert_eq!(exported, standard);
}

#[test]
fn without_a_module_no_table_is_given_and_the_log_says_why() {
    let test = "tables::without_a_module_no_table_is_given_and_the_log_says_why";
    if caller::is_body() {
        let recorder = Library::load(&caller::recorder());
        let (rv, list) = recorder.function_list();
        assert_eq!(rv, CKR_LIBRARY_LOAD_FAILED);
        assert!(list.is_null());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let recorder = caller::recorder();
    for (number, (target, why)) in [
        (Path::new(""), "no module is named"),
        (Path::new("/nowhere/module.so"), "cannot be loaded"),
        (Path::new("libm.so.6"), "no C_GetFunctionList"),
        (recorder.as_path(), "the recorder itself"),
    ]
    .into_iter()
    .enumerate()
    {
        let log = folder.path().join(number.to_string());
        let output = caller::start(
            test,
            &[
                ("KEYWRIGHT_P11_TARGET", target),
                ("KEYWRIGHT_P11_LOG", &log),
            ],
        );
        let said = caller::said(&output);
        assert!(output.status.success(), "{said}");
        assert!(said.contains(why), "{said}");
        let records = caller::records(&log);
        assert!(records[0].hint.as_ref().unwrap().contains(why));
    }
}
