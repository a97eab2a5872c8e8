//! Configuration, key metadata and revocation list of the seed service.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_seed_service::fuzzing::files(data));
