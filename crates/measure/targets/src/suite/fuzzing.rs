//! The promises of the reader over arbitrary bytes, as one function that the fuzz target and a plain test
//! both call.

use std::collections::BTreeSet;

use super::{Context, Suite, include};
use crate::operation::Operation;

/// Reads `data` as a suite and checks that
///
/// * an error has words, of one line, and names its place;
/// * ids of cases are unique and every case has a target;
/// * a run ends: windows are not empty and schedules have a length;
/// * reading again gives the same.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn document(data: &[u8]) {
    let Ok(text) = include::text(data.to_owned()) else {
        return;
    };
    let operations: Vec<&Operation> = crate::local::OPERATIONS
        .iter()
        .chain(crate::service::OPERATIONS)
        .chain(crate::store::OPERATIONS)
        .collect();
    let context = Context {
        operations: &operations,
        lookup: &|name| (name == "SET").then(|| "value".to_owned()),
    };
    let again = Suite::parse_in_part("fuzz", &text, &context);
    match Suite::parse_in_part("fuzz", &text, &context) {
        Err(error) => {
            worded(&error.to_string());
            assert!(again.is_err_and(|again| again == error), "another error");
        }
        Ok((suite, errors)) => {
            errors.iter().for_each(|error| worded(&error.to_string()));
            check(&suite);
            let same = again.is_ok_and(|(again, others)| {
                again.sha256 == suite.sha256
                    && others == errors
                    && format!("{:?}", again.cases) == format!("{:?}", suite.cases)
            });
            assert!(same, "another suite");
        }
    }
}

fn worded(error: &str) {
    assert!(error.starts_with("fuzz"), "an error without a place");
    assert!(!error.contains('\n'), "an error of several lines");
    assert!(error.len() > 8, "an error without words");
}

fn check(suite: &Suite) {
    let ids: BTreeSet<&str> = suite
        .cases
        .iter()
        .map(|case| case.plan.id.as_str())
        .collect();
    assert!(ids.len() == suite.cases.len(), "an id twice");
    for case in &suite.cases {
        assert!(suite.target(case).is_some(), "a case without a target");
        assert!(case.runs > 0, "a case without runs");
        let limit = case.plan.window.limit();
        assert!(limit.nanos != Some(0), "no time");
        assert!(limit.operations != Some(0), "no operations");
        let empty = case.plan.expected().is_some_and(|time| time.is_zero());
        assert!(!empty, "a run without a length");
    }
}
