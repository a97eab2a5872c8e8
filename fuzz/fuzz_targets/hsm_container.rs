//! The front of a container that a token's key sealed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hsm::sealing::fuzz_header(data));
