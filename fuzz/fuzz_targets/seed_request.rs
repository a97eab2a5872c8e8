//! Bodies of clients of the seed service, and base64 with line ends.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_api::fuzzing::seed(data));
