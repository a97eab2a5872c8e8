//! The text of a backup, opened and not authenticated.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_home::fuzzing::backup(data));
