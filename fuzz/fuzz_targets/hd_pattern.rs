//! Patterns of paths.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hdkey::fuzzing::pattern(data));
