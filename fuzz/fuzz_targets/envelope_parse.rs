//! Envelopes: parsing, opening in one piece and in many.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_envelope::fuzzing::envelope(data));
