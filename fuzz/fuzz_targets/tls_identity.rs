//! Whom a certificate names, once its signature was found good.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = keywright_tls::fuzzing::identity(data);
});
