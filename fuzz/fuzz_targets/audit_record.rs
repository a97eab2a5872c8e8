//! Audit files: bodies of records, heads, chains and files of both.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_audit::fuzzing::audit(data));
