//! The promises of the readers over arbitrary bytes, as one function that the fuzz target and a plain test
//! both call.

use crate::exports::seed;
use crate::filter::Filter;
use crate::text::Settings;
use crate::{csv, html, json, text};

/// Reads `data` as a result, as an older result and as a filter, and checks that
///
/// * an error has words;
/// * what was read can be written in every form, and read back from its own;
/// * a filter prints as what it was read from means.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn result(data: &[u8]) {
    for read in [json::read(data), seed::read(data)] {
        match read {
            Err(error) => assert!(!error.to_string().is_empty(), "an error without words"),
            Ok(document) => {
                drop((
                    text::render(&document, Settings::default()),
                    csv::long(&document),
                ));
                assert!(
                    html::render(&document).len() <= html::LIMIT,
                    "a page beyond its limit"
                );
                if let Ok(written) = json::render(&document, json::Layout::Line) {
                    assert!(
                        json::read(written.as_bytes()).is_ok(),
                        "a form that is not its own"
                    );
                }
            }
        }
    }
    let Ok(words) = std::str::from_utf8(data) else {
        return;
    };
    match Filter::parse(words) {
        Err(error) => assert!(!error.to_string().is_empty(), "an error without words"),
        Ok(filter) => {
            let printed = filter.to_string();
            assert!(
                Filter::parse(&printed).is_ok_and(|again| again == filter),
                "another filter"
            );
        }
    }
}
