//! The headers by which a client says what form its request has and its answer shall have.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_api::fuzzing::headers(data));
