//! envelope
#![forbid(unsafe_code)]
