//! CSV files: scanner, rewriter and the search for sensitive columns.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_tabular::fuzzing::csv(data));
