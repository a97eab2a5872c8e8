//! server
#![forbid(unsafe_code)]
