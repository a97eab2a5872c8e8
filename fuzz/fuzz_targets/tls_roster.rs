//! Lists of certificates that are let in or kept out.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_tls::fuzzing::roster(data));
