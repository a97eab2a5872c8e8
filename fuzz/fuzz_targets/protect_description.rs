//! What stands beside a protected file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_protect::fuzzing::protection(data));
