//! Password containers, within small limits.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_password::fuzzing::container(data));
