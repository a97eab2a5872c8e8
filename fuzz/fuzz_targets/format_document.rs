//! Formats and rules files, as a person writes them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_format::fuzzing::document(data));
