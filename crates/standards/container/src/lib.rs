//! container
#![forbid(unsafe_code)]
