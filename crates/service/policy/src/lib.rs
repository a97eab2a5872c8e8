//! policy
#![forbid(unsafe_code)]
