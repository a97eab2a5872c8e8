//! Bodies of requests in CBOR, and answers that a client reads.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_api::fuzzing::cbor(data));
