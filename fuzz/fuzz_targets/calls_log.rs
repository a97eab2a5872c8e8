//! Logs of calls: JSON Lines of the recorder and others, and the text of OpenSC's spy.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_calls::fuzzing::log(data));
