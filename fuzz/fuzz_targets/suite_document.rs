//! Suites: files that say what is measured.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_targets::suite::fuzzing::document(data));
