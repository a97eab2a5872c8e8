//! The header `traceparent` of a request.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| keywright_telemetry::fuzzing::traceparent(data));
