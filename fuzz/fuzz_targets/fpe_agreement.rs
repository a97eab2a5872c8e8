//! Format-preserving encryption against other implementations, on every backend of the machine.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    keywright_fpe_gates::agreement::ff1(data);
    keywright_fpe_gates::agreement::ff3_1(data);
});
