//! Descriptions of root keys in a token.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_pkcs11::fuzz_description(data));
