//! Files: header, slots, stream.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_container::fuzzing::file(data));
