//! The promises of lists of certificates over arbitrary bytes, as one function that the fuzz target and a plain test
//! both call.

use crate::{Error, Roster};

/// Reads `data` as a list of certificates and checks that
///
/// * what is refused is refused with a line that the text has, or the one behind its last;
/// * what is accepted means the same with a remark behind it, nothing with anything else behind it, and is found whole
///   behind other files.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn roster(data: &[u8]) {
    let with = |more: &str| Roster::parse(&[data, b"\n", more.as_bytes()].concat());
    match Roster::parse(data) {
        Ok(roster) => {
            assert!(
                matches!(with("# remark\n"), Ok(again) if again == roster),
                "a remark changed a list"
            );
            assert!(with("deny everybody\n").is_err(), "a line was passed over");
            assert_eq!(
                roster.older_than(&roster),
                None,
                "a list is older than itself"
            );
            let behind = [b"-----END X509 CRL-----\n", data].concat();
            assert_eq!(Roster::split(&behind).1, Some(data), "a list was not found");
        }
        Err(error) => {
            // Another error than that of a line is none of its own.
            let line = match error {
                Error::Roster { line } => line,
                _ => 0,
            };
            let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=lines + 1).contains(&line), "a line that is not there");
        }
    }
}
