//! Whole CSV files: protected and revealed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_protect::fuzzing::file(data));
