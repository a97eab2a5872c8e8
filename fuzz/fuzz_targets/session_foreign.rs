//! Cards, records, one-time prekeys, first frames and states of sessions.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_session::fuzzing::foreign(data));
