//! The header with the additional data of a stream.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_server::fuzzing::aad(data));
