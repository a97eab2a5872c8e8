//! PKCS#11 URIs (RFC 7512).
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hsm::uri::fuzz(data));
