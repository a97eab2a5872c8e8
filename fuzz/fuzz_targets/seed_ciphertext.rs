//! Ciphertexts of the seed service, as a key of the keystore reads them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_keystore::fuzzing::old_ciphertext(data));
