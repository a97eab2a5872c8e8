//! HPKE: numbers of suites, keys, encapsulations and ciphertexts.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hpke::fuzzing::hpke(data));
