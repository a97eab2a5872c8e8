//! The promises of the header of streams over arbitrary bytes, as one function that the fuzz target and a plain test both
//! call.

use http::{HeaderMap, HeaderValue};
use keywright_api::{AAD_HEADER, MAX_AAD};
use keywright_encoding::base64;
use keywright_types::Code;

use crate::streams::aad_of;

/// Reads each line of `data` as a value of `keywright-aad` in one request, and checks that
///
/// * without a value the additional data is empty, and with several there is none;
/// * what is accepted is within the limit, and has this one spelling;
/// * what is refused has one of three codes.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn aad(data: &[u8]) {
    let values = data.split(|byte| *byte == b'\n').take(8);
    let values: Vec<_> = values
        .filter_map(|line| HeaderValue::from_bytes(line).ok())
        .collect();
    let mut headers = HeaderMap::new();
    for value in &values {
        headers.append(AAD_HEADER, value.clone());
    }
    let found = aad_of(&headers);
    match values.as_slice() {
        [] => assert_eq!(found, Ok(Vec::new()), "data out of nothing"),
        [value] => match found {
            Ok(aad) => {
                assert!(aad.len() <= MAX_AAD, "more than the limit");
                let spelt = base64::encode(&aad);
                assert_eq!(value.as_bytes(), spelt.as_bytes(), "two spellings");
            }
            Err(code) => {
                let known = [Code::AadTooLarge, Code::Base64Invalid];
                assert!(known.contains(&code), "{code:?}");
            }
        },
        _ => assert_eq!(found, Err(Code::RequestMalformed), "one of several"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use keywright_mutate::{mutants, mutations};

    use super::*;

    #[test]
    fn damaged_headers_are_refused_or_have_one_spelling() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/stream_aad");
        let files = fs::read_dir(folder).unwrap();
        let mut corpus: Vec<_> = files
            .map(|entry| fs::read(entry.unwrap().path()).unwrap())
            .collect();
        corpus.sort();
        assert!(corpus.len() >= 5, "the corpus is gone");
        let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
        seeds.iter().for_each(|seed| aad(seed));
        for mutant in mutations(&seeds, mutants(), 15) {
            aad(&mutant);
        }
    }
}
