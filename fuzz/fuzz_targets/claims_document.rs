//! Other people's figures: JSON, CSV, Markdown and files of claims.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_claims::fuzzing::document(data));
