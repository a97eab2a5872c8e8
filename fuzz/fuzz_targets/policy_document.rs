//! Policy documents, as a person writes them and as the store keeps them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_policy::fuzzing::document(data));
