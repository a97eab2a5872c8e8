//! What the process of a token answers: foreign bytes, because the token's module runs in it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    keywright_token_process::fuzzing::fuzz_answer(data);
    keywright_token_process::fuzzing::fuzz_part(data);
});
