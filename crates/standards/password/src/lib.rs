//! password
#![forbid(unsafe_code)]
