//! vectors
#![forbid(unsafe_code)]
