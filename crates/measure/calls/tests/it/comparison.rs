//! Two logs.

use keywright_calls::{Verdict, compare};

use crate::made::{ECDSA, Log, Made};

/// Signatures of about so many nanoseconds.
fn signed(nanos: u64) -> Log {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession", "C_Login"]);
    for n in 0..200 {
        log.call(Made::of("C_SignInit").more(ECDSA).took(10));
        log.call(Made::of("C_Sign").took(nanos + n * 37 % 101));
    }
    log
}

#[test]
fn what_is_slower_beyond_its_interval_is_called_so_and_nothing_else_is() {
    let (before, same, slower) = (
        signed(1000).report(),
        signed(1001).report(),
        signed(1500).report(),
    );
    let verdicts = |other| {
        let compared = compare(&before, other);
        let changes = compared.changes.iter();
        changes
            .map(|one| (one.quantile.clone(), one.verdict))
            .collect::<Vec<_>>()
    };
    // Two hundred samples carry no p99.
    assert_eq!(verdicts(&same), [("p50".to_owned(), Verdict::NoDifference)]);
    assert_eq!(verdicts(&slower), [("p50".to_owned(), Verdict::Slower)]);
    let back = compare(&slower, &before);
    assert_eq!(back.changes[0].verdict, Verdict::Faster);
    assert!(back.changes[0].ratio < 0.75);
}

#[test]
fn new_and_gone_findings_and_functions_are_named() {
    let (clean, mut worse) = (signed(1000), signed(1000));
    worse
        .call(Made::of("C_Sign").rv(0x32))
        .calls(&["C_Finalize"]);
    let compared = compare(&clean.report(), &worse.report());
    let new: Vec<_> = compared.new_findings.iter().map(|one| one.code).collect();
    assert_eq!(new, ["token-lost", "session-leak"]);
    assert_eq!(compared.functions_new, ["C_Finalize"]);
    let back = compare(&worse.report(), &clean.report());
    assert!(back.new_findings.is_empty());
    assert_eq!(back.gone_findings, ["token-lost", "session-leak"]);
    assert_eq!(back.functions_gone, ["C_Finalize"]);
}
