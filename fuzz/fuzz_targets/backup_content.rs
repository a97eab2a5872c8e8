//! What stands in a backup, opened.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_home::fuzzing::backup(data));
