//! Base64 (RFC 4648 section 4).
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_encoding::fuzzing::base64(data));
