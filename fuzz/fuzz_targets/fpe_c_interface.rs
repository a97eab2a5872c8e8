//! The functions of `fpe.h` with arbitrary numbers, lengths, texts and flags.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fpe::exercise(data));
