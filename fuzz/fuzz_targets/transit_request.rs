//! Bodies, paths, versioned texts and login tokens of Vault's clients.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_api::fuzzing::transit(data));
