//! Configurations of a node, as a person writes them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = keywright_home::fuzzing::configuration(data);
});
