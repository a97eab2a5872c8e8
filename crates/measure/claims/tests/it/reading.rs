//! Reading a text and checking it, as the other modules do.

use keywright_claims::{Check, Finding, read};

/// The findings of a text that is read under this name.
pub(crate) fn findings(name: &str, text: &str) -> Vec<Finding> {
    read(name, text.as_bytes()).unwrap().check()
}

pub(crate) fn codes(name: &str, text: &str) -> Vec<Check> {
    findings(name, text)
        .iter()
        .map(|finding| finding.check)
        .collect()
}
