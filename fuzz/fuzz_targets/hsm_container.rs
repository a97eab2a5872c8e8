//! The fronts of containers that a token's key sealed: with AES, and for an RSA key.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    keywright_hsm::sealing::fuzz_header(data);
    keywright_hsm::hybrid::fuzz_header(data);
});
