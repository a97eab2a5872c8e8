//! Bodies of requests and paths.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_api::fuzzing::request(data));
