//! store
#![forbid(unsafe_code)]
