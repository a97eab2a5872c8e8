//! The promises of lists of certificates and of their names over arbitrary bytes, as functions that the fuzz targets and
//! plain tests both call.

use rustls_pki_types::CertificateDer;

use crate::identity::credential;
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

/// Reads `data` as the certificate of a client whose signature was found good, and says whether it names anybody. Checks
/// that
///
/// * what is accepted has no name that is empty or could fake a line, no alternative name beyond ASCII, and a subject
///   that can stand in a record as it is;
/// * what is accepted says the same of itself again, under the anchor that was given, and is refused with a byte more or
///   less.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
#[must_use]
pub fn identity(data: &[u8]) -> bool {
    const ANCHOR: [u8; 32] = [7; 32];
    let of = |bytes: &[u8]| credential(&CertificateDer::from(bytes.to_vec()), ANCHOR);
    let Ok(found) = of(data) else {
        return false;
    };
    assert!(
        of(data).as_ref() == Ok(&found),
        "another answer to the same"
    );
    assert!(
        of(&[data, &[0]].concat()).is_err(),
        "a byte was passed over"
    );
    let shorter = data.split_last().map_or(data, |(_, front)| front);
    assert!(of(shorter).is_err(), "a byte was not missed");
    assert_eq!(found.anchor, ANCHOR, "another anchor");
    let subjects = [&found.common_name, &found.organizational_unit];
    let alternatives = found.san_uris.iter().chain(&found.san_dns);
    for name in subjects.into_iter().flatten().chain(alternatives.clone()) {
        assert!(!name.is_empty(), "an empty name");
        assert!(!name.chars().any(char::is_control), "a name with controls");
    }
    assert!(
        alternatives.into_iter().all(|name| name.is_ascii()),
        "an alternative name beyond ASCII"
    );
    let printable = |byte: u8| (b' '..=b'~').contains(&byte);
    assert!(
        found.subject.len() <= 256 && found.subject.bytes().all(printable),
        "a subject that no record takes"
    );
    true
}
