//! Extended keys: `xprv` and `xpub`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hdkey::fuzzing::extended_key(data));
