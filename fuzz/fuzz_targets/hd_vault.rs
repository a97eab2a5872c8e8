//! Files of an Identus agent's secrets.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hdkey::fuzzing::vault(data));
