//! Results of measurements, our own form and an older one, and the filters over them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_report::fuzzing::result(data));
