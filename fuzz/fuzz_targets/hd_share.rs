//! Shares of seeds.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hdkey::fuzzing::share(data));
