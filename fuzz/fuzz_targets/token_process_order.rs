//! What a service orders the process of its token, and its hello.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    keywright_token_process::fuzzing::fuzz_order(data);
    keywright_token_process::fuzzing::fuzz_hello(data);
});
