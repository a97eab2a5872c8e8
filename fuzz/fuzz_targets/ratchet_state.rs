//! States of a ratchet session, in clear and at rest.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_ratchet::fuzzing::state(data));
