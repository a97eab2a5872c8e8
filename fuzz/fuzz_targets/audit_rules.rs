//! Files of audit rules and waivers, and conditions.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_hsm::audit::fuzz(data));
