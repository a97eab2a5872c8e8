//! Frames of a session and their padding: read as every kind there is.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_wire::fuzzing::frames(data));
