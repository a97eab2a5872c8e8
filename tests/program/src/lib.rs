//! program
#![forbid(unsafe_code)]
