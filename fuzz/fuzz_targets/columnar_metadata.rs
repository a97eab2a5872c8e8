//! Entries of the metadata of Parquet and Arrow files, searched for a value.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_columnar::fuzzing::metadata(data));
