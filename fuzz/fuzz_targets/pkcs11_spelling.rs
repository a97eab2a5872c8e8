//! Names and numbers of PKCS#11 as people write them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_pkcs11_names::fuzz_spelling(data));
